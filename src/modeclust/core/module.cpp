// The module modeclust._core: passes over rows, compiled.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "dataset.hpp"
#include "density_passes.hpp"
#include "graph_passes.hpp"
#include "measure_passes.hpp"
#include "simd.hpp"

NB_MODULE(_core, m) {
  using namespace modeclust;
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
  bind_rows(m);
  bind_density(m);
  bind_measures(m);
  bind_graph(m);
}
