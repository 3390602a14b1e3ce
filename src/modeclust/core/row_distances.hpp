// Squared distances of rows to centers, by differences, in doubles.
#pragma once

#include "leaf_weights.hpp"
#include "tiles.hpp"

namespace modeclust {
namespace {

/// |x - c|^2 of a dense row. The lanes are features.
template <class T>
MODECLUST_INLINE double squared_difference(const T* x, const double* center, int n_features) {
  Doubles total = Doubles::zero();
  int j = 0;
  for (; j + 8 <= n_features; j += 8) {
    const Doubles difference = load_doubles(x + j) - Doubles::load(center + j);
    total = total + difference * difference;
  }
  if (j < n_features) {
    const int left = n_features - j;
    const Doubles difference =
        load_first_doubles(x + j, left) - Doubles::load_first(center + j, left);
    total = total + difference * difference;
  }
  return sum_of_lanes(total);
}

/// |x - c|^2 of four dense rows, each with its own center or all with the first. It gives the same
/// bits as `squared_difference`.
template <bool one_center, class T>
MODECLUST_INLINE void four_squared_differences(const T* const* x, const double* const* centers,
                                               int n_features, double* out) {
  Doubles total[4];
  for (int r = 0; r < 4; r++) total[r] = Doubles::zero();
  int j = 0;
  for (; j + 8 <= n_features; j += 8) {
    for (int r = 0; r < 4; r++) {
      const Doubles difference =
          load_doubles(x[r] + j) - Doubles::load(centers[one_center ? 0 : r] + j);
      total[r] = total[r] + difference * difference;
    }
  }
  if (j < n_features) {
    const int left = n_features - j;
    for (int r = 0; r < 4; r++) {
      const Doubles difference = load_first_doubles(x[r] + j, left) -
                                 Doubles::load_first(centers[one_center ? 0 : r] + j, left);
      total[r] = total[r] + difference * difference;
    }
  }
  sums_of_lanes(total[0], total[1], total[2], total[3], out);
}

/// The sum of c_j^2 over the features j that CSR row i does not store.
template <class Rows>
double squares_in_gaps(const Rows& rows, std::int64_t i, const double* center, int n_features) {
  double total = 0.0;
  std::int64_t j = 0;
  for (std::int64_t e = rows.begin(i); e < rows.end(i); e++) {
    for (; j < rows.indices()[e]; j++) total += center[j] * center[j];
    j++;
  }
  for (; j < n_features; j++) total += center[j] * center[j];
  return total;
}

// If the difference of norms is below this share of the norm, too few digits are left.
constexpr double least_rest = 1e-2;

/// |x - c|^2 of a CSR row.
template <class Rows>
MODECLUST_INLINE double sparse_squared_difference(const Rows& rows, std::int64_t i,
                                                  const double* center, double norm,
                                                  int n_features) {
  double total = 0.0, covered = 0.0;
  const double factor = rows.factor(i);
  for (std::int64_t e = rows.begin(i); e < rows.end(i); e++) {
    const double c = center[rows.indices()[e]];
    const double difference = rows.value(e, factor) - c;
    total += difference * difference;
    covered += c * c;
  }
  double rest = norm - covered;
  if (rest < least_rest * norm) rest = squares_in_gaps(rows, i, center, n_features);
  return total + rest;
}

/// Writes up to `n` rows as doubles, `stride` numbers apart.
template <class Rows>
void read_as_doubles(const Rows& rows, std::int64_t first, int n, std::int64_t stride,
                     double* out) {
  using T = typename Rows::Number;
  const int n_features = rows.source.n_features;
  for (int m = 0; m < n; m++) {
    double* row = out + m * stride;
    if constexpr (Rows::is_sparse) {
      for (int j = 0; j < n_features; j++) row[j] = 0.0;
      const double factor = rows.factor(first + m);
      for (std::int64_t e = rows.begin(first + m); e < rows.end(first + m); e++) {
        row[rows.indices()[e]] = rows.value(e, factor);
      }
    } else if (rows.in_place()) {
      const T* x = rows.tile(first + m, 1, nullptr).row(0);
      for (int j = 0; j < n_features; j++) row[j] = static_cast<double>(x[j]);
    } else if constexpr (sizeof(T) == 8) {
      read_row<T>(rows.source, first + m, row);
    } else {
      // Read to the upper half of the row first, so that numbers are converted before they are
      // overwritten.
      T* narrow = reinterpret_cast<T*>(row) + n_features;
      read_row<T>(rows.source, first + m, narrow);
      for (int j = 0; j < n_features; j++) {
        T value;
        __builtin_memcpy(&value, narrow + j, sizeof(T));
        row[j] = static_cast<double>(value);
      }
    }
  }
}

}  // namespace
}  // namespace modeclust
