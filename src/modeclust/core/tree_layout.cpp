#include "tree_layout.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "density.hpp"
#include "pool.hpp"
#include "simd.hpp"

namespace modeclust {
namespace {

const DensityKernels& kernels() { return MODECLUST_CHOOSE_TABLE(density_kernels); }

/// Sorts rows so that runs of 32 lie in small boxes, and so do runs of 64, 128, ...
///
/// Splits at the widest feature, as in a k-d tree, always after a power of two of leaves. Ties are
/// broken by row index, so that every implementation of nth_element gives the same order.
class SpatialSort {
 public:
  SpatialSort(const double* X, int n_features, std::vector<std::int64_t>& order)
      : X_(X),
        n_features_(n_features),
        order_(order),
        keys_(static_cast<std::int64_t>(order.size())) {}

  void run(int n_threads) {
    std::vector<RowRange> ranges{{0, static_cast<std::int64_t>(order_.size())}};
    // Enough ranges for the threads to take them in turn.
    const std::size_t enough = n_threads > 1 ? 16 * static_cast<std::size_t>(n_threads) : 1;
    while (ranges.size() < enough && ranges[0].last > leaf_rows) {
      std::vector<RowRange> halves(2 * ranges.size());
      parallel_for(n_threads, static_cast<std::int64_t>(ranges.size()), [&](int, std::int64_t i) {
        const RowRange range = ranges[i];
        const std::int64_t middle = split(range);
        halves[2 * i] = {range.first, middle};
        halves[2 * i + 1] = {middle, range.last};
      });
      ranges = std::move(halves);
    }
    parallel_for(n_threads, static_cast<std::int64_t>(ranges.size()),
                 [&](int, std::int64_t i) { sort(ranges[i]); });
  }

 private:
  using Key = std::pair<double, std::int64_t>;

  void sort(RowRange range) {
    if (range.last - range.first <= leaf_rows) {
      std::sort(order_.begin() + range.first, order_.begin() + range.last);
      return;
    }
    const std::int64_t middle = split(range);
    sort({range.first, middle});
    sort({middle, range.last});
  }

  /// Splits a range at its widest feature, and returns the first row of the second half. A leaf is
  /// not split.
  std::int64_t split(RowRange range) {
    const std::int64_t n = range.last - range.first;
    if (n <= leaf_rows) return range.last;
    const int widest = widest_feature(range);
    std::int64_t left = leaf_rows;
    while (2 * left < n) left *= 2;
    Key* keys = keys_.get() + range.first;
    for (std::int64_t i = 0; i < n; i++) {
      const std::int64_t row = order_[range.first + i];
      keys[i] = {X_[row * n_features_ + widest], row};
    }
    std::nth_element(keys, keys + left, keys + n);
    for (std::int64_t i = 0; i < n; i++) order_[range.first + i] = keys[i].second;
    return range.first + left;
  }

  int widest_feature(RowRange range) const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    std::vector<double> low(n_features_, infinity), high(n_features_, -infinity);
    for (std::int64_t i = range.first; i < range.last; i++) {
      const double* x = X_ + order_[i] * n_features_;
      for (int j = 0; j < n_features_; j++) {
        low[j] = std::min(low[j], x[j]);
        high[j] = std::max(high[j], x[j]);
      }
    }
    int widest = 0;
    for (int j = 1; j < n_features_; j++) {
      if (high[j] - low[j] > high[widest] - low[widest]) widest = j;
    }
    return widest;
  }

  const double* X_;
  std::int64_t n_features_;
  std::vector<std::int64_t>& order_;
  Buffer<Key> keys_;
};

}  // namespace

TreeLayout::TreeLayout(const Rows& rows, std::vector<std::int64_t>& order) {
  const int n_features = rows.n_features(), n_threads = rows.threads_for(rows.size());
  const Buffer<double> X(rows.n_rows() * n_features);
  parallel_for(n_threads, static_cast<std::int64_t>(rows.blocks.size()), [&](int, std::int64_t b) {
    const Buffer<double> row(n_features);
    kernels().read(rows.source, rows.blocks[b], row.get(),
                   X.get() + rows.blocks[b].first * n_features);
  });
  SpatialSort(X.get(), n_features, order).run(n_threads);
  view.n_features = n_features;
  view.n_rows = static_cast<std::int64_t>(order.size());
  view.n_leaves = (view.n_rows + leaf_rows - 1) / leaf_rows;
  view.order = order.data();
  fill_leaves(rows, X.get());
  if (view.n_rows > 0) build_boxes();
}

void TreeLayout::fill_leaves(const Rows& rows, const double* X) {
  const std::int64_t n = view.n_rows, n_places = view.n_leaves * leaf_rows;
  const int n_features = view.n_features;
  columns_ = Buffer<double>(n_places * n_features);
  if (rows.weights.weight) weight_ = Buffer<double>(n_places);
  if (rows.weights.precision) precision_ = Buffer<double>(n_places);
  if (n < n_places) last_weight_ = Buffer<double>(leaf_rows);
  for (std::int64_t place = 0; place < n_places; place++) {
    const std::int64_t leaf = place / leaf_rows, m = place % leaf_rows;
    const std::int64_t i = view.order[std::min(place, n - 1)];  // the padding has weight 0
    double* columns = columns_.get() + leaf * n_features * leaf_rows + m;
    for (int j = 0; j < n_features; j++) columns[j * leaf_rows] = X[i * n_features + j];
    if (weight_) weight_[place] = place < n ? rows.weights.weight_of(i) : 0.0;
    if (precision_) precision_[place] = rows.weights.precision_of(i);
    if (last_weight_ && leaf == view.n_leaves - 1) last_weight_[m] = place < n ? 1.0 : 0.0;
  }
  view.columns = columns_.get();
  view.weight = weight_.get();
  view.precision = precision_.get();
  view.last_weight = last_weight_.get();
}

/// Computes boxes around the leaves, then around each 8 boxes, until one group is left.
void TreeLayout::build_boxes() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const int n_features = view.n_features, n_numbers = 2 * n_features + 1;
  std::int64_t n_boxes = view.n_leaves;
  for (int level = 0;; level++) {
    const std::int64_t n_groups = (n_boxes + tree_fan - 1) / tree_fan;
    Buffer<double> boxes(n_groups * n_numbers * tree_fan);
    Buffer<std::int64_t> lowest(n_groups * tree_fan);
    for (std::int64_t box = 0; box < n_groups * tree_fan; box++) {
      // Entry s of the box is at 8 s: lowest and highest value of each feature, least precision.
      double* out = boxes.get() + box / tree_fan * n_numbers * tree_fan + box % tree_fan;
      for (int j = 0; j < n_features; j++) {
        out[16 * j] = infinity;
        out[16 * j + 8] = -infinity;
      }
      out[16 * n_features] = box < n_boxes ? infinity : 1.0;
      lowest[box] = std::numeric_limits<std::int64_t>::max();
      if (box >= n_boxes) continue;  // an empty box, out of reach of all points
      // The rows of a leaf are sorted.
      const std::int64_t* first =
          level == 0 ? view.order + box * leaf_rows : view.lowest[level - 1] + box * tree_fan;
      lowest[box] = level == 0 ? *first : *std::min_element(first, first + tree_fan);
      for (int i = 0; i < (level == 0 ? leaf_rows : tree_fan); i++) {
        const double* below =
            level == 0 ? nullptr : view.boxes[level - 1] + box * n_numbers * tree_fan + i;
        for (int j = 0; j < n_features; j++) {
          const double* x = view.columns + (box * n_features + j) * leaf_rows + i;
          out[16 * j] = std::min(out[16 * j], below ? below[16 * j] : *x);
          out[16 * j + 8] = std::max(out[16 * j + 8], below ? below[16 * j + 8] : *x);
        }
        const double precision = below            ? below[16 * n_features]
                                 : view.precision ? view.precision[box * leaf_rows + i]
                                                  : 1.0;
        out[16 * n_features] = std::min(out[16 * n_features], precision);
      }
    }
    boxes_.push_back(std::move(boxes));
    lowest_.push_back(std::move(lowest));
    view.boxes[level] = boxes_.back().get();
    view.lowest[level] = lowest_.back().get();
    view.n_levels = level + 1;
    if (n_groups == 1) return;
    n_boxes = n_groups;
  }
}

}  // namespace modeclust
