// make_accumulator, accumulator_apply, accumulator_take and their sparse kin, accumulator_set_step, _count: sums of
// gradients that wait until there are enough of them.
//
//   make_accumulator          attrs: see handle.h; dtype, shape: -1 for an unknown size, [-2] if all is;
//   reduction_type:
//                             "MEAN" or "SUM"; whether it is sparse; out[0] a handle
//   accumulator_apply         in[0] a handle; in[1] int64: the gradient's step, which counts unless it is below the
//                             accumulator's; in[2] the gradient
//   accumulator_take          in[0] a handle; in[1] int32: how many gradients there have to be, for which it waits
//                             out[0] their mean or sum; then the accumulator is empty and its step one higher
//   sparse_accumulator_apply  in[2] rows' numbers; in[3] rows; in[4] the whole shape; attr has_known_shape
//   sparse_accumulator_take   out: the rows' numbers, the rows, the whole shape; a mean is over the gradients that
//   have
//                             the row
//   accumulator_set_step      in[1] int64: the accumulator's step
//   accumulator_count         out[0] int32: how many gradients there are
#include "state_kernels/state/accumulator.h"

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/guarded.h"
#include "state_kernels/handle.h"
#include "state_kernels/spec_attrs.h"

namespace stillflow {
namespace {

// ---- Handles ------------------------------------------------------------------------------------------------------

// The state of a node that stands for an accumulator. What waited in it may be restored before there is one.
struct AccumulatorState : HandleState {
  std::shared_ptr<Accumulator> accumulator;
  std::string awaited;
  std::string saved;

  static AccumulatorState* Of(void* state) {
    return static_cast<AccumulatorState*>(static_cast<HandleState*>(state));
  }

  static Status New(const Attr*, void** state) {
    auto* made = new (std::nothrow) AccumulatorState;
    *state = static_cast<HandleState*>(made);
    return made == nullptr ? OutOfScratch() : Status();
  }
  static void Free(void* state) { delete Of(state); }

  std::shared_ptr<Accumulator> Find() {
    const std::lock_guard<std::mutex> guard(mutex);
    return accumulator;
  }

  // Called twice, for the size and for the bytes, which have to be of one moment.
  static int64_t Save(void* pointer, void* bytes) {
    AccumulatorState* const state = Of(pointer);
    if (bytes != nullptr) {
      std::memcpy(bytes, state->saved.data(), state->saved.size());
      state->saved.clear();
      return 0;
    }
    const std::shared_ptr<Accumulator> found = state->Find();
    const Status status = CatchingOutOfMemory([&] {
      state->saved = found == nullptr ? state->awaited : found->Save();
      return Status();
    });
    return !status.ok() || state->saved.empty() ? -1 : static_cast<int64_t>(state->saved.size());
  }

  static bool Restore(void* pointer, const void* bytes, int64_t size) {
    AccumulatorState* const state = Of(pointer);
    const std::string text(static_cast<const char*>(bytes), size);
    const std::shared_ptr<Accumulator> found = state->Find();
    if (found != nullptr) return found->Restore(text);
    state->awaited = text;
    return true;
  }
};

Status MakeAccumulator(const KernelCall& call) {
  const Attr* attrs = call.attrs + kHandleAttrs;
  AccumulatorOptions options;
  options.dtype = static_cast<DType>(attrs[0].i);
  const auto* sizes = static_cast<const int64_t*>(attrs[1].data);
  if (attrs[1].size != 1 || sizes[0] != -2) {
    options.shape.rank = static_cast<int32_t>(attrs[1].size);
    std::copy_n(sizes, attrs[1].size, options.shape.dims);
  }
  options.is_mean = attrs[2].size == 4;
  options.is_sparse = attrs[3].i != 0;
  if (options.dtype != DType::kFloat && options.dtype != DType::kDouble && options.dtype != DType::kHalf) {
    return UnsupportedType("ConditionalAccumulator", options.dtype);
  }
  STILLFLOW_RETURN_IF_ERROR(OutputHandle<Accumulator>(
      call,
      [&](const ResourceTable::Name&, std::shared_ptr<Resource>* made) {
        *made = std::make_shared<Accumulator>(options);
        return Status();
      },
      [&](const Accumulator& found) {
        if (found.options().dtype == options.dtype && found.options().is_sparse == options.is_sparse) return Status();
        return STILLFLOW_INVALID_ARGUMENT("Shared accumulator has dtype %s, requested one has %s",
                                          Name(found.options().dtype), Name(options.dtype));
      }));
  auto* state = AccumulatorState::Of(call.state);
  const std::lock_guard<std::mutex> guard(state->mutex);
  if (state->accumulator != nullptr) return Status();
  state->accumulator = std::static_pointer_cast<Accumulator>(call.run->session->resources()->Find(state->number));
  if (!state->awaited.empty() && !state->accumulator->Restore(state->awaited)) {
    return Error(Code::kFailedPrecondition, "What waited in the accumulator is not of its type");
  }
  return Status();
}

Status FindAccumulator(const KernelCall& call, bool is_sparse, std::shared_ptr<Accumulator>* found) {
  STILLFLOW_RETURN_IF_ERROR(FindResource<Accumulator>(call, 0, found));
  if ((*found)->options().is_sparse == is_sparse) return Status();
  return STILLFLOW_INVALID_ARGUMENT("The accumulator is of %s gradients", is_sparse ? "dense" : "sparse");
}

Status ReadScalar(const Tensor& tensor, const char* name, int64_t* value) {
  if (tensor.count != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Argument %s must be scalar, but had bad shape %s", name,
                                      ShapeText(tensor).c_str());
  }
  *value = IntAt(tensor, 0);
  return Status();
}

Status CheckGradientType(const Accumulator& accumulator, DType dtype) {
  if (dtype == accumulator.options().dtype) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Expected gradients of type %s, got %s", Name(accumulator.options().dtype),
                                    Name(dtype));
}

std::vector<char> BytesOf(const Tensor& tensor) {
  const auto* data = static_cast<const char*>(tensor.data);
  return std::vector<char>(data, data + tensor.count * ElementBytes(tensor.dtype));
}

// ---- Dense gradients ----------------------------------------------------------------------------------------------

Status AccumulatorApply(const KernelCall& call) {
  std::shared_ptr<Accumulator> accumulator;
  int64_t step;
  const Tensor& gradient = *call.in[2];
  STILLFLOW_RETURN_IF_ERROR(FindAccumulator(call, false, &accumulator));
  STILLFLOW_RETURN_IF_ERROR(ReadScalar(*call.in[1], "local_step", &step));
  STILLFLOW_RETURN_IF_ERROR(CheckGradientType(*accumulator, gradient.dtype));
  if (!accumulator->options().shape.Fits(gradient)) {
    return STILLFLOW_INVALID_ARGUMENT("Shape mismatch: expected %s, got %s",
                                      TextOf(accumulator->options().shape).c_str(), ShapeText(gradient).c_str());
  }
  Sum sum;
  sum.shape = Shape(gradient);
  sum.values = BytesOf(gradient);
  return accumulator->Apply(step, std::move(sum));
}

// values / count for each row, or as they are for sums.
Status Divided(const Accumulator& accumulator, Sum* sum, int64_t count) {
  if (!accumulator.options().is_mean) return Status();
  return ForType<float, double, Half>("Accumulator", accumulator.options().dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const bool is_sparse = accumulator.options().is_sparse;
    const int64_t rows = is_sparse ? static_cast<int64_t>(sum->indices.size()) : 1;
    const int64_t row_size = is_sparse ? sum->shape.Count(1, sum->shape.rank) : sum->shape.Count();
    for (int64_t i = 0; i < rows * row_size; ++i) {
      T element;
      char* const at = sum->values.data() + i * static_cast<int64_t>(sizeof element);
      std::memcpy(&element, at, sizeof element);
      const auto wide = Widen(element) / static_cast<Wide<T>>(is_sparse ? sum->counts[i / row_size] : count);
      element = Narrow<T>(wide);
      std::memcpy(at, &element, sizeof element);
    }
    return Status();
  });
}

Status TakeSum(const KernelCall& call, bool is_sparse, std::shared_ptr<Accumulator>* accumulator, Sum* sum) {
  STILLFLOW_RETURN_IF_ERROR(FindAccumulator(call, is_sparse, accumulator));
  STILLFLOW_RETURN_IF_ERROR(CheckGradientType(**accumulator, static_cast<DType>(call.attrs[0].i)));
  int64_t required, count = 0;
  STILLFLOW_RETURN_IF_ERROR(ReadScalar(*call.in[1], "num_required", &required));
  if (required <= 0) {
    return STILLFLOW_INVALID_ARGUMENT("Argument num_required must be positive, but was %lld", Long(required));
  }
  STILLFLOW_RETURN_IF_ERROR((*accumulator)->Take(call.run, required, sum, &count));
  return Divided(**accumulator, sum, count);
}

Status OutputValues(const KernelCall& call, int out, DType dtype, const Sum& sum) {
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out, dtype, sum.shape));
  if (!sum.values.empty()) std::memcpy(call.out[out]->data, sum.values.data(), sum.values.size());
  return Status();
}

Status AccumulatorTake(const KernelCall& call) {
  std::shared_ptr<Accumulator> accumulator;
  Sum sum;
  STILLFLOW_RETURN_IF_ERROR(TakeSum(call, false, &accumulator, &sum));
  return OutputValues(call, 0, accumulator->options().dtype, sum);
}

// ---- Sparse gradients ---------------------------------------------------------------------------------------------

Status CheckSparse(const Tensor& indices, const Tensor& values, const PartialShape& shape) {
  if (indices.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Input indices should be vector but received shape: %s",
                                      ShapeText(indices).c_str());
  }
  if (values.rank < 1) return STILLFLOW_INVALID_ARGUMENT("Values cannot be 0-dimensional.");
  if (values.dims[0] != indices.count) {
    return STILLFLOW_INVALID_ARGUMENT("Expected %lld non-empty input values, got %lld", Long(indices.count),
                                      Long(values.dims[0]));
  }
  if (shape.rank <= 0) return Status();
  if (shape.rank > values.rank) {
    return STILLFLOW_INVALID_ARGUMENT("Shape mismatch: expected values rank at least %d, got %d", shape.rank,
                                      values.rank);
  }
  for (int64_t i = 0; shape.dims[0] >= 0 && i < indices.count; ++i) {
    const int64_t index = Data<int64_t>(indices)[i];
    if (index >= shape.dims[0]) {
      return STILLFLOW_INVALID_ARGUMENT(
          "Shape mismatch: index of slice %lld exceeded limits of shape; index is %lld exceeded %lld", Long(i),
          Long(index), Long(shape.dims[0]));
    }
  }
  for (int i = 1; i < shape.rank; ++i) {
    if (shape.dims[i] >= 0 && shape.dims[i] != values.dims[i]) {
      return STILLFLOW_INVALID_ARGUMENT("Shape mismatch: expected values dim %d to be %lld, got %lld", i,
                                        Long(shape.dims[i]), Long(values.dims[i]));
    }
  }
  return Status();
}

// The whole shape that comes with a gradient has to begin with that of the accumulator, as far as that is known.
Status CheckWholeShape(const Tensor& given, const PartialShape& shape) {
  if (shape.rank < 0) return Status();
  if (given.count < shape.rank) {
    return STILLFLOW_INVALID_ARGUMENT("Shape mismatch: expected shape rank at least %d, got %lld", shape.rank,
                                      Long(given.count));
  }
  for (int i = 0; i < shape.rank; ++i) {
    if (shape.dims[i] >= 0 && shape.dims[i] != IntAt(given, i)) {
      return STILLFLOW_INVALID_ARGUMENT("Shape mismatch: expected shape dim %d to be %lld, got %lld", i,
                                        Long(shape.dims[i]), Long(IntAt(given, i)));
    }
  }
  return Status();
}

Status SparseAccumulatorApply(const KernelCall& call) {
  std::shared_ptr<Accumulator> accumulator;
  int64_t step;
  const Tensor& indices = *call.in[2];
  const Tensor& values = *call.in[3];
  STILLFLOW_RETURN_IF_ERROR(FindAccumulator(call, true, &accumulator));
  STILLFLOW_RETURN_IF_ERROR(ReadScalar(*call.in[1], "local_step", &step));
  STILLFLOW_RETURN_IF_ERROR(CheckGradientType(*accumulator, values.dtype));
  if (call.attrs[0].i != 0) STILLFLOW_RETURN_IF_ERROR(CheckWholeShape(*call.in[4], accumulator->options().shape));
  STILLFLOW_RETURN_IF_ERROR(CheckSparse(indices, values, accumulator->options().shape));
  Sum sum;
  sum.shape = Shape(values);
  sum.values = BytesOf(values);
  sum.indices.assign(Data<int64_t>(indices), Data<int64_t>(indices) + indices.count);
  sum.counts.assign(indices.count, 1);
  return accumulator->Apply(step, std::move(sum));
}

Status SparseAccumulatorTake(const KernelCall& call) {
  std::shared_ptr<Accumulator> accumulator;
  Sum sum;
  STILLFLOW_RETURN_IF_ERROR(TakeSum(call, true, &accumulator, &sum));
  Shape count;
  count.Add(static_cast<int64_t>(sum.indices.size()));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt64, count));
  std::copy(sum.indices.begin(), sum.indices.end(), MutableData<int64_t>(*call.out[0]));
  STILLFLOW_RETURN_IF_ERROR(OutputValues(call, 1, accumulator->options().dtype, sum));
  Shape rank;
  rank.Add(sum.shape.rank);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 2, DType::kInt64, rank));
  auto* whole = MutableData<int64_t>(*call.out[2]);
  const PartialShape& known = accumulator->options().shape;
  for (int i = 0; i < sum.shape.rank; ++i) whole[i] = i == 0 ? -1 : sum.shape.dims[i];
  if (known.rank > 0) whole[0] = known.dims[0];
  return Status();
}

// ---- Both ---------------------------------------------------------------------------------------------------------

Status AccumulatorSetStep(const KernelCall& call) {
  std::shared_ptr<Accumulator> accumulator;
  int64_t step;
  STILLFLOW_RETURN_IF_ERROR(FindResource<Accumulator>(call, 0, &accumulator));
  STILLFLOW_RETURN_IF_ERROR(ReadScalar(*call.in[1], "new_global_step", &step));
  accumulator->SetStep(step);
  return Status();
}

Status AccumulatorCount(const KernelCall& call) {
  std::shared_ptr<Accumulator> accumulator;
  STILLFLOW_RETURN_IF_ERROR(FindResource<Accumulator>(call, 0, &accumulator));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt32, Shape()));
  *MutableData<int32_t>(*call.out[0]) = static_cast<int32_t>(accumulator->count());
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(state, accumulator){
    {"make_accumulator", "| " STILLFLOW_HANDLE_ATTRS ", dtype, shape, reduction_type, is_sparse",
     Guarded<MakeAccumulator>, nullptr, nullptr, AccumulatorState::New, AccumulatorState::Free,
     AccumulatorState::Save, AccumulatorState::Restore},
    {"accumulator_apply", "handle, local_step, gradient", Guarded<AccumulatorApply>},
    {"accumulator_take", "handle, num_required | dtype", Guarded<AccumulatorTake>},
    {"sparse_accumulator_apply",
     "handle, local_step, gradient_indices, gradient_values, gradient_shape | has_known_shape",
     Guarded<SparseAccumulatorApply>},
    {"sparse_accumulator_take", "handle, num_required | dtype", Guarded<SparseAccumulatorTake>},
    {"accumulator_set_step", "handle, new_global_step", Guarded<AccumulatorSetStep>},
    {"accumulator_count", "handle", Guarded<AccumulatorCount>},
    {}};

}  // namespace stillflow
