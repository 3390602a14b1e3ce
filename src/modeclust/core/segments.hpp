// The density along segments between centers.
#pragma once

#include "measures.hpp"
#include "row_distances.hpp"

namespace modeclust {
namespace {

/// (x - c) . direction of a dense row for four directions.
template <class T>
MODECLUST_INLINE void dot_differences(const T* x, const double* center,
                                      const double* const* directions, int n_features,
                                      double* out) {
  Doubles total[4];
  for (int r = 0; r < 4; r++) total[r] = Doubles::zero();
  int j = 0;
  for (; j + 8 <= n_features; j += 8) {
    const Doubles difference = load_doubles(x + j) - Doubles::load(center + j);
    for (int r = 0; r < 4; r++) total[r] = total[r] + difference * Doubles::load(directions[r] + j);
  }
  if (j < n_features) {
    const int left = n_features - j;
    const Doubles difference =
        load_first_doubles(x + j, left) - Doubles::load_first(center + j, left);
    for (int r = 0; r < 4; r++) {
      total[r] = total[r] + difference * Doubles::load_first(directions[r] + j, left);
    }
  }
  sums_of_lanes(total[0], total[1], total[2], total[3], out);
}

/// |x - p / |p||^2 given s = |x - p|^2, where x has length 1, and p is at the fraction a of a
/// segment of this squared length between two points of length 1. It is (s - (1 - |p|)^2) / |p|,
/// with |p|^2 = 1 - a (1 - a) length; 2 halfway between opposite points, where p is 0.
MODECLUST_INLINE Doubles on_sphere(Doubles squared, Doubles a, double length) {
  const Doubles one = Doubles::splat(1.0);
  double norms[8], squares[8];
  (one - a * (one - a) * Doubles::splat(length)).store(norms);
  squared.store(squares);
  for (int g = 0; g < 8; g++) {
    const double norm = norms[g] > 0.0 ? __builtin_sqrt(norms[g]) : 0.0;
    squares[g] = norm > 1e-6 ? (squares[g] - (1.0 - norm) * (1.0 - norm)) / norm : 2.0;
  }
  return max(Doubles::load(squares), Doubles::zero());
}

/// Adds q G(t) at the points c + a (c' - c): |x - p|^2 is own - 2 a along + a^2 length. For rows of
/// length 1, the points are moved to the sphere.
template <KernelName kernel>
void add_along(const SegmentTask& task, double q, double factor, double own, double along,
               std::int64_t end, double* densities) {
  const double length = task.squared_lengths[end];
  double nearest = length > 0.0 ? along / length : 0.0;
  nearest = nearest < 0.0 ? 0.0 : nearest > 1.0 ? 1.0 : nearest;
  const double closest = factor * (own - nearest * (2.0 * along - nearest * length));
  // Compared with a peak, which has rows within a few bandwidths, this row is negligible.
  if (kernel == KernelName::gaussian && closest > 150.0 && !task.on_sphere) return;
  const std::int64_t padded_count = padded<double>(task.n_fractions);
  const double* fractions = task.fractions + end % 2 * padded_count;
  double* to = densities + end / 2 * padded_count;
  for (std::int64_t g = 0; g < padded_count; g += 8) {
    const Doubles a = Doubles::load(fractions + g);
    const Doubles back = a * (Doubles::splat(2.0 * along) - a * Doubles::splat(length));
    Doubles squared = max(Doubles::splat(own) - back, Doubles::zero());
    if (task.on_sphere) squared = on_sphere(squared, a, length);
    const Doubles value = kernel_values_of<kernel>(squared * Doubles::splat(factor));
    (Doubles::load(to + g) + Doubles::splat(q) * value).store(to + g);
  }
}

void segments(const RowSource& source, const RowWeights& weights, const SegmentTask& task,
              RowRange range, double* buffer, double* densities) {
  const int n_features = source.n_features;
  with_rows(source, [&](auto rows) {
    using Rows = decltype(rows);
    using T = typename Rows::Number;
    const std::int64_t first = (range.first + task.step - 1) / task.step * task.step;
    for (std::int64_t i = first; i < range.last; i += task.step) {
      const double q = weights.weight_of(i);
      const std::int64_t k = task.labels[i];
      if (q == 0.0 || task.edges[k] == task.edges[k + 1]) continue;
      const double factor = weights.precision_of(i) * task.inverse_squared_bandwidth;
      const double* center = task.centers.rows + k * n_features;
      [[maybe_unused]] const T* x = nullptr;
      double own;
      if constexpr (Rows::is_sparse) {
        own = sparse_squared_difference(rows, i, center, task.centers.norms[k], n_features);
      } else {
        x = rows.tile(i, 1, reinterpret_cast<T*>(buffer)).row(0);
        own = squared_difference(x, center, n_features);
      }
      for (std::int64_t s = task.edges[k]; s < task.edges[k + 1]; s += 4) {
        const std::int64_t left = task.edges[k + 1] - s;
        const int n = left < 4 ? static_cast<int>(left) : 4;
        const double* directions[4];
        double along[4];
        for (int r = 0; r < 4; r++) {
          directions[r] = task.directions + task.ends[s + (r < n ? r : n - 1)] * n_features;
        }
        if constexpr (Rows::is_sparse) {
          const double to_unit = rows.factor(i);
          for (int r = 0; r < n; r++) {
            along[r] = -task.bases[task.ends[s + r]];
            for (std::int64_t e = rows.begin(i); e < rows.end(i); e++) {
              along[r] += rows.value(e, to_unit) * directions[r][rows.indices()[e]];
            }
          }
        } else {
          dot_differences(x, center, directions, n_features, along);
        }
        with_kernel(task.kernel, [&]<KernelName kernel>() {
          for (int r = 0; r < n; r++) {
            add_along<kernel>(task, q, factor, own, along[r], task.ends[s + r], densities);
          }
        });
      }
    }
  });
}

}  // namespace
}  // namespace modeclust
