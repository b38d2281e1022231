// prefetch_dataset: elements computed in advance by a background thread.
#include <atomic>
#include <condition_variable>
#include <deque>
#include <new>
#include <system_error>
#include <thread>

#include "datasets/datasets.h"
#include "runtime/executor/event.h"
#include "runtime/executor/program.h"

namespace stillflow {
namespace {

constexpr int64_t kAutomatic = -1;
constexpr int64_t kAutomaticSize = 8;

// What the input brought: an element, a failure, or its end.
struct Arrival {
  Tuple element;
  Status status;
};

class PrefetchDataset final : public DatasetOf<PrefetchDataset> {
 public:
  PrefetchDataset(TupleSpec spec, DatasetPtr input, int64_t buffer_size)
      : DatasetOf(std::move(spec), {std::move(input)}),
        buffer_size_(buffer_size == kAutomatic ? kAutomaticSize : buffer_size) {}
  const char* type() const override { return "Prefetch"; }
  bool IsIdle() const override { return buffer_size_ == 0; }
  int64_t Cardinality() const override { return input().Cardinality(); }

  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    return MakeOverInput<It>(context, place, iterator);
  }

 private:
  // The thread begins with the first element that is asked for. It holds the session open while it fetches, and
  // sleeps while there is no room.
  class It final : public Iterator {
   public:
    It(const PrefetchDataset& dataset, IteratorPtr input) : dataset_(dataset), input_(std::move(input)) {}

    ~It() override {
      {
        const std::lock_guard<std::mutex> guard(mutex_);
        is_stopped_ = true;
        has_room_.notify_one();
      }
      if (thread_.joinable()) thread_.join();
    }

    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      if (dataset_.buffer_size_ == 0) return input_->Next(context, element, is_end);
      std::unique_lock<std::mutex> lock(mutex_);
      if (!thread_.joinable() && !is_over_) STILLFLOW_RETURN_IF_ERROR(StartThread(context));
      if (arrived_.empty() && !is_over_) {
        Event arrival;
        waiting_ = &arrival;
        lock.unlock();
        const bool is_there = WaitFor(context->run, &arrival);
        lock.lock();
        waiting_ = nullptr;
        if (!is_there) return Error(Code::kCancelled, "The run was cancelled");
      }
      *is_end = arrived_.empty();
      if (*is_end) return Status();
      Arrival first = std::move(arrived_.front());
      arrived_.pop_front();
      has_room_.notify_one();
      *element = std::move(first.element);
      return std::move(first.status);
    }

    Status Save(IteratorContext* context, PositionWriter* writer) override {
      const std::lock_guard<std::mutex> fetching(fetching_);
      const std::lock_guard<std::mutex> guard(mutex_);
      writer->Int(static_cast<int64_t>(arrived_.size()));
      for (const Arrival& arrival : arrived_) {
        writer->Failure(arrival.status);
        if (arrival.status.ok()) STILLFLOW_RETURN_IF_ERROR(writer->Element(arrival.element));
      }
      writer->Bool(is_over_);
      return input_->Save(context, writer);
    }
    Status Restore(IteratorContext* context, PositionReader* reader) override {
      for (int64_t left = reader->Count(); left > 0 && reader->ok(); --left) {
        arrived_.emplace_back();
        arrived_.back().status = reader->Failure();
        if (!arrived_.back().status.ok()) continue;
        STILLFLOW_RETURN_IF_ERROR(reader->Element(*context->services, dataset_.spec(), &arrived_.back().element));
      }
      is_over_ = reader->Bool();
      return input_->Restore(context, reader);
    }

   private:
    Status StartThread(IteratorContext* context) {
      session_ = context->run->session;
      services_ = context->services;
      statistics_ = context->statistics;
      options_.interrupt = {[](void* self) { return static_cast<It*>(self)->is_stopped_.load(); }, this};
      options_.host = context->run->options->host;
      try {
        thread_ = std::thread([this] { Fetch(); });
      } catch (const std::system_error&) {
        return Error(Code::kResourceExhausted, "No thread could be started to fetch elements");
      }
      return Status();
    }

    void Fetch() {
      for (;;) {
        {
          std::unique_lock<std::mutex> lock(mutex_);
          has_room_.wait(
              lock, [this] { return is_stopped_ || static_cast<int64_t>(arrived_.size()) < dataset_.buffer_size_; });
          if (is_stopped_) return;
        }
        const std::lock_guard<std::mutex> fetching(fetching_);
        if (!session_->BeginRun()) return;
        Arrival arrival;
        bool is_end = false;
        arrival.status = FetchOne(&arrival.element, &is_end);
        session_->EndRun();
        const std::lock_guard<std::mutex> guard(mutex_);
        if (is_stopped_) return;
        is_over_ = arrival.status.ok() && is_end;
        if (!is_over_) arrived_.push_back(std::move(arrival));
        if (waiting_ != nullptr) waiting_->Set(Event::State::kDone);
        if (is_over_) return;
      }
    }

    Status FetchOne(Tuple* element, bool* is_end) {
      RunContext run{};
      run.session = session_;
      run.options = &options_;
      IteratorContext context{&run, services_, statistics_};
      try {
        return input_->Next(&context, element, is_end);
      } catch (const std::exception&) {
        return Error(Code::kResourceExhausted, "Out of memory while an element was fetched");
      }
    }

    const PrefetchDataset& dataset_;
    const IteratorPtr input_;
    Session* session_ = nullptr;
    const Services* services_ = nullptr;
    Statistics* statistics_ = nullptr;
    RunOptions options_{};
    std::thread thread_;

    std::mutex fetching_;  // held while an element comes in; taken before the other
    std::mutex mutex_;
    std::condition_variable has_room_;
    std::deque<Arrival> arrived_;
    Event* waiting_ = nullptr;
    bool is_over_ = false;
    std::atomic<bool> is_stopped_{false};
  };

  int64_t buffer_size_;
};

}  // namespace

DatasetPtr MakePrefetchDataset(TupleSpec spec, DatasetPtr input, int64_t buffer_size) {
  return std::make_shared<PrefetchDataset>(std::move(spec), std::move(input), buffer_size);
}

}  // namespace stillflow
