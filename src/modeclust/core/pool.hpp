// Threads that stay, and loops that share their items among them.
#pragma once

#include <cstdint>
#include <functional>

namespace modeclust {

/// Calls work(worker, item) for each item from 0 to n_items - 1, on up to `n_threads` threads.
///
/// Workers are numbered from 0, the calling thread, to n_threads - 1, and no two calls with the
/// same worker overlap. Items are started in their order. The GIL must not be held. Between items
/// the calling thread looks for signals: where a handler raises (Ctrl-C), no further item is
/// started and its exception is thrown. So is what `work` throws.
///
/// Where another call has the threads, or after a fork, the calling thread works alone.
void parallel_for(int n_threads, std::int64_t n_items,
                  const std::function<void(int worker, std::int64_t item)>& work);

}  // namespace modeclust
