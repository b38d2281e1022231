// make_iterator_handle, initialize_iterator, iterator_get_next, iterator_get_next_as_optional,
// iterator_to_string_handle, iterator_from_string_handle, serialize_iterator, deserialize_iterator: iterators of a
// session, which csrc/datasets has.
//
//   make_iterator_handle  out[0] a handle; attrs STILLFLOW_HANDLE_ATTRS: see handle.h;
//                         output_types, output_shapes
//   initialize_iterator   in[0] a variant scalar that holds a data set; in[1] a handle
//   iterator_get_next     in[0] a handle; out[...] the components of the next element; attrs output_types,
//                         output_shapes
//   iterator_get_next_as_optional  the same as one variant, which is empty at the end
//   serialize_iterator    in[0] a handle; out[0] a variant scalar that holds its position
//   deserialize_iterator  in[0] a handle; in[1] such a variant, where the iterator is to go on
//   to_string_handle      in[0] a handle; out[0] a string scalar that stands for it
//   from_string_handle    in[0] such a string; out[0] the handle; attrs output_types, output_shapes: no types for any
#include <cinttypes>

#include "datasets/iterator_resource.h"
#include "datasets/variant.h"
#include "kernels/guarded.h"
#include "runtime/executor/function.h"
#include "state_kernels/data/optional.h"
#include "state_kernels/handle.h"
#include "state_kernels/spec_attrs.h"

namespace stillflow {
namespace {

enum IteratorAttr { kTypes = kHandleAttrs, kShapes };

// The state of a node that stands for an iterator. A position may be restored before there is the iterator.
struct IteratorState : HandleState {
  std::shared_ptr<IteratorResource> iterator;
  std::string awaited;
  std::string saved;
  RunLock start_lock;  // of a one-shot iterator: one run starts it

  static IteratorState* Of(void* state) { return static_cast<IteratorState*>(static_cast<HandleState*>(state)); }

  static Status New(const Attr*, void** state) {
    auto* made = new (std::nothrow) IteratorState;
    *state = static_cast<HandleState*>(made);
    return made == nullptr ? OutOfScratch() : Status();
  }
  static void Free(void* state) { delete Of(state); }

  std::shared_ptr<IteratorResource> Find() {
    const std::lock_guard<std::mutex> guard(mutex);
    return iterator;
  }

  // Called twice, for the size and for the bytes, which have to be of one moment.
  static int64_t Save(void* pointer, void* bytes) {
    IteratorState* const state = Of(pointer);
    if (bytes != nullptr) {
      std::memcpy(bytes, state->saved.data(), state->saved.size());
      state->saved.clear();
      return 0;
    }
    const std::shared_ptr<IteratorResource> found = state->Find();
    state->saved = state->awaited;
    if (found != nullptr && !CatchingOutOfMemory([&] { return found->Save(&state->saved); }).ok()) return -1;
    return state->saved.empty() ? -1 : static_cast<int64_t>(state->saved.size());
  }

  static bool Restore(void* pointer, const void* bytes, int64_t size) {
    IteratorState* const state = Of(pointer);
    const std::string position(static_cast<const char*>(bytes), size);
    const std::shared_ptr<IteratorResource> found = state->Find();
    if (found != nullptr) return found->Await(position);
    if (!position.empty() && !IteratorResource::IsPosition(position)) return false;
    state->awaited = position;
    return true;
  }
};

Status MakeIteratorHandle(const KernelCall& call) {
  const TupleSpec spec = SpecOf(call.attrs[kTypes], call.attrs[kShapes]);
  STILLFLOW_RETURN_IF_ERROR(OutputHandle<IteratorResource>(
      call,
      [&](const ResourceTable::Name&, std::shared_ptr<Resource>* made) {
        *made = std::make_shared<IteratorResource>(call.run->session, spec);
        return Status();
      },
      [&](const IteratorResource& iterator) { return CheckSpec(spec, iterator.spec()); }));
  auto* state = IteratorState::Of(call.state);
  const std::lock_guard<std::mutex> guard(state->mutex);
  if (state->iterator != nullptr) return Status();
  state->iterator = std::static_pointer_cast<IteratorResource>(call.run->session->resources()->Find(state->number));
  if (!state->awaited.empty()) state->iterator->Await(state->awaited);
  return Status();
}

// Starts a one-shot iterator at the data set that its function gives, unless that has been done.
Status MakeOneShotIterator(const KernelCall& call) {
  constexpr int kFactory = kShapes + 1;
  STILLFLOW_RETURN_IF_ERROR(MakeIteratorHandle(call));
  auto* state = IteratorState::Of(call.state);
  const RunLockScope lock(call.run, &state->start_lock);
  if (!lock.is_held()) return Error(Code::kCancelled, "The run was cancelled");
  const std::shared_ptr<IteratorResource> iterator = state->Find();
  if (iterator->is_started()) return Status();
  const auto factory = FunctionOf(call.attrs[kFactory]);
  STILLFLOW_RETURN_IF_ERROR(factory->CheckOutputs({DType::kVariant}));
  FunctionState factory_state;
  Tuple result(1);
  Tensor* const out[] = {&result[0]};
  STILLFLOW_RETURN_IF_ERROR(factory->Call(call.run, &factory_state, nullptr, 0, out));
  DatasetPtr dataset;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(result[0], &dataset));
  IteratorContext context{call.run, call.services};
  return iterator->Initialize(&context, std::move(dataset), true);
}

Status InitializeIterator(const KernelCall& call) {
  DatasetPtr dataset;
  std::shared_ptr<IteratorResource> iterator;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &dataset));
  STILLFLOW_RETURN_IF_ERROR(FindResource<IteratorResource>(call, 1, &iterator));
  IteratorContext context{call.run, call.services};
  return iterator->Initialize(&context, std::move(dataset), false);
}

// ---- Positions ----------------------------------------------------------------------------------------------------

Status Serialize(const KernelCall& call) {
  std::shared_ptr<IteratorResource> iterator;
  std::string bytes;
  STILLFLOW_RETURN_IF_ERROR(FindResource<IteratorResource>(call, 0, &iterator));
  STILLFLOW_RETURN_IF_ERROR(iterator->Save(&bytes));
  return MakeVariant(*call.services, new PositionVariant(std::move(bytes)), call.out[0]);
}

Status Deserialize(const KernelCall& call) {
  std::shared_ptr<IteratorResource> iterator;
  STILLFLOW_RETURN_IF_ERROR(FindResource<IteratorResource>(call, 0, &iterator));
  const Tensor& serialized = *call.in[1];
  const auto* position = serialized.rank == 0 ? VariantAt<PositionVariant>(serialized, 0) : nullptr;
  if (position == nullptr) return STILLFLOW_INVALID_ARGUMENT("The serialized state of an iterator is none");
  IteratorContext context{call.run, call.services};
  return iterator->GoTo(&context, position->bytes);
}

// ---- Elements -----------------------------------------------------------------------------------------------------

// A view of a small part of something large is copied: what is fetched or kept should not keep the rest.
Status Detach(const KernelCall& call, const Tensor& tensor, Tensor* made) {
  const bool is_view = tensor.data != tensor.buffer->data;
  if (!is_view || HasCells(tensor.dtype)) return KeepTensor(*call.services, tensor, made);
  STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, tensor.dtype, Shape(tensor), made));
  CopyElements(tensor, 0, tensor.count, made, 0);
  return Status();
}

// The next element, checked against what the attributes say of it; is_end if there is none and that is no error.
Status NextElement(const KernelCall& call, Tuple* element, bool* is_end) {
  std::shared_ptr<IteratorResource> iterator;
  STILLFLOW_RETURN_IF_ERROR(FindResource<IteratorResource>(call, 0, &iterator));
  IteratorContext context{call.run, call.services};
  STILLFLOW_RETURN_IF_ERROR(iterator->Next(&context, element, is_end));
  if (*is_end) return Status();
  TupleSpec found;
  for (size_t i = 0; i < element->size(); ++i) {
    const Tensor& component = (*element)[i];
    found.types.push_back(component.dtype);
    PartialShape shape;
    shape.rank = component.rank;
    std::copy_n(component.dims, shape.rank, shape.dims);
    found.shapes.push_back(shape);
  }
  return CheckSpec(SpecOf(call.attrs[0], call.attrs[1]), found);
}

Status GetNext(const KernelCall& call) {
  Tuple element;
  bool is_end = false;
  STILLFLOW_RETURN_IF_ERROR(NextElement(call, &element, &is_end));
  if (is_end) return Error(Code::kOutOfRange, "End of sequence");
  for (int i = 0; i < call.out_count; ++i) STILLFLOW_RETURN_IF_ERROR(Detach(call, element[i], call.out[i]));
  return Status();
}

Status GetNextAsOptional(const KernelCall& call) {
  Tuple element;
  bool is_end = false;
  STILLFLOW_RETURN_IF_ERROR(NextElement(call, &element, &is_end));
  std::unique_ptr<const Tuple> value;
  if (!is_end) value = std::make_unique<const Tuple>(std::move(element));
  return MakeVariant(*call.services, new OptionalVariant(std::move(value)), call.out[0]);
}

// A handle as a string says so, with the number of the iterator.
constexpr char kStringHandle[] = "iterator:%" PRId64;

Status ToStringHandle(const KernelCall& call) {
  std::shared_ptr<IteratorResource> iterator;
  STILLFLOW_RETURN_IF_ERROR(FindResource<IteratorResource>(call, 0, &iterator));
  char text[64];
  std::snprintf(text, sizeof text, kStringHandle, *Data<int64_t>(*call.in[0]));
  return SetScalarString(call, text);
}

Status FromStringHandle(const KernelCall& call) {
  if (call.in[0]->rank != 0) return STILLFLOW_INVALID_ARGUMENT("string_handle must be a scalar");
  const std::string text = Text(StringAt(*call.in[0], 0));
  int64_t number = 0;
  if (std::sscanf(text.c_str(), kStringHandle, &number) != 1) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Could not parse string_handle as a valid ResourceHandle: it has %lld bytes, and is not what string_handle() "
        "gives",
        static_cast<long long>(text.size()));
  }
  const std::shared_ptr<Resource> found = call.run->session->resources()->Find(number);
  if (found == nullptr || std::strcmp(found->kind(), IteratorResource::kKind) != 0) {
    return Error(Code::kNotFound, "Resource %s does not exist in this session", text.c_str());
  }
  const TupleSpec spec = SpecOf(call.attrs[0], call.attrs[1]);
  if (spec.size() > 0) {
    STILLFLOW_RETURN_IF_ERROR(CheckSpec(spec, static_cast<const IteratorResource&>(*found).spec()));
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kResource, Shape()));
  *MutableData<int64_t>(*call.out[0]) = number;
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(data, iterators){
    {"make_iterator_handle", "| " STILLFLOW_HANDLE_ATTRS ", output_types, output_shapes", Guarded<MakeIteratorHandle>,
     nullptr, nullptr, IteratorState::New, IteratorState::Free, IteratorState::Save, IteratorState::Restore},
    {"make_one_shot_iterator", "| " STILLFLOW_HANDLE_ATTRS ", output_types, output_shapes, dataset_factory",
     Guarded<MakeOneShotIterator>, nullptr, nullptr, IteratorState::New, IteratorState::Free, IteratorState::Save,
     IteratorState::Restore},
    {"initialize_iterator", "dataset, iterator", Guarded<InitializeIterator>},
    {"iterator_get_next", "iterator | output_types, output_shapes", Guarded<GetNext>},
    {"iterator_get_next_as_optional", "iterator | output_types, output_shapes", Guarded<GetNextAsOptional>},
    {"serialize_iterator", "resource_handle", Guarded<Serialize>},
    {"deserialize_iterator", "resource_handle, serialized", Guarded<Deserialize>},
    {"iterator_to_string_handle", "resource_handle", Guarded<ToStringHandle>},
    {"iterator_from_string_handle", "string_handle | output_types, output_shapes", Guarded<FromStringHandle>},
    {}};

}  // namespace stillflow
