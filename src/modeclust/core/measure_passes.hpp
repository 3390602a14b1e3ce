// The passes that compare rows with given centers, for the module.
#pragma once

#include "dataset.hpp"

namespace modeclust {

/// The sums of a mode pass over rows with memberships.
struct SoftSums {
  nb::ndarray<nb::numpy, double, nb::ndim<1>> reference;  // infinity if no row has weight
  nb::ndarray<nb::numpy, double, nb::ndim<1>> mass;
  nb::ndarray<nb::numpy, double, nb::ndim<2>> totals;
  nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>> counts;   // rows with a positive membership
  nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>> nearest;  // -1 if no row has weight
  nb::ndarray<nb::numpy, double, nb::ndim<1>> nearest_distance;
  double objective = 0.0, inertia = 0.0, weight = 0.0;
};

void bind_measures(nb::module_& m);

}  // namespace modeclust
