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
// The largest `negligible`; beyond it, exp would underflow.
constexpr double largest_negligible = 600.0;

void check(bool holds, const char* message) {
  if (!holds) throw nb::value_error(message);
}
void check(bool holds, const std::string& message) { check(holds, message.c_str()); }

/// Sorts `order` so that runs of 32 rows lie in small boxes, and so do runs of 64, 128, ...
///
/// Splits at the widest feature, as in a k-d tree, always after a power of two of leaves. Ties are
/// broken by row index, so that every implementation of nth_element gives the same order.
void sort_spatially(const double* X, int n_features, std::int64_t* first, std::int64_t* last) {
  const std::int64_t n = last - first;
  if (n <= leaf_rows) {
    std::sort(first, last);
    return;
  }
  int widest = 0;
  double width = -1.0;
  for (int j = 0; j < n_features; j++) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const std::int64_t* i = first; i < last; i++) {
      low = std::min(low, X[*i * n_features + j]);
      high = std::max(high, X[*i * n_features + j]);
    }
    if (high - low > width) {
      width = high - low;
      widest = j;
    }
  }
  std::int64_t left = leaf_rows;
  while (2 * left < n) left *= 2;
  const double* column = X + widest;
  std::nth_element(first, first + left, last, [=](std::int64_t a, std::int64_t b) {
    const double x = column[a * n_features], y = column[b * n_features];
    return x < y || (x == y && a < b);
  });
  sort_spatially(X, n_features, first, first + left);
  sort_spatially(X, n_features, first + left, last);
}

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
  if (!rows.source.is_sparse() && rows.n_features() < fewest_for_products) build_tree();
  if (!rows.source.is_sparse()) norms_ = Buffer<double>();
}

void DensityRows::build_tree() {
  const int n_features = rows_.n_features();
  const std::int64_t n = static_cast<std::int64_t>(order_.size());
  Buffer<double> X(rows_.n_rows() * n_features);
  parallel_for(rows_.threads_for(rows_.size()), static_cast<std::int64_t>(rows_.blocks.size()),
               [&](int, std::int64_t b) {
                 const Buffer<double> row(n_features);
                 kernels().read(rows_.source, rows_.blocks[b], row.get(),
                                X.get() + rows_.blocks[b].first * n_features);
               });
  sort_spatially(X.get(), n_features, order_.data(), order_.data() + n);
  tree_.n_features = n_features;
  tree_.n_leaves = (n + leaf_rows - 1) / leaf_rows;
  const std::int64_t n_places = tree_.n_leaves * leaf_rows;
  columns_ = Buffer<double>(n_places * n_features);
  if (rows_.weights.weight) weight_ = Buffer<double>(n_places);
  if (rows_.weights.precision) precision_ = Buffer<double>(n_places);
  if (n < n_places) last_weight_ = Buffer<double>(leaf_rows);
  for (std::int64_t place = 0; place < n_places; place++) {
    const std::int64_t leaf = place / leaf_rows, m = place % leaf_rows;
    const std::int64_t i = order_[std::min(place, n - 1)];  // padded with the last row, at weight 0
    double* columns = columns_.get() + leaf * n_features * leaf_rows + m;
    for (int j = 0; j < n_features; j++) columns[j * leaf_rows] = X[i * n_features + j];
    if (weight_) weight_[place] = place < n ? rows_.weights.weight_of(i) : 0.0;
    if (precision_) precision_[place] = rows_.weights.precision_of(i);
    if (last_weight_ && leaf == tree_.n_leaves - 1) last_weight_[m] = place < n ? 1.0 : 0.0;
  }
  tree_.columns = columns_.get();
  tree_.weight = weight_.get();
  tree_.precision = precision_.get();
  tree_.last_weight = last_weight_.get();
  if (n > 0) build_boxes();
}

/// Computes boxes around the leaves, then around each 8 boxes, until one group is left.
void DensityRows::build_boxes() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const int n_features = tree_.n_features, n_numbers = 2 * n_features + 1;
  std::int64_t n_boxes = tree_.n_leaves;
  for (int level = 0;; level++) {
    const std::int64_t n_groups = (n_boxes + tree_fan - 1) / tree_fan;
    Buffer<double> boxes(n_groups * n_numbers * tree_fan);
    for (std::int64_t box = 0; box < n_groups * tree_fan; box++) {
      // Entry s of the box is at 8 s: lowest and highest value of each feature, least precision.
      double* out = boxes.get() + box / tree_fan * n_numbers * tree_fan + box % tree_fan;
      for (int j = 0; j < n_features; j++) {
        out[16 * j] = infinity;
        out[16 * j + 8] = -infinity;
      }
      out[16 * n_features] = box < n_boxes ? infinity : 1.0;
      if (box >= n_boxes) continue;  // an empty box, out of reach of all points
      for (int i = 0; i < (level == 0 ? leaf_rows : tree_fan); i++) {
        const double* below =
            level == 0 ? nullptr : tree_.boxes[level - 1] + box * n_numbers * tree_fan + i;
        for (int j = 0; j < n_features; j++) {
          const double* x = tree_.columns + (box * n_features + j) * leaf_rows + i;
          out[16 * j] = std::min(out[16 * j], below ? below[16 * j] : *x);
          out[16 * j + 8] = std::max(out[16 * j + 8], below ? below[16 * j + 8] : *x);
        }
        const double precision = below             ? below[16 * n_features]
                                 : tree_.precision ? tree_.precision[box * leaf_rows + i]
                                                   : 1.0;
        out[16 * n_features] = std::min(out[16 * n_features], precision);
      }
    }
    boxes_.push_back(std::move(boxes));
    tree_.boxes[level] = boxes_.back().get();
    tree_.n_levels = level + 1;
    if (n_groups == 1) return;
    n_boxes = n_groups;
  }
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
  if (tree_.n_leaves > 0) {
    std::atomic<std::int64_t> n_weighed{0};
    const std::int64_t size = std::clamp<std::int64_t>(n_points / 64, 1, 64);
    for_each_run(size, rows_weighed_.load(), [&](int, PointRange range) {
      n_weighed += kernels().shift_leaves(tree_, task, range, result);
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
  return {data, {order_.size()}, nb::capsule(data, [](void* p) noexcept {
            delete[] static_cast<std::int64_t*>(p);
          })};
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
