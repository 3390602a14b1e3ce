// The search for the nearest center of dense rows.
//
// The label of a row is its nearest center by differences in doubles; the lowest label on a tie.
// All searches give exactly this label. Fast scores only select the centers that can be the
// nearest, with a margin for rounding. If they leave more than one center, differences decide.
//
// The score of a center is |x - c|^2 minus a number that is the same for all centers of a row. With
// c' = c - shift it is |c'|^2 + 2 shift.c' - 2 x.c', or |c'|^2 - 2 x'.c' with x' = x - shift. The
// shift is the mean of the centers. It keeps products small if the data are far from the origin.
#pragma once

#include "center_products.hpp"
#include "distances.hpp"

namespace modeclust {
namespace {

// The score of a center that is known not to be the nearest.
template <class T>
constexpr T far_score = sizeof(T) == 4 ? static_cast<T>(3e37) : static_cast<T>(1e300);

/// Working memory for one tile.
template <class T>
struct Workspace {
  T* buffer;              // (n, D) rows that had to be converted
  double* squared;        // (n,) distances to the own center
  double* t;              // (n,) squared distances in bandwidths
  double* weight;         // (n,) weights in the sums
  double* q;              // (n,) sample weights of rows that are not left out
  double* precision;      // (n,)
  std::int32_t* pending;  // (n,) rows to be searched
  std::int32_t* before;   // (n,) their previous labels; the labels of rows that are not left out
  std::int32_t* order;    // (n,) rows by cluster
  std::int32_t* ends;     // (K + 1,) the ends of the clusters in `order`
  T* scores;              // (batch, n_slots)
  T* transposed;          // (D, 2 lanes)
  std::uint8_t* open;     // (batch, G) whether a group may have the nearest center
  int tile_rows;
  int batch;  // number of long rows that are searched together
};

/// Number of rows in a tile, which stay in the cache from one stage of a pass to the next.
template <class T>
int rows_of_tile(int n_features) {
  const std::int64_t bytes = n_features >= 64 ? 1 << 18 : 1 << 17;
  std::int64_t n = bytes / (n_features * static_cast<std::int64_t>(sizeof(T)));
  n = n > 2048 ? 2048 : n < 32 ? 32 : n;
  return static_cast<int>(n / 8 * 8);
}

/// Lays out a workspace in the memory at `base`; returns its size in bytes.
template <class T>
std::int64_t lay_out(Workspace<T>& space, char* base, const RowSource& source, int n_clusters,
                     int n_groups) {
  const int n_features = source.n_features;
  const bool is_short = n_features <= longest_short_row;
  const std::int64_t n_slots = padded<T>(n_clusters);
  std::int64_t used = 0;
  const auto take = [&](std::int64_t bytes) {
    char* found = base ? base + used : nullptr;
    used += (bytes + 63) / 64 * 64;
    return found;
  };
  space.tile_rows = rows_of_tile<T>(n_features);
  const std::int64_t n = space.tile_rows + 16;  // vectors may be written past the last row
  const std::int64_t wanted = (1 << 17) / (n_slots * static_cast<std::int64_t>(sizeof(T)));
  space.batch = is_short ? 0 : static_cast<int>(wanted < 32 ? 32 : wanted > n ? n : wanted);
  const bool in_place = DenseRows<T>{source}.in_place();
  space.buffer = reinterpret_cast<T*>(take(in_place ? 0 : n * n_features * sizeof(T)));
  space.squared = reinterpret_cast<double*>(take(n * 8));
  space.t = reinterpret_cast<double*>(take(n * 8));
  space.weight = reinterpret_cast<double*>(take(n * 8));
  space.q = reinterpret_cast<double*>(take(n * 8));
  space.precision = reinterpret_cast<double*>(take(n * 8));
  space.pending = reinterpret_cast<std::int32_t*>(take(n * 4));
  space.before = reinterpret_cast<std::int32_t*>(take(n * 4));
  space.order = reinterpret_cast<std::int32_t*>(take(n * 4));
  space.ends = reinterpret_cast<std::int32_t*>(take((n_clusters + 2) * 4));
  space.scores = reinterpret_cast<T*>(take(space.batch * n_slots * sizeof(T)));
  space.transposed = reinterpret_cast<T*>(take(is_short ? 128 * n_features : 0));
  space.open =
      reinterpret_cast<std::uint8_t*>(take(static_cast<std::int64_t>(space.batch) * n_groups));
  return used;
}

/// A finite float32 that is at most `value`.
MODECLUST_INLINE float rounded_down(double value) {
  const double lower = value * (1.0 - 1.2e-7) - 3e-45;
  return static_cast<float>(lower < 1e38 ? lower : 1e38);
}

/// A float32 that is at least `value`.
MODECLUST_INLINE float rounded_up(double value) {
  return static_cast<float>(value + 1.2e-7 * __builtin_fabs(value) + 3e-45);
}

/// The context of a search: centers, bounds and rounding errors.
template <class T>
struct Search {
  const Centers& centers;
  const RowState& state;
  std::int64_t first;  // the first row of the tile
  double own_error;    // relative error of own distances
  double rounding;     // error of a score, relative to |x| |c'| and to its offset
  double lower_sum = 0.0;

  Search(const Centers& c, const RowState& s)
      : centers(c),
        state(s),
        first(0),
        own_error(own_distance_error<T>(c.n_features)),
        rounding(4.0 * (c.n_features + 8.0) * (sizeof(T) == 4 ? 0x1p-24 : 0x1p-53)) {}

  std::int32_t& label(int index) const { return state.labels[first + index]; }
  const double* exact(int k) const {
    return centers.exact + static_cast<std::int64_t>(k) * centers.n_features;
  }
};

/// The nearest of the centers with a score up to `limit`, or of all centers if `scores` is null.
template <class T>
int nearest_by_differences(const Search<T>& search, const T* x, const T* scores, double limit) {
  const Centers& centers = search.centers;
  int best = 0;
  double nearest = __builtin_inf();
  for (int k = 0; k < centers.n_clusters; k++) {
    if (scores && static_cast<double>(scores[centers.slot_of[k]]) > limit) continue;
    const double squared = exact_squared_distance(x, search.exact(k), centers.n_features);
    if (squared < (1.0 - tie) * nearest) {
      best = k;
      nearest = squared;
    }
  }
  return best;
}

/// The lowest and the second lowest score of a row.
template <class T>
struct Ranked {
  T best, second;
};

/// Sets the label of a row, and its lower bound.
///
/// On entry, the label has the lowest score. It is kept if the second lowest score is above it by
/// more than the margin; otherwise differences decide. `squared` has the squared own distances, by
/// index in the tile. Returns the margin of the scores, or infinity if they are not reliable.
template <class T>
double settle_row(Search<T>& search, const DenseTile<T>& tile, int index, Ranked<T> ranked,
                  const T* scores, double* squared) {
  const Centers& centers = search.centers;
  const bool is_short = centers.n_features <= longest_short_row;
  // Between these lengths, no product in T overflows or loses digits.
  constexpr double smallest = sizeof(T) == 4 ? 1e-15 : 1e-140;
  constexpr double greatest = sizeof(T) == 4 ? 1e18 : 1e150;
  const double nearest = squared[index];
  const double distance = __builtin_sqrt(nearest);
  const double length = distance + (is_short ? centers.largest_shifted_norm : centers.largest_norm);
  const bool reliable = smallest < length && length < greatest;
  const double margin =
      search.rounding * (2.0 * length * centers.largest_shifted_norm + centers.largest_offset) +
      (2.0 * tie + 2.0 * search.own_error) * nearest;
  const double best = static_cast<double>(ranked.best), second = static_cast<double>(ranked.second);
  double bound = nearest + (second - best) - margin;
  if (!(second > best + margin) || !reliable) {
    const T* among = reliable ? scores : nullptr;
    const int k = nearest_by_differences(search, tile.row(index), among, best + margin);
    if (k != search.label(index)) {
      search.label(index) = k;
      own_distances(tile, {&index, 1, search.state.labels + search.first}, centers, squared);
    }
    bound = squared[index] * (1.0 - 2.0 * search.own_error - 2.0 * tie);
  }
  const double lower = __builtin_sqrt(bound > 0.0 ? bound : 0.0) * (1.0 - 1e-9);
  search.lower_sum += lower;
  search.state.lower[search.first + index] =
      rounded_down(lower + search.state.max_shift[search.label(index)]);
  return reliable ? margin : __builtin_inf();
}

/// Searches short rows: two vectors of transposed rows at a time, one center after the other.
template <class T>
void search_short_rows(Search<T>& search, const DenseTile<T>& tile, int n_pending,
                       Workspace<T>& space) {
  constexpr int L = lanes<T>;
  using V = Vec<T, L>;
  using I = typename IntegerOf<T>::type;
  using M = Vec<I, L>;
  const Centers& centers = search.centers;
  const int D = centers.n_features, K = centers.n_clusters, stride = centers.stride;
  const T* shifted = static_cast<const T*>(centers.shifted);
  const T* offsets = static_cast<const T*>(centers.offsets);
  const T* shift = static_cast<const T*>(centers.shift);
  for (int p = 0; p < n_pending; p += 2 * L) {
    const int n = smaller(2 * L, n_pending - p);
    for (int r = 0; r < 2 * L; r++) {
      const T* x = tile.row(space.pending[p + smaller(r, n - 1)]);
      for (int j = 0; j < D; j++) space.transposed[j * 2 * L + r] = x[j] - shift[j];
    }
    V best[2], second[2];
    M index[2];
    for (int v = 0; v < 2; v++) {
      best[v] = second[v] = V::splat(far_score<T>);
      index[v] = M::splat(0);
    }
    int k = 0;
    const auto compare = [&]<int n_centers>() __attribute__((always_inline)) {
      V product[n_centers][2];
#pragma GCC unroll 4
      for (int q = 0; q < n_centers; q++) product[q][0] = product[q][1] = V::zero();
      const T* c = shifted + static_cast<std::int64_t>(k) * stride;
      for (int j = 0; j < D; j++) {
        const V x = V::load(space.transposed + j * 2 * L);
        const V y = V::load(space.transposed + j * 2 * L + L);
#pragma GCC unroll 4
        for (int q = 0; q < n_centers; q++) {
          const V b = V::splat(c[q * stride + j]);
          product[q][0] = fused_multiply_add(b, x, product[q][0]);
          product[q][1] = fused_multiply_add(b, y, product[q][1]);
        }
      }
#pragma GCC unroll 4
      for (int q = 0; q < n_centers; q++) {
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++) {
          const V score =
              fused_multiply_add(V::splat(T(-2)), product[q][v], V::splat(offsets[k + q]));
          const M lower = score < best[v];
          const V other = V::select(lower, best[v], score);
          second[v] = min(second[v], other);
          best[v] = V::select(lower, score, best[v]);
          index[v] = M::select(lower, M::splat(static_cast<I>(k) + q), index[v]);
        }
      }
      k += n_centers;
    };
    constexpr int most = register_bytes == 64 ? 4 : 2;
    while (k + most <= K) compare.template operator()<most>();
    while (k < K) compare.template operator()<1>();
    T lowest[2 * L], following[2 * L];
    I found[2 * L];
    for (int v = 0; v < 2; v++) {
      best[v].store(lowest + v * L);
      second[v].store(following + v * L);
      index[v].store(found + v * L);
    }
    for (int r = 0; r < n; r++) {
      std::int32_t& label = search.label(space.pending[p + r]);
      space.before[p + r] = label;
      label = static_cast<std::int32_t>(found[r]);
    }
    own_distances(tile, {space.pending + p, n, search.state.labels + search.first}, centers,
                  space.squared);
    for (int r = 0; r < n; r++) {
      settle_row<T>(search, tile, space.pending[p + r], {lowest[r], following[r]}, nullptr,
                    space.squared);
    }
  }
}

/// The lowest of n scores (whole vectors), its slot, and the second lowest.
template <class T>
MODECLUST_INLINE Ranked<T> rank_scores(const T* scores, int n, int& slot) {
  constexpr int L = lanes<T>;
  using V = Vec<T, L>;
  using I = typename IntegerOf<T>::type;
  using M = Vec<I, L>;
  I numbers[L];
  for (int l = 0; l < L; l++) numbers[l] = l;
  const M count = M::load(numbers);
  V best = V::load(scores), second = V::splat(far_score<T>);
  M index = count;
  for (int k = L; k < n; k += L) {
    const V score = V::load(scores + k);
    const M lower = score < best;
    second = min(second, V::select(lower, best, score));
    best = V::select(lower, score, best);
    index = M::select(lower, count + M::splat(static_cast<I>(k)), index);
  }
  T b[L], s[L];
  I p[L];
  best.store(b);
  second.store(s);
  index.store(p);
  Ranked<T> found{b[0], s[0]};
  slot = static_cast<int>(p[0]);
  for (int l = 1; l < L; l++) {
    const bool lower = b[l] < found.best;
    const T other = lower ? found.best : b[l];
    found.second = other < found.second ? other : found.second;
    found.second = s[l] < found.second ? s[l] : found.second;
    found.best = lower ? b[l] : found.best;
    slot = lower ? static_cast<int>(p[l]) : slot;
  }
  return found;
}

/// The lowest score of a group, except the score in slot `own`.
template <class T>
MODECLUST_INLINE T lowest_of_group(const T* scores, int own) {
  T lowest = far_score<T>;
  for (int l = 0; l < lanes<T>; l++) {
    const T score = l == own ? far_score<T> : scores[l];
    lowest = score < lowest ? score : lowest;
  }
  return lowest;
}

/// Updates the bounds of a row for the groups that were searched, and its bound for all groups.
template <class T>
void renew_group_bounds(Search<T>& search, int index, const T* scores, const std::uint8_t* open,
                        double margin, const double* squared) {
  constexpr int L = lanes<T>;
  const Centers& centers = search.centers;
  const RowState& state = search.state;
  const int label = search.label(index), own = centers.slot_of[label];
  const std::int64_t i = search.first + index;
  float* group_lower = state.group_lower + i * state.n_groups;
  double lower = __builtin_inf();
  for (int g = 0; g < state.n_groups; g++) {
    double bound;
    if (!open || open[g]) {
      const double lowest = static_cast<double>(lowest_of_group(scores + g * L, own - g * L));
      bound = squared[index] + (lowest - static_cast<double>(scores[own])) - margin;
      bound = bound > 0.0 ? __builtin_sqrt(bound) * (1.0 - 1e-9) : 0.0;
      group_lower[g] = rounded_down(bound + state.group_shift[g]);
    } else {
      bound = static_cast<double>(group_lower[g]) - state.group_shift[g];
    }
    lower = bound < lower ? bound : lower;
  }
  state.lower[i] = rounded_down((lower > 0.0 ? lower : 0.0) + state.max_shift[label]);
}

/// Searches long rows by dot products; with bounds, only groups that may have the nearest center.
template <class T>
void search_long_rows(Search<T>& search, const DenseTile<T>& tile, const std::int32_t* indices,
                      std::int32_t* before, int n, Workspace<T>& space) {
  constexpr int L = lanes<T>;
  using V = Vec<T, L>;
  const Centers& centers = search.centers;
  const RowState& state = search.state;
  const T* shifted = static_cast<const T*>(centers.shifted);
  const T* offsets = static_cast<const T*>(centers.offsets);
  const T* panels = static_cast<const T*>(centers.panels);
  const int K = centers.n_clusters, n_slots = centers.n_slots, stride = centers.stride;
  const int G = n_slots / L;
  const std::int64_t panel_size = static_cast<std::int64_t>(tile.n_features) * L;
  const bool by_groups = state.group_lower && state.has_bounds;
  for (int p = 0; p < n; p++) {
    for (int s = K; s < n_slots; s++)
      space.scores[static_cast<std::int64_t>(p) * n_slots + s] = T(0);
  }
  if (by_groups) {
    for (int p = 0; p < n; p++) {
      const std::int64_t i = search.first + indices[p];
      const double distance =
          __builtin_sqrt(space.squared[indices[p]] * (1.0 + 2.0 * search.own_error));
      std::uint8_t* open = space.open + static_cast<std::int64_t>(p) * G;
      for (int g = 0; g < G; g++) {
        const double bound =
            static_cast<double>(state.group_lower[i * G + g]) - state.group_shift[g];
        open[g] = !(distance < bound * (1.0 - 1e-9));
      }
      open[centers.slot_of[state.labels[i]] / L] = 1;
    }
    for (int g = 0; g < G; g++) {
      int n_open = 0;
      for (int p = 0; p < n; p++) {
        space.order[n_open] = p;
        n_open += space.open[static_cast<std::int64_t>(p) * G + g];
      }
      if (n_open) {
        products_of<T>(tile, indices, space.order, n_open,
                       shifted + static_cast<std::int64_t>(g) * L * stride, stride,
                       smaller(L, K - g * L), space.scores + g * L, n_slots);
      }
    }
  } else if (K <= 12) {
    products_of<T>(tile, indices, nullptr, n, shifted, stride, K, space.scores, n_slots);
  } else {
    int g = 0;
    for (; g + product_panels <= G; g += product_panels) {
      panel_products<T, product_panels>(tile, indices, n, panels + g * panel_size, panel_size,
                                        space.scores + g * L, n_slots);
    }
    for (; g < G; g++) {
      panel_products<T, 1>(tile, indices, n, panels + g * panel_size, panel_size,
                           space.scores + g * L, n_slots);
    }
  }
  Ranked<T> ranked[64];
  for (int begin = 0; begin < n; begin += 64) {
    const int end = smaller(begin + 64, n);
    std::int32_t changed[64];
    int n_changed = 0;
    for (int p = begin; p < end; p++) {
      T* scores = space.scores + static_cast<std::int64_t>(p) * n_slots;
      const std::uint8_t* open = space.open + static_cast<std::int64_t>(p) * G;
      for (int g = 0; g < G; g++) {
        const V score = by_groups && !open[g]
                            ? V::splat(far_score<T>)
                            : fused_multiply_add(V::splat(T(-2)), V::load(scores + g * L),
                                                 V::load(offsets + g * L));
        score.store(scores + g * L);
      }
      int slot = 0;
      ranked[p - begin] = rank_scores<T>(scores, n_slots, slot);
      // If no score is a number, the slot has no center. Differences decide then, see `settle_row`.
      const std::int32_t found = centers.label_at[slot] < 0 ? 0 : centers.label_at[slot];
      std::int32_t& label = search.label(indices[p]);
      before[p] = label;
      changed[n_changed] = indices[p];
      n_changed += !state.has_bounds || label != found;
      label = found;
    }
    if (n_changed) {
      own_distances(tile, {changed, n_changed, state.labels + search.first}, centers,
                    space.squared);
    }
    for (int p = begin; p < end; p++) {
      const T* scores = space.scores + static_cast<std::int64_t>(p) * n_slots;
      const double margin =
          settle_row<T>(search, tile, indices[p], ranked[p - begin], scores, space.squared);
      if (state.group_lower) {
        renew_group_bounds<T>(search, indices[p], scores,
                              by_groups ? space.open + static_cast<std::int64_t>(p) * G : nullptr,
                              margin, space.squared);
      }
    }
  }
}

/// Sets label, own distance and bounds of the pending rows of a tile. Their previous labels are
/// kept in `space.before`.
template <class T>
void search_rows(Search<T>& search, const DenseTile<T>& tile, int n_pending, Workspace<T>& space) {
  if (search.centers.n_features <= longest_short_row) {
    search_short_rows<T>(search, tile, n_pending, space);
    return;
  }
  for (int p = 0; p < n_pending; p += space.batch) {
    search_long_rows<T>(search, tile, space.pending + p, space.before + p,
                        smaller(space.batch, n_pending - p), space);
  }
}

}  // namespace
}  // namespace modeclust
