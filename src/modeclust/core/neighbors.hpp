// Kernels that find the nearest rows of queries.
//
// Which rows are found depends only on their squared distances by differences, in doubles, and, if
// these are equal, on their indices. Everything else only excludes rows that cannot be among them.
#pragma once

#include "rows.hpp"
#include "tree.hpp"
#include "variants.hpp"

namespace modeclust {

/// With fewer features, squared differences are added one after the other, otherwise in lanes.
constexpr int fewest_for_lanes = 24;

/// The index of a row that has not been found yet. It comes after all rows at the same distance.
constexpr std::int64_t no_row = INT64_MAX;

/// A list for each query: a heap with the farthest row first.
struct NeighborLists {
  int n_nearest;
  double* squared;     // (n, n_nearest) squared distances; infinity at first
  std::int64_t* rows;  // (n, n_nearest) indices; `no_row` at first
};

/// The search by dot products, which give scores of rows.
struct ScoreTask {
  const RowSource* queries;
  bool exclude_own;         // whether the queries are the rows, and no row is its own neighbour
  const double* shift;      // (D,) a point near the rows, which keeps products small
  double scale;             // x' = (x - shift) scale; 0 if the numbers are too large for scores
  const double* row_norms;  // (N,) |x - shift|^2
};

/// Some CSR rows by features, for the search by dot products of sparse rows.
struct FeatureLists {
  RowRange rows;
  const std::int64_t* starts;      // (D + 1,)
  const std::int32_t* row_places;  // by feature: the number of a row, from 0 on
  const float* values;             // times the scale of the task
};

/// Points in the tree of the rows.
struct TreeTask {
  const double* points;  // (n, D)
  std::int64_t n;
  // (n,) rows that are not their own neighbours, with the numbers of their lists. Null if the
  // points are not rows: point p then has list p.
  const std::int64_t* own;
};

struct NeighborKernels {
  /// Writes rows as doubles to out (n, D).
  void (*read)(const RowSource&, RowRange, double* out);
  /// Writes |x - shift|^2 of each row to norms[i - range.first]. `shift` may be null for CSR rows.
  /// `buffer` has space for a row.
  void (*norms)(const RowSource&, RowRange, const double* shift, void* buffer, double* norms);
  /// Finds neighbours of the queries `range` among the dense rows `among`; list 0 is that of the
  /// first query. `buffer` has `score_buffer_size` bytes.
  void (*by_products)(const RowSource&, const ScoreTask&, RowRange range, RowRange among,
                      char* buffer, const NeighborLists&);
  /// The same for CSR rows. `buffer` has `sparse_score_buffer_size` bytes, and starts with D zeros
  /// of type double; it is left so.
  void (*by_features)(const RowSource&, const ScoreTask&, RowRange range, const FeatureLists&,
                      char* buffer, const NeighborLists&);
  /// Finds neighbours of some points among the rows of a tree. Returns the number of leaves that
  /// were visited.
  std::int64_t (*in_tree)(const LeafTree&, const TreeTask&, const NeighborLists&);
};

/// The number of queries that are searched together by dot products.
constexpr std::int64_t queries_at_once(std::int64_t n_features) {
  const std::int64_t n = (1 << 20) / (8 * n_features);
  return n > 256 ? 256 : n < 32 ? 32 : n / 16 * 16;
}

/// The number of rows that are read together. It is a multiple of all numbers of `product_rows`.
constexpr std::int64_t rows_at_once(std::int64_t n_features) {
  const std::int64_t n = (1 << 17) / (4 * n_features);
  return n > 600 ? 600 : n < 30 ? 30 : n / 30 * 30;
}

/// The size of the buffer of `by_products`: queries and tiles in doubles, each twice, and limits.
constexpr std::int64_t score_buffer_size(std::int64_t n_features) {
  const std::int64_t queries = queries_at_once(n_features), rows = rows_at_once(n_features);
  return 8 * (2 * (queries + rows) * n_features + 2 * queries) + 6 * 64;
}

/// The size of the buffer of `by_features`: a query, marks of features, and products of rows.
constexpr std::int64_t sparse_score_buffer_size(std::int64_t n_features, std::int64_t n_rows) {
  return 4 * 8 * n_features + 4 * n_rows;
}

MODECLUST_DECLARE_TABLES(NeighborKernels, neighbor_kernels)

}  // namespace modeclust
