// Kernels without centers: keys, digests, column limits and lengths of rows.
#pragma once

#include "rows.hpp"
#include "variants.hpp"

namespace modeclust {

struct BasicKernels {
  /// Writes x . directions of each row to keys[i - range.first]; dense and CSR rows give the same.
  /// `buffer` has space for one row.
  void (*keys)(const RowSource&, RowRange, const double* directions, void* buffer, double* keys);
  /// Adds the rows to a digest of 16 bytes. `buffer` has space for one row.
  void (*digest)(const RowSource&, RowRange, void* buffer, std::uint64_t state[2]);
  /// Updates the minimum and maximum of each column, in the type in which rows are processed, with
  /// dense rows without NaN. `buffer` has space for one row.
  void (*limits)(const RowSource&, RowRange, void* buffer, void* lowest, void* highest);
  /// Writes 1 / |x| of each row to out[i - range.first]: infinity if it overflows. `buffer` has
  /// space for one row.
  void (*inverse_lengths)(const RowSource&, RowRange, void* buffer, double* out);
};

MODECLUST_DECLARE_TABLES(BasicKernels, basic_kernels)

}  // namespace modeclust
