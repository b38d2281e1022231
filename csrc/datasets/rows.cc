// Data sets of the rows of elements, of elements without those that fail, and of elements of several data sets in an
// order that another says: unbatch, ignore_errors, directed interleave.
#include "datasets/datasets.h"

namespace stillflow {
namespace {

// ---- Unbatch ------------------------------------------------------------------------------------------------------

class UnbatchIterator final : public Iterator {
 public:
  UnbatchIterator(const TupleSpec& input_spec, IteratorPtr input)
      : input_spec_(input_spec), input_(std::move(input)) {}

  Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
    while (next_ == count_) {
      STILLFLOW_RETURN_IF_ERROR(context->CheckRun());
      next_ = count_ = 0;
      STILLFLOW_RETURN_IF_ERROR(input_->Next(context, &batch_, is_end));
      if (*is_end) return Status();
      STILLFLOW_RETURN_IF_ERROR(Open());
    }
    *is_end = false;
    element->Reset(batch_.size());
    for (size_t i = 0; i < batch_.size(); ++i) {  // elements are views of the rows
      const Tensor& from = batch_[i];
      Tensor& row = (*element)[i];
      row.count = from.count / count_;
      row.data = static_cast<char*>(from.data) + next_ * row.count * ElementBytes(from.dtype);
      row.buffer = from.buffer;
      row.dtype = from.dtype;
      row.rank = from.rank - 1;
      for (int d = 0; d < row.rank; ++d) row.dims[d] = from.dims[d + 1];
      Retain(from.buffer);
    }
    ++next_;
    return Status();
  }
  Status Save(IteratorContext* context, PositionWriter* writer) override {
    writer->Bool(next_ != count_);
    if (next_ != count_) {
      STILLFLOW_RETURN_IF_ERROR(writer->Element(batch_));
      writer->Int(next_);
    }
    return input_->Save(context, writer);
  }
  Status Restore(IteratorContext* context, PositionReader* reader) override {
    next_ = count_ = 0;
    if (reader->Bool()) {
      STILLFLOW_RETURN_IF_ERROR(reader->Element(*context->services, input_spec_, &batch_));
      STILLFLOW_RETURN_IF_ERROR(Open());
      next_ = reader->IntIn(0, count_);
    }
    return input_->Restore(context, reader);
  }

 private:
  Status Open() {
    for (size_t i = 0; i < batch_.size(); ++i) {
      if (batch_[i].rank == 0) {
        return STILLFLOW_INVALID_ARGUMENT("Input element must have a non-scalar value in each component.");
      }
      if (batch_[i].dims[0] != batch_[0].dims[0]) {
        return STILLFLOW_INVALID_ARGUMENT(
            "Input element must have the same batch size in each component. Component 0 had size %lld but component "
            "%d had size, %lld.",
            static_cast<long long>(batch_[0].dims[0]), static_cast<int>(i),
            static_cast<long long>(batch_[i].dims[0]));
      }
    }
    count_ = batch_[0].dims[0];
    return Status();
  }

  const TupleSpec& input_spec_;
  const IteratorPtr input_;
  Tuple batch_;
  int64_t next_ = 0;
  int64_t count_ = 0;
};

class UnbatchDataset final : public DatasetOf<UnbatchDataset> {
 public:
  UnbatchDataset(TupleSpec spec, DatasetPtr input) : DatasetOf(std::move(spec), {std::move(input)}) {}
  const char* type() const override { return "Unbatch"; }
  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    IteratorPtr input;
    STILLFLOW_RETURN_IF_ERROR(this->input().MakeIterator(context, place.Child(type()), &input));
    *iterator = std::make_unique<UnbatchIterator>(this->input().spec(), std::move(input));
    return Status();
  }
};

// ---- IgnoreErrors -------------------------------------------------------------------------------------------------

class IgnoreErrorsIterator final : public Iterator {
 public:
  explicit IgnoreErrorsIterator(IteratorPtr input) : input_(std::move(input)) {}

  Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
    for (;;) {
      STILLFLOW_RETURN_IF_ERROR(context->CheckRun());
      Status status = input_->Next(context, element, is_end);
      if (status.ok() || status.code() == Code::kCancelled) return status;
    }
  }
  Status Save(IteratorContext* context, PositionWriter* writer) override { return input_->Save(context, writer); }
  Status Restore(IteratorContext* context, PositionReader* reader) override {
    return input_->Restore(context, reader);
  }

 private:
  const IteratorPtr input_;
};

class IgnoreErrorsDataset final : public DatasetOf<IgnoreErrorsDataset> {
 public:
  IgnoreErrorsDataset(TupleSpec spec, DatasetPtr input) : DatasetOf(std::move(spec), {std::move(input)}) {}
  const char* type() const override { return "IgnoreErrors"; }
  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    IteratorPtr input;
    STILLFLOW_RETURN_IF_ERROR(this->input().MakeIterator(context, place.Child(type()), &input));
    *iterator = std::make_unique<IgnoreErrorsIterator>(std::move(input));
    return Status();
  }
};

// ---- Directed interleave ------------------------------------------------------------------------------------------

class DirectedInterleaveIterator final : public Iterator {
 public:
  DirectedInterleaveIterator(IteratorPtr selector, std::vector<IteratorPtr> inputs)
      : selector_(std::move(selector)), inputs_(std::move(inputs)) {}

  Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
    for (;;) {
      STILLFLOW_RETURN_IF_ERROR(context->CheckRun());
      bool is_any_left = false;
      for (const IteratorPtr& input : inputs_) is_any_left = is_any_left || input != nullptr;
      *is_end = !is_any_left;
      if (*is_end) return Status();
      Tuple choice;
      STILLFLOW_RETURN_IF_ERROR(selector_->Next(context, &choice, is_end));
      if (*is_end) return Status();
      const int64_t chosen = IntAt(choice[0], 0);
      const auto count = static_cast<int64_t>(inputs_.size());
      if (chosen < 0 || chosen >= count) {
        return STILLFLOW_INVALID_ARGUMENT("Selector index out of range: %lld >= %lld", static_cast<long long>(chosen),
                                          static_cast<long long>(count));
      }
      IteratorPtr& input = inputs_[chosen];
      if (input == nullptr) continue;
      STILLFLOW_RETURN_IF_ERROR(input->Next(context, element, is_end));
      if (!*is_end) return Status();
      input.reset();
    }
  }
  Status Save(IteratorContext* context, PositionWriter* writer) override {
    STILLFLOW_RETURN_IF_ERROR(selector_->Save(context, writer));
    for (const IteratorPtr& input : inputs_) {
      writer->Bool(input != nullptr);
      if (input != nullptr) STILLFLOW_RETURN_IF_ERROR(input->Save(context, writer));
    }
    return Status();
  }
  Status Restore(IteratorContext* context, PositionReader* reader) override {
    STILLFLOW_RETURN_IF_ERROR(selector_->Restore(context, reader));
    for (IteratorPtr& input : inputs_) {
      if (reader->Bool()) {
        STILLFLOW_RETURN_IF_ERROR(input->Restore(context, reader));
      } else {
        input.reset();
      }
    }
    return reader->status();
  }

 private:
  const IteratorPtr selector_;
  std::vector<IteratorPtr> inputs_;  // null when they are over
};

// The first input is the selector.
class DirectedInterleaveDataset final : public DatasetOf<DirectedInterleaveDataset> {
 public:
  DirectedInterleaveDataset(TupleSpec spec, std::vector<DatasetPtr> inputs)
      : DatasetOf(std::move(spec), std::move(inputs)) {}
  const char* type() const override { return "DirectedInterleave"; }
  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    const Place own = place.Child(type());
    std::vector<IteratorPtr> made(inputs().size());
    for (size_t i = 0; i < made.size(); ++i) {
      STILLFLOW_RETURN_IF_ERROR(inputs()[i]->MakeIterator(context, own.Element(static_cast<int64_t>(i)), &made[i]));
    }
    IteratorPtr selector = std::move(made[0]);
    made.erase(made.begin());
    *iterator = std::make_unique<DirectedInterleaveIterator>(std::move(selector), std::move(made));
    return Status();
  }
};

}  // namespace

DatasetPtr MakeUnbatchDataset(TupleSpec spec, DatasetPtr input) {
  return std::make_shared<UnbatchDataset>(std::move(spec), std::move(input));
}

DatasetPtr MakeIgnoreErrorsDataset(TupleSpec spec, DatasetPtr input) {
  return std::make_shared<IgnoreErrorsDataset>(std::move(spec), std::move(input));
}

DatasetPtr MakeDirectedInterleaveDataset(TupleSpec spec, DatasetPtr selector, std::vector<DatasetPtr> inputs) {
  inputs.insert(inputs.begin(), std::move(selector));
  return std::make_shared<DirectedInterleaveDataset>(std::move(spec), std::move(inputs));
}

}  // namespace stillflow
