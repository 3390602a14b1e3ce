// Mean-shift of CSR rows. The lanes are points.
#pragma once

#include "density.hpp"
#include "leaf_weights.hpp"
#include "tiles.hpp"

namespace modeclust {
namespace {

/// The sums at 8 points.
struct LaneSums {
  Doubles reference = Doubles::splat(infinity), smallest = Doubles::splat(infinity);
  Doubles mass = Doubles::zero(), values = Doubles::zero(), density = Doubles::zero();
};

/// Makes t the reference of the points where it is below the old one by more than `largest_rise`,
/// and rescales their sums.
template <KernelName kernel>
void refer_lanes(Doubles t, LaneSums& sums, double* totals, std::int64_t stride, int n_features) {
  double now[8], before[8], mass[8], values[8], density[8], factor[8];
  t.store(now);
  sums.reference.store(before);
  sums.mass.store(mass);
  sums.values.store(values);
  sums.density.store(density);
  bool rescales = false;
  for (int r = 0; r < 8; r++) {
    factor[r] = 1.0;
    const bool has_mass = mass[r] > 0.0;
    if (!(now[r] < (has_mass ? before[r] - largest_rise : before[r]))) continue;
    if (has_compact_support(kernel)) now[r] = 0.0;
    if (has_mass) {
      factor[r] = relative_weight(kernel, before[r], now[r]);
      mass[r] *= factor[r];
      rescales = true;
      if (kernel == KernelName::gaussian) {
        density[r] += values[r] * exp_of_minus_half(before[r]);
        values[r] = 0.0;
      }
    }
    before[r] = now[r];
  }
  sums.reference = Doubles::load(before);
  sums.mass = Doubles::load(mass);
  sums.values = Doubles::load(values);
  sums.density = Doubles::load(density);
  if (!rescales) return;
  const Doubles factors = Doubles::load(factor);
  for (int j = 0; j < n_features; j++) {
    (Doubles::load(totals + j * stride) * factors).store(totals + j * stride);
  }
}

/// Adds one row of weight q to the mass of 8 points; returns its weight at each.
template <KernelName kernel>
MODECLUST_INLINE Doubles weigh_lanes(Doubles t, double q, double precision, double negligible,
                                     LaneSums& sums) {
  const Doubles zero = Doubles::zero(), one = Doubles::splat(1.0);
  Doubles value, weight;
  if constexpr (kernel == KernelName::gaussian) {
    const Doubles end = Doubles::splat(negligible);
    // A row of weight 0 may be nearer by any amount.
    const Doubles excess = min(max(t - sums.reference, Doubles::splat(-largest_rise)), end);
    if (!bits_of(excess < end)) return zero;
    value = Doubles::select(excess < end, exp_in_range(Doubles::splat(-0.5) * excess), zero);
    weight = value;
  } else if constexpr (kernel == KernelName::cauchy) {
    // A row of weight 0 may be nearer by any amount: its ratio could overflow.
    const Doubles from = max(t, sums.reference - Doubles::splat(largest_rise));
    const Doubles ratio = (one + sums.reference) / (one + from);
    value = one / (one + t);
    weight = ratio * ratio;
  } else {
    const Doubles below = max(one - t, zero);
    value = compact_values<kernel>(below);
    weight = compact_weights<kernel>(below);
  }
  sums.values = sums.values + Doubles::splat(q) * value;
  weight = Doubles::splat(q) * weight * Doubles::splat(precision);
  sums.mass = sums.mass + weight;
  return weight;
}

/// Some points and their products with up to 32 CSR rows.
struct SparseTile {
  const RowSource& source;
  int n_vectors;         // of 8 points each
  const double* points;  // (D, 8 n_vectors)
  double* totals;        // (D, 8 n_vectors)
  double* products;      // (32, 8 n_vectors)

  int stride() const { return 8 * n_vectors; }
};

/// Writes the dot products of n rows with all points.
template <int n_vectors, class Rows>
void multiply_sparse(const Rows& rows, const SparseTile& tile, std::int64_t first, int n) {
  for (int m = 0; m < n; m++) {
    Doubles products[n_vectors];
    for (int v = 0; v < n_vectors; v++) products[v] = Doubles::zero();
    const double factor = rows.factor(first + m);
    for (std::int64_t e = rows.begin(first + m); e < rows.end(first + m); e++) {
      const Doubles x = Doubles::splat(rows.value(e, factor));
      const double* point = tile.points + rows.indices()[e] * std::int64_t{8 * n_vectors};
      for (int v = 0; v < n_vectors; v++) {
        products[v] = products[v] + x * Doubles::load(point + 8 * v);
      }
    }
    for (int v = 0; v < n_vectors; v++) {
      products[v].store(tile.products + (m * n_vectors + v) * 8);
    }
  }
}

/// Adds n rows to the totals of all points. The weights have replaced the products.
template <int n_vectors, class Rows>
void add_sparse(const Rows& rows, const SparseTile& tile, std::int64_t first, int n) {
  for (int m = 0; m < n; m++) {
    Doubles w[n_vectors];
    unsigned any = 0;
    for (int v = 0; v < n_vectors; v++) {
      w[v] = Doubles::load(tile.products + (m * n_vectors + v) * 8);
      any |= bits_of(Doubles::zero() < w[v]);
    }
    if (!any) continue;
    const double factor = rows.factor(first + m);
    for (std::int64_t e = rows.begin(first + m); e < rows.end(first + m); e++) {
      const Doubles x = Doubles::splat(rows.value(e, factor));
      double* total = tile.totals + rows.indices()[e] * std::int64_t{8 * n_vectors};
      for (int v = 0; v < n_vectors; v++) {
        (Doubles::load(total + 8 * v) + x * w[v]).store(total + 8 * v);
      }
    }
  }
}

/// Calls work.operator()<n_vectors>(rows) with the number of vectors as a constant.
template <class Work>
void with_sparse_rows(const SparseTile& tile, Work work) {
  with_rows(tile.source, [&](auto rows) {
    if constexpr (decltype(rows)::is_sparse) {
      switch (tile.n_vectors) {
        case 1: work.template operator()<1>(rows); break;
        case 2: work.template operator()<2>(rows); break;
        default: work.template operator()<4>(rows); break;
      }
    }
  });
}

/// Replaces the products of n rows with the points by their weights.
template <KernelName kernel>
void weigh_sparse(const SparseTile& tile, const RowWeights& weights, const ShiftTask& task,
                  const double* row_norms, const double* point_norms, std::int64_t first, int n,
                  LaneSums* sums) {
  const Doubles end = Doubles::splat(has_compact_support(kernel) ? 1.0 : infinity);
  for (int v = 0; v < tile.n_vectors; v++) {
    // Replace the products by t first, because all rows are weighed with one reference.
    Doubles least = Doubles::splat(infinity);
    for (int m = 0; m < n; m++) {
      double* here = tile.products + (m * tile.n_vectors + v) * 8;
      const double precision = weights.precision_of(first + m);
      const Doubles both =
          Doubles::load(point_norms + 8 * v) + Doubles::splat(row_norms[first + m]);
      const Doubles rest = both - Doubles::splat(2.0) * Doubles::load(here);
      const Doubles t =
          max(rest, Doubles::zero()) * Doubles::splat(precision * task.inverse_squared_bandwidth);
      t.store(here);
      if (weights.weight_of(first + m) > 0.0) least = min(least, t);
    }
    sums[v].smallest = min(sums[v].smallest, least);
    const Doubles nearest = Doubles::select(least < end, least, Doubles::splat(infinity));
    const Doubles rise = Doubles::select(Doubles::zero() < sums[v].mass,
                                         Doubles::splat(largest_rise), Doubles::zero());
    if (bits_of(nearest < sums[v].reference - rise)) {
      refer_lanes<kernel>(nearest, sums[v], tile.totals + 8 * v, tile.stride(),
                          tile.source.n_features);
    }
    for (int m = 0; m < n; m++) {
      double* here = tile.products + (m * tile.n_vectors + v) * 8;
      const double q = weights.weight_of(first + m), precision = weights.precision_of(first + m);
      Doubles w = Doubles::zero();
      if (q > 0.0) {
        w = weigh_lanes<kernel>(Doubles::load(here), q, precision, task.negligible, sums[v]);
      }
      w.store(here);
    }
  }
}

constexpr int most_sparse_vectors = 4;

void shift_sparse(const RowSource& source, const RowWeights& weights, const double* row_norms,
                  const ShiftTask& task, PointRange range, int n_vectors, const ShiftResult& result,
                  double* buffer) {
  const int n_features = source.n_features, stride = 8 * n_vectors;
  double products[leaf_size * 8 * most_sparse_vectors];
  double* points = buffer;
  double* totals = buffer + static_cast<std::int64_t>(stride) * n_features;
  const SparseTile tile{source, n_vectors, points, totals, products};
  double norms[8 * most_sparse_vectors];
  for (int r = 0; r < stride; r++) {
    const std::int64_t p = range.first + r < range.last ? range.first + r : range.last - 1;
    const double* point = task.points + p * n_features;
    for (int j = 0; j < n_features; j++) {
      points[static_cast<std::int64_t>(j) * stride + r] = point[j];
      totals[static_cast<std::int64_t>(j) * stride + r] = 0.0;
    }
    norms[r] = squared_norm(point, n_features);
  }
  LaneSums sums[most_sparse_vectors];
  for (std::int64_t first = 0; first < source.n_rows; first += leaf_size) {
    const std::int64_t left = source.n_rows - first;
    const int n = left < leaf_size ? static_cast<int>(left) : leaf_size;
    with_sparse_rows(tile,
                     [&]<int count>(auto rows) { multiply_sparse<count>(rows, tile, first, n); });
    with_kernel(task.kernel, [&]<KernelName kernel>() {
      weigh_sparse<kernel>(tile, weights, task, row_norms, norms, first, n, sums);
    });
    with_sparse_rows(tile, [&]<int count>(auto rows) { add_sparse<count>(rows, tile, first, n); });
  }
  for (std::int64_t p = range.first; p < range.last; p++) {
    const int v = static_cast<int>(p - range.first) / 8, r = static_cast<int>(p - range.first) % 8;
    double lanes[8];
    auto lane = [&](Doubles all) {
      all.store(lanes);
      return lanes[r];
    };
    result.reference[p] = lane(sums[v].reference);
    result.mass[p] = lane(sums[v].mass);
    result.smallest[p] = lane(sums[v].smallest);
    result.density[p] = lane(sums[v].values);
    if (task.kernel == KernelName::gaussian) {
      result.density[p] =
          lane(sums[v].density) + result.density[p] * exp_of_minus_half(result.reference[p]);
    }
  }
  constexpr int features_at_once = 64;  // transposes in parts that fit in the cache
  for (int first = 0; first < n_features; first += features_at_once) {
    const int last = first + features_at_once < n_features ? first + features_at_once : n_features;
    for (std::int64_t p = range.first; p < range.last; p++) {
      for (int j = first; j < last; j++) {
        result.totals[p * n_features + j] =
            totals[static_cast<std::int64_t>(j) * stride + (p - range.first)];
      }
    }
  }
}

}  // namespace
}  // namespace modeclust
