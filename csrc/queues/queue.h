// queue.h: queues: pending attempts to enqueue and dequeue, and the order in which they are served.
//
// Whoever wants to put in, take out or close makes an attempt. Attempts to put in (and to close) are served in the
// order in which they came, and so are those to take out, by whichever thread makes it possible; the thread that made
// an attempt sleeps until then, or until its run ends. Nothing is lost: what an attempt had taken when it failed goes
// back.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "collections/tuple.h"
#include "runtime/executor/event.h"
#include "runtime/executor/resource.h"
#include "runtime/executor/run_context.h"

namespace stillflow {

struct QueueOptions {
  const char* type;  // "FIFOQueue"
  std::string name;
  TupleSpec spec;
  int64_t capacity;           // negative: no limit
  int64_t min_after_dequeue;  // what stays in a random queue while it is open
  int64_t seed;
  int64_t seed2;
};

class Queue : public Resource {
 public:
  static constexpr char kKind[] = "queue";

  explicit Queue(QueueOptions options) : options_(std::move(options)) {}
  const char* kind() const override { return kKind; }

  const QueueOptions& options() const { return options_; }
  const TupleSpec& spec() const { return options_.spec; }

  // Puts the elements in, in their order, waiting for room. Cancelled if the queue is closed.
  Status Enqueue(RunContext* run, std::vector<Tuple> tuples);

  // Takes `count` elements out, waiting for them. When the queue is closed and has not enough: OutOfRange, or what
  // there is if that is at least one element and `allows_fewer`.
  Status Dequeue(RunContext* run, int64_t count, bool allows_fewer, std::vector<Tuple>* tuples);

  // Lets in no more elements than those of earlier attempts, for which it waits, or of none if they are cancelled.
  Status Close(RunContext* run, bool cancels_pending_enqueues);

  bool is_closed();
  int64_t size();

 protected:
  // The order of the elements. Called with the mutex held.
  virtual int64_t Count() const = 0;
  virtual void Push(Tuple tuple) = 0;
  virtual Tuple Pop() = 0;
  virtual void PutBack(Tuple tuple) = 0;
  // Whether a dequeue takes all its elements at once rather than each when it comes.
  virtual bool TakesAllAtOnce() const { return false; }

 private:
  enum class Kind { kEnqueue, kClose, kDequeue };
  struct Attempt {
    explicit Attempt(Kind attempted) : kind(attempted) {}
    Kind kind;
    std::vector<Tuple> tuples;  // what is to be put in, or has been taken out
    size_t next = 0;            // the first that is not in yet
    int64_t wanted = 0;         // how many are to be taken out
    bool allows_fewer = false;
    bool is_done = false;
    Status status;
    Event event;
  };
  using Attempts = std::deque<Attempt*>;

  Attempts& Line(Kind kind) { return kind == Kind::kDequeue ? dequeues_ : enqueues_; }
  Status Run(RunContext* run, Attempt* attempt);
  void Withdraw(Attempt* attempt);
  void Serve();
  bool ServeLine(Attempts* line);
  bool Try(Attempt* attempt);
  bool TryEnqueue(Attempt* attempt);
  bool TryClose(Attempt* attempt);
  bool TryDequeue(Attempt* attempt);
  Status Insufficient(int64_t requested, int64_t size) const;
  void PutBackAll(Attempt* attempt);

  const QueueOptions options_;
  std::mutex mutex_;
  bool is_closed_ = false;
  Attempts enqueues_;
  Attempts dequeues_;
};

// A queue of the type that the options name.
Status MakeQueue(QueueOptions options, std::shared_ptr<Resource>* queue);

// Whether `queue` is what a node that asks for `requested` means.
Status CheckSameQueue(const Queue& queue, const QueueOptions& requested);

}  // namespace stillflow
