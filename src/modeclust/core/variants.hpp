// One table of functions for each instruction set and kind of kernel.
//
// A file of kernels is compiled once for each variant, with MODECLUST_VARIANT set to its name, and
// defines one table. That is its only symbol with external linkage.
#pragma once

// For functions that kernels call: the linker could choose the copy of another variant.
#define MODECLUST_INLINE inline __attribute__((always_inline))

#define MODECLUST_JOIN_(a, b) a##_##b
#define MODECLUST_JOIN(a, b) MODECLUST_JOIN_(a, b)
/// The name of a table in the variant that is being compiled.
#define MODECLUST_TABLE(name) MODECLUST_JOIN(name, MODECLUST_VARIANT)

// Declares the tables of one kind of kernel, one for each variant.
#if defined(__x86_64__)
#define MODECLUST_DECLARE_TABLES(Type, name) \
  extern const Type name##_baseline, name##_avx2, name##_avx512;
#elif defined(__aarch64__)
#define MODECLUST_DECLARE_TABLES(Type, name) extern const Type name##_neon;
#else
#define MODECLUST_DECLARE_TABLES(Type, name) extern const Type name##_baseline;
#endif

// The table of the variant in use; only for files of the module, not for kernels.
#if defined(__x86_64__)
#define MODECLUST_CHOOSE_TABLE(name)             \
  (simd_in_use() == Simd::avx512 ? name##_avx512 \
   : simd_in_use() == Simd::avx2 ? name##_avx2   \
                                 : name##_baseline)
#elif defined(__aarch64__)
#define MODECLUST_CHOOSE_TABLE(name) name##_neon
#else
#define MODECLUST_CHOOSE_TABLE(name) name##_baseline
#endif
