// Centers from their sums, their moves, and the merging of sums.
#pragma once

#include <nanobind/nanobind.h>

namespace modeclust {

void bind_center_sums(nanobind::module_& m);

}  // namespace modeclust
