// Passes that assign rows to centers and sum them: the types that module and kernels share.
#pragma once

#include "rows.hpp"
#include "variants.hpp"

namespace modeclust {

// Rows of up to this many features are searched in transposed tiles, longer rows by dot products.
constexpr int longest_short_row = 32;
// Distances of float32 rows with at least this many features are computed in float32.
constexpr int fewest_single_features = 64;
// Squared distances with a relative difference below this are a tie; the lower label wins.
constexpr double tie = 1e-12;

/// The centers of a pass, laid out for rows of number type T.
///
/// If distances are computed in float32, the centers are rounded to float32 first: labels,
/// distances and bounds are those of the rounded centers. Centers of a group, which are near each
/// other, have neighbouring slots.
struct Centers {
  int n_clusters = 0, n_features = 0;
  int n_slots = 0;                // K rounded up to whole vectors of T
  int stride = 0;                 // D rounded up to whole vectors of T
  const double* exact = nullptr;  // (K, D) by label
  const void* rows = nullptr;     // (n_slots, row_stride) by slot, in the type of distances
  int row_stride = 0;
  const void* shifted = nullptr;  // (n_slots, stride) in T by slot, minus `shift`
  const void* panels = nullptr;   // (n_slots / lanes, D, lanes) in T by slot, minus `shift`
  const void* offsets = nullptr;  // (n_slots,) in T: the score of a center is offset - 2 x.c
  const void* shift = nullptr;    // (stride,) in T, the mean of the centers
  const std::int32_t* slot_of = nullptr;   // (K,)
  const std::int32_t* label_at = nullptr;  // (n_slots,); -1 for a slot without a center
  double largest_norm = 0.0;               // the largest |c|
  double largest_shifted_norm = 0.0;       // the largest |c - shift|
  double largest_offset = 0.0;             // the largest |offset|
  // For CSR rows:
  const double* norms = nullptr;   // (K,) |c|^2
  const float* columns = nullptr;  // (D, n_slots)
};

/// Labels of the rows, and bounds on their distances, from earlier passes.
///
/// The distance of a row with label k to its own center is at most upper + own_shift[k]. The
/// distance to every other center is at least lower - max_shift[k] (Hamerly 2010). The distance to
/// every other center of group g is at least group_lower[g] - group_shift[g] (Ding et al. 2015).
struct RowState {
  std::int32_t* labels = nullptr;  // (N,)
  float* lower = nullptr;          // (N,)
  float* upper = nullptr;          // (N,) in K-means passes
  float* group_lower = nullptr;    // (N, G) or null
  int n_groups = 0;
  const double* half_gaps = nullptr;    // (K,) half the distance to the nearest other center, or 0
  const double* max_shift = nullptr;    // (K,) upper bound on the moves of other centers since then
  const double* own_shift = nullptr;    // (K,) upper bound on the move of each center since then
  const double* group_shift = nullptr;  // (G,) upper bound on the moves in each group since then
  bool has_bounds = false;
};

/// The sums of a mode pass over some rows, by cluster.
///
/// The weight of a row is q g(t) / s^2 / g(reference). The reference is near the smallest t of the
/// cluster, so that at no bandwidth all weights underflow.
struct ModeSums {
  double* reference;           // (K,) infinity without rows
  double* mass;                // (K,) sum of weights
  double* mass_squared;        // (K,) sum of weight^2 / q: a row of weight 2 counts as two rows
  double* totals;              // (K, totals_stride) sum of weight x
  std::int64_t* counts;        // (K,) rows with this label that are not left out
  std::int64_t* nearest;       // (K,) the row nearest to the center; -1 without rows
  double* nearest_distance;    // (K,) its squared distance
  std::uint8_t* also_reached;  // (K,) whether the kernel reaches a row at `also_at`
  double also_objective;       // sum of q G(t) at `also_at`
  double objective;            // sum of q G(t)
  double inertia;              // sum of q |x - c|^2 / s^2
  double weight;               // sum of q
  double lower_sum;            // sum of the lower bounds of rows that were searched
  std::int64_t changed;        // rows whose label changed
  std::int64_t searched;       // rows whose nearest center had to be searched
};

/// One mode pass.
struct ModePass {
  RowSource source;
  RowWeights weights;
  Centers centers;
  RowState state;
  KernelName kernel = KernelName::gaussian;
  double inverse_squared_bandwidth = 0.0;  // 0 is an infinite bandwidth: K-means
  // (K,) by which it is multiplied; null means 1. If it is negative, and labels are kept, the rows
  // of the cluster are left out.
  const double* cluster_factors = nullptr;
  double also_at = -1.0;  // the previous bandwidth, for its objective; < 0 if none
  bool reassign = true;
  double* squared_out =
      nullptr;                // (N,) the squared distances to the own centers; null if not wanted
  double negligible = 100.0;  // rows with t above the smallest of the cluster by this are ignored
  std::int64_t first_row = 0;
};

/// The sums of a K-means pass over some rows, or their changes since the last pass.
struct MeanSums {
  double* mass;          // (K,) sum of q / s^2
  double* totals;        // (K, totals_stride)
  std::int64_t* counts;  // (K,) rows of positive weight
  double lower_sum;
  std::int64_t changed, searched, read;
};

/// One K-means pass.
struct MeanPass {
  RowSource source;
  RowWeights weights;
  Centers centers;
  RowState state;
  bool only_changes = false;  // whether to sum only the changes of labels
};

/// The stride of (K, D) sums, in doubles.
MODECLUST_INLINE constexpr std::int64_t totals_stride(std::int64_t n_features) {
  return (n_features + 15) / 16 * 16;
}

struct AssignKernels {
  /// Bytes of working memory for a block of dense rows.
  std::int64_t (*workspace)(const RowSource&, int n_clusters, int n_groups);
  /// Adds the dense rows of a block to sums, which are empty at first.
  void (*mode_block)(const ModePass&, RowRange, void* workspace, ModeSums&);
  void (*mean_block)(const MeanPass&, RowRange, void* workspace, MeanSums&);
  /// Writes half the distance of each center in a range to the nearest other center, or less.
  void (*half_gaps)(const Centers&, bool single, int first, int last, double* out);
  /// Adds sums of the clusters first to last - 1, after rescaling both to the smaller reference.
  void (*merge)(KernelName, ModeSums& total, const ModeSums& other, int first, int last,
                std::int64_t n_features, std::int64_t stride, std::int64_t other_stride);
};

MODECLUST_DECLARE_TABLES(AssignKernels, assign_kernels)

}  // namespace modeclust
