#include "neighbors.hpp"

#include "neighbor_lists.hpp"
#include "neighbor_scores.hpp"
#include "neighbor_tree.hpp"
#include "row_distances.hpp"

namespace modeclust {
namespace {

void read(const RowSource& source, RowRange range, double* out) {
  with_rows(source, [&](auto rows) {
    const std::int64_t n = range.last - range.first;
    read_as_doubles(rows, range.first, static_cast<int>(n), source.n_features, out);
  });
}

void norms(const RowSource& source, RowRange range, const double* shift, void* buffer,
           double* norms) {
  with_rows(source, [&](auto rows) {
    using Rows = decltype(rows);
    using T = typename Rows::Number;
    for (std::int64_t i = range.first; i < range.last; i++) {
      double total = 0.0;
      if constexpr (Rows::is_sparse) {
        const double factor = rows.factor(i);
        for (std::int64_t e = rows.begin(i); e < rows.end(i); e++) {
          const double value = rows.value(e, factor);
          total += value * value;
        }
      } else {
        const T* x = rows.tile(i, 1, static_cast<T*>(buffer)).row(0);
        total = squared_difference(x, shift, source.n_features);
      }
      norms[i - range.first] = total;
    }
  });
}

}  // namespace

const NeighborKernels MODECLUST_TABLE(neighbor_kernels) = {read, norms, by_products, by_features,
                                                           in_tree};

}  // namespace modeclust
