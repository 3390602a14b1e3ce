// The bandwidth at which the mode of a cluster averages a given number of rows.
#pragma once

#include "dataset.hpp"

namespace modeclust {

void bind_mode_bandwidths(nb::module_& m);

}  // namespace modeclust
