#include "measure_passes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "density_passes.hpp"
#include "kernel_functions.hpp"
#include "measures.hpp"
#include "ordered_merge.hpp"
#include "pool.hpp"
#include "simd.hpp"

namespace modeclust {
namespace {

using OutAny = Aligned<nb::ndarray<nb::ndim<2>, nb::c_contig, nb::device::cpu>>;

constexpr double infinity = std::numeric_limits<double>::infinity();

const MeasureKernels& kernels() { return MODECLUST_CHOOSE_TABLE(measure_kernels); }

void check_bandwidth(double inverse_squared_bandwidth) {
  check(inverse_squared_bandwidth >= 0.0 && std::isfinite(inverse_squared_bandwidth),
        "inverse_squared_bandwidth must be a finite number >= 0.");
}

/// MeasuredCenters with norms and, if requested, panels.
class MeasuredLayout {
 public:
  MeasuredLayout(const Rows& rows, const Matrix& centers, bool with_panels) {
    check(static_cast<int>(centers.shape(1)) == rows.n_features(),
          "centers must have the " + std::to_string(rows.n_features()) +
              " features of the rows, got " + std::to_string(centers.shape(1)) + ".");
    check(centers.shape(0) < (1u << 30), "There must be fewer than 2^30 centers.");
    const std::int64_t n_clusters = static_cast<std::int64_t>(centers.shape(0));
    const std::int64_t n_features = rows.n_features();
    view.n_clusters = static_cast<int>(n_clusters);
    view.n_features = static_cast<int>(n_features);
    view.rows = centers.data();
    norms_ = Buffer<double>(n_clusters);
    for (std::int64_t k = 0; k < n_clusters; k++) {
      norms_[k] = 0.0;
      for (std::int64_t j = 0; j < n_features; j++) {
        norms_[k] += view.rows[k * n_features + j] * view.rows[k * n_features + j];
      }
    }
    view.norms = norms_.get();
    if (!with_panels) return;
    const std::int64_t n_panels = (n_clusters + panel_centers - 1) / panel_centers;
    panels_ = Buffer<double>(n_panels * n_features * panel_centers);
    for (std::int64_t k = 0; k < n_panels * panel_centers; k++) {
      double* panel = panels_.get() + k / panel_centers * n_features * panel_centers;
      for (std::int64_t j = 0; j < n_features; j++) {
        panel[j * panel_centers + k % panel_centers] =
            k < n_clusters ? view.rows[k * n_features + j] : 0.0;
      }
    }
    view.panels = panels_.get();
  }

  MeasuredCenters view;

 private:
  Buffer<double> norms_, panels_;
};

void check_labels(const Rows& rows, const Labels& labels, int n_clusters) {
  check(static_cast<std::int64_t>(labels.shape(0)) == rows.n_rows(),
        "labels must have one number for each row.");
  for (std::size_t i = 0; i < labels.shape(0); i++) {
    const std::int32_t k = labels.data()[i];
    if (k < 0 || k >= n_clusters) {
      check(false, "labels must be between 0 and " + std::to_string(n_clusters - 1) + ", got " +
                       std::to_string(k) + " for row " + std::to_string(i) + ".");
    }
  }
}

/// A buffer for each worker, allocated on first use.
class WorkerBuffers {
 public:
  WorkerBuffers(const Rows& rows, const MeasuredCenters& centers)
      : size_(measure_buffer_size(centers.n_clusters, rows.n_features())),
        buffers_(static_cast<std::size_t>(rows.n_threads)) {}
  double* of(int worker) {
    if (!buffers_[worker]) buffers_[worker] = Buffer<double>(size_);
    return buffers_[worker].get();
  }

 private:
  std::int64_t size_;
  std::vector<Buffer<double>> buffers_;
};

/// Calls work(buffer of the worker, block) for each block of the rows.
template <class Work>
void for_each_block(const Rows& rows, const MeasuredCenters& centers, double n_numbers, Work work) {
  WorkerBuffers buffers(rows, centers);
  parallel_for(rows.threads_for(n_numbers), static_cast<std::int64_t>(rows.blocks.size()),
               [&](int worker, std::int64_t b) { work(buffers.of(worker), b); });
}

void measure(Rows& rows, const MeasuredLayout& centers, MeasureTask task, char* out,
             int item_size) {
  task.centers = centers.view;
  nb::gil_scoped_release release;
  for_each_block(rows, centers.view, rows.size() * centers.view.n_clusters,
                 [&](double* buffer, std::int64_t b) {
                   const RowRange block = rows.blocks[b];
                   kernels().measure(rows.source, rows.weights, task, block, buffer,
                                     out + block.first * centers.view.n_clusters * item_size);
                 });
}

void check_out(const Rows& rows, const MeasuredLayout& centers, std::size_t n, std::size_t m) {
  check(static_cast<std::int64_t>(n) == rows.n_rows() &&
            static_cast<int>(m) == centers.view.n_clusters,
        "out must have a row for each row and a column for each center.");
}

void distances(Rows& rows, Matrix centers, OutAny out) {
  const MeasuredLayout layout(rows, centers, true);
  check_out(rows, layout, out.shape(0), out.shape(1));
  MeasureTask task;
  const bool is_single = out.dtype() == nb::dtype<float>();
  if (!is_single && out.dtype() != nb::dtype<double>()) {
    throw nb::type_error("out must be float32 or float64.");
  }
  task.measure = is_single ? Measure::distance_as_float : Measure::distance;
  measure(rows, layout, task, static_cast<char*>(out.data()), is_single ? 4 : 8);
}

void kernel_values(Rows& rows, Matrix centers, int kernel, double inverse_squared_bandwidth,
                   OutMatrix out) {
  const MeasuredLayout layout(rows, centers, true);
  check_out(rows, layout, out.shape(0), out.shape(1));
  check_bandwidth(inverse_squared_bandwidth);
  MeasureTask task;
  task.measure = Measure::kernel_value;
  task.kernel = kernel_of(kernel);
  task.inverse_squared_bandwidth = inverse_squared_bandwidth;
  measure(rows, layout, task, reinterpret_cast<char*>(out.data()), 8);
}

nb::ndarray<nb::numpy, double, nb::ndim<1>> own_distances(Rows& rows, Matrix centers,
                                                          Labels labels) {
  const MeasuredLayout layout(rows, centers, false);
  check_labels(rows, labels, layout.view.n_clusters);
  auto out = new_vector(rows.n_rows());
  double* data = out.data();
  {
    nb::gil_scoped_release release;
    for_each_block(rows, layout.view, rows.size(), [&](double* buffer, std::int64_t b) {
      kernels().own(rows.source, layout.view, labels.data(), rows.blocks[b], buffer,
                    data + rows.blocks[b].first);
    });
  }
  return out;
}

/// The sums of a block, with their memory.
struct SoftPart {
  SoftPart(std::int64_t n_clusters, std::int64_t n_features)
      : numbers(n_clusters * (3 + n_features)), integers(2 * n_clusters) {
    result.reference = numbers.get();
    result.mass = result.reference + n_clusters;
    result.nearest_distance = result.mass + n_clusters;
    result.totals = result.nearest_distance + n_clusters;
    result.counts = integers.get();
    result.nearest = integers.get() + n_clusters;
  }
  Buffer<double> numbers;
  Buffer<std::int64_t> integers;
  SoftResult result{};
};

/// Adds the sums of later rows; the result has the smaller reference of each cluster.
void merge(const SoftTask& task, const SoftResult& other, SoftResult& sums) {
  const std::int64_t n_features = task.centers.n_features;
  for (int k = 0; k < task.centers.n_clusters; k++) {
    sums.counts[k] += other.counts[k];
    if (other.nearest_distance[k] < sums.nearest_distance[k]) {
      sums.nearest_distance[k] = other.nearest_distance[k];
      sums.nearest[k] = other.nearest[k];
    }
    if (std::isinf(other.reference[k])) continue;
    if (std::isinf(sums.reference[k])) sums.reference[k] = other.reference[k];
    const double common = std::min(sums.reference[k], other.reference[k]);
    const double ours = relative_weight(task.kernel, sums.reference[k], common);
    const double theirs = relative_weight(task.kernel, other.reference[k], common);
    sums.reference[k] = common;
    sums.mass[k] = ours * sums.mass[k] + theirs * other.mass[k];
    double* totals = sums.totals + k * n_features;
    const double* added = other.totals + k * n_features;
    for (std::int64_t j = 0; j < n_features; j++) totals[j] = ours * totals[j] + theirs * added[j];
  }
  sums.objective += other.objective;
  sums.inertia += other.inertia;
  sums.weight += other.weight;
}

nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>> new_integers(std::int64_t n, std::int64_t value) {
  auto* data = new std::int64_t[static_cast<std::size_t>(std::max<std::int64_t>(n, 1))];
  std::fill_n(data, n, value);
  return {data, {static_cast<std::size_t>(n)}, owner_of(data)};
}

SoftSums soft_sums(Rows& rows, Matrix centers, Matrix memberships, int kernel,
                   double inverse_squared_bandwidth) {
  const MeasuredLayout layout(rows, centers, false);
  const std::int64_t n_clusters = layout.view.n_clusters, n_features = rows.n_features();
  check(static_cast<std::int64_t>(memberships.shape(0)) == rows.n_rows() &&
            static_cast<std::int64_t>(memberships.shape(1)) == n_clusters,
        "memberships must have a row for each row and a column for each center.");
  check_bandwidth(inverse_squared_bandwidth);
  SoftTask task;
  task.centers = layout.view;
  task.memberships = memberships.data();
  task.kernel = kernel_of(kernel);
  task.inverse_squared_bandwidth = inverse_squared_bandwidth;
  task.first_row = rows.first_row;
  SoftSums sums{
      new_vector(n_clusters),      new_vector(n_clusters),       new_matrix(n_clusters, n_features),
      new_integers(n_clusters, 0), new_integers(n_clusters, -1), new_vector(n_clusters)};
  std::fill_n(sums.reference.data(), n_clusters, infinity);
  std::fill_n(sums.nearest_distance.data(), n_clusters, infinity);
  SoftResult total{sums.reference.data(), sums.mass.data(),    sums.totals.data(),
                   sums.counts.data(),    sums.nearest.data(), sums.nearest_distance.data()};
  {
    nb::gil_scoped_release release;
    WorkerBuffers buffers(rows, layout.view);
    reduce_blocks<SoftPart>(
        rows.threads_for(rows.size() * layout.view.n_clusters),
        static_cast<std::int64_t>(rows.blocks.size()),
        [&] { return std::make_unique<SoftPart>(n_clusters, n_features); },
        [&](int worker, std::int64_t b, SoftPart& part) {
          kernels().soft(rows.source, rows.weights, task, rows.blocks[b], buffers.of(worker),
                         part.result);
        },
        [&](const SoftPart& part) { merge(task, part.result, total); });
  }
  sums.objective = total.objective;
  sums.inertia = total.inertia;
  sums.weight = total.weight;
  return sums;
}

nb::ndarray<nb::numpy, double, nb::ndim<2>> segment_densities(Rows& rows, Labels labels,
                                                              Matrix centers, Pairs pairs,
                                                              Vector fractions, int kernel,
                                                              double inverse_squared_bandwidth,
                                                              std::int64_t step) {
  const MeasuredLayout layout(rows, centers, false);
  const std::int64_t n_clusters = layout.view.n_clusters, n_features = rows.n_features();
  const std::int64_t n_ends = 2 * static_cast<std::int64_t>(pairs.shape(0));
  const std::int64_t n_fractions = static_cast<std::int64_t>(fractions.shape(0));
  const std::int64_t stride = padded<double>(n_fractions);
  check_labels(rows, labels, layout.view.n_clusters);
  check_bandwidth(inverse_squared_bandwidth);
  check(n_fractions < (1 << 30), "There must be fewer than 2^30 fractions.");
  check(step > 0 && step < (std::int64_t{1} << 62), "step must be from 1 to 2^62.");
  const std::int64_t* ends = pairs.data();
  std::vector<std::int64_t> edges(n_clusters + 1), order(n_ends);
  for (std::int64_t e = 0; e < n_ends; e++) {
    check(ends[e] >= 0 && ends[e] < n_clusters, "pairs must be of centers.");
    edges[ends[e] + 1]++;
  }
  for (std::int64_t k = 0; k < n_clusters; k++) edges[k + 1] += edges[k];
  std::vector<std::int64_t> next(edges.begin(), edges.end() - 1);
  std::vector<double> directions(n_ends * n_features), bases(n_ends), lengths(n_ends);
  for (std::int64_t e = 0; e < n_ends; e++) {
    order[next[ends[e]]++] = e;
    const double* here = layout.view.rows + ends[e] * n_features;
    const double* there = layout.view.rows + ends[e ^ 1] * n_features;
    for (std::int64_t j = 0; j < n_features; j++) {
      const double step = there[j] - here[j];
      directions[e * n_features + j] = step;
      bases[e] += here[j] * step;
      lengths[e] += step * step;
    }
  }
  std::vector<double> both(2 * stride);
  for (std::int64_t g = 0; g < n_fractions; g++) {
    both[g] = fractions.data()[g];
    both[stride + g] = 1.0 - fractions.data()[g];
  }
  SegmentTask task;
  task.centers = layout.view;
  task.labels = labels.data();
  task.edges = edges.data();
  task.ends = order.data();
  task.directions = directions.data();
  task.bases = bases.data();
  task.squared_lengths = lengths.data();
  task.fractions = both.data();
  task.n_fractions = static_cast<int>(n_fractions);
  task.kernel = kernel_of(kernel);
  task.inverse_squared_bandwidth = inverse_squared_bandwidth;
  task.on_sphere = rows.source.has_unit_length();
  task.step = step;
  auto out = new_matrix(n_ends / 2, n_fractions);
  double* data = out.data();
  {
    nb::gil_scoped_release release;
    using Part = std::vector<double>;
    WorkerBuffers buffers(rows, layout.view);
    reduce_blocks<Part>(
        rows.threads_for(rows.size() + 16.0 * static_cast<double>(rows.n_rows())),
        static_cast<std::int64_t>(rows.blocks.size()),
        [&] { return std::make_unique<Part>(n_ends / 2 * stride); },
        [&](int worker, std::int64_t b, Part& part) {
          std::fill(part.begin(), part.end(), 0.0);
          kernels().segments(rows.source, rows.weights, task, rows.blocks[b], buffers.of(worker),
                             part.data());
        },
        [&](const Part& part) {
          for (std::int64_t p = 0; p < n_ends / 2; p++) {
            for (std::int64_t g = 0; g < n_fractions; g++) {
              data[p * n_fractions + g] += part[p * stride + g];
            }
          }
        });
  }
  return out;
}

}  // namespace

void bind_measures(nb::module_& m) {
  using nb::arg;
  constexpr auto shared = nb::rv_policy::automatic;
  nb::class_<SoftSums>(m, "SoftSums", "The sums of a mode pass over rows with memberships.")
      .def_ro("reference", &SoftSums::reference, shared)
      .def_ro("mass", &SoftSums::mass, shared)
      .def_ro("totals", &SoftSums::totals, shared)
      .def_ro("counts", &SoftSums::counts, shared)
      .def_ro("nearest", &SoftSums::nearest, shared)
      .def_ro("nearest_distance", &SoftSums::nearest_distance, shared)
      .def_ro("objective", &SoftSums::objective)
      .def_ro("inertia", &SoftSums::inertia)
      .def_ro("weight", &SoftSums::weight);
  m.def("distances", &distances, arg("rows"), arg("centers"), arg("out"));
  m.def("kernel_values", &kernel_values, arg("rows"), arg("centers"), nb::kw_only(), arg("kernel"),
        arg("inverse_squared_bandwidth"), arg("out"));
  m.def("own_distances", &own_distances, arg("rows"), arg("centers"), arg("labels"));
  m.def("soft_sums", &soft_sums, arg("rows"), arg("centers"), arg("memberships"), nb::kw_only(),
        arg("kernel"), arg("inverse_squared_bandwidth"));
  m.def("segment_densities", &segment_densities, arg("rows"), arg("labels"), arg("centers"),
        arg("pairs"), arg("fractions"), nb::kw_only(), arg("kernel"),
        arg("inverse_squared_bandwidth"), arg("step") = 1);
}

}  // namespace modeclust
