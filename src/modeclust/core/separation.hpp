// How clearly two clusters are separated.
#pragma once

#include "dataset.hpp"

namespace modeclust {

void bind_separation(nb::module_& m);

}  // namespace modeclust
