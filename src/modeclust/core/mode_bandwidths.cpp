#include "mode_bandwidths.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kernel_functions.hpp"
#include "pool.hpp"

namespace modeclust {
namespace {

using Histogram = AlignedArray<const double, nb::shape<-1, -1, 3>>;

// Bins of squared distances: 16 for each power of two, from 2^-20 to 2^6 units.
constexpr int bins_per_octave = 16, n_bins = 26 * bins_per_octave;
constexpr std::int64_t first_bin = (1023 - 20) * bins_per_octave;
constexpr int mantissa_shift = 52 - 4;  // four bits of the mantissa are 16 bins
// Halvings of the logarithm of the bandwidth.
constexpr int n_halvings = 24;
// With a flat kernel, the number of rows jumps where a row is at its edge. Numbers of rows that
// differ by less than this factor count as equal, and the bandwidth found is widened by it, so that
// rounding does not decide.
constexpr double margin = 1.0 + 1e-9;
// Kernels without an edge need at most this many bins of a cluster; if there are more, they are
// joined in pairs.
constexpr std::size_t max_bins = 32;
// Rows are added up in at most this many parts.
constexpr std::int64_t max_parts = 4;
constexpr double infinity = std::numeric_limits<double>::infinity();

int bin_of(double value) {
  const auto bits = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(value));
  return static_cast<int>(
      std::clamp<std::int64_t>((bits >> mantissa_shift) - first_bin, 0, n_bins - 1));
}

/// Adds the rows of a range to a histogram (K, bins, 3).
void add_rows(const Rows& rows, const double* squared, const std::int32_t* labels, double per_unit,
              RowRange range, double* sums) {
  for (std::int64_t i = range.first; i < range.last; i++) {
    const double q = rows.weights.weight_of(i), p = rows.weights.precision_of(i);
    if (!(q > 0.0)) continue;
    const double distance = p * squared[i] * per_unit;
    double* bin = sums + 3 * (std::int64_t{labels[i]} * n_bins + bin_of(distance));
    bin[0] += q * p;
    bin[1] += q * p * p;
    bin[2] += q * p * distance;
  }
}

/// Adds up rows by cluster and squared distance.
///
/// Returns (K, bins, 3): the sums of q p, q p^2 and q p e of the rows in each bin, with the sample
/// weight q, the precision p, and e = p |x - c|^2 in units.
nb::ndarray<nb::numpy, double, nb::ndim<3>> distance_histogram(const Rows& rows, Vector squared,
                                                               Labels labels, int n_clusters,
                                                               double unit) {
  const std::int64_t n = rows.n_rows();
  if (static_cast<std::int64_t>(squared.shape(0)) != n ||
      static_cast<std::int64_t>(labels.shape(0)) != n) {
    throw nb::value_error("squared and labels must have one number for each row.");
  }
  std::int32_t lowest = 0, highest = -1;
  for (std::int64_t i = 0; i < n; i++) {
    lowest = std::min(lowest, labels.data()[i]);
    highest = std::max(highest, labels.data()[i]);
  }
  if (n_clusters < 0 || lowest < 0 || highest >= n_clusters) {
    throw nb::value_error("labels must be numbers of clusters.");
  }
  const std::size_t K = static_cast<std::size_t>(n_clusters), size = 3 * K * n_bins;
  auto* sums = new double[size]();
  nb::capsule owner = owner_of(sums);
  {
    nb::gil_scoped_release release;
    // The number of parts depends on the rows alone, so that every number of threads gives the same
    // bits. There are rows enough in each part to make up for adding its sums.
    const std::int64_t n_parts =
        std::clamp<std::int64_t>(2 * n / static_cast<std::int64_t>(size + 1), 1, max_parts);
    std::vector<std::vector<double>> others(n_parts - 1);
    parallel_for(rows.threads_for(8.0 * static_cast<double>(n)), n_parts,
                 [&](int, std::int64_t part) {
                   if (part > 0) others[part - 1].resize(size);
                   add_rows(rows, squared.data(), labels.data(), 1.0 / unit,
                            {n * part / n_parts, n * (part + 1) / n_parts},
                            part > 0 ? others[part - 1].data() : sums);
                 });
    for (const auto& other : others) {
      for (std::size_t b = 0; b < size; b++) sums[b] += other[b];
    }
  }
  return nb::ndarray<nb::numpy, double, nb::ndim<3>>(sums, {K, static_cast<std::size_t>(n_bins), 3},
                                                     owner);
}

/// One bin of a cluster: rows at about the same distance.
struct Bin {
  double squared;         // |x - c|^2 / s^2
  double weight, square;  // sums of q p and q p^2
};

/// Joins each bin with the next one.
void join_pairs(std::vector<Bin>& bins) {
  for (std::size_t b = 0; b + 1 < bins.size(); b += 2) {
    const Bin &one = bins[b], &next = bins[b + 1];
    const double weight = one.weight + next.weight;
    const double squared = (one.weight * one.squared + next.weight * next.squared) / weight;
    bins[b / 2] = {squared, weight, one.square + next.square};
  }
  if (bins.size() % 2) bins[bins.size() / 2] = bins.back();
  bins.resize((bins.size() + 1) / 2);
}

/// (sum w)^2 / sum w^2 of the rows of a cluster at a bandwidth. The nearest bin is the first.
double rows_averaged(KernelName kernel, const std::vector<Bin>& bins,
                     double inverse_squared_bandwidth) {
  const double reference =
      has_compact_support(kernel) ? 0.0 : bins.front().squared * inverse_squared_bandwidth;
  double sum = 0.0, squares = 0.0;
  for (const Bin& bin : bins) {
    const double g = relative_weight(kernel, bin.squared * inverse_squared_bandwidth, reference);
    sum += bin.weight * g;
    squares += bin.square * g * g;
  }
  return squares > 0.0 ? sum * (sum / squares) : 0.0;
}

/// 1 / bandwidth^2 between `low` and `high` at which a cluster averages the wanted number of rows;
/// 0 if it never averages more.
///
/// Without local scales the number falls with the bandwidth, so the interval can be halved. With
/// them it may rise at first, so that its last fall is searched in steps.
double bandwidth_for_rows(KernelName kernel, const std::vector<Bin>& bins, double low, double high,
                          double wanted, bool scaled) {
  const auto has_more = [&](double inverse_squared_bandwidth) {
    return rows_averaged(kernel, bins, inverse_squared_bandwidth) > wanted * margin;
  };
  if (scaled) {
    double next = high;
    while (next > low && !has_more(next)) {
      high = next;
      next /= std::sqrt(2.0);
    }
    if (!has_more(next)) return 0.0;
    low = next;
  } else if (!has_more(0.0)) {
    return 0.0;
  }
  for (int i = 0; i < n_halvings; i++) {
    const double middle = std::sqrt(low) * std::sqrt(high);
    (has_more(middle) ? low : high) = middle;
  }
  return low;
}

/// The bandwidth at which each cluster averages the wanted number of rows; infinite if it has no
/// more.
nb::ndarray<nb::numpy, double, nb::ndim<1>> bandwidths_for_rows(int kernel, Histogram histogram,
                                                                double unit, Vector wanted) {
  const KernelName name = kernel_of(kernel);
  const std::size_t K = histogram.shape(0), width = histogram.shape(1);
  if (wanted.shape(0) != K) {
    throw nb::value_error("wanted must have one number for each cluster.");
  }
  auto found = new_vector(static_cast<std::int64_t>(K));
  std::vector<Bin> bins;
  for (std::size_t k = 0; k < K; k++) {
    bins.clear();
    double total = 0.0, distances = 0.0;
    bool scaled = false;
    for (std::size_t b = 0; b < width; b++) {
      const double* bin = histogram.data() + 3 * (k * width + b);
      if (!(bin[0] > 0.0)) continue;
      bins.push_back({bin[2] / bin[0] * unit, bin[0], bin[1]});
      scaled |= bin[1] != bin[0];
      total += bin[0];
      distances += bin[2] * unit;
    }
    while (bins.size() > max_bins && !has_compact_support(name)) join_pairs(bins);
    found.data()[k] = infinity;
    if (bins.empty()) continue;
    const double beyond_nearest = distances - bins.front().squared * total;
    if (!(beyond_nearest > 0.0) || bins.size() < 2) continue;
    const double low = 1e-8 * total / distances;
    const double high = std::min(1e8 * total / beyond_nearest, 1e300);
    if (!(low < high)) continue;
    const double inverse = bandwidth_for_rows(name, bins, low, high, wanted.data()[k], scaled);
    if (inverse > 0.0) found.data()[k] = margin / std::sqrt(inverse);
  }
  return found;
}

/// g(t) / g(reference) of each squared distance in bandwidths.
nb::ndarray<nb::numpy, double, nb::ndim<1>> relative_weights(int kernel, Vector squared,
                                                             Vector reference) {
  const KernelName name = kernel_of(kernel);
  const std::size_t n = squared.shape(0);
  if (reference.shape(0) != n) {
    throw nb::value_error("reference must have one number for each squared distance.");
  }
  auto weights = new_vector(static_cast<std::int64_t>(n));
  for (std::size_t i = 0; i < n; i++) {
    weights.data()[i] = relative_weight(name, squared.data()[i], reference.data()[i]);
  }
  return weights;
}

}  // namespace

void bind_mode_bandwidths(nb::module_& m) {
  using nb::arg;
  m.def("distance_histogram", &distance_histogram, arg("rows"), arg("squared"), arg("labels"),
        arg("n_clusters"), arg("unit"));
  m.def("bandwidths_for_rows", &bandwidths_for_rows, arg("kernel"), arg("histogram"), arg("unit"),
        arg("wanted"));
  m.def("relative_weights", &relative_weights, arg("kernel"), arg("squared"), arg("reference"));
}

}  // namespace modeclust
