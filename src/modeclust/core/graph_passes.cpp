#include "graph_passes.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "graph.hpp"
#include "pool.hpp"
#include "simd.hpp"

namespace modeclust {
namespace {

const GraphKernels& kernels() { return MODECLUST_CHOOSE_TABLE(graph_kernels); }

/// A symmetric CSR matrix of affinities, and passes over its rows.
class Graph {
 public:
  Graph(Vector data, Labels indices, AnyVector indptr, int n_threads)
      : data_(std::move(data)), indices_(std::move(indices)), n_threads_(n_threads) {
    check(n_threads >= 1, "n_threads must be >= 1.");
    const bool is_wide = indptr.dtype() == nb::dtype<std::int64_t>();
    if (!is_wide && indptr.dtype() != nb::dtype<std::int32_t>()) {
      throw nb::type_error("indptr must be int32 or int64.");
    }
    check(indptr.ndim() == 1 && indptr.shape(0) >= 1, "indptr must have N + 1 numbers.");
    const std::int64_t n = static_cast<std::int64_t>(indptr.shape(0)) - 1;
    check(n == 0 || indptr.stride(0) == 1, "indptr must be contiguous.");
    check(n < (std::int64_t{1} << 31), "A graph must have fewer than 2^31 rows.");
    const std::int64_t n_entries =
        static_cast<std::int64_t>(std::min(data_.shape(0), indices_.shape(0)));
    indptr_ = Buffer<std::int64_t>(n + 1);
    for (std::int64_t i = 0; i <= n; i++) {
      indptr_[i] = is_wide ? static_cast<const std::int64_t*>(indptr.data())[i]
                           : static_cast<const std::int32_t*>(indptr.data())[i];
      check(indptr_[i] >= (i == 0 ? 0 : indptr_[i - 1]) && indptr_[i] <= n_entries,
            "indptr must ascend to the number of entries.");
    }
    source_ = {n, data_.data(), indices_.data(), indptr_.get()};
    check_entries();
    divide();
  }

  std::int64_t n_rows() const { return source_.n_rows; }

  void descend(Matrix memberships, Matrix before, Matrix products, Matrix products_before,
               Matrix kernel_values, Vector degrees, double smoothing, double rate, double momentum,
               OutMatrix out) {
    DescendTask task;
    task.n_clusters = static_cast<int>(out.shape(1));
    check_shape(out, "out");
    task.memberships = same_shape(memberships, out, "memberships");
    task.before = same_shape(before, out, "before");
    task.products = same_shape(products, out, "products");
    task.products_before = same_shape(products_before, out, "products_before");
    task.kernel_values = same_shape(kernel_values, out, "kernel_values");
    check(static_cast<std::int64_t>(degrees.shape(0)) == n_rows(),
          "degrees must have one number for each row.");
    task.degrees = degrees.data();
    task.smoothing = smoothing;
    task.rate = rate;
    task.momentum = momentum;
    task.out = out.data();
    nb::gil_scoped_release release;
    for_each_block(task.n_clusters, [&](std::int64_t b) { kernels().descend(task, blocks_[b]); });
  }

  double multiply(Matrix memberships, Matrix kernel_values, double smoothing, OutMatrix out) {
    const SmoothTask task = smooth_task(memberships, kernel_values, smoothing, 0.0, out);
    return sum_over_blocks(task, kernels().multiply);
  }

  double soften(Matrix memberships, Matrix kernel_values, double smoothing, double damping,
                OutMatrix out) {
    check(damping >= 0.0, "damping must be >= 0.");
    const SmoothTask task = smooth_task(memberships, kernel_values, smoothing, damping, out);
    return sum_over_blocks(task, kernels().soften);
  }

 private:
  void check_entries() const {
    bool fits = true;
    for (std::int64_t i = 0; i < n_rows(); i++) {
      std::int64_t before = -1;
      for (std::int64_t e = source_.indptr[i]; e < source_.indptr[i + 1]; e++) {
        fits &= source_.indices[e] > before && source_.indices[e] < n_rows();
        before = source_.indices[e];
      }
    }
    check(fits, "indices must ascend within each row and be below the number of rows.");
    // Rows i are visited in order, so the entries (j, i) of each row j are visited in order too.
    std::vector<std::int64_t> next(source_.indptr, source_.indptr + n_rows());
    for (std::int64_t i = 0; i < n_rows(); i++) {
      for (std::int64_t e = source_.indptr[i]; e < source_.indptr[i + 1]; e++) {
        const std::int64_t j = source_.indices[e], other = next[j]++;
        if (other < source_.indptr[j + 1] && source_.indices[other] == i &&
            source_.data[other] == source_.data[e]) {
          continue;
        }
        check(false, "The graph must be symmetric; it is not around rows " + std::to_string(i) +
                         " and " + std::to_string(j) + ".");
      }
    }
  }

  /// Divides the rows into blocks of about 2^14 entries, which depend only on the graph.
  void divide() {
    for (std::int64_t first = 0; first < n_rows();) {
      std::int64_t last = first + 1;
      auto size = [&] { return last - first + source_.indptr[last] - source_.indptr[first]; };
      while (last < n_rows() && size() < 16384) last++;
      blocks_.push_back({first, last});
      first = last;
    }
  }

  void check_shape(const OutMatrix& out, const char* name) const {
    check(static_cast<std::int64_t>(out.shape(0)) == n_rows() && out.shape(1) >= 1 &&
              out.shape(1) < (1u << 30),
          std::string(name) + " must have a row for each row of the graph, and columns.");
  }

  const double* same_shape(const Matrix& array, const OutMatrix& out, const char* name) const {
    check(array.shape(0) == out.shape(0) && array.shape(1) == out.shape(1),
          std::string(name) + " must have the shape of out.");
    return array.data();
  }

  SmoothTask smooth_task(const Matrix& memberships, const Matrix& kernel_values, double smoothing,
                         double damping, OutMatrix& out) const {
    SmoothTask task;
    check_shape(out, "out");
    task.n_clusters = static_cast<int>(out.shape(1));
    task.memberships = same_shape(memberships, out, "memberships");
    task.kernel_values = same_shape(kernel_values, out, "kernel_values");
    check(n_rows() == 0 || task.memberships != out.data(), "out must not be the memberships.");
    task.smoothing = smoothing;
    task.damping = damping;
    task.out = out.data();
    return task;
  }

  template <class Work>
  void for_each_block(int n_clusters, Work work) const {
    const double n_numbers = static_cast<double>(source_.indptr[n_rows()] + n_rows()) * n_clusters;
    parallel_for(n_numbers < 200000.0 ? 1 : n_threads_, static_cast<std::int64_t>(blocks_.size()),
                 [&](int, std::int64_t b) { work(b); });
  }

  double sum_over_blocks(const SmoothTask& task,
                         double (*pass)(const GraphSource&, const SmoothTask&, RowRange)) const {
    std::vector<double> energies(blocks_.size());
    nb::gil_scoped_release release;
    for_each_block(task.n_clusters,
                   [&](std::int64_t b) { energies[b] = pass(source_, task, blocks_[b]); });
    double total = 0.0;
    for (const double energy : energies) total += energy;
    return total;
  }

  Vector data_;
  Labels indices_;
  int n_threads_;
  Buffer<std::int64_t> indptr_;
  GraphSource source_;
  std::vector<RowRange> blocks_;
};

void project_rows(OutMatrix rows) {
  check(rows.shape(1) >= 1 && rows.shape(1) < (1u << 30), "rows must have columns.");
  nb::gil_scoped_release release;
  kernels().project(rows.data(), static_cast<std::int64_t>(rows.shape(0)),
                    static_cast<int>(rows.shape(1)));
}

}  // namespace

void bind_graph(nb::module_& m) {
  using nb::arg;
  nb::class_<Graph>(m, "Graph", "A symmetric CSR matrix of affinities, and passes over its rows.")
      .def(nb::init<Vector, Labels, AnyVector, int>(), arg("data"), arg("indices"), arg("indptr"),
           nb::kw_only(), arg("n_threads") = 1)
      .def_prop_ro("n_rows", &Graph::n_rows)
      .def("descend", &Graph::descend, nb::kw_only(), arg("memberships"), arg("before"),
           arg("products"), arg("products_before"), arg("kernel_values"), arg("degrees"),
           arg("smoothing"), arg("rate"), arg("momentum"), arg("out"))
      .def("multiply", &Graph::multiply, arg("memberships"), arg("kernel_values"), nb::kw_only(),
           arg("smoothing"), arg("out"))
      .def("soften", &Graph::soften, arg("memberships"), arg("kernel_values"), nb::kw_only(),
           arg("smoothing"), arg("damping"), arg("out"));
  m.def("project_rows", &project_rows, arg("rows"));
}

}  // namespace modeclust
