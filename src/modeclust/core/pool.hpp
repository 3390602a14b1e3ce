// A pool of threads, and parallel loops.
#pragma once

#include <cstdint>
#include <functional>

namespace modeclust {

/// Calls work(worker, item) for each item from 0 to n_items - 1, on up to `n_threads` threads.
///
/// Workers are numbered from 0, the calling thread, to n_threads - 1, and no two calls with the
/// same worker overlap. Items are started in order. The GIL must not be held. Between items, the
/// calling thread checks for signals. If a handler raises an exception (Ctrl-C), or `work` throws
/// one, no further item is started, and the exception is thrown.
///
/// If the threads are used by another call, and after a fork, the calling thread works alone.
void parallel_for(int n_threads, std::int64_t n_items,
                  const std::function<void(int worker, std::int64_t item)>& work);

}  // namespace modeclust
