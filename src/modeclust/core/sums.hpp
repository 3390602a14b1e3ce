// Weighted sums of dense rows by cluster.
//
// The rows of a cluster are added in order, so that sums have the same bits with and without
// bounds. Sums are doubles. Float32 rows with 64 features or more are first multiplied and added in
// float32, eight at a time, if their weights allow it.
#pragma once

#include "kernel_functions.hpp"
#include "search.hpp"

namespace modeclust {
namespace {

// Rows with at least this many features are sorted by cluster before they are added.
constexpr int fewest_long_features = 64;
// Rows whose largest weight is not between these are added in doubles, one by one. Float32 would
// lose digits of smaller weights, and larger ones would overflow.
constexpr double smallest_single_weight = 1e-25, largest_single_weight = 1e20;

/// Memory that will be read next, prefetched piece by piece while rows are summed.
class Prefetch {
 public:
  Prefetch(const void* begin, std::int64_t bytes)
      : next_(static_cast<const char*>(begin)), end_(next_ + bytes) {}
  MODECLUST_INLINE void lines(int n) {
    if (next_ >= end_) return;
    for (int i = 0; i < n; i++) __builtin_prefetch(next_ + i * 64, 0, 2);
    next_ += n * 64;
  }

 private:
  const char* next_;
  const char* end_;
};

/// Adds weight x to a row of sums. The number of vectors of eight is a constant, or -1 if unknown.
template <class T, int whole, int tail>
MODECLUST_INLINE void add_short_row(const T* x, int n_features, double weight, double* totals) {
  using V = Vec<double, 8>;
  const V w = V::splat(weight);
  if constexpr (whole < 0) {
    int j = 0;
    for (; j + 8 <= n_features; j += 8)
      (V::load(totals + j) + w * load_doubles(x + j)).store(totals + j);
    if (j < n_features) {
      (V::load(totals + j) + w * load_first_doubles(x + j, n_features - j)).store(totals + j);
    }
  } else {
#pragma GCC unroll 4
    for (int q = 0; q < whole; q++) {
      (V::load(totals + q * 8) + w * load_doubles(x + q * 8)).store(totals + q * 8);
    }
#pragma GCC unroll 4
    for (int j = whole * 8; j < whole * 8 + tail; j++)
      totals[j] += weight * static_cast<double>(x[j]);
  }
}

template <class T, int whole, int tail>
void add_short_rows(const DenseTile<T>& tile, const std::int32_t* rows, int n,
                    const std::int32_t* labels, const double* weight, double* mass, double* totals,
                    std::int64_t stride) {
  for (int i = 0; i < n; i++) {
    const int m = rows[i];
    const int k = labels[m];
    mass[k] += weight[m];
    add_short_row<T, whole, tail>(tile.row(m), tile.n_features, weight[m], totals + k * stride);
  }
}

/// Where the sums of weights go: mass, and mass squared if it is not null.
struct Masses {
  double* mass;
  double* mass_squared = nullptr;
  const double* q = nullptr;  // (n,) sample weights of the rows; null means 1
};

/// Some rows of a tile.
struct TileRows {
  const std::int32_t* indices;  // null for 0, 1, 2, ...
  int n;
  MODECLUST_INLINE int operator[](int i) const { return indices ? indices[i] : i; }
};

/// Adds the squares of the weights of some rows of a tile.
inline void add_squares(TileRows rows, const std::int32_t* labels, const double* weight,
                        Masses masses) {
  for (int i = 0; i < rows.n; i++) {
    const int m = rows[i];
    const double q = masses.q ? masses.q[m] : 1.0;
    masses.mass_squared[labels[m]] += squared_weight(weight[m], q);
  }
}

/// Adds rows of up to three features. One vector has the weighted row and, last, the weight. For
/// rows of up to two features, the square of the weight is between them.
template <class T, int D>
void add_tiny_rows(const DenseTile<T>& tile, int n, const std::int32_t* labels, int n_clusters,
                   const double* weight, Masses masses, double* totals, std::int64_t stride) {
  static_assert(D <= 3);
  const bool has_squares = D < 3 && masses.mass_squared && !masses.q;
  if (masses.mass_squared && !has_squares) add_squares({nullptr, n}, labels, weight, masses);
  for (int k = 0; k < n_clusters; k++) {
    if (has_squares) totals[k * stride + 2] = masses.mass_squared[k];
    totals[k * stride + 3] = masses.mass[k];
  }
  for (int m = 0; m < n; m++) {
    const T* x = tile.row(m);
    const double w = weight[m];
    double* sums = totals + labels[m] * stride;
    const auto weighted = vector_of(w * static_cast<double>(x[0]),
                                    D > 1 ? w * static_cast<double>(x[D > 1 ? 1 : 0]) : 0.0,
                                    D > 2 ? w * static_cast<double>(x[D > 2 ? 2 : 0]) : w * w, w);
    (Vec<double, 4>::load(sums) + weighted).store(sums);
  }
  for (int k = 0; k < n_clusters; k++) {
    if (has_squares) masses.mass_squared[k] = totals[k * stride + 2];
    masses.mass[k] = totals[k * stride + 3];
  }
}

/// Adds a vector of T to a row of sums.
template <class T>
MODECLUST_INLINE void add_vector(double* totals, Vec<T, lanes<T>> v) {
  using W = Vec<double, 8>;
  if constexpr (sizeof(T) == 4) {
    (W::load(totals) + to_doubles(low_half(v))).store(totals);
    (W::load(totals + 8) + to_doubles(high_half(v))).store(totals + 8);
  } else {
    (W::load(totals) + v).store(totals);
  }
}

/// Adds up to n = 8, 4, 2 or 1 long rows to one cluster, whose sums are read and written once.
/// Fewer rows than n are padded with the first row at weight 0.
template <class T, int n>
MODECLUST_INLINE void add_long_rows(const DenseTile<T>& tile, const std::int32_t* rows, int n_rows,
                                    const double* weight, double& mass, double* totals,
                                    Prefetch& prefetch) {
  constexpr int L = lanes<T>;
  using V = Vec<T, L>;
  const T* x[n];
  V w[n];
  double sum[n];
#pragma GCC unroll 8
  for (int r = 0; r < n; r++) {
    x[r] = tile.row(rows[r < n_rows ? r : 0]);
    sum[r] = r < n_rows ? weight[rows[r]] : 0.0;
    w[r] = V::splat(static_cast<T>(sum[r]));
  }
  if constexpr (sizeof(T) == 4) {
    double largest = sum[0];
    for (int r = 1; r < n; r++) largest = sum[r] > largest ? sum[r] : largest;
    if (!(largest > smallest_single_weight && largest < largest_single_weight)) [[unlikely]] {
      for (int r = 0; r < n_rows; r++) {
        mass += sum[r];
        add_short_row<T, -1, 0>(x[r], tile.n_features, sum[r], totals);
      }
      return;
    }
  }
  for (int half = n / 2; half > 0; half /= 2) {
    for (int r = 0; r < half; r++) sum[r] = sum[2 * r] + sum[2 * r + 1];
  }
  mass += sum[0];
  const auto add = [&](auto load) __attribute__((always_inline)) {
    if constexpr (n == 1)
      return w[0] * load(0);
    else if constexpr (n == 2)
      return w[0] * load(0) + w[1] * load(1);
    else if constexpr (n == 4)
      return (w[0] * load(0) + w[1] * load(1)) + (w[2] * load(2) + w[3] * load(3));
    else
      return ((w[0] * load(0) + w[1] * load(1)) + (w[2] * load(2) + w[3] * load(3))) +
             ((w[4] * load(4) + w[5] * load(5)) + (w[6] * load(6) + w[7] * load(7)));
  };
  int j = 0;
  for (; j + L <= tile.n_features; j += L) {
    add_vector<T>(totals + j,
                  add([&](int r) __attribute__((always_inline)) { return V::load(x[r] + j); }));
    prefetch.lines((n + 1) / 2);
  }
  if (j < tile.n_features) {
    add_vector<T>(totals + j, add([&](int r) __attribute__((always_inline)) {
                    return V::load_first(x[r] + j, tile.n_features - j);
                  }));
  }
}

/// Adds weighted rows of a tile to the sums of their clusters. Rows of weight 0 are not read.
template <class T>
void add_tile(const DenseTile<T>& tile, TileRows rows, const std::int32_t* labels, int n_clusters,
              Workspace<T>& space, Prefetch prefetch, Masses masses, double* totals) {
  const std::int64_t stride = totals_stride(tile.n_features);
  const double* weight = space.weight;
  std::int32_t* order = space.order;
  if (tile.n_features <= 3 && n_clusters <= rows.n / 4 && !rows.indices) {
    const auto add = [&]<int D>() {
      add_tiny_rows<T, D>(tile, rows.n, labels, n_clusters, weight, masses, totals, stride);
    };
    switch (tile.n_features) {
      case 1: return add.template operator()<1>();
      case 2: return add.template operator()<2>();
      default: return add.template operator()<3>();
    }
  }
  double* mass = masses.mass;
  if (masses.mass_squared) add_squares(rows, labels, weight, masses);
  if (tile.n_features < fewest_long_features) {
    int n_present = 0;
    for (int i = 0; i < rows.n; i++) {
      const int m = rows[i];
      order[n_present] = m;
      n_present += weight[m] > 0.0;
    }
    const auto add = [&]<int whole, int tail>() {
      add_short_rows<T, whole, tail>(tile, order, n_present, labels, weight, mass, totals, stride);
    };
    switch (tile.n_features) {
      case 1: return add.template operator()<0, 1>();
      case 2: return add.template operator()<0, 2>();
      case 3: return add.template operator()<0, 3>();
      case 4: return add.template operator()<0, 4>();
      case 8: return add.template operator()<1, 0>();
      case 16: return add.template operator()<2, 0>();
      case 24: return add.template operator()<3, 0>();
      case 32: return add.template operator()<4, 0>();
      default: return add.template operator()<-1, 0>();
    }
  }
  std::int32_t* ends = space.ends;
  for (int k = 0; k <= n_clusters; k++) ends[k] = 0;
  for (int i = 0; i < rows.n; i++) ends[labels[rows[i]] + 1] += weight[rows[i]] > 0.0;
  for (int k = 1; k <= n_clusters; k++) ends[k] += ends[k - 1];
  for (int i = 0; i < rows.n; i++) {
    const int m = rows[i];
    if (weight[m] > 0.0) order[ends[labels[m]]++] = m;
  }
  int i = 0;
  for (int k = 0; k < n_clusters; k++) {
    double* sums = totals + k * stride;
    const auto add = [&]<int most>() {
      const int n_rows = smaller(most, ends[k] - i);
      add_long_rows<T, most>(tile, order + i, n_rows, weight, mass[k], sums, prefetch);
      i += n_rows;
    };
    while (ends[k] - i > 4) add.template operator()<8>();
    if (ends[k] - i > 2) add.template operator()<4>();
    if (ends[k] - i == 2) add.template operator()<2>();
    if (ends[k] - i == 1) add.template operator()<1>();
  }
}

/// Adds one row times a weight, which may be negative.
template <class T>
void add_row(const T* x, int n_features, double weight, double* totals) {
  add_short_row<T, -1, 0>(x, n_features, weight, totals);
}

}  // namespace
}  // namespace modeclust
