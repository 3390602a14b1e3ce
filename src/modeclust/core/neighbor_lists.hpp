// The list of the nearest rows of a query, while it is searched.
#pragma once

#include "neighbors.hpp"
#include "vec.hpp"

namespace modeclust {
namespace {

/// The list of one query.
struct NeighborList {
  int n_nearest;
  double* squared;
  std::int64_t* rows;

  MODECLUST_INLINE NeighborList(const NeighborLists& lists, std::int64_t number)
      : n_nearest(lists.n_nearest),
        squared(lists.squared + number * lists.n_nearest),
        rows(lists.rows + number * lists.n_nearest) {}

  /// The squared distance of the farthest row in the list.
  MODECLUST_INLINE double limit() const { return squared[0]; }

  /// Whether a row at a distance, or a lower bound on it, would be in the list.
  MODECLUST_INLINE bool takes(double distance, std::int64_t row) const {
    return distance < squared[0] || (distance == squared[0] && row < rows[0]);
  }

  /// Replaces the farthest row.
  MODECLUST_INLINE void insert(double distance, std::int64_t row) const {
    int at = 0;
    for (;;) {
      int child = 2 * at + 1;
      if (child >= n_nearest) break;
      child += child + 1 < n_nearest && is_farther(child + 1, squared[child], rows[child]);
      if (!is_farther(child, distance, row)) break;
      squared[at] = squared[child];
      rows[at] = rows[child];
      at = child;
    }
    squared[at] = distance;
    rows[at] = row;
  }

 private:
  MODECLUST_INLINE bool is_farther(int index, double distance, std::int64_t row) const {
    return squared[index] > distance || (squared[index] == distance && rows[index] > row);
  }
};

}  // namespace
}  // namespace modeclust
