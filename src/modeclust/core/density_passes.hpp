// The passes of mean-shift, for the module.
#pragma once

#include <atomic>

#include "dataset.hpp"
#include "density.hpp"
#include "tree_layout.hpp"

namespace modeclust {

/// The sums over the rows at each of M points.
struct ShiftSums {
  nb::ndarray<nb::numpy, double, nb::ndim<1>> reference;  // infinity if no row has weight
  nb::ndarray<nb::numpy, double, nb::ndim<1>> mass;      // sum of weights, relative to g(reference)
  nb::ndarray<nb::numpy, double, nb::ndim<2>> totals;    // (M, D) sum of weight x
  nb::ndarray<nb::numpy, double, nb::ndim<1>> density;   // sum of q G(t)
  nb::ndarray<nb::numpy, double, nb::ndim<1>> smallest;  // the smallest t of a row with weight
};

/// Rows, laid out once for all passes of mean-shift.
///
/// Short rows of positive weight are copied to the leaves of a tree. Later changes of weights or
/// precisions have no effect.
class DensityRows {
 public:
  explicit DensityRows(Rows& rows);

  ShiftSums shift_sums(Matrix points, int kernel, double inverse_squared_bandwidth,
                       std::optional<Vector> nearest, double negligible);

  /// The rows of positive weight, in an order in which consecutive rows are near each other.
  nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>> order() const;
  double largest_norm() const { return largest_norm_; }

 private:
  Rows& rows_;
  double largest_norm_ = 0.0;  // squared
  std::vector<std::int64_t> order_;
  std::optional<TreeLayout> tree_;
  Buffer<double> norms_;
  std::atomic<double> rows_weighed_;  // per point, in the last pass
};

void bind_density(nb::module_& m);

}  // namespace modeclust
