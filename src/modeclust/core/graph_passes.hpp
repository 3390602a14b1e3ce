// Passes over a graph, as the module has them.
#pragma once

#include "dataset.hpp"

namespace modeclust {

void bind_graph(nb::module_& m);

}  // namespace modeclust
