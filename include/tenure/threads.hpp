// SPDX-License-Identifier: BSL-1.0
// thread_pool runs calls on several threads of Eigen's thread pool. <tenure/tenure.hpp> does not include this header, because
// Eigen's pool takes long to compile. Law: the results have the same bits as with one thread. Cost: a call with enough work wakes
// other threads, which takes some microseconds; in the steady state nothing is allocated.
#pragma once

#include <tenure/core/letters/hide.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>

#include <tenure/math/eigen_core.hpp>
#include <unsupported/Eigen/CXX11/ThreadPool>

#include <tenure/backend/execution.hpp>
#include <tenure/core/error.hpp>
#include <tenure/core/flush_denormals.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

/// Starts the threads of a pool of ours. A thread enters Eigen's loop when all have started: threads that wait there end only if none is
/// missing.
struct thread_starter : Eigen::StlThreadEnvironment {
  struct common_state {
#ifdef EIGEN_THREAD_LOCAL
    std::atomic<int> decision{0};  // 1: all have started; 2: one is missing, so the others end
#else
    std::atomic<int> decision{1};  // Eigen's constructor returns only after all loops have begun, so none may wait
#endif
    std::exception_ptr refusal;
  };
  std::shared_ptr<common_state> common = std::make_shared<common_state>();

  EnvThread* CreateThread(std::function<void()> loop) {
    if (common->refusal) return nullptr;
    try {
      return new EnvThread([start = common, run = std::move(loop)] {
        start->decision.wait(0);
        if (start->decision == 1) run();
      });
    } catch (...) {
      common->refusal = std::current_exception();
      return nullptr;
    }
  }
};
using started_threads = Eigen::ThreadPoolTempl<thread_starter>;

/// Throws what the system threw if it could not start a thread.
inline std::unique_ptr<started_threads> start_threads(int threads) {
  const thread_starter starter;
  auto pool = std::make_unique<started_threads>(threads, starter);
  starter.common->decision = starter.common->refusal ? 2 : 1;
  starter.common->decision.notify_all();
  if (starter.common->refusal) {
    pool.reset();
    std::rethrow_exception(starter.common->refusal);
  }
  return pool;
}

/// Another number in each process of a line of fork() calls. The threads of a pool do not follow into a child. As in storage/pool.hpp no thread waits for one
/// that registers the handler, and two may register it.
inline int forks() {
  static constinit std::atomic<int> count{0};
  static constinit std::atomic<bool> is_handled{false};
  if (!is_handled.load(std::memory_order_acquire)) {
    pthread_atfork(nullptr, nullptr, [] { count.fetch_add(1, std::memory_order_relaxed); });
    is_handled.store(true, std::memory_order_release);
  }
  return count.load(std::memory_order_relaxed);
}

/// Runs the blocks of a job on the threads of a pool. Several threads may call run() at once, also threads of the pool: the
/// caller works itself, and never waits for a thread that has not started its work.
class pool_executor final : public executor {
 public:
  explicit pool_executor(int threads, std::int64_t min_work = 0) : pool_executor(threads, min_work, threads > 1 ? start_threads(threads - 1) : nullptr) {}
  explicit pool_executor(Eigen::ThreadPoolInterface& theirs, std::int64_t min_work = 0) : pool_executor(theirs.NumThreads() + 1, min_work, nullptr) { pool_ = &theirs; }
  ~pool_executor() {
    if (is_in_child()) {
      (void)own_.release();  // it would wait for threads that are not there
      return;
    }
    own_.reset();
    // A foreign pool may still have tasks of this executor that it has not started. They read their job, so wait for them.
    while (!all_are_free()) std::this_thread::yield();
  }

  int workers() const override { return workers_; }

  void run(int count, block_function function, void* context) override {
    job* const taken = is_in_child() ? nullptr : take_job();
    if (taken == nullptr) {  // in a child of fork(), or the threads have not started earlier jobs yet: the caller does all the work itself
      for (int b = 0; b < count; ++b) function(context, b, 0);
      return;
    }
    job& j = *taken;
    const int workers = count < workers_ ? count : workers_;
    j.function = function, j.context = context, j.workers = workers, j.count = count, j.mode = float_mode::read();
    j.done.store(0, std::memory_order_relaxed);
    j.holders.store(workers, std::memory_order_relaxed);
    for (int w = 0; w < workers; ++w) {
      j.shares[static_cast<std::size_t>(w)].next.store(w * count / workers, std::memory_order_relaxed);
      j.shares[static_cast<std::size_t>(w)].end = (w + 1) * count / workers;
    }
    for (int w = 1; w < workers; ++w)
      pool_->Schedule([j = &j, w] {  // the capture is two words, so std::function stores it without an allocation
        {
          const float_mode_scope as_caller(j->mode);  // or the bits would depend on who takes a block
          detail::is_pool_thread = true;
          j->work(w);
        }
        j->owner->let_go(*j);
      });
    j.work(0);
    // Spin first: the last blocks end within microseconds, while sleeping and waking up takes tens of microseconds.
    for (int spins = 0, done; (done = j.done.load(std::memory_order_acquire)) < count;) {
      if (++spins < 4096) pause();
      else j.done.wait(done, std::memory_order_acquire);
    }
    const std::exception_ptr error = std::exchange(j.error, nullptr);
    let_go(j);
    if (error) std::rethrow_exception(error);
  }

 private:
  /// The neighbouring blocks of one worker. A worker gets the same blocks in each step, so that their data stays in its caches. A
  /// worker that has finished its own blocks takes blocks of others.
  struct alignas(64) share {
    std::atomic<int> next{0};
    int end = 0;
  };
  struct job {
    job(pool_executor* o, int max_workers) : owner(o), shares(static_cast<std::size_t>(max_workers)) {}

    void work(int worker) {
      for (int s = 0; s < workers; ++s) {
        share& from = shares[static_cast<std::size_t>((worker + s) % workers)];
        for (int b; (b = from.next.fetch_add(1, std::memory_order_relaxed)) < from.end;) {
          try {
            function(context, b, worker);
          } catch (...) {
            if (!failed.exchange(true)) error = std::current_exception();
          }
          if (done.fetch_add(1, std::memory_order_acq_rel) + 1 == count) done.notify_one();
        }
      }
    }

    pool_executor* const owner;
    std::vector<share> shares;
    block_function function = nullptr;
    void* context = nullptr;
    int workers = 0, count = 0;
    float_mode::word mode = 0;
    std::atomic<int> done{0};
    std::atomic<int> holders{1};  // the number of threads that may still read this job
    std::atomic<bool> failed{false};
    std::exception_ptr error;
    job* next_free = nullptr;
  };

  pool_executor(int threads, std::int64_t min_work, std::unique_ptr<started_threads> own)
      : executor(min_work), workers_(threads), own_(std::move(own)), pool_(own_.get()) {
    for (std::unique_ptr<job>& j : jobs_) {
      j = std::make_unique<job>(this, threads);
      let_go(*j);
    }
  }

  /// Returns a free job, or null if all jobs are in use because threads have not started earlier ones.
  job* take_job() {
    const std::lock_guard lock(busy_);
    if (free_ == nullptr) return nullptr;
    --free_count_;
    job* const j = std::exchange(free_, free_->next_free);
    j->failed.store(false, std::memory_order_relaxed);
    return j;
  }
  void let_go(job& j) {
    if (j.holders.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    const std::lock_guard lock(busy_);
    j.next_free = std::exchange(free_, &j);
    ++free_count_;
  }

  // In a child of fork() there are no threads, and another thread may have held the mutex at the fork.
  bool is_in_child() const { return forks() != forks_; }

  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }

  bool all_are_free() {
    const std::lock_guard lock(busy_);
    return free_count_ == jobs_.size();
  }

  const int workers_;
  const int forks_ = forks();
  std::mutex busy_;
  std::array<std::unique_ptr<job>, 32> jobs_;
  job* free_ = nullptr;
  std::size_t free_count_ = 0;
  std::unique_ptr<started_threads> own_;
  Eigen::ThreadPoolInterface* pool_;
};

}  // namespace detail

/// Runs calls on several threads, one of which is the caller's: tn::value_and_grad<0>(loss, pool). Results have the same bits as
/// with one thread. Copies share the threads; the threads end when the last copy is destroyed. A move is a copy.
class thread_pool {
 public:
  thread_pool(const thread_pool&) = default;
  thread_pool& operator=(const thread_pool&) = default;
  ~thread_pool() = default;
  /// Uses as many threads as the machine can run at once.
  thread_pool() : thread_pool(static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, unsigned{max_threads}))) {}
  /// Uses `threads` threads, including the caller's. Steps with less work than min_work, in elements times instructions, and
  /// products with less than twice as many multiplications, stay on the caller's thread: to wake others would take longer
  /// than they save. Throws tenure::error if threads < 1 or > max_threads, and std::system_error if the system cannot start a thread.
  /// In a child of fork(), which has no other threads, calls run on the caller's thread, with the same bits.
  explicit thread_pool(int threads, std::int64_t min_work = usual_least_work)
      : executor_(std::make_shared<detail::pool_executor>(checked(threads), min_work)) {}
  /// Uses the caller's thread and the threads of an existing Eigen pool. The pool must outlive this object; other code may use it
  /// too.
  explicit thread_pool(Eigen::ThreadPoolInterface& theirs, std::int64_t min_work = usual_least_work)
      : executor_(std::make_shared<detail::pool_executor>(theirs, min_work)) {}

  /// About 60 us of a kernel without transcendental functions, and 50 us of a product. The update of 100,000 weights, a million, took 26 us
  /// longer on two threads: the data must move between caches.
  static constexpr std::int64_t usual_least_work = std::int64_t{1} << 21;

  /// More than any machine has. A pool of n threads takes time and memory in proportion to n * n to make: 4 ms for 64, 3 s for these, on two cores.
  static constexpr int max_threads = 4096;

  /// The number of threads, including the caller's.
  int threads() const { return executor_->workers(); }

  /// Returns an object; while it exists, all computations of this thread run on the pool: const auto threads = pool.scope();
  auto scope() const { return kept_scope(executor_); }

 private:
  class [[nodiscard]] kept_scope {
   public:
    explicit kept_scope(std::shared_ptr<detail::pool_executor> on) : kept_(std::move(on)), scope_(kept_->workers() > 1 ? kept_.get() : nullptr) {}

   private:
    std::shared_ptr<detail::pool_executor> kept_;
    detail::execution_scope scope_;
  };

  static int checked(int threads) {
    if (threads < 1) throw error("tenure: thread_pool: " + std::to_string(threads) + " threads: the caller's is one of them");
    if (threads > max_threads) throw error("tenure: thread_pool: " + std::to_string(threads) + " threads: at most " + std::to_string(max_threads));
    return threads;
  }

  std::shared_ptr<detail::pool_executor> executor_;
};

}  // namespace tenure

#include <tenure/core/letters/restore.hpp>
