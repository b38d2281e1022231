// make_queue, queue_enqueue, queue_enqueue_many, queue_dequeue, queue_dequeue_many, queue_close, queue_is_closed,
// queue_size: queues, which csrc/queues has.
//
//   make_queue  out[0] a handle
//   others      in[0] a handle; then a tensor for each component, or the number of elements
//   attrs       of make_queue: STILLFLOW_HANDLE_ATTRS: see handle.h; type: which kind;
//               component_types; shapes: rank and sizes of each, -1 for what is unknown; capacity,
//               min_after_dequeue, seed, seed2
//
// They wait as long as they have to; their run's end ends that.
#include "queues/queue.h"

#include <vector>

#include "kernels/guarded.h"
#include "state_kernels/handle.h"
#include "state_kernels/spec_attrs.h"

namespace stillflow {
namespace {

constexpr int kPriorityQueue = 3;
constexpr const char* kTypes[] = {"FIFOQueue", "PaddingFIFOQueue", "RandomShuffleQueue", "PriorityQueue"};
enum QueueAttr { kType = kHandleAttrs, kComponentTypes, kShapes, kCapacity, kMinAfterDequeue, kSeed, kSeed2 };

Status MakeQueueHandle(const KernelCall& call) {
  const auto options_for = [&](const std::string& name) {
    const Attr* attrs = call.attrs;
    QueueOptions options{kTypes[attrs[kType].i],
                         name,
                         {TypesOf(attrs[kComponentTypes]), ShapesOf(attrs[kShapes])},
                         attrs[kCapacity].i,
                         attrs[kMinAfterDequeue].i,
                         attrs[kSeed].i,
                         attrs[kSeed2].i};
    if (options.type == kTypes[kPriorityQueue]) {
      // The attributes say nothing of the first component, which is the priority.
      PartialShape scalar;
      scalar.rank = 0;
      options.spec.types.insert(options.spec.types.begin(), DType::kInt64);
      options.spec.shapes.insert(options.spec.shapes.begin(), scalar);
    }
    return options;
  };
  return OutputHandle<Queue>(
      call,
      [&](const ResourceTable::Name& name, std::shared_ptr<Resource>* queue) {
        return MakeQueue(options_for(name.name), queue);
      },
      [&](const Queue& queue) { return CheckSameQueue(queue, options_for("")); });
}

// ---- Elements -----------------------------------------------------------------------------------------------------

Status FindQueue(const KernelCall& call, std::shared_ptr<Queue>* queue) {
  return FindResource<Queue>(call, 0, queue);
}

const char* HandleTypeName(const KernelCall& call) {
  return call.in[0]->dtype == DType::kString ? "string_ref" : "resource";
}

Status CheckInputTypes(const KernelCall& call, const Queue& queue) {
  std::vector<DType> types;
  for (int i = 1; i < call.in_count; ++i) types.push_back(call.in[i]->dtype);
  if (types == queue.spec().types) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Signature mismatch, have: %s, %s-> expected: %s, %s->", HandleTypeName(call),
                                    TextOf(types).c_str(), HandleTypeName(call), TextOf(queue.spec().types).c_str());
}

Status CheckOutputTypes(const KernelCall& call, const Queue& queue) {
  const std::vector<DType> types = TypesOf(call.attrs[0]);
  if (types == queue.spec().types) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Signature mismatch, have: %s->%s expected: %s->%s", HandleTypeName(call),
                                    TextOf(types).c_str(), HandleTypeName(call), TextOf(queue.spec().types).c_str());
}

Status CheckNoTimeout(const Attr* attrs, void** prepared) {
  *prepared = nullptr;
  return attrs[0].i == -1 ? Status() : STILLFLOW_INVALID_ARGUMENT("Timeout not supported yet.");
}

Status CheckNoTimeoutOfDequeue(const Attr* attrs, void** prepared) { return CheckNoTimeout(attrs + 1, prepared); }

Status Enqueue(const KernelCall& call) {
  std::shared_ptr<Queue> queue;
  STILLFLOW_RETURN_IF_ERROR(FindQueue(call, &queue));
  STILLFLOW_RETURN_IF_ERROR(CheckInputTypes(call, *queue));
  std::vector<Tuple> tuples(1);
  STILLFLOW_RETURN_IF_ERROR(MakeTuple(*call.services, queue->spec(), call.in + 1, &tuples[0]));
  return queue->Enqueue(call.run, std::move(tuples));
}

Status EnqueueMany(const KernelCall& call) {
  std::shared_ptr<Queue> queue;
  STILLFLOW_RETURN_IF_ERROR(FindQueue(call, &queue));
  STILLFLOW_RETURN_IF_ERROR(CheckInputTypes(call, *queue));
  std::vector<Tuple> tuples;
  STILLFLOW_RETURN_IF_ERROR(MakeTuples(*call.services, queue->spec(), call.in + 1, &tuples));
  return queue->Enqueue(call.run, std::move(tuples));
}

Status Dequeue(const KernelCall& call) {
  std::shared_ptr<Queue> queue;
  STILLFLOW_RETURN_IF_ERROR(FindQueue(call, &queue));
  STILLFLOW_RETURN_IF_ERROR(CheckOutputTypes(call, *queue));
  std::vector<Tuple> tuples;
  STILLFLOW_RETURN_IF_ERROR(queue->Dequeue(call.run, 1, false, &tuples));
  for (int i = 0; i < call.out_count; ++i) std::swap(*call.out[i], tuples[0][i]);
  return Status();
}

Status DequeueMany(const KernelCall& call) {
  const Tensor& n = *call.in[1];
  const bool allows_fewer = call.attrs[2].i != 0;
  const char* const op = allows_fewer ? "DequeueUpToOp" : "DequeueManyOp";
  if (n.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("%s: n must be a scalar, got shape %s", op, ShapeText(n).c_str());
  }
  const int64_t count = IntAt(n, 0);
  if (count < 0) {
    return STILLFLOW_INVALID_ARGUMENT("%s requested %lld < 0 elements", op, static_cast<long long>(count));
  }
  std::shared_ptr<Queue> queue;
  STILLFLOW_RETURN_IF_ERROR(FindQueue(call, &queue));
  STILLFLOW_RETURN_IF_ERROR(CheckOutputTypes(call, *queue));
  const TupleSpec& spec = queue->spec();
  bool has_shapes = !spec.shapes.empty();
  for (const PartialShape& shape : spec.shapes) has_shapes = has_shapes && shape.rank >= 0;
  if (!has_shapes) {
    return STILLFLOW_INVALID_ARGUMENT(
        "%s's DequeueMany and DequeueUpTo require the components to have specified shapes.", queue->options().type);
  }
  std::vector<Tuple> tuples;
  STILLFLOW_RETURN_IF_ERROR(queue->Dequeue(call.run, count, allows_fewer, &tuples));
  for (size_t i = 0; i < spec.size(); ++i) {
    STILLFLOW_RETURN_IF_ERROR(Batch(*call.services, spec, tuples, i, call.out[i]));
  }
  return Status();
}

// ---- The queue as a whole -----------------------------------------------------------------------------------------

Status Close(const KernelCall& call) {
  std::shared_ptr<Queue> queue;
  STILLFLOW_RETURN_IF_ERROR(FindQueue(call, &queue));
  return queue->Close(call.run, call.attrs[0].i != 0);
}

Status IsClosed(const KernelCall& call) {
  std::shared_ptr<Queue> queue;
  STILLFLOW_RETURN_IF_ERROR(FindQueue(call, &queue));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kBool, Shape()));
  *MutableData<bool>(*call.out[0]) = queue->is_closed();
  return Status();
}

Status Size(const KernelCall& call) {
  std::shared_ptr<Queue> queue;
  STILLFLOW_RETURN_IF_ERROR(FindQueue(call, &queue));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt32, Shape()));
  *MutableData<int32_t>(*call.out[0]) = static_cast<int32_t>(queue->size());
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(input, queue){
    {"make_queue",
     "| " STILLFLOW_HANDLE_ATTRS
     ", type: fifo padding_fifo random_shuffle priority, component_types, shapes, capacity, "
     "min_after_dequeue, seed, "
     "seed2",
     Guarded<MakeQueueHandle>, nullptr, nullptr, HandleState::New, HandleState::Free},
    {"queue_enqueue", "handle, components... | timeout_ms", Guarded<Enqueue>, CheckNoTimeout},
    {"queue_enqueue_many", "handle, components... | timeout_ms", Guarded<EnqueueMany>, CheckNoTimeout},
    {"queue_dequeue", "handle | component_types, timeout_ms", Guarded<Dequeue>, CheckNoTimeoutOfDequeue},
    {"queue_dequeue_many", "handle, n | component_types, timeout_ms, allows_fewer", Guarded<DequeueMany>,
     CheckNoTimeoutOfDequeue},
    {"queue_close", "handle | cancel_pending_enqueues", Guarded<Close>},
    {"queue_is_closed", "handle", Guarded<IsClosed>},
    {"queue_size", "handle", Guarded<Size>},
    {}};

}  // namespace stillflow
