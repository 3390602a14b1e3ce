#include "pruning.hpp"

#include <limits>

namespace modeclust {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The two centers with the smallest losses of a row.
struct TwoBest {
  std::int32_t best = -1, second = -1;
};

class Pruning {
 public:
  Pruning(const Matrix& losses, const Vector& weight)
      : losses_(losses.data()),
        weight_(weight.data()),
        n_rows_(losses.shape(0)),
        n_centers_(losses.shape(1)),
        kept_(n_centers_, 1),
        rises_(n_centers_, 0.0),
        rows_(n_rows_) {
    for (std::size_t i = 0; i < n_rows_; i++) {
      rows_[i] = two_best(i);
      rises_[rows_[i].best] += rise(i);
    }
  }

  /// Removes the center whose rows lose least if they go to their second-best center.
  void remove_one() {
    std::int32_t removed = -1;
    for (std::size_t k = 0; k < n_centers_; k++) {
      if (kept_[k] && (removed < 0 || rises_[k] < rises_[removed])) {
        removed = static_cast<std::int32_t>(k);
      }
    }
    kept_[removed] = 0;
    for (std::size_t i = 0; i < n_rows_; i++) {
      if (rows_[i].best != removed && rows_[i].second != removed) continue;
      if (rows_[i].best != removed) rises_[rows_[i].best] -= rise(i);
      rows_[i] = two_best(i);
      rises_[rows_[i].best] += rise(i);
    }
  }

  bool keeps(std::size_t k) const { return kept_[k] != 0; }

 private:
  double loss(std::size_t i, std::int32_t k) const {
    return k < 0 ? infinity : losses_[i * n_centers_ + static_cast<std::size_t>(k)];
  }
  double rise(std::size_t i) const {
    return weight_[i] * (loss(i, rows_[i].second) - loss(i, rows_[i].best));
  }
  TwoBest two_best(std::size_t i) const {
    TwoBest found;
    for (std::size_t k = 0; k < n_centers_; k++) {
      if (!kept_[k]) continue;
      const auto label = static_cast<std::int32_t>(k);
      if (loss(i, label) < loss(i, found.best) || found.best < 0) {
        found.second = found.best;
        found.best = label;
      } else if (loss(i, label) < loss(i, found.second) || found.second < 0) {
        found.second = label;
      }
    }
    return found;
  }

  const double *losses_, *weight_;
  std::size_t n_rows_, n_centers_;
  std::vector<char> kept_;
  std::vector<double> rises_;  // how much the total loss rises without each center
  std::vector<TwoBest> rows_;
};

/// The numbers of the `n_kept` centers that are left if the others are removed one by one.
nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>> prune_centers(const Matrix& losses,
                                                                const Vector& weight,
                                                                std::size_t n_kept) {
  const std::size_t n_centers = losses.shape(1);
  if (weight.shape(0) != losses.shape(0)) {
    throw nb::value_error("weight must have one number for each row.");
  }
  if (n_kept < 1 || n_kept > n_centers || n_centers >= (1u << 30)) {
    throw nb::value_error("n_kept must be between 1 and the number of centers.");
  }
  auto* kept = new std::int64_t[n_kept];
  nb::capsule owner = owner_of(kept);
  {
    nb::gil_scoped_release release;
    Pruning pruning(losses, weight);
    for (std::size_t n = n_centers; n > n_kept; n--) pruning.remove_one();
    std::size_t next = 0;
    for (std::size_t k = 0; k < n_centers && next < n_kept; k++) {
      if (pruning.keeps(k)) kept[next++] = static_cast<std::int64_t>(k);
    }
  }
  return nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>(kept, {n_kept}, owner);
}

}  // namespace

void bind_pruning(nb::module_& m) {
  m.def("prune_centers", &prune_centers, nb::arg("losses"), nb::arg("weight"), nb::arg("n_kept"));
}

}  // namespace modeclust
