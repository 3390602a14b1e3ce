#include "simd.hpp"

#include <cstdlib>
#include <stdexcept>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace modeclust {
namespace {

#if defined(__x86_64__)

bool bit(unsigned word, int place) { return word >> place & 1; }

/// The level of the x86-64 psABI, 1 to 4, that CPU and system support.
///
/// It uses cpuid, because __builtin_cpu_supports needs libgcc, which not every compiler has.
int x86_level() {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return 1;
  const bool v2 = bit(c, 0) && bit(c, 9) && bit(c, 13) && bit(c, 19) && bit(c, 20) && bit(c, 23);
  if (!v2) return 1;
  const bool features3 = bit(c, 12) && bit(c, 22) && bit(c, 28) && bit(c, 29);  // FMA ... F16C
  if (!bit(c, 27) || !features3) return 2;                                      // OSXSAVE
  unsigned low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  unsigned extended_c = 0, b7 = 0;
  if (!__get_cpuid_count(7, 0, &a, &b7, &c, &d)) return 2;
  if (!__get_cpuid(0x80000001u, &a, &b, &extended_c, &d)) return 2;
  const bool v3 =
      bit(b7, 3) && bit(b7, 5) && bit(b7, 8) && bit(extended_c, 5) && (low & 0x06) == 0x06;
  if (!v3) return 2;
  const bool v4 = bit(b7, 16) && bit(b7, 17) && bit(b7, 28) && bit(b7, 30) && bit(b7, 31) &&
                  (low & 0xE6) == 0xE6;
  return v4 ? 4 : 3;
}

#endif

Simd in_use = Simd::baseline;

}  // namespace

Simd simd_in_use() { return in_use; }
void set_simd_in_use(Simd variant) { in_use = variant; }

std::string name_of(Simd variant) {
  switch (variant) {
    case Simd::baseline: return "baseline";
    case Simd::avx2: return "avx2";
    case Simd::avx512: return "avx512";
    case Simd::neon: return "neon";
  }
  return "";
}

std::vector<Simd> available_variants() {
#if defined(__x86_64__)
  std::vector<Simd> variants;
  const int level = x86_level();
  if (level >= 2) variants.push_back(Simd::baseline);
  if (level >= 3) variants.push_back(Simd::avx2);
  if (level >= 4) variants.push_back(Simd::avx512);
  return variants;
#elif defined(__aarch64__)
  return {Simd::neon};
#else
  return {Simd::baseline};
#endif
}

Simd chosen_variant() {
  const auto variants = available_variants();
  if (variants.empty()) {
    throw std::runtime_error(
        "modeclust needs a CPU with SSE4.2 (x86-64-v2), which this one lacks.");
  }
  const char* forced = std::getenv("MODECLUST_SIMD");
  if (!forced || !*forced) return variants.back();
  std::string names;
  for (const Simd variant : variants) {
    if (name_of(variant) == forced) return variant;
    names += (names.empty() ? "" : ", ") + name_of(variant);
  }
  throw std::runtime_error(
      "MODECLUST_SIMD must be one of the instruction sets that this machine has (" + names +
      "), got \"" + forced + "\"; unset it to use the fastest.");
}

}  // namespace modeclust
