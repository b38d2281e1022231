// stage, unstage, stage_peek, stage_size, stage_clear: a buffer of elements between steps.
// map_stage, map_unstage, map_unstage_no_key, map_peek, map_size, map_incomplete_size, map_clear: the same by keys.
//
//   attrs  of all: STILLFLOW_AREA_ATTRS; then dtypes of the components
//   stage          in[...] the components
//   unstage        out[...] the components of the oldest element, for which it waits
//   stage_peek     in[0] a place; out[...] the components of the element there, which stays
//   map_stage      in[0] a key, in[1] which components follow, in[2...] those
//   map_unstage, map_peek   in[0] a key, in[1] which components; out[...] those
//   map_unstage_no_key      in[0] which components; out[0] a key, out[1...] those
//
// Who puts in waits for room and who takes out for elements, as long as their run lasts.
#include <map>

#include "collections/condition.h"
#include "collections/tuple.h"
#include "kernels/guarded.h"
#include "state_kernels/handle.h"
#include "state_kernels/spec_attrs.h"

namespace stillflow {
namespace {

#define STILLFLOW_AREA_ATTRS "container, shared_name, node_name, capacity, memory_limit, ordered, dtypes"
enum AreaAttr { kContainer, kSharedName, kNodeName, kCapacity, kMemoryLimit, kOrdered, kTypes };

// Storage that has a limit on the bytes, and on the elements, in it; 0 is no limit.
class Area : public Resource {
 public:
  Area(int64_t capacity, int64_t memory_limit) : capacity_(capacity), memory_limit_(memory_limit) {}

 protected:
  static int64_t BytesOf(const Tensor& tensor) { return tensor.count * ElementBytes(tensor.dtype); }

  // Waits, under the lock, until `bytes` more may come in and, if `counts`, one element more than `count()`.
  template <typename Count>
  Status WaitForRoom(RunContext* run, std::unique_lock<std::mutex>* lock, int64_t bytes, bool counts,
                     const Count& count) {
    if (memory_limit_ > 0 && bytes > memory_limit_) {
      return Error(Code::kResourceExhausted,
                   "Attempted to insert tensors with combined size of '%lld' bytes into Staging Area with a memory "
                   "limit of '%lld'.",
                   static_cast<long long>(bytes), static_cast<long long>(memory_limit_));
    }
    const auto has_room = [&] {
      return (!counts || capacity_ == 0 || count() < capacity_) &&
             (memory_limit_ == 0 || bytes_ + bytes <= memory_limit_);
    };
    return condition_.Wait(run, lock, has_room) ? Status() : Stopped(*run);
  }

  const int64_t capacity_;
  const int64_t memory_limit_;
  int64_t bytes_ = 0;
  std::mutex mutex_;
  Condition condition_;
};

// A new reference to a tensor.
Tensor Shared(const Tensor& tensor) {
  Retain(tensor.buffer);
  return tensor;
}

// The inputs from in[first] on.
Status TakeInputs(const KernelCall& call, int first, Tuple* tuple) {
  TupleSpec spec;
  for (int i = first; i < call.in_count; ++i) spec.types.push_back(call.in[i]->dtype);
  return MakeTuple(*call.services, spec, call.in + first, tuple);
}

template <typename T>
Status FindArea(const KernelCall& call, std::shared_ptr<T>* area) {
  const Attr* attrs = call.attrs;
  const auto name =
      ResourceTable::NameOf(StringOf(attrs[kContainer]), StringOf(attrs[kSharedName]), StringOf(attrs[kNodeName]));
  const auto make = [&](const ResourceTable::Name&, std::shared_ptr<Resource>* made) {
    *made = std::make_shared<T>(attrs[kCapacity].i, attrs[kMemoryLimit].i, TypesOf(attrs[kTypes]).size());
    return Status();
  };
  std::shared_ptr<Resource> resource;
  int64_t number = 0;
  STILLFLOW_RETURN_IF_ERROR(call.run->session->resources()->FindOrMake(T::kKind, name, make, &resource, &number));
  *area = std::static_pointer_cast<T>(std::move(resource));
  return Status();
}

Status OutputSize(const KernelCall& call, int64_t size) {
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt32, Shape()));
  *MutableData<int32_t>(*call.out[0]) = static_cast<int32_t>(size);
  return Status();
}

// ---- In order -----------------------------------------------------------------------------------------------------

class Buffer final : public Area {
 public:
  static constexpr char kKind[] = "staging area";
  Buffer(int64_t capacity, int64_t memory_limit, size_t) : Area(capacity, memory_limit) {}
  const char* kind() const override { return kKind; }

  Status Put(RunContext* run, Tuple tuple) {
    const int64_t bytes = SizeOf(tuple);
    std::unique_lock<std::mutex> lock(mutex_);
    STILLFLOW_RETURN_IF_ERROR(
        WaitForRoom(run, &lock, bytes, true, [this] { return static_cast<int64_t>(elements_.size()); }));
    bytes_ += bytes;
    elements_.push_back(std::move(tuple));
    condition_.Change();
    return Status();
  }

  Status Get(RunContext* run, Tuple* tuple) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!condition_.Wait(run, &lock, [this] { return !elements_.empty(); })) return Stopped(*run);
    *tuple = std::move(elements_.front());
    elements_.pop_front();
    bytes_ -= SizeOf(*tuple);
    condition_.Change();
    return Status();
  }

  Status Peek(RunContext* run, int64_t index, Tuple* tuple) {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto is_there = [&] { return index < static_cast<int64_t>(elements_.size()); };
    if (!condition_.Wait(run, &lock, is_there)) return Stopped(*run);
    const Tuple& found = elements_[static_cast<size_t>(index)];
    tuple->Reset(found.size());
    for (size_t i = 0; i < found.size(); ++i) (*tuple)[i] = Shared(found[i]);
    return Status();
  }

  int64_t size() {
    const std::lock_guard<std::mutex> guard(mutex_);
    return static_cast<int64_t>(elements_.size());
  }

  void Clear() {
    const std::lock_guard<std::mutex> guard(mutex_);
    elements_.clear();
    bytes_ = 0;
    condition_.Change();
  }

 private:
  static int64_t SizeOf(const Tuple& tuple) {
    int64_t bytes = 0;
    for (size_t i = 0; i < tuple.size(); ++i) bytes += BytesOf(tuple[i]);
    return bytes;
  }
  std::deque<Tuple> elements_;
};

Status Stage(const KernelCall& call) {
  std::shared_ptr<Buffer> buffer;
  STILLFLOW_RETURN_IF_ERROR(FindArea(call, &buffer));
  Tuple tuple;
  STILLFLOW_RETURN_IF_ERROR(TakeInputs(call, 0, &tuple));
  return buffer->Put(call.run, std::move(tuple));
}

Status OutputElement(const KernelCall& call, Tuple* tuple) {
  const std::vector<DType> types = TypesOf(call.attrs[kTypes]);
  if (tuple->size() != types.size()) {
    return STILLFLOW_INVALID_ARGUMENT("Mismatch stage/unstage: %lld vs. %lld", static_cast<long long>(tuple->size()),
                                      static_cast<long long>(types.size()));
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if ((*tuple)[i].dtype != types[i]) {
      return STILLFLOW_INVALID_ARGUMENT("Component %lld was staged as %s, not as %s", static_cast<long long>(i),
                                        Name((*tuple)[i].dtype), Name(types[i]));
    }
    std::swap(*call.out[i], (*tuple)[i]);
  }
  return Status();
}

Status Unstage(const KernelCall& call) {
  std::shared_ptr<Buffer> buffer;
  STILLFLOW_RETURN_IF_ERROR(FindArea(call, &buffer));
  Tuple tuple;
  STILLFLOW_RETURN_IF_ERROR(buffer->Get(call.run, &tuple));
  return OutputElement(call, &tuple);
}

Status StagePeek(const KernelCall& call) {
  const Tensor& index = *call.in[0];
  if (index.rank != 0) return STILLFLOW_INVALID_ARGUMENT("index must be scalar");
  std::shared_ptr<Buffer> buffer;
  STILLFLOW_RETURN_IF_ERROR(FindArea(call, &buffer));
  const int64_t place = Data<int32_t>(index)[0];
  if (place < 0) return STILLFLOW_INVALID_ARGUMENT("index must not be negative");
  Tuple tuple;
  STILLFLOW_RETURN_IF_ERROR(buffer->Peek(call.run, place, &tuple));
  return OutputElement(call, &tuple);
}

Status StageSize(const KernelCall& call) {
  std::shared_ptr<Buffer> buffer;
  STILLFLOW_RETURN_IF_ERROR(FindArea(call, &buffer));
  return OutputSize(call, buffer->size());
}

Status StageClear(const KernelCall& call) {
  std::shared_ptr<Buffer> buffer;
  STILLFLOW_RETURN_IF_ERROR(FindArea(call, &buffer));
  buffer->Clear();
  return Status();
}

// ---- By keys ------------------------------------------------------------------------------------------------------

// Elements whose components may come and go one by one. Without a key the lowest is taken, in order or not.
class KeyedArea final : public Area {
 public:
  static constexpr char kKind[] = "staging map";
  KeyedArea(int64_t capacity, int64_t memory_limit, size_t width) : Area(capacity, memory_limit), width_(width) {}
  const char* kind() const override { return kKind; }

  Status Put(RunContext* run, int64_t key, const Tensor& indices, Tuple* values) {
    STILLFLOW_RETURN_IF_ERROR(CheckIndices(key, indices));
    if (static_cast<size_t>(indices.count) != values->size()) {
      return STILLFLOW_INVALID_ARGUMENT("%lld indices for %lld values", static_cast<long long>(indices.count),
                                        static_cast<long long>(values->size()));
    }
    int64_t bytes = 0;
    for (size_t i = 0; i < values->size(); ++i) bytes += BytesOf((*values)[i]);
    std::unique_lock<std::mutex> lock(mutex_);
    const auto count = [this] { return static_cast<int64_t>(complete_.size()); };
    const auto begun = incomplete_.find(key);
    const size_t had = begun == incomplete_.end() ? 0 : Filled(begun->second);
    STILLFLOW_RETURN_IF_ERROR(WaitForRoom(run, &lock, bytes, had + values->size() >= width_, count));
    Tuple& element = incomplete_[key];
    if (element.size() == 0) element.Reset(width_);
    const int32_t* places = Data<int32_t>(indices);
    for (int64_t i = 0; i < indices.count; ++i) {
      if (element[static_cast<size_t>(places[i])].buffer != nullptr) {
        return STILLFLOW_INVALID_ARGUMENT("The tensor for index '%d' for key '%lld' was already initialized '%lld'.",
                                          places[i], static_cast<long long>(key), static_cast<long long>(width_));
      }
    }
    for (int64_t i = 0; i < indices.count; ++i) {
      std::swap(element[static_cast<size_t>(places[i])], (*values)[static_cast<size_t>(i)]);
    }
    bytes_ += bytes;
    if (Filled(element) == width_) {
      complete_[key] = std::move(element);
      incomplete_.erase(key);
      condition_.Change();
    }
    return Status();
  }

  // Takes components out, or shares them if `stays`. Waits for the key, or for any if `any`, which it then tells.
  Status Get(RunContext* run, bool any, bool stays, int64_t* key, const Tensor& indices, Tensor* const* values) {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto is_there = [&] { return any ? !complete_.empty() : complete_.count(*key) > 0; };
    if (!condition_.Wait(run, &lock, is_there)) return Stopped(*run);
    const auto found = any ? complete_.begin() : complete_.find(*key);
    *key = found->first;
    STILLFLOW_RETURN_IF_ERROR(CheckIndices(*key, indices));
    Tuple& element = found->second;
    const int32_t* places = Data<int32_t>(indices);
    for (int64_t i = 0; i < indices.count; ++i) {
      if (element[static_cast<size_t>(places[i])].buffer == nullptr) {
        return STILLFLOW_INVALID_ARGUMENT("Tensor at index '%d' for key '%lld' has already been removed.", places[i],
                                          static_cast<long long>(*key));
      }
    }
    for (int64_t i = 0; i < indices.count; ++i) {
      Tensor& component = element[static_cast<size_t>(places[i])];
      if (stays) {
        *values[i] = Shared(component);
        continue;
      }
      bytes_ -= BytesOf(component);
      *values[i] = component;
      component.buffer = nullptr;
    }
    if (stays) return Status();
    if (Filled(element) == 0) complete_.erase(found);
    condition_.Change();
    return Status();
  }

  int64_t size(bool is_complete) {
    const std::lock_guard<std::mutex> guard(mutex_);
    return static_cast<int64_t>((is_complete ? complete_ : incomplete_).size());
  }

  void Clear() {
    const std::lock_guard<std::mutex> guard(mutex_);
    complete_.clear();
    incomplete_.clear();
    bytes_ = 0;
    condition_.Change();
  }

 private:
  static size_t Filled(const Tuple& element) {
    size_t count = 0;
    for (size_t i = 0; i < element.size(); ++i) count += element[i].buffer != nullptr;
    return count;
  }

  Status CheckIndices(int64_t key, const Tensor& indices) const {
    const int32_t* places = Data<int32_t>(indices);
    for (int64_t i = 0; i < indices.count; ++i) {
      if (places[i] < 0 || static_cast<size_t>(places[i]) >= width_) {
        return STILLFLOW_INVALID_ARGUMENT("Index '%d' for key '%lld' was out of bounds '%lld'.", places[i],
                                          static_cast<long long>(key), static_cast<long long>(width_));
      }
      if (i > 0 && places[i] <= places[i - 1]) return STILLFLOW_INVALID_ARGUMENT("Indices are not strictly ordered");
    }
    return Status();
  }

  const size_t width_;
  std::map<int64_t, Tuple> complete_;
  std::map<int64_t, Tuple> incomplete_;
};

Status KeyOf(const Tensor& tensor, int64_t* key) {
  if (tensor.count != 1) return STILLFLOW_INVALID_ARGUMENT("key must be an int64 scalar");
  *key = Data<int64_t>(tensor)[0];
  return Status();
}

Status MapStage(const KernelCall& call) {
  std::shared_ptr<KeyedArea> area;
  int64_t key = 0;
  STILLFLOW_RETURN_IF_ERROR(FindArea(call, &area));
  STILLFLOW_RETURN_IF_ERROR(KeyOf(*call.in[0], &key));
  Tuple values;
  STILLFLOW_RETURN_IF_ERROR(TakeInputs(call, 2, &values));
  return area->Put(call.run, key, *call.in[1], &values);
}

Status OutputComponents(const KernelCall& call, bool any, bool stays) {
  std::shared_ptr<KeyedArea> area;
  int64_t key = 0;
  STILLFLOW_RETURN_IF_ERROR(FindArea(call, &area));
  if (!any) STILLFLOW_RETURN_IF_ERROR(KeyOf(*call.in[0], &key));
  const int first = any ? 1 : 0;
  const Tensor& indices = *call.in[1 - first];
  if (indices.count != call.out_count - first) {
    return STILLFLOW_INVALID_ARGUMENT("output/indices size should match: %d vs. %lld", call.out_count - first,
                                      static_cast<long long>(indices.count));
  }
  STILLFLOW_RETURN_IF_ERROR(area->Get(call.run, any, stays, &key, indices, call.out + first));
  const std::vector<DType> types = TypesOf(call.attrs[kTypes]);
  for (int i = first; i < call.out_count; ++i) {
    const DType wanted = types[static_cast<size_t>(i - first)];
    if (call.out[i]->dtype != wanted) {
      return STILLFLOW_INVALID_ARGUMENT("Component %d was staged as %s, not as %s", i - first,
                                        Name(call.out[i]->dtype), Name(wanted));
    }
  }
  if (!any) return Status();
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt64, Shape()));
  *MutableData<int64_t>(*call.out[0]) = key;
  return Status();
}

Status MapUnstage(const KernelCall& call) { return OutputComponents(call, false, false); }
Status MapUnstageNoKey(const KernelCall& call) { return OutputComponents(call, true, false); }
Status MapPeek(const KernelCall& call) { return OutputComponents(call, false, true); }

template <bool kIsComplete>
Status MapSize(const KernelCall& call) {
  std::shared_ptr<KeyedArea> area;
  STILLFLOW_RETURN_IF_ERROR(FindArea(call, &area));
  return OutputSize(call, area->size(kIsComplete));
}

Status MapClear(const KernelCall& call) {
  std::shared_ptr<KeyedArea> area;
  STILLFLOW_RETURN_IF_ERROR(FindArea(call, &area));
  area->Clear();
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(input, stage){{"stage", "values... | " STILLFLOW_AREA_ATTRS, Guarded<Stage>},
                                {"unstage", "| " STILLFLOW_AREA_ATTRS, Guarded<Unstage>},
                                {"stage_peek", "index | " STILLFLOW_AREA_ATTRS, Guarded<StagePeek>},
                                {"stage_size", "| " STILLFLOW_AREA_ATTRS, Guarded<StageSize>},
                                {"stage_clear", "| " STILLFLOW_AREA_ATTRS, Guarded<StageClear>},
                                {"map_stage", "key, indices, values... | " STILLFLOW_AREA_ATTRS, Guarded<MapStage>},
                                {"map_unstage", "key, indices | " STILLFLOW_AREA_ATTRS, Guarded<MapUnstage>},
                                {"map_unstage_no_key", "indices | " STILLFLOW_AREA_ATTRS, Guarded<MapUnstageNoKey>},
                                {"map_peek", "key, indices | " STILLFLOW_AREA_ATTRS, Guarded<MapPeek>},
                                {"map_size", "| " STILLFLOW_AREA_ATTRS, Guarded<MapSize<true>>},
                                {"map_incomplete_size", "| " STILLFLOW_AREA_ATTRS, Guarded<MapSize<false>>},
                                {"map_clear", "| " STILLFLOW_AREA_ATTRS, Guarded<MapClear>},
                                {}};

}  // namespace stillflow
