// Reading rows: dense rows in tiles, CSR rows in place.
#pragma once

#include "rows.hpp"
#include "vec.hpp"

namespace modeclust {
namespace {

/// Some consecutive dense rows.
template <class T>
struct DenseTile {
  const T* data;
  std::int64_t stride;  // distance between rows, in numbers
  int n_features;
  const T* row(std::int64_t m) const { return data + m * stride; }
};

MODECLUST_INLINE double from_half(std::uint16_t half) {
  const std::uint64_t sign = static_cast<std::uint64_t>(half >> 15) << 63;
  const int exponent = half >> 10 & 31;
  const std::uint64_t mantissa = half & 1023;
  double value;
  if (exponent == 0) {
    value = static_cast<double>(mantissa) * 0x1p-24;
    return sign ? -value : value;
  }
  const std::uint64_t high = exponent == 31 ? 2047 : static_cast<std::uint64_t>(exponent + 1008);
  const std::uint64_t bits = sign | high << 52 | mantissa << 42;
  __builtin_memcpy(&value, &bits, 8);
  return value;
}

template <class Number>
MODECLUST_INLINE Number read_number(const char* from, bool swapped) {
  unsigned char bytes[sizeof(Number)];
  __builtin_memcpy(bytes, from, sizeof(Number));
  if (swapped) {
    for (std::size_t b = 0; b < sizeof(Number) / 2; b++) {
      const unsigned char byte = bytes[b];
      bytes[b] = bytes[sizeof(Number) - 1 - b];
      bytes[sizeof(Number) - 1 - b] = byte;
    }
  }
  Number value;
  __builtin_memcpy(&value, bytes, sizeof(Number));
  return value;
}

template <class From, class T>
MODECLUST_INLINE void convert_row(const RowSource& source, const char* from, T* out) {
  const std::int64_t stride = source.column_stride;
  if (source.swapped) {
    for (int j = 0; j < source.n_features; j++) {
      out[j] = static_cast<T>(read_number<From>(from + j * stride, true));
    }
  } else if (stride == sizeof(From)) {  // a loop of vectors
    for (int j = 0; j < source.n_features; j++) {
      out[j] = static_cast<T>(read_number<From>(from + j * sizeof(From), false));
    }
  } else {
    for (int j = 0; j < source.n_features; j++) {
      out[j] = static_cast<T>(read_number<From>(from + j * stride, false));
    }
  }
}

/// x times a factor, rounded to the type of x. A factor of 1 gives x.
template <class T>
MODECLUST_INLINE T times(T x, double factor) {
  return static_cast<T>(static_cast<double>(x) * factor);
}

/// Writes row i in the type in which rows are processed.
template <class T>
void read_row(const RowSource& source, std::int64_t i, T* out) {
  const char* from = source.data + i * source.row_stride;
  const std::int64_t stride = source.column_stride;
  const int n = source.n_features;
  switch (source.type) {
    case NumberType::float16:
      for (int j = 0; j < n; j++) {
        const auto half = read_number<std::uint16_t>(from + j * stride, source.swapped);
        out[j] = static_cast<T>(from_half(half));
      }
      break;
    case NumberType::float32: convert_row<float>(source, from, out); break;
    case NumberType::float64: convert_row<double>(source, from, out); break;
    case NumberType::int8: convert_row<std::int8_t>(source, from, out); break;
    case NumberType::int16: convert_row<std::int16_t>(source, from, out); break;
    case NumberType::int32: convert_row<std::int32_t>(source, from, out); break;
    case NumberType::int64: convert_row<std::int64_t>(source, from, out); break;
    case NumberType::uint8: convert_row<std::uint8_t>(source, from, out); break;
    case NumberType::uint16: convert_row<std::uint16_t>(source, from, out); break;
    case NumberType::uint32: convert_row<std::uint32_t>(source, from, out); break;
    case NumberType::uint64: convert_row<std::uint64_t>(source, from, out); break;
  }
  if (source.offset) {
    for (int j = 0; j < n; j++) out[j] -= static_cast<T>(source.offset[j]);
  }
  if (source.scale != 1.0) {
    for (int j = 0; j < n; j++) out[j] /= static_cast<T>(source.scale);
  }
  if (source.factors) {
    const double factor = source.factors[i];
    for (int j = 0; j < n; j++) out[j] = times(out[j], factor);
  }
}

/// Dense rows that are processed in type T.
template <class T>
struct DenseRows {
  using Number = T;
  static constexpr bool is_sparse = false;
  const RowSource& source;

  /// Whether rows are read in place.
  bool in_place() const {
    return (source.n_features == 1 || source.column_stride == sizeof(T)) && !source.offset &&
           source.scale == 1.0 && !source.factors && !source.swapped &&
           source.type == (sizeof(T) == 4 ? NumberType::float32 : NumberType::float64) &&
           source.row_stride % static_cast<std::int64_t>(sizeof(T)) == 0 &&
           reinterpret_cast<std::uintptr_t>(source.data) % sizeof(T) == 0;
  }

  /// The rows first to first + n - 1. `buffer` (n, D) is used if they must be converted.
  DenseTile<T> tile(std::int64_t first, int n, T* buffer) const {
    if (in_place()) {
      return {reinterpret_cast<const T*>(source.data + first * source.row_stride),
              source.row_stride / static_cast<std::int64_t>(sizeof(T)), source.n_features};
    }
    for (int m = 0; m < n; m++) {
      read_row<T>(source, first + m, buffer + static_cast<std::int64_t>(m) * source.n_features);
    }
    return {buffer, source.n_features, source.n_features};
  }
};

/// CSR rows with numbers of type T and indices of type Index, read in place: entry e of row i is
/// `value(e, factor(i))`.
template <class T, class Index_>
struct CsrRows {
  using Number = T;
  using Index = Index_;
  static constexpr bool is_sparse = true;
  const RowSource& source;

  const T* data() const { return reinterpret_cast<const T*>(source.data); }
  double factor(std::int64_t i) const { return source.factor_of(i); }
  MODECLUST_INLINE double value(std::int64_t e, double factor) const {
    return static_cast<double>(times(data()[e], factor));
  }
  const Index* indices() const { return static_cast<const Index*>(source.indices); }
  std::int64_t begin(std::int64_t i) const { return source.indptr[i]; }
  std::int64_t end(std::int64_t i) const { return source.indptr[i + 1]; }
};

/// Calls `work` with rows of the right layout, number type and index type.
template <class Work>
MODECLUST_INLINE auto with_rows(const RowSource& source, Work work) {
  if (!source.is_sparse()) {
    return source.is_single() ? work(DenseRows<float>{source}) : work(DenseRows<double>{source});
  }
  if (source.wide_indices) {
    return source.is_single() ? work(CsrRows<float, std::int64_t>{source})
                              : work(CsrRows<double, std::int64_t>{source});
  }
  return source.is_single() ? work(CsrRows<float, std::int32_t>{source})
                            : work(CsrRows<double, std::int32_t>{source});
}

}  // namespace
}  // namespace modeclust
