// Mean-shift of long rows, in dense tiles of 32 rows, for several points at a time.
#pragma once

#include "density.hpp"
#include "leaf_weights.hpp"
#include "tiles.hpp"

namespace modeclust {
namespace {

constexpr int panel_rows = 16;

/// A tile in two layouts: the lanes are rows for distances, and features for totals.
struct Tile {
  std::int64_t stride;  // D, padded
  double* rows;         // (32, stride), padded with zeros
  double* panels;       // (2, D, 16)
  double* norms;        // (32,)
  double* weight;       // (32,) 0 for missing rows
  double* precision;    // (32,)
};

/// Reads up to 32 rows, starting with `first`; missing rows become zeros.
template <class Rows>
void fill_tile_of(const Rows& rows, const RowWeights& weights, std::int64_t first, Tile& tile) {
  using T = typename Rows::Number;
  const RowSource& source = rows.source;
  const int n_features = source.n_features;
  for (int m = 0; m < leaf_size; m++) {
    const std::int64_t i = first + m;
    const bool is_missing = i >= source.n_rows;
    tile.weight[m] = is_missing ? 0.0 : weights.weight_of(i);
    tile.precision[m] = is_missing ? 1.0 : weights.precision_of(i);
    double* row = tile.rows + m * tile.stride;
    if (is_missing || Rows::is_sparse) {
      for (std::int64_t j = 0; j < tile.stride; j++) row[j] = 0.0;
    }
    if (!is_missing) {
      if constexpr (Rows::is_sparse) {
        const double factor = rows.factor(i);
        for (std::int64_t e = rows.begin(i); e < rows.end(i); e++) {
          row[rows.indices()[e]] = rows.value(e, factor);
        }
      } else if (rows.in_place()) {
        const T* x = rows.tile(i, 1, nullptr).row(0);
        for (int j = 0; j < n_features; j++) row[j] = static_cast<double>(x[j]);
      } else if constexpr (sizeof(T) == 8) {
        read_row<T>(source, i, row);
      } else {
        // Read to the end of the row first, so that numbers are converted before they are
        // overwritten.
        T* narrow = reinterpret_cast<T*>(row + tile.stride) - n_features;
        read_row<T>(source, i, narrow);
        for (int j = 0; j < n_features; j++) {
          T value;
          __builtin_memcpy(&value, narrow + j, sizeof(T));
          row[j] = static_cast<double>(value);
        }
      }
      for (std::int64_t j = n_features; j < tile.stride; j++) row[j] = 0.0;
    }
    double* panel = tile.panels + (m / panel_rows) * n_features * panel_rows + m % panel_rows;
    for (int j = 0; j < n_features; j++) panel[j * panel_rows] = row[j];
  }
  for (int half = 0; half < 2; half++) {
    const double* panel = tile.panels + half * n_features * panel_rows;
    Doubles low = Doubles::zero(), high = Doubles::zero();
    for (int j = 0; j < n_features; j++) {
      const Doubles a = Doubles::load(panel + j * panel_rows);
      const Doubles b = Doubles::load(panel + j * panel_rows + 8);
      low = low + a * a;
      high = high + b * b;
    }
    low.store(tile.norms + half * panel_rows);
    high.store(tile.norms + half * panel_rows + 8);
  }
}

void fill_tile(const RowSource& source, const RowWeights& weights, std::int64_t first, Tile& tile) {
  with_rows(source, [&](auto rows) { fill_tile_of(rows, weights, first, tile); });
}

/// Dot products or squared distances of 4 points and 16 rows; those of point r go to out + 32 r.
template <bool by_products>
void measure_block(const double* const* points, const double* panel, int n_features, double* out) {
  Doubles low[4], high[4];
  for (int r = 0; r < 4; r++) low[r] = high[r] = Doubles::zero();
  for (int j = 0; j < n_features; j++) {
    const Doubles a = Doubles::load(panel + j * panel_rows);
    const Doubles b = Doubles::load(panel + j * panel_rows + 8);
    for (int r = 0; r < 4; r++) {
      const Doubles here = Doubles::splat(points[r][j]);
      if constexpr (by_products) {
        low[r] = low[r] + a * here;
        high[r] = high[r] + b * here;
      } else {
        const Doubles da = a - here, db = b - here;
        low[r] = low[r] + da * da;
        high[r] = high[r] + db * db;
      }
    }
  }
  for (int r = 0; r < 4; r++) {
    low[r].store(out + r * leaf_size);
    high[r].store(out + r * leaf_size + 8);
  }
}

/// Adds some weighted rows of the tile to n_vectors of the totals of some points.
template <int n_points, int n_vectors>
MODECLUST_INLINE void add_features(const Tile& tile, const int* rows, int n_rows, std::int64_t j,
                                   const double* const* weights, double* const* totals) {
  Doubles total[n_points][n_vectors];
  for (int r = 0; r < n_points; r++) {
    for (int v = 0; v < n_vectors; v++) total[r][v] = Doubles::load(totals[r] + j + 8 * v);
  }
  for (int s = 0; s < n_rows; s++) {
    const double* row = tile.rows + rows[s] * tile.stride + j;
    for (int r = 0; r < n_points; r++) {
      const Doubles w = Doubles::splat(weights[r][rows[s]]);
      for (int v = 0; v < n_vectors; v++) {
        total[r][v] = total[r][v] + w * Doubles::load(row + 8 * v);
      }
    }
  }
  for (int r = 0; r < n_points; r++) {
    for (int v = 0; v < n_vectors; v++) total[r][v].store(totals[r] + j + 8 * v);
  }
}

/// Adds the rows of a tile whose bits are set to the totals of some points, n_vectors at a time.
template <int n_points, int n_vectors>
MODECLUST_INLINE void add_rows_of(unsigned bits, const Tile& tile, const double* const* weights,
                                  double* const* totals) {
  int rows[leaf_size], n_rows = 0;
  for (; bits; bits &= bits - 1) rows[n_rows++] = __builtin_ctz(bits);
  std::int64_t j = 0;
  for (; j + 8 * n_vectors <= tile.stride; j += 8 * n_vectors) {
    add_features<n_points, n_vectors>(tile, rows, n_rows, j, weights, totals);
  }
  for (; j < tile.stride; j += 8) {
    add_features<n_points, 1>(tile, rows, n_rows, j, weights, totals);
  }
}

/// Adds the weighted rows of the tile to the totals of some points.
template <int n_points>
void add_totals(const Tile& tile, const double* const* weights, double* const* totals) {
  unsigned bits[n_points], any = 0;
  int n_weights = 0;
  for (int r = 0; r < n_points; r++) {
    bits[r] = 0;
    for (int v = 0; v < leaf_vectors; v++) {
      bits[r] |= bits_of(Doubles::zero() < Doubles::load(weights[r] + 8 * v)) << (8 * v);
    }
    any |= bits[r];
    n_weights += __builtin_popcount(bits[r]);
  }
  // Reading a row for one of four points takes about a third of the time of reading it for all.
  if (n_weights < 2 * __builtin_popcount(any)) {
    for (int r = 0; r < n_points; r++) {
      add_rows_of<1, 4>(bits[r], tile, weights + r, totals + r);
    }
  } else {
    add_rows_of<n_points, 2>(any, tile, weights, totals);
  }
}

template <KernelName kernel>
void shift_tiles_of(const RowSource& source, const RowWeights& weights, const ShiftTask& task,
                    PointRange range, const ShiftResult& result, double* buffer) {
  const int n_features = source.n_features;
  const std::int64_t n_points = range.last - range.first;
  Tile tile;
  tile.stride = padded<double>(n_features);
  tile.rows = buffer;
  tile.panels = tile.rows + leaf_size * tile.stride;
  tile.norms = tile.panels + leaf_size * tile.stride;
  tile.weight = tile.norms + leaf_size;
  tile.precision = tile.weight + leaf_size;
  double* t = tile.precision + leaf_size;              // (4, 32)
  double* kept = t + 5 * leaf_size;                    // (points, 32) weights
  double* totals = kept + points_at_once * leaf_size;  // (points, stride)
  PointSums sums[points_at_once];
  double point_norms[points_at_once], limits[points_at_once];
  for (std::int64_t p = 0; p < n_points; p++) {
    point_norms[p] = squared_norm(task.points + (range.first + p) * n_features, n_features);
    limits[p] = task.nearest && kernel == KernelName::gaussian
                    ? task.nearest[range.first + p] + task.negligible
                    : infinity;
  }
  for (std::int64_t j = 0; j < n_points * tile.stride; j++) totals[j] = 0.0;
  const Doubles factor = Doubles::splat(task.inverse_squared_bandwidth);
  for (std::int64_t first = 0; first < source.n_rows; first += leaf_size) {
    fill_tile(source, weights, first, tile);
    int heavy[points_at_once], n_heavy = 0;  // points where rows of this tile have weight
    for (std::int64_t begin = 0; begin < n_points; begin += 4) {
      const double* points[4];
      for (int r = 0; r < 4; r++) {
        const std::int64_t p = begin + r < n_points ? begin + r : n_points - 1;
        points[r] = task.points + (range.first + p) * n_features;
      }
      for (int half = 0; half < 2; half++) {
        const double* panel = tile.panels + half * n_features * panel_rows;
        double* out = t + half * panel_rows;
        if (task.by_products) {
          measure_block<true>(points, panel, n_features, out);
        } else {
          measure_block<false>(points, panel, n_features, out);
        }
      }
      for (int r = 0; r < 4 && begin + r < n_points; r++) {
        const int p = static_cast<int>(begin) + r;
        Doubles here[leaf_vectors], w[leaf_vectors];
        double least = infinity;
        for (int v = 0; v < leaf_vectors; v++) {
          here[v] = Doubles::load(t + r * leaf_size + 8 * v);
          if (task.by_products) {
            const Doubles point_norm = Doubles::splat(point_norms[p]);
            const Doubles norms = point_norm + Doubles::load(tile.norms + 8 * v);
            here[v] = max(norms - Doubles::splat(2.0) * here[v], Doubles::zero());
          }
          here[v] = here[v] * (Doubles::load(tile.precision + 8 * v) * factor);
          const double lowest = min_of_lanes(here[v]);
          if (lowest < least) least = lowest;
        }
        if (least >= limits[p]) continue;
        double* own = totals + p * tile.stride;
        // The totals are doubles, not vectors. They are rescaled to a new reference below.
        const double before = sums[p].reference;
        const bool had_mass = sums[p].has_mass;
        if (!weigh<kernel, true>(here, {tile.weight, tile.precision}, task.negligible, sums[p],
                                 nullptr, 0, w)) {
          continue;
        }
        if (had_mass && sums[p].reference != before) {
          const double rescale = relative_weight(kernel, before, sums[p].reference);
          for (std::int64_t j = 0; j < tile.stride; j++) own[j] *= rescale;
        }
        for (int v = 0; v < leaf_vectors; v++) w[v].store(kept + p * leaf_size + 8 * v);
        heavy[n_heavy++] = p;
      }
    }
    int next = 0;
    for (; next + 4 <= n_heavy; next += 4) {
      const double* w[4];
      double* own[4];
      for (int r = 0; r < 4; r++) {
        w[r] = kept + heavy[next + r] * leaf_size;
        own[r] = totals + heavy[next + r] * tile.stride;
      }
      add_totals<4>(tile, w, own);
    }
    for (; next < n_heavy; next++) {
      const double* w = kept + heavy[next] * leaf_size;
      double* own = totals + heavy[next] * tile.stride;
      add_totals<1>(tile, &w, &own);
    }
  }
  for (std::int64_t p = 0; p < n_points; p++) {
    result.reference[range.first + p] = sums[p].reference;
    result.mass[range.first + p] = sum_of_lanes(sums[p].mass);
    result.density[range.first + p] = density_of<kernel>(sums[p]);
    result.smallest[range.first + p] = sums[p].smallest;
    double* out = result.totals + (range.first + p) * n_features;
    for (int j = 0; j < n_features; j++) out[j] = totals[p * tile.stride + j];
  }
}

void shift_tiles(const RowSource& source, const RowWeights& weights, const ShiftTask& task,
                 PointRange range, const ShiftResult& result, double* buffer) {
  with_kernel(task.kernel, [&]<KernelName kernel>() {
    shift_tiles_of<kernel>(source, weights, task, range, result, buffer);
  });
}

}  // namespace
}  // namespace modeclust
