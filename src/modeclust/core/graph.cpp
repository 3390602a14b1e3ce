#include "graph.hpp"

#include "math.hpp"
#include "vec.hpp"

namespace modeclust {
namespace {

using Doubles = Vec<double, 8>;
constexpr double infinity = __builtin_inf();

MODECLUST_INLINE void store_first(Doubles v, double* p, int n) {
  if (n >= 8) {
    v.store(p);
    return;
  }
  double lanes[8];
  v.store(lanes);
  for (int i = 0; i < n; i++) p[i] = lanes[i];
}

/// A mask that is set in the first n lanes.
MODECLUST_INLINE Doubles::Mask first_lanes(int n) {
  constexpr double lanes[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  return Doubles::load(lanes) < Doubles::splat(n);
}

template <int L>
MODECLUST_INLINE double max_of_lanes(Vec<double, L> v) {
  if constexpr (L > 2) {
    return max_of_lanes(max(low_half(v), high_half(v)));
  } else {
    return v.r[0] < v.r[1] ? v.r[1] : v.r[0];
  }
}

/// log(x) in each lane, for normal x > 0; the bits of `log_of`.
template <int L>
MODECLUST_INLINE Vec<double, L> log_in_range(Vec<double, L> x) {
  if constexpr (L * 8 > register_bytes) {
    return {log_in_range(x.low), log_in_range(x.high)};
  } else {
    using V = Vec<double, L>;
    typedef std::int64_t Bits __attribute__((vector_size(L * 8)));
    Bits bits, exponent_bits;
    __builtin_memcpy(&bits, &x.r, sizeof(bits));
    // The biased exponent becomes the last bits of 2^52 + exponent.
    exponent_bits = (bits >> 52) | 0x4330000000000000ll;
    bits = (bits & 0x000FFFFFFFFFFFFFll) | 0x3FF0000000000000ll;
    V m, exponent;
    __builtin_memcpy(&m.r, &bits, sizeof(bits));
    __builtin_memcpy(&exponent.r, &exponent_bits, sizeof(bits));
    exponent = exponent - V::splat(4503599627370496.0 + 1023.0);
    const auto is_high = V::splat(1.4142135623730951) < m;
    m = V::select(is_high, m * V::splat(0.5), m);
    exponent = V::select(is_high, exponent + V::splat(1.0), exponent);
    const V f = m - V::splat(1.0), s = f / (V::splat(2.0) + f), z = s * s, w = z * z;
    const V even =
        w * (V::splat(3.999999999940941908e-01) +
             w * (V::splat(2.222219843214978396e-01) + w * V::splat(1.531383769920937332e-01)));
    const V odd =
        z *
        (V::splat(6.666666666666735130e-01) +
         w * (V::splat(2.857142874366239149e-01) +
              w * (V::splat(1.818357216161805012e-01) + w * V::splat(1.479819860511658591e-01))));
    const V half_square = V::splat(0.5) * f * f;
    const V tail = s * (half_square + (even + odd));
    return exponent * V::splat(ln2_high) -
           ((half_square - (tail + exponent * V::splat(ln2_low))) - f);
  }
}

/// Projects a row onto the simplex by Michelot's algorithm (1986), which is exact.
///
/// In each round, active coordinates at or below the current threshold become 0. Coordinates that
/// are below the highest by 1 or more become 0 at once.
void project_row(double* row, int n) {
  double highest = row[0];
  for (int k = 1; k < n; k++) highest = row[k] > highest ? row[k] : highest;
  double level = -1.0;
  for (int n_active = n + 1;;) {
    double total = 0.0;
    int n_left = 0;
    for (int k = 0; k < n; k++) {
      if (row[k] - highest > level) {
        total += row[k] - highest;
        n_left++;
      }
    }
    if (n_left >= n_active) break;  // by rounding, one may become active again
    level = (total - 1.0) / n_left;
    n_active = n_left;
  }
  for (int k = 0; k < n; k++) {
    const double z = row[k] - highest - level;
    row[k] = z > 0.0 ? z : 0.0;
  }
}

void project(double* rows, std::int64_t n, int n_clusters) {
  for (std::int64_t i = 0; i < n; i++) project_row(rows + i * n_clusters, n_clusters);
}

void descend(const DescendTask& task, RowRange range) {
  for (std::int64_t i = range.first; i < range.last; i++) {
    const std::int64_t at = i * task.n_clusters;
    for (int k = 0; k < task.n_clusters; k++) {
      const double z = task.memberships[at + k], wz = task.products[at + k];
      const double y = z + task.momentum * (z - task.before[at + k]);
      const double wy = wz + task.momentum * (wz - task.products_before[at + k]);
      const double slope =
          2.0 * task.smoothing * (task.degrees[i] * y - wy) - task.kernel_values[at + k];
      task.out[at + k] = y - task.rate * slope;
    }
    project_row(task.out + at, task.n_clusters);
  }
}

double multiply(const GraphSource& graph, const SmoothTask& task, RowRange range) {
  const int n_clusters = task.n_clusters;
  Doubles rough = Doubles::zero(), gained = Doubles::zero();
  for (std::int64_t i = range.first; i < range.last; i++) {
    const double* z = task.memberships + i * n_clusters;
    for (int k = 0; k < n_clusters; k += 8) {
      const int n = n_clusters - k;
      const Doubles own = Doubles::load_first(z + k, n);
      Doubles product = Doubles::zero();
      // By differences: in z (d z - W z), large numbers would cancel.
      for (std::int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; e++) {
        const Doubles w = Doubles::splat(graph.data[e]);
        const std::int64_t j = graph.indices[e];
        const Doubles other = Doubles::load_first(task.memberships + j * n_clusters + k, n);
        const Doubles difference = own - other;
        product = product + w * other;
        rough = rough + w * difference * difference;
      }
      store_first(product, task.out + i * n_clusters + k, n);
      gained = gained + own * Doubles::load_first(task.kernel_values + i * n_clusters + k, n);
    }
  }
  return 0.5 * task.smoothing * sum_of_lanes(rough) - sum_of_lanes(gained);
}

double soften(const GraphSource& graph, const SmoothTask& task, RowRange range) {
  const int n_clusters = task.n_clusters;
  const Doubles zero = Doubles::zero(), one = Doubles::splat(1.0);
  const Doubles smallest = Doubles::splat(2.2250738585072014e-308);  // the smallest normal number
  const Doubles smoothing = Doubles::splat(task.smoothing), damping = Doubles::splat(task.damping);
  Doubles energy = zero;
  for (std::int64_t i = range.first; i < range.last; i++) {
    const double* memberships = task.memberships + i * n_clusters;
    double* row = task.out + i * n_clusters;
    Doubles highest = Doubles::splat(-infinity);
    for (int k = 0; k < n_clusters; k += 8) {
      const int n = n_clusters - k;
      Doubles product = zero;
      for (std::int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; e++) {
        const std::int64_t j = graph.indices[e];
        product = product + Doubles::splat(graph.data[e]) *
                                Doubles::load_first(task.memberships + j * n_clusters + k, n);
      }
      const Doubles z = Doubles::load_first(memberships + k, n);
      const Doubles g = Doubles::load_first(task.kernel_values + i * n_clusters + k, n);
      // For subnormal z, the log is inaccurate, and z log z is negligible.
      const Doubles log_z = log_in_range(max(z, smallest));
      const Doubles smoothed = smoothing * product;
      const auto is_member = zero < z;
      energy = energy + z * ((log_z - g) - Doubles::splat(0.5) * smoothed);
      Doubles exponent = (g + smoothed) + damping * log_z;
      if (task.damping > 0.0) {
        exponent = Doubles::select(is_member, exponent, Doubles::splat(-infinity));
      }
      exponent = exponent / (one + damping);
      store_first(exponent, row + k, n);
      if (n < 8) exponent = Doubles::select(first_lanes(n), exponent, Doubles::splat(-infinity));
      highest = max(highest, exponent);
    }
    const Doubles top = Doubles::splat(max_of_lanes(highest));
    Doubles total = zero;
    for (int k = 0; k < n_clusters; k += 8) {
      const int n = n_clusters - k;
      const Doubles start = Doubles::splat(-708.0);
      const Doubles exponent = Doubles::load_first(row + k, n) - top;
      Doubles value = Doubles::select(start < exponent, exp_in_range(max(exponent, start)), zero);
      if (n < 8) value = Doubles::select(first_lanes(n), value, zero);
      store_first(value, row + k, n);
      total = total + value;
    }
    const double sum = sum_of_lanes(total);
    for (int k = 0; k < n_clusters; k++) row[k] /= sum;
  }
  return sum_of_lanes(energy);
}

}  // namespace

const GraphKernels MODECLUST_TABLE(graph_kernels) = {project, descend, multiply, soften};

}  // namespace modeclust
