// Passes that assign rows to centers, with the labels and bounds that are kept between passes.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "assign.hpp"
#include "center_layout.hpp"
#include "dataset.hpp"

namespace modeclust {

/// The labels of some rows, and bounds on their distances, which make most searches unnecessary.
///
/// Bounds are a cache: a pass without them gives the same labels and sums.
class Assignment {
 public:
  explicit Assignment(Rows& rows);

  nb::object mode_pass(Rows& rows, Matrix centers, int kernel, double inverse_squared_bandwidth,
                       bool reassign, double also_at, std::optional<Vector> cluster_factors,
                       std::optional<OutVector> squared);
  nb::object mean_pass(Rows& rows, Matrix centers, std::optional<Matrix> after);
  /// Sets labels from 0 to n_clusters - 1, for passes that keep them.
  void set_labels(Rows& rows, const Labels& labels, int n_clusters);
  /// The labels as an array, which keeps them in memory.
  static nb::object labels(const std::shared_ptr<Assignment>& assignment);
  /// Keeps labels and bounds only, and frees everything that a pass can recompute.
  void detach();
  /// Sets the rows after `detach`: the same rows, which may have been read again.
  void attach(Rows& rows);
  bool has_labels() const { return has_labels_; }

 private:
  /// Sets the centers of a pass that assigns; returns its state, with bounds if they are useful.
  RowState begin(const Matrix& centers, bool needs_upper);
  /// Adds the moves of the centers to the shifts; returns whether the bounds are still useful.
  bool carry_bounds();
  void forget_bounds();
  /// Whether the bounds hold for these centers.
  bool is_bound_to(const Matrix& centers) const;
  bool should_group() const;
  void find_half_gaps();
  void check_centers(const Matrix& centers) const;
  /// Throws if the labels were detached from these rows before a pass began. Needs their mutex.
  void check_attached(const Rows& rows) const;
  RowState state() const;
  void run_mode_pass(const ModePass& pass, ModeSums& total);
  void run_mean_pass(const MeanPass& pass, MeanSums& total);
  // Over CSR rows:
  void run_sparse_mode_pass(const ModePass& pass, ModeSums& total);
  void run_sparse_mean_pass(const MeanPass& pass, MeanSums& total);
  /// Writes the rows, sorted by label, to `order_`, and the end of each cluster to `ends_`.
  void sort_rows();
  /// Computes the own distances of the rows of `order_` for which `is_wanted(row)` holds.
  template <class IsWanted>
  void measure_rows(IsWanted is_wanted);
  /// Finds the nearest centers of some rows; returns the number of labels that changed.
  std::int64_t search_rows(const std::vector<std::int64_t>& pending, const RowState& state,
                           double* squared, double* lower_sum);
  /// The number of threads of a pass, each with a workspace.
  int threads();
  void end(double lower_sum);

  Rows* rows_;
  std::int64_t n_rows_;
  int n_features_;
  NumberType type_;
  bool is_sparse_;
  CenterLayout layout_;
  Buffer<std::int32_t> labels_;
  Buffer<float> lower_, upper_, group_lower_;
  std::vector<double> bound_centers_;  // the centers of the last pass that set bounds
  std::vector<double> half_gaps_, max_shift_, own_shift_, group_shift_;
  double mean_lower_bound_ = 0.0;
  int n_labels_ = 0;  // labels are below this
  bool has_labels_ = false, has_bounds_ = false, has_upper_ = false, has_groups_ = false;
  std::vector<Buffer<char>> workspaces_;
  // For CSR rows:
  Buffer<std::int64_t> order_;
  std::vector<std::int64_t> ends_;
  Buffer<double> squared_;
  Buffer<float> columns_;
};

}  // namespace modeclust
