// Mean-shift of short rows, in the leaves of a tree.
#pragma once

#include "box_bounds.hpp"
#include "density.hpp"
#include "leaf_weights.hpp"

namespace modeclust {
namespace {

/// One point and its sums. `fixed_features` is D if there is specialized code for it, else 0.
template <KernelName kernel, int fixed_features>
struct LeafPoint {
  const LeafTree& tree;
  const double* point;
  double inverse_squared_bandwidth, negligible;
  PointSums sums;
  Doubles totals[fixed_features ? fixed_features : fewest_for_products];

  MODECLUST_INLINE int n_features() const {
    return fixed_features ? fixed_features : tree.n_features;
  }
  /// Lower bounds on t for the 8 boxes of a group.
  MODECLUST_INLINE Doubles bounds_of(int level, std::int64_t number) const {
    const double* boxes = group_of(tree, level, number, n_features());
    const Doubles precision = Doubles::load(boxes + 16 * n_features());
    return box_bounds(boxes, point, n_features()) *
           (precision * Doubles::splat(inverse_squared_bandwidth));
  }
  MODECLUST_INLINE LeafWeights weights_of(std::int64_t leaf) const {
    LeafWeights weights;
    if (tree.weight) {
      weights.weight = tree.weight + leaf * leaf_size;
    } else if (leaf == tree.n_leaves - 1) {
      weights.weight = tree.last_weight;
    }
    if (tree.precision) weights.precision = tree.precision + leaf * leaf_size;
    return weights;
  }

  /// Writes t of the rows of a leaf.
  MODECLUST_INLINE void measure(std::int64_t leaf, LeafWeights weights, Doubles* t) const {
    const double* columns = tree.columns + leaf * n_features() * leaf_size;
    for (int v = 0; v < leaf_vectors; v++) t[v] = Doubles::zero();
    for (int j = 0; j < n_features(); j++) {
      const Doubles here = Doubles::splat(point[j]);
      for (int v = 0; v < leaf_vectors; v++) {
        const Doubles difference = Doubles::load(columns + j * leaf_size + 8 * v) - here;
        t[v] = t[v] + difference * difference;
      }
    }
    const Doubles factor = Doubles::splat(inverse_squared_bandwidth);
    for (int v = 0; v < leaf_vectors; v++) {
      t[v] = weights.precision ? t[v] * (Doubles::load(weights.precision + 8 * v) * factor)
                               : t[v] * factor;
    }
  }

  /// Sets the reference from a leaf whose box is nearest, or almost nearest. Then the reference
  /// rarely changes later, and leaves that are too far compared with it can be skipped.
  void refer_to_nearest_leaf() {
    std::int64_t found = 0;
    for (int level = tree.n_levels - 1; level >= 0; level--) {
      double bounds[8];
      bounds_of(level, found).store(bounds);
      int nearest = 0;
      for (int i = 1; i < 8; i++) {
        if (bounds[i] < bounds[nearest]) nearest = i;
      }
      found = found * tree_fan + nearest;
    }
    const LeafWeights weights = weights_of(found);
    Doubles t[leaf_vectors], least = Doubles::splat(infinity);
    measure(found, weights, t);
    for (int v = 0; v < leaf_vectors; v++) least = min(least, t[v]);  // padding repeats a row
    sums.smallest = min_of_lanes(least);
    if (!has_compact_support(kernel)) sums.reference = sums.smallest;
  }

  /// Rows with t beyond this are negligible.
  MODECLUST_INLINE double limit(double nearest) const {
    if (has_compact_support(kernel)) return 1.0;
    if (kernel != KernelName::gaussian) return infinity;  // its weights fall too slowly
    return (sums.smallest < nearest ? sums.smallest : nearest) + negligible;
  }

  MODECLUST_INLINE void add_leaf(std::int64_t leaf) {
    const LeafWeights weights = weights_of(leaf);
    const int n = n_features();
    Doubles t[leaf_vectors], w[leaf_vectors];
    measure(leaf, weights, t);
    const bool any = weights.weight || weights.precision
                         ? weigh<kernel, true>(t, weights, negligible, sums, totals, n, w)
                         : weigh<kernel, false>(t, weights, negligible, sums, totals, n, w);
    if (!any) return;
    const double* columns = tree.columns + leaf * n * leaf_size;
    for (int j = 0; j < n; j++) {
      const double* x = columns + j * leaf_size;
      totals[j] = totals[j] + ((w[0] * Doubles::load(x) + w[1] * Doubles::load(x + 8)) +
                               (w[2] * Doubles::load(x + 16) + w[3] * Doubles::load(x + 24)));
    }
  }

  /// Adds all leaves within reach, in order; returns their number.
  std::int64_t run(double nearest) {
    struct Visit {
      std::int64_t group;
      unsigned bits;  // children that are still to be visited
    };
    for (int j = 0; j < n_features(); j++) totals[j] = Doubles::zero();
    refer_to_nearest_leaf();
    auto open = [&](int level, std::int64_t number) {
      return Visit{number, bits_of(bounds_of(level, number) < Doubles::splat(limit(nearest)))};
    };
    Visit stack[most_levels];
    std::int64_t n_visited = 0;
    int level = tree.n_levels - 1;
    stack[level] = open(level, 0);
    for (;;) {
      Visit& here = stack[level];
      if (here.bits == 0) {
        if (++level == tree.n_levels) return n_visited;
        continue;
      }
      const std::int64_t child = here.group * tree_fan + __builtin_ctz(here.bits);
      here.bits &= here.bits - 1;
      if (level == 0) {
        add_leaf(child);
        n_visited++;
      } else {
        level--;
        stack[level] = open(level, child);
      }
    }
  }
};

template <KernelName kernel, int fixed_features>
std::int64_t shift_leaves_of(const LeafTree& tree, const ShiftTask& task, PointRange range,
                             const ShiftResult& result) {
  std::int64_t n_visited = 0;
  for (std::int64_t p = range.first; p < range.last; p++) {
    LeafPoint<kernel, fixed_features> here{tree,
                                           task.points + p * tree.n_features,
                                           task.inverse_squared_bandwidth,
                                           task.negligible,
                                           {},
                                           {}};
    n_visited += here.run(task.nearest ? task.nearest[p] : infinity);
    result.reference[p] = here.sums.has_mass ? here.sums.reference : infinity;
    result.mass[p] = sum_of_lanes(here.sums.mass);
    result.density[p] = density_of<kernel>(here.sums);
    result.smallest[p] = here.sums.smallest;
    for (int j = 0; j < tree.n_features; j++) {
      result.totals[p * tree.n_features + j] = sum_of_lanes(here.totals[j]);
    }
  }
  return n_visited * leaf_size;
}

std::int64_t shift_leaves(const LeafTree& tree, const ShiftTask& task, PointRange range,
                          const ShiftResult& result) {
  std::int64_t n = 0;
  with_kernel(task.kernel, [&]<KernelName kernel>() {
    switch (tree.n_features) {
      case 1: n = shift_leaves_of<kernel, 1>(tree, task, range, result); break;
      case 2: n = shift_leaves_of<kernel, 2>(tree, task, range, result); break;
      case 3: n = shift_leaves_of<kernel, 3>(tree, task, range, result); break;
      default: n = shift_leaves_of<kernel, 0>(tree, task, range, result); break;
    }
  });
  return n;
}

}  // namespace
}  // namespace modeclust
