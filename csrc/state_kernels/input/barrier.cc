// make_barrier, barrier_insert_many, barrier_take_many, barrier_close, barrier_ready_size, barrier_incomplete_size:
// elements whose components come one by one, by a key, and that are taken out once they are complete.
//
//   make_barrier         out[0] a handle
//   barrier_insert_many  in[0] a handle, in[1] keys, in[2] values of a component, one for each key
//   barrier_take_many    in[0] a handle, in[1] how many; out[0] indices, out[1] keys, out[2...] components
//
// Elements are taken out in the order in which the first of their components came.
#include <unordered_map>

#include "kernels/guarded.h"
#include "queues/queue.h"
#include "state_kernels/handle.h"
#include "state_kernels/spec_attrs.h"

namespace stillflow {
namespace {

enum BarrierAttr { kComponentTypes = kHandleAttrs, kShapes, kCapacity };

class Barrier final : public Resource {
 public:
  static constexpr char kKind[] = "barrier";
  const char* kind() const override { return kKind; }

  static Status Make(const std::string& name, TupleSpec spec, std::shared_ptr<Resource>* made) {
    auto barrier = std::make_shared<Barrier>();
    barrier->name_ = name;
    barrier->spec_ = spec;
    PartialShape scalar;
    scalar.rank = 0;
    spec.types.insert(spec.types.begin(), {DType::kInt64, DType::kString});
    spec.shapes.insert(spec.shapes.begin(), {scalar, scalar});
    std::shared_ptr<Resource> queue;
    STILLFLOW_RETURN_IF_ERROR(MakeQueue({"PriorityQueue", name + "_queue", spec, -1, 0, 0, 0}, &queue));
    barrier->ready_ = std::static_pointer_cast<Queue>(std::move(queue));
    *made = std::move(barrier);
    return Status();
  }

  const TupleSpec& spec() const { return spec_; }
  const TupleSpec& ready_spec() const { return ready_->spec(); }
  int64_t ready_size() { return ready_->size(); }
  int64_t incomplete_size() {
    const std::lock_guard<std::mutex> guard(mutex_);
    return static_cast<int64_t>(incomplete_.size());
  }

  Status InsertMany(const KernelCall& call, const Tensor& keys, size_t component, std::vector<Tuple> values) {
    std::vector<Tuple> ready;
    Status status;
    bool closes = false;
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      if (is_closed_ && (is_cancelled_ || (!values.empty() && incomplete_.empty()))) {
        return Error(
            Code::kCancelled,
            "Barrier %s is closed.  Pending enqueues cancelled: %d.  Number of new insertions: %lld.  Number "
            "of incomplete keys: %lld.",
            name_.c_str(), is_cancelled_ ? 1 : 0, static_cast<long long>(values.size()),
            static_cast<long long>(incomplete_.size()));
      }
      bool has_new = false;
      for (size_t i = 0; i < values.size() && status.ok(); ++i) {
        status = Insert(call, StringOf(Data<StringCell*>(keys)[i]), i, component, &values[i][0], &ready, &has_new);
      }
      if (has_new) ++index_;
      closes = is_closed_ && incomplete_.empty();
    }
    if (!ready.empty()) {
      Status queued = ready_->Enqueue(call.run, std::move(ready));
      if (status.ok()) status = std::move(queued);
    }
    if (closes && !ready_->is_closed()) {
      Status closed = ready_->Close(call.run, false);
      if (status.ok()) status = std::move(closed);
    }
    return status;
  }

  Status TakeMany(RunContext* run, int64_t count, bool allows_fewer, std::vector<Tuple>* taken) {
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      if (is_closed_) {
        int64_t available = ready_->size();
        if (allows_fewer) count = std::min(count, available);
        if (!allows_fewer) available += static_cast<int64_t>(incomplete_.size());
        if (available < std::max<int64_t>(count, 1)) {
          return Error(Code::kOutOfRange,
                       "Barrier '%s' is closed and has insufficient elements (requested %lld, total size %lld)",
                       name_.c_str(), static_cast<long long>(count), static_cast<long long>(available));
        }
      }
    }
    return ready_->Dequeue(run, count, allows_fewer, taken);
  }

  Status Close(RunContext* run, bool cancels) {
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      if (is_closed_ && (is_cancelled_ || !cancels)) {
        return Error(Code::kCancelled, "Barrier '%s' is already closed.", name_.c_str());
      }
      is_cancelled_ = cancels;
      is_closed_ = true;
      if (!cancels && !incomplete_.empty()) return Status();
      incomplete_.clear();
    }
    return ready_->is_closed() ? Status() : ready_->Close(run, cancels);
  }

 private:
  struct Element {
    int64_t index;
    Tuple components;
  };

  Status Insert(const KernelCall& call, const std::string& key, size_t at, size_t component, Tensor* value,
                std::vector<Tuple>* ready, bool* has_new) {
    auto found = incomplete_.find(key);
    if (found == incomplete_.end()) {
      if (is_closed_) {
        return Error(
            Code::kCancelled,
            "Barrier %s is closed, but attempted to insert a brand new key: %s.  Pending enqueues cancelled: "
            "%d.  Insertion index: %lld.  Number of incomplete keys: %lld.",
            name_.c_str(), key.c_str(), is_cancelled_ ? 1 : 0, static_cast<long long>(at),
            static_cast<long long>(incomplete_.size()));
      }
      found = incomplete_.emplace(key, Element{index_, Tuple(spec_.size())}).first;
      *has_new = true;
    }
    Tuple& components = found->second.components;
    if (components[component].buffer != nullptr) {
      return STILLFLOW_INVALID_ARGUMENT("Key %s already has a value for component %lld in barrier %s", key.c_str(),
                                        static_cast<long long>(component), name_.c_str());
    }
    std::swap(components[component], *value);
    for (size_t i = 0; i < components.size(); ++i) {
      if (components[i].buffer == nullptr) return Status();
    }
    Tuple element(components.size() + 2);
    STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, DType::kInt64, Shape(), &element[0]));
    *MutableData<int64_t>(element[0]) = found->second.index;
    STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, DType::kString, Shape(), &element[1]));
    if (!SetString(call, &element[1], 0, key.data(), static_cast<int64_t>(key.size()))) return OutOfScratch();
    for (size_t i = 0; i < components.size(); ++i) std::swap(element[i + 2], components[i]);
    incomplete_.erase(found);
    ready->push_back(std::move(element));
    return Status();
  }

  std::string name_;
  TupleSpec spec_;
  std::shared_ptr<Queue> ready_;
  std::mutex mutex_;
  bool is_closed_ = false;
  bool is_cancelled_ = false;
  int64_t index_ = std::numeric_limits<int64_t>::min();  // of the next insertion
  std::unordered_map<std::string, Element> incomplete_;
};

Status CheckNoCapacity(const Attr* attrs, void** prepared) {
  *prepared = nullptr;
  if (attrs[kCapacity].i == -1) return Status();
  return STILLFLOW_INVALID_ARGUMENT(
      "Barrier only accepts capacity=-1.  Feed the inputs to your Barrier through a queue to enforce a limited "
      "capacity.");
}

Status CheckNoTimeout(const Attr* attrs, void** prepared) {
  *prepared = nullptr;
  return attrs[2].i == -1 ? Status() : STILLFLOW_INVALID_ARGUMENT("Timeout not supported yet.");
}

Status MakeBarrier(const KernelCall& call) {
  return OutputHandle<Barrier>(
      call,
      [&](const ResourceTable::Name& name, std::shared_ptr<Resource>* made) {
        return Barrier::Make(name.name, SpecOf(call.attrs[kComponentTypes], call.attrs[kShapes]), made);
      },
      [&](const Barrier& barrier) {
        const std::vector<DType> types = TypesOf(call.attrs[kComponentTypes]);
        if (types != barrier.spec().types) {
          return STILLFLOW_INVALID_ARGUMENT(
              "Shared barrier has component types %s but requested component types were %s",
              TextOf(barrier.spec().types).c_str(), TextOf(types).c_str());
        }
        const std::string shapes = TextOf(SpecOf(call.attrs[kComponentTypes], call.attrs[kShapes]).shapes);
        if (shapes != TextOf(barrier.spec().shapes)) {
          return STILLFLOW_INVALID_ARGUMENT(
              "Shared barrier has component shapes %s but requested component shapes were %s",
              TextOf(barrier.spec().shapes).c_str(), shapes.c_str());
        }
        return Status();
      });
}

Status InsertMany(const KernelCall& call) {
  std::shared_ptr<Barrier> barrier;
  STILLFLOW_RETURN_IF_ERROR(FindResource(call, 0, &barrier));
  const Tensor& keys = *call.in[1];
  const Tensor& values = *call.in[2];
  const int64_t component = call.attrs[0].i;
  const TupleSpec& spec = barrier->spec();
  if (component < 0 || component >= static_cast<int64_t>(spec.size())) {
    return STILLFLOW_INVALID_ARGUMENT("The component ID is out of range %lld > num_components (= %lld)",
                                      static_cast<long long>(component), static_cast<long long>(spec.size()));
  }
  const auto place = static_cast<size_t>(component);
  if (values.dtype != spec.types[place]) {
    return STILLFLOW_INVALID_ARGUMENT("Expected component %lld to be %s, not %s", static_cast<long long>(component),
                                      Name(spec.types[place]), Name(values.dtype));
  }
  if (keys.count > 0 && values.count == 0) {
    return STILLFLOW_INVALID_ARGUMENT("Tensors with no elements are not supported : received shape %s",
                                      ShapeText(values).c_str());
  }
  if (keys.rank != 1 || values.rank < 1 || values.dims[0] != keys.dims[0]) {
    return STILLFLOW_INVALID_ARGUMENT("keys of shape %s do not go with values of shape %s", ShapeText(keys).c_str(),
                                      ShapeText(values).c_str());
  }
  const TupleSpec rows{{values.dtype}, {spec.shapes[place]}};
  const Tensor* const inputs[] = {&values};
  std::vector<Tuple> tuples;
  if (keys.count > 0) STILLFLOW_RETURN_IF_ERROR(MakeTuples(*call.services, rows, inputs, &tuples));
  return barrier->InsertMany(call, keys, place, std::move(tuples));
}

Status TakeMany(const KernelCall& call) {
  std::shared_ptr<Barrier> barrier;
  STILLFLOW_RETURN_IF_ERROR(FindResource(call, 0, &barrier));
  const Tensor& n = *call.in[1];
  if (n.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("num_elements must be a scalar, got shape %s", ShapeText(n).c_str());
  }
  const int64_t count = Data<int32_t>(n)[0];
  if (count < 0)
    return STILLFLOW_INVALID_ARGUMENT("num_elements must not be negative: %lld", static_cast<long long>(count));
  const std::vector<DType> types = TypesOf(call.attrs[0]);
  if (types != barrier->spec().types) {
    return STILLFLOW_INVALID_ARGUMENT("Signature mismatch, have: %s expected: %s", TextOf(types).c_str(),
                                      TextOf(barrier->spec().types).c_str());
  }
  const TupleSpec& spec = barrier->ready_spec();
  std::vector<Tuple> taken;
  STILLFLOW_RETURN_IF_ERROR(barrier->TakeMany(call.run, count, call.attrs[1].i != 0, &taken));
  for (size_t i = 0; i < spec.size(); ++i) {
    // Components may have any shape that all elements share.
    TupleSpec known = spec;
    if (!taken.empty()) {
      known.shapes[i].rank = taken[0][i].rank;
      std::copy_n(taken[0][i].dims, taken[0][i].rank, known.shapes[i].dims);
      for (const Tuple& tuple : taken) {
        if (!known.shapes[i].Fits(tuple[i])) {
          return STILLFLOW_INVALID_ARGUMENT("Elements of a barrier have different shapes: %s and %s",
                                            TextOf(known.shapes[i]).c_str(), ShapeText(tuple[i]).c_str());
        }
      }
    }
    if (known.shapes[i].rank < 0) known.shapes[i].rank = 0;
    STILLFLOW_RETURN_IF_ERROR(Batch(*call.services, known, taken, i, call.out[i]));
  }
  return Status();
}

Status CloseBarrier(const KernelCall& call) {
  std::shared_ptr<Barrier> barrier;
  STILLFLOW_RETURN_IF_ERROR(FindResource(call, 0, &barrier));
  return barrier->Close(call.run, call.attrs[0].i != 0);
}

template <int64_t (Barrier::*kSize)()>
Status OutputSize(const KernelCall& call) {
  std::shared_ptr<Barrier> barrier;
  STILLFLOW_RETURN_IF_ERROR(FindResource(call, 0, &barrier));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt32, Shape()));
  *MutableData<int32_t>(*call.out[0]) = static_cast<int32_t>(((*barrier).*kSize)());
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(input, barrier){
    {"make_barrier", "| " STILLFLOW_HANDLE_ATTRS ", component_types, shapes, capacity", Guarded<MakeBarrier>,
     CheckNoCapacity, nullptr, HandleState::New, HandleState::Free},
    {"barrier_insert_many", "handle, keys, values | component_index", Guarded<InsertMany>},
    {"barrier_take_many", "handle, num_elements | component_types, allow_small_batch, timeout_ms", Guarded<TakeMany>,
     CheckNoTimeout},
    {"barrier_close", "handle | cancel_pending_enqueues", Guarded<CloseBarrier>},
    {"barrier_ready_size", "handle", Guarded<OutputSize<&Barrier::ready_size>>},
    {"barrier_incomplete_size", "handle", Guarded<OutputSize<&Barrier::incomplete_size>>},
    {}};

}  // namespace stillflow
