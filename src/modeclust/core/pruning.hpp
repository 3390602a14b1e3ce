// Removing the centers that the rows miss least.
#pragma once

#include "dataset.hpp"

namespace modeclust {

void bind_pruning(nb::module_& m);

}  // namespace modeclust
