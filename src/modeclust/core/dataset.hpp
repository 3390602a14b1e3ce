// The rows of a dataset, as Python sees them.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <vector>

#include "arrays.hpp"
#include "rows.hpp"

namespace modeclust {

/// The kernel with a number of `modeclust.kernels`; throws if there is none.
KernelName kernel_of(int number);

/// Uninitialised memory, aligned to 64 bytes.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::int64_t n) : size_(n) {
    const std::size_t bytes = (static_cast<std::size_t>(n) * sizeof(T) + 127) / 64 * 64;
    data_.reset(static_cast<T*>(::operator new(bytes, alignment)));
  }
  T* get() const { return data_.get(); }
  T& operator[](std::int64_t i) const { return data_.get()[i]; }
  std::int64_t size() const { return size_; }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Free {
    void operator()(T* p) const { ::operator delete(p, alignment); }
  };
  std::unique_ptr<T, Free> data_;
  std::int64_t size_ = 0;
};

/// A new NumPy array (n,) or (n, m), zeroed, that owns its memory.
nb::ndarray<nb::numpy, double, nb::ndim<1>> new_vector(std::int64_t n);
nb::ndarray<nb::numpy, double, nb::ndim<2>> new_matrix(std::int64_t n, std::int64_t m);

// The largest `negligible`; beyond it, exp would underflow.
constexpr double largest_negligible = 600.0;

class Assignment;

/// The labels and bounds of some rows, without the rows.
struct KeptLabels {
  std::shared_ptr<Assignment> assignment;
};

/// Rows in memory, dense or CSR, with their weights.
class Rows {
 public:
  ~Rows();
  /// Dense rows of any number type and strides.
  Rows(AnyArray X, std::optional<Vector> weight, std::optional<Vector> precision,
       std::optional<Vector> factors, std::optional<Vector> offset, double scale, bool swapped,
       int n_clusters, int n_threads, std::int64_t first_row);
  /// CSR rows in canonical form, float32 or float64.
  Rows(AnyVector data, AnyVector indices, const AnyVector& indptr, int n_features,
       std::optional<Vector> weight, std::optional<Vector> precision, std::optional<Vector> factors,
       int n_clusters, int n_threads, std::int64_t first_row);

  std::int64_t n_rows() const { return source.n_rows; }
  int n_features() const { return source.n_features; }
  void set_precision(std::optional<Vector> precision);

  nb::ndarray<nb::numpy, double, nb::ndim<1>> keys(Vector directions);
  /// 1 / |x| of each row; infinity if that overflows.
  nb::ndarray<nb::numpy, double, nb::ndim<1>> inverse_lengths();
  /// The minimum and the maximum of each column of dense rows, which hold no NaN.
  nb::tuple column_limits();
  /// The weight of each row in a K-means step: q / s^2.
  nb::ndarray<nb::numpy, double, nb::ndim<1>> row_weights() const;
  /// Removes and returns the labels and bounds, so that the rows need not be kept in memory.
  KeptLabels detach_labels();
  /// Sets labels and bounds of the same rows, which may have been read again.
  void attach_labels(KeptLabels& kept);
  /// Digests of the rows, of their weights and of their precisions, by blocks.
  nb::tuple digest();

  RowSource source;
  RowWeights weights;
  int n_threads;
  std::int64_t first_row;        // index of the first row, if these are a part of a dataset
  double negligible = 100.0;     // see `ModePass`
  std::vector<RowRange> blocks;  // depend only on the shape of the problem, not on the threads
  std::mutex mutex;              // one pass at a time
  std::shared_ptr<Assignment> assignment;

  /// The number of threads for work on `n_numbers` numbers: one if waking others takes longer.
  int threads_for(double n_numbers) const { return n_numbers < 100000.0 ? 1 : n_threads; }
  /// The number of numbers in all rows.
  double size() const;

 private:
  template <class T>
  nb::tuple column_limits_of();
  void set_weights(std::optional<Vector> weight, std::optional<Vector> precision);
  void set_factors(std::optional<Vector> factors);
  void divide(int n_clusters);

  std::vector<nb::object> owners_;  // of what `source` points to
  std::optional<Vector> weight_, precision_, factors_, offset_;
  Buffer<std::int64_t> indptr_;
};

void bind_rows(nb::module_& m);

}  // namespace modeclust
