// group_by_window_dataset, scan_dataset, unbatch_dataset, ignore_errors_dataset, directed_interleave_dataset: data
// sets that csrc/datasets has. dataset_to_single_element: the element of a data set that has one.
//
//   in[0] a variant scalar that holds a data set; then the last arguments of functions, or other data sets
//   out[0] a variant scalar that holds the data set; of dataset_to_single_element the components of the element
//   attrs  output_types, output_shapes: what the elements are; functions; then what is its own
#include "state_kernels/data/function_arguments.h"

namespace stillflow {
namespace {

// The last arguments of the three functions, as many as each list of types in the attributes says.
Status GroupByWindow(const KernelCall& call) {
  enum OwnAttr { kKey = kFunction, kReduce, kWindowSize, kKeyTypes, kReduceTypes, kWindowSizeTypes };
  DatasetPtr input;
  CapturedFunctionPtr key;
  CapturedFunctionPtr reduce;
  CapturedFunctionPtr window_size;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &input));
  int first = 1;
  const auto captured = [&](int attribute, int types, DType result, CapturedFunctionPtr* function) {
    const auto count = static_cast<int>(call.attrs[types].size);
    first += count;
    return Captured(call, attribute, first - count, count, {result}, function);
  };
  STILLFLOW_RETURN_IF_ERROR(captured(kKey, kKeyTypes, DType::kInt64, &key));
  STILLFLOW_RETURN_IF_ERROR(captured(kReduce, kReduceTypes, DType::kVariant, &reduce));
  STILLFLOW_RETURN_IF_ERROR(captured(kWindowSize, kWindowSizeTypes, DType::kInt64, &window_size));
  return OutputDataset(call, MakeGroupByWindowDataset(OutputSpec(call), std::move(input), std::move(key),
                                                      std::move(reduce), std::move(window_size)));
}

// in[1...] as many tensors of the state as the attribute says, then the function's last arguments
Status Scan(const KernelCall& call) {
  enum OwnAttr { kStateTypes = kFirstOwn, kPreservesCardinality };
  DatasetPtr input;
  CapturedFunctionPtr function;
  TupleSpec spec = OutputSpec(call);
  std::vector<DType> results = TypesOf(call.attrs[kStateTypes]);
  const auto state_size = static_cast<int>(results.size());
  results.insert(results.end(), spec.types.begin(), spec.types.end());
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &input));
  STILLFLOW_RETURN_IF_ERROR(
      Captured(call, kFunction, 1 + state_size, call.in_count - 1 - state_size, results, &function));
  Tuple state(state_size);
  for (int i = 0; i < state_size; ++i) {
    STILLFLOW_RETURN_IF_ERROR(KeepTensor(*call.services, *call.in[1 + i], &state[i]));
  }
  return OutputDataset(call, MakeScanDataset(std::move(spec), std::move(input), std::move(function), std::move(state),
                                             call.attrs[kPreservesCardinality].i != 0));
}

Status Unbatch(const KernelCall& call) {
  DatasetPtr input;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &input));
  return OutputDataset(call, MakeUnbatchDataset(OutputSpec(call), std::move(input)));
}

Status IgnoreErrors(const KernelCall& call) {
  DatasetPtr input;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &input));
  return OutputDataset(call, MakeIgnoreErrorsDataset(OutputSpec(call), std::move(input)));
}

// in[1...] the data sets that the first chooses from
Status DirectedInterleave(const KernelCall& call) {
  DatasetPtr selector;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &selector));
  const TupleSpec& found = selector->spec();
  if (found.size() != 1 || found.types[0] != DType::kInt64 || !(found.shapes[0] == PartialShape{0, {}})) {
    return STILLFLOW_INVALID_ARGUMENT("The selector dataset must produce a single scalar integer.");
  }
  TupleSpec spec = OutputSpec(call);
  std::vector<DatasetPtr> inputs(call.in_count - 1);
  for (size_t i = 0; i < inputs.size(); ++i) {
    STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[1 + i], &inputs[i]));
    if (inputs[i]->spec().types != inputs[0]->spec().types) {
      return STILLFLOW_INVALID_ARGUMENT(
          "All inputs must have the same output_dtypes. First input has types %s, and "
          "input %d has types %s",
          TextOf(inputs[0]->spec().types).c_str(), static_cast<int>(i), TextOf(inputs[i]->spec().types).c_str());
    }
  }
  return OutputDataset(call, MakeDirectedInterleaveDataset(std::move(spec), std::move(selector), std::move(inputs)));
}

Status SingleElement(const KernelCall& call) {
  DatasetPtr input;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &input));
  Legacies legacies;
  IteratorContext context{call.run, call.services};
  IteratorPtr iterator;
  STILLFLOW_RETURN_IF_ERROR(input->MakeIterator(&context, Place(&legacies, ""), &iterator));
  Tuple element;
  Tuple next;
  bool is_end = false;
  STILLFLOW_RETURN_IF_ERROR(iterator->Next(&context, &element, &is_end));
  if (is_end) return STILLFLOW_INVALID_ARGUMENT("Dataset was empty.");
  STILLFLOW_RETURN_IF_ERROR(CheckSpec(OutputSpec(call), input->spec()));
  STILLFLOW_RETURN_IF_ERROR(iterator->Next(&context, &next, &is_end));
  if (!is_end) return STILLFLOW_INVALID_ARGUMENT("Dataset had more than one element.");
  for (size_t i = 0; i < element.size(); ++i) std::swap(*call.out[i], element[i]);
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(data, gathering){
    {"group_by_window_dataset",
     "input_dataset, key_func_other_arguments..., reduce_func_other_arguments..., "
     "window_size_func_other_arguments... | output_types, output_shapes, key_func, reduce_func, window_size_func, "
     "Tkey_func_other_arguments, Treduce_func_other_arguments, Twindow_size_func_other_arguments",
     Guarded<GroupByWindow>},
    {"scan_dataset",
     "input_dataset, initial_state..., other_arguments... | output_types, output_shapes, f, Tstate, "
     "preserve_cardinality",
     Guarded<Scan>},
    {"unbatch_dataset", "input_dataset | output_types, output_shapes", Guarded<Unbatch>},
    {"ignore_errors_dataset", "input_dataset | output_types, output_shapes", Guarded<IgnoreErrors>},
    {"directed_interleave_dataset", "selector_input_dataset, data_input_datasets... | output_types, output_shapes",
     Guarded<DirectedInterleave>},
    {"dataset_to_single_element", "dataset | output_types, output_shapes", Guarded<SingleElement>},
    {}};

}  // namespace stillflow
