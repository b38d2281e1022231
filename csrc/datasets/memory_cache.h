// memory_cache.h: the elements that a whole pass over a data set has brought.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "datasets/place.h"

namespace stillflow {

// It lies in a place of a pipeline, or belongs to the data set, whose iterators then share it. A pass that is left
// before its end leaves nothing; of several that end, the first one fills it. What is in it does not change then.
class MemoryCache final : public Legacy {
 public:
  bool is_whole() const {
    const std::lock_guard<std::mutex> guard(mutex_);
    return is_whole_;
  }
  // To be read when it is whole.
  const std::vector<Tuple>& elements() const { return elements_; }

  void Fill(std::vector<Tuple> elements) {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (is_whole_) return;
    elements_ = std::move(elements);
    is_whole_ = true;
  }

  // What is in it has these types and shapes, which are needed to read a position.
  void Expect(TupleSpec spec) {
    const std::lock_guard<std::mutex> guard(mutex_);
    spec_ = std::move(spec);
  }

  Status Save(PositionWriter* writer) override {
    const bool is_filled = is_whole();
    writer->Bool(is_filled);
    return is_filled ? writer->Elements(elements_) : Status();
  }
  Status Restore(const Services& services, PositionReader* reader) override {
    if (!reader->Bool()) return reader->status();
    std::vector<Tuple> elements;
    STILLFLOW_RETURN_IF_ERROR(reader->Elements(services, spec_, &elements));
    Fill(std::move(elements));
    return Status();
  }

 private:
  mutable std::mutex mutex_;
  TupleSpec spec_;
  std::vector<Tuple> elements_;
  bool is_whole_ = false;
};

}  // namespace stillflow
