#include "center_layout.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pool.hpp"

namespace modeclust {
namespace {

// With fewer numbers than this in all centers, one thread is faster.
constexpr std::int64_t fewest_for_threads = 100000;

double squared_difference(const double* a, const double* b, int n) {
  double sum = 0.0;
  for (int j = 0; j < n; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

/// |c|^2, as eight sums that the compiler can vectorize.
double squared_norm(const double* c, std::int64_t n) {
  double sums[8] = {};
  std::int64_t j = 0;
  for (; j + 8 <= n; j += 8) {
    for (int r = 0; r < 8; r++) sums[r] += c[j + r] * c[j + r];
  }
  for (int r = 0; j < n; j++, r++) sums[r] += c[j] * c[j];
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

/// Orders labels by halving: the centers of each run of `size` labels are near each other.
void order_by_halving(const double* centers, int n_features, int size, std::int32_t* labels,
                      int n) {
  if (n <= size) return;
  std::vector<double> mean(n_features, 0.0);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n_features; j++) {
      mean[j] += centers[static_cast<std::int64_t>(labels[i]) * n_features + j] / n;
    }
  }
  const auto farthest_from = [&](const double* point) {
    int best = 0;
    double most = -1.0;
    for (int i = 0; i < n; i++) {
      const double d = squared_difference(
          centers + static_cast<std::int64_t>(labels[i]) * n_features, point, n_features);
      if (d > most) {
        most = d;
        best = i;
      }
    }
    return centers + static_cast<std::int64_t>(labels[best]) * n_features;
  };
  const double* one = farthest_from(mean.data());
  const double* other = farthest_from(one);
  std::vector<std::pair<double, std::int32_t>> along(n);
  for (int i = 0; i < n; i++) {
    const double* c = centers + static_cast<std::int64_t>(labels[i]) * n_features;
    double product = 0.0;
    for (int j = 0; j < n_features; j++) product += c[j] * (one[j] - other[j]);
    along[i] = {product, labels[i]};
  }
  std::sort(along.begin(), along.end());
  for (int i = 0; i < n; i++) labels[i] = along[i].second;
  const int middle = size * std::max(1, static_cast<int>(std::lround(0.5 * n / size)));
  order_by_halving(centers, n_features, size, labels, middle);
  order_by_halving(centers, n_features, size, labels + middle, n - middle);
}

/// Returns memory for n numbers of T, set to 0.
template <class T>
T* cleared(Buffer<char>& buffer, std::int64_t n) {
  const std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(T));
  if (buffer.size() < bytes || !buffer) buffer = Buffer<char>(bytes);
  std::fill_n(buffer.get(), bytes, 0);
  return reinterpret_cast<T*>(buffer.get());
}

}  // namespace

double distance(const double* a, const double* b, std::int64_t n) {
  double sums[8] = {};  // vectorized by the compiler
  std::int64_t j = 0;
  for (; j + 8 <= n; j += 8) {
    for (int r = 0; r < 8; r++) sums[r] += (a[j + r] - b[j + r]) * (a[j + r] - b[j + r]);
  }
  for (int r = 0; j < n; j++, r++) sums[r] += (a[j] - b[j]) * (a[j] - b[j]);
  return std::sqrt(((sums[0] + sums[4]) + (sums[2] + sums[6])) +
                   ((sums[1] + sums[5]) + (sums[3] + sums[7])));
}

void CenterLayout::set_centers(const double* centers, int n_clusters, const RowSource& source,
                               int n_threads, const std::vector<double>& before) {
  const bool other_shape = n_clusters != n_clusters_ || source.n_features != n_features_;
  n_clusters_ = n_clusters;
  n_features_ = source.n_features;
  single_ = source.is_single();
  sparse_ = source.is_sparse();
  const std::int64_t D = n_features_;
  exact_.resize(n_clusters * D);
  n_threads_ = n_clusters * D < fewest_for_threads ? 1 : n_threads;
  const bool rounded = is_rounded();
  norms_.resize(n_clusters);
  moves_.resize(n_clusters);
  // Everything that reads a center is done while it is in the cache: centers of text are long.
  parallel_for(n_threads_, n_clusters, [&](int, std::int64_t k) {
    const double* from = centers + k * D;
    double* to = exact_.data() + k * D;
    if (rounded) {
      std::transform(from, from + D, to, [](double x) { return static_cast<float>(x); });
    } else {
      std::copy_n(from, D, to);
    }
    if (sparse_) norms_[k] = squared_norm(to, D);
    if (before.size() == exact_.size()) moves_[k] = distance(to, before.data() + k * D, D);
  });
  // The scores of CSR rows are always float32.
  n_slots_ =
      static_cast<int>(single_ || sparse_ ? padded<float>(n_clusters) : padded<double>(n_clusters));
  if (other_shape) group_centers(false);
}

void CenterLayout::group_centers(bool grouped) {
  label_at_.assign(n_slots_, -1);
  std::iota(label_at_.begin(), label_at_.begin() + n_clusters_, 0);
  if (grouped) {
    order_by_halving(exact_.data(), n_features_, group_size(), label_at_.data(), n_clusters_);
  }
  slot_of_.resize(n_clusters_);
  for (int s = 0; s < n_clusters_; s++) slot_of_[label_at_[s]] = s;
}

void CenterLayout::free_centers() {
  exact_ = {};
  for (Buffer<char>* buffer : {&rows_, &shifted_, &panels_, &offsets_, &shift_}) *buffer = {};
}

void CenterLayout::lay_out() {
  view_ = Centers{};
  view_.n_clusters = n_clusters_;
  view_.n_features = n_features_;
  view_.n_slots = n_slots_;
  view_.exact = exact_.data();
  view_.slot_of = slot_of_.data();
  view_.label_at = label_at_.data();
  if (sparse_) {
    lay_out_sparse();
  } else if (single_) {
    lay_out_dense<float>();
  } else {
    lay_out_dense<double>();
  }
}

void CenterLayout::lay_out_sparse() {
  float* offsets = cleared<float>(offsets_, n_slots_);
  double largest = 0.0;
  for (int k = 0; k < n_clusters_; k++) {
    offsets[k] = static_cast<float>(norms_[k]);
    largest = std::max(largest, norms_[k]);
  }
  for (int s = n_clusters_; s < n_slots_; s++) offsets[s] = 3e37f;
  view_.norms = norms_.data();
  view_.offsets = offsets;
  view_.largest_norm = std::sqrt(largest) * (1.0 + 1e-9);
  view_.largest_offset = largest;
}

template <class M>
void CenterLayout::lay_out_rows() {
  const std::int64_t D = n_features_, stride = padded<M>(D);
  M* rows = cleared<M>(rows_, n_slots_ * stride);
  for (int k = 0; k < n_clusters_; k++) {
    std::copy_n(exact_.data() + k * D, D, rows + slot_of_[k] * stride);
  }
  view_.rows = rows;
  view_.row_stride = static_cast<int>(stride);
}

template <class T>
void CenterLayout::lay_out_dense() {
  const std::int64_t D = n_features_, K = n_clusters_, L = 64 / sizeof(T), stride = padded<T>(D);
  const bool is_short = D <= longest_short_row;
  T* shifted = cleared<T>(shifted_, n_slots_ * stride);
  T* offsets = cleared<T>(offsets_, n_slots_);
  T* shift = cleared<T>(shift_, stride);
  std::vector<double> mean(D, 0.0);
  for (std::int64_t k = 0; k < K; k++) {
    for (std::int64_t j = 0; j < D; j++) mean[j] += exact_[k * D + j];
  }
  for (std::int64_t j = 0; j < D; j++) shift[j] = static_cast<T>(mean[j] / static_cast<double>(K));
  double largest_norm = 0.0, largest_shifted = 0.0, largest_offset = 0.0;
  for (std::int64_t k = 0; k < K; k++) {
    const double* c = exact_.data() + k * D;
    T* moved = shifted + slot_of_[k] * stride;
    double norm = 0.0, shifted_norm = 0.0, product = 0.0;
    for (std::int64_t j = 0; j < D; j++) {
      moved[j] = static_cast<T>(c[j] - static_cast<double>(shift[j]));
      const double m = static_cast<double>(moved[j]);
      norm += c[j] * c[j];
      shifted_norm += m * m;
      product += m * static_cast<double>(shift[j]);
    }
    const double offset = is_short ? shifted_norm : shifted_norm + 2.0 * product;
    offsets[slot_of_[k]] = static_cast<T>(offset);
    largest_norm = std::max(largest_norm, norm);
    largest_shifted = std::max(largest_shifted, shifted_norm);
    largest_offset = std::max(largest_offset, std::abs(offset));
  }
  const T far = sizeof(T) == 4 ? static_cast<T>(3e37) : static_cast<T>(1e300);
  for (int s = n_clusters_; s < n_slots_; s++) offsets[s] = far;
  if (!is_short && n_clusters_ > 12) {
    T* panels = cleared<T>(panels_, n_slots_ * D);
    for (std::int64_t s = 0; s < K; s++) {
      const T* row = shifted + s * stride;
      T* panel = panels + s / L * D * L + s % L;
      for (std::int64_t j = 0; j < D; j++) panel[j * L] = row[j];
    }
    view_.panels = panels;
  }
  if (is_rounded()) {
    lay_out_rows<float>();
  } else {
    lay_out_rows<double>();
  }
  view_.stride = static_cast<int>(stride);
  view_.shifted = shifted;
  view_.offsets = offsets;
  view_.shift = shift;
  view_.largest_norm = std::sqrt(largest_norm) * (1.0 + 1e-9);
  view_.largest_shifted_norm = std::sqrt(largest_shifted) * (1.0 + 1e-9);
  view_.largest_offset = largest_offset;
}

}  // namespace modeclust
