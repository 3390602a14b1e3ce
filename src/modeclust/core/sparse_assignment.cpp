// Passes of `Assignment` over CSR rows.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "assignment.hpp"
#include "ordered_merge.hpp"
#include "simd.hpp"
#include "sparse_assign.hpp"

namespace modeclust {
namespace {

const SparseKernels& kernels() { return MODECLUST_CHOOSE_TABLE(sparse_kernels); }

}  // namespace

void Assignment::sort_rows() {
  const std::int64_t n = rows_->n_rows();
  const int K = layout_.n_clusters();
  if (!order_) order_ = Buffer<std::int64_t>(n);
  ends_.assign(K + 1, 0);
  for (std::int64_t i = 0; i < n; i++) ends_[labels_[i] + 1]++;
  for (int k = 0; k < K; k++) ends_[k + 1] += ends_[k];
  std::vector<std::int64_t> next(ends_.begin(), ends_.end() - 1);
  for (std::int64_t i = 0; i < n; i++) order_[next[labels_[i]]++] = i;
}

template <class IsWanted>
void Assignment::measure_rows(IsWanted is_wanted) {
  // Each run has rows of one cluster, so that its center stays in the cache.
  std::vector<std::int64_t> wanted;
  std::copy_if(order_.get(), order_.get() + rows_->n_rows(), std::back_inserter(wanted), is_wanted);
  std::vector<RowList> lists;
  const std::int64_t n = static_cast<std::int64_t>(wanted.size());
  for (std::int64_t first = 0; first < n; first += sparse_run) {
    lists.push_back({wanted.data() + first, std::min<std::int64_t>(sparse_run, n - first)});
  }
  parallel_for(rows_->threads_for(rows_->size()), static_cast<std::int64_t>(lists.size()),
               [&](int, std::int64_t i) {
                 kernels().own_distances(rows_->source, layout_.view(), lists[i], labels_.get(),
                                         squared_.get());
               });
}

std::int64_t Assignment::search_rows(const std::vector<std::int64_t>& pending,
                                     const RowState& state, double* squared, double* lower_sum) {
  const std::int64_t n = static_cast<std::int64_t>(pending.size());
  const std::int64_t D = rows_->n_features(), n_rows = std::max<std::int64_t>(rows_->n_rows(), 1);
  const int n_threads = rows_->threads_for(rows_->size());
  Centers centers = layout_.view();
  // Columns are laid out only if that takes less time than computing all distances by differences.
  const double length = std::max(rows_->size() / static_cast<double>(n_rows), 1.0);
  if (static_cast<double>(n) * length > 0.5 * static_cast<double>(D)) {
    const std::int64_t size = D * centers.n_slots, tile = 1024;
    if (columns_.size() < size) columns_ = Buffer<float>(size);
    parallel_for(n_threads, (D + tile - 1) / tile, [&](int, std::int64_t i) {
      kernels().lay_out_columns(centers, i * tile, std::min(D, (i + 1) * tile), columns_.get());
    });
    centers.columns = columns_.get();
  }
  const std::int64_t n_runs = (n + sparse_run - 1) / sparse_run;
  std::vector<double> lower_sums(n_runs, 0.0);
  std::vector<std::int64_t> changed(n_runs, 0);
  std::vector<Buffer<float>> scores(n_threads);
  for (auto& buffer : scores) buffer = Buffer<float>(centers.n_slots);
  parallel_for(n_threads, n_runs, [&](int worker, std::int64_t i) {
    const std::int64_t first = i * sparse_run;
    const RowList list{pending.data() + first, std::min<std::int64_t>(sparse_run, n - first)};
    changed[i] = kernels().search(rows_->source, centers, state, list, scores[worker].get(),
                                  squared, &lower_sums[i]);
  });
  std::int64_t n_changed = 0;
  for (std::int64_t i = 0; i < n_runs; i++) {
    *lower_sum += lower_sums[i];
    n_changed += changed[i];
  }
  return n_changed;
}

void Assignment::run_sparse_mode_pass(const ModePass& pass, ModeSums& total) {
  const std::int64_t n = rows_->n_rows();
  const int K = pass.centers.n_clusters;
  const std::int64_t D = pass.centers.n_features;
  if (!squared_) squared_ = Buffer<double>(n);
  const bool has_labels = !pass.reassign || pass.state.has_bounds;
  const auto is_left_out = [&](std::int64_t k) {
    return pass.cluster_factors && pass.cluster_factors[k] < 0.0;
  };
  if (has_labels) {
    sort_rows();
    measure_rows([&](std::int64_t i) { return !is_left_out(labels_[i]); });
  } else {
    std::fill_n(squared_.get(), n, -1.0);
  }
  if (pass.reassign) {
    std::vector<std::int64_t> pending;
    for (std::int64_t i = 0; i < n; i++) {
      if (pass.state.has_bounds) {
        const int k = labels_[i];
        const double bound =
            std::max(static_cast<double>(lower_[i]) - max_shift_[k], half_gaps_[k]);
        if (bound > 0.0 && squared_[i] < bound * bound * (1.0 - 1e-9)) continue;
      }
      pending.push_back(i);
    }
    total.searched = static_cast<std::int64_t>(pending.size());
    RowState state = pass.state;
    state.upper = nullptr;
    total.changed = search_rows(pending, state, squared_.get(), &total.lower_sum);
    if (total.changed || !has_labels) {
      sort_rows();
      measure_rows([&](std::int64_t i) { return squared_[i] < 0.0; });
    }
  }
  if (pass.squared_out) std::copy_n(squared_.get(), n, pass.squared_out);
  // The largest clusters first, so that all threads finish at about the same time.
  std::vector<int> clusters(K);
  for (int k = 0; k < K; k++) clusters[k] = k;
  std::stable_sort(clusters.begin(), clusters.end(),
                   [&](int a, int b) { return ends_[a + 1] - ends_[a] > ends_[b + 1] - ends_[b]; });
  const int n_threads = rows_->threads_for(rows_->size());
  std::vector<Buffer<double>> memory(n_threads);
  for (auto& buffer : memory) buffer = Buffer<double>(5 * (sparse_run + 16));
  std::vector<ModeSums> sums(K);
  for (int k = 0; k < K; k++) {
    sums[k] = total;
    sums[k].reference += k;
    sums[k].mass += k;
    sums[k].mass_squared += k;
    sums[k].totals += k * D;
    sums[k].counts += k;
    sums[k].nearest += k;
    sums[k].nearest_distance += k;
    sums[k].also_reached += k;
    sums[k].also_objective = sums[k].objective = sums[k].inertia = sums[k].weight = 0.0;
  }
  parallel_for(n_threads, K, [&](int worker, std::int64_t item) {
    const int k = clusters[item];
    std::fill_n(sums[k].totals, D, 0.0);
    if (is_left_out(k)) return;
    kernels().mode_cluster(pass, k, {order_.get() + ends_[k], ends_[k + 1] - ends_[k]},
                           squared_.get(), memory[worker].get(), sums[k]);
  });
  for (int k = 0; k < K; k++) {
    total.also_objective += sums[k].also_objective;
    total.objective += sums[k].objective;
    total.inertia += sums[k].inertia;
    total.weight += sums[k].weight;
  }
}

void Assignment::run_sparse_mean_pass(const MeanPass& pass, MeanSums& total) {
  const std::int64_t n = rows_->n_rows();
  const int K = pass.centers.n_clusters;
  const std::int64_t D = pass.centers.n_features;
  if (!squared_) squared_ = Buffer<double>(n);
  std::vector<std::int64_t> pending;
  const auto bound_of = [&](std::int64_t i, int k) {
    return std::max(static_cast<double>(lower_[i]) - max_shift_[k], half_gaps_[k]);
  };
  if (pass.state.has_bounds) {
    std::vector<std::int64_t> unsure;
    for (std::int64_t i = 0; i < n; i++) {
      const int k = labels_[i];
      if (!(static_cast<double>(upper_[i]) + own_shift_[k] < bound_of(i, k) * (1.0 - 1e-9))) {
        unsure.push_back(i);
      }
    }
    const std::int64_t n_unsure = static_cast<std::int64_t>(unsure.size());
    parallel_for(rows_->threads_for(rows_->size()), (n_unsure + sparse_run - 1) / sparse_run,
                 [&](int, std::int64_t i) {
                   const std::int64_t first = i * sparse_run;
                   kernels().own_distances(rows_->source, layout_.view(),
                                           {unsure.data() + first,
                                            std::min<std::int64_t>(sparse_run, n_unsure - first)},
                                           labels_.get(), squared_.get());
                 });
    for (const std::int64_t i : unsure) {
      const int k = labels_[i];
      const double bound = bound_of(i, k), own = std::sqrt(squared_[i]) - own_shift_[k];
      upper_[i] = static_cast<float>(own + 1.2e-7 * std::abs(own) + 3e-45);
      if (!(bound > 0.0 && squared_[i] < bound * bound * (1.0 - 1e-9))) pending.push_back(i);
    }
    total.read = pass.only_changes ? n_unsure : n;
  } else {
    for (std::int64_t i = 0; i < n; i++) pending.push_back(i);
    total.read = n;
  }
  total.searched = static_cast<std::int64_t>(pending.size());
  std::vector<std::int32_t> before;
  if (pass.only_changes) {
    before.reserve(pending.size());
    for (const std::int64_t i : pending) before.push_back(labels_[i]);
  }
  total.changed = search_rows(pending, pass.state, nullptr, &total.lower_sum);
  // The rows that join and leave each cluster, in order.
  std::vector<std::vector<std::int64_t>> lists(K);
  if (pass.only_changes) {
    for (std::size_t p = 0; p < pending.size(); p++) {
      const std::int64_t i = pending[p];
      if (before[p] == labels_[i]) continue;
      lists[labels_[i]].push_back(i);
      lists[before[p]].push_back(-1 - i);
    }
  } else {
    for (std::int64_t i = 0; i < n; i++) lists[labels_[i]].push_back(i);
  }
  parallel_for(rows_->threads_for(rows_->size()), K, [&](int, std::int64_t k) {
    std::fill_n(total.totals + k * D, D, 0.0);
    MeanSums sums{total.mass + k, total.totals + k * D, total.counts + k, 0.0, 0, 0, 0};
    kernels().mean_cluster(pass, static_cast<int>(k),
                           {lists[k].data(), static_cast<std::int64_t>(lists[k].size())}, sums);
  });
}

}  // namespace modeclust
