#include "assignment.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ordered_merge.hpp"
#include "simd.hpp"

namespace modeclust {
namespace {

const AssignKernels& kernels() { return MODECLUST_CHOOSE_TABLE(assign_kernels); }

// Distances between centers are computed only if they take at most this many differences.
constexpr double most_for_gaps = 1 << 23;
// Groups are used for at least this many centers, if their bounds take at most this share of the
// memory of the rows.
constexpr int fewest_for_groups = 48;
constexpr double group_memory = 0.125;
// Factor for the moves of centers, so that rounding never makes a bound invalid.
constexpr double widened = 1.0 + 1e-9;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A new NumPy array that owns its memory, filled with `value` if it is given.
template <class T, std::size_t N>
nb::ndarray<nb::numpy, T, nb::ndim<N>> new_array(const std::array<std::size_t, N>& shape,
                                                 std::optional<T> value = std::nullopt) {
  std::size_t size = 1;
  for (const std::size_t n : shape) size *= n;
  T* data = new T[std::max<std::size_t>(size, 1)];
  if (value) std::fill_n(data, size, *value);
  return nb::ndarray<nb::numpy, T, nb::ndim<N>>(data, N, shape.data(), owner_of(data));
}

/// Mode sums that own their memory, which is used for one block after another.
struct ModePartial {
  ModePartial(int n_clusters, int n_features)
      : k(n_clusters),
        stride(totals_stride(n_features)),
        numbers(4 * k),
        integers(2 * k),
        flags(k) {
    sums.reference = numbers.get();
    sums.mass = numbers.get() + k;
    sums.nearest_distance = numbers.get() + 2 * k;
    sums.mass_squared = numbers.get() + 3 * k;
    sums.counts = integers.get();
    sums.nearest = integers.get() + k;
    sums.also_reached = flags.get();
    totals = Buffer<double>(k * stride);
    sums.totals = totals.get();
  }
  void clear() {
    std::fill_n(sums.reference, k, infinity);
    std::fill_n(sums.mass, k, 0.0);
    std::fill_n(sums.mass_squared, k, 0.0);
    std::fill_n(sums.nearest_distance, k, infinity);
    std::fill_n(sums.counts, k, 0);
    std::fill_n(sums.nearest, k, -1);
    std::fill_n(sums.also_reached, k, 0);
    std::fill_n(sums.totals, k * stride, 0.0);
    sums.also_objective = sums.objective = sums.inertia = sums.weight = sums.lower_sum = 0.0;
    sums.changed = sums.searched = 0;
  }
  std::int64_t k, stride;
  Buffer<double> numbers, totals;
  Buffer<std::int64_t> integers;
  Buffer<std::uint8_t> flags;
  ModeSums sums{};
};

void merge_mode_sums(KernelName kernel, ModeSums& total, const ModeSums& other, int n_clusters,
                     std::int64_t n_features, std::int64_t stride, std::int64_t other_stride) {
  kernels().merge(kernel, total, other, 0, n_clusters, n_features, stride, other_stride);
  for (int k = 0; k < n_clusters; k++) {
    total.counts[k] += other.counts[k];
    if (other.nearest_distance[k] < total.nearest_distance[k]) {
      total.nearest_distance[k] = other.nearest_distance[k];
      total.nearest[k] = other.nearest[k];
    }
    total.also_reached[k] |= other.also_reached[k];
  }
  total.also_objective += other.also_objective;
  total.objective += other.objective;
  total.inertia += other.inertia;
  total.weight += other.weight;
  total.lower_sum += other.lower_sum;
  total.changed += other.changed;
  total.searched += other.searched;
}

struct MeanPartial {
  MeanPartial(int n_clusters, int n_features)
      : k(n_clusters), stride(totals_stride(n_features)), mass(k), totals(k * stride), counts(k) {
    sums.mass = mass.get();
    sums.totals = totals.get();
    sums.counts = counts.get();
  }
  void clear() {
    std::fill_n(sums.mass, k, 0.0);
    std::fill_n(sums.totals, k * stride, 0.0);
    std::fill_n(sums.counts, k, 0);
    sums.lower_sum = 0.0;
    sums.changed = sums.searched = sums.read = 0;
  }
  std::int64_t k, stride;
  Buffer<double> mass, totals;
  Buffer<std::int64_t> counts;
  MeanSums sums{};
};

/// Clears flags, such as `has_labels_`, if a pass is interrupted.
class IfInterrupted {
 public:
  explicit IfInterrupted(std::initializer_list<bool*> flags) : flags_(flags) {}
  ~IfInterrupted() {
    if (!done) {
      for (bool* flag : flags_) *flag = false;
    }
  }
  bool done = false;

 private:
  std::vector<bool*> flags_;
};

}  // namespace

Assignment::Assignment(Rows& rows)
    : rows_(&rows),
      n_rows_(rows.n_rows()),
      n_features_(rows.n_features()),
      type_(rows.source.type),
      is_sparse_(rows.source.is_sparse()),
      labels_(n_rows_) {
  std::fill_n(labels_.get(), rows.n_rows(), -1);
}

void Assignment::attach(Rows& rows) {
  if (rows.n_rows() != n_rows_ || rows.n_features() != n_features_) {
    throw nb::value_error("Labels must be attached to rows of the same shape as before.");
  }
  if (rows.source.type != type_ || rows.source.is_sparse() != is_sparse_) {
    has_bounds_ = has_upper_ = false;  // their layout is another
    type_ = rows.source.type;
    is_sparse_ = rows.source.is_sparse();
  }
  rows_ = &rows;
}

void Assignment::detach() {
  rows_ = nullptr;
  layout_.free_centers();
  workspaces_.clear();
  order_ = {};
  squared_ = {};
  columns_ = {};
}

nb::object Assignment::labels(const std::shared_ptr<Assignment>& assignment) {
  const std::size_t n = static_cast<std::size_t>(assignment->n_rows_);
  auto* shared = new std::shared_ptr<Assignment>(assignment);
  nb::capsule owner(shared,
                    [](void* p) noexcept { delete static_cast<std::shared_ptr<Assignment>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, const std::int32_t, nb::ndim<1>>(assignment->labels_.get(),
                                                                          {n}, owner));
}

void Assignment::set_labels(Rows& rows, const Labels& labels, int n_clusters) {
  if (static_cast<std::int64_t>(labels.shape(0)) != n_rows_) {
    throw nb::value_error("labels must have one number for each row.");
  }
  for (std::int64_t i = 0; i < n_rows_; i++) {
    if (labels.data()[i] < 0 || labels.data()[i] >= n_clusters) {
      throw nb::value_error("labels must be from 0 to n_clusters - 1.");
    }
  }
  const nb::gil_scoped_release release;
  const std::lock_guard lock(rows.mutex);
  check_attached(rows);
  std::copy_n(labels.data(), n_rows_, labels_.get());
  n_labels_ = n_clusters;
  has_labels_ = true;
  has_bounds_ = has_upper_ = false;
}

void Assignment::check_centers(const Matrix& centers) const {
  if (centers.shape(0) < 1 || static_cast<int>(centers.shape(1)) != n_features_) {
    throw nb::value_error("centers must have one row for each cluster and the features of X.");
  }
  if (centers.shape(0) > (1u << 30)) throw nb::value_error("There are too many centers.");
}

void Assignment::check_attached(const Rows& rows) const {
  if (rows_ != &rows) throw std::runtime_error("The labels of these rows were detached meanwhile.");
}

bool Assignment::should_group() const {
  const int K = layout_.n_clusters(), D = rows_->n_features();
  const double bytes = rows_->source.is_single() ? 4.0 : 8.0;
  return !rows_->source.is_sparse() && D > longest_short_row && K >= fewest_for_groups &&
         4.0 * layout_.n_groups() <= group_memory * D * bytes;
}

void Assignment::forget_bounds() {
  const int K = layout_.n_clusters();
  has_bounds_ = has_upper_ = false;
  max_shift_.assign(K, 0.0);
  own_shift_.assign(K, 0.0);
  half_gaps_.assign(K, 0.0);
  has_groups_ = should_group();
  layout_.group_centers(has_groups_);
  group_shift_.assign(layout_.n_groups(), 0.0);
  if (has_groups_) {
    const std::int64_t n = rows_->n_rows() * layout_.n_groups();
    if (group_lower_.size() < n) group_lower_ = Buffer<float>(n);
  }
}

bool Assignment::carry_bounds() {
  if (!has_bounds_ || bound_centers_.size() != layout_.exact().size()) return false;
  const int K = layout_.n_clusters();
  std::vector<double> moves = layout_.moves();
  for (double& move : moves) {
    if (!std::isfinite(move)) return false;
    move *= widened;
  }
  const int fastest =
      static_cast<int>(std::max_element(moves.begin(), moves.end()) - moves.begin());
  double second = 0.0;
  for (int k = 0; k < K; k++) {
    if (k != fastest) second = std::max(second, moves[k]);
  }
  for (int k = 0; k < K; k++) {
    max_shift_[k] += k == fastest ? second : moves[fastest];
    own_shift_[k] += moves[k];
  }
  for (int s = 0; has_groups_ && s < K; s += layout_.group_size()) {
    double most = 0.0;
    for (int i = s; i < std::min(K, s + layout_.group_size()); i++) {
      most = std::max(most, moves[layout_.label_at(i)]);
    }
    group_shift_[s / layout_.group_size()] += most;
  }
  // If centers jump, most bounds fail, and testing them is a waste of time.
  return moves[fastest] < mean_lower_bound_;
}

RowState Assignment::state() const {
  RowState state;
  state.labels = labels_.get();
  state.lower = lower_.get();
  state.upper = upper_.get();
  state.half_gaps = half_gaps_.data();
  state.max_shift = max_shift_.data();
  state.own_shift = own_shift_.data();
  state.group_shift = group_shift_.data();
  state.group_lower = has_groups_ ? group_lower_.get() : nullptr;
  state.n_groups = has_groups_ ? layout_.n_groups() : 0;
  state.has_bounds = has_bounds_;
  return state;
}

RowState Assignment::begin(const Matrix& centers, bool needs_upper) {
  layout_.set_centers(centers.data(), static_cast<int>(centers.shape(0)), rows_->source,
                      rows_->n_threads, bound_centers_);
  if (!carry_bounds()) forget_bounds();
  layout_.lay_out();
  if (!lower_) lower_ = Buffer<float>(rows_->n_rows());
  if (needs_upper) {
    if (!upper_) upper_ = Buffer<float>(rows_->n_rows());
    // With an infinite upper bound, the own distance of each row is computed.
    if (!has_upper_)
      std::fill_n(upper_.get(), rows_->n_rows(), std::numeric_limits<float>::infinity());
  } else {
    has_upper_ = false;
  }
  if (has_bounds_) find_half_gaps();
  // The next pass reuses the memory of the previous centers.
  bound_centers_.swap(layout_.exact());
  return state();
}

bool Assignment::is_bound_to(const Matrix& centers) const {
  if (centers.size() != bound_centers_.size() ||
      static_cast<int>(centers.shape(0)) != layout_.n_clusters()) {
    return false;
  }
  const bool rounded = layout_.is_rounded();
  for (std::size_t i = 0; i < bound_centers_.size(); i++) {
    const double value = centers.data()[i];
    const double seen = rounded ? static_cast<double>(static_cast<float>(value)) : value;
    if (seen != bound_centers_[i]) return false;
  }
  return true;
}

void Assignment::find_half_gaps() {
  const int K = layout_.n_clusters();
  const double work = static_cast<double>(K) * K * rows_->n_features();
  if (K == 1 || work > most_for_gaps || rows_->source.is_sparse()) {
    std::fill(half_gaps_.begin(), half_gaps_.end(), 0.0);
    return;
  }
  constexpr int run = 8;
  parallel_for(rows_->threads_for(work), (K + run - 1) / run, [&](int, std::int64_t i) {
    const int first = static_cast<int>(i) * run;
    kernels().half_gaps(layout_.view(), rows_->source.is_single(), first, std::min(K, first + run),
                        half_gaps_.data());
  });
}

void Assignment::end(double lower_sum) {
  if (!has_bounds_) {
    mean_lower_bound_ = lower_sum / static_cast<double>(std::max<std::int64_t>(rows_->n_rows(), 1));
  }
  n_labels_ = layout_.n_clusters();
  has_labels_ = has_bounds_ = true;
}

nb::object Assignment::mode_pass(Rows& rows, Matrix centers, int kernel,
                                 double inverse_squared_bandwidth, bool reassign, double also_at,
                                 std::optional<Vector> cluster_factors,
                                 std::optional<OutVector> squared) {
  check_centers(centers);
  if (!(inverse_squared_bandwidth >= 0.0 && inverse_squared_bandwidth < infinity)) {
    throw nb::value_error("inverse_squared_bandwidth must be finite and >= 0.");
  }
  const std::size_t K = centers.shape(0), D = centers.shape(1);
  if (cluster_factors && (cluster_factors->shape(0) != K || also_at >= 0.0)) {
    throw nb::value_error("cluster_factors must have one number for each center, without also_at.");
  }
  const bool has_factors = cluster_factors.has_value();
  if (has_factors && !std::none_of(cluster_factors->data(), cluster_factors->data() + K,
                                   [](double f) { return std::isnan(f); })) {
    throw nb::value_error("cluster_factors must be numbers.");
  }
  const bool leaves_out =
      cluster_factors && std::any_of(cluster_factors->data(), cluster_factors->data() + K,
                                     [](double f) { return f < 0.0; });
  if (leaves_out && (reassign || squared)) {
    throw nb::value_error("Rows can be left out only if labels are kept, without squared.");
  }
  if (squared && static_cast<std::int64_t>(squared->shape(0)) != n_rows_) {
    throw nb::value_error("squared must have one number for each row.");
  }
  const KernelName name = kernel_of(kernel);
  auto reference = new_array<double, 1>({K}, infinity);
  auto mass = new_array<double, 1>({K}, 0.0);
  auto mass_squared = new_array<double, 1>({K}, 0.0);
  auto totals = new_array<double, 2>({K, D});  // set in the pass
  auto counts = new_array<std::int64_t, 1>({K}, 0);
  auto nearest = new_array<std::int64_t, 1>({K}, -1);
  auto nearest_distance = new_array<double, 1>({K}, infinity);
  auto also_reached = new_array<bool, 1>({K}, false);
  ModeSums total{reference.data(),
                 mass.data(),
                 mass_squared.data(),
                 totals.data(),
                 counts.data(),
                 nearest.data(),
                 nearest_distance.data(),
                 reinterpret_cast<std::uint8_t*>(also_reached.data()),
                 0.0,
                 0.0,
                 0.0,
                 0.0,
                 0.0,
                 0,
                 0};
  {
    nb::gil_scoped_release release;
    std::lock_guard lock(rows.mutex);
    check_attached(rows);
    if (!reassign && !has_labels_) {
      throw std::runtime_error("The rows have no labels yet: a pass that assigns must come first.");
    }
    if (!reassign && static_cast<int>(K) < n_labels_) {
      throw nb::value_error("A pass that keeps labels must have a center for each of them.");
    }
    IfInterrupted forget{&has_labels_, &has_bounds_, &has_upper_};
    ModePass pass;
    pass.source = rows_->source;
    pass.weights = rows_->weights;
    if (reassign) {
      pass.state = begin(centers, false);
    } else {
      // Bounds hold for as many centers as there were.
      if (static_cast<int>(K) != layout_.n_clusters()) has_bounds_ = has_upper_ = false;
      layout_.set_centers(centers.data(), static_cast<int>(K), rows_->source, rows_->n_threads, {});
      layout_.lay_out();
      pass.state = state();
    }
    pass.centers = layout_.view();
    pass.kernel = name;
    pass.inverse_squared_bandwidth = inverse_squared_bandwidth;
    pass.cluster_factors = cluster_factors ? cluster_factors->data() : nullptr;
    pass.also_at = also_at;
    pass.reassign = reassign;
    pass.squared_out = squared ? squared->data() : nullptr;
    pass.negligible = rows_->negligible;
    pass.first_row = rows_->first_row;
    run_mode_pass(pass, total);
    if (reassign) end(total.lower_sum);
    forget.done = true;
  }
  return nb::make_tuple(reference, mass, mass_squared, totals, counts, nearest, nearest_distance,
                        also_reached, total.also_objective, total.objective, total.inertia,
                        total.weight, total.changed, total.searched, rows.source.has_unit_length());
}

void Assignment::run_mode_pass(const ModePass& pass, ModeSums& total) {
  if (rows_->source.is_sparse()) {
    run_sparse_mode_pass(pass, total);
    return;
  }
  const int K = pass.centers.n_clusters, D = pass.centers.n_features;
  std::fill_n(total.totals, std::int64_t{K} * D, 0.0);
  const int n_threads = threads();
  reduce_blocks<ModePartial>(
      n_threads, static_cast<std::int64_t>(rows_->blocks.size()),
      [&] { return std::make_unique<ModePartial>(K, D); },
      [&](int worker, std::int64_t block, ModePartial& partial) {
        partial.clear();
        kernels().mode_block(pass, rows_->blocks[block], workspaces_[worker].get(), partial.sums);
      },
      [&](const ModePartial& partial) {
        merge_mode_sums(pass.kernel, total, partial.sums, K, D, D, partial.stride);
      });
}

int Assignment::threads() {
  const int n =
      rows_->threads_for(static_cast<double>(rows_->n_rows()) * (rows_->n_features() + 16.0));
  const std::int64_t bytes = kernels().workspace(rows_->source, layout_.n_clusters(),
                                                 has_groups_ ? layout_.n_groups() : 0);
  if (static_cast<int>(workspaces_.size()) < n) workspaces_.resize(n);
  for (auto& space : workspaces_) {
    if (space.size() < bytes) space = Buffer<char>(bytes);
  }
  return n;
}

nb::object Assignment::mean_pass(Rows& rows, Matrix centers, std::optional<Matrix> after) {
  check_centers(centers);
  const std::size_t K = centers.shape(0), D = centers.shape(1);
  auto mass = new_array<double, 1>({K}, 0.0);
  auto totals = new_array<double, 2>({K, D});  // set in the pass
  auto counts = new_array<std::int64_t, 1>({K}, 0);
  MeanSums total{mass.data(), totals.data(), counts.data(), 0.0, 0, 0, 0};
  {
    nb::gil_scoped_release release;
    std::lock_guard lock(rows.mutex);
    check_attached(rows);
    IfInterrupted forget{&has_labels_, &has_bounds_, &has_upper_};
    MeanPass pass;
    pass.source = rows_->source;
    pass.weights = rows_->weights;
    pass.only_changes = after && has_upper_ && is_bound_to(*after);
    pass.state = begin(centers, true);
    pass.centers = layout_.view();
    run_mean_pass(pass, total);
    end(total.lower_sum);
    has_upper_ = true;
    forget.done = true;
  }
  return nb::make_tuple(mass, totals, counts, total.changed, total.searched, total.read,
                        rows.source.has_unit_length());
}

void Assignment::run_mean_pass(const MeanPass& pass, MeanSums& total) {
  if (rows_->source.is_sparse()) {
    run_sparse_mean_pass(pass, total);
    return;
  }
  const int K = pass.centers.n_clusters, D = pass.centers.n_features;
  std::fill_n(total.totals, std::int64_t{K} * D, 0.0);
  const int n_threads = threads();
  reduce_blocks<MeanPartial>(
      n_threads, static_cast<std::int64_t>(rows_->blocks.size()),
      [&] { return std::make_unique<MeanPartial>(K, D); },
      [&](int worker, std::int64_t block, MeanPartial& partial) {
        partial.clear();
        kernels().mean_block(pass, rows_->blocks[block], workspaces_[worker].get(), partial.sums);
      },
      [&](const MeanPartial& partial) {
        for (int k = 0; k < K; k++) {
          total.mass[k] += partial.sums.mass[k];
          total.counts[k] += partial.sums.counts[k];
          for (int j = 0; j < D; j++) {
            total.totals[std::int64_t{k} * D + j] += partial.sums.totals[k * partial.stride + j];
          }
        }
        total.lower_sum += partial.sums.lower_sum;
        total.changed += partial.sums.changed;
        total.searched += partial.sums.searched;
        total.read += partial.sums.read;
      });
}

}  // namespace modeclust
