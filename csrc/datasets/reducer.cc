// Data sets of what functions make of all elements with the same key: group_by_reducer.
#include <map>

#include "datasets/functional.h"

namespace stillflow {
namespace {

// A call's arguments: shares of the tensors of both.
Tuple Joined(const Tuple& state, const Tuple& element) {
  Tuple joined(state.size() + element.size());
  for (size_t i = 0; i < joined.size(); ++i) {
    joined[i] = i < state.size() ? state[i] : element[i - state.size()];
    Retain(joined[i].buffer);
  }
  return joined;
}

class GroupByReducerDataset final : public DatasetOf<GroupByReducerDataset> {
 public:
  GroupByReducerDataset(TupleSpec spec, DatasetPtr input, ReducerFunctions functions)
      : DatasetOf(std::move(spec), {std::move(input)}), functions_(std::move(functions)) {}
  const char* type() const override { return "GroupByReducer"; }

  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    auto made = std::make_unique<It>(functions_.init->function().output_types());
    STILLFLOW_RETURN_IF_ERROR(made->Initialize(context, *this, place.Child(type())));
    *iterator = std::move(made);
    return Status();
  }
  void VisitTensors(const std::function<void(const Tensor&)>& visit) const override {
    Dataset::VisitTensors(visit);
    for (const auto& function : {functions_.key, functions_.init, functions_.reduce, functions_.finalize}) {
      function->VisitTensors(visit);
    }
  }

 private:
  class It final : public Iterator {
   public:
    explicit It(const std::vector<DType>& state_types)
        : state_spec_{state_types, std::vector<PartialShape>(state_types.size())} {}

    Status Initialize(IteratorContext* context, const GroupByReducerDataset& dataset, const Place& place) {
      const ReducerFunctions& functions = dataset.functions_;
      STILLFLOW_RETURN_IF_ERROR(key_.Bind(context, place.Child("key_func"), functions.key));
      STILLFLOW_RETURN_IF_ERROR(init_.Bind(context, place.Child("init_func"), functions.init));
      STILLFLOW_RETURN_IF_ERROR(reduce_.Bind(context, place.Child("reduce_func"), functions.reduce));
      STILLFLOW_RETURN_IF_ERROR(finalize_.Bind(context, place.Child("finalize_func"), functions.finalize));
      return dataset.input().MakeIterator(context, place, &input_);
    }

    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      while (input_ != nullptr) {
        STILLFLOW_RETURN_IF_ERROR(context->CheckRun());
        Tuple next;
        bool is_input_over = false;
        STILLFLOW_RETURN_IF_ERROR(input_->Next(context, &next, &is_input_over));
        if (is_input_over) {
          input_.reset();
        } else {
          STILLFLOW_RETURN_IF_ERROR(Reduce(context, next));
        }
      }
      *is_end = states_.empty();
      if (*is_end) return Status();
      const Tuple state = std::move(states_.begin()->second);
      states_.erase(states_.begin());
      return NotTheEnd(finalize_.Call(context, state, element), "GroupByReducer");
    }

    Status Save(IteratorContext* context, PositionWriter* writer) override {
      writer->Int(static_cast<int64_t>(states_.size()));
      for (const auto& entry : states_) {
        writer->Int(entry.first);
        STILLFLOW_RETURN_IF_ERROR(writer->Element(entry.second));
      }
      writer->Bool(input_ != nullptr);
      return input_ == nullptr ? Status() : input_->Save(context, writer);
    }
    Status Restore(IteratorContext* context, PositionReader* reader) override {
      for (int64_t left = reader->Count(); left > 0 && reader->ok(); --left) {
        Tuple& state = states_[reader->Int()];
        STILLFLOW_RETURN_IF_ERROR(reader->Element(*context->services, state_spec_, &state));
      }
      if (reader->Bool()) return input_->Restore(context, reader);
      input_.reset();
      return reader->status();
    }

   private:
    Status Reduce(IteratorContext* context, const Tuple& element) {
      Tuple key;
      STILLFLOW_RETURN_IF_ERROR(NotTheEnd(key_.Call(context, element, &key), "GroupByReducer"));
      if (key[0].count != 1) return STILLFLOW_INVALID_ARGUMENT("`key_func` must return a scalar int64.");
      const int64_t number = IntAt(key[0], 0);
      auto found = states_.find(number);
      if (found == states_.end()) {
        Tuple state;
        STILLFLOW_RETURN_IF_ERROR(NotTheEnd(init_.Call(context, key, &state), "GroupByReducer"));
        found = states_.emplace(number, std::move(state)).first;
      }
      Tuple next;
      STILLFLOW_RETURN_IF_ERROR(
          NotTheEnd(reduce_.Call(context, Joined(found->second, element), &next), "GroupByReducer"));
      found->second = std::move(next);
      return Status();
    }

    const TupleSpec state_spec_;
    BoundFunction key_;
    BoundFunction init_;
    BoundFunction reduce_;
    BoundFunction finalize_;
    IteratorPtr input_;  // null when it is over
    std::map<int64_t, Tuple> states_;
  };

  ReducerFunctions functions_;
};

}  // namespace

DatasetPtr MakeGroupByReducerDataset(TupleSpec spec, DatasetPtr input, ReducerFunctions functions) {
  return std::make_shared<GroupByReducerDataset>(std::move(spec), std::move(input), std::move(functions));
}

}  // namespace stillflow
