#include "measures.hpp"

#include "segments.hpp"
#include "soft_sums.hpp"

namespace modeclust {
namespace {

static_assert(tile_rows == leaf_size);

/// The distance of two points whose squared distance overflows.
double far_distance(const double* x, const double* center, int n_features) {
  double unit = 0.0;
  for (int j = 0; j < n_features; j++) {
    const double a = __builtin_fabs(x[j]), b = __builtin_fabs(center[j]);
    if (a > unit) unit = a;
    if (b > unit) unit = b;
  }
  double total = 0.0;
  for (int j = 0; j < n_features; j++) {
    const double difference = x[j] / unit - center[j] / unit;
    total += difference * difference;
  }
  return __builtin_sqrt(total) * unit;
}

/// Squared distances of `n_rows` dense rows to the 16 centers of a panel. The lanes are centers.
template <int n_rows>
MODECLUST_INLINE void measure_rows(const double* const* rows, const double* panel, int n_features,
                                   Doubles (*out)[2]) {
  for (int r = 0; r < n_rows; r++) out[r][0] = out[r][1] = Doubles::zero();
  for (int j = 0; j < n_features; j++) {
    const Doubles a = Doubles::load(panel + j * panel_centers);
    const Doubles b = Doubles::load(panel + j * panel_centers + 8);
    for (int r = 0; r < n_rows; r++) {
      const Doubles x = Doubles::splat(rows[r][j]);
      const Doubles da = x - a, db = x - b;
      out[r][0] = out[r][0] + da * da;
      out[r][1] = out[r][1] + db * db;
    }
  }
}

/// The same for one CSR row.
template <class Rows>
void measure_sparse_row(const Rows& rows, std::int64_t i, const MeasuredCenters& centers,
                        int number, Doubles* out) {
  const double* panel =
      centers.panels + static_cast<std::int64_t>(number) * centers.n_features * panel_centers;
  Doubles total[2] = {Doubles::zero(), Doubles::zero()}, covered[2] = {total[0], total[1]};
  const double factor = rows.factor(i);
  for (std::int64_t e = rows.begin(i); e < rows.end(i); e++) {
    const Doubles x = Doubles::splat(rows.value(e, factor));
    const double* at = panel + static_cast<std::int64_t>(rows.indices()[e]) * panel_centers;
    for (int v = 0; v < 2; v++) {
      const Doubles c = Doubles::load(at + 8 * v), difference = x - c;
      total[v] = total[v] + difference * difference;
      covered[v] = covered[v] + c * c;
    }
  }
  double totals[panel_centers], squares[panel_centers];
  for (int v = 0; v < 2; v++) {
    total[v].store(totals + 8 * v);
    covered[v].store(squares + 8 * v);
  }
  for (int c = 0; c < panel_centers; c++) {
    const std::int64_t k = static_cast<std::int64_t>(number) * panel_centers + c;
    if (k >= centers.n_clusters) break;
    double rest = centers.norms[k] - squares[c];
    if (rest < least_rest * centers.norms[k]) {
      rest = squares_in_gaps(rows, i, centers.rows + k * centers.n_features, centers.n_features);
    }
    totals[c] += rest;
  }
  out[0] = Doubles::load(totals);
  out[1] = Doubles::load(totals + 8);
}

template <int L>
MODECLUST_INLINE Vec<double, L> square_root(Vec<double, L> v) {
  if constexpr (L * 8 > register_bytes) {
    return {square_root(v.low), square_root(v.high)};
  } else {
    using Register [[maybe_unused]] = typename Vec<double, L>::Register;
#if defined(__AVX512F__)
    if constexpr (L == 8) return {(Register)_mm512_maskz_sqrt_pd(0xFF, (__m512d)v.r)};
#elif defined(__AVX2__)
    if constexpr (L == 4) return {(Register)_mm256_sqrt_pd((__m256d)v.r)};
#elif defined(__x86_64__)
    if constexpr (L == 2) return {(Register)_mm_sqrt_pd((__m128d)v.r)};
#endif
    for (int i = 0; i < L; i++) v.r[i] = __builtin_sqrt(v.r[i]);
    return v;
  }
}

/// Writes the measures of row i and centers `first` to `first` + 7, given squared distances.
template <class Rows>
MODECLUST_INLINE void write_measures(const Rows& rows, std::int64_t i, const RowWeights& weights,
                                     const MeasureTask& task, int first, Doubles squared,
                                     double* scratch, void* out, std::int64_t at) {
  const int n_clusters = task.centers.n_clusters, n_features = task.centers.n_features;
  const int n = n_clusters - first < 8 ? n_clusters - first : 8;
  Doubles values;
  if (task.measure == Measure::kernel_value) {
    const Doubles factor = Doubles::splat(weights.precision_of(i) * task.inverse_squared_bandwidth);
    with_kernel(task.kernel, [&]<KernelName kernel>() {
      values = Doubles::splat(weights.weight_of(i)) * kernel_values_of<kernel>(squared * factor);
    });
  } else {
    values = square_root(squared);
    const unsigned within = bits_of(values < Doubles::splat(infinity));
    const unsigned every = (1u << n) - 1;
    if ((within & every) != every) [[unlikely]] {
      double lanes[8];
      values.store(lanes);
      read_as_doubles(rows, i, 1, n_features, scratch);
      for (int c = 0; c < n; c++) {
        if (within >> c & 1) continue;
        const std::int64_t k = first + c;
        lanes[c] = far_distance(scratch, task.centers.rows + k * n_features, n_features);
      }
      values = Doubles::load(lanes);
    }
  }
  if (task.measure != Measure::distance_as_float && n == 8) {
    values.store(static_cast<double*>(out) + at * n_clusters + first);
    return;
  }
  double lanes[8];
  values.store(lanes);
  if (task.measure == Measure::distance_as_float) {
    float* to = static_cast<float*>(out) + at * n_clusters + first;
    for (int c = 0; c < n; c++) to[c] = static_cast<float>(lanes[c]);
  } else {
    double* to = static_cast<double*>(out) + at * n_clusters + first;
    for (int c = 0; c < n; c++) to[c] = lanes[c];
  }
}

/// Squared distances of two long rows to 4 centers. The lanes are features.
template <class T>
MODECLUST_INLINE void measure_long_rows(const T* x, const T* y, const double* const* centers,
                                        int n_features, double* out) {
  Doubles first[4], second[4];
  for (int c = 0; c < 4; c++) first[c] = second[c] = Doubles::zero();
  const auto add = [&](Doubles a, Doubles b, Doubles center, int c) __attribute__((always_inline)) {
    const Doubles da = a - center, db = b - center;
    first[c] = first[c] + da * da;
    second[c] = second[c] + db * db;
  };
  int j = 0;
  for (; j + 8 <= n_features; j += 8) {
    const Doubles a = load_doubles(x + j), b = load_doubles(y + j);
    for (int c = 0; c < 4; c++) add(a, b, Doubles::load(centers[c] + j), c);
  }
  if (j < n_features) {
    const int left = n_features - j;
    const Doubles a = load_first_doubles(x + j, left), b = load_first_doubles(y + j, left);
    for (int c = 0; c < 4; c++) add(a, b, Doubles::load_first(centers[c] + j, left), c);
  }
  sums_of_lanes(first[0], first[1], first[2], first[3], out);
  sums_of_lanes(second[0], second[1], second[2], second[3], out + 8);
}

/// For short rows. The lanes are the centers of a panel, and each feature of a row is broadcast.
template <class Rows, class Visit>
MODECLUST_INLINE void visit_by_panels(const Rows& rows, const MeasuredCenters& centers,
                                      RowRange range, double* buffer, Visit visit) {
  constexpr int n_at_once = tile_rows - 1;  // one row of the buffer is scratch memory
  const int n_features = centers.n_features;
  double* scratch = buffer + static_cast<std::int64_t>(n_at_once) * n_features;
  for (std::int64_t first = range.first; first < range.last; first += n_at_once) {
    const std::int64_t left = range.last - first;
    const int n = left < n_at_once ? static_cast<int>(left) : n_at_once;
    read_as_doubles(rows, first, n, n_features, buffer);
    for (int k = 0; k < centers.n_clusters; k += panel_centers) {
      const double* panel = centers.panels + static_cast<std::int64_t>(k) * n_features;
      for (int m = 0; m < n; m += 4) {
        const double* some[4];
        for (int r = 0; r < 4; r++) {
          some[r] = buffer + static_cast<std::int64_t>(m + r < n ? m + r : n - 1) * n_features;
        }
        Doubles squared[4][2];
        measure_rows<4>(some, panel, n_features, squared);
        for (int r = 0; r < 4 && m + r < n; r++) {
          for (int v = 0; v < 2 && k + 8 * v < centers.n_clusters; v++) {
            visit(first + m + r, k + 8 * v, squared[r][v], scratch);
          }
        }
      }
    }
  }
}

/// For long rows, two with four centers at a time. The lanes are features.
template <class Rows, class Visit>
MODECLUST_INLINE void visit_by_features(const Rows& rows, const MeasuredCenters& all,
                                        RowRange range, double* buffer, Visit visit) {
  using T = typename Rows::Number;
  constexpr int n_at_once = tile_rows - 2;  // even; the rest of the buffer is scratch memory
  const int n_features = all.n_features, n_clusters = all.n_clusters;
  double* scratch = buffer + static_cast<std::int64_t>(n_at_once) * n_features;
  double squared[n_at_once][8];
  for (int m = 0; m < n_at_once; m++) {
    for (int c = 0; c < 8; c++) squared[m][c] = 0.0;
  }
  for (std::int64_t first = range.first; first < range.last; first += n_at_once) {
    const std::int64_t left = range.last - first;
    const int n = left < n_at_once ? static_cast<int>(left) : n_at_once;
    const DenseTile<T> tile = rows.tile(first, n, reinterpret_cast<T*>(buffer));
    for (int k = 0; k < n_clusters; k += 8) {
      for (int half = 0; half < 8 && k + half < n_clusters; half += 4) {
        const double* centers[4];
        for (int c = 0; c < 4; c++) {
          const std::int64_t own = k + half + c < n_clusters ? k + half + c : n_clusters - 1;
          centers[c] = all.rows + own * n_features;
        }
        for (int m = 0; m < n; m += 2) {
          measure_long_rows(tile.row(m), tile.row(m + 1 < n ? m + 1 : m), centers, n_features,
                            squared[m] + half);
        }
      }
      for (int m = 0; m < n; m++) {
        visit(first + m, k, Doubles::load(squared[m]), scratch);
      }
    }
  }
}

/// Calls visit(row, k, squared distances to centers k to k + 7, scratch memory for a row), for each
/// row in order. Lanes past the last center are undefined.
template <class Rows, class Visit>
MODECLUST_INLINE void visit_distances(const Rows& rows, const MeasuredCenters& centers,
                                      RowRange range, double* buffer, Visit visit) {
  if constexpr (Rows::is_sparse) {
    for (std::int64_t i = range.first; i < range.last; i++) {
      for (int k = 0; k < centers.n_clusters; k += panel_centers) {
        Doubles squared[2];
        measure_sparse_row(rows, i, centers, k / panel_centers, squared);
        for (int v = 0; v < 2 && k + 8 * v < centers.n_clusters; v++) {
          visit(i, k + 8 * v, squared[v], buffer);
        }
      }
    }
  } else if (centers.n_features < fewest_for_long_rows) {
    visit_by_panels(rows, centers, range, buffer, visit);
  } else {
    visit_by_features(rows, centers, range, buffer, visit);
  }
}

void measure(const RowSource& source, const RowWeights& weights, const MeasureTask& task,
             RowRange range, double* buffer, void* out) {
  with_rows(source, [&](auto rows) {
    visit_distances(rows, task.centers, range, buffer,
                    [&](std::int64_t i, int k, Doubles squared, double* scratch)
                        __attribute__((always_inline)) {
                          write_measures(rows, i, weights, task, k, squared, scratch, out,
                                         i - range.first);
                        });
  });
}

void own(const RowSource& source, const MeasuredCenters& centers, const std::int32_t* labels,
         RowRange range, double* buffer, double* out) {
  const int n_features = source.n_features;
  with_rows(source, [&](auto rows) {
    using Rows = decltype(rows);
    using T = typename Rows::Number;
    if constexpr (Rows::is_sparse) {
      for (std::int64_t i = range.first; i < range.last; i++) {
        const std::int64_t k = labels[i];
        out[i - range.first] = sparse_squared_difference(rows, i, centers.rows + k * n_features,
                                                         centers.norms[k], n_features);
      }
    } else {
      for (std::int64_t i = range.first; i < range.last; i += 4) {
        const int n = range.last - i < 4 ? static_cast<int>(range.last - i) : 4;
        const DenseTile<T> tile = rows.tile(i, n, reinterpret_cast<T*>(buffer));
        const T* x[4];
        const double* own[4];
        double squared[4];
        for (int r = 0; r < 4; r++) {
          const int m = r < n ? r : n - 1;
          x[r] = tile.row(m);
          own[r] = centers.rows + static_cast<std::int64_t>(labels[i + m]) * n_features;
        }
        four_squared_differences<false>(x, own, n_features, squared);
        for (int r = 0; r < n; r++) out[i - range.first + r] = squared[r];
      }
    }
  });
}

}  // namespace

const MeasureKernels MODECLUST_TABLE(measure_kernels) = {measure, own, soft, segments};

}  // namespace modeclust
