// shuffle, and shuffle_and_repeat, data sets.
//
// The order is TensorFlow's for the same seeds: of the elements that are held, a word of a Philox stream says which
// is next, and the oldest takes its place.
#include <algorithm>
#include <deque>
#include <numeric>

#include "datasets/datasets.h"
#include "datasets/kinds.h"
#include "datasets/seed_generator.h"

namespace stillflow {
namespace {

constexpr int kElementsPerCheck = 64;  // of the run; a check costs about as much as an element

// The elements that are held, oldest first. Grows as it is filled: a buffer may be asked for that is larger than
// anything that will come.
class Ring {
 public:
  int64_t size() const { return size_; }

  // Where the next element is to be put, to be followed by Push.
  Tuple* Spare() {
    if (size_ == static_cast<int64_t>(slots_.size())) Grow();
    return &Slot(size_);
  }
  void Push() { ++size_; }

  // Takes out the element that came `place` after the oldest, which takes its place.
  void Take(int64_t place, Tuple* element) {
    Tuple& taken = Slot(place);
    *element = std::move(taken);
    if (place > 0) taken = std::move(slots_[first_]);
    slots_[first_].Reset(0);
    if (++first_ == static_cast<int64_t>(slots_.size())) first_ = 0;
    --size_;
  }

  Status Save(PositionWriter* writer) {
    writer->Int(size_);
    for (int64_t i = 0; i < size_; ++i) STILLFLOW_RETURN_IF_ERROR(writer->Element(Slot(i)));
    return Status();
  }
  Status Restore(const Services& services, const TupleSpec& spec, PositionReader* reader) {
    for (int64_t left = reader->Count(); left > 0; --left) {
      STILLFLOW_RETURN_IF_ERROR(reader->Element(services, spec, Spare()));
      Push();
    }
    return reader->status();
  }

 private:
  Tuple& Slot(int64_t place) {
    const int64_t slot = first_ + place;
    const auto count = static_cast<int64_t>(slots_.size());
    return slots_[slot < count ? slot : slot - count];
  }
  void Grow() {
    std::rotate(slots_.begin(), slots_.begin() + first_, slots_.end());
    first_ = 0;
    slots_.resize(std::max<size_t>(16, 2 * slots_.size()));
  }

  std::vector<Tuple> slots_;
  int64_t first_ = 0;
  int64_t size_ = 0;
};

void SaveDrawnSeeds(const ShuffleOptions& options, PositionWriter* writer) {
  writer->Bool(options.is_drawn);
  if (!options.is_drawn) return;
  writer->Word(options.seed);
  writer->Word(options.seed2);
}

// Whether the seeds are other ones now.
bool RestoreDrawnSeeds(PositionReader* reader, ShuffleOptions* options) {
  if (!reader->Bool()) return false;
  const uint64_t seed = reader->Word();
  const uint64_t seed2 = reader->Word();
  if (!options->is_drawn) return false;
  options->seed = seed;
  options->seed2 = seed2;
  return true;
}

// ---- Shuffle ------------------------------------------------------------------------------------------------------

class ShuffleIterator final : public Iterator {
 public:
  ShuffleIterator(const ShuffleDataset& dataset, IteratorPtr input, std::shared_ptr<SeedGenerator> generator)
      : dataset_(dataset),
        input_(std::move(input)),
        generator_(std::move(generator)),
        words_(dataset.options().seed, dataset.options().seed2) {}

  // Takes the seeds of the pass, as TensorFlow does when the iterator is made, whether or not an element is asked
  // for.
  void Begin() {
    has_begun_ = true;
    if (generator_ == nullptr) return;
    const auto [seed, seed2] = generator_->Next();
    words_ = Words(seed, seed2);
  }

  Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
    if (!has_begun_) Begin();  // of a position that was saved before anything was drawn
    while (input_ != nullptr && ring_.size() < dataset_.options().buffer_size) {
      if (ring_.size() % kElementsPerCheck == 0) STILLFLOW_RETURN_IF_ERROR(context->CheckRun());
      bool is_input_over = false;
      STILLFLOW_RETURN_IF_ERROR(input_->Next(context, ring_.Spare(), &is_input_over));
      if (is_input_over) {
        input_.reset();
      } else {
        ring_.Push();
      }
    }
    *is_end = ring_.size() == 0;
    if (!*is_end) ring_.Take(words_.Next() % ring_.size(), element);
    return Status();
  }

  Status Save(IteratorContext* context, PositionWriter* writer) override {
    writer->Bool(has_begun_);
    words_.Save(writer);
    STILLFLOW_RETURN_IF_ERROR(ring_.Save(writer));
    writer->Bool(input_ != nullptr);
    return input_ == nullptr ? Status() : input_->Save(context, writer);
  }
  Status Restore(IteratorContext* context, PositionReader* reader) override {
    has_begun_ = reader->Bool();
    words_.Restore(reader);
    STILLFLOW_RETURN_IF_ERROR(ring_.Restore(*context->services, dataset_.input().spec(), reader));
    if (reader->Bool()) return input_->Restore(context, reader);
    input_.reset();
    return reader->status();
  }

 private:
  const ShuffleDataset& dataset_;
  IteratorPtr input_;  // null when it is over
  const std::shared_ptr<SeedGenerator> generator_;
  Words words_;
  Ring ring_;
  bool has_begun_ = false;
};

// ---- Shuffle and repeat -------------------------------------------------------------------------------------------

class ShuffleAndRepeatDataset final : public DatasetOf<ShuffleAndRepeatDataset> {
 public:
  ShuffleAndRepeatDataset(TupleSpec spec, DatasetPtr input, ShuffleOptions options, int64_t count)
      : DatasetOf(std::move(spec), {std::move(input)}), options_(options), count_(count) {}
  const char* type() const override { return "ShuffleAndRepeat"; }
  int64_t Cardinality() const override { return RepeatedCount(input().Cardinality(), count_); }

  void SaveSeeds(PositionWriter* writer) const override {
    SaveDrawnSeeds(options_, writer);
    Dataset::SaveSeeds(writer);
  }
  DatasetPtr WithSavedSeeds(PositionReader* reader) const override {
    ShuffleOptions options = options_;
    const bool is_changed = RestoreDrawnSeeds(reader, &options);
    DatasetPtr same = Dataset::WithSavedSeeds(reader);
    return is_changed ? MakeShuffleAndRepeatDataset(spec(), same->inputs()[0], options, count_) : same;
  }

  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    auto made = std::make_unique<It>(*this, place.Child(type()));
    STILLFLOW_RETURN_IF_ERROR(made->StartPass(context));
    *iterator = std::move(made);
    return Status();
  }

 private:
  // Elements of up to three passes are held, those of each in one slice; only the first slice brings elements.
  class It final : public Iterator {
   public:
    It(const ShuffleAndRepeatDataset& dataset, Place place)
        : dataset_(dataset), place_(std::move(place)), words_(dataset.options_.seed, dataset.options_.seed2) {}

    Status StartPass(IteratorContext* context) {
      has_elements_ = false;
      return dataset_.input().MakeIterator(context, place_, &input_);
    }

    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      STILLFLOW_RETURN_IF_ERROR(Fill(context));
      *is_end = ring_.size() == 0;
      if (*is_end) return Status();
      while (slices_.front() == 0) slices_.pop_front();
      ring_.Take(words_.Next() % slices_.front()--, element);
      return Status();
    }

    Status Save(IteratorContext* context, PositionWriter* writer) override {
      words_.Save(writer);
      writer->Int(passes_);
      writer->Bool(has_elements_);
      writer->Int(static_cast<int64_t>(slices_.size()));
      for (int64_t slice : slices_) writer->Int(slice);
      STILLFLOW_RETURN_IF_ERROR(ring_.Save(writer));
      writer->Bool(input_ != nullptr);
      return input_ == nullptr ? Status() : input_->Save(context, writer);
    }
    Status Restore(IteratorContext* context, PositionReader* reader) override {
      words_.Restore(reader);
      passes_ = reader->IntIn(0, INT64_MAX);
      has_elements_ = reader->Bool();
      slices_.resize(reader->Count());
      for (int64_t& slice : slices_) slice = reader->IntIn(0, INT32_MAX);
      STILLFLOW_RETURN_IF_ERROR(ring_.Restore(*context->services, dataset_.input().spec(), reader));
      const int64_t held = std::accumulate(slices_.begin(), slices_.end(), int64_t{0});
      if (slices_.empty() || held != ring_.size()) reader->Fail();
      if (reader->Bool()) return input_->Restore(context, reader);
      input_.reset();
      return reader->status();
    }

   private:
    static constexpr size_t kMostSlices = 3;

    Status Fill(IteratorContext* context) {
      while (input_ != nullptr && ring_.size() < dataset_.options_.buffer_size) {
        if (ring_.size() % kElementsPerCheck == 0) STILLFLOW_RETURN_IF_ERROR(context->CheckRun());
        bool is_pass_over = dataset_.count_ >= 0 && passes_ >= dataset_.count_;
        if (!is_pass_over) STILLFLOW_RETURN_IF_ERROR(input_->Next(context, ring_.Spare(), &is_pass_over));
        if (is_pass_over) {
          STILLFLOW_RETURN_IF_ERROR(EndPass(context));
          continue;
        }
        has_elements_ = true;
        ring_.Push();
        ++slices_.back();
        if (slices_.size() > kMostSlices) break;
      }
      return Status();
    }

    Status EndPass(IteratorContext* context) {
      STILLFLOW_RETURN_IF_ERROR(context->CheckRun());  // before anything has changed
      const bool is_for_ever = dataset_.count_ < 0;
      const bool is_last = is_for_ever ? !has_elements_ : ++passes_ >= dataset_.count_;
      slices_.push_back(0);
      input_.reset();
      return is_last ? Status() : StartPass(context);
    }

    const ShuffleAndRepeatDataset& dataset_;
    const Place place_;
    IteratorPtr input_;  // null when there is no further pass
    Words words_;
    Ring ring_;
    std::deque<int64_t> slices_{0};
    int64_t passes_ = 0;
    bool has_elements_ = false;  // in this pass
  };

  ShuffleOptions options_;
  int64_t count_;
};

}  // namespace

void ShuffleDataset::SaveSeeds(PositionWriter* writer) const {
  SaveDrawnSeeds(options_, writer);
  Dataset::SaveSeeds(writer);
}

DatasetPtr ShuffleDataset::WithSavedSeeds(PositionReader* reader) const {
  ShuffleOptions options = options_;
  const bool is_changed = RestoreDrawnSeeds(reader, &options);
  DatasetPtr same = Dataset::WithSavedSeeds(reader);
  return is_changed ? MakeShuffleDataset(spec(), same->inputs()[0], options, reshuffles_, generator_) : same;
}

Status ShuffleDataset::MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const {
  const Place own = place.Child(type());
  IteratorPtr input;
  STILLFLOW_RETURN_IF_ERROR(this->input().MakeIterator(context, own, &input));
  std::shared_ptr<SeedGenerator> generator = generator_;
  if (reshuffles_ && generator == nullptr) {
    const auto make = [this] { return std::make_shared<SeedGenerator>(options_.seed, options_.seed2); };
    STILLFLOW_RETURN_IF_ERROR(own.FindOrMake(*context->services, make, &generator));
  }
  auto made = std::make_unique<ShuffleIterator>(*this, std::move(input), std::move(generator));
  if (!context->is_restoring) made->Begin();
  *iterator = std::move(made);
  return Status();
}

DatasetPtr MakeShuffleDataset(TupleSpec spec, DatasetPtr input, ShuffleOptions options, bool reshuffles,
                              std::shared_ptr<SeedGenerator> generator) {
  return std::make_shared<ShuffleDataset>(std::move(spec), std::move(input), options, reshuffles,
                                          std::move(generator));
}

DatasetPtr MakeShuffleAndRepeatDataset(TupleSpec spec, DatasetPtr input, ShuffleOptions options, int64_t count) {
  return std::make_shared<ShuffleAndRepeatDataset>(std::move(spec), std::move(input), options, count);
}

}  // namespace stillflow
