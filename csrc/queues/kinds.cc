// The kinds of queues: in which order elements leave.
#include <algorithm>
#include <cstring>
#include <random>

#include "arithmetic/random/stream.h"
#include "queues/queue.h"

namespace stillflow {
namespace {

// First in, first out; also those whose batches are padded.
class FifoQueue final : public Queue {
 public:
  using Queue::Queue;

 protected:
  int64_t Count() const override { return static_cast<int64_t>(tuples_.size()); }
  void Push(Tuple tuple) override { tuples_.push_back(std::move(tuple)); }
  Tuple Pop() override {
    Tuple tuple = std::move(tuples_.front());
    tuples_.pop_front();
    return tuple;
  }
  void PutBack(Tuple tuple) override { tuples_.push_front(std::move(tuple)); }

 private:
  std::deque<Tuple> tuples_;
};

sf_philox StreamOf(const QueueOptions& options) {
  auto seed = static_cast<uint64_t>(options.seed);
  auto seed2 = static_cast<uint64_t>(options.seed2);
  if (seed == 0 && seed2 == 0) {
    std::random_device device;
    seed = static_cast<uint64_t>(device()) << 32 | device();
    seed2 = static_cast<uint64_t>(device()) << 32 | device();
  }
  return {seed, 0, seed2};
}

// A word of the stream says which element leaves; the last takes its place.
class RandomShuffleQueue final : public Queue {
 public:
  explicit RandomShuffleQueue(QueueOptions options) : Queue(std::move(options)), words_(StreamOf(this->options())) {}

 protected:
  int64_t Count() const override { return static_cast<int64_t>(tuples_.size()); }
  void Push(Tuple tuple) override { tuples_.push_back(std::move(tuple)); }
  Tuple Pop() override {
    std::swap(tuples_[words_.Next() % tuples_.size()], tuples_.back());
    Tuple tuple = std::move(tuples_.back());
    tuples_.pop_back();
    return tuple;
  }
  void PutBack(Tuple tuple) override { Push(std::move(tuple)); }

 private:
  WordReader words_;
  std::vector<Tuple> tuples_;
};

// The smallest first component, an int64 scalar, leaves first. Which of equal ones does is what a binary heap makes
// of it.
class PriorityQueue final : public Queue {
 public:
  using Queue::Queue;

 protected:
  int64_t Count() const override { return static_cast<int64_t>(heap_.size()); }
  void Push(Tuple tuple) override {
    heap_.push_back(std::move(tuple));
    std::push_heap(heap_.begin(), heap_.end(), LeavesLater);
  }
  Tuple Pop() override {
    std::pop_heap(heap_.begin(), heap_.end(), LeavesLater);
    Tuple tuple = std::move(heap_.back());
    heap_.pop_back();
    return tuple;
  }
  void PutBack(Tuple tuple) override { Push(std::move(tuple)); }
  bool TakesAllAtOnce() const override { return true; }

 private:
  static bool LeavesLater(const Tuple& a, const Tuple& b) { return *Data<int64_t>(a[0]) > *Data<int64_t>(b[0]); }

  std::vector<Tuple> heap_;
};

bool Is(const QueueOptions& options, const char* type) { return std::strcmp(options.type, type) == 0; }

Status CheckOptions(const QueueOptions& options) {
  const TupleSpec& spec = options.spec;
  if (!spec.shapes.empty() && spec.shapes.size() != spec.size()) {
    return STILLFLOW_INVALID_ARGUMENT("Different number of component types.  Types: %s, Shapes: %s",
                                      TextOf(spec.types).c_str(), TextOf(spec.shapes).c_str());
  }
  if (options.min_after_dequeue < 0) {
    return STILLFLOW_INVALID_ARGUMENT("min_after_dequeue %lld must be >= 0",
                                      static_cast<long long>(options.min_after_dequeue));
  }
  if (Is(options, "RandomShuffleQueue") && options.capacity >= 0 && options.min_after_dequeue >= options.capacity) {
    return STILLFLOW_INVALID_ARGUMENT("min_after_dequeue %lld must be < capacity %lld",
                                      static_cast<long long>(options.min_after_dequeue),
                                      static_cast<long long>(options.capacity));
  }
  return Status();
}

}  // namespace

Status MakeQueue(QueueOptions options, std::shared_ptr<Resource>* queue) {
  STILLFLOW_RETURN_IF_ERROR(CheckOptions(options));
  if (Is(options, "RandomShuffleQueue")) {
    *queue = std::make_shared<RandomShuffleQueue>(std::move(options));
  } else if (Is(options, "PriorityQueue")) {
    *queue = std::make_shared<PriorityQueue>(std::move(options));
  } else {
    *queue = std::make_shared<FifoQueue>(std::move(options));
  }
  return Status();
}

Status CheckSameQueue(const Queue& queue, const QueueOptions& requested) {
  const QueueOptions& own = queue.options();
  const char* name = own.name.c_str();
  if (!Is(own, requested.type)) return STILLFLOW_INVALID_ARGUMENT("Expected %s, found %s", own.type, requested.type);
  if (own.capacity != requested.capacity) {
    return STILLFLOW_INVALID_ARGUMENT("Shared queue '%s' has capacity %lld but requested capacity was %lld", name,
                                      static_cast<long long>(own.capacity),
                                      static_cast<long long>(requested.capacity));
  }
  if (own.spec.types != requested.spec.types) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Shared queue '%s' has component types %s but requested component types were %s", name,
        TextOf(own.spec.types).c_str(), TextOf(requested.spec.types).c_str());
  }
  if (!(own.spec.shapes == requested.spec.shapes)) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Shared queue '%s' has component shapes %s but requested component shapes were %s", name,
        TextOf(own.spec.shapes).c_str(), TextOf(requested.spec.shapes).c_str());
  }
  if (own.min_after_dequeue != requested.min_after_dequeue) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Shared queue '%s' has min_after_dequeue %lld but requested min_after_dequeue was %lld.", name,
        static_cast<long long>(own.min_after_dequeue), static_cast<long long>(requested.min_after_dequeue));
  }
  if ((requested.seed != 0 || requested.seed2 != 0) && (own.seed != requested.seed || own.seed2 != requested.seed2)) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Shared queue '%s' has random seeds (%lld, %lld) but requested seeds are (%lld, %lld).", name,
        static_cast<long long>(own.seed), static_cast<long long>(own.seed2), static_cast<long long>(requested.seed),
        static_cast<long long>(requested.seed2));
  }
  return Status();
}

}  // namespace stillflow
