#include "runtime/executor/host_watch.h"

#include <pthread.h>
#include <time.h>

#if defined(__linux__)
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <list>
#include <mutex>
#include <thread>

#include "runtime/executor/lanes.h"

namespace stillflow {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPeriod(5);
constexpr int kLooks = 5;                  // in a row at which a thread sleeps that waits
constexpr int64_t kBusyNanos = 1'000'000;  // a thread that used so much in that time does not wait
constexpr std::chrono::milliseconds kLate(200);
constexpr std::chrono::seconds kLongest(10);  // what takes longer counts as waiting: it may wait in a busy loop
constexpr std::chrono::seconds kIdle(1);      // before the thread that looks goes to sleep

// What the system knows of a thread.
class ThreadActivity {
 public:
  ThreadActivity() {
#if defined(__linux__)
    has_clock_ = pthread_getcpuclockid(pthread_self(), &clock_) == 0;
    std::snprintf(path_, sizeof path_, "/proc/self/task/%ld/stat", syscall(SYS_gettid));
#endif
  }

  // Time of a processor that it has used, in nanoseconds.
  int64_t used_nanos() const {
#if defined(__linux__)
    timespec used;
    if (has_clock_ && clock_gettime(clock_, &used) == 0) return used.tv_sec * int64_t{1'000'000'000} + used.tv_nsec;
#endif
    return 0;
  }

  bool is_asleep() const {
#if defined(__linux__)
    const int file = open(path_, O_RDONLY | O_CLOEXEC);
    if (file < 0) return true;
    char text[128];
    const ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    if (size <= 0) return true;
    text[size] = 0;
    const char* state = std::strrchr(text, ')');  // "number (name) state ..."
    return state == nullptr || std::strlen(state) < 3 || state[2] != 'R';
#else
    return true;
#endif
  }

 private:
#if defined(__linux__)
  clockid_t clock_;
  bool has_clock_ = false;
  char path_[48];
#endif
};

struct Watched {
  explicit Watched(Lane* watched_lane) : lane(watched_lane) {}

  // Whether the thread has waited since the last looks.
  bool Waits(Clock::time_point now) {
    if (now - start > kLongest) return true;
    const int64_t used = thread.used_nanos();
    if (!thread.is_asleep() || looks == 0) {
      looks = thread.is_asleep() ? 1 : 0;
      used_before = used;
      return false;
    }
    if (++looks <= kLooks) return false;
    const bool is_busy = used - used_before > kBusyNanos;
    looks = 1;
    used_before = used;
    return !is_busy;
  }

  Lane* const lane;
  const ThreadActivity thread;
  const Clock::time_point start = Clock::now();
  int looks = 0;  // in a row at which the thread slept
  int64_t used_before = 0;
};

class Watcher {
 public:
  void Add(Lane* lane) {
    const std::lock_guard<std::mutex> guard(mutex_);
    watched_.emplace_back(lane);
    if (!is_started_) {
      is_started_ = true;
      std::thread([this] { Loop(); }).detach();
    } else if (is_sleeping_) {
      wake_.notify_one();
    }
  }

  void Remove(const Lane* lane) {
    const std::lock_guard<std::mutex> guard(mutex_);
    for (auto entry = watched_.rbegin(); entry != watched_.rend(); ++entry) {
      if (entry->lane != lane) continue;
      watched_.erase(std::next(entry).base());
      return;
    }
  }

 private:
  void Loop() {
    std::unique_lock<std::mutex> lock(mutex_);
    Clock::time_point last_use = Clock::now();
    for (;;) {
      const Clock::time_point now = Clock::now();
      if (!watched_.empty()) last_use = now;
      for (Watched& entry : watched_) {
        if (entry.Waits(now)) Lanes::Overtake(entry.lane, now - entry.start > kLate);
      }
      if (now - last_use < kIdle) {
        wake_.wait_for(lock, kPeriod);
      } else {
        is_sleeping_ = true;
        wake_.wait(lock, [this] { return !watched_.empty(); });
        is_sleeping_ = false;
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::list<Watched> watched_;
  bool is_started_ = false;
  bool is_sleeping_ = false;
};

std::atomic<Watcher*> the_watcher{nullptr};

// Never deleted: its thread runs as long as the process.
Watcher* GetWatcher() {
  Watcher* watcher = the_watcher.load(std::memory_order_acquire);
  if (watcher != nullptr) return watcher;
  auto* fresh = new Watcher;
  if (the_watcher.compare_exchange_strong(watcher, fresh)) return fresh;
  delete fresh;
  return watcher;
}

}  // namespace

HostWatch::HostWatch(const RunContext* run) : lane_(run->lane) {
  if (lane_ != nullptr) GetWatcher()->Add(lane_);
}

HostWatch::~HostWatch() {
  if (lane_ != nullptr) GetWatcher()->Remove(lane_);
}

void ForgetHostWatchAfterFork() { the_watcher.store(nullptr, std::memory_order_release); }

}  // namespace stillflow
