// The kernels: G(t), and the weight g(t) = -G'(t) / -G'(0) of a row in a mode step.
#pragma once

#include "math.hpp"
#include "rows.hpp"

namespace modeclust {
namespace {

// A cluster gets a new reference if the t of a row is below the old one by more than this.
constexpr double largest_rise = 64.0;

/// Whether rows at t >= 1 have no weight at all.
MODECLUST_INLINE bool has_compact_support(KernelName kernel) {
  return kernel == KernelName::epanechnikov || kernel == KernelName::biweight;
}

/// w^2 / q, the square that q equal rows with the total weight w add up to; 0 if q is 0.
MODECLUST_INLINE double squared_weight(double w, double q) { return q > 0.0 ? w * (w / q) : 0.0; }

/// G(t).
MODECLUST_INLINE double kernel_value(KernelName kernel, double t) {
  switch (kernel) {
    case KernelName::gaussian: return exp_of_minus_half(t);
    case KernelName::cauchy: return 1.0 / (1.0 + t);
    case KernelName::epanechnikov: return t < 1.0 ? 1.0 - t : 0.0;
    case KernelName::biweight: return t < 1.0 ? (1.0 - t) * (1.0 - t) : 0.0;
  }
  return 0.0;
}

/// g(t) / g(reference), which does not underflow near the reference.
///
/// The reference of compact kernels is always 0, where g is 1. So for every kernel,
/// `relative_weight(old, new)` is the factor that rescales sums from one reference to another.
MODECLUST_INLINE double relative_weight(KernelName kernel, double t, double reference) {
  switch (kernel) {
    case KernelName::gaussian: return exp_of(-0.5 * (t - reference));
    case KernelName::cauchy: {
      const double ratio = (1.0 + reference) / (1.0 + t);
      return ratio * ratio;
    }
    case KernelName::epanechnikov: return t < 1.0 ? 1.0 : 0.0;
    case KernelName::biweight: return t < 1.0 ? 1.0 - t : 0.0;
  }
  return 0.0;
}

}  // namespace
}  // namespace modeclust
