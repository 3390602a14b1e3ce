// Kernels that compare rows with given centers: distances, kernel values, soft sums, and densities
// between centers.
#pragma once

#include "rows.hpp"
#include "variants.hpp"

namespace modeclust {

/// Number of centers in a panel: the lanes of two vectors.
constexpr int panel_centers = 16;
/// Number of rows in a tile.
constexpr int tile_rows = 32;
/// With fewer features, the lanes of a vector are rows or centers; otherwise they are features.
constexpr int fewest_for_long_rows = 33;

/// The centers in the layouts that kernels read.
struct MeasuredCenters {
  int n_clusters = 0, n_features = 0;
  const double* rows = nullptr;    // (K, D)
  const double* norms = nullptr;   // (K,) squared
  const double* panels = nullptr;  // (ceil(K / 16), D, 16), padded with zeros; or null
};

/// The measure that is written for each row and center.
enum class Measure { distance_as_float, distance, kernel_value };

struct MeasureTask {
  MeasuredCenters centers;  // with panels
  Measure measure = Measure::distance;
  KernelName kernel = KernelName::gaussian;  // for kernel values
  double inverse_squared_bandwidth = 0.0;
};

/// A pass with memberships: row i is in cluster k with the weight q z_ik.
struct SoftTask {
  MeasuredCenters centers;
  const double* memberships = nullptr;  // (N, K)
  KernelName kernel = KernelName::gaussian;
  double inverse_squared_bandwidth = 0.0;
  std::int64_t first_row = 0;
};

/// The sums of a mode pass over some rows.
struct SoftResult {
  double* reference;         // (K,)
  double* mass;              // (K,)
  double* totals;            // (K, D)
  std::int64_t* counts;      // (K,) rows with a positive membership
  std::int64_t* nearest;     // (K,) the nearest row of positive weight; -1 if there is none
  double* nearest_distance;  // (K,) squared; infinity if there is none
  double objective = 0.0, inertia = 0.0, weight = 0.0;
};

/// Segments between centers. End 2 p is the first center of pair p, end 2 p + 1 the second.
struct SegmentTask {
  MeasuredCenters centers;
  const std::int32_t* labels = nullptr;  // (N,)
  const std::int64_t* edges = nullptr;   // (K + 1,) where the ends of each cluster start in `ends`
  const std::int64_t* ends = nullptr;    // (2 P,)
  const double* directions = nullptr;    // (2 P, D) the other end minus this end
  const double* bases = nullptr;         // (2 P,) center . direction
  const double* squared_lengths = nullptr;  // (2 P,)
  const double* fractions = nullptr;        // (2, G padded): from the first center, from the second
  int n_fractions = 0;
  KernelName kernel = KernelName::gaussian;
  double inverse_squared_bandwidth = 0.0;
  bool on_sphere = false;  // whether rows and centers have length 1
  std::int64_t step = 1;   // only rows 0, step, 2 step, ... count
};

struct MeasureKernels {
  /// Writes a measure of each row and center to out, whose first row is row range.first.
  void (*measure)(const RowSource&, const RowWeights&, const MeasureTask&, RowRange, double* buffer,
                  void* out);
  /// Writes the squared distance of each row to its own center to out[i - range.first].
  void (*own)(const RowSource&, const MeasuredCenters&, const std::int32_t* labels, RowRange,
              double* buffer, double* out);
  /// Writes the sums of some rows.
  void (*soft)(const RowSource&, const RowWeights&, const SoftTask&, RowRange, double* buffer,
               SoftResult&);
  /// Adds the kernel values of some rows along the segments of their clusters to densities (P, G).
  void (*segments)(const RowSource&, const RowWeights&, const SegmentTask&, RowRange,
                   double* buffer, double* densities);
};

/// The size of the buffer of `soft`, in doubles; the other kernels need less.
constexpr std::int64_t measure_buffer_size(std::int64_t n_clusters, std::int64_t n_features) {
  const std::int64_t vectors = n_features < fewest_for_long_rows ? 8 : 1;
  return tile_rows * padded<double>(n_features) + 4 * tile_rows +
         n_clusters * (vectors * padded<double>(n_features) + 40);
}

MODECLUST_DECLARE_TABLES(MeasureKernels, measure_kernels)

}  // namespace modeclust
