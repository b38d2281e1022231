#include "runtime/executor/thread_pool.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <thread>
#include <vector>

#include "runtime/executor/cpu.h"

namespace stillflow {
namespace {

// How long a worker looks for work before it sleeps: long enough to catch the next kernel of a step and, in a loop
// over steps, the next step. Waking it takes as long, and longer on virtual machines.
constexpr auto kTimeBeforeSleep = std::chrono::microseconds(100);
constexpr int kSpinsPerLook = 32;
constexpr int kMostWorkers = 255;

// Whether this thread is in a chunk that other threads work beside. A loop within it has all threads busy already.
thread_local bool is_in_shared_chunk = false;

// A participant's own chunks. Each begins with its own, so that from step to step a thread finds in its cache what
// it left there; who is done helps the others.
struct alignas(64) Share {
  std::atomic<int64_t> next;
  int64_t end;
};

struct Job {
  Status (*body)(void*, int64_t);
  void* arg;
  int participants;
  Share shares[kMostWorkers + 1];  // of the participants alone are set
  // Chunks from here on are not started: the lowest that failed, or 0 after an interruption.
  alignas(64) std::atomic<int64_t> limit;
  alignas(64) std::atomic<int> attached{0};  // workers that may still touch this job
  std::mutex failure_mutex;
  Status failure;

  // Before any other participant knows the job.
  void Deal(int64_t count, int to) {
    participants = to;
    limit.store(count, std::memory_order_relaxed);
    for (int i = 0; i < participants; ++i) {
      shares[i].next.store(count * i / participants, std::memory_order_relaxed);
      shares[i].end = count * (i + 1) / participants;
    }
  }

  // Calls after_each() after each chunk.
  template <typename AfterEach>
  void Work(int self, const AfterEach& after_each) {
    for (int i = 0; i < participants; ++i) {
      Share& share = shares[(self + i) % participants];
      while (share.next.load(std::memory_order_relaxed) < share.end) {
        const int64_t chunk = Take(&share);
        if (chunk >= share.end || chunk >= limit.load(std::memory_order_relaxed)) break;
        Status status = body(arg, chunk);
        if (!status.ok()) Fail(chunk, std::move(status));
        after_each();
      }
    }
  }

  // What other participants would see at once has to wait for all that has been written before.
  int64_t Take(Share* share) const {
    if (participants > 1) return share->next.fetch_add(1, std::memory_order_relaxed);
    const int64_t chunk = share->next.load(std::memory_order_relaxed);
    share->next.store(chunk + 1, std::memory_order_relaxed);
    return chunk;
  }

  // Chunks below the one that failed still run, so that the failure is the same whatever the threads do.
  void Fail(int64_t chunk, Status status) {
    std::lock_guard<std::mutex> guard(failure_mutex);
    if (chunk >= limit.load(std::memory_order_relaxed)) return;
    limit.store(chunk, std::memory_order_relaxed);
    failure = std::move(status);
  }

  void Stop() {
    std::lock_guard<std::mutex> guard(failure_mutex);
    limit.store(0, std::memory_order_relaxed);
  }
};

class Worker {
 public:
  Worker() : thread_([this] { Loop(); }) { thread_.detach(); }

  void Assign(Job* job, int participant) {
    participant_ = participant;
    job_.store(job);
    if (is_sleeping_.load()) {
      std::lock_guard<std::mutex> guard(mutex_);
      wake_.notify_one();
    }
  }

  // Takes the job back if the worker has not begun it.
  bool Revoke(Job* job) { return job_.compare_exchange_strong(job, nullptr); }

 private:
  void Loop();
  Job* Await();

  std::atomic<Job*> job_{nullptr};
  int participant_ = 0;  // of the job
  std::atomic<bool> is_sleeping_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
};

class Pool {
 public:
  // Moves up to `wanted` idle workers into `workers`, starting threads if there are too few.
  int Take(int wanted, Worker** workers) {
    std::lock_guard<std::mutex> guard(mutex_);
    while (static_cast<int>(idle_.size()) < wanted && worker_count_ < kMostWorkers && AddWorker()) {
    }
    int taken = 0;
    for (; taken < wanted && !idle_.empty(); ++taken) {
      workers[taken] = idle_.back();
      idle_.pop_back();
    }
    return taken;
  }

  void Return(Worker* worker) {
    std::lock_guard<std::mutex> guard(mutex_);
    idle_.push_back(worker);
  }

 private:
  bool AddWorker() {
    try {
      idle_.reserve(kMostWorkers);
      idle_.push_back(new Worker);
    } catch (...) {
      return false;  // no more threads to be had: the caller does the work
    }
    ++worker_count_;
    return true;
  }

  std::mutex mutex_;
  std::vector<Worker*> idle_;
  int worker_count_ = 0;
};

std::atomic<Pool*> the_pool{nullptr};

Pool* GetPool() {
  Pool* pool = the_pool.load(std::memory_order_acquire);
  if (pool != nullptr) return pool;
  auto* fresh = new Pool;
  if (the_pool.compare_exchange_strong(pool, fresh)) return fresh;
  delete fresh;
  return pool;
}

Job* Worker::Await() {
  const auto deadline = std::chrono::steady_clock::now() + kTimeBeforeSleep;
  do {
    for (int spin = 0; spin < kSpinsPerLook; ++spin) {
      if (job_.load(std::memory_order_relaxed) != nullptr) {
        if (Job* job = job_.exchange(nullptr)) return job;
      }
      PauseCpu();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  std::unique_lock<std::mutex> lock(mutex_);
  is_sleeping_.store(true);
  Job* job = nullptr;
  wake_.wait(lock, [&] { return (job = job_.exchange(nullptr)) != nullptr; });
  is_sleeping_.store(false);
  return job;
}

void Worker::Loop() {
  const FloatMode float_mode;
  is_in_shared_chunk = true;
  for (;;) {
    Job* job = Await();
    Pool* pool = GetPool();
    job->Work(participant_, [] {});
    pool->Return(this);
    job->attached.fetch_sub(1, std::memory_order_release);  // the last touch: `job` is on the caller's stack
  }
}

}  // namespace

Status ParallelFor(int threads, int64_t count, Status (*body)(void*, int64_t), void* arg,
                   const Interrupt& interrupt) {
  Job job;
  job.body = body;
  job.arg = arg;

  Worker* workers[kMostWorkers];
  int helpers = 0;
  if (threads > 1 && count > 1 && !is_in_shared_chunk) {
    const int64_t wanted = threads - 1 < count - 1 ? threads - 1 : count - 1;
    helpers = GetPool()->Take(wanted < kMostWorkers ? static_cast<int>(wanted) : kMostWorkers, workers);
  }
  job.Deal(count, helpers + 1);
  job.attached.store(helpers, std::memory_order_relaxed);
  for (int i = 0; i < helpers; ++i) workers[i]->Assign(&job, i + 1);

  bool is_interrupted = false;
  const bool was_in_shared_chunk = is_in_shared_chunk;
  is_in_shared_chunk = was_in_shared_chunk || helpers > 0;
  job.Work(0, [&] {
    if (!interrupt.is_due(interrupt.arg)) return;
    is_interrupted = true;
    job.Stop();
  });
  is_in_shared_chunk = was_in_shared_chunk;
  for (int i = 0; i < helpers; ++i) {
    if (!workers[i]->Revoke(&job)) continue;
    GetPool()->Return(workers[i]);
    job.attached.fetch_sub(1, std::memory_order_relaxed);
  }
  for (int spin = 0; job.attached.load(std::memory_order_acquire) != 0; ++spin) {
    if (spin < 10000) {
      PauseCpu();
    } else {
      std::this_thread::yield();
    }
  }
  if (is_interrupted) return Status(Code::kCancelled, nullptr);
  return std::move(job.failure);
}

void ForgetThreadsAfterFork() { the_pool.store(nullptr, std::memory_order_release); }

}  // namespace stillflow
