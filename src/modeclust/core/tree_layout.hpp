// The layout of short rows in the leaves of a tree, for the module.
#pragma once

#include <vector>

#include "dataset.hpp"
#include "tree.hpp"

namespace modeclust {

/// A `LeafTree` with its memory.
class TreeLayout {
 public:
  /// Copies the rows in `order`, and sorts `order` so that near rows are in the same leaf. The
  /// rows must be dense. The GIL must not be held.
  TreeLayout(const Rows& rows, std::vector<std::int64_t>& order);

  LeafTree view;

 private:
  void fill_leaves(const Rows& rows, const double* X);
  void build_boxes();

  Buffer<double> columns_, weight_, precision_, last_weight_;
  std::vector<Buffer<double>> boxes_;
  std::vector<Buffer<std::int64_t>> lowest_;
};

}  // namespace modeclust
