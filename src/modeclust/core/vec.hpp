// Vectors with a fixed number of lanes, independent of the registers of the machine.
//
// A vector is one register, or a pair of vectors with half the lanes. Every operation is rounded
// separately (-ffp-contract=off), and lanes are summed in a fixed tree. So every instruction set
// gives the same bits. Only `fused_multiply_add` may round differently. Use it only for scores that
// select candidates with a margin for rounding.
//
// Everything here has internal linkage. Otherwise the linker could choose a function compiled for
// AVX-512, which would crash older machines.
#pragma once

#include <cstdint>

#include "variants.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define MODECLUST_REGISTER_BYTES 64
#elif defined(__AVX2__)
#define MODECLUST_REGISTER_BYTES 32
#else
#define MODECLUST_REGISTER_BYTES 16
#endif

namespace modeclust {
namespace {

constexpr int register_bytes = MODECLUST_REGISTER_BYTES;

/// Number of lanes of a vector of 64 bytes.
template <class T>
constexpr int lanes = 64 / static_cast<int>(sizeof(T));

template <class T>
struct IntegerOf;
template <>
struct IntegerOf<float> {
  using type = std::int32_t;
};
template <>
struct IntegerOf<double> {
  using type = std::int64_t;
};
template <>
struct IntegerOf<std::int32_t> {
  using type = std::int32_t;
};
template <>
struct IntegerOf<std::int64_t> {
  using type = std::int64_t;
};

template <class T, int L, bool fits = (L * static_cast<int>(sizeof(T)) <= register_bytes)>
struct Vec;

/// A vector in one register.
template <class T, int L>
struct Vec<T, L, true> {
  typedef T Register __attribute__((vector_size(L * sizeof(T))));
  using Mask = Vec<typename IntegerOf<T>::type, L>;
  Register r;

  static MODECLUST_INLINE Vec load(const T* p) {
    Vec v;
    __builtin_memcpy(&v.r, p, sizeof(Register));
    return v;
  }
  static MODECLUST_INLINE Vec splat(T x) { return {x - Register{}}; }
  static MODECLUST_INLINE Vec zero() { return {Register{}}; }

  /// The first n numbers, padded with zeros; reads only n numbers.
  static MODECLUST_INLINE Vec load_first(const T* p, int n) {
    if (n <= 0) return zero();
    if (n >= L) return load(p);
#if defined(__AVX512F__)
    if constexpr (sizeof(Register) == 64 && sizeof(T) == 4)
      return {(Register)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p)};
    if constexpr (sizeof(Register) == 64 && sizeof(T) == 8)
      return {(Register)_mm512_maskz_loadu_pd((__mmask8)((1u << n) - 1), p)};
    if constexpr (sizeof(Register) == 32 && sizeof(T) == 4)
      return {(Register)_mm256_maskz_loadu_ps((__mmask8)((1u << n) - 1), p)};
    if constexpr (sizeof(Register) == 32 && sizeof(T) == 8)
      return {(Register)_mm256_maskz_loadu_pd((__mmask8)((1u << n) - 1), p)};
#elif defined(__AVX2__)
    if constexpr (sizeof(Register) == 32 && sizeof(T) == 4) {
      alignas(32) static constexpr std::int32_t masks[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
      return {(Register)_mm256_maskload_ps(p, _mm256_loadu_si256((const __m256i*)(masks + 8 - n)))};
    }
    if constexpr (sizeof(Register) == 32 && sizeof(T) == 8) {
      alignas(32) static constexpr std::int64_t masks[8] = {-1, -1, -1, -1};
      return {(Register)_mm256_maskload_pd(p, _mm256_loadu_si256((const __m256i*)(masks + 4 - n)))};
    }
#endif
    T padded[L] = {};
    for (int i = 0; i < n; i++) padded[i] = p[i];
    return load(padded);
  }

  MODECLUST_INLINE void store(T* p) const { __builtin_memcpy(p, &r, sizeof(Register)); }

  friend MODECLUST_INLINE Vec operator+(Vec a, Vec b) { return {a.r + b.r}; }
  friend MODECLUST_INLINE Vec operator-(Vec a, Vec b) { return {a.r - b.r}; }
  friend MODECLUST_INLINE Vec operator*(Vec a, Vec b) { return {a.r * b.r}; }
  friend MODECLUST_INLINE Vec operator/(Vec a, Vec b) { return {a.r / b.r}; }
  friend MODECLUST_INLINE Mask operator<(Vec a, Vec b) {
    return {(typename Mask::Register)(a.r < b.r)};
  }
  /// In each lane, a if the mask is set, else b.
  static MODECLUST_INLINE Vec select(Mask mask, Vec a, Vec b) {
    using Bits = typename Mask::Register;
    return {(Register)(((Bits)a.r & mask.r) | ((Bits)b.r & ~mask.r))};
  }
};

/// A vector in several registers.
template <class T, int L>
struct Vec<T, L, false> {
  using Half = Vec<T, L / 2>;
  using Mask = Vec<typename IntegerOf<T>::type, L>;
  Half low, high;

  static MODECLUST_INLINE Vec load(const T* p) { return {Half::load(p), Half::load(p + L / 2)}; }
  static MODECLUST_INLINE Vec splat(T x) { return {Half::splat(x), Half::splat(x)}; }
  static MODECLUST_INLINE Vec zero() { return {Half::zero(), Half::zero()}; }
  static MODECLUST_INLINE Vec load_first(const T* p, int n) {
    return {Half::load_first(p, n),
            n > L / 2 ? Half::load_first(p + L / 2, n - L / 2) : Half::zero()};
  }
  MODECLUST_INLINE void store(T* p) const {
    low.store(p);
    high.store(p + L / 2);
  }
  friend MODECLUST_INLINE Vec operator+(Vec a, Vec b) { return {a.low + b.low, a.high + b.high}; }
  friend MODECLUST_INLINE Vec operator-(Vec a, Vec b) { return {a.low - b.low, a.high - b.high}; }
  friend MODECLUST_INLINE Vec operator*(Vec a, Vec b) { return {a.low * b.low, a.high * b.high}; }
  friend MODECLUST_INLINE Vec operator/(Vec a, Vec b) { return {a.low / b.low, a.high / b.high}; }
  friend MODECLUST_INLINE Mask operator<(Vec a, Vec b) { return {a.low < b.low, a.high < b.high}; }
  static MODECLUST_INLINE Vec select(Mask mask, Vec a, Vec b) {
    return {Half::select(mask.low, a.low, b.low), Half::select(mask.high, a.high, b.high)};
  }
};

/// A vector of four numbers.
template <class V = Vec<double, 4>>
MODECLUST_INLINE V vector_of(double a, double b, double c, double d) {
  if constexpr (register_bytes >= 32) {
    return {typename V::Register{a, b, c, d}};
  } else {
    using Pair = typename V::Half;
    return {Pair{typename Pair::Register{a, b}}, Pair{typename Pair::Register{c, d}}};
  }
}

/// In each lane, b if it is smaller, else a. One instruction, which compilers do not find.
template <class T, int L>
MODECLUST_INLINE Vec<T, L> min(Vec<T, L> a, Vec<T, L> b) {
  if constexpr (L * static_cast<int>(sizeof(T)) > register_bytes) {
    return {min(a.low, b.low), min(a.high, b.high)};
  } else {
    [[maybe_unused]] typedef typename Vec<T, L>::Register R;
    [[maybe_unused]] constexpr bool is_double = static_cast<T>(0.5) != 0 && sizeof(T) == 8;
    [[maybe_unused]] constexpr bool is_float = static_cast<T>(0.5) != 0 && sizeof(T) == 4;
#if defined(__AVX512F__)
    if constexpr (is_double && sizeof(R) == 64)
      return {(R)_mm512_maskz_min_pd(0xFF, (__m512d)b.r, (__m512d)a.r)};
    if constexpr (is_float && sizeof(R) == 64)
      return {(R)_mm512_maskz_min_ps(0xFFFF, (__m512)b.r, (__m512)a.r)};
#endif
#if defined(__AVX2__)
    if constexpr (is_double && sizeof(R) == 32)
      return {(R)_mm256_min_pd((__m256d)b.r, (__m256d)a.r)};
    if constexpr (is_float && sizeof(R) == 32) return {(R)_mm256_min_ps((__m256)b.r, (__m256)a.r)};
#endif
#if defined(__x86_64__)
    if constexpr (is_double && sizeof(R) == 16) return {(R)_mm_min_pd((__m128d)b.r, (__m128d)a.r)};
    if constexpr (is_float && sizeof(R) == 16) return {(R)_mm_min_ps((__m128)b.r, (__m128)a.r)};
#endif
    return Vec<T, L>::select(b < a, b, a);
  }
}

/// In each lane, b if it is larger, else a.
template <class T, int L>
MODECLUST_INLINE Vec<T, L> max(Vec<T, L> a, Vec<T, L> b) {
  if constexpr (L * static_cast<int>(sizeof(T)) > register_bytes) {
    return {max(a.low, b.low), max(a.high, b.high)};
  } else {
    [[maybe_unused]] typedef typename Vec<T, L>::Register R;
    [[maybe_unused]] constexpr bool is_double = static_cast<T>(0.5) != 0 && sizeof(T) == 8;
    [[maybe_unused]] constexpr bool is_float = static_cast<T>(0.5) != 0 && sizeof(T) == 4;
#if defined(__AVX512F__)
    if constexpr (is_double && sizeof(R) == 64)
      return {(R)_mm512_maskz_max_pd(0xFF, (__m512d)b.r, (__m512d)a.r)};
    if constexpr (is_float && sizeof(R) == 64)
      return {(R)_mm512_maskz_max_ps(0xFFFF, (__m512)b.r, (__m512)a.r)};
#endif
#if defined(__AVX2__)
    if constexpr (is_double && sizeof(R) == 32)
      return {(R)_mm256_max_pd((__m256d)b.r, (__m256d)a.r)};
    if constexpr (is_float && sizeof(R) == 32) return {(R)_mm256_max_ps((__m256)b.r, (__m256)a.r)};
#endif
#if defined(__x86_64__)
    if constexpr (is_double && sizeof(R) == 16) return {(R)_mm_max_pd((__m128d)b.r, (__m128d)a.r)};
    if constexpr (is_float && sizeof(R) == 16) return {(R)_mm_max_ps((__m128)b.r, (__m128)a.r)};
#endif
    return Vec<T, L>::select(a < b, b, a);
  }
}

/// a b + c, with one rounding if the machine has this instruction, else with two. Only for scores.
template <class T, int L>
MODECLUST_INLINE Vec<T, L> fused_multiply_add(Vec<T, L> a, Vec<T, L> b, Vec<T, L> c) {
  if constexpr (L * static_cast<int>(sizeof(T)) > register_bytes) {
    return {fused_multiply_add(a.low, b.low, c.low), fused_multiply_add(a.high, b.high, c.high)};
  } else {
    [[maybe_unused]] typedef typename Vec<T, L>::Register R;
#if defined(__AVX512F__)
    if constexpr (sizeof(R) == 64 && sizeof(T) == 4)
      return {(R)_mm512_fmadd_ps((__m512)a.r, (__m512)b.r, (__m512)c.r)};
    if constexpr (sizeof(R) == 64 && sizeof(T) == 8)
      return {(R)_mm512_fmadd_pd((__m512d)a.r, (__m512d)b.r, (__m512d)c.r)};
#endif
#if defined(__AVX2__)
    if constexpr (sizeof(R) == 32 && sizeof(T) == 4)
      return {(R)_mm256_fmadd_ps((__m256)a.r, (__m256)b.r, (__m256)c.r)};
    if constexpr (sizeof(R) == 32 && sizeof(T) == 8)
      return {(R)_mm256_fmadd_pd((__m256d)a.r, (__m256d)b.r, (__m256d)c.r)};
#endif
    return a * b + c;
  }
}

template <class T, int L>
MODECLUST_INLINE Vec<T, L / 2> low_half(Vec<T, L> v) {
  if constexpr (L * static_cast<int>(sizeof(T)) > register_bytes) {
    return v.low;
  } else if constexpr (L == 16) {
    return {__builtin_shufflevector(v.r, v.r, 0, 1, 2, 3, 4, 5, 6, 7)};
  } else if constexpr (L == 8) {
    return {__builtin_shufflevector(v.r, v.r, 0, 1, 2, 3)};
  } else {
    return {__builtin_shufflevector(v.r, v.r, 0, 1)};
  }
}

template <class T, int L>
MODECLUST_INLINE Vec<T, L / 2> high_half(Vec<T, L> v) {
  if constexpr (L * static_cast<int>(sizeof(T)) > register_bytes) {
    return v.high;
  } else if constexpr (L == 16) {
    return {__builtin_shufflevector(v.r, v.r, 8, 9, 10, 11, 12, 13, 14, 15)};
  } else if constexpr (L == 8) {
    return {__builtin_shufflevector(v.r, v.r, 4, 5, 6, 7)};
  } else {
    return {__builtin_shufflevector(v.r, v.r, 2, 3)};
  }
}

/// One bit for each lane, which is set if the mask is set.
template <int L>
MODECLUST_INLINE unsigned bits_of(Vec<std::int64_t, L> mask) {
  if constexpr (L * 8 > register_bytes) {
    return bits_of(mask.low) | bits_of(mask.high) << (L / 2);
  } else {
#if defined(__AVX512F__)
    if constexpr (L == 8) return _mm512_movepi64_mask((__m512i)mask.r);
#endif
#if defined(__AVX2__)
    if constexpr (L == 4) return static_cast<unsigned>(_mm256_movemask_pd((__m256d)mask.r));
#endif
#if defined(__x86_64__)
    if constexpr (L == 2) return static_cast<unsigned>(_mm_movemask_pd((__m128d)mask.r));
#endif
    unsigned bits = 0;
    for (int i = 0; i < L; i++) bits |= static_cast<unsigned>(mask.r[i] & 1) << i;
    return bits;
  }
}

template <int L>
MODECLUST_INLINE unsigned bits_of(Vec<std::int32_t, L> mask) {
  if constexpr (L * 4 > register_bytes) {
    return bits_of(mask.low) | bits_of(mask.high) << (L / 2);
  } else {
#if defined(__AVX512F__)
    if constexpr (L == 16) return _mm512_movepi32_mask((__m512i)mask.r);
#endif
#if defined(__AVX2__)
    if constexpr (L == 8) return static_cast<unsigned>(_mm256_movemask_ps((__m256)mask.r));
#endif
#if defined(__x86_64__)
    if constexpr (L == 4) return static_cast<unsigned>(_mm_movemask_ps((__m128)mask.r));
#endif
    unsigned bits = 0;
    for (int i = 0; i < L; i++) bits |= static_cast<unsigned>(mask.r[i] & 1) << i;
    return bits;
  }
}

/// The sum of all lanes: the upper half is added to the lower half until one lane is left.
template <class T, int L>
MODECLUST_INLINE T sum_of_lanes(Vec<T, L> v) {
  if constexpr (L > 2) {
    return sum_of_lanes(low_half(v) + high_half(v));
  } else {
    return v.r[0] + v.r[1];
  }
}

/// The sums of the lanes of four vectors, each in the same order as in `sum_of_lanes`.
template <class T, int L>
MODECLUST_INLINE void sums_of_lanes(Vec<T, L> a, Vec<T, L> b, Vec<T, L> c, Vec<T, L> d, T* out) {
  if constexpr (L * static_cast<int>(sizeof(T)) > 16) {
    sums_of_lanes(low_half(a) + high_half(a), low_half(b) + high_half(b),
                  low_half(c) + high_half(c), low_half(d) + high_half(d), out);
  } else if constexpr (sizeof(T) == 4) {
    const auto s = __builtin_shufflevector(a.r, b.r, 0, 1, 4, 5) +
                   __builtin_shufflevector(a.r, b.r, 2, 3, 6, 7);
    const auto t = __builtin_shufflevector(c.r, d.r, 0, 1, 4, 5) +
                   __builtin_shufflevector(c.r, d.r, 2, 3, 6, 7);
    const auto u =
        __builtin_shufflevector(s, t, 0, 2, 4, 6) + __builtin_shufflevector(s, t, 1, 3, 5, 7);
    __builtin_memcpy(out, &u, 16);
  } else {
    const auto s =
        __builtin_shufflevector(a.r, b.r, 0, 2) + __builtin_shufflevector(a.r, b.r, 1, 3);
    const auto t =
        __builtin_shufflevector(c.r, d.r, 0, 2) + __builtin_shufflevector(c.r, d.r, 1, 3);
    __builtin_memcpy(out, &s, 16);
    __builtin_memcpy(out + 2, &t, 16);
  }
}

template <int L>
MODECLUST_INLINE Vec<double, L> to_doubles(Vec<float, L> v) {
  if constexpr (L * 8 > register_bytes) {
    return {to_doubles(low_half(v)), to_doubles(high_half(v))};
  } else {
    return {__builtin_convertvector(v.r, typename Vec<double, L>::Register)};
  }
}
template <int L>
MODECLUST_INLINE Vec<double, L> to_doubles(Vec<double, L> v) {
  return v;
}

/// Eight numbers of type T as doubles.
template <class T>
MODECLUST_INLINE Vec<double, 8> load_doubles(const T* p) {
  return to_doubles(Vec<T, 8>::load(p));
}
template <class T>
MODECLUST_INLINE Vec<double, 8> load_first_doubles(const T* p, int n) {
  return to_doubles(Vec<T, 8>::load_first(p, n));
}

}  // namespace
}  // namespace modeclust
