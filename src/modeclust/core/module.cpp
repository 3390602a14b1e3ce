// The module modeclust._core: compiled passes over rows.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "center_sums.hpp"
#include "dataset.hpp"
#include "density_passes.hpp"
#include "graph_passes.hpp"
#include "measure_passes.hpp"
#include "mode_bandwidths.hpp"
#include "neighbor_passes.hpp"
#include "pruning.hpp"
#include "separation.hpp"
#include "simd.hpp"

#define MODECLUST_TEXT_(x) #x
#define MODECLUST_TEXT(x) MODECLUST_TEXT_(x)

namespace {

#if defined(__clang__)
constexpr const char* compiler = "clang " __clang_version__;
#else
constexpr const char* compiler = "GCC " __VERSION__;
#endif

constexpr const char* nanobind_version = MODECLUST_TEXT(NB_VERSION_MAJOR) "." MODECLUST_TEXT(
    NB_VERSION_MINOR) "." MODECLUST_TEXT(NB_VERSION_PATCH);

}  // namespace

NB_MODULE(_core, m) {
  using namespace modeclust;
  // Rows may exist until the process ends, for example in the cache of a Dask worker.
  nb::set_leak_warnings(false);
  set_simd_in_use(chosen_variant());
  m.def("simd", [] { return name_of(simd_in_use()); }, "The instruction set in use.");
  m.def(
      "available_simd",
      [] {
        std::vector<std::string> names;
        for (const Simd variant : available_variants()) names.push_back(name_of(variant));
        return names;
      },
      "The instruction sets that this machine can run.");
  m.def("compiler", [] { return compiler; }, "The compiler that built this module.");
  m.def(
      "nanobind_version", [] { return nanobind_version; },
      "The version of nanobind that this module was built with.");
  bind_rows(m);
  bind_center_sums(m);
  bind_density(m);
  bind_measures(m);
  bind_neighbors(m);
  bind_graph(m);
  bind_mode_bandwidths(m);
  bind_pruning(m);
  bind_separation(m);
}
