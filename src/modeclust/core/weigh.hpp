// The weights of rows in a mode step, and the objective (equation 3 and section 2 of the paper).
#pragma once

#include "assign.hpp"
#include "kernel_functions.hpp"

namespace modeclust {
namespace {

using Doubles = Vec<double, 8>;

/// Some rows with known distances to their own centers.
struct WeighedRows {
  std::int64_t first;  // the index of the first row
  int n;
  const double* q;              // (n,) sample weights; null means 1
  const double* precision;      // (n,) null means 1
  const std::int32_t* labels;   // (n,)
  const double* squared;        // (n + 8,) distances; finite beyond n
  double* t;                    // (n + 8,) OUT
  double* weight;               // (n + 8,) OUT, 0 beyond n
  const std::int32_t* indices;  // (n,) the rows, counted from the first; null for 0, 1, 2, ...
};

/// Eight numbers, starting at index m; zeros beyond n.
MODECLUST_INLINE Doubles load_within(const double* values, int m, int n) {
  return m + 8 <= n ? Doubles::load(values + m) : Doubles::load_first(values + m, n - m);
}

/// Eight sample weights, starting at index m, which are 1 if q is null; zeros beyond n.
MODECLUST_INLINE Doubles sample_weights(const double* q, int m, int n) {
  constexpr double ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  return q ? load_within(q, m, n) : Doubles::load_first(ones, n - m);
}

/// exp(-t / 2) of eight numbers t >= 0; 0 for t >= 1400.
MODECLUST_INLINE Doubles exp_of_minus_half(Doubles t) {
  const Doubles limit = Doubles::splat(1400.0);
  const Doubles value = exp_in_range(Doubles::splat(-0.5) * min(t, limit));
  return Doubles::select(t < limit, value, Doubles::zero());
}

/// Makes t the reference of cluster k, and rescales its sums.
MODECLUST_INLINE void set_reference(KernelName kernel, double t, int k, std::int64_t n_features,
                                    ModeSums& sums) {
  if (has_compact_support(kernel)) t = 0.0;
  if (sums.mass[k] > 0.0) {
    const double factor = relative_weight(kernel, sums.reference[k], t);
    sums.mass[k] *= factor;
    sums.mass_squared[k] *= factor * factor;
    double* totals = sums.totals + k * totals_stride(n_features);
    for (std::int64_t j = 0; j < n_features; j++) totals[j] *= factor;
  }
  sums.reference[k] = t;
}

/// Adds the objective at the bandwidth `also_at`, and sets which clusters the kernel reaches there.
inline void measure_also(const ModePass& pass, const WeighedRows& rows, ModeSums& sums) {
  const double *q = rows.q, *precision = rows.precision;
  Doubles objective = Doubles::zero();
  double scalar = 0.0;
  const bool compact = has_compact_support(pass.kernel);
  for (int m = 0; m < rows.n; m += 8) {
    Doubles t = Doubles::load(rows.squared + m) * Doubles::splat(pass.also_at);
    if (precision) t = t * load_within(precision, m, rows.n);
    t.store(rows.t + m);
    if (pass.kernel == KernelName::gaussian) {
      objective = objective + sample_weights(q, m, rows.n) * exp_of_minus_half(t);
    }
  }
  for (int m = 0; m < rows.n; m++) {
    const double weight = q ? q[m] : 1.0;
    if (pass.kernel != KernelName::gaussian)
      scalar += weight * kernel_value(pass.kernel, rows.t[m]);
    if (weight > 0.0 && (!compact || rows.t[m] < 1.0)) sums.also_reached[rows.labels[m]] = 1;
  }
  sums.also_objective += pass.kernel == KernelName::gaussian ? sum_of_lanes(objective) : scalar;
}

/// Replaces the references of some rows, in `weight`, by their weights.
///
/// Returns the objective, or 0 if `add_objective` computes it.
inline double weigh_rows(const ModePass& pass, int n, const double* q, const double* precision,
                         const double* t, double* weight) {
  double objective = 0.0;
  if (pass.inverse_squared_bandwidth == 0.0) {
    for (int m = 0; m < n; m += 8) sample_weights(q, m, n).store(weight + m);
  } else if (pass.kernel == KernelName::gaussian) {
    if (precision) {
      for (int m = 0; m < n; m++) {
        // From t itself: the factors relative to the reference may underflow.
        objective += (q ? q[m] : 1.0) * exp_of_minus_half(t[m]);
      }
    }
    const Doubles lowest = Doubles::splat(-largest_rise),
                  negligible = Doubles::splat(pass.negligible);
    for (int m = 0; m < n; m += 8) {
      // A row of weight 0 may be nearer by any amount.
      const Doubles excess =
          min(max(load_within(t, m, n) - load_within(weight, m, n), lowest), negligible);
      const Doubles value = exp_in_range(Doubles::splat(-0.5) * excess) * sample_weights(q, m, n);
      Doubles::select(excess < negligible, value, Doubles::zero()).store(weight + m);
    }
  } else {
    for (int m = 0; m < n; m++) {
      const double w = q ? q[m] : 1.0;
      objective += w * kernel_value(pass.kernel, t[m]);
      // A row of weight 0 gets 0 even if the reference of its cluster is still infinite.
      weight[m] = w > 0.0 ? w * relative_weight(pass.kernel, t[m], weight[m]) : 0.0;
    }
    for (int m = n; m < n + 8; m++) weight[m] = 0.0;
  }
  if (precision) {
    for (int m = 0; m < n; m++) weight[m] *= precision[m];
  }
  return objective;
}

/// Writes the weights of the rows of a tile, and adds to all sums except masses and totals.
inline void weigh(const ModePass& pass, const WeighedRows& rows, ModeSums& sums) {
  const int n = rows.n;
  const double *q = rows.q, *precision = rows.precision;
  if (pass.also_at >= 0.0) measure_also(pass, rows, sums);
  const Doubles factor = Doubles::splat(pass.inverse_squared_bandwidth);
  Doubles inertia = Doubles::zero(), weight = Doubles::zero();
  for (int m = 0; m < n; m += 8) {
    Doubles squared = Doubles::load(rows.squared + m);
    if (precision) squared = squared * load_within(precision, m, n);
    const Doubles w = sample_weights(q, m, n);
    inertia = inertia + w * squared;
    weight = weight + w;
    (squared * factor).store(rows.t + m);
  }
  if (pass.cluster_factors) {
    for (int m = 0; m < n; m++) rows.t[m] *= pass.cluster_factors[rows.labels[m]];
  }
  sums.inertia += sum_of_lanes(inertia);
  sums.weight += sum_of_lanes(weight);
  bool referred = false;
  for (int m = 0; m < n; m++) {
    const int k = rows.labels[m];
    sums.counts[k]++;
    rows.weight[m] = sums.reference[k];
    const bool nearer = rows.squared[m] < sums.nearest_distance[k];
    // Without scales, only a nearer row can lower the reference.
    if (nearer || (precision && rows.t[m] < sums.reference[k])) [[unlikely]] {
      if (q && !(q[m] > 0.0)) continue;
      if (nearer) {
        sums.nearest_distance[k] = rows.squared[m];
        sums.nearest[k] = pass.first_row + rows.first + (rows.indices ? rows.indices[m] : m);
      }
      const double rise = sums.mass[k] > 0.0 ? largest_rise : 0.0;
      if (rows.t[m] < sums.reference[k] - rise) {
        set_reference(pass.kernel, rows.t[m], k, pass.centers.n_features, sums);
        referred = true;
      }
    }
  }
  if (referred) {
    for (int m = 0; m < n; m++) rows.weight[m] = sums.reference[rows.labels[m]];
  }
  sums.objective += weigh_rows(pass, n, q, precision, rows.t, rows.weight);
}

/// Adds the objective of a block if it can be computed from its sums.
inline void add_objective(const ModePass& pass, ModeSums& sums) {
  if (pass.inverse_squared_bandwidth == 0.0) {
    sums.objective += sums.weight;
  } else if (pass.kernel == KernelName::gaussian && !pass.weights.precision) {
    for (int k = 0; k < pass.centers.n_clusters; k++) {
      if (sums.mass[k] > 0.0) sums.objective += sums.mass[k] * exp_of_minus_half(sums.reference[k]);
    }
  }
}

}  // namespace
}  // namespace modeclust
