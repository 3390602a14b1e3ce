#include "center_sums.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "arrays.hpp"
#include "assign.hpp"
#include "center_layout.hpp"
#include "dataset.hpp"
#include "pool.hpp"
#include "simd.hpp"

namespace modeclust {
namespace {

/// The number of threads for work on (K, D) centers: one if there is too little work for more.
int threads_for_centers(std::size_t n_numbers, int n_threads) {
  return n_numbers < 200000 ? 1 : std::max(n_threads, 1);
}

// A mean of unit vectors that is shorter than this has no direction: its terms have cancelled.
constexpr double cancelled = 1e-12;

/// |x|, or 0 if it is at most `least`.
double length_above(const double* x, std::size_t n, double least) {
  double largest = 0.0, total = 0.0;
  for (std::size_t j = 0; j < n; j++) largest = std::max(largest, std::abs(x[j]));
  if (largest == 0.0) return 0.0;
  for (std::size_t j = 0; j < n; j++) total += x[j] / largest * (x[j] / largest);
  const double length = largest * std::sqrt(total);
  return length > least ? length : 0.0;
}

/// totals / mass, with the rows of `otherwise` where the mass is 0. With `unit_length`, totals
/// divided by their lengths, with the rows of `otherwise` where they cancel.
nb::ndarray<nb::numpy, double, nb::ndim<2>> means(Matrix totals, Vector mass, Matrix otherwise,
                                                  bool unit_length, int n_threads) {
  check(totals.shape(0) == mass.shape(0) && otherwise.shape(0) == mass.shape(0) &&
            otherwise.shape(1) == totals.shape(1),
        "totals, mass and otherwise must have the same shape.");
  const std::size_t K = totals.shape(0), D = totals.shape(1);
  auto* out = new double[std::max<std::size_t>(K * D, 1)];
  nb::ndarray<nb::numpy, double, nb::ndim<2>> result(out, {K, D}, owner_of(out));
  nb::gil_scoped_release release;
  const int threads = threads_for_centers(K * D, n_threads);
  parallel_for(threads, static_cast<std::int64_t>(K), [&](int, std::int64_t k) {
    double m = mass.data()[k];
    if (unit_length && m > 0.0) m = length_above(totals.data() + k * D, D, cancelled * m);
    const double* from = (m > 0.0 ? totals.data() : otherwise.data()) + k * D;
    for (std::size_t j = 0; j < D; j++) out[k * D + j] = m > 0.0 ? from[j] / m : from[j];
  });
  return result;
}

/// The length of the move of each center.
std::vector<double> move_lengths(const Matrix& before, const Matrix& after, int n_threads) {
  check(before.shape(0) == after.shape(0) && before.shape(1) == after.shape(1),
        "before and after must have the same shape.");
  const std::int64_t K = static_cast<std::int64_t>(before.shape(0));
  const std::int64_t D = static_cast<std::int64_t>(before.shape(1));
  std::vector<double> moves(K);
  nb::gil_scoped_release release;
  parallel_for(threads_for_centers(K * D, n_threads), K, [&](int, std::int64_t k) {
    moves[k] = distance(before.data() + k * D, after.data() + k * D, D);
  });
  return moves;
}

/// Whether a move of center k is at most `tolerance`, or `rounding` times its largest coordinate.
bool is_small(double move, const Matrix& before, std::size_t k, double tolerance, double rounding) {
  if (move <= tolerance) return true;
  double most = 0.0;
  for (std::size_t j = 0; j < before.shape(1); j++) most = std::max(most, std::abs(before(k, j)));
  return move <= rounding * most;
}

/// The largest move of a center, the sum of the squared moves, and whether all moves are small.
nb::tuple center_moves(Matrix before, Matrix after, double tolerance, double rounding,
                       int n_threads) {
  const std::vector<double> moves = move_lengths(before, after, n_threads);
  double largest = 0.0, squares = 0.0;
  bool settled = true;
  for (std::size_t k = 0; k < moves.size(); k++) {
    largest = std::max(largest, moves[k]);
    squares += moves[k] * moves[k];
    settled = settled && is_small(moves[k], before, k, tolerance, rounding);
  }
  return nb::make_tuple(largest, squares, settled);
}

/// The length of the move of each center, and whether it is small.
nb::tuple each_move(Matrix before, Matrix after, Vector tolerances, double rounding,
                    int n_threads) {
  check(tolerances.shape(0) == before.shape(0), "There must be one tolerance for each center.");
  const std::vector<double> moves = move_lengths(before, after, n_threads);
  const std::size_t K = moves.size();
  auto lengths = new_vector(static_cast<std::int64_t>(K));
  auto* small = new bool[std::max<std::size_t>(K, 1)];
  nb::ndarray<nb::numpy, bool, nb::ndim<1>> are_small(small, {K}, owner_of(small));
  for (std::size_t k = 0; k < K; k++) {
    lengths(k) = moves[k];
    small[k] = is_small(moves[k], before, k, tolerances(k), rounding);
  }
  return nb::make_tuple(lengths, are_small);
}

/// Adds other sums in place; the result has the smaller reference of each cluster.
void merge_mode_sums(int kernel, OutVector reference, OutVector mass, OutVector mass_squared,
                     OutMatrix totals, Vector other_reference, Vector other_mass,
                     Vector other_mass_squared, Matrix other_totals) {
  const std::size_t K = totals.shape(0), D = totals.shape(1);
  check(reference.shape(0) == K && mass.shape(0) == K && mass_squared.shape(0) == K &&
            other_reference.shape(0) == K && other_mass.shape(0) == K &&
            other_mass_squared.shape(0) == K && other_totals.shape(0) == K &&
            other_totals.shape(1) == D,
        "Sums that are merged must have the same shape.");
  const KernelName name = kernel_of(kernel);
  ModeSums ours{}, theirs{};
  ours.reference = reference.data();
  ours.mass = mass.data();
  ours.mass_squared = mass_squared.data();
  ours.totals = totals.data();
  theirs.reference = const_cast<double*>(other_reference.data());
  theirs.mass = const_cast<double*>(other_mass.data());
  theirs.mass_squared = const_cast<double*>(other_mass_squared.data());
  theirs.totals = const_cast<double*>(other_totals.data());
  MODECLUST_CHOOSE_TABLE(assign_kernels)
      .merge(name, ours, theirs, 0, static_cast<int>(K), static_cast<std::int64_t>(D),
             static_cast<std::int64_t>(D), static_cast<std::int64_t>(D));
}

}  // namespace

void bind_center_sums(nb::module_& m) {
  using nb::arg;
  m.def("means", &means, arg("totals"), arg("mass"), arg("otherwise"), arg("unit_length") = false,
        arg("n_threads") = 1);
  m.def("each_move", &each_move, arg("before"), arg("after"), arg("tolerances"), arg("rounding"),
        arg("n_threads") = 1);
  m.def("center_moves", &center_moves, arg("before"), arg("after"), arg("tolerance") = 0.0,
        arg("rounding") = 0.0, arg("n_threads") = 1);
  m.def("merge_mode_sums", &merge_mode_sums, arg("kernel"), arg("reference"), arg("mass"),
        arg("mass_squared"), arg("totals"), arg("other_reference"), arg("other_mass"),
        arg("other_mass_squared"), arg("other_totals"));
}

}  // namespace modeclust
