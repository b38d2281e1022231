// Data sets of which a function makes others, whose elements they bring: flat_map, interleave.
#include "datasets/functional.h"
#include "datasets/variant.h"

namespace stillflow {
namespace {

// A data set that the function made of an element, and where its iterator is.
class Inner {
 public:
  // `number` is that of its place among the places of elements, in `place`.
  Status Open(IteratorContext* context, const BoundFunction& function, const Place& place, int64_t number,
              const TupleSpec& spec, const RewritesPtr& rewrites, Tuple element) {
    number_ = number;
    state_before_ = function.SaveState();
    element_ = std::move(element);
    Tuple result;
    STILLFLOW_RETURN_IF_ERROR(function.Call(context, element_, &result));
    return OpenResult(context, place, spec, rewrites, result);
  }

  Status Next(IteratorContext* context, Tuple* element, bool* is_end) {
    return iterator_->Next(context, element, is_end);
  }

  Status Save(IteratorContext* context, PositionWriter* writer) {
    writer->Int(number_);
    STILLFLOW_RETURN_IF_ERROR(writer->Element(element_));
    writer->String(state_before_);
    return iterator_->Save(context, writer);
  }

  // Calls the function again, in the state in which it was.
  Status Restore(IteratorContext* context, const BoundFunction& function, const Place& place, const Dataset& outer,
                 const RewritesPtr& rewrites, PositionReader* reader) {
    number_ = reader->IntIn(0, INT64_MAX);
    STILLFLOW_RETURN_IF_ERROR(reader->Element(*context->services, outer.input().spec(), &element_));
    state_before_ = reader->String();
    STILLFLOW_RETURN_IF_ERROR(reader->status());
    FunctionState state;
    if (!state_before_.empty() && !state.Restore(state_before_)) {
      reader->Fail();
      return reader->status();
    }
    Tuple result;
    STILLFLOW_RETURN_IF_ERROR(function.CallWith(&state, context, element_, &result));
    STILLFLOW_RETURN_IF_ERROR(OpenResult(context, place, outer.spec(), rewrites, result));
    return iterator_->Restore(context, reader);
  }

 private:
  Status OpenResult(IteratorContext* context, const Place& place, const TupleSpec& spec, const RewritesPtr& rewrites,
                    const Tuple& result) {
    if (result[0].rank != 0) {
      return STILLFLOW_INVALID_ARGUMENT("Function must return a single scalar of dtype DT_VARIANT.");
    }
    STILLFLOW_RETURN_IF_ERROR(DatasetIn(result[0], &dataset_));
    STILLFLOW_RETURN_IF_ERROR(CheckSpec(spec, dataset_->spec()));
    if (rewrites != nullptr) dataset_ = Optimize(dataset_, rewrites);
    return dataset_->MakeIterator(context, place.Element(number_), &iterator_);
  }

  int64_t number_ = 0;
  Tuple element_;
  std::string state_before_;  // the function's
  DatasetPtr dataset_;
  IteratorPtr iterator_;  // the last member: it is the first to go
};

class InterleaveDataset final : public DatasetOf<InterleaveDataset> {
 public:
  InterleaveDataset(const char* type, TupleSpec spec, DatasetPtr input, CapturedFunctionPtr function,
                    int64_t cycle_length, int64_t block_length, bool has_place_for_each)
      : DatasetOf(std::move(spec), {std::move(input)}),
        type_(type),
        function_(std::move(function)),
        cycle_length_(cycle_length),
        block_length_(block_length),
        has_place_for_each_(has_place_for_each) {}
  const char* type() const override { return type_; }
  // TensorFlow numbers the places of data sets one after the other, but those of an interleave without parallel calls
  // by the cycle, in which data sets follow each other in one place.
  bool has_place_for_each() const { return has_place_for_each_; }
  const CapturedFunction* function() const { return function_.get(); }
  DatasetPtr WithInnerRewrites(RewritesPtr rewrites) const {
    auto copy = std::make_shared<InterleaveDataset>(*this);
    copy->rewrites_ = std::move(rewrites);
    return copy;
  }

  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    const Place own = place.Child(type());
    BoundFunction function;
    STILLFLOW_RETURN_IF_ERROR(function.Bind(context, own.Child("f"), function_));
    IteratorPtr input;
    STILLFLOW_RETURN_IF_ERROR(this->input().MakeIterator(context, own, &input));
    *iterator = std::make_unique<It>(*this, own, std::move(function), std::move(input));
    return Status();
  }
  void VisitTensors(const std::function<void(const Tensor&)>& visit) const override {
    Dataset::VisitTensors(visit);
    function_->VisitTensors(visit);
  }

 private:
  class It final : public Iterator {
   public:
    It(const InterleaveDataset& dataset, Place place, BoundFunction function, IteratorPtr input)
        : dataset_(dataset), place_(std::move(place)), function_(std::move(function)), input_(std::move(input)) {}

    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      for (;;) {
        STILLFLOW_RETURN_IF_ERROR(context->CheckRun());
        *is_end = input_has_ended_ && open_.empty();
        if (*is_end) return Status();
        const auto current = open_.find(at_);
        if (current != open_.end()) {
          bool has_ended = false;
          STILLFLOW_RETURN_IF_ERROR(current->second.Next(context, element, &has_ended));
          if (!has_ended) {
            if (++taken_ == dataset_.block_length_) Advance();
            return Status();
          }
          open_.erase(current);
          Advance();
        } else if (!input_has_ended_) {
          STILLFLOW_RETURN_IF_ERROR(OpenNext(context));
        } else {
          AdvanceToOpen();
        }
      }
    }

    Status Save(IteratorContext* context, PositionWriter* writer) override {
      writer->Int(at_);
      writer->Int(taken_);
      writer->Int(opened_);
      writer->Bool(input_has_ended_);
      writer->Int(static_cast<int64_t>(open_.size()));
      for (auto& entry : open_) {
        writer->Int(entry.first);
        STILLFLOW_RETURN_IF_ERROR(entry.second.Save(context, writer));
      }
      return input_->Save(context, writer);
    }

    Status Restore(IteratorContext* context, PositionReader* reader) override {
      at_ = reader->IntIn(0, dataset_.cycle_length_ - 1);
      taken_ = reader->IntIn(0, dataset_.block_length_);
      opened_ = reader->IntIn(0, INT64_MAX);
      input_has_ended_ = reader->Bool();
      for (int64_t left = reader->Count(); left > 0 && reader->ok(); --left) {
        const int64_t place = reader->IntIn(0, dataset_.cycle_length_ - 1);
        if (open_.count(place) != 0) reader->Fail();
        STILLFLOW_RETURN_IF_ERROR(reader->status());
        STILLFLOW_RETURN_IF_ERROR(
            open_[place].Restore(context, function_, place_, dataset_, dataset_.rewrites_, reader));
      }
      STILLFLOW_RETURN_IF_ERROR(reader->status());
      return input_->Restore(context, reader);
    }

   private:
    void Advance() {
      taken_ = 0;
      at_ = (at_ + 1) % dataset_.cycle_length_;
    }

    // Skips the places of the cycle where nothing is open.
    void AdvanceToOpen() {
      auto next = open_.upper_bound(at_);
      if (next == open_.end()) next = open_.begin();
      taken_ = 0;
      at_ = next->first;
    }

    // Puts the data set that is made of the next element into the current place of the cycle.
    Status OpenNext(IteratorContext* context) {
      Tuple element;
      bool is_input_over = false;
      STILLFLOW_RETURN_IF_ERROR(input_->Next(context, &element, &is_input_over));
      input_has_ended_ = is_input_over;
      if (input_has_ended_) return Status();
      const int64_t number = dataset_.has_place_for_each() ? opened_ : at_;
      ++opened_;
      Inner inner;
      Status status =
          inner.Open(context, function_, place_, number, dataset_.spec(), dataset_.rewrites_, std::move(element));
      if (!status.ok()) return NotTheEnd(std::move(status), dataset_.type());
      open_.emplace(at_, std::move(inner));
      return Status();
    }

    const InterleaveDataset& dataset_;
    const Place place_;
    const BoundFunction function_;
    const IteratorPtr input_;
    int64_t at_ = 0;     // the place in the cycle
    int64_t taken_ = 0;  // from what is there
    int64_t opened_ = 0;
    bool input_has_ended_ = false;
    std::map<int64_t, Inner> open_;  // by place
  };

  const char* type_;
  CapturedFunctionPtr function_;
  int64_t cycle_length_;
  int64_t block_length_;
  bool has_place_for_each_;
  RewritesPtr rewrites_;  // of the data sets that are made; may be null
};

}  // namespace

const CapturedFunction* InnerFunctionOf(const Dataset& dataset) {
  const auto* interleave = dynamic_cast<const InterleaveDataset*>(&dataset);
  return interleave == nullptr ? nullptr : interleave->function();
}

DatasetPtr WithInnerRewrites(const Dataset& dataset, RewritesPtr rewrites) {
  const auto* interleave = dynamic_cast<const InterleaveDataset*>(&dataset);
  return interleave == nullptr ? nullptr : interleave->WithInnerRewrites(std::move(rewrites));
}

DatasetPtr MakeFlatMapDataset(TupleSpec spec, DatasetPtr input, CapturedFunctionPtr function) {
  return std::make_shared<InterleaveDataset>("FlatMap", std::move(spec), std::move(input), std::move(function), 1,
                                             INT64_MAX, true);
}

DatasetPtr MakeInterleaveDataset(TupleSpec spec, DatasetPtr input, CapturedFunctionPtr function, int64_t cycle_length,
                                 int64_t block_length, bool is_parallel) {
  return std::make_shared<InterleaveDataset>(is_parallel ? "ParallelInterleaveV2" : "Interleave", std::move(spec),
                                             std::move(input), std::move(function), cycle_length, block_length,
                                             is_parallel);
}

}  // namespace stillflow
