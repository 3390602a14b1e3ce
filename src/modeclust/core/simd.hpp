// The instruction sets that this module has code for, and the choice among them.
#pragma once

#include <string>
#include <vector>

namespace modeclust {

enum class Simd { baseline, avx2, avx512, neon };

std::string name_of(Simd variant);

/// The variants that were compiled and that this CPU can run, the fastest last.
std::vector<Simd> available_variants();

/// The variant named by MODECLUST_SIMD, or the fastest if it is not set. Throws std::runtime_error
/// if the variable does not name an available variant.
Simd chosen_variant();

/// The variant in use: chosen once, when the module is imported.
Simd simd_in_use();
void set_simd_in_use(Simd variant);

}  // namespace modeclust
