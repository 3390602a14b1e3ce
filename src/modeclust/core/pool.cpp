#include "pool.hpp"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#if !defined(_WIN32)
#include <pthread.h>

#include <csignal>
#endif

namespace modeclust {
namespace {

// Waking a sleeping thread takes about 100 microseconds. So a thread first waits for this many
// pauses, some tens of microseconds, before it sleeps.
constexpr int spin_count = 4000;
// Minimum time between checks for signals.
constexpr auto signal_interval = std::chrono::milliseconds(20);

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

class ThreadPool {
 public:
  std::mutex in_use;

  /// Calls job(worker) for workers 0 to n - 1, worker 0 in this thread; `in_use` must be held.
  void run(int n, const std::function<void(int)>& job) {
    n = grow(n);
    if (n > 1) {
      {
        std::lock_guard lock(mutex_);
        job_ = &job;
        n_wanted_ = n;
        n_running_.store(n - 1);
        generation_.fetch_add(1);
      }
      wake_.notify_all();
    }
    job(0);
    if (n == 1) return;
    for (int i = 0; i < spin_count; i++) {
      if (n_running_.load(std::memory_order_acquire) == 0) return;
      pause_briefly();
    }
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return n_running_.load() == 0; });
  }

 private:
  /// Starts threads until there are n workers; returns the number of workers, at most n.
  int grow(int n) {
#if !defined(_WIN32)
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // the threads inherit it: they get no signals
#endif
    try {
      while (static_cast<int>(threads_.size()) + 1 < n) {
        const int worker = static_cast<int>(threads_.size()) + 1;
        threads_.emplace_back([this, worker, seen = generation_.load()] { serve(worker, seen); });
      }
    } catch (const std::exception&) {  // no more threads available: continue with fewer
      n = static_cast<int>(threads_.size()) + 1;
    }
#if !defined(_WIN32)
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
#endif
    return n;
  }

  [[noreturn]] void serve(int worker, std::uint64_t seen) {
    for (;;) {
      for (int i = 0; i < spin_count; i++) {
        if (generation_.load(std::memory_order_acquire) != seen) break;
        pause_briefly();
      }
      const std::function<void(int)>* job = nullptr;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return generation_.load() != seen; });
        seen = generation_.load();
        if (worker < n_wanted_) job = job_;
      }
      if (!job) continue;
      (*job)(worker);
      if (n_running_.fetch_sub(1) == 1) {
        std::lock_guard lock(mutex_);
        done_.notify_one();
      }
    }
  }

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(int)>* job_ = nullptr;
  int n_wanted_ = 0;
  std::atomic<int> n_running_{0};
  std::atomic<std::uint64_t> generation_{0};
};

std::atomic<ThreadPool*> current_pool{nullptr};

/// The pool of the process. It is never deleted: its threads wait until the process ends.
ThreadPool& pool() {
  static const bool registered = [] {
#if !defined(_WIN32)
    // A forked process has no threads: it will create a new pool, and does not touch the old one.
    pthread_atfork(nullptr, nullptr, [] { current_pool.store(nullptr); });
#endif
    return true;
  }();
  (void)registered;
  ThreadPool* found = current_pool.load();
  if (!found) {
    auto* made = new ThreadPool;
    if (current_pool.compare_exchange_strong(found, made)) return *made;
    delete made;
  }
  return *found;
}

/// Runs Python's signal handlers; returns the exception that they raised, or null.
std::exception_ptr pending_signal() {
  nanobind::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() == 0) return nullptr;
  return std::make_exception_ptr(nanobind::python_error());
}

}  // namespace

void parallel_for(int n_threads, std::int64_t n_items,
                  const std::function<void(int worker, std::int64_t item)>& work) {
  using Clock = std::chrono::steady_clock;
  std::atomic<std::int64_t> next{0};
  std::atomic<bool> stopped{false};
  std::mutex error_mutex;
  std::exception_ptr error;
  auto stop_with = [&](std::exception_ptr raised) {
    std::lock_guard lock(error_mutex);
    if (!error) error = std::move(raised);
    stopped.store(true);
  };
  auto job = [&](int worker) {
    auto looked = Clock::now();
    try {
      while (!stopped.load(std::memory_order_relaxed)) {
        const std::int64_t item = next.fetch_add(1);
        if (item >= n_items) return;
        work(worker, item);
        if (worker == 0 && Clock::now() - looked > signal_interval) {
          if (auto raised = pending_signal()) stop_with(std::move(raised));
          looked = Clock::now();
        }
      }
    } catch (...) {
      stop_with(std::current_exception());
    }
  };
  const std::int64_t most = std::max(n_threads, 1);
  const int n = static_cast<int>(std::min(most, n_items));
  if (n > 1) {
    ThreadPool& threads = pool();
    std::unique_lock lock(threads.in_use, std::try_to_lock);
    if (lock) {
      threads.run(n, job);
    } else {
      job(0);
    }
  } else if (n == 1) {
    job(0);
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace modeclust
