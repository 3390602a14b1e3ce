#include "dataset.hpp"

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "assignment.hpp"
#include "basics.hpp"
#include "pool.hpp"
#include "simd.hpp"

namespace modeclust {
namespace {

const BasicKernels& kernels() { return MODECLUST_CHOOSE_TABLE(basic_kernels); }

NumberType type_of(const AnyArray& X) {
  const nb::dlpack::dtype type = X.dtype();
  if (type == nb::dtype<float>()) return NumberType::float32;
  if (type == nb::dtype<double>()) return NumberType::float64;
  if (type == nb::dtype<std::int8_t>()) return NumberType::int8;
  if (type == nb::dtype<std::int16_t>()) return NumberType::int16;
  if (type == nb::dtype<std::int32_t>()) return NumberType::int32;
  if (type == nb::dtype<std::int64_t>()) return NumberType::int64;
  if (type == nb::dtype<std::uint8_t>() || type == nb::dtype<bool>()) return NumberType::uint8;
  if (type == nb::dtype<std::uint16_t>()) return NumberType::uint16;
  if (type == nb::dtype<std::uint32_t>()) return NumberType::uint32;
  if (type == nb::dtype<std::uint64_t>()) return NumberType::uint64;
  if (type.code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float) && type.bits == 16)
    return NumberType::float16;
  throw nb::type_error("X must hold floats of 16, 32 or 64 bits, integers or booleans.");
}

/// Checks that indices lie in [0, n_features) and ascend within each row.
template <class Index>
bool are_canonical(const Index* indices, const std::int64_t* indptr, std::int64_t n_rows,
                   std::int64_t n_features) {
  for (std::int64_t i = 0; i < n_rows; i++) {
    std::int64_t before = -1;
    for (std::int64_t e = indptr[i]; e < indptr[i + 1]; e++) {
      if (indices[e] <= before) return false;
      before = indices[e];
    }
    if (before >= n_features) return false;
  }
  return true;
}

}  // namespace

KernelName kernel_of(int number) {
  const std::string message = "kernel must be a number from 0 to " + std::to_string(n_kernels - 1) +
                              " (see modeclust.kernels.KERNELS), got " + std::to_string(number) +
                              ".";
  check(number >= 0 && number < n_kernels, message.c_str());
  return static_cast<KernelName>(number);
}

nb::ndarray<nb::numpy, double, nb::ndim<1>> new_vector(std::int64_t n) {
  auto* data = new double[static_cast<std::size_t>(std::max<std::int64_t>(n, 1))]();
  return {data, {static_cast<std::size_t>(n)}, owner_of(data)};
}

nb::ndarray<nb::numpy, double, nb::ndim<2>> new_matrix(std::int64_t n, std::int64_t m) {
  auto* data = new double[static_cast<std::size_t>(std::max<std::int64_t>(n * m, 1))]();
  return {data, {static_cast<std::size_t>(n), static_cast<std::size_t>(m)}, owner_of(data)};
}

Rows::Rows(AnyArray X, std::optional<Vector> weight, std::optional<Vector> precision,
           std::optional<Vector> factors, std::optional<Vector> offset, double scale, bool swapped,
           int n_clusters, int threads, std::int64_t first)
    : n_threads(threads), first_row(first), offset_(std::move(offset)) {
  check(X.ndim() == 2, "X must be a matrix.");
  check(X.shape(1) >= 1 && X.shape(1) < (1u << 30), "X must have features, fewer than 2^30.");
  source.n_rows = static_cast<std::int64_t>(X.shape(0));
  source.n_features = static_cast<int>(X.shape(1));
  source.type = type_of(X);
  source.data = static_cast<const char*>(X.data());
  const std::int64_t item = static_cast<std::int64_t>(X.itemsize());
  source.row_stride = X.stride(0) * item;
  source.column_stride = X.stride(1) * item;
  check(!offset_ || static_cast<int>(offset_->shape(0)) == source.n_features,
        "offset must have one number for each feature.");
  check(scale > 0.0, "scale must be > 0.");
  source.offset = offset_ ? offset_->data() : nullptr;
  source.scale = scale;
  source.swapped = swapped;
  owners_.push_back(nb::cast(X));
  set_weights(std::move(weight), std::move(precision));
  set_factors(std::move(factors));
  divide(n_clusters);
  assignment = std::make_shared<Assignment>(*this);
}

Rows::Rows(AnyVector data, AnyVector indices, const AnyVector& indptr, int n_features,
           std::optional<Vector> weight, std::optional<Vector> precision,
           std::optional<Vector> factors, int n_clusters, int threads, std::int64_t first)
    : n_threads(threads), first_row(first) {
  auto is_vector = [](const AnyArray& a) {
    return a.ndim() == 1 && (a.shape(0) <= 1 || a.stride(0) == 1);
  };
  auto is_int = [](const AnyArray& a, int bits) {
    return a.dtype() == (bits == 32 ? nb::dtype<std::int32_t>() : nb::dtype<std::int64_t>());
  };
  check(is_vector(data) && is_vector(indices) && is_vector(indptr),
        "The arrays of CSR rows must be contiguous vectors.");
  source.type = type_of(data);
  check(source.type == NumberType::float32 || source.type == NumberType::float64,
        "CSR rows must be float32 or float64.");
  check((is_int(indices, 32) || is_int(indices, 64)) && (is_int(indptr, 32) || is_int(indptr, 64)),
        "Indices of CSR rows must be int32 or int64.");
  check(indptr.shape(0) >= 1 && n_features >= 1 && n_features < (1 << 30),
        "CSR rows must have features, fewer than 2^30.");
  source.n_rows = static_cast<std::int64_t>(indptr.shape(0)) - 1;
  source.n_features = n_features;
  source.data = static_cast<const char*>(data.data());
  source.indices = indices.data();
  source.wide_indices = is_int(indices, 64);
  const std::int64_t n_entries =
      static_cast<std::int64_t>(std::min(data.shape(0), indices.shape(0)));
  const bool wide = is_int(indptr, 64);
  indptr_ = Buffer<std::int64_t>(source.n_rows + 1);
  source.indptr = indptr_.get();
  static const char nothing[8] = {};
  if (!source.indices) source.indices = nothing;
  {
    const nb::gil_scoped_release release;
    std::int64_t before = 0;
    for (std::int64_t i = 0; i <= source.n_rows; i++) {
      indptr_[i] = wide ? static_cast<const std::int64_t*>(indptr.data())[i]
                        : static_cast<const std::int32_t*>(indptr.data())[i];
      check(indptr_[i] >= before && indptr_[i] <= n_entries, "indptr of CSR rows must ascend.");
      before = indptr_[i];
    }
    const bool canonical = source.wide_indices
                               ? are_canonical(static_cast<const std::int64_t*>(source.indices),
                                               source.indptr, source.n_rows, n_features)
                               : are_canonical(static_cast<const std::int32_t*>(source.indices),
                                               source.indptr, source.n_rows, n_features);
    check(canonical, "Indices of CSR rows must ascend within each row and be below n_features.");
  }
  owners_.push_back(nb::cast(AnyArray(data)));
  owners_.push_back(nb::cast(AnyArray(indices)));
  set_weights(std::move(weight), std::move(precision));
  set_factors(std::move(factors));
  divide(n_clusters);
  assignment = std::make_shared<Assignment>(*this);
}

Rows::~Rows() = default;

void Rows::set_weights(std::optional<Vector> weight, std::optional<Vector> precision) {
  check(!weight || static_cast<std::int64_t>(weight->shape(0)) == n_rows(),
        "weight must have one number for each row.");
  check(n_threads >= 1, "n_threads must be >= 1.");
  weight_ = std::move(weight);
  weights.weight = weight_ ? weight_->data() : nullptr;
  set_precision(std::move(precision));
}

void Rows::set_factors(std::optional<Vector> factors) {
  check(!factors || static_cast<std::int64_t>(factors->shape(0)) == n_rows(),
        "factors must have one number for each row.");
  factors_ = std::move(factors);
  source.factors = factors_ ? factors_->data() : nullptr;
}

void Rows::set_precision(std::optional<Vector> precision) {
  check(!precision || static_cast<std::int64_t>(precision->shape(0)) == n_rows(),
        "precision must have one number for each row.");
  // Precisions that are all 1 give the same bits as none.
  const bool plain = !precision || std::all_of(precision->data(), precision->data() + n_rows(),
                                               [](double value) { return value == 1.0; });
  {
    const nb::gil_scoped_release release;
    const std::lock_guard lock(mutex);  // a pass may read the old ones
    precision_.swap(precision);
    weights.precision = plain ? nullptr : precision_->data();
  }
}

double Rows::size() const {
  return source.is_sparse() ? static_cast<double>(source.indptr[n_rows()] - source.indptr[0])
                            : static_cast<double>(n_rows()) * n_features();
}

/// Divides the rows into blocks of about 4 MB. A block is much larger than its (K, D) sums, and
/// there are at least 16 blocks if there are enough rows. The last quarter of the rows is in
/// smaller blocks, so that all threads finish at about the same time.
void Rows::divide(int n_clusters) {
  const std::int64_t n = n_rows(), bytes = source.is_single() ? 4 : 8;
  const std::int64_t row_bytes =
      source.is_sparse()
          ? static_cast<std::int64_t>(size() * 12.0 / std::max<std::int64_t>(n, 1)) + 16
          : n_features() * bytes;
  const std::int64_t largest =
      std::max((n_features() >= 64 ? std::int64_t{1} << 22 : std::int64_t{1} << 20) / row_bytes,
               128 * static_cast<std::int64_t>(n_clusters) / bytes);
  // For fewer rows, the overhead of threads and of merging takes longer than the pass.
  const std::int64_t worthwhile = (1 << 17) / (n_features() + 16);
  const std::int64_t fewest = 1024, share = std::max(n / 16, std::min(n / 4, worthwhile));
  const std::int64_t rows = std::max(fewest, std::min(largest, share));
  blocks.clear();
  for (std::int64_t first = 0; first < n;) {
    const std::int64_t size = first < n / 4 * 3 ? rows : std::max(fewest, rows / 4);
    blocks.push_back({first, std::min(n, first + size)});
    first = blocks.back().last;
  }
}

nb::ndarray<nb::numpy, double, nb::ndim<1>> Rows::keys(Vector directions) {
  check(static_cast<int>(directions.shape(0)) == n_features(),
        "directions must have one number for each feature.");
  auto out = new_vector(n_rows());
  double* data = out.data();
  {
    nb::gil_scoped_release release;
    parallel_for(
        threads_for(size()), static_cast<std::int64_t>(blocks.size()), [&](int, std::int64_t b) {
          const Buffer<double> row(n_features());
          kernels().keys(source, blocks[b], directions.data(), row.get(), data + blocks[b].first);
        });
  }
  return out;
}

nb::ndarray<nb::numpy, double, nb::ndim<1>> Rows::inverse_lengths() {
  auto out = new_vector(n_rows());
  double* data = out.data();
  {
    nb::gil_scoped_release release;
    parallel_for(threads_for(size()), static_cast<std::int64_t>(blocks.size()),
                 [&](int, std::int64_t b) {
                   const Buffer<double> row(n_features());
                   kernels().inverse_lengths(source, blocks[b], row.get(), data + blocks[b].first);
                 });
  }
  return out;
}

KeptLabels Rows::detach_labels() {
  std::lock_guard lock(mutex);
  auto fresh = std::make_shared<Assignment>(*this);
  KeptLabels kept{std::exchange(assignment, std::move(fresh))};
  kept.assignment->detach();
  return kept;
}

void Rows::attach_labels(KeptLabels& kept) {
  std::lock_guard lock(mutex);
  check(kept.assignment != nullptr, "These labels are attached to rows already.");
  kept.assignment->attach(*this);
  assignment = std::move(kept.assignment);
}

nb::ndarray<nb::numpy, double, nb::ndim<1>> Rows::row_weights() const {
  auto out = new_vector(n_rows());
  for (std::int64_t i = 0; i < n_rows(); i++) {
    out.data()[i] = weights.weight_of(i) * weights.precision_of(i);
  }
  return out;
}

template <class T>
nb::tuple Rows::column_limits_of() {
  const std::int64_t D = n_features(), n_blocks = static_cast<std::int64_t>(blocks.size());
  const T infinity = std::numeric_limits<T>::infinity();
  // Limits for each worker: they do not depend on the order of the rows.
  std::vector<Buffer<T>> found(n_threads);
  for (auto& limits : found) {
    limits = Buffer<T>(3 * D);
    std::fill_n(limits.get(), D, infinity);
    std::fill_n(limits.get() + D, D, -infinity);
  }
  {
    nb::gil_scoped_release release;
    parallel_for(threads_for(size()), n_blocks, [&](int worker, std::int64_t b) {
      T* limits = found[worker].get();
      kernels().limits(source, blocks[b], limits + 2 * D, limits, limits + D);
    });
  }
  auto lowest = new_vector(D), highest = new_vector(D);
  for (std::int64_t j = 0; j < D; j++) {
    T low = infinity, high = -infinity;
    for (const auto& limits : found) {
      low = std::min(low, limits[j]);
      high = std::max(high, limits[D + j]);
    }
    lowest.data()[j] = static_cast<double>(low);
    highest.data()[j] = static_cast<double>(high);
  }
  return nb::make_tuple(lowest, highest);
}

nb::tuple Rows::column_limits() {
  check(!source.is_sparse(), "column_limits is for dense rows.");
  return source.is_single() ? column_limits_of<float>() : column_limits_of<double>();
}

nb::tuple Rows::digest() {
  // Weights are processed as rows with one column.
  const auto column = [&](const double* values) {
    RowSource rows;
    rows.n_rows = values ? n_rows() : 0;
    rows.n_features = 1;
    rows.data = reinterpret_cast<const char*>(values);
    rows.row_stride = rows.column_stride = sizeof(double);
    return rows;
  };
  const RowSource parts[3] = {source, column(weights.weight), column(weights.precision)};
  std::vector<std::uint64_t> states[3];
  {
    nb::gil_scoped_release release;
    for (int part = 0; part < 3; part++) {
      states[part].assign(2 * blocks.size(), 1);
      if (parts[part].n_rows == 0) continue;
      parallel_for(threads_for(size()), static_cast<std::int64_t>(blocks.size()),
                   [&](int, std::int64_t b) {
                     const Buffer<double> row(n_features());
                     kernels().digest(parts[part], blocks[b], row.get(), &states[part][2 * b]);
                   });
    }
  }
  const auto bytes = [&](int part) {
    return nb::bytes(states[part].data(), states[part].size() * sizeof(std::uint64_t));
  };
  return nb::make_tuple(bytes(0), bytes(1), bytes(2));
}

namespace {

/// The labels and bounds of rows, which another thread may detach.
std::shared_ptr<Assignment> assignment_of(Rows& rows) {
  const nb::gil_scoped_release release;
  const std::lock_guard lock(rows.mutex);
  return rows.assignment;
}

}  // namespace

void bind_rows(nb::module_& m) {
  using nb::arg;
  [[maybe_unused]] const nb::class_<KeptLabels> kept_labels(m, "KeptLabels");
  nb::class_<Rows>(m, "Rows")
      .def(nb::init<AnyArray, std::optional<Vector>, std::optional<Vector>, std::optional<Vector>,
                    std::optional<Vector>, double, bool, int, int, std::int64_t>(),
           arg("X"), nb::kw_only(), arg("weight") = nb::none(), arg("precision") = nb::none(),
           arg("factors") = nb::none(), arg("offset") = nb::none(), arg("scale") = 1.0,
           arg("swapped") = false, arg("n_clusters") = 1, arg("n_threads") = 1,
           arg("first_row") = 0)
      .def(nb::init<AnyVector, AnyVector, AnyVector, int, std::optional<Vector>,
                    std::optional<Vector>, std::optional<Vector>, int, int, std::int64_t>(),
           arg("data"), arg("indices"), arg("indptr"), arg("n_features"), nb::kw_only(),
           arg("weight") = nb::none(), arg("precision") = nb::none(), arg("factors") = nb::none(),
           arg("n_clusters") = 1, arg("n_threads") = 1, arg("first_row") = 0)
      .def_prop_ro("n_rows", &Rows::n_rows)
      .def_prop_ro("n_features", &Rows::n_features)
      .def_ro("first_row", &Rows::first_row)
      .def_ro("n_threads", &Rows::n_threads)
      .def_prop_ro("unit_length", [](const Rows& rows) { return rows.source.has_unit_length(); })
      .def("inverse_lengths", &Rows::inverse_lengths)
      .def("column_limits", &Rows::column_limits)
      .def("row_weights", &Rows::row_weights)
      .def("set_precision", &Rows::set_precision, arg("precision").none())
      .def_prop_rw(
          "negligible", [](const Rows& rows) { return rows.negligible; },
          [](Rows& rows, double value) {
            check(value > 0.0 && value <= largest_negligible,
                  "negligible must be > 0 and at most 600.");
            rows.negligible = value;
          })
      .def_prop_ro("has_precision",
                   [](const Rows& rows) { return rows.weights.precision != nullptr; })
      .def_prop_ro("has_labels",
                   [](Rows& rows) {
                     const nb::gil_scoped_release release;
                     const std::lock_guard lock(rows.mutex);
                     return rows.assignment->has_labels();
                   })
      .def_prop_ro("labels", [](Rows& rows) { return Assignment::labels(assignment_of(rows)); })
      .def(
          "set_labels",
          [](Rows& rows, const Labels& labels, int n_clusters) {
            assignment_of(rows)->set_labels(rows, labels, n_clusters);
          },
          arg("labels"), arg("n_clusters"))
      .def("detach_labels", &Rows::detach_labels, nb::call_guard<nb::gil_scoped_release>())
      .def("attach_labels", &Rows::attach_labels, arg("kept"),
           nb::call_guard<nb::gil_scoped_release>())
      .def(
          "mode_pass",
          [](Rows& rows, Matrix centers, int kernel, double inverse_squared_bandwidth,
             bool reassign, double also_at, std::optional<Vector> cluster_factors,
             std::optional<OutVector> squared) {
            return assignment_of(rows)->mode_pass(rows, std::move(centers), kernel,
                                                  inverse_squared_bandwidth, reassign, also_at,
                                                  std::move(cluster_factors), std::move(squared));
          },
          arg("centers"), arg("kernel"), arg("inverse_squared_bandwidth"), arg("reassign") = true,
          arg("also_at") = -1.0, arg("cluster_factors") = nb::none(), arg("squared") = nb::none())
      .def(
          "mean_pass",
          [](Rows& rows, Matrix centers, std::optional<Matrix> after) {
            return assignment_of(rows)->mean_pass(rows, std::move(centers), std::move(after));
          },
          arg("centers"), arg("after") = nb::none())
      .def("keys", &Rows::keys, arg("directions"))
      .def("digest", &Rows::digest);
}

}  // namespace modeclust
