// The passes over a graph, for the module.
#pragma once

#include "dataset.hpp"

namespace modeclust {

void bind_graph(nb::module_& m);

}  // namespace modeclust
