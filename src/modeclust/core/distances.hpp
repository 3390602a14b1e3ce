// Squared distances by differences. The formula |x|^2 - 2 x.c + |c|^2 would lose digits that small
// bandwidths and large offsets need.
//
// Distances of float32 rows with 64 features or more are computed in float32, which is twice as
// fast and has a relative error of about (D / 16 + 4) 6e-8. All other distances are computed in
// doubles, and so are those whose squares may be subnormal or overflow in float32.
#pragma once

#include "assign.hpp"
#include "tiles.hpp"

namespace modeclust {
namespace {

constexpr double smallest_square = 1e-30, largest_square = 1e36;

/// |x - c|^2 in doubles, with the exact center c.
template <class T>
double exact_squared_distance(const T* x, const double* c, int n_features) {
  using V = Vec<double, 8>;
  V sum = V::zero();
  int j = 0;
  for (; j + 8 <= n_features; j += 8) {
    const V d = load_doubles(x + j) - V::load(c + j);
    sum = sum + d * d;
  }
  if (j < n_features) {
    const V d = load_first_doubles(x + j, n_features - j) - V::load_first(c + j, n_features - j);
    sum = sum + d * d;
  }
  return sum_of_lanes(sum);
}

/// L numbers of a row in the type of distances.
template <class M, int L, class T>
MODECLUST_INLINE Vec<M, L> load_measured(const T* x) {
  if constexpr (sizeof(M) == sizeof(T)) {
    return Vec<T, L>::load(x);
  } else {
    return to_doubles(Vec<T, L>::load(x));
  }
}
template <class M, int L, class T>
MODECLUST_INLINE Vec<M, L> load_first_measured(const T* x, int n) {
  if constexpr (sizeof(M) == sizeof(T)) {
    return Vec<T, L>::load_first(x, n);
  } else {
    return to_doubles(Vec<T, L>::load_first(x, n));
  }
}

/// Squared distances of four rows to one center each. The next four rows are prefetched.
///
/// `whole` is the number of whole vectors of L if it is known at compile time, else -1.
template <class T, class M, int L, int whole, bool has_tail>
MODECLUST_INLINE void four_squared_distances(const T* const* x, const M* const* c, int n_features,
                                             std::int64_t stride, M* out) {
  using V = Vec<M, L>;
  V sum[4] = {V::zero(), V::zero(), V::zero(), V::zero()};
  const auto add = [&](int j) __attribute__((always_inline)) {
    for (int r = 0; r < 4; r++) {
      const V d = load_measured<M, L>(x[r] + j) - V::load(c[r] + j);
      sum[r] = sum[r] + d * d;
    }
  };
  int j = 0;
  if constexpr (whole >= 0) {
#pragma GCC unroll 8
    for (int i = 0; i < whole; i++) add(i * L);
    j = whole * L;
  } else {
    for (; j + L <= n_features; j += L) {
      add(j);
      for (int r = 0; r < 4; r++) __builtin_prefetch(x[r] + j + 4 * stride, 0, 3);
    }
  }
  if constexpr (has_tail) {
    for (int r = 0; r < 4; r++) {
      const V d = load_first_measured<M, L>(x[r] + j, n_features - j) - V::load(c[r] + j);
      sum[r] = sum[r] + d * d;
    }
  }
  sums_of_lanes(sum[0], sum[1], sum[2], sum[3], out);
}

/// The rows of a tile whose distances are computed, and their labels.
struct OwnRows {
  const std::int32_t* indices;  // indices in the tile; null for 0, 1, 2, ...
  int n;
  const std::int32_t* labels;  // by index in the tile
};

template <class T, class M>
MODECLUST_INLINE void store_distance(const Centers& centers, const DenseTile<T>& tile, int index,
                                     int label, M squared, double* out) {
  double value = static_cast<double>(squared);
  if constexpr (sizeof(M) == 4) {
    if (!(value >= smallest_square && value <= largest_square)) [[unlikely]] {
      value = exact_squared_distance(
          tile.row(index), centers.exact + static_cast<std::int64_t>(label) * centers.n_features,
          centers.n_features);
    }
  }
  out[index] = value;
}

template <class T, class M, int L, int whole, bool has_tail>
void own_distances_by_vectors(const DenseTile<T>& tile, const OwnRows& rows, const Centers& centers,
                              double* out) {
  const M* c0 = static_cast<const M*>(centers.rows);
  for (int m = 0; m < rows.n; m += 4) {
    const T* x[4];
    const M* c[4];
    int indices[4];
    M squared[4];
    const int n = rows.n - m < 4 ? rows.n - m : 4;
    for (int r = 0; r < 4; r++) {
      const int i = m + (r < n ? r : n - 1);
      indices[r] = rows.indices ? rows.indices[i] : i;
      x[r] = tile.row(indices[r]);
      c[r] = c0 + static_cast<std::int64_t>(centers.slot_of[rows.labels[indices[r]]]) *
                      centers.row_stride;
    }
    four_squared_distances<T, M, L, whole, has_tail>(x, c, tile.n_features, tile.stride, squared);
    for (int r = 0; r < n; r++) {
      store_distance(centers, tile, indices[r], rows.labels[indices[r]], squared[r], out);
    }
  }
}

/// |x - c|^2 for up to four features.
template <class T, int D>
MODECLUST_INLINE double tiny_squared_distance(const T* x, const double* c) {
  double d[4] = {};
#pragma GCC unroll 4
  for (int j = 0; j < D; j++) d[j] = static_cast<double>(x[j]) - c[j];
  return (d[0] * d[0] + d[1] * d[1]) + (d[2] * d[2] + d[3] * d[3]);
}

template <class T, int D>
void own_distances_of_tiny_rows(const DenseTile<T>& tile, const OwnRows& rows,
                                const Centers& centers, double* out) {
  const double* c0 = static_cast<const double*>(centers.rows);
  for (int m = 0; m < rows.n; m++) {
    const int index = rows.indices ? rows.indices[m] : m;
    const int label = rows.labels[index];
    const T* x = tile.row(index);
    const double* c = c0 + static_cast<std::int64_t>(centers.slot_of[label]) * centers.row_stride;
    out[index] = tiny_squared_distance<T, D>(x, c);
  }
}

/// Writes the squared distances of some rows of a tile to their own centers, by index in the tile.
///
/// All passes use this function, so a row has the same bits however its label was found.
template <class T>
void own_distances(const DenseTile<T>& tile, const OwnRows& rows, const Centers& centers,
                   double* out) {
  const int D = tile.n_features;
  if (D >= fewest_single_features) {
    constexpr int L = lanes<T>;
    if (D % L == 0) return own_distances_by_vectors<T, T, L, -1, false>(tile, rows, centers, out);
    return own_distances_by_vectors<T, T, L, -1, true>(tile, rows, centers, out);
  }
  switch (D) {
    case 1: return own_distances_of_tiny_rows<T, 1>(tile, rows, centers, out);
    case 2: return own_distances_of_tiny_rows<T, 2>(tile, rows, centers, out);
    case 3: return own_distances_of_tiny_rows<T, 3>(tile, rows, centers, out);
    case 4: return own_distances_of_tiny_rows<T, 4>(tile, rows, centers, out);
    case 8: return own_distances_by_vectors<T, double, 8, 1, false>(tile, rows, centers, out);
    case 16: return own_distances_by_vectors<T, double, 8, 2, false>(tile, rows, centers, out);
    case 24: return own_distances_by_vectors<T, double, 8, 3, false>(tile, rows, centers, out);
    case 32: return own_distances_by_vectors<T, double, 8, 4, false>(tile, rows, centers, out);
    default: break;
  }
  if (D < 8) return own_distances_by_vectors<T, double, 8, 0, true>(tile, rows, centers, out);
  if (D % 8 == 0)
    return own_distances_by_vectors<T, double, 8, -1, false>(tile, rows, centers, out);
  own_distances_by_vectors<T, double, 8, -1, true>(tile, rows, centers, out);
}

/// An upper bound on the relative error of the squared distances of `own_distances`.
template <class T>
double own_distance_error(int n_features) {
  const bool single = sizeof(T) == 4 && n_features >= fewest_single_features;
  const double unit = single ? 0x1p-24 : 0x1p-53;
  return (n_features / 8.0 + 12.0) * unit;
}

}  // namespace
}  // namespace modeclust
