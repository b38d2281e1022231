// take_while_dataset, group_by_reducer_dataset, unique_dataset, random_dataset, dense_to_sparse_batch_dataset: data
// sets of tf.data.experimental, which csrc/datasets has.
//
//   in[0] a variant scalar that holds a data set, unless there is none; then the last arguments of functions, and
//         scalars
//   out[0] a variant scalar that holds the data set
//   attrs  output_types, output_shapes: what the elements are; functions; then what is its own
#include "state_kernels/data/function_arguments.h"

namespace stillflow {
namespace {

Status TakeWhile(const KernelCall& call) {
  DatasetPtr input;
  CapturedFunctionPtr predicate;
  STILLFLOW_RETURN_IF_ERROR(InputAndFunction(call, 0, {DType::kBool}, &input, &predicate));
  return OutputDataset(call, MakeTakeWhileDataset(OutputSpec(call), std::move(input), std::move(predicate)));
}

// The last arguments of the four functions, as many as each list of types in the attributes says.
Status GroupByReducer(const KernelCall& call) {
  enum OwnAttr { kKey = kFunction, kInit, kReduce, kFinalize, kKeyTypes };
  DatasetPtr input;
  ReducerFunctions functions;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &input));
  int first = 1;
  const auto captured = [&](int attribute, const std::vector<DType>& results, CapturedFunctionPtr* function) {
    const auto count = static_cast<int>(call.attrs[attribute - kKey + kKeyTypes].size);
    first += count;
    return Captured(call, attribute, first - count, count, results, function);
  };
  TupleSpec spec = OutputSpec(call);
  const auto init = FunctionOf(call.attrs[kInit]);
  STILLFLOW_RETURN_IF_ERROR(captured(kKey, {DType::kInt64}, &functions.key));
  STILLFLOW_RETURN_IF_ERROR(captured(kInit, init->output_types(), &functions.init));
  STILLFLOW_RETURN_IF_ERROR(captured(kReduce, init->output_types(), &functions.reduce));
  STILLFLOW_RETURN_IF_ERROR(captured(kFinalize, spec.types, &functions.finalize));
  return OutputDataset(call, MakeGroupByReducerDataset(std::move(spec), std::move(input), std::move(functions)));
}

Status Unique(const KernelCall& call) {
  DatasetPtr input;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &input));
  const TupleSpec& spec = input->spec();
  if (spec.size() != 1) {
    return STILLFLOW_INVALID_ARGUMENT("UniqueDataset only supports inputs with a single component.");
  }
  const DType type = spec.types[0];
  if (type != DType::kInt32 && type != DType::kInt64 && type != DType::kString) {
    return STILLFLOW_INVALID_ARGUMENT(
        "UniqueDataset only supports inputs with a single `tf.int32`, `tf.int64`, or `tf.string` component.");
  }
  return OutputDataset(call, MakeUniqueDataset(OutputSpec(call), std::move(input)));
}

// in[0], in[1] seed, seed2: int64 scalars
Status Random(const KernelCall& call) {
  uint64_t seed = 0;
  uint64_t seed2 = 0;
  bool is_drawn = false;
  STILLFLOW_RETURN_IF_ERROR(SeedArguments(call, 0, &seed, &seed2, &is_drawn));
  return OutputDataset(call, MakeRandomDataset(OutputSpec(call), seed, seed2));
}

// in[1] batch_size; in[2] row_shape: an int64 vector, of which some may be -1
Status DenseToSparseBatch(const KernelCall& call) {
  DatasetPtr input;
  int64_t batch_size = 0;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &input));
  if (input->spec().size() != 1) {
    return STILLFLOW_INVALID_ARGUMENT("DenseToSparseBatchDataset only supports inputs with a single component.");
  }
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, 1, "batch_size", &batch_size));
  if (batch_size <= 0) return STILLFLOW_INVALID_ARGUMENT("Batch size must be greater than zero.");
  const Tensor& sizes = *call.in[2];
  if (sizes.rank != 1) return STILLFLOW_INVALID_ARGUMENT("row_shape must be a vector");
  if (sizes.count >= kMaxRank) return STILLFLOW_INVALID_ARGUMENT("row_shape has too many dimensions");
  PartialShape row_shape;
  row_shape.rank = static_cast<int32_t>(sizes.count);
  for (int64_t i = 0; i < sizes.count; ++i) {
    row_shape.dims[i] = IntAt(sizes, i);
    if (row_shape.dims[i] < -1) {
      return STILLFLOW_INVALID_ARGUMENT("Dimension %lld must be >= -1", static_cast<long long>(row_shape.dims[i]));
    }
  }
  return OutputDataset(call, MakeSparseBatchDataset(OutputSpec(call), std::move(input), batch_size, row_shape));
}

}  // namespace

STILLFLOW_KERNELS(data, experimental){
    {"take_while_dataset", "input_dataset, other_arguments... | output_types, output_shapes, predicate",
     Guarded<TakeWhile>},
    {"group_by_reducer_dataset",
     "input_dataset, key_func_other_arguments..., init_func_other_arguments..., reduce_func_other_arguments..., "
     "finalize_func_other_arguments... | output_types, output_shapes, key_func, init_func, reduce_func, "
     "finalize_func, Tkey_func_other_arguments, Tinit_func_other_arguments, Treduce_func_other_arguments, "
     "Tfinalize_func_other_arguments",
     Guarded<GroupByReducer>},
    {"unique_dataset", "input_dataset | output_types, output_shapes", Guarded<Unique>},
    {"random_dataset", "seed, seed2 | output_types, output_shapes", Guarded<Random>},
    {"dense_to_sparse_batch_dataset", "input_dataset, batch_size, row_shape | output_types, output_shapes",
     Guarded<DenseToSparseBatch>},
    {}};

}  // namespace stillflow
