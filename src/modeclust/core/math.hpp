// exp and log with the same bits on every machine. The bits of libm may depend on the CPU.
#pragma once

#include "vec.hpp"

namespace modeclust {
namespace {

// Adding 1.5 * 2^52 rounds a double to an integer, which is then in the low bits.
constexpr double round_to_integer = 6755399441055744.0;
constexpr double log2_e = 1.4426950408889634;
constexpr double ln2_high = 6.93147180369123816490e-01;  // ln 2 with trailing zero bits
constexpr double ln2_low = 1.90821492927058770002e-10;   // ln 2 - ln2_high

/// exp(y) for -708 <= y <= 709, with an error below 2 units in the last place.
///
/// exp(y) = 2^n exp(r) with n the integer nearest to y / ln 2, and Taylor's series to r^13 / 13!.
template <int L>
MODECLUST_INLINE Vec<double, L> exp_in_range(Vec<double, L> y) {
  if constexpr (L * 8 > register_bytes) {
    return {exp_in_range(y.low), exp_in_range(y.high)};
  } else {
    using V = Vec<double, L>;
    const V rounded = y * V::splat(log2_e) + V::splat(round_to_integer);
    const V whole = rounded - V::splat(round_to_integer);
    const V r = (y - whole * V::splat(ln2_high)) - whole * V::splat(ln2_low);
    V p = V::splat(1.6059043836821613e-10);
    p = p * r + V::splat(2.08767569878681e-09);
    p = p * r + V::splat(2.505210838544172e-08);
    p = p * r + V::splat(2.755731922398589e-07);
    p = p * r + V::splat(2.7557319223985893e-06);
    p = p * r + V::splat(2.48015873015873e-05);
    p = p * r + V::splat(0.0001984126984126984);
    p = p * r + V::splat(0.001388888888888889);
    p = p * r + V::splat(0.008333333333333333);
    p = p * r + V::splat(0.041666666666666664);
    p = p * r + V::splat(0.16666666666666666);
    p = p * r + V::splat(0.5);
    p = p * r + V::splat(1.0);
    p = p * r + V::splat(1.0);
    typedef std::int64_t Bits __attribute__((vector_size(L * 8)));
    Bits bits;
    __builtin_memcpy(&bits, &rounded.r, sizeof(bits));
    bits = (bits + 1023) << 52;
    typename V::Register power;
    __builtin_memcpy(&power, &bits, sizeof(bits));
    return {p.r * power};
  }
}

/// exp(-t / 2) for t >= 0; 0 for t >= 1416, including infinity.
MODECLUST_INLINE double exp_of_minus_half(double t) {
  if (!(t < 1416.0)) return 0.0;
  return exp_in_range(Vec<double, 2>::splat(-0.5 * t)).r[0];
}

/// exp(y) for y <= 709; 0 if it underflows.
MODECLUST_INLINE double exp_of(double y) {
  if (!(y > -708.0)) return 0.0;
  return exp_in_range(Vec<double, 2>::splat(y)).r[0];
}

/// log(x) for a normal x > 0, with an error below 2 units in the last place.
///
/// x = 2^n m with m between sqrt(1/2) and sqrt(2), and log m = 2 artanh((m - 1) / (m + 1)).
MODECLUST_INLINE double log_of(double x) {
  std::uint64_t bits;
  int exponent = 0;
  if (x < 2.2250738585072014e-308) {  // a subnormal number
    x *= 0x1p54;
    exponent = -54;
  }
  __builtin_memcpy(&bits, &x, 8);
  exponent += static_cast<int>(bits >> 52) - 1023;
  bits = (bits & 0x000FFFFFFFFFFFFFull) | 0x3FF0000000000000ull;
  double m;
  __builtin_memcpy(&m, &bits, 8);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    exponent++;
  }
  const double f = m - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  // The minimax polynomial of fdlibm's e_log.c.
  const double w = z * z;
  const double even = w * (3.999999999940941908e-01 +
                           w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
  const double odd = z * (6.666666666666735130e-01 +
                          w * (2.857142874366239149e-01 +
                               w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
  const double half_square = 0.5 * f * f;
  const double tail = s * (half_square + (even + odd));
  return exponent * ln2_high - ((half_square - (tail + exponent * ln2_low)) - f);
}

}  // namespace
}  // namespace modeclust
