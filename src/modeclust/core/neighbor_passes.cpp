#include "neighbor_passes.hpp"

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "neighbors.hpp"
#include "pool.hpp"
#include "simd.hpp"
#include "tree_layout.hpp"

namespace modeclust {
namespace {

const NeighborKernels& kernels() { return MODECLUST_CHOOSE_TABLE(neighbor_kernels); }

constexpr double infinity = std::numeric_limits<double>::infinity();
// Dense rows are searched in a tree, or by products with all queries. All constants were measured
// with 2 to 23 features and 300 to 10^6 rows. Building the tree takes as long as the products with
// about 4096 queries, or with an eighth of the rows if there are fewer. A leaf that is visited
// takes as long as the products with 12 leaves, but products with a query have an overhead of about
// 64 visits. How many leaves a query visits depends on the data: in 10 features, it is few in
// clusters and many in a ball. So it is counted for some queries.
constexpr int most_tree_features = fewest_for_lanes - 1;
constexpr std::int64_t queries_worth_a_tree = 4096;
constexpr std::int64_t least_visits = 64, leaves_of_a_visit = 12;
constexpr std::int64_t n_trials = 64;
// The number of points in the tree that a thread searches for at a time.
constexpr std::int64_t points_of_item = 256;
// An item of work has at most this many products. It then takes less than a second.
constexpr double most_products = 1e10;
// The shift is the mean of at most this many rows.
constexpr std::int64_t most_rows_of_shift = 1024;
// Lists of features have at most this many CSR rows and about this many numbers.
constexpr std::int64_t most_listed_rows = 8192, most_listed_numbers = 1 << 22;
constexpr std::int64_t sparse_queries_of_item = 16;

std::int64_t divided_up(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }

/// Part `number` of n items, `size` to a part.
RowRange part_of(std::int64_t n, std::int64_t size, std::int64_t number) {
  return {number * size, std::min(n, (number + 1) * size)};
}

/// Lists without rows, with their memory.
struct OwnedLists {
  OwnedLists(std::int64_t n, int n_nearest)
      : squared(n * n_nearest), rows(n * n_nearest), view{n_nearest, squared.get(), rows.get()} {
    std::fill_n(squared.get(), squared.size(), infinity);
    std::fill_n(rows.get(), rows.size(), no_row);
  }
  Buffer<double> squared;
  Buffer<std::int64_t> rows;
  NeighborLists view;
};

/// `FeatureLists` with their memory.
class ListedRows {
 public:
  ListedRows(const RowSource& source, RowRange rows, double scale)
      : starts_(source.n_features + 1),
        places_(source.indptr[rows.last] - source.indptr[rows.first]),
        values_(places_.size()) {
    view = {rows, starts_.get(), places_.get(), values_.get()};
    if (source.wide_indices) {
      fill(source, static_cast<const std::int64_t*>(source.indices), scale);
    } else {
      fill(source, static_cast<const std::int32_t*>(source.indices), scale);
    }
  }

  FeatureLists view{};

 private:
  template <class Index>
  void fill(const RowSource& source, const Index* indices, double scale) {
    const std::int64_t *indptr = source.indptr, D = source.n_features;
    std::fill_n(starts_.get(), D + 1, 0);
    const std::int64_t begin = indptr[view.rows.first], end = indptr[view.rows.last];
    for (std::int64_t e = begin; e < end; e++) starts_[indices[e]]++;
    std::int64_t total = 0;
    for (std::int64_t j = 0; j <= D; j++) total += std::exchange(starts_[j], total);
    for (std::int64_t i = view.rows.first; i < view.rows.last; i++) {
      const double factor = source.factor_of(i);
      for (std::int64_t e = indptr[i]; e < indptr[i + 1]; e++) {
        const double value =
            source.is_single()
                ? static_cast<float>(reinterpret_cast<const float*>(source.data)[e] * factor)
                : reinterpret_cast<const double*>(source.data)[e] * factor;
        const std::int64_t at = starts_[indices[e]]++;
        places_[at] = static_cast<std::int32_t>(i - view.rows.first);
        values_[at] = static_cast<float>(value * scale);
      }
    }
    // Each start is now that of the next feature.
    for (std::int64_t j = D; j > 0; j--) starts_[j] = starts_[j - 1];
    starts_[0] = 0;
  }

  Buffer<std::int64_t> starts_;
  Buffer<std::int32_t> places_;
  Buffer<float> values_;
};

/// One search: the rows nearest to each query.
class NeighborSearch {
 public:
  NeighborSearch(const Rows& rows, const Rows* others, const NeighborLists& lists)
      : rows_(rows), queries_(others ? *others : rows), exclude_own_(!others), lists_(lists) {
    const double n_pairs =
        static_cast<double>(rows.n_rows()) * static_cast<double>(queries_.n_rows());
    // The products of 16 numbers take as long as reading one.
    n_threads_ = rows.threads_for(n_pairs * (n_features() + 16.0) / 16.0);
  }

  void run() {
    if (rows_.n_rows() == 0 || queries_.n_rows() == 0) return;
    if (rows_.source.is_sparse()) {
      by_features();
    } else if (!in_tree()) {
      by_products();
    }
  }

 private:
  int n_features() const { return rows_.n_features(); }

  /// Searches in a tree, or returns false if products are faster.
  bool in_tree() {
    const std::int64_t n = queries_.n_rows();
    if (n_features() > most_tree_features) return false;
    if (n < std::min(rows_.n_rows() / 8, queries_worth_a_tree)) return false;
    std::vector<std::int64_t> order(static_cast<std::size_t>(rows_.n_rows()));
    std::iota(order.begin(), order.end(), 0);
    const TreeLayout layout(rows_, order);
    const LeafTree& tree = layout.view;
    const std::int64_t most_visits = least_visits + tree.n_leaves / leaves_of_a_visit;
    if (tree.n_leaves > most_visits && visits_of_query(tree) > most_visits) return false;
    parallel_for(n_threads_, divided_up(n, points_of_item), [&](int, std::int64_t item) {
      search_tree(tree, part_of(n, points_of_item, item), lists_);
    });
    return true;
  }

  /// The number of leaves that a query visits, in the mean over some queries.
  std::int64_t visits_of_query(const LeafTree& tree) const {
    const std::int64_t n = queries_.n_rows(), k = lists_.n_nearest;
    const std::int64_t step = divided_up(n, n_trials);
    std::int64_t n_visited = 0;
    for (std::int64_t q = 0; q < n; q += step) {
      n_visited += search_tree(tree, {q, q + 1}, lists_);
      const std::int64_t list = exclude_own_ ? tree.order[q] : q;
      std::fill_n(lists_.squared + list * k, k, infinity);
      std::fill_n(lists_.rows + list * k, k, no_row);
    }
    return n_visited / divided_up(n, step);
  }

  std::int64_t search_tree(const LeafTree& tree, RowRange range, const NeighborLists& lists) const {
    const std::int64_t n = range.last - range.first, D = n_features();
    const Buffer<double> points(n * D);
    if (!exclude_own_) {
      kernels().read(queries_.source, range, points.get());
      return kernels().in_tree(tree, {points.get(), n, nullptr}, from(lists, range.first));
    }
    // Rows in the order of the leaves, so that the same leaves are visited one after the other.
    for (std::int64_t p = 0; p < n; p++) {
      const std::int64_t place = range.first + p;
      const double* columns = tree.columns + place / leaf_rows * D * leaf_rows;
      for (std::int64_t j = 0; j < D; j++) {
        points[p * D + j] = columns[j * leaf_rows + place % leaf_rows];
      }
    }
    return kernels().in_tree(tree, {points.get(), n, tree.order + range.first}, lists);
  }

  void by_products() {
    const std::int64_t n_rows = rows_.n_rows(), n = queries_.n_rows(), D = n_features();
    const std::int64_t size = queries_at_once(D), n_blocks = divided_up(n, size);
    const Buffer<double> shift = mean_of_some_rows();
    const Buffer<double> norms = norms_of(shift.get());
    const ScoreTask task{&queries_.source, exclude_own_, shift.get(), scale_of(norms), norms.get()};
    std::vector<Buffer<char>> buffers(static_cast<std::size_t>(rows_.n_threads));
    const auto search = [&](int worker, std::int64_t block, RowRange among,
                            const NeighborLists& lists) {
      if (!buffers[worker]) buffers[worker] = Buffer<char>(score_buffer_size(D));
      const RowRange range = part_of(n, size, block);
      kernels().by_products(rows_.source, task, range, among, buffers[worker].get(),
                            from(lists, range.first));
    };
    if (n_threads_ == 1 || n_blocks >= 4 * n_threads_) {
      const double most_rows = most_products / static_cast<double>(size * D);
      const std::int64_t chunk = std::max<std::int64_t>(static_cast<std::int64_t>(most_rows), 4096);
      for (std::int64_t c = 0; c < divided_up(n_rows, chunk); c++) {
        parallel_for(n_threads_, n_blocks, [&](int worker, std::int64_t b) {
          search(worker, b, part_of(n_rows, chunk, c), lists_);
        });
      }
      return;
    }
    // There are few queries: threads share the rows, each with its own lists.
    const std::int64_t n_parts = divided_up(4 * n_threads_, n_blocks);
    const std::int64_t share = divided_up(n_rows, n_parts);
    std::vector<OwnedLists> parts;
    parts.reserve(n_parts);
    for (std::int64_t p = 0; p < n_parts; p++) parts.emplace_back(n, lists_.n_nearest);
    parallel_for(n_threads_, n_blocks * n_parts, [&](int worker, std::int64_t item) {
      const RowRange among = part_of(n_rows, share, item % n_parts);
      if (among.first < among.last) {
        search(worker, item / n_parts, among, parts[item % n_parts].view);
      }
    });
    merge(parts);
  }

  void by_features() {
    const std::int64_t n_rows = rows_.n_rows(), n = queries_.n_rows(), D = n_features();
    const Buffer<double> norms = norms_of(nullptr);
    const ScoreTask task{&queries_.source, exclude_own_, nullptr, scale_of(norms), norms.get()};
    const std::int64_t* indptr = rows_.source.indptr;
    std::vector<Buffer<char>> buffers(static_cast<std::size_t>(rows_.n_threads));
    std::int64_t first = 0;
    while (first < n_rows) {
      std::int64_t last = first + 1;
      while (last < n_rows && last - first < most_listed_rows &&
             indptr[last + 1] - indptr[first] <= most_listed_numbers) {
        last++;
      }
      const ListedRows listed(rows_.source, {first, last}, task.scale);
      parallel_for(
          n_threads_, divided_up(n, sparse_queries_of_item), [&](int worker, std::int64_t item) {
            if (!buffers[worker]) {
              buffers[worker] = Buffer<char>(sparse_score_buffer_size(D, most_listed_rows));
              std::fill_n(reinterpret_cast<double*>(buffers[worker].get()), D, 0.0);
            }
            const RowRange range = part_of(n, sparse_queries_of_item, item);
            kernels().by_features(rows_.source, task, range, listed.view, buffers[worker].get(),
                                  from(lists_, range.first));
          });
      first = last;
    }
  }

  static NeighborLists from(const NeighborLists& lists, std::int64_t first) {
    const std::int64_t at = first * lists.n_nearest;
    return {lists.n_nearest, lists.squared + at, lists.rows + at};
  }

  Buffer<double> mean_of_some_rows() const {
    const std::int64_t n_rows = rows_.n_rows(), D = n_features();
    const std::int64_t step = divided_up(n_rows, most_rows_of_shift), n = divided_up(n_rows, step);
    Buffer<double> mean(D);
    const Buffer<double> row(D);
    std::fill_n(mean.get(), D, 0.0);
    for (std::int64_t i = 0; i < n_rows; i += step) {
      kernels().read(rows_.source, {i, i + 1}, row.get());
      for (std::int64_t j = 0; j < D; j++) mean[j] += row[j] / static_cast<double>(n);
    }
    return mean;
  }

  Buffer<double> norms_of(const double* shift) const {
    Buffer<double> norms(rows_.n_rows());
    parallel_for(rows_.threads_for(rows_.size()), static_cast<std::int64_t>(rows_.blocks.size()),
                 [&](int, std::int64_t b) {
                   const RowRange block = rows_.blocks[b];
                   const Buffer<double> row(n_features());
                   kernels().norms(rows_.source, block, shift, row.get(),
                                   norms.get() + block.first);
                 });
    return norms;
  }

  /// The power of 2 by which the largest of these squared norms is between 1/4 and 1. If squares
  /// overflow or underflow, it returns 0, and sets the norms to 0: there will be no scores.
  static double scale_of(const Buffer<double>& norms) {
    const double largest = *std::max_element(norms.get(), norms.get() + norms.size());
    if (largest > 1e-250 && largest < 1e250) {
      int exponent = 0;
      std::frexp(std::sqrt(largest), &exponent);
      return std::ldexp(1.0, -exponent);
    }
    std::fill_n(norms.get(), norms.size(), 0.0);
    return 0.0;
  }

  /// Merges the lists of several parts of the rows.
  void merge(const std::vector<OwnedLists>& parts) const {
    std::vector<std::pair<double, std::int64_t>> all;
    const std::int64_t k = lists_.n_nearest;
    for (std::int64_t q = 0; q < queries_.n_rows(); q++) {
      all.clear();
      for (const OwnedLists& part : parts) {
        for (std::int64_t e = q * k; e < (q + 1) * k; e++) {
          all.emplace_back(part.squared[e], part.rows[e]);
        }
      }
      std::nth_element(all.begin(), all.begin() + (k - 1), all.end());
      for (std::int64_t e = 0; e < k; e++) {
        lists_.squared[q * k + e] = all[e].first;
        lists_.rows[q * k + e] = all[e].second;
      }
    }
  }

  const Rows &rows_, &queries_;
  bool exclude_own_;
  NeighborLists lists_;
  int n_threads_ = 1;
};

/// Sorts each list by distance, then by index, and takes the roots of the squares.
void finish(const NeighborLists& lists, std::int64_t n, int n_threads) {
  constexpr std::int64_t size = 4096;
  const std::int64_t k = lists.n_nearest;
  parallel_for(n_threads, divided_up(n, size), [&](int, std::int64_t item) {
    std::vector<std::pair<double, std::int64_t>> list(static_cast<std::size_t>(k));
    const RowRange range = part_of(n, size, item);
    for (std::int64_t q = range.first; q < range.last; q++) {
      double* squared = lists.squared + q * k;
      std::int64_t* rows = lists.rows + q * k;
      for (std::int64_t e = 0; e < k; e++) list[e] = {squared[e], rows[e]};
      std::sort(list.begin(), list.end());
      for (std::int64_t e = 0; e < k; e++) {
        squared[e] = std::sqrt(list[e].first);
        rows[e] = list[e].second;
      }
    }
  });
}

nb::tuple nearest_rows(Rows& rows, int n_nearest, Rows* queries) {
  const std::int64_t n_available = queries ? rows.n_rows() : rows.n_rows() - 1;
  const std::int64_t n = queries ? queries->n_rows() : rows.n_rows();
  if (n_nearest < 1 || n_nearest > n_available) {
    throw nb::value_error(("n_nearest must be from 1 to " + std::to_string(n_available) +
                           ", the number of rows to choose from, got " + std::to_string(n_nearest) +
                           ".")
                              .c_str());
  }
  if (queries && queries->n_features() != rows.n_features()) {
    throw nb::value_error(("queries must have the " + std::to_string(rows.n_features()) +
                           " features of the rows, got " + std::to_string(queries->n_features()) +
                           ".")
                              .c_str());
  }
  const std::int64_t n_found = n * n_nearest;
  auto* squared = new double[static_cast<std::size_t>(n_found) + 1];
  const nb::capsule own_squared = owner_of(squared);
  auto* found = new std::int64_t[static_cast<std::size_t>(n_found) + 1];
  const nb::capsule own_found = owner_of(found);
  {
    nb::gil_scoped_release release;
    std::fill_n(squared, n_found, infinity);
    std::fill_n(found, n_found, no_row);
    const NeighborLists lists{n_nearest, squared, found};
    NeighborSearch(rows, queries, lists).run();
    finish(lists, n, rows.threads_for(8.0 * static_cast<double>(n_found)));
  }
  const std::size_t shape[] = {static_cast<std::size_t>(n), static_cast<std::size_t>(n_nearest)};
  return nb::make_tuple(
      nb::ndarray<nb::numpy, double, nb::ndim<2>>(squared, 2, shape, own_squared),
      nb::ndarray<nb::numpy, std::int64_t, nb::ndim<2>>(found, 2, shape, own_found));
}

}  // namespace

void bind_neighbors(nb::module_& m) {
  using nb::arg;
  m.def("nearest_rows", &nearest_rows, arg("rows"), arg("n_nearest"),
        arg("queries").none() = nb::none());
}

}  // namespace modeclust
