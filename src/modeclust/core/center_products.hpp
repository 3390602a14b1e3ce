// Dot products of the rows of a tile with centers, from which their scores are computed.
#pragma once

#include "products.hpp"
#include "tiles.hpp"

namespace modeclust {
namespace {

MODECLUST_INLINE int smaller(int a, int b) { return a < b ? a : b; }

/// Dot products of n rows with panels of centers. The lanes are centers.
template <class T, int n_panels>
void panel_products(const DenseTile<T>& tile, const std::int32_t* indices, int n, const T* panels,
                    std::int64_t panel_size, T* scores, int n_slots) {
  for (int m = 0; m < n; m += product_rows) {
    const T* x[product_rows];
    T* out[product_rows];
    for (int r = 0; r < product_rows; r++) {
      const int i = smaller(m + r, n - 1);
      x[r] = tile.row(indices[i]);
      out[r] = scores + static_cast<std::int64_t>(i) * n_slots;
    }
    const int D = tile.n_features;
    if constexpr (product_rows > 5) {
      if (n - m <= 2) {
        panel_product<T, 2, n_panels>(x, panels, panel_size, D, out);
        continue;
      }
      if (n - m <= 5) {
        panel_product<T, 5, n_panels>(x, panels, panel_size, D, out);
        continue;
      }
    }
    panel_product<T, product_rows, n_panels>(x, panels, panel_size, D, out);
  }
}

// Block sizes of products whose lanes are features.
constexpr int along_centers = register_bytes == 64 ? 6 : register_bytes == 32 ? 3 : 2;
constexpr int along_bytes = register_bytes;

/// Dot products of four rows with some centers, for few rows or centers. The lanes are features.
template <class T, int n_centers, bool has_tail>
MODECLUST_INLINE void products_along(const T* const* x, const T* c, int stride, int n_features,
                                     T* const* out) {
  constexpr int L = along_bytes / static_cast<int>(sizeof(T));
  using V = Vec<T, L>;
  V sum[4][n_centers];
#pragma GCC unroll 4
  for (int r = 0; r < 4; r++) {
#pragma GCC unroll 8
    for (int q = 0; q < n_centers; q++) sum[r][q] = V::zero();
  }
  int j = 0;
  for (; j + L <= n_features; j += L) {
    V v[4];
#pragma GCC unroll 4
    for (int r = 0; r < 4; r++) v[r] = V::load(x[r] + j);
#pragma GCC unroll 8
    for (int q = 0; q < n_centers; q++) {
      const V w = V::load(c + static_cast<std::int64_t>(q) * stride + j);
#pragma GCC unroll 4
      for (int r = 0; r < 4; r++) sum[r][q] = fused_multiply_add(v[r], w, sum[r][q]);
    }
  }
  if constexpr (has_tail) {
#pragma GCC unroll 4
    for (int r = 0; r < 4; r++) {
      const V v = V::load_first(x[r] + j, n_features - j);
#pragma GCC unroll 8
      for (int q = 0; q < n_centers; q++) {
        const V w = V::load(c + static_cast<std::int64_t>(q) * stride + j);
        sum[r][q] = fused_multiply_add(v, w, sum[r][q]);
      }
    }
  }
#pragma GCC unroll 8
  for (int q = 0; q < n_centers; q++) {
    T sums[4];
    sums_of_lanes(sum[0][q], sum[1][q], sum[2][q], sum[3][q], sums);
    for (int r = 0; r < 4; r++) out[r][q] = sums[r];
  }
}

/// The same for a subset of the pending rows (null for all n) and for centers in consecutive slots.
template <class T, bool has_tail>
void products_for(const DenseTile<T>& tile, const std::int32_t* indices, const std::int32_t* subset,
                  int n, const T* c, int stride, int n_centers, T* scores, int n_slots) {
  for (int m = 0; m < n; m += 4) {
    const T* x[4];
    T* out[4];
    for (int r = 0; r < 4; r++) {
      const int i = smaller(m + r, n - 1);
      const int s = subset ? subset[i] : i;
      x[r] = tile.row(indices[s]);
      out[r] = scores + static_cast<std::int64_t>(s) * n_slots;
    }
    int k = 0;
    const auto take = [&]<int some>() __attribute__((always_inline)) {
      products_along<T, some, has_tail>(x, c + static_cast<std::int64_t>(k) * stride, stride,
                                        tile.n_features, out);
      k += some;
      for (auto& o : out) o += some;
    };
    while (k + along_centers <= n_centers) take.template operator()<along_centers>();
    if constexpr (along_centers > 5) {
      if (k + 5 <= n_centers) take.template operator()<5>();
    }
    if constexpr (along_centers > 4) {
      if (k + 4 <= n_centers) take.template operator()<4>();
    }
    if constexpr (along_centers > 3) {
      if (k + 3 <= n_centers) take.template operator()<3>();
    }
    if constexpr (along_centers > 2) {
      if (k + 2 <= n_centers) take.template operator()<2>();
    }
    if (k < n_centers) take.template operator()<1>();
  }
}

template <class T>
void products_of(const DenseTile<T>& tile, const std::int32_t* indices, const std::int32_t* subset,
                 int n, const T* c, int stride, int n_centers, T* scores, int n_slots) {
  if (tile.n_features % (along_bytes / static_cast<int>(sizeof(T)))) {
    products_for<T, true>(tile, indices, subset, n, c, stride, n_centers, scores, n_slots);
  } else {
    products_for<T, false>(tile, indices, subset, n, c, stride, n_centers, scores, n_slots);
  }
}

}  // namespace
}  // namespace modeclust
