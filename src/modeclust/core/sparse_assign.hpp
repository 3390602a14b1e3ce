// Passes over CSR rows.
//
// Sums of CSR rows are dense, and one for each block of rows would cost more than the rows. So the
// rows are sorted by label, and each cluster is summed by one thread: nothing has to be merged, and
// its center stays in the cache while its rows are measured.
#pragma once

#include "assign.hpp"

namespace modeclust {

/// Some rows by their numbers.
struct RowList {
  const std::int64_t* rows;
  std::int64_t n;
};

/// Working memory for the rows of a cluster: RowList by RowList of up to this many rows.
constexpr int sparse_run = 256;

struct SparseKernels {
  /// Writes |x - c|^2 of some rows to their own centers, to squared[row].
  void (*own_distances)(const RowSource&, const Centers&, RowList, const std::int32_t* labels,
                        double* squared);
  /// Writes columns first to last - 1 of the centers to `columns` (D, n_slots).
  void (*lay_out_columns)(const Centers&, std::int64_t first, std::int64_t last, float* columns);
  /// Gives some rows their nearest center and lower bound, and, where wanted, an upper bound.
  ///
  /// squared[row] becomes -1 where the label changes, if `squared` is not null. `scores` has room
  /// for n_slots numbers. Returns how many labels changed, and adds the lower bounds to lower_sum.
  std::int64_t (*search)(const RowSource&, const Centers&, const RowState&, RowList, float* scores,
                         double* squared, double* lower_sum);
  /// Weighs and sums the rows of cluster k; `memory` has room for 5 * (sparse_run + 16) doubles.
  void (*mode_cluster)(const ModePass&, int k, RowList, const double* squared, double* memory,
                       ModeSums&);
  /// Adds rows of cluster k to its sums; a row r < 0 stands for row -1 - r, taken off.
  void (*mean_cluster)(const MeanPass&, int k, RowList, MeanSums&);
};

MODECLUST_DECLARE_TABLES(SparseKernels, sparse_kernels)

}  // namespace modeclust
