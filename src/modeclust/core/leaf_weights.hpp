// The weights of 32 rows at one point, relative to a reference. The lanes are rows.
#pragma once

#include "kernel_functions.hpp"

namespace modeclust {
namespace {

using Doubles = Vec<double, 8>;

constexpr double infinity = __builtin_inf();

// Rows are weighed this many at a time, in vectors of 8.
constexpr int leaf_size = 32;
constexpr int leaf_vectors = leaf_size / 8;

/// The sample weights and precisions of the rows of a leaf. Null means 1.
struct LeafWeights {
  const double* weight = nullptr;     // (32,) sample weights; 0 for missing rows
  const double* precision = nullptr;  // (32,)
};

/// The sums at one point. The lanes are summed at the end.
struct PointSums {
  double reference = infinity;
  double smallest = infinity;  // the smallest t of a row of positive weight
  double density = 0.0;        // of the rows that were summed at earlier references
  bool has_mass = false;
  Doubles mass = Doubles::zero();    // sum of weights, relative to g(reference)
  Doubles values = Doubles::zero();  // sum of q G(t); relative to G(reference) if gaussian
};

template <int L>
MODECLUST_INLINE double min_of_lanes(Vec<double, L> v) {
  if constexpr (L > 2) {
    return min_of_lanes(min(low_half(v), high_half(v)));
  } else {
    return v.r[1] < v.r[0] ? v.r[1] : v.r[0];
  }
}

/// G(t) of a kernel with compact support, given max(0, 1 - t).
template <KernelName kernel>
MODECLUST_INLINE Doubles compact_values(Doubles below) {
  return kernel == KernelName::biweight ? below * below : below;
}

/// The weights g(t) of a kernel with compact support, given max(0, 1 - t).
template <KernelName kernel>
MODECLUST_INLINE Doubles compact_weights(Doubles below) {
  if (kernel == KernelName::biweight) return below;
  return Doubles::select(Doubles::zero() < below, Doubles::splat(1.0), Doubles::zero());
}

/// G(t) in each lane.
template <KernelName kernel>
MODECLUST_INLINE Doubles kernel_values_of(Doubles t) {
  const Doubles one = Doubles::splat(1.0), zero = Doubles::zero();
  if constexpr (kernel == KernelName::gaussian) {
    const Doubles end = Doubles::splat(1416.0);
    const Doubles value = exp_in_range(Doubles::splat(-0.5) * min(t, end));
    return Doubles::select(t < end, value, zero);
  } else if constexpr (kernel == KernelName::cauchy) {
    return one / (one + t);
  } else {
    return compact_values<kernel>(max(one - t, zero));
  }
}

/// Makes t the reference, and rescales the sums and the n vectors of totals.
template <KernelName kernel>
void refer(double t, PointSums& sums, Doubles* totals, std::int64_t n) {
  if (has_compact_support(kernel)) t = 0.0;
  if (sums.has_mass) {
    const Doubles factor = Doubles::splat(relative_weight(kernel, sums.reference, t));
    sums.mass = sums.mass * factor;
    for (std::int64_t j = 0; j < n; j++) totals[j] = totals[j] * factor;
    if constexpr (kernel == KernelName::gaussian) {
      sums.density += sum_of_lanes(sums.values) * exp_of_minus_half(sums.reference);
      sums.values = Doubles::zero();
    }
  }
  sums.reference = t;
}

/// Writes the weights of the rows of a leaf at a point, given t, and adds them to the mass.
///
/// If no row of the leaf has weight, returns false and writes nothing: all rows are outside of the
/// support, or t exceeds the reference by `negligible`. It is at most 600, the limit of exp.
template <KernelName kernel, bool is_weighted>
MODECLUST_INLINE bool weigh(const Doubles* t, LeafWeights leaf, double negligible, PointSums& sums,
                            Doubles* totals, std::int64_t n_totals, Doubles* weights) {
  const Doubles zero = Doubles::zero(), one = Doubles::splat(1.0);
  Doubles q[leaf_vectors], precision[leaf_vectors], least = Doubles::splat(infinity);
  for (int v = 0; v < leaf_vectors; v++) {
    if constexpr (is_weighted) {
      q[v] = leaf.weight ? Doubles::load(leaf.weight + 8 * v) : one;
      precision[v] = leaf.precision ? Doubles::load(leaf.precision + 8 * v) : one;
      least = min(least, Doubles::select(zero < q[v], t[v], Doubles::splat(infinity)));
    } else {
      least = min(least, t[v]);
    }
  }
  const double smallest = min_of_lanes(least);
  if (smallest < sums.smallest) sums.smallest = smallest;
  if (!(smallest < (has_compact_support(kernel) ? 1.0 : infinity))) return false;
  if (kernel == KernelName::gaussian && !(smallest - sums.reference < negligible)) return false;
  if (smallest < (sums.has_mass ? sums.reference - largest_rise : sums.reference)) {
    refer<kernel>(smallest, sums, totals, n_totals);
  }
  sums.has_mass = true;
  Doubles values[leaf_vectors];
  for (int v = 0; v < leaf_vectors; v++) {
    if constexpr (kernel == KernelName::gaussian) {
      Doubles excess = t[v] - Doubles::splat(sums.reference);
      // A row of weight 0 may be nearer by any amount.
      if constexpr (is_weighted) excess = max(excess, Doubles::splat(-largest_rise));
      // If t is beyond the range of exp, the value is not used.
      const Doubles value = exp_in_range(Doubles::splat(-0.5) * excess);
      values[v] = weights[v] = Doubles::select(excess < Doubles::splat(negligible), value, zero);
    } else if constexpr (kernel == KernelName::cauchy) {
      Doubles from = t[v];
      // A row of weight 0 may be nearer by any amount: its ratio could overflow.
      if constexpr (is_weighted) from = max(from, Doubles::splat(sums.reference - largest_rise));
      const Doubles ratio = Doubles::splat(1.0 + sums.reference) / (one + from);
      values[v] = one / (one + t[v]);
      weights[v] = ratio * ratio;
    } else {
      const Doubles below = max(one - t[v], zero);
      values[v] = compact_values<kernel>(below);
      weights[v] = compact_weights<kernel>(below);
    }
    if constexpr (is_weighted) {
      values[v] = q[v] * values[v];
      weights[v] = q[v] * weights[v] * precision[v];
    }
  }
  sums.values = sums.values + ((values[0] + values[1]) + (values[2] + values[3]));
  sums.mass = sums.mass + ((weights[0] + weights[1]) + (weights[2] + weights[3]));
  return true;
}

/// The density of the rows that were summed.
template <KernelName kernel>
MODECLUST_INLINE double density_of(const PointSums& sums) {
  const double values = sum_of_lanes(sums.values);
  if constexpr (kernel == KernelName::gaussian) {
    return sums.density + values * exp_of_minus_half(sums.reference);
  }
  return values;
}

inline double squared_norm(const double* x, int n) {
  double total = 0.0;
  for (int j = 0; j < n; j++) total += x[j] * x[j];
  return total;
}

/// Calls work.operator()<kernel>() with the kernel as a constant.
template <class Work>
MODECLUST_INLINE void with_kernel(KernelName kernel, Work work) {
  switch (kernel) {
    case KernelName::gaussian: work.template operator()<KernelName::gaussian>(); break;
    case KernelName::epanechnikov: work.template operator()<KernelName::epanechnikov>(); break;
    case KernelName::biweight: work.template operator()<KernelName::biweight>(); break;
    case KernelName::cauchy: work.template operator()<KernelName::cauchy>(); break;
  }
}

}  // namespace
}  // namespace modeclust
