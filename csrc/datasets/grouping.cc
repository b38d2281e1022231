// Data sets that gather elements by a key, and hand groups of them to a function: group_by_window.
#include <map>

#include "datasets/datasets.h"
#include "datasets/functional.h"
#include "datasets/variant.h"

namespace stillflow {
namespace {

const TupleSpec& KeySpec() {
  static const TupleSpec spec{{DType::kInt64}, {PartialShape{0, {}}}};
  return spec;
}

class GroupByWindowDataset final : public DatasetOf<GroupByWindowDataset> {
 public:
  GroupByWindowDataset(TupleSpec spec, DatasetPtr input, CapturedFunctionPtr key, CapturedFunctionPtr reduce,
                       CapturedFunctionPtr window_size)
      : DatasetOf(std::move(spec), {std::move(input)}),
        key_(std::move(key)),
        reduce_(std::move(reduce)),
        window_size_(std::move(window_size)) {}
  const char* type() const override { return "GroupByWindow"; }

  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    auto made = std::make_unique<It>(*this, place.Child(type()));
    STILLFLOW_RETURN_IF_ERROR(made->Initialize(context));
    *iterator = std::move(made);
    return Status();
  }
  void VisitTensors(const std::function<void(const Tensor&)>& visit) const override {
    Dataset::VisitTensors(visit);
    for (const auto& function : {key_, reduce_, window_size_}) function->VisitTensors(visit);
  }

 private:
  struct Group {
    Tuple key;
    std::vector<Tuple> elements;
  };

  class It final : public Iterator {
   public:
    It(const GroupByWindowDataset& dataset, Place place) : dataset_(dataset), place_(std::move(place)) {}

    Status Initialize(IteratorContext* context) {
      STILLFLOW_RETURN_IF_ERROR(key_.Bind(context, place_.Child("key_func"), dataset_.key_));
      STILLFLOW_RETURN_IF_ERROR(reduce_.Bind(context, place_.Child("reduce_func"), dataset_.reduce_));
      STILLFLOW_RETURN_IF_ERROR(window_size_.Bind(context, place_.Child("window_size_func"), dataset_.window_size_));
      return dataset_.input().MakeIterator(context, place_, &input_);
    }

    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      for (;;) {
        STILLFLOW_RETURN_IF_ERROR(context->CheckRun());
        if (open_ != nullptr) {
          STILLFLOW_RETURN_IF_ERROR(open_->Next(context, element, is_end));
          if (!*is_end) return Status();
          Close();
        }
        if (input_ != nullptr) {
          STILLFLOW_RETURN_IF_ERROR(TakeElement(context));
        } else {
          *is_end = groups_.empty();
          if (*is_end) return Status();
          STILLFLOW_RETURN_IF_ERROR(Open(context, groups_.begin()->first));
        }
      }
    }

    Status Save(IteratorContext* context, PositionWriter* writer) override {
      writer->Int(static_cast<int64_t>(sizes_.size()));
      for (const auto& entry : sizes_) {
        writer->Int(entry.first);
        writer->Int(entry.second);
      }
      writer->Int(static_cast<int64_t>(groups_.size()));
      for (const auto& entry : groups_) {
        writer->Int(entry.first);
        STILLFLOW_RETURN_IF_ERROR(writer->Element(entry.second.key));
        STILLFLOW_RETURN_IF_ERROR(writer->Elements(entry.second.elements));
      }
      writer->Int(opened_);
      writer->Bool(open_ != nullptr);
      if (open_ != nullptr) {
        writer->Int(open_key_);
        writer->String(state_before_);
        STILLFLOW_RETURN_IF_ERROR(open_->Save(context, writer));
      }
      writer->Bool(input_ != nullptr);
      return input_ == nullptr ? Status() : input_->Save(context, writer);
    }

    Status Restore(IteratorContext* context, PositionReader* reader) override {
      for (int64_t left = reader->Count(); left > 0 && reader->ok(); --left) {
        const int64_t key = reader->Int();
        sizes_[key] = reader->IntIn(1, INT64_MAX);
      }
      for (int64_t left = reader->Count(); left > 0 && reader->ok(); --left) {
        Group& group = groups_[reader->Int()];
        STILLFLOW_RETURN_IF_ERROR(reader->Element(*context->services, KeySpec(), &group.key));
        STILLFLOW_RETURN_IF_ERROR(reader->Elements(*context->services, dataset_.input().spec(), &group.elements));
      }
      opened_ = reader->IntIn(0, INT64_MAX);
      if (reader->Bool()) STILLFLOW_RETURN_IF_ERROR(RestoreOpen(context, reader));
      if (reader->Bool()) return input_->Restore(context, reader);
      input_.reset();
      return reader->status();
    }

   private:
    // Calls a function that has to return an int64 scalar.
    static Status CallForNumber(IteratorContext* context, const BoundFunction& function, const char* name,
                                const Tuple& argument, Tuple* result) {
      STILLFLOW_RETURN_IF_ERROR(NotTheEnd(function.Call(context, argument, result), "GroupByWindow"));
      if ((*result)[0].rank == 0) return Status();
      return STILLFLOW_INVALID_ARGUMENT("`%s` must return a scalar int64.", name);
    }

    // Puts the next element into its group, and opens that if it is complete.
    Status TakeElement(IteratorContext* context) {
      Tuple element;
      bool is_input_over = false;
      STILLFLOW_RETURN_IF_ERROR(input_->Next(context, &element, &is_input_over));
      if (is_input_over) {
        input_.reset();
        return Status();
      }
      Tuple key;
      STILLFLOW_RETURN_IF_ERROR(CallForNumber(context, key_, "key_func", element, &key));
      const int64_t number = IntAt(key[0], 0);
      if (sizes_.count(number) == 0) {
        Tuple size;
        STILLFLOW_RETURN_IF_ERROR(CallForNumber(context, window_size_, "window_size_func", key, &size));
        if (IntAt(size[0], 0) <= 0) {
          return STILLFLOW_INVALID_ARGUMENT("Window size must be greater than zero, but got %lld.",
                                            static_cast<long long>(IntAt(size[0], 0)));
        }
        sizes_[number] = IntAt(size[0], 0);
      }
      Group& group = groups_[number];
      if (group.elements.empty()) group.key = std::move(key);
      group.elements.push_back(std::move(element));
      return static_cast<int64_t>(group.elements.size()) < sizes_[number] ? Status() : Open(context, number);
    }

    Status Open(IteratorContext* context, int64_t key) {
      state_before_ = reduce_.SaveState();
      Status status = OpenWith(context, key, opened_, [&](const Tuple& argument, Tuple* result) {
        return reduce_.Call(context, argument, result);
      });
      if (!status.ok()) {  // its elements are not tried again
        groups_.erase(key);
        return NotTheEnd(std::move(status), "GroupByWindow");
      }
      ++opened_;
      return status;
    }

    template <typename CallReduce>
    Status OpenWith(IteratorContext* context, int64_t key, int64_t number, const CallReduce& call) {
      const Group& group = groups_[key];
      Tuple argument(2);
      argument[0] = group.key[0];
      Retain(argument[0].buffer);
      DatasetPtr window = MakeElementsDataset(dataset_.input().spec(), SharesOf(group.elements));
      STILLFLOW_RETURN_IF_ERROR(MakeDatasetVariant(*context->services, std::move(window), &argument[1]));
      Tuple result;
      STILLFLOW_RETURN_IF_ERROR(call(argument, &result));
      if (result[0].rank != 0) {
        return STILLFLOW_INVALID_ARGUMENT("`reduce_func` must return a single scalar of dtype DT_VARIANT.");
      }
      STILLFLOW_RETURN_IF_ERROR(DatasetIn(result[0], &made_));
      STILLFLOW_RETURN_IF_ERROR(CheckSpec(dataset_.spec(), made_->spec()));
      open_key_ = key;
      return made_->MakeIterator(context, place_.Element(number), &open_);
    }

    Status RestoreOpen(IteratorContext* context, PositionReader* reader) {
      const int64_t key = reader->Int();
      state_before_ = reader->String();
      FunctionState state;
      const bool is_known = groups_.count(key) != 0 && groups_[key].key.size() == 1;
      if (!is_known || (!state_before_.empty() && !state.Restore(state_before_))) reader->Fail();
      STILLFLOW_RETURN_IF_ERROR(reader->status());
      STILLFLOW_RETURN_IF_ERROR(OpenWith(context, key, opened_ - 1, [&](const Tuple& argument, Tuple* result) {
        return reduce_.CallWith(&state, context, argument, result);
      }));
      return open_->Restore(context, reader);
    }

    void Close() {
      open_.reset();
      made_.reset();
      groups_.erase(open_key_);
    }

    const GroupByWindowDataset& dataset_;
    const Place place_;
    BoundFunction key_;
    BoundFunction reduce_;
    BoundFunction window_size_;
    IteratorPtr input_;                 // null when it is over
    std::map<int64_t, int64_t> sizes_;  // of windows, by key
    std::map<int64_t, Group> groups_;
    int64_t opened_ = 0;
    int64_t open_key_ = 0;
    std::string state_before_;  // of reduce_, when it made what is open
    DatasetPtr made_;
    IteratorPtr open_;  // the last member: it is the first to go
  };

  CapturedFunctionPtr key_;
  CapturedFunctionPtr reduce_;
  CapturedFunctionPtr window_size_;
};

}  // namespace

DatasetPtr MakeGroupByWindowDataset(TupleSpec spec, DatasetPtr input, CapturedFunctionPtr key,
                                    CapturedFunctionPtr reduce, CapturedFunctionPtr window_size) {
  return std::make_shared<GroupByWindowDataset>(std::move(spec), std::move(input), std::move(key), std::move(reduce),
                                                std::move(window_size));
}

}  // namespace stillflow
