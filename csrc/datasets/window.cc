// Data sets that bring data sets of some of the elements that come one after the other: window.
#include <deque>

#include "datasets/datasets.h"
#include "datasets/variant.h"

namespace stillflow {
namespace {

class WindowDataset final : public DatasetOf<WindowDataset> {
 public:
  WindowDataset(TupleSpec spec, DatasetPtr input, int64_t size, int64_t shift, int64_t stride, bool drops_remainder)
      : DatasetOf(std::move(spec), {std::move(input)}),
        size_(size),
        shift_(shift),
        stride_(stride),
        drops_remainder_(drops_remainder) {}
  const char* type() const override { return "Window"; }
  int64_t Cardinality() const override {
    const int64_t elements = input().Cardinality();
    if (elements < 0) return elements;
    if (!drops_remainder_) return BatchCount(elements, shift_, false);
    const int64_t reach = (size_ - 1) * stride_ + 1;
    return elements < reach ? 0 : (elements - reach) / shift_ + 1;
  }

  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    return MakeOverInput<It>(context, place, iterator);
  }

 private:
  // An element of the input, or what happened instead of it: that is told by the windows that it is in.
  struct Arrival {
    Tuple element;
    Status status;
  };

  class It final : public Iterator {
   public:
    It(const WindowDataset& dataset, IteratorPtr input) : dataset_(dataset), input_(std::move(input)) {}

    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      STILLFLOW_RETURN_IF_ERROR(Fill(context));
      *is_end = held_.empty() || (dataset_.drops_remainder_ && !IsFull());
      if (*is_end) return Status();
      std::vector<Tuple> columns;
      Status status = Collect(&columns);
      STILLFLOW_RETURN_IF_ERROR(Shift(context));
      if (!status.ok()) return status;
      return MakeWindows(*context->services, std::move(columns), element);
    }

    Status Save(IteratorContext* context, PositionWriter* writer) override {
      writer->Int(static_cast<int64_t>(held_.size()));
      for (const Arrival& arrival : held_) {
        writer->Failure(arrival.status);
        if (arrival.status.ok()) STILLFLOW_RETURN_IF_ERROR(writer->Element(arrival.element));
      }
      writer->Bool(input_ != nullptr);
      return input_ == nullptr ? Status() : input_->Save(context, writer);
    }
    Status Restore(IteratorContext* context, PositionReader* reader) override {
      held_.clear();
      for (int64_t left = reader->Count(); left > 0 && reader->ok(); --left) {
        held_.emplace_back();
        held_.back().status = reader->Failure();
        if (!held_.back().status.ok()) continue;
        STILLFLOW_RETURN_IF_ERROR(
            reader->Element(*context->services, dataset_.input().spec(), &held_.back().element));
      }
      if (reader->Bool()) return input_->Restore(context, reader);
      input_.reset();
      return reader->status();
    }

   private:
    // From the first element of a window to its last: (size - 1) * stride + 1, unless that is more than can be.
    bool IsFull() const {
      const auto held = static_cast<int64_t>(held_.size());
      return held > 0 && (held - 1) / dataset_.stride_ >= dataset_.size_ - 1;
    }

    Status Fill(IteratorContext* context) {
      while (input_ != nullptr && !IsFull()) {
        STILLFLOW_RETURN_IF_ERROR(context->CheckRun());
        Arrival arrival;
        bool is_input_over = false;
        arrival.status = input_->Next(context, &arrival.element, &is_input_over);
        if (arrival.status.code() == Code::kCancelled) return std::move(arrival.status);
        if (arrival.status.ok() && is_input_over) {
          input_.reset();
        } else {
          held_.push_back(std::move(arrival));
        }
      }
      return Status();
    }

    // Shares of every `stride`th element, one tuple of tensors for each component.
    Status Collect(std::vector<Tuple>* elements) {
      for (size_t i = 0; i < held_.size(); i += dataset_.stride_) {
        const Arrival& arrival = held_[i];
        if (!arrival.status.ok()) return Error(arrival.status.code(), "%s", arrival.status.message());
        Tuple shared(arrival.element.size());
        for (size_t c = 0; c < shared.size(); ++c) {
          shared[c] = arrival.element[c];
          Retain(shared[c].buffer);
        }
        elements->push_back(std::move(shared));
        if (static_cast<int64_t>(held_.size() - i) <= dataset_.stride_) break;
      }
      return Status();
    }

    Status Shift(IteratorContext* context) {
      int64_t left = dataset_.shift_;
      for (; left > 0 && !held_.empty(); --left) held_.pop_front();
      Tuple skipped;
      for (; left > 0 && input_ != nullptr; --left) {
        STILLFLOW_RETURN_IF_ERROR(context->CheckRun());
        bool is_input_over = false;
        const Status status = input_->Next(context, &skipped, &is_input_over);  // nobody asked for it
        if (status.ok() && is_input_over) input_.reset();
      }
      return Status();
    }

    Status MakeWindows(const Services& services, std::vector<Tuple> elements, Tuple* element) {
      const TupleSpec& spec = dataset_.input().spec();
      element->Reset(spec.size());
      for (size_t c = 0; c < spec.size(); ++c) {
        std::vector<Tuple> column(elements.size());
        for (size_t i = 0; i < elements.size(); ++i) {
          column[i].Reset(1);
          std::swap(column[i][0], elements[i][c]);
        }
        DatasetPtr window = MakeElementsDataset({{spec.types[c]}, {spec.shapes[c]}}, std::move(column));
        STILLFLOW_RETURN_IF_ERROR(MakeDatasetVariant(services, std::move(window), &(*element)[c]));
      }
      return Status();
    }

    const WindowDataset& dataset_;
    IteratorPtr input_;  // null when it is over
    std::deque<Arrival> held_;
  };

  int64_t size_;
  int64_t shift_;
  int64_t stride_;
  bool drops_remainder_;
};

}  // namespace

DatasetPtr MakeWindowDataset(TupleSpec spec, DatasetPtr input, int64_t size, int64_t shift, int64_t stride,
                             bool drops_remainder) {
  return std::make_shared<WindowDataset>(std::move(spec), std::move(input), size, shift, stride, drops_remainder);
}

}  // namespace stillflow
