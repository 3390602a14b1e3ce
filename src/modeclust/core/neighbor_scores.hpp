// Nearest rows by dot products, for rows of many features.
//
// With x' = (x - shift) scale, |x' - q'|^2 = |q'|^2 + score, where score = |x'|^2 - 2 q'.x'. A row
// can only be a neighbour if its score is below the limit of the query: d^2 scale^2 - |q'|^2, with
// d the distance of the farthest neighbour so far. For each such row, differences decide.
//
// Rounding. Let u be half the distance from 1 to the next number of the type of scores. By the
// rounding of x' and q', |x' - q'|^2 changes by at most 6 u (|x'|^2 + |q'|^2), the products change
// the score by at most D u (|x'|^2 + |q'|^2), and the last operations by 3 u of it. So scores are
// computed with |x'|^2 (1 - m) and limits with |q'|^2 (1 - m), for a margin m above (D + 9) u. It
// also covers the rounding of distances by differences.
#pragma once

#include "neighbor_lists.hpp"
#include "products.hpp"
#include "row_distances.hpp"

namespace modeclust {
namespace {

template <class S>
constexpr double rounding_unit = sizeof(S) == 4 ? 0x1p-24 : 0x1p-53;
/// Products in S of numbers up to 1 that underflow are below this.
template <class S>
constexpr double underflow = sizeof(S) == 4 ? 1e-33 : 1e-290;
/// A query with a larger |q'|^2 is compared with all rows by differences.
constexpr double largest_query = 1e30;
/// Scores in float32 are replaced by doubles if they let through one row in this many that is not
/// near enough: the differences then take longer than more exact scores.
constexpr std::int64_t most_wasted = 32;

template <class S>
double score_margin(double n_terms) {
  return (n_terms + 16.0) * rounding_unit<S> + (n_terms + 64.0) * rounding_unit<double>;
}

/// |x - q|^2 of dense rows. Few features are added one by one, as in the leaves of a tree.
template <class T>
MODECLUST_INLINE double neighbor_distance(const T* x, const double* query, int n_features) {
  if (n_features >= fewest_for_lanes) return squared_difference(x, query, n_features);
  double total = 0.0;
  for (int j = 0; j < n_features; j++) {
    const double difference = static_cast<double>(x[j]) - query[j];
    total += difference * difference;
  }
  return total;
}

/// An upper bound in S on the scores of rows that may be nearer than `squared` to a query.
template <class S>
MODECLUST_INLINE S score_limit(double squared, double query_norm, const ScoreTask& task) {
  if (!(squared < __builtin_inf())) return static_cast<S>(__builtin_inf());
  const double limit = squared * (task.scale * task.scale) - query_norm;
  return static_cast<S>(limit + 4.0 * rounding_unit<S> * __builtin_fabs(limit) + underflow<S>);
}

/// A number of x' or q'.
template <class S>
MODECLUST_INLINE S shifted_number(double value, double shift, double scale) {
  return scale == 0.0 ? S(0) : static_cast<S>((value - shift) * scale);
}

/// The queries of a block and the rows of a tile, in the layouts for scores of type S.
template <class T, class S>
struct ScoreBlock {
  static constexpr int L = lanes<S>;
  using V = Vec<S, L>;

  const DenseRows<T>& rows;
  const ScoreTask& task;
  const NeighborLists& lists;
  RowRange range;  // of the queries
  int n_features;
  double margin;
  double* queries;      // (n, D)
  double* query_norms;  // (n,) |q'|^2 (1 - m)
  S* limits;            // (n padded,) of the scores
  S* panels;            // (n padded / L, D, L) q'
  T* tile_buffer;       // (rows_at_once, D) rows that had to be converted
  S* shifted;           // (rows_at_once, D) x'
  std::int64_t n_wasted = 0;

  ScoreBlock(const DenseRows<T>& r, const ScoreTask& t, RowRange q, char* buffer,
             const NeighborLists& l)
      : rows(r),
        task(t),
        lists(l),
        range(q),
        n_features(r.source.n_features),
        margin(score_margin<S>(r.source.n_features)) {
    const std::int64_t n = queries_at_once(n_features), m = rows_at_once(n_features);
    const auto take = [&](std::int64_t bytes) {
      char* found = buffer;
      buffer += (bytes + 63) / 64 * 64;
      return found;
    };
    queries = reinterpret_cast<double*>(take(n * n_features * 8));
    query_norms = reinterpret_cast<double*>(take(n * 8));
    limits = reinterpret_cast<S*>(take(n * 8));
    panels = reinterpret_cast<S*>(take(n * n_features * static_cast<std::int64_t>(sizeof(S))));
    tile_buffer = reinterpret_cast<T*>(take(m * n_features * 8));
    shifted = reinterpret_cast<S*>(take(m * n_features * 8));
  }

  int n_queries() const { return static_cast<int>(range.last - range.first); }
  int n_padded() const { return static_cast<int>(padded<S>(n_queries())); }
  NeighborList list(int q) const { return {lists, q}; }
  S limit_of(int q) const { return score_limit<S>(list(q).limit(), query_norms[q], task); }

  /// Lays out the queries, which have been read.
  void set_queries() {
    for (int q = 0; q < n_padded(); q++) {
      S* panel = panels + static_cast<std::int64_t>(q / L) * n_features * L + q % L;
      const double* query = queries + static_cast<std::int64_t>(q) * n_features;
      double norm = q < n_queries() ? squared_difference(query, task.shift, n_features) : 0.0;
      norm *= task.scale * task.scale;
      const bool is_usable = q < n_queries() && norm < largest_query && task.scale > 0.0;
      for (int j = 0; j < n_features; j++) {
        panel[static_cast<std::int64_t>(j) * L] =
            is_usable ? shifted_number<S>(query[j], task.shift[j], task.scale) : S(0);
      }
      if (q < n_queries()) {
        query_norms[q] = is_usable ? norm * (1.0 - margin) : -__builtin_inf();
        limits[q] = limit_of(q);
      } else {
        limits[q] = static_cast<S>(-__builtin_inf());
      }
    }
  }

  /// Compares all queries with the rows first to first + n - 1.
  void compare(std::int64_t first, int n) {
    const DenseTile<T> tile = rows.tile(first, n, tile_buffer);
    for (int m = 0; m < n; m++) {
      const T* x = tile.row(m);
      S* out = shifted + static_cast<std::int64_t>(m) * n_features;
      for (int j = 0; j < n_features; j++) {
        out[j] = shifted_number<S>(static_cast<double>(x[j]), task.shift[j], task.scale);
      }
    }
    const int n_panels = n_padded() / L;
    int g = 0;
    for (; g + product_panels <= n_panels; g += product_panels) {
      compare_panels<product_panels>(tile, first, n, g);
    }
    for (; g < n_panels; g++) compare_panels<1>(tile, first, n, g);
  }

  /// Compares the queries of some panels with the rows of a tile.
  template <int n_panels>
  void compare_panels(const DenseTile<T>& tile, std::int64_t first, int n, int g) {
    const std::int64_t panel_size = static_cast<std::int64_t>(n_features) * L;
    const double factor = task.scale * task.scale * (1.0 - margin);
    S scores[product_rows * n_panels * L];
    const S* x[product_rows];
    S* out[product_rows];
    for (int r = 0; r < product_rows; r++) out[r] = scores + r * n_panels * L;
    for (int m = 0; m < n; m += product_rows) {
      const int n_rows = n - m < product_rows ? n - m : product_rows;
      for (int r = 0; r < product_rows; r++) {
        x[r] = shifted + static_cast<std::int64_t>(m + (r < n_rows ? r : 0)) * n_features;
      }
      panel_product<S, product_rows, n_panels>(x, panels + g * panel_size, panel_size, n_features,
                                               out);
      for (int r = 0; r < n_rows; r++) {
        const V offset = V::splat(static_cast<S>(task.row_norms[first + m + r] * factor));
        for (int p = 0; p < n_panels; p++) {
          const V score = fused_multiply_add(V::splat(S(-2)), V::load(out[r] + p * L), offset);
          const unsigned near = bits_of(score < V::load(limits + (g + p) * L));
          if (near) offer(tile.row(m + r), first + m + r, (g + p) * L, near);
        }
      }
    }
  }

  /// Offers a row to some of the queries from number `q0` on.
  __attribute__((noinline)) void offer(const T* x, std::int64_t row, int q0, unsigned near) {
    for (; near; near &= near - 1) {
      const int q = q0 + __builtin_ctz(near);
      const NeighborList own = list(q);
      if (task.exclude_own && row == range.first + q) continue;
      if (!own.takes(0.0, row)) continue;
      const double* query = queries + static_cast<std::int64_t>(q) * n_features;
      const double squared = neighbor_distance(x, query, n_features);
      if (own.takes(squared, row)) {
        own.insert(squared, row);
        limits[q] = limit_of(q);
      } else {
        n_wasted++;
      }
    }
  }
};

/// Tiles of the rows, in an order that starts near the queries and then jumps: neighbours are found
/// early, whatever the order of the rows.
struct TileOrder {
  RowRange among;
  std::int64_t size, n_tiles, first, step;

  TileOrder(RowRange a, std::int64_t rows_of_tile, std::int64_t start)
      : among(a), size(rows_of_tile), n_tiles((a.last - a.first + size - 1) / size) {
    first = start >= a.first && start < a.last ? (start - a.first) / size : 0;
    step = static_cast<std::int64_t>(0.618 * static_cast<double>(n_tiles));
    const auto common = [](std::int64_t a, std::int64_t b) {
      while (b) {
        const std::int64_t rest = a % b;
        a = b;
        b = rest;
      }
      return a;
    };
    while (step < 1 || common(step, n_tiles) != 1) step++;
  }
  RowRange tile(std::int64_t number) const {
    const std::int64_t index = (first + number * step) % n_tiles;
    const std::int64_t begin = among.first + index * size;
    return {begin, begin + size < among.last ? begin + size : among.last};
  }
};

/// Compares a block of queries with tiles from number `t` on. Returns the number of the first tile
/// that was not compared, because scores of type S are not exact enough.
template <class S, class T>
std::int64_t compare_tiles(ScoreBlock<T, S>& block, const TileOrder& tiles, std::int64_t t) {
  std::int64_t n_pairs = 0;
  block.set_queries();
  while (t < tiles.n_tiles) {
    const RowRange tile = tiles.tile(t++);
    block.compare(tile.first, static_cast<int>(tile.last - tile.first));
    n_pairs += (tile.last - tile.first) * block.n_queries();
    if (sizeof(S) == 4 && block.n_wasted > n_pairs / most_wasted && t > 2) break;
  }
  return t;
}

void by_products(const RowSource& source, const ScoreTask& task, RowRange range, RowRange among,
                 char* buffer, const NeighborLists& lists) {
  const TileOrder tiles(among, rows_at_once(source.n_features), task.exclude_own ? range.first : 0);
  const auto search = [&](auto rows) {
    using T = typename decltype(rows)::Number;
    ScoreBlock<T, float> block(rows, task, range, buffer, lists);
    with_rows(*task.queries, [&](auto queries) {
      read_as_doubles(queries, range.first, block.n_queries(), source.n_features, block.queries);
    });
    const std::int64_t t = compare_tiles(block, tiles, 0);
    if (t == tiles.n_tiles) return;
    ScoreBlock<T, double> again(rows, task, range, buffer, lists);
    compare_tiles(again, tiles, t);
  };
  if (source.is_single()) {
    search(DenseRows<float>{source});
  } else {
    search(DenseRows<double>{source});
  }
}

/// A sparse query: all features, and the features that it has.
struct SparseQuery {
  double* dense;           // (D,) 0 for the other features
  std::int64_t* features;  // (n,)
  double* values;          // (n,)
  std::int64_t* marks;     // (D,) the last row that had a feature
  std::int64_t n;
};

/// |x - q|^2 of CSR row i: its features, then those that only the query has.
template <class Rows>
double sparse_neighbor_distance(const Rows& rows, std::int64_t i, const SparseQuery& query) {
  double total = 0.0;
  const double factor = rows.factor(i);
  for (std::int64_t e = rows.begin(i); e < rows.end(i); e++) {
    const std::int64_t j = rows.indices()[e];
    const double difference = rows.value(e, factor) - query.dense[j];
    total += difference * difference;
    query.marks[j] = i;
  }
  for (std::int64_t f = 0; f < query.n; f++) {
    total += query.marks[query.features[f]] == i ? 0.0 : query.values[f] * query.values[f];
  }
  return total;
}

/// Reads query i, and returns |q|^2.
template <class Rows>
double read_query(const Rows& rows, std::int64_t i, SparseQuery& query) {
  double norm = 0.0;
  query.n = 0;
  const auto add = [&](std::int64_t j, double value) {
    query.dense[j] = value;
    query.features[query.n] = j;
    query.values[query.n++] = value;
    norm += value * value;
  };
  if constexpr (Rows::is_sparse) {
    const double factor = rows.factor(i);
    for (std::int64_t e = rows.begin(i); e < rows.end(i); e++) {
      add(rows.indices()[e], rows.value(e, factor));
    }
  } else {
    read_as_doubles(rows, i, 1, rows.source.n_features, query.values);
    for (int j = 0; j < rows.source.n_features; j++) {
      if (query.values[j] != 0.0) add(j, query.values[j]);
    }
  }
  return norm;
}

/// Offers the rows of `lists` to query i. `products` has space for their dot products.
template <class Rows>
void compare_sparse(const Rows& rows, const ScoreTask& task, const FeatureLists& by_feature,
                    std::int64_t i, const SparseQuery& query, double norm, float* products,
                    const NeighborList& list) {
  const std::int64_t n_rows = by_feature.rows.last - by_feature.rows.first;
  const double margin = score_margin<float>(static_cast<double>(query.n));
  const double factor = task.scale * task.scale * (1.0 - margin);
  const bool is_usable = norm * task.scale * task.scale < largest_query && task.scale > 0.0;
  const double query_norm = is_usable ? norm * factor : -__builtin_inf();
  for (std::int64_t m = 0; m < n_rows; m++) products[m] = 0.0f;
  for (std::int64_t f = 0; f < query.n && is_usable; f++) {
    const float value = static_cast<float>(query.values[f] * task.scale);
    const std::int64_t end = by_feature.starts[query.features[f] + 1];
    for (std::int64_t e = by_feature.starts[query.features[f]]; e < end; e++) {
      products[by_feature.row_places[e]] += value * by_feature.values[e];
    }
  }
  double limit = score_limit<float>(list.limit(), query_norm, task);
  for (std::int64_t m = 0; m < n_rows; m++) {
    const std::int64_t row = by_feature.rows.first + m;
    const double score = task.row_norms[row] * factor - 2.0 * static_cast<double>(products[m]);
    if (!(score < limit) || (task.exclude_own && row == i) || !list.takes(0.0, row)) continue;
    const double squared = sparse_neighbor_distance(rows, row, query);
    if (!list.takes(squared, row)) continue;
    list.insert(squared, row);
    limit = score_limit<float>(list.limit(), query_norm, task);
  }
}

void by_features(const RowSource& source, const ScoreTask& task, RowRange range,
                 const FeatureLists& by_feature, char* buffer, const NeighborLists& lists) {
  const std::int64_t n_features = source.n_features;
  SparseQuery query{};
  query.dense = reinterpret_cast<double*>(buffer);
  query.features = reinterpret_cast<std::int64_t*>(query.dense + n_features);
  query.values = reinterpret_cast<double*>(query.features + n_features);
  query.marks = reinterpret_cast<std::int64_t*>(query.values + n_features);
  float* products = reinterpret_cast<float*>(query.marks + n_features);
  for (std::int64_t j = 0; j < n_features; j++) query.marks[j] = -1;
  for (std::int64_t i = range.first; i < range.last; i++) {
    double norm = 0.0;
    with_rows(*task.queries, [&](auto queries) { norm = read_query(queries, i, query); });
    with_rows(source, [&](auto rows) {
      if constexpr (decltype(rows)::is_sparse) {
        compare_sparse(rows, task, by_feature, i, query, norm, products, {lists, i - range.first});
      }
    });
    for (std::int64_t f = 0; f < query.n; f++) query.dense[query.features[f]] = 0.0;
  }
}

}  // namespace
}  // namespace modeclust
