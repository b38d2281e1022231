// Data sets that end before the first element that does not pass a test: take_while.
#include "datasets/functional.h"

namespace stillflow {
namespace {

class TakeWhileDataset final : public DatasetOf<TakeWhileDataset> {
 public:
  TakeWhileDataset(TupleSpec spec, DatasetPtr input, CapturedFunctionPtr predicate)
      : DatasetOf(std::move(spec), {std::move(input)}), predicate_(std::move(predicate)) {}
  const char* type() const override { return "TakeWhile"; }

  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    const Place own = place.Child(type());
    BoundFunction predicate;
    STILLFLOW_RETURN_IF_ERROR(predicate.Bind(context, own.Child("f"), predicate_));
    IteratorPtr input;
    STILLFLOW_RETURN_IF_ERROR(this->input().MakeIterator(context, own, &input));
    *iterator = std::make_unique<It>(std::move(predicate), std::move(input));
    return Status();
  }
  void VisitTensors(const std::function<void(const Tensor&)>& visit) const override {
    Dataset::VisitTensors(visit);
    predicate_->VisitTensors(visit);
  }

 private:
  class It final : public Iterator {
   public:
    It(BoundFunction predicate, IteratorPtr input) : predicate_(std::move(predicate)), input_(std::move(input)) {}

    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      *is_end = input_ == nullptr;
      if (*is_end) return Status();
      STILLFLOW_RETURN_IF_ERROR(input_->Next(context, element, is_end));
      if (!*is_end) {
        Tuple result;
        STILLFLOW_RETURN_IF_ERROR(predicate_.Call(context, *element, &result));
        if (result[0].count != 1) {
          return STILLFLOW_INVALID_ARGUMENT("`predicate` must returns a scalar bool tensor.");
        }
        *is_end = !Data<bool>(result[0])[0];
      }
      if (*is_end) input_.reset();
      return Status();
    }
    Status Save(IteratorContext* context, PositionWriter* writer) override {
      writer->Bool(input_ != nullptr);
      return input_ == nullptr ? Status() : input_->Save(context, writer);
    }
    Status Restore(IteratorContext* context, PositionReader* reader) override {
      if (reader->Bool()) return input_->Restore(context, reader);
      input_.reset();
      return reader->status();
    }

   private:
    const BoundFunction predicate_;
    IteratorPtr input_;  // null when it is over
  };

  CapturedFunctionPtr predicate_;
};

}  // namespace

DatasetPtr MakeTakeWhileDataset(TupleSpec spec, DatasetPtr input, CapturedFunctionPtr predicate) {
  return std::make_shared<TakeWhileDataset>(std::move(spec), std::move(input), std::move(predicate));
}

}  // namespace stillflow
