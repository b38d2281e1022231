#include "queues/queue.h"

#include <algorithm>
#include <new>
#include <utility>

namespace stillflow {
namespace {

Status Cancelled(const char* what) { return Error(Code::kCancelled, "%s operation was cancelled", what); }

}  // namespace

Status Queue::Enqueue(RunContext* run, std::vector<Tuple> tuples) {
  Attempt attempt(Kind::kEnqueue);
  attempt.tuples = std::move(tuples);
  return Run(run, &attempt);
}

Status Queue::Dequeue(RunContext* run, int64_t count, bool allows_fewer, std::vector<Tuple>* tuples) {
  Attempt attempt(Kind::kDequeue);
  attempt.wanted = count;
  attempt.allows_fewer = allows_fewer;
  Status status = Run(run, &attempt);
  *tuples = std::move(attempt.tuples);
  return status;
}

Status Queue::Close(RunContext* run, bool cancels_pending_enqueues) {
  if (!cancels_pending_enqueues) {
    Attempt attempt(Kind::kClose);
    return Run(run, &attempt);
  }
  const std::lock_guard<std::mutex> guard(mutex_);
  is_closed_ = true;
  while (!enqueues_.empty()) {
    Attempt* attempt = enqueues_.front();
    enqueues_.pop_front();
    attempt->is_done = true;
    attempt->status = Cancelled("Enqueue");
    attempt->event.Set(Event::State::kDone);
  }
  Serve();
  return Status();
}

bool Queue::is_closed() {
  const std::lock_guard<std::mutex> guard(mutex_);
  return is_closed_;
}

int64_t Queue::size() {
  const std::lock_guard<std::mutex> guard(mutex_);
  return Count();
}

Status Queue::Run(RunContext* run, Attempt* attempt) {
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    Line(attempt->kind).push_back(attempt);
    Serve();
    if (attempt->is_done) return std::move(attempt->status);
  }
  if (!WaitFor(run, &attempt->event)) Withdraw(attempt);
  return std::move(attempt->status);
}

// Takes back an attempt whose run is over, unless it has been served meanwhile.
void Queue::Withdraw(Attempt* attempt) {
  const std::lock_guard<std::mutex> guard(mutex_);
  if (attempt->is_done) return;
  Attempts& line = Line(attempt->kind);
  line.erase(std::find(line.begin(), line.end(), attempt));
  attempt->status = Cancelled(attempt->kind == Kind::kEnqueue   ? "Enqueue"
                              : attempt->kind == Kind::kDequeue ? "Dequeue"
                                                                : "Close");
  if (attempt->kind == Kind::kDequeue) PutBackAll(attempt);
  Serve();
}

void Queue::Serve() {
  while (ServeLine(&enqueues_) | ServeLine(&dequeues_)) {
  }
}

// Serves attempts until one has to wait. Whether anything changed.
bool Queue::ServeLine(Attempts* line) {
  bool has_changed = false;
  while (!line->empty()) {
    Attempt* attempt = line->front();
    has_changed |= Try(attempt);
    if (!attempt->is_done) break;
    line->pop_front();
    attempt->event.Set(Event::State::kDone);
    has_changed = true;
  }
  return has_changed;
}

bool Queue::Try(Attempt* attempt) {
  try {
    switch (attempt->kind) {
      case Kind::kEnqueue:
        return TryEnqueue(attempt);
      case Kind::kClose:
        return TryClose(attempt);
      case Kind::kDequeue:
        return TryDequeue(attempt);
    }
  } catch (const std::bad_alloc&) {
    attempt->status = Error(Code::kResourceExhausted, "OOM in %s '%s'", options_.type, options_.name.c_str());
    attempt->is_done = true;
  }
  return true;
}

bool Queue::TryEnqueue(Attempt* attempt) {
  if (is_closed_) {
    attempt->status = Error(Code::kCancelled, "%s '%s' is closed.", options_.type, options_.name.c_str());
    attempt->is_done = true;
    return true;
  }
  const size_t first = attempt->next;
  while (attempt->next < attempt->tuples.size() && (options_.capacity < 0 || Count() < options_.capacity)) {
    Push(std::move(attempt->tuples[attempt->next]));
    ++attempt->next;
  }
  attempt->is_done = attempt->next == attempt->tuples.size();
  return attempt->next > first;
}

bool Queue::TryClose(Attempt* attempt) {
  if (is_closed_) {
    attempt->status = Error(Code::kCancelled, "Queue '%s' is already closed.", options_.name.c_str());
  }
  is_closed_ = true;
  attempt->is_done = true;
  return true;
}

bool Queue::TryDequeue(Attempt* attempt) {
  const auto taken = static_cast<int64_t>(attempt->tuples.size());
  const int64_t missing = attempt->wanted - taken;
  const int64_t size = Count();
  if (is_closed_ && size < missing && !(attempt->allows_fewer && size + taken > 0)) {
    PutBackAll(attempt);
    attempt->status = Insufficient(missing, size);
    attempt->is_done = true;
    return true;
  }
  int64_t available = is_closed_ ? size : size - options_.min_after_dequeue;
  if (TakesAllAtOnce() && !is_closed_ && available < missing) available = 0;
  const int64_t count = std::max<int64_t>(std::min(available, missing), 0);
  attempt->tuples.reserve(taken + count);
  for (int64_t i = 0; i < count; ++i) attempt->tuples.push_back(Pop());
  attempt->is_done = count == missing || is_closed_;
  return count > 0;
}

Status Queue::Insufficient(int64_t requested, int64_t size) const {
  return Error(Code::kOutOfRange,
               "%s '%s' is closed and has insufficient elements (requested %lld, current size %lld)", options_.type,
               options_.name.c_str(), static_cast<long long>(requested), static_cast<long long>(size));
}

void Queue::PutBackAll(Attempt* attempt) {
  while (!attempt->tuples.empty()) {
    PutBack(std::move(attempt->tuples.back()));
    attempt->tuples.pop_back();
  }
}

}  // namespace stillflow
