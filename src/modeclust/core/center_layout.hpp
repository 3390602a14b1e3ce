// Centers laid out for the kernels.
#pragma once

#include <vector>

#include "assign.hpp"
#include "dataset.hpp"

namespace modeclust {

/// |a - b|.
double distance(const double* a, const double* b, std::int64_t n);

/// The centers of a pass in the layouts that kernels read. Memory is reused in the next pass.
class CenterLayout {
 public:
  /// Copies the centers (K, D), rounded to float32 if distances are computed in float32, and
  /// computes their distances to the centers `before`, if these have the same shape.
  void set_centers(const double* centers, int n_clusters, const RowSource& source, int n_threads,
                   const std::vector<double>& before);
  /// Assigns slots: neighbouring ones for centers near each other if `grouped`, else by label.
  void group_centers(bool grouped);
  /// Lays out the centers in their slots.
  void lay_out();

  /// Frees the memory of the centers; they keep their slots.
  void free_centers();

  /// The copied centers (K, D). They may be swapped with other memory after `lay_out`.
  std::vector<double>& exact() { return exact_; }
  int n_clusters() const { return n_clusters_; }
  /// The number of centers in a group.
  int group_size() const { return single_ ? 16 : 8; }
  int n_groups() const { return n_slots_ / group_size(); }
  int label_at(int slot) const { return label_at_[slot]; }
  /// The distance of each center to the previous one.
  const std::vector<double>& moves() const { return moves_; }
  /// Whether centers are rounded to float32, because distances are computed in float32.
  bool is_rounded() const { return single_ && !sparse_ && n_features_ >= fewest_single_features; }
  const Centers& view() const { return view_; }

 private:
  template <class T>
  void lay_out_dense();
  template <class M>
  void lay_out_rows();
  void lay_out_sparse();

  int n_clusters_ = 0, n_features_ = 0, n_slots_ = 0;
  bool single_ = false, sparse_ = false;
  int n_threads_ = 1;
  std::vector<double> exact_;
  std::vector<std::int32_t> slot_of_, label_at_;
  std::vector<double> norms_, moves_;
  Buffer<char> rows_, shifted_, panels_, offsets_, shift_;
  Centers view_;
};

}  // namespace modeclust
