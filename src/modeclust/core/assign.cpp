#include "assign.hpp"

#include "sums.hpp"
#include "weigh.hpp"

namespace modeclust {
namespace {

/// Calls `work` with a number of the type in which dense rows are processed.
template <class Work>
MODECLUST_INLINE auto with_number(bool single, Work work) {
  return single ? work(float{}) : work(double{});
}

std::int64_t workspace_bytes(const RowSource& source, int n_clusters, int n_groups) {
  return with_number(source.is_single(), [&](auto number) {
    Workspace<decltype(number)> space;
    return lay_out(space, nullptr, source, n_clusters, n_groups);
  });
}

/// Factor for squared bounds: a label is settled if the squared own distance is below the product.
template <class T>
double settled_factor(int n_features) {
  return (1.0 - 2.0 * own_distance_error<T>(n_features)) * (1.0 - 1e-9);
}

/// The lower bound on the distance of row i, with label k, to every other center.
MODECLUST_INLINE double bound_of(const RowState& state, std::int64_t i, int k) {
  const double bound = static_cast<double>(state.lower[i]) - state.max_shift[k];
  return bound > state.half_gaps[k] ? bound : state.half_gaps[k];
}

/// Writes the own distances of the rows of a tile, and the rows that they do not settle, in one
/// loop; for rows of up to four features. Returns the number of rows that are not settled.
template <class T, int D>
int measure_tiny_rows(const DenseTile<T>& tile, int n, std::int64_t first, const Centers& centers,
                      const RowState& state, double settled, const Workspace<T>& space) {
  const double* c0 = static_cast<const double*>(centers.rows);
  const std::int32_t* labels = state.labels + first;
  const float* lower = state.lower + first;
  double *squared = space.squared, *limit = space.t;
  for (int m = 0; m < n; m++) {
    const int k = labels[m];
    squared[m] = tiny_squared_distance<T, D>(
        tile.row(m), c0 + static_cast<std::int64_t>(k) * centers.row_stride);
    const double shifted = static_cast<double>(lower[m]) - state.max_shift[k];
    const double bound = shifted > state.half_gaps[k] ? shifted : state.half_gaps[k];
    limit[m] = bound * bound * settled;  // the bound is not negative
  }
  // Most rows are settled, so eight are tested at a time.
  int n_pending = 0;
  using V = Vec<double, 8>;
  for (int begin = 0; begin < n; begin += 8) {
    const bool whole = begin + 8 <= n;
    if (whole && bits_of(V::load(squared + begin) < V::load(limit + begin)) == 0xFF) continue;
    for (int m = begin; m < (whole ? begin + 8 : n); m++) {
      space.pending[n_pending] = m;
      n_pending += !(squared[m] < limit[m]);
    }
  }
  return n_pending;
}

template <class T>
int measure_short_rows(const DenseTile<T>& tile, int n, std::int64_t first, const Centers& centers,
                       const RowState& state, double settled, const Workspace<T>& space) {
  switch (tile.n_features) {
    case 1: return measure_tiny_rows<T, 1>(tile, n, first, centers, state, settled, space);
    case 2: return measure_tiny_rows<T, 2>(tile, n, first, centers, state, settled, space);
    case 3: return measure_tiny_rows<T, 3>(tile, n, first, centers, state, settled, space);
    default: return measure_tiny_rows<T, 4>(tile, n, first, centers, state, settled, space);
  }
}

/// Lists the rows of a tile whose clusters have factors that are not negative, and copies what
/// belongs to them. Returns their number.
template <class T>
int list_present(const ModePass& pass, std::int64_t first, int n, const Workspace<T>& space) {
  const std::int32_t* labels = pass.state.labels + first;
  int n_present = 0;
  for (int m = 0; m < n; m++) {
    space.pending[n_present] = m;
    space.before[n_present] = labels[m];
    n_present += pass.cluster_factors[labels[m]] >= 0.0;
  }
  for (int p = 0; pass.weights.weight && p < n_present; p++)
    space.q[p] = pass.weights.weight[first + space.pending[p]];
  for (int p = 0; pass.weights.precision && p < n_present; p++)
    space.precision[p] = pass.weights.precision[first + space.pending[p]];
  return n_present;
}

/// Measures, weighs and adds the rows of a tile that are not left out.
template <class T>
void add_present(const ModePass& pass, const DenseTile<T>& tile, std::int64_t first, int n_present,
                 Workspace<T>& space, ModeSums& sums) {
  const std::int32_t *labels = pass.state.labels + first, *indices = space.pending;
  own_distances(tile, {indices, n_present, labels}, pass.centers, space.squared);
  for (int p = 0; p < n_present; p++) space.squared[p] = space.squared[indices[p]];
  for (int p = n_present; p < n_present + 8; p++) space.squared[p] = 0.0;
  const double* q = pass.weights.weight;
  const double* precision = pass.weights.precision ? space.precision : nullptr;
  weigh(pass,
        {first, n_present, q ? space.q : nullptr, precision, space.before, space.squared, space.t,
         space.weight, indices},
        sums);
  for (int p = n_present - 1; p >= 0; p--) space.weight[indices[p]] = space.weight[p];
  add_tile(tile, {indices, n_present}, labels, pass.centers.n_clusters, space, Prefetch(nullptr, 0),
           {sums.mass, sums.mass_squared, q ? q + first : nullptr}, sums.totals);
}

template <class T>
void mode_block_of(const ModePass& pass, RowRange range, void* memory, ModeSums& sums) {
  const DenseRows<T> rows{pass.source};
  const Centers& centers = pass.centers;
  const RowState& state = pass.state;
  Workspace<T> space;
  lay_out(space, static_cast<char*>(memory), pass.source, centers.n_clusters, state.n_groups);
  Search<T> search(centers, state);
  const bool has_labels = state.has_bounds || !pass.reassign;
  const bool is_long = centers.n_features >= fewest_long_features;
  const double *q = pass.weights.weight, *precision = pass.weights.precision;
  const double settled = settled_factor<T>(centers.n_features);
  for (std::int64_t first = range.first; first < range.last; first += space.tile_rows) {
    const int n = static_cast<int>(range.last - first < space.tile_rows ? range.last - first
                                                                        : space.tile_rows);
    if (pass.cluster_factors && !pass.reassign) {
      const int n_present = list_present(pass, first, n, space);
      if (n_present < n) {
        if (n_present == 0) continue;
        const DenseTile<T> tile = rows.tile(first, n, space.buffer);
        add_present(pass, tile, first, n_present, space, sums);
        continue;
      }
    }
    const DenseTile<T> tile = rows.tile(first, n, space.buffer);
    std::int32_t* labels = state.labels + first;
    search.first = first;
    const bool has_next = is_long && tile.data != space.buffer && first + n < range.last;
    const std::int64_t tile_bytes =
        has_next ? n * tile.stride * static_cast<std::int64_t>(sizeof(T)) : 0;
    int n_pending = 0;
    const bool at_once = pass.reassign && state.has_bounds && centers.n_features <= 4;
    if (at_once) {
      n_pending = measure_short_rows(tile, n, first, centers, state, settled, space);
    } else if (has_labels) {
      own_distances(tile, {nullptr, n, labels}, centers, space.squared);
    }
    if (pass.reassign && !at_once) {
      if (state.has_bounds) {
        for (int m = 0; m < n; m++) {
          const double bound = bound_of(state, first + m, labels[m]);
          space.pending[n_pending] = m;
          n_pending += !(space.squared[m] < bound * bound * settled);
        }
      } else {
        for (int m = 0; m < n; m++) space.pending[m] = m;
        n_pending = n;
      }
    }
    if (n_pending) {
      sums.searched += n_pending;
      search_rows(search, tile, n_pending, space);
      for (int p = 0; p < n_pending; p++)
        sums.changed += space.before[p] != labels[space.pending[p]];
    }
    for (int m = n; m < n + 8; m++) space.squared[m] = 0.0;
    if (pass.squared_out) {
      for (int m = 0; m < n; m++) pass.squared_out[first + m] = space.squared[m];
    }
    weigh(pass,
          {first, n, q ? q + first : nullptr, precision ? precision + first : nullptr, labels,
           space.squared, space.t, space.weight, nullptr},
          sums);
    add_tile(tile, {nullptr, n}, labels, centers.n_clusters, space,
             Prefetch(reinterpret_cast<const char*>(tile.data) + tile_bytes, tile_bytes),
             {sums.mass, sums.mass_squared, q ? q + first : nullptr}, sums.totals);
  }
  add_objective(pass, sums);
  sums.lower_sum += search.lower_sum;
}

void mode_block(const ModePass& pass, RowRange range, void* memory, ModeSums& sums) {
  with_number(pass.source.is_single(),
              [&](auto number) { mode_block_of<decltype(number)>(pass, range, memory, sums); });
}

template <class T>
void mean_block_of(const MeanPass& pass, RowRange range, void* memory, MeanSums& sums) {
  const DenseRows<T> rows{pass.source};
  const Centers& centers = pass.centers;
  const RowState& state = pass.state;
  Workspace<T> space;
  lay_out(space, static_cast<char*>(memory), pass.source, centers.n_clusters, state.n_groups);
  Search<T> search(centers, state);
  const double settled = settled_factor<T>(centers.n_features);
  const double own_error = 1.0 + own_distance_error<T>(centers.n_features);
  const std::int64_t stride = totals_stride(centers.n_features);
  for (std::int64_t first = range.first; first < range.last; first += space.tile_rows) {
    const int n = static_cast<int>(range.last - first < space.tile_rows ? range.last - first
                                                                        : space.tile_rows);
    std::int32_t* labels = state.labels + first;
    search.first = first;
    int n_pending = 0;
    if (state.has_bounds) {
      // Only rows that their bounds do not settle are read and measured.
      for (int m = 0; m < n; m++) {
        const int k = labels[m];
        const double upper = static_cast<double>(state.upper[first + m]) + state.own_shift[k];
        space.pending[n_pending] = m;
        n_pending += !(upper < bound_of(state, first + m, k) * (1.0 - 1e-9));
      }
      if (n_pending == 0 && pass.only_changes) continue;
    } else {
      for (int m = 0; m < n; m++) space.pending[m] = m;
      n_pending = n;
    }
    const DenseTile<T> tile = rows.tile(first, n, space.buffer);
    sums.read += pass.only_changes ? n_pending : n;
    if (state.has_bounds && n_pending) {
      own_distances(tile, {space.pending, n_pending, labels}, centers, space.squared);
      int left = 0;
      for (int p = 0; p < n_pending; p++) {
        const int m = space.pending[p];
        const int k = labels[m];
        const double bound = bound_of(state, first + m, k);
        state.upper[first + m] =
            rounded_up(__builtin_sqrt(space.squared[m] * own_error) - state.own_shift[k]);
        space.pending[left] = m;
        left += !(space.squared[m] < bound * bound * settled);
      }
      n_pending = left;
    }
    if (n_pending) {
      sums.searched += n_pending;
      search_rows(search, tile, n_pending, space);
    }
    for (int p = 0; p < n_pending; p++) {
      const int m = space.pending[p];
      state.upper[first + m] =
          rounded_up(__builtin_sqrt(space.squared[m] * own_error) - state.own_shift[labels[m]]);
      sums.changed += space.before[p] != labels[m];
    }
    if (pass.only_changes) {
      for (int p = 0; p < n_pending; p++) {
        const int m = space.pending[p];
        const int here = labels[m], there = space.before[p];
        if (here == there) continue;
        const double weight =
            pass.weights.weight_of(first + m) * pass.weights.precision_of(first + m);
        sums.counts[here] += weight > 0.0;
        sums.counts[there] -= weight > 0.0;
        sums.mass[here] += weight;
        sums.mass[there] -= weight;
        add_row(tile.row(m), centers.n_features, weight, sums.totals + here * stride);
        add_row(tile.row(m), centers.n_features, -weight, sums.totals + there * stride);
      }
    } else {
      for (int m = 0; m < n; m++) {
        space.weight[m] = pass.weights.weight_of(first + m) * pass.weights.precision_of(first + m);
        sums.counts[labels[m]] += space.weight[m] > 0.0;
      }
      add_tile(tile, {nullptr, n}, labels, centers.n_clusters, space, Prefetch(nullptr, 0),
               {sums.mass}, sums.totals);
    }
  }
  sums.lower_sum += search.lower_sum;
}

void mean_block(const MeanPass& pass, RowRange range, void* memory, MeanSums& sums) {
  with_number(pass.source.is_single(),
              [&](auto number) { mean_block_of<decltype(number)>(pass, range, memory, sums); });
}

template <class M>
void half_gaps_in(const Centers& centers, double safe, int first, int last, double* out) {
  const M* rows = static_cast<const M*>(centers.rows);
  for (int k = first; k < last; k++) {
    const M* c = rows + static_cast<std::int64_t>(centers.slot_of[k]) * centers.row_stride;
    double nearest = __builtin_inf();
    const M *x[4], *same[4] = {c, c, c, c};
    for (int s = 0; s < centers.n_slots; s += 4) {
      M squared[4];
      for (int r = 0; r < 4; r++)
        x[r] = rows + static_cast<std::int64_t>(s + r) * centers.row_stride;
      four_squared_distances<M, M, lanes<M>, -1, false>(x, same, centers.row_stride, 0, squared);
      for (int r = 0; r < 4; r++) {
        const int other = centers.label_at[s + r];
        const double value = static_cast<double>(squared[r]);
        if (other >= 0 && other != k && value < nearest) nearest = value;
      }
    }
    // Squares that are subnormal or overflow in float32 give no bound.
    const bool usable = nearest > smallest_square && nearest < largest_square;
    out[k] = usable ? 0.5 * __builtin_sqrt(nearest) * safe : 0.0;
  }
}

void half_gaps(const Centers& centers, bool single, int first, int last, double* out) {
  with_number(single, [&](auto number) {
    using T = decltype(number);
    const double safe = 1.0 - own_distance_error<T>(centers.n_features) - 1e-9;
    if (sizeof(T) == 4 && centers.n_features >= fewest_single_features) {
      half_gaps_in<float>(centers, safe, first, last, out);
    } else {
      half_gaps_in<double>(centers, safe, first, last, out);
    }
  });
}

void merge(KernelName kernel, ModeSums& total, const ModeSums& other, int first, int last,
           std::int64_t n_features, std::int64_t stride, std::int64_t other_stride) {
  for (int k = first; k < last; k++) {
    if (other.reference[k] == __builtin_inf()) continue;
    const double* theirs = other.totals + k * other_stride;
    double* ours = total.totals + k * stride;
    if (total.reference[k] == __builtin_inf()) {
      total.reference[k] = other.reference[k];
      total.mass[k] = other.mass[k];
      total.mass_squared[k] = other.mass_squared[k];
      for (std::int64_t j = 0; j < n_features; j++) ours[j] = theirs[j];
      continue;
    }
    const double common =
        total.reference[k] < other.reference[k] ? total.reference[k] : other.reference[k];
    const double our_factor = relative_weight(kernel, total.reference[k], common);
    const double their_factor = relative_weight(kernel, other.reference[k], common);
    total.reference[k] = common;
    total.mass[k] = our_factor * total.mass[k] + their_factor * other.mass[k];
    total.mass_squared[k] = our_factor * our_factor * total.mass_squared[k] +
                            their_factor * their_factor * other.mass_squared[k];
    for (std::int64_t j = 0; j < n_features; j++) {
      ours[j] = our_factor * ours[j] + their_factor * theirs[j];
    }
  }
}

}  // namespace

const AssignKernels MODECLUST_TABLE(assign_kernels) = {workspace_bytes, mode_block, mean_block,
                                                       half_gaps, merge};

}  // namespace modeclust
