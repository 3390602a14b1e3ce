// Passes that assign rows to centers and sum them: what the module and the kernels share.
#pragma once

#include "rows.hpp"
#include "variants.hpp"

namespace modeclust {

// Rows of up to this many features are searched in transposed tiles, longer ones by products.
constexpr int longest_short_row = 32;
// Float32 rows of this many features and more are measured in float32, all others in doubles.
constexpr int fewest_single_features = 64;
// Squared distances that differ by less, relatively, are a tie; the lower label wins it.
constexpr double tie = 1e-12;

/// The centers of a pass, laid out for rows of number type T.
///
/// Where rows are measured in float32, centers are rounded to it first: labels, distances and
/// bounds are those of the rounded centers.
/// Groups of centers that are near each other take slots next to each other.
struct Centers {
  int n_clusters = 0, n_features = 0;
  int n_slots = 0;                // K rounded up to whole vectors of T
  int stride = 0;                 // D rounded up to whole vectors of T
  const double* exact = nullptr;  // (K, D) by label
  const void* rows = nullptr;     // (n_slots, row_stride) by slot, in the type of distances
  int row_stride = 0;
  const void* shifted = nullptr;  // (n_slots, stride) in T by slot, less `shift`
  const void* panels = nullptr;   // (n_slots / lanes, D, lanes) in T by slot, less `shift`
  const void* offsets = nullptr;  // (n_slots,) in T: the score of a center is offset - 2 x.c
  const void* shift = nullptr;    // (stride,) in T, the mean of the centers
  const std::int32_t* slot_of = nullptr;   // (K,)
  const std::int32_t* label_at = nullptr;  // (n_slots,); -1 where there is no center
  double largest_norm = 0.0;               // the largest |c|
  double largest_shifted_norm = 0.0;       // the largest |c - shift|
  double largest_offset = 0.0;             // the largest |offset|
  // For CSR rows:
  const double* norms = nullptr;   // (K,) |c|^2
  const float* columns = nullptr;  // (D, n_slots)
};

/// What is known of the rows from earlier passes.
///
/// The distance of a row with label k to its center is at most upper + own_shift[k], and to every
/// other center at least lower - max_shift[k] (Hamerly 2010); to those of group g, but its own, at
/// least group_lower[g] - group_shift[g] (Yinyang K-means, Ding et al. 2015).
struct RowState {
  std::int32_t* labels = nullptr;  // (N,)
  float* lower = nullptr;          // (N,)
  float* upper = nullptr;          // (N,) in passes of K-means
  float* group_lower = nullptr;    // (N, G) or null
  int n_groups = 0;
  const double* half_gaps = nullptr;    // (K,) half the distance to the nearest other center, or 0
  const double* max_shift = nullptr;    // (K,) how far other centers moved since, at most
  const double* own_shift = nullptr;    // (K,) how far each center moved since, at most
  const double* group_shift = nullptr;  // (G,) how far centers of a group moved, at most
  bool has_bounds = false;
};

/// What a mode pass leaves of some rows, by cluster.
///
/// The weight of a row is q g(t) / s^2 / g(reference), with a reference near the smallest t of the
/// cluster: at no bandwidth do all weights underflow.
struct ModeSums {
  double* reference;           // (K,) infinity with no row
  double* mass;                // (K,) sum of weights
  double* totals;              // (K, totals_stride) sum of weight x
  std::int64_t* counts;        // (K,) rows with this label, whatever their weight
  std::int64_t* nearest;       // (K,) the row nearest to the center, -1 with none
  double* nearest_distance;    // (K,) its squared distance
  std::uint8_t* also_reached;  // (K,) whether the kernel reaches a row at the other bandwidth
  double also_objective;       // sum of q G(t) at the other bandwidth
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
  double also_at = -1.0;                   // another one, for the objective there; below 0: none
  bool reassign = true;
  double negligible = 100.0;  // t this far above the smallest of a cluster makes no difference
  std::int64_t first_row = 0;
};

/// What a pass of K-means leaves of some rows, or how that changed since the last pass.
struct MeanSums {
  double* mass;          // (K,) sum of q / s^2
  double* totals;        // (K, totals_stride)
  std::int64_t* counts;  // (K,) rows of positive weight
  double lower_sum;
  std::int64_t changed, searched, read;
};

/// One pass of K-means.
struct MeanPass {
  RowSource source;
  RowWeights weights;
  Centers centers;
  RowState state;
  bool only_changes = false;  // whether to add only rows whose label changes, and take them off
};

/// The stride of (K, D) sums, in doubles.
constexpr std::int64_t totals_stride(std::int64_t n_features) {
  return (n_features + 15) / 16 * 16;
}

struct AssignKernels {
  /// Bytes of working memory for a block of dense rows.
  std::int64_t (*workspace)(const RowSource&, int n_clusters, int n_groups);
  /// Adds the dense rows of a block to sums, which begin empty.
  void (*mode_block)(const ModePass&, RowRange, void* workspace, ModeSums&);
  void (*mean_block)(const MeanPass&, RowRange, void* workspace, MeanSums&);
  /// Half the distance of the centers in a range to their nearest other one, or less.
  void (*half_gaps)(const Centers&, bool single, int first, int last, double* out);
  /// Brings sums to the smaller of two references and adds them: for clusters first to last - 1.
  void (*merge)(KernelName, ModeSums& total, const ModeSums& other, int first, int last,
                std::int64_t n_features, std::int64_t stride, std::int64_t other_stride);
};

MODECLUST_DECLARE_TABLES(AssignKernels, assign_kernels)

}  // namespace modeclust
