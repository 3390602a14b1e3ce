// Register-blocked dot products of rows with vectors in panels.
#pragma once

#include "vec.hpp"

namespace modeclust {
namespace {

// Block sizes of products, chosen so that the sums fill the registers. The lanes are the vectors of
// a panel.
constexpr int product_rows = register_bytes == 64 ? 10 : register_bytes == 32 ? 6 : 2;
constexpr int product_panels = register_bytes == 64 ? 2 : 1;

/// Dot products of some rows with some panels of vectors, each (D, lanes).
template <class T, int n_rows, int n_panels>
MODECLUST_INLINE void panel_product(const T* const* x, const T* panels, std::int64_t panel_size,
                                    int n_features, T* const* out) {
  constexpr int L = lanes<T>;
  using V = Vec<T, L>;
  V sum[n_rows][n_panels];
#pragma GCC unroll 16
  for (int r = 0; r < n_rows; r++) {
#pragma GCC unroll 4
    for (int q = 0; q < n_panels; q++) sum[r][q] = V::zero();
  }
  for (int j = 0; j < n_features; j++) {
    V c[n_panels];
#pragma GCC unroll 4
    for (int q = 0; q < n_panels; q++)
      c[q] = V::load(panels + q * panel_size + std::int64_t{j} * L);
#pragma GCC unroll 16
    for (int r = 0; r < n_rows; r++) {
      const V b = V::splat(x[r][j]);
#pragma GCC unroll 4
      for (int q = 0; q < n_panels; q++) sum[r][q] = fused_multiply_add(b, c[q], sum[r][q]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < n_rows; r++) {
#pragma GCC unroll 4
    for (int q = 0; q < n_panels; q++) sum[r][q].store(out[r] + q * L);
  }
}

}  // namespace
}  // namespace modeclust
