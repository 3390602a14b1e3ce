// Partial sums of blocks, merged in the order of the blocks.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "pool.hpp"

namespace modeclust {

/// Calls `work` for each block with its own partial sums, and `merge`s these in block order.
///
/// So any number of threads gives the same bits. Partial sums are reused after they are merged:
/// there are about as many as threads.
template <class Partial, class Make, class Work, class Merge>
void reduce_blocks(int n_threads, std::int64_t n_blocks, Make make, Work work, Merge merge) {
  std::mutex mutex;
  std::map<std::int64_t, std::unique_ptr<Partial>> waiting;
  std::vector<std::unique_ptr<Partial>> spare;
  std::int64_t n_merged = 0;
  parallel_for(n_threads, n_blocks, [&](int worker, std::int64_t block) {
    std::unique_ptr<Partial> partial;
    {
      std::lock_guard lock(mutex);
      if (!spare.empty()) {
        partial = std::move(spare.back());
        spare.pop_back();
      }
    }
    if (!partial) partial = make();
    work(worker, block, *partial);
    std::lock_guard lock(mutex);
    waiting[block] = std::move(partial);
    while (!waiting.empty() && waiting.begin()->first == n_merged) {
      merge(*waiting.begin()->second);
      spare.push_back(std::move(waiting.begin()->second));
      waiting.erase(waiting.begin());
      n_merged++;
    }
  });
}

}  // namespace modeclust
