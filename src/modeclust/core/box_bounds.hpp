// Distances of a point to the boxes of a tree.
#pragma once

#include "tree.hpp"
#include "vec.hpp"

namespace modeclust {
namespace {

/// The 8 boxes of a group.
MODECLUST_INLINE const double* group_of(const LeafTree& tree, int level, std::int64_t number,
                                        int n_features) {
  return tree.boxes[level] + number * (2 * n_features + 1) * tree_fan;
}

/// Lower bounds on the squared distances of a point to all rows in each of 8 boxes.
///
/// Rounding is monotonic, so these bounds hold for squared distances that are summed in the same
/// order, without a margin.
MODECLUST_INLINE Vec<double, 8> box_bounds(const double* boxes, const double* point,
                                           int n_features) {
  using V = Vec<double, 8>;
  V total = V::zero();
  for (int j = 0; j < n_features; j++) {
    const V here = V::splat(point[j]);
    const V low = V::load(boxes + 16 * j), high = V::load(boxes + 16 * j + 8);
    const V gap = max(max(low - here, here - high), V::zero());
    total = total + gap * gap;
  }
  return total;
}

}  // namespace
}  // namespace modeclust
