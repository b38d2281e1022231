// Data sets whose elements are results of a function: map, one element at a time or several.
#include <algorithm>
#include <atomic>
#include <deque>
#include <thread>

#include "datasets/functional.h"

namespace stillflow {
namespace {

// Functions that are called one after the other, each with the results of the one before.
class FunctionChain {
 public:
  Status Bind(IteratorContext* context, const Place& place, const std::vector<CapturedFunctionPtr>& functions) {
    functions_.resize(functions.size());
    for (size_t i = 0; i < functions.size(); ++i) {
      STILLFLOW_RETURN_IF_ERROR(functions_[i].Bind(context, i == 0 ? place : place.Child(i), functions[i]));
    }
    return Status();
  }

  Status Call(IteratorContext* context, const Tuple& element, Tuple* result) const {
    STILLFLOW_RETURN_IF_ERROR(functions_[0].Call(context, element, result));
    for (size_t i = 1; i < functions_.size(); ++i) {
      const Tuple argument = std::move(*result);
      STILLFLOW_RETURN_IF_ERROR(functions_[i].Call(context, argument, result));
    }
    return Status();
  }

 private:
  std::vector<BoundFunction> functions_;
};

bool IsStateful(const CapturedFunctionPtr& function) { return function->function().is_stateful(); }

// Calls of functions beside each other, in a run of their own each that ends with the caller's.
class ParallelCalls {
 public:
  struct Slot {
    Tuple value;  // the element, then the result
    Status status;
    bool is_done = false;
  };

  ParallelCalls(const FunctionChain& functions, IteratorContext* context, std::vector<Slot*> slots)
      : functions_(functions),
        context_(context),
        slots_(std::move(slots)),
        caller_(std::this_thread::get_id()),
        options_(*context->run->options),
        others_run_(*context->run) {
    options_.interrupt = {[](void* self) { return static_cast<ParallelCalls*>(self)->is_stopped_.load(); }, this};
    others_run_.options = &options_;
  }

  // An error if the run ended; slots that are not done by then may be tried again.
  Status Run() {
    const auto count = static_cast<int64_t>(slots_.size());
    return context_->services->parallel_for(context_->run, count, CallOne, this);
  }

 private:
  static Status CallOne(void* arg, int64_t index) {
    auto* self = static_cast<ParallelCalls*>(arg);
    try {
      return self->Call(self->slots_[index]);
    } catch (const std::exception&) {
      return OutOfScratch();
    }
  }

  Status Call(Slot* slot) {
    RunContext own = others_run_;
    RunContext* const run = std::this_thread::get_id() == caller_ ? context_->run : &own;
    IteratorContext context{run, context_->services, context_->statistics};
    Tuple result;
    Status status = functions_.Call(&context, slot->value, &result);
    if (run->stop != Code::kOk) {
      is_stopped_.store(true);
      return status;
    }
    if (status.ok()) slot->value = std::move(result);
    slot->status = std::move(status);
    slot->is_done = true;
    return Status();
  }

  const FunctionChain& functions_;
  IteratorContext* const context_;
  const std::vector<Slot*> slots_;
  const std::thread::id caller_;
  RunOptions options_;
  RunContext others_run_;  // what calls in other threads begin with
  std::atomic<bool> is_stopped_{false};
};

class MapDataset final : public DatasetOf<MapDataset> {
 public:
  MapDataset(TupleSpec spec, DatasetPtr input, std::vector<CapturedFunctionPtr> functions, MapOptions options)
      : DatasetOf(std::move(spec), {std::move(input)}), functions_(std::move(functions)), options_(options) {}
  const char* type() const override { return options_.is_parallel ? "ParallelMap" : "Map"; }
  const std::vector<CapturedFunctionPtr>& functions() const { return functions_; }
  const MapOptions& options() const { return options_; }
  bool is_stateful() const { return std::any_of(functions_.begin(), functions_.end(), IsStateful); }
  DatasetPtr With(const MapOptions& options) const {
    return std::make_shared<MapDataset>(spec(), inputs()[0], functions_, options);
  }
  int64_t Cardinality() const override { return input().Cardinality(); }

  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override;
  void VisitTensors(const std::function<void(const Tensor&)>& visit) const override {
    Dataset::VisitTensors(visit);
    for (const CapturedFunctionPtr& function : functions_) function->VisitTensors(visit);
  }

 private:
  class It;
  class ParallelIt;

  std::vector<CapturedFunctionPtr> functions_;  // at least one
  MapOptions options_;
};

class MapDataset::It final : public Iterator {
 public:
  It(const MapDataset& dataset, FunctionChain functions, IteratorPtr input)
      : dataset_(dataset), functions_(std::move(functions)), input_(std::move(input)) {}

  Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
    Tuple argument;
    STILLFLOW_RETURN_IF_ERROR(input_->Next(context, &argument, is_end));
    if (*is_end) return Status();
    return EndedBy(functions_.Call(context, argument, element), dataset_.options_.preserves_cardinality, is_end);
  }
  Status Save(IteratorContext* context, PositionWriter* writer) override { return input_->Save(context, writer); }
  Status Restore(IteratorContext* context, PositionReader* reader) override {
    return input_->Restore(context, reader);
  }

 private:
  const MapDataset& dataset_;
  const FunctionChain functions_;
  const IteratorPtr input_;
};

// Takes as many elements as may be at work, makes all results, and brings them in order; then the next ones.
class MapDataset::ParallelIt final : public Iterator {
 public:
  ParallelIt(const MapDataset& dataset, FunctionChain functions, IteratorPtr input)
      : dataset_(dataset), functions_(std::move(functions)), input_(std::move(input)) {}

  Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
    if (slots_.empty()) STILLFLOW_RETURN_IF_ERROR(Fill(context));
    *is_end = slots_.empty();
    if (*is_end) return Status();
    if (!slots_.front().is_done) STILLFLOW_RETURN_IF_ERROR(CallAll(context));
    ParallelCalls::Slot first = std::move(slots_.front());
    slots_.pop_front();
    *element = std::move(first.value);
    return EndedBy(std::move(first.status), dataset_.options_.preserves_cardinality, is_end);
  }

  Status Save(IteratorContext* context, PositionWriter* writer) override {
    writer->Int(static_cast<int64_t>(slots_.size()));
    for (const ParallelCalls::Slot& slot : slots_) {
      writer->Bool(slot.is_done);
      writer->Failure(slot.status);
      if (slot.status.ok()) STILLFLOW_RETURN_IF_ERROR(writer->Element(slot.value));
    }
    return input_->Save(context, writer);
  }
  Status Restore(IteratorContext* context, PositionReader* reader) override {
    for (int64_t left = reader->Count(); left > 0 && reader->ok(); --left) {
      ParallelCalls::Slot slot;
      slot.is_done = reader->Bool();
      slot.status = reader->Failure();
      const TupleSpec& spec = slot.is_done ? dataset_.spec() : dataset_.input().spec();
      if (slot.status.ok()) {
        STILLFLOW_RETURN_IF_ERROR(reader->Element(*context->services, spec, &slot.value));
      } else if (!slot.is_done) {
        reader->Fail();
      }
      slots_.push_back(std::move(slot));
    }
    return input_->Restore(context, reader);
  }

 private:
  Status Fill(IteratorContext* context) {
    while (static_cast<int64_t>(slots_.size()) < dataset_.options_.parallel_calls) {
      ParallelCalls::Slot slot;
      bool is_end = false;
      slot.status = input_->Next(context, &slot.value, &is_end);
      if (context->run->stop != Code::kOk) return std::move(slot.status);
      if (slot.status.ok() && is_end) break;
      slot.is_done = !slot.status.ok();
      slots_.push_back(std::move(slot));
    }
    return Status();
  }

  Status CallAll(IteratorContext* context) {
    std::vector<ParallelCalls::Slot*> waiting;
    for (ParallelCalls::Slot& slot : slots_) {
      if (!slot.is_done) waiting.push_back(&slot);
    }
    return ParallelCalls(functions_, context, std::move(waiting)).Run();
  }

  const MapDataset& dataset_;
  const FunctionChain functions_;
  const IteratorPtr input_;
  std::deque<ParallelCalls::Slot> slots_;  // after a stopped run some of them are not done
};

Status MapDataset::MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const {
  const Place own = place.Child(type());
  FunctionChain functions;
  STILLFLOW_RETURN_IF_ERROR(functions.Bind(context, own.Child("f"), functions_));
  IteratorPtr input;
  STILLFLOW_RETURN_IF_ERROR(this->input().MakeIterator(context, own, &input));
  // Calls that can be told apart come one after the other, so that their order is always the same.
  if (options_.parallel_calls > 1 && !is_stateful()) {
    *iterator = std::make_unique<ParallelIt>(*this, std::move(functions), std::move(input));
  } else {
    *iterator = std::make_unique<It>(*this, std::move(functions), std::move(input));
  }
  return Status();
}

// ---- Filter -------------------------------------------------------------------------------------------------------

class FilterDataset final : public DatasetOf<FilterDataset> {
 public:
  FilterDataset(TupleSpec spec, DatasetPtr input, std::vector<CapturedFunctionPtr> predicates)
      : DatasetOf(std::move(spec), {std::move(input)}), predicates_(std::move(predicates)) {}
  const char* type() const override { return "Filter"; }
  const std::vector<CapturedFunctionPtr>& predicates() const { return predicates_; }

  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    const Place own = place.Child(type());
    std::vector<BoundFunction> predicates(predicates_.size());
    for (size_t i = 0; i < predicates.size(); ++i) {
      const Place state = i == 0 ? own.Child("f") : own.Child("f").Child(i);
      STILLFLOW_RETURN_IF_ERROR(predicates[i].Bind(context, state, predicates_[i]));
    }
    IteratorPtr input;
    STILLFLOW_RETURN_IF_ERROR(this->input().MakeIterator(context, own, &input));
    *iterator = std::make_unique<It>(std::move(predicates), std::move(input));
    return Status();
  }
  void VisitTensors(const std::function<void(const Tensor&)>& visit) const override {
    Dataset::VisitTensors(visit);
    for (const CapturedFunctionPtr& predicate : predicates_) predicate->VisitTensors(visit);
  }

 private:
  class It final : public Iterator {
   public:
    It(std::vector<BoundFunction> predicates, IteratorPtr input)
        : predicates_(std::move(predicates)), input_(std::move(input)) {}

    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      for (;;) {
        STILLFLOW_RETURN_IF_ERROR(context->CheckRun());
        STILLFLOW_RETURN_IF_ERROR(input_->Next(context, element, is_end));
        if (*is_end) return Status();
        bool passes = true;
        for (size_t i = 0; passes && i < predicates_.size(); ++i) {
          Tuple result;
          STILLFLOW_RETURN_IF_ERROR(NotTheEnd(predicates_[i].Call(context, *element, &result), "Filter"));
          if (result[0].count != 1) {
            return STILLFLOW_INVALID_ARGUMENT("Filter predicate `f` must return a scalar bool.");
          }
          passes = Data<bool>(result[0])[0];
        }
        if (passes) return Status();
      }
    }
    Status Save(IteratorContext* context, PositionWriter* writer) override { return input_->Save(context, writer); }
    Status Restore(IteratorContext* context, PositionReader* reader) override {
      return input_->Restore(context, reader);
    }

   private:
    const std::vector<BoundFunction> predicates_;
    const IteratorPtr input_;
  };

  std::vector<CapturedFunctionPtr> predicates_;  // an element passes if all hold
};

}  // namespace

Status EndedBy(Status status, bool preserves_cardinality, bool* is_end) {
  if (status.code() != Code::kOutOfRange) return status;
  if (preserves_cardinality) {
    return Error(Code::kInvalidArgument, "Function invocation produced OutOfRangeError: %s", status.message());
  }
  *is_end = true;
  return Status();
}

Status NotTheEnd(Status status, const char* type) {
  if (status.code() != Code::kOutOfRange) return status;
  return Error(
      Code::kInternal,
      "Iterator \"Iterator::%s\" returned `OutOfRange`. This indicates an implementation error as `OutOfRange` "
      "errors are not expected to be returned here. Original message: %s",
      type, status.message());
}

DatasetPtr MakeMapDataset(TupleSpec spec, DatasetPtr input, CapturedFunctionPtr function, MapOptions options) {
  return std::make_shared<MapDataset>(std::move(spec), std::move(input),
                                      std::vector<CapturedFunctionPtr>{std::move(function)}, options);
}

const MapOptions* MapOptionsOf(const Dataset& dataset) {
  const auto* map = dynamic_cast<const MapDataset*>(&dataset);
  return map == nullptr ? nullptr : &map->options();
}

DatasetPtr WithMapOptions(const Dataset& map, const MapOptions& options) {
  return static_cast<const MapDataset&>(map).With(options);
}

bool IsStatefulMap(const Dataset& map) { return static_cast<const MapDataset&>(map).is_stateful(); }

DatasetPtr ParallelizeMap(const Dataset& dataset, int64_t parallel_calls) {
  const auto* map = dynamic_cast<const MapDataset*>(&dataset);
  if (map == nullptr || map->options().is_parallel || map->is_stateful()) return nullptr;
  for (const CapturedFunctionPtr& function : map->functions()) {
    if (function->ReadsVariables()) return nullptr;
  }
  MapOptions options = map->options();
  options.is_parallel = true;
  options.parallel_calls = parallel_calls;
  return map->With(options);
}

DatasetPtr FuseMaps(const Dataset& dataset, const Dataset& input) {
  const auto* last = dynamic_cast<const MapDataset*>(&dataset);
  const auto* first = dynamic_cast<const MapDataset*>(&input);
  if (last == nullptr || first == nullptr) return nullptr;
  const MapOptions &ours = last->options(), &theirs = first->options();
  // A chain knows one answer to a function that runs out of something.
  if (ours.is_parallel || theirs.is_parallel || ours.preserves_cardinality != theirs.preserves_cardinality) {
    return nullptr;
  }
  std::vector<CapturedFunctionPtr> functions = first->functions();
  functions.insert(functions.end(), last->functions().begin(), last->functions().end());
  return std::make_shared<MapDataset>(last->spec(), first->inputs()[0], std::move(functions), ours);
}

DatasetPtr MakeFilterDataset(TupleSpec spec, DatasetPtr input, CapturedFunctionPtr predicate) {
  return std::make_shared<FilterDataset>(std::move(spec), std::move(input),
                                         std::vector<CapturedFunctionPtr>{std::move(predicate)});
}

DatasetPtr FuseFilters(const Dataset& dataset, const Dataset& input) {
  const auto* last = dynamic_cast<const FilterDataset*>(&dataset);
  const auto* first = dynamic_cast<const FilterDataset*>(&input);
  if (last == nullptr || first == nullptr) return nullptr;
  std::vector<CapturedFunctionPtr> predicates = first->predicates();
  predicates.insert(predicates.end(), last->predicates().begin(), last->predicates().end());
  return std::make_shared<FilterDataset>(last->spec(), first->inputs()[0], std::move(predicates));
}

}  // namespace stillflow
