// Nearest rows in a tree, for rows of few features.
#pragma once

#include "box_bounds.hpp"
#include "neighbor_lists.hpp"

namespace modeclust {
namespace {

/// The search of one point. `fixed_features` is D if there is specialized code for it, else 0.
template <int fixed_features>
struct TreeSearch {
  using V = Vec<double, 8>;
  static constexpr int n_vectors = leaf_rows / 8;

  const LeafTree& tree;
  const double* point;
  NeighborList list;
  std::int64_t own;  // the row that is left out; -1 for none

  MODECLUST_INLINE int n_features() const {
    return fixed_features ? fixed_features : tree.n_features;
  }

  MODECLUST_INLINE void visit_leaf(std::int64_t leaf) const {
    const double* columns = tree.columns + leaf * n_features() * leaf_rows;
    V squared[n_vectors];
    for (int v = 0; v < n_vectors; v++) squared[v] = V::zero();
    for (int j = 0; j < n_features(); j++) {
      const V here = V::splat(point[j]);
      for (int v = 0; v < n_vectors; v++) {
        const V difference = V::load(columns + j * leaf_rows + 8 * v) - here;
        squared[v] = squared[v] + difference * difference;
      }
    }
    const V limit = V::splat(list.limit());
    unsigned far = 0;
    for (int v = 0; v < n_vectors; v++) far |= bits_of(limit < squared[v]) << (8 * v);
    unsigned near = ~far;
    if (leaf == tree.n_leaves - 1 && tree.n_rows % leaf_rows) {
      near &= (1u << tree.n_rows % leaf_rows) - 1;
    }
    if (!near) return;
    double distances[leaf_rows];
    for (int v = 0; v < n_vectors; v++) squared[v].store(distances + 8 * v);
    for (; near; near &= near - 1) {
      const int m = __builtin_ctz(near);
      const std::int64_t row = tree.order[leaf * leaf_rows + m];
      if (row != own && list.takes(distances[m], row)) list.insert(distances[m], row);
    }
  }

  /// Visits all leaves that may have neighbours, near ones first. Returns their number.
  std::int64_t run() const {
    struct Group {
      std::int64_t number;
      unsigned open;  // children that are still to be visited
      double bounds[tree_fan];
    };
    Group stack[most_levels];
    int level = tree.n_levels;
    std::int64_t number = 0, n_visited = 0;
    for (;;) {
      Group& opened = stack[--level];
      const V bounds = box_bounds(group_of(tree, level, number, n_features()), point, n_features());
      bounds.store(opened.bounds);
      opened.number = number;
      opened.open = ~bits_of(V::splat(list.limit()) < bounds) & 255;
      for (;;) {
        Group& here = stack[level];
        if (here.open == 0) {
          if (++level == tree.n_levels) return n_visited;
          continue;
        }
        int nearest = __builtin_ctz(here.open);
        for (unsigned others = here.open & (here.open - 1); others; others &= others - 1) {
          const int child = __builtin_ctz(others);
          if (here.bounds[child] < here.bounds[nearest]) nearest = child;
        }
        const std::int64_t child = here.number * tree_fan + nearest;
        if (here.bounds[nearest] > list.limit()) {  // and so are all others
          here.open = 0;
          continue;
        }
        here.open &= ~(1u << nearest);
        if (!list.takes(here.bounds[nearest], tree.lowest[level][child])) continue;
        if (level == 0) {
          visit_leaf(child);
          n_visited++;
        } else {
          number = child;
          break;
        }
      }
    }
  }
};

template <int fixed_features>
std::int64_t in_tree_of(const LeafTree& tree, const TreeTask& task, const NeighborLists& lists) {
  std::int64_t n_visited = 0;
  for (std::int64_t p = 0; p < task.n; p++) {
    const std::int64_t own = task.own ? task.own[p] : -1;
    const NeighborList list(lists, task.own ? own : p);
    n_visited +=
        TreeSearch<fixed_features>{tree, task.points + p * tree.n_features, list, own}.run();
  }
  return n_visited;
}

std::int64_t in_tree(const LeafTree& tree, const TreeTask& task, const NeighborLists& lists) {
  switch (tree.n_features) {
    case 1: return in_tree_of<1>(tree, task, lists);
    case 2: return in_tree_of<2>(tree, task, lists);
    case 3: return in_tree_of<3>(tree, task, lists);
    case 4: return in_tree_of<4>(tree, task, lists);
    default: return in_tree_of<0>(tree, task, lists);
  }
}

}  // namespace
}  // namespace modeclust
