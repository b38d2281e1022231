// Data sets that put others side by side, one behind the other, or one behind itself: zip, concatenate, repeat.
#include "datasets/datasets.h"
#include "datasets/kinds.h"

namespace stillflow {
namespace {

// ---- Zip ----------------------------------------------------------------------------------------------------------

class ZipIterator final : public Iterator {
 public:
  explicit ZipIterator(std::vector<IteratorPtr> inputs) : inputs_(std::move(inputs)), parts_(inputs_.size()) {}

  Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
    *is_end = is_over_;
    size_t size = 0;
    for (size_t i = 0; i < inputs_.size() && !*is_end; ++i) {
      STILLFLOW_RETURN_IF_ERROR(inputs_[i]->Next(context, &parts_[i], is_end));
      if (!*is_end) size += parts_[i].size();
    }
    if (*is_end) {
      is_over_ = true;
      return Status();
    }
    element->Reset(size);
    size_t next = 0;
    for (Tuple& part : parts_) {
      for (size_t i = 0; i < part.size(); ++i) std::swap((*element)[next++], part[i]);
    }
    return Status();
  }
  Status Save(IteratorContext* context, PositionWriter* writer) override {
    writer->Bool(is_over_);
    for (const IteratorPtr& input : inputs_) STILLFLOW_RETURN_IF_ERROR(input->Save(context, writer));
    return Status();
  }
  Status Restore(IteratorContext* context, PositionReader* reader) override {
    is_over_ = reader->Bool();
    for (const IteratorPtr& input : inputs_) STILLFLOW_RETURN_IF_ERROR(input->Restore(context, reader));
    return reader->status();
  }

 private:
  const std::vector<IteratorPtr> inputs_;
  std::vector<Tuple> parts_;
  bool is_over_ = false;
};

class ZipDataset final : public DatasetOf<ZipDataset> {
 public:
  using DatasetOf::DatasetOf;
  const char* type() const override { return "Zip"; }
  int64_t Cardinality() const override {
    int64_t least = kInfiniteCardinality;
    for (const DatasetPtr& each : inputs()) {
      const int64_t elements = each->Cardinality();
      if (elements == kUnknownCardinality) return elements;
      if (least < 0 || (elements >= 0 && elements < least)) least = elements;
    }
    return least;
  }
  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    std::vector<IteratorPtr> made(inputs().size());
    for (size_t i = 0; i < made.size(); ++i) {
      STILLFLOW_RETURN_IF_ERROR(inputs()[i]->MakeIterator(context, place.Child(type()).Child(i), &made[i]));
    }
    *iterator = std::make_unique<ZipIterator>(std::move(made));
    return Status();
  }
};

// ---- Concatenate --------------------------------------------------------------------------------------------------

class ConcatenateDataset final : public DatasetOf<ConcatenateDataset> {
 public:
  using DatasetOf::DatasetOf;
  const char* type() const override { return "Concatenate"; }
  int64_t Cardinality() const override {
    const int64_t first = inputs()[0]->Cardinality();
    const int64_t second = inputs()[1]->Cardinality();
    if (first == kInfiniteCardinality || second == kInfiniteCardinality) return kInfiniteCardinality;
    return first < 0 || second < 0 ? kUnknownCardinality : first + second;
  }

  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    auto made = std::make_unique<It>(*this, place.Child(type()));
    STILLFLOW_RETURN_IF_ERROR(made->StartInput(context));
    *iterator = std::move(made);
    return Status();
  }

 private:
  class It final : public Iterator {
   public:
    It(const ConcatenateDataset& dataset, Place place) : dataset_(dataset), place_(std::move(place)) {}

    Status StartInput(IteratorContext* context) {
      input_.reset();
      if (at_ == dataset_.inputs().size()) return Status();
      return dataset_.inputs()[at_]->MakeIterator(context, place_.Child(at_), &input_);
    }

    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      while (input_ != nullptr) {
        STILLFLOW_RETURN_IF_ERROR(input_->Next(context, element, is_end));
        if (!*is_end) return Status();
        ++at_;
        STILLFLOW_RETURN_IF_ERROR(StartInput(context));
      }
      *is_end = true;
      return Status();
    }
    Status Save(IteratorContext* context, PositionWriter* writer) override {
      writer->Int(static_cast<int64_t>(at_));
      return input_ == nullptr ? Status() : input_->Save(context, writer);
    }
    Status Restore(IteratorContext* context, PositionReader* reader) override {
      at_ = reader->IntIn(0, static_cast<int64_t>(dataset_.inputs().size()));
      STILLFLOW_RETURN_IF_ERROR(StartInput(context));
      return input_ == nullptr ? reader->status() : input_->Restore(context, reader);
    }

   private:
    const ConcatenateDataset& dataset_;
    const Place place_;
    size_t at_ = 0;
    IteratorPtr input_;
  };
};

// ---- Repeat -------------------------------------------------------------------------------------------------------

class RepeatIterator final : public Iterator {
 public:
  RepeatIterator(const RepeatDataset& dataset, Place place) : dataset_(dataset), place_(std::move(place)) {}

  Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
    const int64_t count = dataset_.count();
    *is_end = true;
    while (!is_over_ && (count < 0 || passes_ < count)) {
      if (input_ == nullptr) STILLFLOW_RETURN_IF_ERROR(StartPass(context));
      STILLFLOW_RETURN_IF_ERROR(input_->Next(context, element, is_end));
      if (!*is_end) {
        has_elements_ = true;
        return Status();
      }
      // What is empty would be repeated for ever without bringing anything.
      if (count < 0 && !has_elements_) is_over_ = true;
      input_.reset();
      has_elements_ = false;
      if (count >= 0 && ++passes_ == count) {
        // TensorFlow makes an iterator after the last pass, too: a shuffle takes the seeds of a pass then.
        STILLFLOW_RETURN_IF_ERROR(StartPass(context));
        input_.reset();
      }
      STILLFLOW_RETURN_IF_ERROR(context->CheckRun());
    }
    return Status();
  }
  Status Save(IteratorContext* context, PositionWriter* writer) override {
    writer->Int(passes_);
    writer->Bool(is_over_);
    writer->Bool(has_elements_);
    writer->Bool(input_ != nullptr);
    return input_ == nullptr ? Status() : input_->Save(context, writer);
  }
  Status Restore(IteratorContext* context, PositionReader* reader) override {
    passes_ = reader->IntIn(0, INT64_MAX);
    is_over_ = reader->Bool();
    has_elements_ = reader->Bool();
    if (!reader->Bool()) return reader->status();
    STILLFLOW_RETURN_IF_ERROR(StartPass(context));
    return input_->Restore(context, reader);
  }

 private:
  Status StartPass(IteratorContext* context) { return dataset_.input().MakeIterator(context, place_, &input_); }

  const RepeatDataset& dataset_;
  const Place place_;
  IteratorPtr input_;  // of the pass that has begun
  int64_t passes_ = 0;
  bool has_elements_ = false;
  bool is_over_ = false;
};

}  // namespace

Status RepeatDataset::MakeIterator(IteratorContext*, const Place& place, IteratorPtr* iterator) const {
  *iterator = std::make_unique<RepeatIterator>(*this, place.Child(type()));
  return Status();
}

DatasetPtr MakeZipDataset(TupleSpec spec, std::vector<DatasetPtr> inputs) {
  return std::make_shared<ZipDataset>(std::move(spec), std::move(inputs));
}

DatasetPtr MakeConcatenateDataset(TupleSpec spec, DatasetPtr first, DatasetPtr second) {
  return std::make_shared<ConcatenateDataset>(std::move(spec),
                                              std::vector<DatasetPtr>{std::move(first), std::move(second)});
}

DatasetPtr MakeRepeatDataset(TupleSpec spec, DatasetPtr input, int64_t count) {
  return std::make_shared<RepeatDataset>(std::move(spec), std::move(input), count);
}

}  // namespace stillflow
