// Data sets of what a function makes of a state and an element, the next state aside: scan.
#include "datasets/functional.h"

namespace stillflow {
namespace {

class ScanDataset final : public DatasetOf<ScanDataset> {
 public:
  ScanDataset(TupleSpec spec, DatasetPtr input, CapturedFunctionPtr function, std::shared_ptr<const Tuple> initial,
              bool preserves_cardinality)
      : DatasetOf(std::move(spec), {std::move(input)}),
        function_(std::move(function)),
        initial_(std::move(initial)),
        preserves_cardinality_(preserves_cardinality) {}
  const char* type() const override { return "Scan"; }

  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    const Place own = place.Child(type());
    BoundFunction function;
    STILLFLOW_RETURN_IF_ERROR(function.Bind(context, own.Child("f"), function_));
    IteratorPtr input;
    STILLFLOW_RETURN_IF_ERROR(this->input().MakeIterator(context, own, &input));
    *iterator = std::make_unique<It>(*this, std::move(function), std::move(input));
    return Status();
  }
  void VisitTensors(const std::function<void(const Tensor&)>& visit) const override {
    Dataset::VisitTensors(visit);
    function_->VisitTensors(visit);
    for (size_t i = 0; i < initial_->size(); ++i) visit((*initial_)[i]);
  }

 private:
  class It final : public Iterator {
   public:
    It(const ScanDataset& dataset, BoundFunction function, IteratorPtr input)
        : dataset_(dataset),
          function_(std::move(function)),
          input_(std::move(input)),
          state_(SharesOf(*dataset.initial_)) {}

    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      Tuple next;
      STILLFLOW_RETURN_IF_ERROR(input_->Next(context, &next, is_end));
      if (*is_end) return Status();
      const size_t state_size = state_.size();
      Tuple argument(state_size + next.size());
      for (size_t i = 0; i < state_size; ++i) {
        argument[i] = state_[i];
        Retain(argument[i].buffer);
      }
      for (size_t i = 0; i < next.size(); ++i) std::swap(argument[state_size + i], next[i]);
      Tuple result;
      Status status = function_.Call(context, argument, &result);
      *is_end = status.code() == Code::kOutOfRange && !dataset_.preserves_cardinality_;
      if (*is_end) return Status();
      if (!status.ok()) return NotTheEnd(std::move(status), dataset_.type());
      for (size_t i = 0; i < state_size; ++i) std::swap(state_[i], result[i]);
      element->Reset(result.size() - state_size);
      for (size_t i = 0; i < element->size(); ++i) std::swap((*element)[i], result[state_size + i]);
      return Status();
    }
    Status Save(IteratorContext* context, PositionWriter* writer) override {
      STILLFLOW_RETURN_IF_ERROR(writer->Element(state_));
      return input_->Save(context, writer);
    }
    Status Restore(IteratorContext* context, PositionReader* reader) override {
      TupleSpec spec;
      for (size_t i = 0; i < state_.size(); ++i) spec.types.push_back(state_[i].dtype);
      spec.shapes.resize(spec.types.size());
      STILLFLOW_RETURN_IF_ERROR(reader->Element(*context->services, spec, &state_));
      return input_->Restore(context, reader);
    }

   private:
    const ScanDataset& dataset_;
    const BoundFunction function_;
    const IteratorPtr input_;
    Tuple state_;
  };

  CapturedFunctionPtr function_;
  std::shared_ptr<const Tuple> initial_;
  bool preserves_cardinality_;
};

}  // namespace

DatasetPtr MakeScanDataset(TupleSpec spec, DatasetPtr input, CapturedFunctionPtr function, Tuple initial_state,
                           bool preserves_cardinality) {
  return std::make_shared<ScanDataset>(std::move(spec), std::move(input), std::move(function),
                                       std::make_shared<const Tuple>(std::move(initial_state)),
                                       preserves_cardinality);
}

}  // namespace stillflow
