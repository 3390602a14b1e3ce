// The sums of a mode pass with soft memberships.
#pragma once

#include "measures.hpp"
#include "row_distances.hpp"

namespace modeclust {
namespace {

/// The sums of one cluster.
struct ClusterSums {
  PointSums point;
  Doubles inertia, weight;
};
static_assert(sizeof(ClusterSums) <= 40 * sizeof(double));

/// Working memory: a tile of rows, and the sums of a block.
struct SoftWork {
  std::int64_t stride;  // D, padded
  double* tile;         // (D, 32) for short rows, else (32, D)
  double* weight;       // (32,) q z; 0 for missing rows
  double* precision;    // (32,)
  double* distances;    // (32,) squared
  double* kept;         // (32,) kernel weights
  double* totals;       // (K, D, 8) for short rows, else (K, stride)
  ClusterSums* clusters;
};

/// Adds a tile to the sums of cluster k, given `distances`. Returns whether a row has weight.
template <KernelName kernel>
bool weigh_tile(const SoftTask& task, std::int64_t first, int k, bool is_short, SoftWork& work,
                SoftResult& result) {
  ClusterSums& sums = work.clusters[k];
  Doubles t[leaf_vectors], w[leaf_vectors], least = Doubles::splat(infinity);
  for (int v = 0; v < leaf_vectors; v++) {
    const Doubles q = Doubles::load(work.weight + 8 * v);
    const Doubles squared = Doubles::load(work.distances + 8 * v);
    const Doubles scaled = squared * Doubles::load(work.precision + 8 * v);
    sums.inertia = sums.inertia + q * scaled;
    sums.weight = sums.weight + q;
    t[v] = scaled * Doubles::splat(task.inverse_squared_bandwidth);
    least = min(least, Doubles::select(Doubles::zero() < q, squared, Doubles::splat(infinity)));
  }
  if (min_of_lanes(least) < result.nearest_distance[k]) {
    for (int m = 0; m < tile_rows; m++) {
      if (work.weight[m] > 0.0 && work.distances[m] < result.nearest_distance[k]) {
        result.nearest_distance[k] = work.distances[m];
        result.nearest[k] = task.first_row + first + m;
      }
    }
  }
  // A far row may be the only one of its cluster, so the limit is the largest that exp allows.
  constexpr double negligible = 600.0;
  const double before = sums.point.reference;
  const bool had_mass = sums.point.has_mass;
  if (!weigh<kernel, true>(t, {work.weight, work.precision}, negligible, sums.point, nullptr, 0,
                           w)) {
    return false;
  }
  const std::int64_t n_totals = is_short ? 8 * task.centers.n_features : work.stride;
  if (had_mass && sums.point.reference != before) {
    const double rescale = relative_weight(kernel, before, sums.point.reference);
    double* totals = work.totals + k * n_totals;
    for (std::int64_t j = 0; j < n_totals; j++) totals[j] *= rescale;
  }
  for (int v = 0; v < leaf_vectors; v++) w[v].store(work.kept + 8 * v);
  return true;
}

/// Squared distances of a transposed tile to a center.
void measure_tile(const SoftWork& work, const double* center, int n_features) {
  Doubles total[leaf_vectors];
  for (int v = 0; v < leaf_vectors; v++) total[v] = Doubles::zero();
  for (int j = 0; j < n_features; j++) {
    const Doubles c = Doubles::splat(center[j]);
    for (int v = 0; v < leaf_vectors; v++) {
      const Doubles difference = Doubles::load(work.tile + j * tile_rows + 8 * v) - c;
      total[v] = total[v] + difference * difference;
    }
  }
  for (int v = 0; v < leaf_vectors; v++) total[v].store(work.distances + 8 * v);
}

/// Adds a transposed tile to the totals of a cluster.
void add_tile(const SoftWork& work, double* totals, int n_features) {
  Doubles w[leaf_vectors];
  for (int v = 0; v < leaf_vectors; v++) w[v] = Doubles::load(work.kept + 8 * v);
  for (int j = 0; j < n_features; j++) {
    const double* x = work.tile + j * tile_rows;
    const Doubles sum = (w[0] * Doubles::load(x) + w[1] * Doubles::load(x + 8)) +
                        (w[2] * Doubles::load(x + 16) + w[3] * Doubles::load(x + 24));
    (Doubles::load(totals + 8 * j) + sum).store(totals + 8 * j);
  }
}

/// Adds some long dense rows to the totals of a cluster, one after the other.
template <int n, class T>
MODECLUST_INLINE void add_rows(const T* const* x, const double* weights, double* totals,
                               int n_features) {
  int j = 0;
  for (; j + 8 <= n_features; j += 8) {
    Doubles total = Doubles::load(totals + j);
    for (int r = 0; r < n; r++) total = total + Doubles::splat(weights[r]) * load_doubles(x[r] + j);
    total.store(totals + j);
  }
  if (j < n_features) {
    Doubles total = Doubles::load(totals + j);
    for (int r = 0; r < n; r++) {
      total = total + Doubles::splat(weights[r]) * load_first_doubles(x[r] + j, n_features - j);
    }
    total.store(totals + j);
  }
}

/// Squared distances of the rows of positive weight of a tile, 4 at a time; 0 for the others.
template <class T>
void measure_members(const DenseTile<T>& tile, const SoftWork& work, const double* center) {
  int members[tile_rows + 4], n = 0;
  for (int m = 0; m < tile_rows; m++) {
    work.distances[m] = 0.0;
    if (work.weight[m] > 0.0) members[n++] = m;
  }
  for (int s = 0; s < n; s += 4) {
    const T* x[4];
    double squared[4];
    for (int r = 0; r < 4; r++) x[r] = tile.row(members[s + r < n ? s + r : n - 1]);
    four_squared_differences<true>(x, &center, tile.n_features, squared);
    for (int r = 0; r < 4 && s + r < n; r++) work.distances[members[s + r]] = squared[r];
  }
}

/// Adds the rows of positive weight of a tile to the totals of a cluster, 4 at a time.
template <class T>
void add_members(const DenseTile<T>& tile, const SoftWork& work, double* totals) {
  const T* x[4];
  double weights[4];
  int n = 0;
  for (int m = 0; m < tile_rows; m++) {
    if (!(work.kept[m] > 0.0)) continue;
    x[n] = tile.row(m);
    weights[n++] = work.kept[m];
    if (n == 4) {
      add_rows<4>(x, weights, totals, tile.n_features);
      n = 0;
    }
  }
  for (int r = 0; r < n; r++) add_rows<1>(x + r, weights + r, totals, tile.n_features);
}

/// Whether rows have enough positive memberships that converting them to doubles first is faster.
inline bool has_many_members(const SoftTask& task, std::int64_t first, int n) {
  const int n_clusters = task.centers.n_clusters;
  const double* memberships = task.memberships + first * n_clusters;
  std::int64_t n_members = 0;
  for (std::int64_t m = 0; m < std::int64_t{n} * n_clusters; m++) n_members += memberships[m] > 0.0;
  return n_members > 3 * n;
}

template <class Rows>
void soft_of(const Rows& rows, const RowWeights& weights, const SoftTask& task, RowRange range,
             SoftWork& work, SoftResult& result) {
  using T = typename Rows::Number;
  const int n_features = task.centers.n_features, n_clusters = task.centers.n_clusters;
  const bool is_short = !Rows::is_sparse && n_features < fewest_for_long_rows;
  for (std::int64_t first = range.first; first < range.last; first += tile_rows) {
    const std::int64_t left = range.last - first;
    const int n = left < tile_rows ? static_cast<int>(left) : tile_rows;
    for (int m = 0; m < tile_rows; m++) {
      work.precision[m] = m < n ? weights.precision_of(first + m) : 1.0;
    }
    [[maybe_unused]] DenseTile<T> tile{};
    [[maybe_unused]] DenseTile<double> wide{};  // the same rows as doubles
    if constexpr (!Rows::is_sparse) {
      if (is_short) {
        T row[fewest_for_long_rows];
        for (int m = 0; m < tile_rows; m++) {
          const T* x = rows.tile(first + (m < n ? m : n - 1), 1, row).row(0);
          for (int j = 0; j < n_features; j++) {
            work.tile[j * tile_rows + m] = static_cast<double>(x[j]);
          }
        }
      } else if (sizeof(T) == 4 && has_many_members(task, first, n)) {
        read_as_doubles(rows, first, n, work.stride, work.tile);
        wide = {work.tile, work.stride, n_features};
      } else {
        tile = rows.tile(first, n, reinterpret_cast<T*>(work.tile));
      }
    }
    for (int k = 0; k < n_clusters; k++) {
      bool any = false;
      for (int m = 0; m < tile_rows; m++) {
        const double z = m < n ? task.memberships[(first + m) * n_clusters + k] : 0.0;
        result.counts[k] += z > 0.0;
        work.weight[m] = z > 0.0 ? z * weights.weight_of(first + m) : 0.0;
        any |= work.weight[m] > 0.0;
      }
      if (!any) continue;
      const double* center = task.centers.rows + static_cast<std::int64_t>(k) * n_features;
      if (is_short) {
        measure_tile(work, center, n_features);
      } else {
        if constexpr (Rows::is_sparse) {
          for (int m = 0; m < tile_rows; m++) {
            work.distances[m] = work.weight[m] > 0.0
                                    ? sparse_squared_difference(rows, first + m, center,
                                                                task.centers.norms[k], n_features)
                                    : 0.0;
          }
        } else if (wide.data) {
          measure_members(wide, work, center);
        } else {
          measure_members(tile, work, center);
        }
      }
      bool has_weight = false;
      with_kernel(task.kernel, [&]<KernelName kernel>() {
        has_weight = weigh_tile<kernel>(task, first, k, is_short, work, result);
      });
      if (!has_weight) continue;
      double* totals = work.totals + k * (is_short ? 8 * std::int64_t{n_features} : work.stride);
      if (is_short) {
        add_tile(work, totals, n_features);
        continue;
      }
      if constexpr (Rows::is_sparse) {
        for (int m = 0; m < n; m++) {
          if (!(work.kept[m] > 0.0)) continue;
          const double factor = rows.factor(first + m);
          for (std::int64_t e = rows.begin(first + m); e < rows.end(first + m); e++) {
            totals[rows.indices()[e]] += work.kept[m] * rows.value(e, factor);
          }
        }
      } else if (wide.data) {
        add_members(wide, work, totals);
      } else {
        add_members(tile, work, totals);
      }
    }
  }
}

void soft(const RowSource& source, const RowWeights& weights, const SoftTask& task, RowRange range,
          double* buffer, SoftResult& result) {
  const std::int64_t n_clusters = task.centers.n_clusters, n_features = source.n_features;
  const bool is_short = !source.is_sparse() && n_features < fewest_for_long_rows;
  SoftWork work;
  work.stride = padded<double>(n_features);
  work.clusters = reinterpret_cast<ClusterSums*>(buffer);
  work.weight = buffer + 40 * n_clusters;
  work.precision = work.weight + tile_rows;
  work.distances = work.precision + tile_rows;
  work.kept = work.distances + tile_rows;
  work.tile = work.kept + tile_rows;
  work.totals = work.tile + tile_rows * work.stride;
  const std::int64_t n_totals = is_short ? 8 * n_features : work.stride;
  for (std::int64_t j = 0; j < n_clusters * n_totals; j++) work.totals[j] = 0.0;
  for (std::int64_t k = 0; k < n_clusters; k++) {
    work.clusters[k] = {{}, Doubles::zero(), Doubles::zero()};
    result.counts[k] = 0;
    result.nearest[k] = -1;
    result.nearest_distance[k] = infinity;
  }
  with_rows(source, [&](auto rows) { soft_of(rows, weights, task, range, work, result); });
  result.objective = result.inertia = result.weight = 0.0;
  for (std::int64_t k = 0; k < n_clusters; k++) {
    const ClusterSums& sums = work.clusters[k];
    result.reference[k] = sums.point.reference;
    result.mass[k] = sum_of_lanes(sums.point.mass);
    with_kernel(task.kernel,
                [&]<KernelName kernel>() { result.objective += density_of<kernel>(sums.point); });
    result.inertia += sum_of_lanes(sums.inertia);
    result.weight += sum_of_lanes(sums.weight);
    for (std::int64_t j = 0; j < n_features; j++) {
      result.totals[k * n_features + j] =
          is_short ? sum_of_lanes(Doubles::load(work.totals + k * n_totals + 8 * j))
                   : work.totals[k * n_totals + j];
    }
  }
}

}  // namespace
}  // namespace modeclust
