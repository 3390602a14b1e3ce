// Kernels that smooth memberships over a graph: a symmetric CSR matrix W, one row for each row.
#pragma once

#include "rows.hpp"
#include "variants.hpp"

namespace modeclust {

/// The graph, in canonical CSR form.
struct GraphSource {
  std::int64_t n_rows = 0;
  const double* data = nullptr;
  const std::int32_t* indices = nullptr;
  const std::int64_t* indptr = nullptr;  // (N + 1,)
};

/// An accelerated gradient step. All arrays are (N, K), except the degrees (N,).
struct DescendTask {
  int n_clusters = 0;
  const double* memberships = nullptr;      // Z
  const double* before = nullptr;           // Z before
  const double* products = nullptr;         // W Z
  const double* products_before = nullptr;  // W Z before
  const double* kernel_values = nullptr;    // g
  const double* degrees = nullptr;
  double smoothing = 0.0, rate = 0.0, momentum = 0.0;
  double* out = nullptr;
};

/// A product with W; all arrays are (N, K).
struct SmoothTask {
  int n_clusters = 0;
  const double* memberships = nullptr;    // Z
  const double* kernel_values = nullptr;  // g
  double smoothing = 0.0, damping = 0.0;
  double* out = nullptr;
};

struct GraphKernels {
  /// Projects rows (n, K) onto the simplex.
  void (*project)(double* rows, std::int64_t n, int n_clusters);
  /// From Y = Z + momentum (Z - Z before), writes Proj(Y - rate (2 smoothing (D Y - W Y) - g)).
  void (*descend)(const DescendTask&, RowRange);
  /// Writes W Z; returns smoothing tr(Z' L Z) - sum z g, of these rows.
  double (*multiply)(const GraphSource&, const SmoothTask&, RowRange);
  /// Writes softmax((g + smoothing W Z + damping log Z) / (1 + damping)); returns the energy of
  /// these rows, sum z log z - sum g z - smoothing / 2 sum w z . z.
  double (*soften)(const GraphSource&, const SmoothTask&, RowRange);
};

MODECLUST_DECLARE_TABLES(GraphKernels, graph_kernels)

}  // namespace modeclust
