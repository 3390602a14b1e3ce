// Passes of mean-shift, as the module has them.
#pragma once

#include <atomic>

#include "dataset.hpp"
#include "density.hpp"

namespace modeclust {

/// What the rows sum up to at each of M points.
struct ShiftSums {
  nb::ndarray<nb::numpy, double, nb::ndim<1>> reference;  // infinity where no row has weight
  nb::ndarray<nb::numpy, double, nb::ndim<1>> mass;       // sum of weights over the reference's
  nb::ndarray<nb::numpy, double, nb::ndim<2>> totals;     // (M, D) sum of weight x
  nb::ndarray<nb::numpy, double, nb::ndim<1>> density;    // sum of q G(t)
  nb::ndarray<nb::numpy, double, nb::ndim<1>> smallest;   // the smallest t of a row with weight
};

/// Rows, laid out once for all passes of mean-shift over them.
///
/// Short rows are copied to the leaves of a tree, without those of weight 0. Sample weights and
/// precisions are those that the rows have when this is made.
class DensityRows {
 public:
  explicit DensityRows(Rows& rows);

  ShiftSums shift_sums(Matrix points, int kernel, double inverse_squared_bandwidth,
                       std::optional<Vector> nearest, double negligible);

  /// The rows with weight, in an order in which neighbours are near each other.
  nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>> order() const;
  double largest_norm() const { return largest_norm_; }

 private:
  void build_tree();
  void build_boxes();

  Rows& rows_;
  double largest_norm_ = 0.0;  // squared
  std::vector<std::int64_t> order_;
  LeafTree tree_;
  Buffer<double> columns_, weight_, precision_, last_weight_, norms_;
  std::vector<Buffer<double>> boxes_;
  std::atomic<double> rows_weighed_;  // for a point, in the last pass
};

void bind_density(nb::module_& m);

}  // namespace modeclust
