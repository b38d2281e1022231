// map_dataset, parallel_map_dataset, map_and_batch_dataset, filter_dataset, flat_map_dataset, interleave_dataset,
// parallel_interleave_dataset, legacy_parallel_interleave_dataset, generator_dataset: data sets that call functions,
// which csrc/datasets has. reduce_dataset: what a function makes of all elements.
//
//   in[0] a variant scalar that holds a data set; then the function's last arguments; then scalars
//   out[0] a variant scalar that holds the data set; of reduce_dataset the final state
//   attrs  output_types, output_shapes: what the elements are; the function; then what is its own
#include "state_kernels/data/function_arguments.h"

namespace stillflow {
namespace {

// How many calls are at work at a time: as many as there are threads if that is left open.
Status ParallelCallsArgument(const KernelCall& call, int in, int64_t* value) {
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, in, "num_parallel_calls", value));
  if (*value == kAutomatic) *value = call.services->thread_count(call.run);
  return *value > 0 ? Status() : STILLFLOW_INVALID_ARGUMENT("num_parallel_calls must be greater than zero.");
}

// ---- Elements -----------------------------------------------------------------------------------------------------

Status Map(const KernelCall& call) {
  DatasetPtr input;
  CapturedFunctionPtr function;
  TupleSpec spec = OutputSpec(call);
  STILLFLOW_RETURN_IF_ERROR(InputAndFunction(call, 0, spec.types, &input, &function));
  const MapOptions options{1, call.attrs[kFirstOwn].i != 0, false};
  return OutputDataset(call, MakeMapDataset(std::move(spec), std::move(input), std::move(function), options));
}

Status ParallelMap(const KernelCall& call) {
  DatasetPtr input;
  CapturedFunctionPtr function;
  TupleSpec spec = OutputSpec(call);
  MapOptions options{1, call.attrs[kFirstOwn].i != 0, true};
  STILLFLOW_RETURN_IF_ERROR(ParallelCallsArgument(call, call.in_count - 1, &options.parallel_calls));
  STILLFLOW_RETURN_IF_ERROR(InputAndFunction(call, 1, spec.types, &input, &function));
  return OutputDataset(call, MakeMapDataset(std::move(spec), std::move(input), std::move(function), options));
}

// in[last three] batch_size, num_parallel_calls, drop_remainder
Status MapAndBatch(const KernelCall& call) {
  DatasetPtr input;
  CapturedFunctionPtr function;
  TupleSpec spec = OutputSpec(call);
  MapOptions options{1, call.attrs[kFirstOwn].i != 0, true};
  int64_t batch_size = 0;
  bool drops_remainder = false;
  const int first = call.in_count - 3;
  STILLFLOW_RETURN_IF_ERROR(PositiveArgument(call, first, "batch_size", &batch_size));
  STILLFLOW_RETURN_IF_ERROR(ParallelCallsArgument(call, first + 1, &options.parallel_calls));
  STILLFLOW_RETURN_IF_ERROR(BoolArgument(call, first + 2, "drop_remainder", &drops_remainder));
  STILLFLOW_RETURN_IF_ERROR(InputAndFunction(call, 3, spec.types, &input, &function));
  TupleSpec element{spec.types, std::vector<PartialShape>(spec.size())};
  DatasetPtr mapped = MakeMapDataset(std::move(element), std::move(input), std::move(function), options);
  return OutputDataset(call, MakeResultBatchDataset(std::move(spec), std::move(mapped), batch_size, drops_remainder));
}

Status Filter(const KernelCall& call) {
  DatasetPtr input;
  CapturedFunctionPtr predicate;
  STILLFLOW_RETURN_IF_ERROR(InputAndFunction(call, 0, {DType::kBool}, &input, &predicate));
  return OutputDataset(call, MakeFilterDataset(OutputSpec(call), std::move(input), std::move(predicate)));
}

// ---- Data sets of data sets ---------------------------------------------------------------------------------------

Status FlatMap(const KernelCall& call) {
  DatasetPtr input;
  CapturedFunctionPtr function;
  STILLFLOW_RETURN_IF_ERROR(InputAndFunction(call, 0, {DType::kVariant}, &input, &function));
  return OutputDataset(call, MakeFlatMapDataset(OutputSpec(call), std::move(input), std::move(function)));
}

// The last inputs are `scalars`: cycle_length, block_length, and what else there may be.
Status InterleaveOf(const KernelCall& call, int scalars) {
  DatasetPtr input;
  CapturedFunctionPtr function;
  int64_t cycle_length = 0;
  int64_t block_length = 0;
  const int first = call.in_count - scalars;
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, first, "cycle_length", &cycle_length));
  if (cycle_length == kAutomatic) cycle_length = call.services->thread_count(call.run);
  if (cycle_length <= 0) return STILLFLOW_INVALID_ARGUMENT("cycle_length must be greater than zero.");
  STILLFLOW_RETURN_IF_ERROR(PositiveArgument(call, first + 1, "block_length", &block_length));
  if (scalars > 2) {
    int64_t parallel_calls = 0;
    STILLFLOW_RETURN_IF_ERROR(IntArgument(call, first + 2, "num_parallel_calls", &parallel_calls));
    if (parallel_calls != kAutomatic && parallel_calls <= 0) {
      return STILLFLOW_INVALID_ARGUMENT("num_parallel_calls must be greater than zero.");
    }
    if (parallel_calls > cycle_length) {
      return STILLFLOW_INVALID_ARGUMENT("num_parallel_calls must less than or equal to cycle_length.");
    }
  }
  STILLFLOW_RETURN_IF_ERROR(InputAndFunction(call, scalars, {DType::kVariant}, &input, &function));
  return OutputDataset(call, MakeInterleaveDataset(OutputSpec(call), std::move(input), std::move(function),
                                                   cycle_length, block_length, scalars > 2));
}

Status Interleave(const KernelCall& call) { return InterleaveOf(call, 2); }

// The order is the same; what is done in advance is a matter of speed.
Status ParallelInterleave(const KernelCall& call) { return InterleaveOf(call, 3); }

// in[last five] cycle_length, block_length, sloppy, buffer_output_elements, prefetch_input_elements: of these the
// first two say what the order is.
Status LegacyParallelInterleave(const KernelCall& call) {
  DatasetPtr input;
  CapturedFunctionPtr function;
  int64_t cycle_length = 0;
  int64_t block_length = 0;
  bool is_sloppy = false;
  int64_t output_elements = 0;
  int64_t input_elements = 0;
  const int first = call.in_count - 5;
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, first, "cycle_length", &cycle_length));
  if (cycle_length <= 0) return STILLFLOW_INVALID_ARGUMENT("`cycle_length` must be > 0");
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, first + 1, "block_length", &block_length));
  if (block_length <= 0) return STILLFLOW_INVALID_ARGUMENT("`block_length` must be > 0");
  STILLFLOW_RETURN_IF_ERROR(BoolArgument(call, first + 2, "sloppy", &is_sloppy));
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, first + 3, "buffer_output_elements", &output_elements));
  if (output_elements <= 0) return STILLFLOW_INVALID_ARGUMENT("`buffer_output_elements` must be > 0");
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, first + 4, "prefetch_input_elements", &input_elements));
  if (input_elements < 0) return STILLFLOW_INVALID_ARGUMENT("`prefetch_input_elements` must be >= 0");
  STILLFLOW_RETURN_IF_ERROR(InputAndFunction(call, 5, {DType::kVariant}, &input, &function));
  return OutputDataset(call, MakeInterleaveDataset(OutputSpec(call), std::move(input), std::move(function),
                                                   cycle_length, block_length, true));
}

// ---- Generators ---------------------------------------------------------------------------------------------------

// in[0...] the last arguments of three functions, as many as each list of types in the attributes says
Status Generator(const KernelCall& call) {
  enum OwnAttr { kInit = kFunction, kNext, kFinalize, kInitTypes, kNextTypes, kFinalizeTypes };
  TupleSpec spec = OutputSpec(call);
  const int64_t init_count = call.attrs[kInitTypes].size;
  const int64_t next_count = call.attrs[kNextTypes].size;
  const int64_t finalize_count = call.attrs[kFinalizeTypes].size;
  const std::vector<DType> state = FunctionOf(call.attrs[kInit])->output_types();
  const std::vector<DType> ignored = FunctionOf(call.attrs[kFinalize])->output_types();
  CapturedFunctionPtr init;
  CapturedFunctionPtr next;
  CapturedFunctionPtr finalize;
  STILLFLOW_RETURN_IF_ERROR(Captured(call, kInit, 0, init_count, state, &init));
  STILLFLOW_RETURN_IF_ERROR(Captured(call, kNext, static_cast<int>(init_count), next_count, spec.types, &next));
  STILLFLOW_RETURN_IF_ERROR(
      Captured(call, kFinalize, static_cast<int>(init_count + next_count), finalize_count, ignored, &finalize));
  return OutputDataset(call,
                       MakeGeneratorDataset(std::move(spec), std::move(init), std::move(next), std::move(finalize)));
}

// ---- Reduction ----------------------------------------------------------------------------------------------------

// in[0] the data set, then as many tensors of the state as the last attribute says, then the function's last
// arguments
Status Reduce(const KernelCall& call) {
  DatasetPtr input;
  CapturedFunctionPtr captured;
  const std::vector<DType> types = TypesOf(call.attrs[kTypes]);
  const std::vector<DType> initial = TypesOf(call.attrs[kFirstOwn]);
  const auto state_size = static_cast<int>(initial.size());
  const auto function = FunctionOf(call.attrs[kFunction]);
  if (initial.size() != function->output_types().size()) {
    return STILLFLOW_INVALID_ARGUMENT(
        "The number of components of the initial state and the reduce function output does not match. "
        "(initial_state=%d, output=%d).",
        state_size, static_cast<int>(function->output_types().size()));
  }
  if (initial != types) return STILLFLOW_INVALID_ARGUMENT("The state must be of the types of the results");
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &input));
  STILLFLOW_RETURN_IF_ERROR(
      Captured(call, kFunction, 1 + state_size, call.in_count - 1 - state_size, types, &captured));
  Tuple state(state_size);
  for (int i = 0; i < state_size; ++i) {
    STILLFLOW_RETURN_IF_ERROR(KeepTensor(*call.services, *call.in[1 + i], &state[i]));
  }

  Legacies legacies;
  const Place place(&legacies, "");
  IteratorContext context{call.run, call.services};
  BoundFunction bound;
  IteratorPtr iterator;
  STILLFLOW_RETURN_IF_ERROR(bound.Bind(&context, place.Child("reduce"), captured));
  STILLFLOW_RETURN_IF_ERROR(input->MakeIterator(&context, place, &iterator));
  for (;;) {
    STILLFLOW_RETURN_IF_ERROR(context.CheckRun());
    Tuple element;
    bool is_end = false;
    STILLFLOW_RETURN_IF_ERROR(iterator->Next(&context, &element, &is_end));
    if (is_end) break;
    Tuple argument(state.size() + element.size());
    for (size_t i = 0; i < state.size(); ++i) std::swap(argument[i], state[i]);
    for (size_t i = 0; i < element.size(); ++i) std::swap(argument[state.size() + i], element[i]);
    STILLFLOW_RETURN_IF_ERROR(NotTheEnd(bound.Call(&context, argument, &state), "Reduce"));
  }
  for (int i = 0; i < state_size; ++i) std::swap(*call.out[i], state[i]);
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(data, functions){
    {"map_dataset", "input_dataset, other_arguments... | output_types, output_shapes, f, preserve_cardinality",
     Guarded<Map>},
    {"parallel_map_dataset",
     "input_dataset, other_arguments..., num_parallel_calls | output_types, output_shapes, f, preserve_cardinality",
     Guarded<ParallelMap>},
    {"map_and_batch_dataset",
     "input_dataset, other_arguments..., batch_size, num_parallel_calls, drop_remainder | output_types, "
     "output_shapes, f, preserve_cardinality",
     Guarded<MapAndBatch>},
    {"filter_dataset", "input_dataset, other_arguments... | output_types, output_shapes, predicate", Guarded<Filter>},
    {"flat_map_dataset", "input_dataset, other_arguments... | output_types, output_shapes, f", Guarded<FlatMap>},
    {"interleave_dataset",
     "input_dataset, other_arguments..., cycle_length, block_length | output_types, output_shapes, f",
     Guarded<Interleave>},
    {"parallel_interleave_dataset",
     "input_dataset, other_arguments..., cycle_length, block_length, num_parallel_calls | output_types, "
     "output_shapes, f",
     Guarded<ParallelInterleave>},
    {"legacy_parallel_interleave_dataset",
     "input_dataset, other_arguments..., cycle_length, block_length, sloppy, buffer_output_elements, "
     "prefetch_input_elements | output_types, output_shapes, f",
     Guarded<LegacyParallelInterleave>},
    {"generator_dataset",
     "init_func_other_args..., next_func_other_args..., finalize_func_other_args... | output_types, output_shapes, "
     "init_func, next_func, finalize_func, Tinit_func_args, Tnext_func_args, Tfinalize_func_args",
     Guarded<Generator>},
    {"reduce_dataset", "input_dataset, initial_state..., other_arguments... | output_types, output_shapes, f, Tstate",
     Guarded<Reduce>},
    {}};

}  // namespace stillflow
