#include "sparse_assign.hpp"

#include "search.hpp"
#include "weigh.hpp"

namespace modeclust {
namespace {

/// Calls `work` with CSR rows of the right number and index type.
template <class Work>
MODECLUST_INLINE auto with_sparse_rows(const RowSource& source, Work work) {
  if (source.wide_indices) {
    return source.is_single() ? work(CsrRows<float, std::int64_t>{source})
                              : work(CsrRows<double, std::int64_t>{source});
  }
  return source.is_single() ? work(CsrRows<float, std::int32_t>{source})
                            : work(CsrRows<double, std::int32_t>{source});
}

/// |x_i - c|^2 given |c|^2: differences for the stored features, and c_j^2 for the others.
template <class Rows>
double squared_distance(const Rows& rows, std::int64_t i, const double* c, double norm,
                        int n_features) {
  const auto* indices = rows.indices();
  const double factor = rows.factor(i);
  const std::int64_t begin = rows.begin(i), end = rows.end(i);
  double totals[4] = {}, covered[4] = {};
  std::int64_t e = begin;
  for (; e + 4 <= end; e += 4) {
#pragma GCC unroll 4
    for (int r = 0; r < 4; r++) {
      const double value = c[indices[e + r]];
      const double difference = rows.value(e + r, factor) - value;
      totals[r] += difference * difference;
      covered[r] += value * value;
    }
  }
  for (int r = 0; e < end; e++, r++) {
    const double value = c[indices[e]];
    const double difference = rows.value(e, factor) - value;
    totals[r] += difference * difference;
    covered[r] += value * value;
  }
  double rest = norm - ((covered[0] + covered[1]) + (covered[2] + covered[3]));
  if (rest < 1e-2 * norm) {
    // Too few digits are left of the difference: sum over the other features instead.
    rest = 0.0;
    std::int64_t j = 0;
    for (e = begin; e < end; e++) {
      for (; j < static_cast<std::int64_t>(indices[e]); j++) rest += c[j] * c[j];
      j++;
    }
    for (; j < n_features; j++) rest += c[j] * c[j];
  }
  return ((totals[0] + totals[1]) + (totals[2] + totals[3])) + rest;
}

void own_distances_of_list(const RowSource& source, const Centers& centers, RowList list,
                           const std::int32_t* labels, double* squared) {
  with_sparse_rows(source, [&](auto rows) {
    for (std::int64_t m = 0; m < list.n; m++) {
      const std::int64_t i = list.rows[m];
      const int k = labels[i];
      squared[i] = squared_distance(rows, i, centers.exact + std::int64_t{k} * centers.n_features,
                                    centers.norms[k], centers.n_features);
    }
  });
}

void lay_out_columns(const Centers& centers, std::int64_t first, std::int64_t last,
                     float* columns) {
  const std::int64_t D = centers.n_features, n_slots = centers.n_slots;
  constexpr std::int64_t tile = 64;
  for (std::int64_t begin = first; begin < last; begin += tile) {
    const std::int64_t end = begin + tile < last ? begin + tile : last;
    for (std::int64_t k = 0; k < centers.n_clusters; k++) {
      for (std::int64_t j = begin; j < end; j++) {
        columns[j * n_slots + k] = static_cast<float>(centers.exact[k * D + j]);
      }
    }
    for (std::int64_t j = begin; j < end; j++) {
      for (std::int64_t k = centers.n_clusters; k < n_slots; k++) columns[j * n_slots + k] = 0.0f;
    }
  }
}

/// Adds x_i . c to the scores of up to `n_vectors` vectors of slots, starting with slot `first`.
template <int n_vectors, class Rows>
MODECLUST_INLINE void multiply_row(const Rows& rows, std::int64_t i, const Centers& centers,
                                   int first, float* scores) {
  using V = Vec<float, 16>;
  V sum[n_vectors];
#pragma GCC unroll 4
  for (int v = 0; v < n_vectors; v++) sum[v] = V::zero();
  const float* columns = centers.columns + first;
  const double factor = rows.factor(i);
  for (std::int64_t e = rows.begin(i); e < rows.end(i); e++) {
    const float* column = columns + static_cast<std::int64_t>(rows.indices()[e]) * centers.n_slots;
    const V x = V::splat(static_cast<float>(rows.value(e, factor)));
#pragma GCC unroll 4
    for (int v = 0; v < n_vectors; v++)
      sum[v] = fused_multiply_add(x, V::load(column + v * 16), sum[v]);
  }
#pragma GCC unroll 4
  for (int v = 0; v < n_vectors; v++) sum[v].store(scores + first + v * 16);
}

struct Nearest {
  int label;
  double lower;  // a lower bound on the squared distance to every other center
  double upper;  // an upper bound on the squared distance to the own center
};

/// The nearest of the centers with a score up to `limit`, or of all, by differences.
template <class Rows>
Nearest nearest_among(const Rows& rows, std::int64_t i, const Centers& centers, const float* scores,
                      double limit) {
  Nearest found{0, __builtin_inf(), __builtin_inf()};
  double nearest = __builtin_inf();
  for (int k = 0; k < centers.n_clusters; k++) {
    if (scores && static_cast<double>(scores[k]) > limit) continue;
    const double squared =
        squared_distance(rows, i, centers.exact + std::int64_t{k} * centers.n_features,
                         centers.norms[k], centers.n_features);
    if (squared < (1.0 - tie) * nearest) {
      found.lower = nearest;
      found.label = k;
      nearest = squared;
    } else if (squared < found.lower) {
      found.lower = squared;
    }
  }
  found.lower *= 1.0 - 1e-9;
  found.upper = nearest * (1.0 + 1e-9);
  return found;
}

template <class Rows>
Nearest nearest_center(const Rows& rows, std::int64_t i, const Centers& centers, float* scores) {
  if (!centers.columns) return nearest_among(rows, i, centers, nullptr, 0.0);
  double squared_length = 0.0;
  const double factor = rows.factor(i);
  for (std::int64_t e = rows.begin(i); e < rows.end(i); e++) {
    const double x = rows.value(e, factor);
    squared_length += x * x;
  }
  int first = 0;
  for (; first + 64 <= centers.n_slots; first += 64)
    multiply_row<4>(rows, i, centers, first, scores);
  for (; first + 32 <= centers.n_slots; first += 32)
    multiply_row<2>(rows, i, centers, first, scores);
  for (; first < centers.n_slots; first += 16) multiply_row<1>(rows, i, centers, first, scores);
  const float* offsets = static_cast<const float*>(centers.offsets);
  using V = Vec<float, 16>;
  for (int s = 0; s < centers.n_slots; s += 16) {
    fused_multiply_add(V::splat(-2.0f), V::load(scores + s), V::load(offsets + s))
        .store(scores + s);
  }
  int slot = 0;
  const Ranked<float> ranked = rank_scores<float>(scores, centers.n_slots, slot);
  const double length = __builtin_sqrt(squared_length),
               entries = static_cast<double>(rows.end(i) - rows.begin(i));
  const double margin = 4.0 * (entries + 8.0) * 0x1p-24 *
                            (2.0 * length * centers.largest_norm + centers.largest_offset) +
                        1e-9 * squared_length;
  const double reach = length + centers.largest_norm;
  const bool reliable = 1e-15 < reach && reach < 1e18;
  const double best = static_cast<double>(ranked.best), second = static_cast<double>(ranked.second);
  if (!(second > best + margin) || !reliable) {
    Nearest found = nearest_among(rows, i, centers, reliable ? scores : nullptr, best + margin);
    // The scores of the other centers are above the limit.
    const double others = squared_length + best;
    if (reliable && others < found.lower) found.lower = others > 0.0 ? others : 0.0;
    return found;
  }
  Nearest found{slot, squared_length + second - margin, squared_length + best + margin};
  found.lower = found.lower > 0.0 ? found.lower : 0.0;
  found.upper = found.upper > 0.0 ? found.upper : 0.0;
  return found;
}

std::int64_t search_list(const RowSource& source, const Centers& centers, const RowState& state,
                         RowList list, float* scores, double* squared, double* lower_sum) {
  return with_sparse_rows(source, [&](auto rows) {
    std::int64_t changed = 0;
    for (std::int64_t m = 0; m < list.n; m++) {
      const std::int64_t i = list.rows[m];
      const Nearest found = nearest_center(rows, i, centers, scores);
      const double lower = __builtin_sqrt(found.lower) * (1.0 - 1e-9);
      *lower_sum += lower < 1e38 ? lower : 1e38;
      state.lower[i] = rounded_down(lower + state.max_shift[found.label]);
      if (state.upper) {
        state.upper[i] =
            rounded_up(__builtin_sqrt(found.upper) * (1.0 + 1e-9) - state.own_shift[found.label]);
      }
      if (state.labels[i] != found.label) {
        changed++;
        state.labels[i] = found.label;
        if (squared) squared[i] = -1.0;
      }
    }
    return changed;
  });
}

template <class Rows>
MODECLUST_INLINE void add_sparse_row(const Rows& rows, std::int64_t i, double weight,
                                     double* totals) {
  const double factor = rows.factor(i);
  for (std::int64_t e = rows.begin(i); e < rows.end(i); e++) {
    totals[rows.indices()[e]] += weight * rows.value(e, factor);
  }
}

void mode_cluster(const ModePass& pass, int k, RowList list, const double* squared, double* memory,
                  ModeSums& sums) {
  constexpr int size = sparse_run + 16;
  double *own = memory, *t = memory + size, *weight = t + size, *q = weight + size,
         *precision = q + size;
  const double* all_q = pass.weights.weight;
  const double* all_precision = pass.weights.precision;
  const double factor =
      pass.inverse_squared_bandwidth * (pass.cluster_factors ? pass.cluster_factors[k] : 1.0);
  double* totals = sums.totals;
  double reference = __builtin_inf();
  for (std::int64_t m = 0; m < list.n; m++) {
    const std::int64_t i = list.rows[m];
    if (!(pass.weights.weight_of(i) > 0.0)) continue;
    const double here = squared[i] * pass.weights.precision_of(i) * factor;
    reference = here < reference ? here : reference;
    if (squared[i] < *sums.nearest_distance) {
      *sums.nearest_distance = squared[i];
      *sums.nearest = pass.first_row + i;
    }
  }
  if (reference < __builtin_inf() && has_compact_support(pass.kernel)) reference = 0.0;
  *sums.reference = reference;
  *sums.counts = list.n;
  std::int32_t labels[size];
  for (int m = 0; m < size; m++) labels[m] = 0;
  with_sparse_rows(pass.source, [&](auto rows) {
    for (std::int64_t first = 0; first < list.n; first += sparse_run) {
      const std::int64_t left = list.n - first;
      const int n = static_cast<int>(left < sparse_run ? left : sparse_run);
      const std::int64_t* some = list.rows + first;
      for (int m = 0; m < n; m++) {
        own[m] = squared[some[m]];
        if (all_q) q[m] = all_q[some[m]];
        if (all_precision) precision[m] = all_precision[some[m]];
      }
      for (int m = n; m < n + 8; m++) own[m] = 0.0;
      const double* some_q = all_q ? q : nullptr;
      const double* some_precision = all_precision ? precision : nullptr;
      const WeighedRows weighed{0, n, some_q, some_precision, labels, own, t, weight, nullptr};
      if (pass.also_at >= 0.0) measure_also(pass, weighed, sums);
      for (int m = 0; m < n; m++) {
        const double scaled = own[m] * (all_precision ? precision[m] : 1.0);
        sums.inertia += (all_q ? q[m] : 1.0) * scaled;
        sums.weight += all_q ? q[m] : 1.0;
        t[m] = scaled * factor;
        weight[m] = reference;
      }
      sums.objective += weigh_rows(pass, n, some_q, some_precision, t, weight);
      for (int m = 0; m < n; m++) {
        if (weight[m] > 0.0) {
          *sums.mass += weight[m];
          *sums.mass_squared += squared_weight(weight[m], all_q ? q[m] : 1.0);
          add_sparse_row(rows, some[m], weight[m], totals);
        }
      }
    }
  });
  if (pass.inverse_squared_bandwidth == 0.0) {
    sums.objective += sums.weight;
  } else if (pass.kernel == KernelName::gaussian && !all_precision && *sums.mass > 0.0) {
    sums.objective += *sums.mass * exp_of_minus_half(reference);
  }
}

void mean_cluster(const MeanPass& pass, int, RowList list, MeanSums& sums) {
  with_sparse_rows(pass.source, [&](auto rows) {
    for (std::int64_t m = 0; m < list.n; m++) {
      const bool leaves = list.rows[m] < 0;
      const std::int64_t i = leaves ? -1 - list.rows[m] : list.rows[m];
      const double weight = pass.weights.weight_of(i) * pass.weights.precision_of(i);
      if (!(weight > 0.0)) continue;
      *sums.counts += leaves ? -1 : 1;
      *sums.mass += leaves ? -weight : weight;
      add_sparse_row(rows, i, leaves ? -weight : weight, sums.totals);
    }
  });
}

}  // namespace

const SparseKernels MODECLUST_TABLE(sparse_kernels) = {own_distances_of_list, lay_out_columns,
                                                       search_list, mode_cluster, mean_cluster};

}  // namespace modeclust
