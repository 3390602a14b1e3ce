#include "separation.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <vector>

#include "dip.hpp"
#include "pool.hpp"

namespace modeclust {
namespace {

// A side of fewer rows than this is not compared with as many rows of the other side.
constexpr double fewest_rows = 10.0;

/// Sorts values, equal ones by weight: their order must not depend on that of the rows.
void sort(std::vector<WeightedValue>& values) {
  std::sort(values.begin(), values.end(), [](const WeightedValue& a, const WeightedValue& b) {
    return a.value < b.value || (a.value == b.value && a.weight < b.weight);
  });
}

/// Rows with their squared distances to all centers, and the nearest center of each.
struct Clustering {
  Clustering(const Matrix& squares, const Matrix& centers, const Vector& weight,
             const Labels& labels)
      : squares(squares.data()),
        centers(centers.data()),
        weight(weight.data()),
        labels(labels.data()),
        n_rows(squares.shape(0)),
        n_clusters(squares.shape(1)),
        n_features(centers.shape(1)),
        mass(n_clusters, 0.0) {
    check(centers.shape(0) == n_clusters && weight.shape(0) == n_rows && labels.shape(0) == n_rows,
          "squares must have a row for each weight and label, and a column for each center.");
    for (std::size_t n = 0; n < n_rows; n++) {
      const std::int32_t k = this->labels[n];
      check(k >= 0 && static_cast<std::size_t>(k) < n_clusters, "labels must be of the centers.");
      mass[k] += this->weight[n];
    }
  }

  double square(std::size_t n, std::size_t k) const { return squares[n * n_clusters + k]; }
  double squared_distance(std::size_t i, std::size_t j) const {
    double sum = 0.0;
    for (std::size_t d = 0; d < n_features; d++) {
      const double difference = centers[i * n_features + d] - centers[j * n_features + d];
      sum += difference * difference;
    }
    return sum;
  }
  /// What the distance of a row to its own center is multiplied by, squared: the distance to the
  /// mean of the other rows. A row pulls its own center towards it, most of all in many dimensions.
  double left_out(std::size_t k) const {
    const double factor = mass[k] > 1.0 ? mass[k] / (mass[k] - 1.0) : 1.0;
    return factor * factor;
  }

  const double *squares, *centers, *weight;
  const std::int32_t* labels;
  std::size_t n_rows, n_clusters, n_features;
  std::vector<double> mass;
};

/// t = |x - c_i|^2 - |x - c_j|^2 of the rows of two clusters, ascending; also of the other rows
/// that are nearer to the mean of both clusters than to their own center.
void find_values(const Clustering& all, std::size_t i, std::size_t j,
                 std::vector<WeightedValue>& values) {
  values.clear();
  const double both = all.mass[i] + all.mass[j];
  const double share = both > 0.0 ? all.mass[i] / both : 0.5;
  const double correction = share * (1.0 - share) * all.squared_distance(i, j);
  const double factor_i = all.left_out(i), factor_j = all.left_out(j);
  for (std::size_t n = 0; n < all.n_rows; n++) {
    const auto own = static_cast<std::size_t>(all.labels[n]);
    double to_i = all.square(n, i), to_j = all.square(n, j);
    if (own == i) {
      to_i *= factor_i;
    } else if (own == j) {
      to_j *= factor_j;
    } else if (share * to_i + (1.0 - share) * to_j - correction >= all.square(n, own)) {
      continue;
    }
    values.push_back({to_i - to_j, all.weight[n]});
  }
  sort(values);
}

double total_weight(std::span<const WeightedValue> values) {
  double total = 0.0;
  for (const WeightedValue& value : values) total += value.weight;
  return total;
}

double root_dip(Dip& dip, std::span<const WeightedValue> values) {
  return std::sqrt(total_weight(values)) * dip.of(values);
}

/// Lowers the weights of values, the first of which count, so that their sum is at most `left`.
template <class Iterator>
void limit_weight(Iterator first, Iterator last, double left) {
  for (; first != last; first++) {
    first->weight = std::min(first->weight, left);
    left -= first->weight;
  }
}

/// sqrt(n) times the dip of n values: of all, or of the smaller side of 0 with as many rows of the
/// other side that are nearest to 0, whichever is larger. Ends with the weights of the latter.
double separation(Dip& dip, std::vector<WeightedValue>& values) {
  const double all = root_dip(dip, values);
  const auto middle = std::partition_point(
      values.begin(), values.end(), [](const WeightedValue& value) { return value.value < 0.0; });
  const double below = total_weight({values.begin(), middle});
  const double above = total_weight({middle, values.end()});
  if (std::min(below, above) < fewest_rows) return all;
  limit_weight(middle, values.end(), below);
  limit_weight(std::make_reverse_iterator(middle), values.rend(), above);
  std::erase_if(values, [](const WeightedValue& value) { return value.weight <= 0.0; });
  return std::max(all, root_dip(dip, values));
}

void check_pairs(const Clustering& all, const std::int64_t* pairs, std::size_t n) {
  for (std::size_t p = 0; p < 2 * n; p++) {
    check(pairs[p] >= 0 && pairs[p] < static_cast<std::int64_t>(all.n_clusters),
          "pairs must be of the centers.");
  }
}

nb::ndarray<nb::numpy, double, nb::ndim<1>> separations(Matrix squares, Matrix centers,
                                                        Vector weight, Labels labels, Pairs pairs,
                                                        int n_threads) {
  const Clustering all(squares, centers, weight, labels);
  const std::size_t n_pairs = pairs.shape(0);
  check_pairs(all, pairs.data(), n_pairs);
  auto found = new_vector(static_cast<std::int64_t>(n_pairs));
  double* out = found.data();
  {
    nb::gil_scoped_release release;
    struct Worker {
      Dip dip;
      std::vector<WeightedValue> values;
    };
    std::vector<Worker> workers(static_cast<std::size_t>(std::max(n_threads, 1)));
    parallel_for(n_threads, static_cast<std::int64_t>(n_pairs), [&](int w, std::int64_t p) {
      Worker& worker = workers[static_cast<std::size_t>(w)];
      const std::int64_t* pair = pairs.data() + 2 * p;
      find_values(all, static_cast<std::size_t>(pair[0]), static_cast<std::size_t>(pair[1]),
                  worker.values);
      out[p] = separation(worker.dip, worker.values);
    });
  }
  return found;
}

nb::ndarray<nb::numpy, double, nb::ndim<2>> pair_values(Matrix squares, Matrix centers,
                                                        Vector weight, Labels labels,
                                                        std::int64_t i, std::int64_t j) {
  const Clustering all(squares, centers, weight, labels);
  const std::int64_t pair[2] = {i, j};
  check_pairs(all, pair, 1);
  std::vector<WeightedValue> values;
  find_values(all, static_cast<std::size_t>(i), static_cast<std::size_t>(j), values);
  auto found = new_matrix(2, static_cast<std::int64_t>(values.size()));
  for (std::size_t n = 0; n < values.size(); n++) {
    found.data()[n] = values[n].value;
    found.data()[values.size() + n] = values[n].weight;
  }
  return found;
}

double dip(Vector values, Vector weight) {
  check(values.shape(0) == weight.shape(0), "weight must have one number for each value.");
  std::vector<WeightedValue> sorted;
  for (std::size_t n = 0; n < values.shape(0); n++) {
    check(weight.data()[n] > 0.0, "weight must be > 0.");
    sorted.push_back({values.data()[n], weight.data()[n]});
  }
  sort(sorted);
  return Dip().of(sorted);
}

}  // namespace

void bind_separation(nb::module_& m) {
  using nb::arg;
  m.def("dip", &dip, arg("values"), arg("weight"));
  m.def("separations", &separations, arg("squares"), arg("centers"), arg("weight"), arg("labels"),
        arg("pairs"), arg("n_threads"));
  m.def("pair_values", &pair_values, arg("squares"), arg("centers"), arg("weight"), arg("labels"),
        arg("i"), arg("j"));
}

}  // namespace modeclust
