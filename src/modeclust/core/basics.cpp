#include "basics.hpp"

#include "tiles.hpp"

namespace modeclust {
namespace {

void keys(const RowSource& source, RowRange range, const double* directions, void* buffer,
          double* keys) {
  with_rows(source, [&](auto rows) {
    using Rows = decltype(rows);
    using T = typename Rows::Number;
    for (std::int64_t i = range.first; i < range.last; i++) {
      double total = 0.0;
      if constexpr (Rows::is_sparse) {
        const double factor = rows.factor(i);
        for (std::int64_t e = rows.begin(i); e < rows.end(i); e++) {
          total += rows.value(e, factor) * directions[rows.indices()[e]];
        }
      } else {
        const T* x = rows.tile(i, 1, static_cast<T*>(buffer)).row(0);
        for (int j = 0; j < source.n_features; j++) {
          total += static_cast<double>(x[j]) * directions[j];
        }
      }
      keys[i - range.first] = total;
    }
  });
}

/// Mixes a word into two lanes by multiplication and rotation; not a cryptographic hash.
MODECLUST_INLINE void mix(std::uint64_t state[2], std::uint64_t word) {
  const std::uint64_t a = (state[0] ^ word) * 0x9E3779B97F4A7C15ull;
  const std::uint64_t b = (state[1] + word) * 0xC2B2AE3D27D4EB4Full;
  state[0] = (a << 31 | a >> 33) ^ state[1];
  state[1] = (b << 29 | b >> 35) + a;
}

void digest(const RowSource& source, RowRange range, void* buffer, std::uint64_t state[2]) {
  with_rows(source, [&](auto rows) {
    using Rows = decltype(rows);
    using T = typename Rows::Number;
    auto mix_numbers = [&](const T* x, std::int64_t n) {
      for (std::int64_t j = 0; j < n; j++) {
        std::uint64_t word = 0;
        __builtin_memcpy(&word, x + j, sizeof(T));
        mix(state, word);
      }
    };
    for (std::int64_t i = range.first; i < range.last; i++) {
      if constexpr (Rows::is_sparse) {
        const std::int64_t begin = rows.begin(i), n = rows.end(i) - begin;
        mix(state, static_cast<std::uint64_t>(n));
        for (std::int64_t e = 0; e < n; e++) {
          mix(state, static_cast<std::uint64_t>(rows.indices()[begin + e]));
        }
        mix_numbers(rows.data() + begin, n);
      } else {
        mix_numbers(rows.tile(i, 1, static_cast<T*>(buffer)).row(0), source.n_features);
      }
    }
  });
}

template <class T>
void widen_limits(const RowSource& source, RowRange range, T* buffer, T* lowest, T* highest) {
  const DenseRows<T> rows{source};
  for (std::int64_t i = range.first; i < range.last; i++) {
    const T* x = rows.tile(i, 1, buffer).row(0);
    for (int j = 0; j < source.n_features; j++) {
      lowest[j] = x[j] < lowest[j] ? x[j] : lowest[j];
      highest[j] = x[j] > highest[j] ? x[j] : highest[j];
    }
  }
}

void limits(const RowSource& source, RowRange range, void* buffer, void* lowest, void* highest) {
  if (source.is_single()) {
    widen_limits(source, range, static_cast<float*>(buffer), static_cast<float*>(lowest),
                 static_cast<float*>(highest));
  } else {
    widen_limits(source, range, static_cast<double*>(buffer), static_cast<double*>(lowest),
                 static_cast<double*>(highest));
  }
}

/// 1 / |x|. The squares of x, times a power of 2, neither overflow nor underflow; infinity if x is
/// 0.
template <class Read>
double inverse_length(std::int64_t n, Read read) {
  double largest = 0.0;
  for (std::int64_t j = 0; j < n; j++) {
    const double size = __builtin_fabs(read(j));
    largest = size > largest ? size : largest;
  }
  if (largest == 0.0) return __builtin_inf();
  const int exponent = __builtin_ilogb(largest);
  const double scale = __builtin_ldexp(1.0, exponent < -1000 ? 1000 : -exponent);
  double total = 0.0;
  for (std::int64_t j = 0; j < n; j++) {
    const double x = read(j) * scale;
    total += x * x;
  }
  return scale / __builtin_sqrt(total);
}

void inverse_lengths(const RowSource& source, RowRange range, void* buffer, double* out) {
  with_rows(source, [&](auto rows) {
    using Rows = decltype(rows);
    using T = typename Rows::Number;
    for (std::int64_t i = range.first; i < range.last; i++) {
      double& inverse = out[i - range.first];
      if constexpr (Rows::is_sparse) {
        const T* x = rows.data() + rows.begin(i);
        inverse = inverse_length(rows.end(i) - rows.begin(i),
                                 [&](std::int64_t j) { return static_cast<double>(x[j]); });
      } else {
        const T* x = rows.tile(i, 1, static_cast<T*>(buffer)).row(0);
        inverse = inverse_length(source.n_features,
                                 [&](std::int64_t j) { return static_cast<double>(x[j]); });
      }
    }
  });
}

}  // namespace

const BasicKernels MODECLUST_TABLE(basic_kernels) = {keys, digest, limits, inverse_lengths};

}  // namespace modeclust
