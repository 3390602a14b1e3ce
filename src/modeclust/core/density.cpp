#include "density.hpp"

#include "shift_leaves.hpp"
#include "shift_sparse.hpp"
#include "shift_tiles.hpp"

namespace modeclust {
namespace {

static_assert(leaf_rows == leaf_size && tree_fan == 8);

void read(const RowSource& source, RowRange range, void* buffer, double* out) {
  auto read_as = [&](auto rows) {
    using T = typename decltype(rows)::Number;
    for (std::int64_t i = range.first; i < range.last; i++) {
      const T* x = rows.tile(i, 1, static_cast<T*>(buffer)).row(0);
      double* row = out + (i - range.first) * source.n_features;
      for (int j = 0; j < source.n_features; j++) row[j] = static_cast<double>(x[j]);
    }
  };
  if (source.is_single()) {
    read_as(DenseRows<float>{source});
  } else {
    read_as(DenseRows<double>{source});
  }
}

void norms(const RowSource& source, RowRange range, void* buffer, double* norms) {
  with_rows(source, [&](auto rows) {
    using Rows = decltype(rows);
    using T = typename Rows::Number;
    for (std::int64_t i = range.first; i < range.last; i++) {
      double total = 0.0;
      if constexpr (Rows::is_sparse) {
        const double factor = rows.factor(i);
        for (std::int64_t e = rows.begin(i); e < rows.end(i); e++) {
          total += rows.value(e, factor) * rows.value(e, factor);
        }
      } else {
        const T* x = rows.tile(i, 1, static_cast<T*>(buffer)).row(0);
        for (int j = 0; j < source.n_features; j++) {
          total += static_cast<double>(x[j]) * static_cast<double>(x[j]);
        }
      }
      norms[i - range.first] = total;
    }
  });
}

}  // namespace

const DensityKernels MODECLUST_TABLE(density_kernels) = {read, norms, shift_leaves, shift_tiles,
                                                         shift_sparse};

}  // namespace modeclust
