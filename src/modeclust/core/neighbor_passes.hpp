// The search for nearest rows, for the module.
#pragma once

#include "dataset.hpp"

namespace modeclust {

void bind_neighbors(nb::module_& m);

}  // namespace modeclust
