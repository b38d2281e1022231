// Data sets that bring what their input brought the first time: cache in memory.
#include "datasets/datasets.h"
#include "datasets/memory_cache.h"

namespace stillflow {
namespace {

void Share(const Tuple& from, Tuple* to) {
  to->Reset(from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    (*to)[i] = from[i];
    Retain(from[i].buffer);
  }
}

class MemoryCacheDataset final : public DatasetOf<MemoryCacheDataset> {
 public:
  MemoryCacheDataset(TupleSpec spec, DatasetPtr input, std::shared_ptr<MemoryCache> cache)
      : DatasetOf(std::move(spec), {std::move(input)}), cache_(std::move(cache)) {}
  const char* type() const override { return "MemoryCache"; }
  int64_t Cardinality() const override { return input().Cardinality(); }

  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    const Place own = place.Child(type());
    std::shared_ptr<MemoryCache> cached;
    const auto make = [this] {
      std::shared_ptr<MemoryCache> made = cache_ == nullptr ? std::make_shared<MemoryCache>() : cache_;
      made->Expect(spec());
      return made;
    };
    STILLFLOW_RETURN_IF_ERROR(own.FindOrMake(*context->services, make, &cached));
    auto made = std::make_unique<It>(*this, own, std::move(cached));
    STILLFLOW_RETURN_IF_ERROR(made->StartInput(context));
    *iterator = std::move(made);
    return Status();
  }

 private:
  class It final : public Iterator {
   public:
    It(const MemoryCacheDataset& dataset, Place place, std::shared_ptr<MemoryCache> cached)
        : dataset_(dataset), place_(std::move(place)), cached_(std::move(cached)) {}

    Status StartInput(IteratorContext* context) {
      return cached_->is_whole() ? Status() : dataset_.input().MakeIterator(context, place_, &input_);
    }

    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      if (input_ != nullptr) {
        STILLFLOW_RETURN_IF_ERROR(input_->Next(context, element, is_end));
        if (*is_end) {
          cached_->Fill(std::move(passed_));
          input_.reset();
          next_ = cached_->elements().size();
        } else {
          passed_.emplace_back();
          Share(*element, &passed_.back());
        }
        return Status();
      }
      *is_end = next_ == cached_->elements().size();
      if (!*is_end) Share(cached_->elements()[next_++], element);
      return Status();
    }

    Status Save(IteratorContext* context, PositionWriter* writer) override {
      writer->Bool(input_ != nullptr);
      if (input_ == nullptr) {
        writer->Int(static_cast<int64_t>(next_));
        return Status();
      }
      STILLFLOW_RETURN_IF_ERROR(writer->Elements(passed_));
      return input_->Save(context, writer);
    }
    Status Restore(IteratorContext* context, PositionReader* reader) override {
      if (reader->Bool()) {
        if (input_ == nullptr) reader->Fail();
        STILLFLOW_RETURN_IF_ERROR(reader->Elements(*context->services, dataset_.spec(), &passed_));
        return input_->Restore(context, reader);
      }
      input_.reset();
      next_ = reader->IntIn(0, static_cast<int64_t>(cached_->elements().size()));
      return reader->status();
    }

   private:
    const MemoryCacheDataset& dataset_;
    const Place place_;
    const std::shared_ptr<MemoryCache> cached_;
    IteratorPtr input_;          // of the pass that fills the cache
    std::vector<Tuple> passed_;  // what it has brought
    size_t next_ = 0;            // in the cache
  };

  const std::shared_ptr<MemoryCache> cache_;  // that all iterators share; null if each pipeline has its own
};

}  // namespace

DatasetPtr MakeMemoryCacheDataset(TupleSpec spec, DatasetPtr input, std::shared_ptr<MemoryCache> cache) {
  return std::make_shared<MemoryCacheDataset>(std::move(spec), std::move(input), std::move(cache));
}

}  // namespace stillflow
