// Passes over CSR rows.
//
// The sums of CSR rows are dense. Partial sums for each block would take longer than the rows
// themselves. So the rows are sorted by label, and each cluster is summed by one thread. Nothing
// has to be merged, and the center stays in the cache while distances to it are computed.
#pragma once

#include "assign.hpp"

namespace modeclust {

/// The indices of some rows.
struct RowList {
  const std::int64_t* rows;
  std::int64_t n;
};

/// The rows of a cluster are processed in lists of up to this many rows.
constexpr int sparse_run = 256;

struct SparseKernels {
  /// Writes the squared distances of some rows to their own centers to squared[row].
  void (*own_distances)(const RowSource&, const Centers&, RowList, const std::int32_t* labels,
                        double* squared);
  /// Writes columns first to last - 1 of the centers to `columns` (D, n_slots).
  void (*lay_out_columns)(const Centers&, std::int64_t first, std::int64_t last, float* columns);
  /// Sets label and lower bound of some rows and, if there are any, their upper bounds.
  ///
  /// If `squared` is not null, squared[row] becomes -1 if the label changes. `scores` has space for
  /// n_slots numbers. Adds the lower bounds to lower_sum; returns the number of labels that
  /// changed.
  std::int64_t (*search)(const RowSource&, const Centers&, const RowState&, RowList, float* scores,
                         double* squared, double* lower_sum);
  /// Weighs and sums the rows of cluster k; `memory` has space for 5 * (sparse_run + 16) doubles.
  void (*mode_cluster)(const ModePass&, int k, RowList, const double* squared, double* memory,
                       ModeSums&);
  /// Adds rows to the sums of cluster k; r < 0 means that row -1 - r is subtracted.
  void (*mean_cluster)(const MeanPass&, int k, RowList, MeanSums&);
};

MODECLUST_DECLARE_TABLES(SparseKernels, sparse_kernels)

}  // namespace modeclust
