#include "density_passes.hpp"

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "pool.hpp"
#include "simd.hpp"

namespace modeclust {
namespace {

const DensityKernels& kernels() { return MODECLUST_CHOOSE_TABLE(density_kernels); }

// Computed from dot products, a squared distance has an error of about 1e-16 times the squared
// norms. Dot products are used if this is below 1e-8 times the squared bandwidth.
constexpr double largest_norm_in_bandwidths = 1e8;

}  // namespace

DensityRows::DensityRows(Rows& rows)
    : rows_(rows), rows_weighed_(static_cast<double>(rows.n_rows())) {
  nb::gil_scoped_release release;
  norms_ = Buffer<double>(rows.n_rows());
  parallel_for(rows.threads_for(rows.size()), static_cast<std::int64_t>(rows.blocks.size()),
               [&](int, std::int64_t b) {
                 const Buffer<double> row(rows.n_features());
                 kernels().norms(rows.source, rows.blocks[b], row.get(),
                                 norms_.get() + rows.blocks[b].first);
               });
  for (std::int64_t i = 0; i < rows.n_rows(); i++) {
    largest_norm_ = std::max(largest_norm_, norms_[i]);
    if (rows.weights.weight_of(i) > 0.0) order_.push_back(i);
  }
  if (!rows.source.is_sparse() && rows.n_features() < fewest_for_products) {
    tree_.emplace(rows, order_);
  }
  if (!rows.source.is_sparse()) norms_ = Buffer<double>();
}

ShiftSums DensityRows::shift_sums(Matrix points, int kernel, double inverse_squared_bandwidth,
                                  std::optional<Vector> nearest, double negligible) {
  const std::int64_t n_points = static_cast<std::int64_t>(points.shape(0));
  const int n_features = rows_.n_features();
  check(static_cast<int>(points.shape(1)) == n_features,
        "points must have the " + std::to_string(n_features) + " features of the rows, got " +
            std::to_string(points.shape(1)) + ".");
  check(!nearest || static_cast<std::int64_t>(nearest->shape(0)) == n_points,
        "nearest must have one number for each point.");
  check(inverse_squared_bandwidth >= 0.0 && std::isfinite(inverse_squared_bandwidth),
        "inverse_squared_bandwidth must be a finite number >= 0.");
  check(negligible > 0.0 && negligible <= largest_negligible,
        "negligible must be > 0 and at most 600.");
  ShiftTask task;
  task.points = points.data();
  task.nearest = nearest ? nearest->data() : nullptr;
  task.kernel = kernel_of(kernel);
  task.inverse_squared_bandwidth = inverse_squared_bandwidth;
  task.negligible = negligible;
  ShiftSums sums{new_vector(n_points), new_vector(n_points), new_matrix(n_points, n_features),
                 new_vector(n_points), new_vector(n_points)};
  const ShiftResult result{sums.reference.data(), sums.mass.data(), sums.totals.data(),
                           sums.density.data(), sums.smallest.data()};
  nb::gil_scoped_release release;
  if (order_.empty() || n_points == 0) {
    std::fill_n(result.reference, n_points, std::numeric_limits<double>::infinity());
    std::fill_n(result.smallest, n_points, std::numeric_limits<double>::infinity());
    return sums;
  }
  // Points are shared among threads in runs of `size`.
  auto for_each_run = [&](std::int64_t size, double rows_a_point, auto work) {
    const double n_numbers = static_cast<double>(n_points) * rows_a_point * (n_features + 8.0);
    // Each number takes about a quarter of a nanosecond.
    const int n_threads = n_numbers < 6e5 ? 1 : rows_.n_threads;
    parallel_for(n_threads, (n_points + size - 1) / size, [&](int worker, std::int64_t run) {
      work(worker, PointRange{run * size, std::min(n_points, (run + 1) * size)});
    });
  };
  if (tree_) {
    std::atomic<std::int64_t> n_weighed{0};
    const std::int64_t size = std::clamp<std::int64_t>(n_points / 64, 1, 64);
    for_each_run(size, rows_weighed_.load(), [&](int, PointRange range) {
      n_weighed += kernels().shift_leaves(tree_->view, task, range, result);
    });
    rows_weighed_ = static_cast<double>(n_weighed.load()) / static_cast<double>(n_points);
    return sums;
  }
  double largest = largest_norm_;
  for (std::int64_t p = 0; p < n_points; p++) {
    const double* point = task.points + p * n_features;
    largest = std::max(largest, std::inner_product(point, point + n_features, point, 0.0));
  }
  task.by_products = largest * inverse_squared_bandwidth < largest_norm_in_bandwidths;
  std::vector<Buffer<double>> buffers(static_cast<std::size_t>(rows_.n_threads));
  auto buffer_of = [&](int worker, std::int64_t size) {
    if (!buffers[worker]) buffers[worker] = Buffer<double>(size);
    return buffers[worker].get();
  };
  if (rows_.source.is_sparse() && task.by_products) {
    // The more points the better, as long as their frequent features fit in the cache.
    const int n_vectors = n_features <= 8192 && n_points > 16 ? 4 : n_points > 8 ? 2 : 1;
    for_each_run(8 * n_vectors, rows_.size() / n_features, [&](int worker, PointRange range) {
      kernels().shift_sparse(rows_.source, rows_.weights, norms_.get(), task, range, n_vectors,
                             result, buffer_of(worker, sparse_buffer_size(n_features, n_vectors)));
    });
    return sums;
  }
  // Reading the rows for a run of points takes as long as summing them for about four points. But
  // long runs with many long rows would take seconds, during which no signal is handled.
  const double most = std::min(4e9 / (rows_.size() + 1.0), static_cast<double>(points_at_once));
  const std::int64_t wanted = std::min(n_points / 16, static_cast<std::int64_t>(most) - 3);
  const std::int64_t size = std::clamp<std::int64_t>((wanted + 3) / 4 * 4, 4, points_at_once);
  for_each_run(size, static_cast<double>(rows_.n_rows()), [&](int worker, PointRange range) {
    kernels().shift_tiles(rows_.source, rows_.weights, task, range, result,
                          buffer_of(worker, tiles_buffer_size(n_features)));
  });
  return sums;
}

nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>> DensityRows::order() const {
  auto* data = new std::int64_t[std::max<std::size_t>(order_.size(), 1)];
  std::copy(order_.begin(), order_.end(), data);
  return {data, {order_.size()}, owner_of(data)};
}

void bind_density(nb::module_& m) {
  using nb::arg;
  nb::class_<ShiftSums>(m, "ShiftSums", "The sums of mean-shift at some points.")
      .def_ro("reference", &ShiftSums::reference, nb::rv_policy::automatic)
      .def_ro("mass", &ShiftSums::mass, nb::rv_policy::automatic)
      .def_ro("totals", &ShiftSums::totals, nb::rv_policy::automatic)
      .def_ro("density", &ShiftSums::density, nb::rv_policy::automatic)
      .def_ro("smallest", &ShiftSums::smallest, nb::rv_policy::automatic);
  nb::class_<DensityRows>(m, "DensityRows", "Rows, laid out once for all passes of mean-shift.")
      .def(nb::init<Rows&>(), arg("rows"), nb::keep_alive<1, 2>())
      .def_prop_ro("order", &DensityRows::order, nb::rv_policy::automatic)
      .def_prop_ro("largest_norm", &DensityRows::largest_norm)
      .def("shift_sums", &DensityRows::shift_sums, arg("points"), nb::kw_only(), arg("kernel"),
           arg("inverse_squared_bandwidth"), arg("nearest") = nb::none(),
           arg("negligible") = largest_negligible);
}

}  // namespace modeclust
