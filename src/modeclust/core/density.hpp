// Kernels of mean-shift: sums over all rows that the kernel reaches from each point.
#pragma once

#include "rows.hpp"
#include "tree.hpp"
#include "variants.hpp"

namespace modeclust {

/// Rows of fewer features are in the leaves of a tree, and distances are computed by differences.
constexpr int fewest_for_products = 24;

/// The points of a pass.
struct ShiftTask {
  const double* points = nullptr;   // (M, D)
  const double* nearest = nullptr;  // (M,) upper bounds on the smallest t, or null for infinity
  KernelName kernel = KernelName::gaussian;
  double inverse_squared_bandwidth = 0.0;
  double negligible = 0.0;   // rows whose t exceeds the smallest by this are ignored
  bool by_products = false;  // |p|^2 + |x|^2 - 2 p.x instead of differences, for long rows
};

/// The sums at each of the M points.
struct ShiftResult {
  double* reference;  // infinity if no row has weight
  double* mass;
  double* totals;  // (M, D)
  double* density;
  double* smallest;
};

/// A run of points: first <= p < last.
struct PointRange {
  std::int64_t first, last;
};

struct DensityKernels {
  /// Writes dense rows as doubles to out (n, D). `buffer` has space for one row.
  void (*read)(const RowSource&, RowRange, void* buffer, double* out);
  /// Writes the squared norm of each row to norms[i - range.first].
  void (*norms)(const RowSource&, RowRange, void* buffer, double* norms);
  /// Sums the rows of a tree at some points. Returns the number of rows that were weighed.
  std::int64_t (*shift_leaves)(const LeafTree&, const ShiftTask&, PointRange, const ShiftResult&);
  /// Sums all rows at up to `points_at_once` points, by dense tiles.
  void (*shift_tiles)(const RowSource&, const RowWeights&, const ShiftTask&, PointRange,
                      const ShiftResult&, double* buffer);
  /// Sums all CSR rows at up to 8 * `n_vectors` (1, 2 or 4) points, by dot products.
  void (*shift_sparse)(const RowSource&, const RowWeights&, const double* row_norms,
                       const ShiftTask&, PointRange, int n_vectors, const ShiftResult&,
                       double* buffer);
};

/// The maximum number of points in a call of shift_tiles.
constexpr std::int64_t points_at_once = 64;

/// The size of the buffer of shift_tiles, in doubles.
constexpr std::int64_t tiles_buffer_size(std::int64_t n_features) {
  return 2 * leaf_rows * padded<double>(n_features) + 8 * leaf_rows +
         points_at_once * (padded<double>(n_features) + leaf_rows);
}

/// The size of the buffer of shift_sparse, in doubles.
constexpr std::int64_t sparse_buffer_size(std::int64_t n_features, int n_vectors) {
  return 2 * 8 * n_vectors * n_features;
}

MODECLUST_DECLARE_TABLES(DensityKernels, density_kernels)

}  // namespace modeclust
