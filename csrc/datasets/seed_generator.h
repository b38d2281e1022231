// seed_generator.h: what brings the seeds of each pass over a shuffled data set.
#pragma once

#include <mutex>
#include <utility>

#include "datasets/place.h"
#include "datasets/words.h"

namespace stillflow {

// It lies in a place of a pipeline, or belongs to the data set, whose iterators then share it.
class SeedGenerator final : public Legacy {
 public:
  SeedGenerator(uint64_t seed, uint64_t seed2) : words_(seed, seed2) {}

  std::pair<uint32_t, uint32_t> Next() {
    const std::lock_guard<std::mutex> guard(mutex_);
    const uint32_t first = words_.Next();
    return {first, words_.Next()};
  }

  Status Save(PositionWriter* writer) override {
    words_.Save(writer);
    return Status();
  }
  Status Restore(const Services&, PositionReader* reader) override {
    words_.Restore(reader);
    return Status();
  }

 private:
  std::mutex mutex_;
  Words words_;
};

}  // namespace stillflow
