// The location of the rows, as plain data: the types that module and kernels share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "variants.hpp"

namespace modeclust {

enum class NumberType {
  float16,
  float32,
  float64,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
};

/// The kernels of `modeclust.kernels`, by the same numbers.
enum class KernelName { gaussian, epanechnikov, biweight, cauchy };
constexpr int n_kernels = 4;

/// A run of rows: first <= i < last.
struct RowRange {
  std::int64_t first, last;
};

/// The rows, dense or CSR, as the user has them.
///
/// Float32 rows are processed in float32, all others in float64. Dense rows of another type or byte
/// order, with an offset, a scale or factors are converted tile by tile. Centers of rows with
/// factors have length 1 too.
struct RowSource {
  std::int64_t n_rows = 0;
  int n_features = 0;
  NumberType type = NumberType::float64;
  bool swapped = false;  // whether the byte order is reversed
  const char* data = nullptr;
  std::int64_t row_stride = 0, column_stride = 0;  // of dense rows, in bytes
  const double* offset = nullptr;                  // (D,) or null: x is (x - offset) / scale
  double scale = 1.0;
  // (N,) or null: row i is multiplied by factors[i], which brings it to length 1
  const double* factors = nullptr;
  const void* indices = nullptr;  // of CSR rows: sorted, without duplicates; null for dense rows
  const std::int64_t* indptr = nullptr;  // (N + 1,)
  bool wide_indices = false;             // int64 instead of int32

  MODECLUST_INLINE bool is_sparse() const { return indices != nullptr; }
  MODECLUST_INLINE bool is_single() const { return type == NumberType::float32; }
  MODECLUST_INLINE bool has_unit_length() const { return factors != nullptr; }
  MODECLUST_INLINE double factor_of(std::int64_t i) const { return factors ? factors[i] : 1.0; }
};

/// Sample weights and precisions of the rows.
struct RowWeights {
  const double* weight = nullptr;     // (N,) sample weights q; null means 1
  const double* precision = nullptr;  // (N,) 1 / s^2 of local scales s; null means 1

  MODECLUST_INLINE double weight_of(std::int64_t i) const { return weight ? weight[i] : 1.0; }
  MODECLUST_INLINE double precision_of(std::int64_t i) const {
    return precision ? precision[i] : 1.0;
  }
};

/// The size of a working array in numbers, rounded up to whole vectors of 64 bytes.
template <class T>
MODECLUST_INLINE constexpr std::int64_t padded(std::int64_t n) {
  constexpr std::int64_t lane_count = 64 / sizeof(T);
  return (n + lane_count - 1) / lane_count * lane_count;
}

}  // namespace modeclust
