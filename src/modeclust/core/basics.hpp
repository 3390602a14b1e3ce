// Kernels that know nothing of clusters: keys, digests and limits of rows.
#pragma once

#include "rows.hpp"
#include "variants.hpp"

namespace modeclust {

struct BasicKernels {
  /// Writes x . directions of each row to keys[i - range.first]; the same for dense and CSR rows.
  /// `buffer` has room for one row.
  void (*keys)(const RowSource&, RowRange, const double* directions, void* buffer, double* keys);
  /// Adds the rows to a digest of 16 bytes. `buffer` has room for one row.
  void (*digest)(const RowSource&, RowRange, void* buffer, std::uint64_t state[2]);
  /// Widens the limits of each column, in the type in which rows are worked on, by dense rows that
  /// hold no NaN. `buffer` has room for one row.
  void (*limits)(const RowSource&, RowRange, void* buffer, void* lowest, void* highest);
};

MODECLUST_DECLARE_TABLES(BasicKernels, basic_kernels)

}  // namespace modeclust
