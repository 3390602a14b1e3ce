// Short rows in the leaves of a tree, as plain data.
#pragma once

#include <cstdint>

namespace modeclust {

/// Rows of a leaf, and children of an inner node. The boxes of the children are tested in lanes.
constexpr int leaf_rows = 32, tree_fan = 8, most_levels = 16;

/// Rows in transposed leaves of 32, and boxes around leaves and groups of them.
struct LeafTree {
  int n_features = 0;
  std::int64_t n_rows = 0, n_leaves = 0;
  const std::int64_t* order = nullptr;  // (n_rows,) the index of each row of the leaves
  const double* columns = nullptr;      // (n_leaves, D, 32); the last row is repeated as padding
  const double* weight = nullptr;       // (n_leaves, 32) or null for 1
  const double* precision = nullptr;    // (n_leaves, 32) or null for 1
  const double* last_weight = nullptr;  // (32,) of the last leaf if it is not full, else null
  int n_levels = 0;
  // (n_groups, 2 D + 1, 8): the lowest and the highest number of each feature in each of 8 boxes,
  // and the least precision. Level 0 has the leaves, the last level has a single group.
  const double* boxes[most_levels] = {};
  // (n_groups, 8): the lowest index of a row in each box. Empty boxes have the highest integer.
  const std::int64_t* lowest[most_levels] = {};
};

}  // namespace modeclust
