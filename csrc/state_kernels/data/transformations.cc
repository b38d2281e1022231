// take_dataset, skip_dataset, shard_dataset, zip_dataset, concatenate_dataset, repeat_dataset, shuffle_dataset,
// shuffle_and_repeat_dataset, batch_dataset, padded_batch_dataset, window_dataset, cache_dataset, prefetch_dataset,
// optimize_dataset, model_dataset, non_serializable_dataset, assert_next_dataset, auto_shard_dataset,
// rebatch_dataset, choose_fastest_dataset: data sets over others, which csrc/datasets has.
//
//   in[0...] variant scalars that hold data sets; then scalars
//   out[0]   a variant scalar that holds the data set
//   attrs    output_types, output_shapes: what its elements are; then what is its own
#include "state_kernels/data/arguments.h"

namespace stillflow {
namespace {

enum SpecAttr { kTypes, kShapes, kFirstOwn };

TupleSpec OutputSpec(const KernelCall& call) { return SpecOf(call.attrs[kTypes], call.attrs[kShapes]); }

Status Inputs(const KernelCall& call, int count, std::vector<DatasetPtr>* inputs) {
  inputs->resize(count);
  for (int i = 0; i < count; ++i) STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[i], &(*inputs)[i]));
  return Status();
}

template <typename Make>
Status WithCount(const KernelCall& call, const char* name, const Make& make) {
  DatasetPtr input;
  int64_t count = 0;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &input));
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, 1, name, &count));
  return OutputDataset(call, make(OutputSpec(call), std::move(input), count));
}

Status Take(const KernelCall& call) { return WithCount(call, "count", MakeTakeDataset); }
Status Skip(const KernelCall& call) { return WithCount(call, "count", MakeSkipDataset); }
Status Repeat(const KernelCall& call) { return WithCount(call, "count", MakeRepeatDataset); }

// attrs[2] require_non_empty
Status Shard(const KernelCall& call) {
  DatasetPtr input;
  int64_t count = 0;
  int64_t index = 0;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &input));
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, 1, "num_shards", &count));
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, 2, "index", &index));
  if (count <= 0) {
    return STILLFLOW_INVALID_ARGUMENT("Number of shards must be greater than zero (currently num_shards = %lld).",
                                      static_cast<long long>(count));
  }
  if (index < 0 || index >= count) {
    return STILLFLOW_INVALID_ARGUMENT("Index must be between 0 and %lld (currently index = %lld).",
                                      static_cast<long long>(count - 1), static_cast<long long>(index));
  }
  const bool requires_element = call.attrs[kFirstOwn].i != 0;
  return OutputDataset(call, MakeShardDataset(OutputSpec(call), std::move(input), count, index, requires_element));
}

Status AutoSharded(const KernelCall& call) {
  DatasetPtr input;
  int64_t count = 0;
  int64_t index = 0;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &input));
  STILLFLOW_RETURN_IF_ERROR(PositiveArgument(call, 1, "num_workers", &count));
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, 2, "index", &index));
  if (index < 0 || index >= count) {
    return STILLFLOW_INVALID_ARGUMENT("index must be between 0 and %lld", static_cast<long long>(count - 1));
  }
  return OutputDataset(call, AutoShard(input, count, index));
}

Status Rebatch(const KernelCall& call) {
  DatasetPtr input;
  int64_t parts = 0;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &input));
  STILLFLOW_RETURN_IF_ERROR(PositiveArgument(call, 1, "num_replicas", &parts));
  return OutputDataset(call, MakeRebatchDataset(OutputSpec(call), std::move(input), parts));
}

Status Zip(const KernelCall& call) {
  std::vector<DatasetPtr> inputs;
  STILLFLOW_RETURN_IF_ERROR(Inputs(call, call.in_count, &inputs));
  return OutputDataset(call, MakeZipDataset(OutputSpec(call), std::move(inputs)));
}

Status Concatenate(const KernelCall& call) {
  std::vector<DatasetPtr> inputs;
  STILLFLOW_RETURN_IF_ERROR(Inputs(call, 2, &inputs));
  if (inputs[0]->spec().types != inputs[1]->spec().types) {
    return STILLFLOW_INVALID_ARGUMENT(
        "input dataset and dataset to concatenate have different output_types %s and %s",
        TextOf(inputs[0]->spec().types).c_str(), TextOf(inputs[1]->spec().types).c_str());
  }
  return OutputDataset(call, MakeConcatenateDataset(OutputSpec(call), inputs[0], inputs[1]));
}

// in[1..3] buffer_size, seed, seed2. Without seeds the system gives them, anew for each run of the node.
Status ShuffleArguments(const KernelCall& call, DatasetPtr* input, ShuffleOptions* options) {
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], input));
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, 1, "buffer_size", &options->buffer_size));
  if (options->buffer_size <= 0) return STILLFLOW_INVALID_ARGUMENT("buffer_size must be greater than zero.");
  STILLFLOW_RETURN_IF_ERROR(SeedArguments(call, 2, &options->seed, &options->seed2, &options->is_drawn));
  return Status();
}

Status Shuffle(const KernelCall& call) {
  DatasetPtr input;
  ShuffleOptions options{};
  STILLFLOW_RETURN_IF_ERROR(ShuffleArguments(call, &input, &options));
  const bool reshuffles = call.attrs[kFirstOwn].i != 0;
  return OutputDataset(call, MakeShuffleDataset(OutputSpec(call), std::move(input), options, reshuffles, nullptr));
}

Status ShuffleAndRepeat(const KernelCall& call) {
  DatasetPtr input;
  ShuffleOptions options{};
  int64_t count = 0;
  STILLFLOW_RETURN_IF_ERROR(ShuffleArguments(call, &input, &options));
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, 4, "count", &count));
  if (count == 0 || count < -1) {
    return STILLFLOW_INVALID_ARGUMENT("count must be greater than zero or equal to -1.");
  }
  return OutputDataset(call, MakeShuffleAndRepeatDataset(OutputSpec(call), std::move(input), options, count));
}

Status BatchArguments(const KernelCall& call, DatasetPtr* input, int64_t* batch_size) {
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], input));
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, 1, "batch_size", batch_size));
  return *batch_size > 0 ? Status() : STILLFLOW_INVALID_ARGUMENT("Batch size must be greater than zero.");
}

// in[1] batch_size; in[2] drop_remainder, of the second version
Status Batch(const KernelCall& call) {
  DatasetPtr input;
  int64_t batch_size = 0;
  bool drops_remainder = false;
  STILLFLOW_RETURN_IF_ERROR(BatchArguments(call, &input, &batch_size));
  if (call.in_count > 2) STILLFLOW_RETURN_IF_ERROR(BoolArgument(call, 2, "drop_remainder", &drops_remainder));
  return OutputDataset(call, MakeBatchDataset(OutputSpec(call), std::move(input), batch_size, drops_remainder));
}

Status PaddedShapeOf(const Tensor& sizes, PartialShape* shape) {
  if (sizes.rank != 1) return STILLFLOW_INVALID_ARGUMENT("All padded shapes must be vectors");
  if (sizes.count > kMaxRank) return STILLFLOW_INVALID_ARGUMENT("A padded shape has too many dimensions");
  shape->rank = static_cast<int32_t>(sizes.count);
  for (int i = 0; i < shape->rank; ++i) {
    shape->dims[i] = IntAt(sizes, i);
    if (shape->dims[i] < -1)
      return STILLFLOW_INVALID_ARGUMENT("Dimension %lld must be >= -1", static_cast<long long>(shape->dims[i]));
  }
  return Status();
}

// in[1] batch_size; then a padded shape and a padding for each component; then drop_remainder, of the second version
Status PaddedBatch(const KernelCall& call) {
  DatasetPtr input;
  int64_t batch_size = 0;
  bool drops_remainder = false;
  STILLFLOW_RETURN_IF_ERROR(BatchArguments(call, &input, &batch_size));
  TupleSpec spec = OutputSpec(call);
  const auto count = static_cast<int>(spec.size());
  if (call.attrs[kFirstOwn].i != count || input->spec().types != spec.types) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Number of padded shapes (%lld) must match the number of components in the input "
        "dataset's elements (%d)",
        static_cast<long long>(call.attrs[kFirstOwn].i), static_cast<int>(input->spec().size()));
  }
  std::vector<PartialShape> shapes(count);
  Tuple padding(count);
  for (int i = 0; i < count; ++i) {
    STILLFLOW_RETURN_IF_ERROR(PaddedShapeOf(*call.in[2 + i], &shapes[i]));
    const Tensor& value = *call.in[2 + count + i];
    if (value.rank != 0) return STILLFLOW_INVALID_ARGUMENT("All padding values must be scalars");
    STILLFLOW_RETURN_IF_ERROR(KeepTensor(*call.services, value, &padding[i]));
  }
  const int last = 2 + 2 * count;
  if (call.in_count > last) STILLFLOW_RETURN_IF_ERROR(BoolArgument(call, last, "drop_remainder", &drops_remainder));
  return OutputDataset(call, MakePaddedBatchDataset(std::move(spec), std::move(input), batch_size, std::move(shapes),
                                                    std::move(padding), drops_remainder));
}

Status Window(const KernelCall& call) {
  DatasetPtr input;
  int64_t numbers[3];
  bool drops_remainder = false;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &input));
  for (int i = 0; i < 3; ++i) {
    constexpr const char* kNames[] = {"size", "shift", "stride"};
    STILLFLOW_RETURN_IF_ERROR(IntArgument(call, 1 + i, kNames[i], &numbers[i]));
    if (numbers[i] <= 0) return STILLFLOW_INVALID_ARGUMENT("Window %s must be greater than zero.", kNames[i]);
  }
  STILLFLOW_RETURN_IF_ERROR(BoolArgument(call, 4, "drop_remainder", &drops_remainder));
  return OutputDataset(call, MakeWindowDataset(OutputSpec(call), std::move(input), numbers[0], numbers[1], numbers[2],
                                               drops_remainder));
}

Status Cache(const KernelCall& call) {
  DatasetPtr input;
  std::string file;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &input));
  STILLFLOW_RETURN_IF_ERROR(StringArgument(call, 1, "filename", &file));
  return OutputDataset(call, file.empty() ? MakeMemoryCacheDataset(OutputSpec(call), std::move(input))
                                          : MakeFileCacheDataset(OutputSpec(call), std::move(input), file));
}

Status Prefetch(const KernelCall& call) {
  DatasetPtr input;
  int64_t size = 0;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &input));
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, 1, "buffer_size", &size));
  if (size < -1) {
    return STILLFLOW_INVALID_ARGUMENT("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning");
  }
  return OutputDataset(call, MakePrefetchDataset(OutputSpec(call), std::move(input), size));
}

std::vector<std::string> TextsOf(const Tensor& strings) {
  std::vector<std::string> texts;
  for (int64_t i = 0; i < strings.count; ++i) texts.push_back(Text(StringAt(strings, i)));
  return texts;
}

// in[1] the names of rewrites; their options are the last attribute
Status OptimizeDataset(const KernelCall& call) {
  DatasetPtr input;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &input));
  auto rewrites = std::make_shared<Rewrites>();
  rewrites->names = TextsOf(*call.in[1]);
  rewrites->configs = StringsOf(call.attrs[kFirstOwn]);
  rewrites->parallel_calls = call.services->thread_count(call.run);
  return OutputDataset(call, Optimize(input, rewrites));
}

// in[1] the types of data sets that read this one, the next first
Status AssertNext(const KernelCall& call) {
  DatasetPtr input;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &input));
  return OutputDataset(call, MakeAssertNextDataset(OutputSpec(call), std::move(input), TextsOf(*call.in[1])));
}

// Whether what an input brings may stand for what the others bring.
Status CheckAlike(const TupleSpec& expected, const TupleSpec& found, int input) {
  if (found.types != expected.types) {
    return STILLFLOW_INVALID_ARGUMENT(
        "All inputs to ChooseFastestDataset must have the same output types. Input %d has output types: %s. "
        "Expected: "
        "%s.",
        input, TextOf(found.types).c_str(), TextOf(expected.types).c_str());
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    const PartialShape &ours = expected.shapes[i], &theirs = found.shapes[i];
    if (CheckSpec({{expected.types[i]}, {ours}}, {{found.types[i]}, {theirs}}).ok()) continue;
    return STILLFLOW_INVALID_ARGUMENT(
        "All inputs to ChooseFastestDataset must have compatible output shapes. Component %d of input %d has shape: "
        "%s. Expected to be compatible with shape: %s.",
        static_cast<int>(i), input, TextOf(theirs).c_str(), TextOf(ours).c_str());
  }
  return Status();
}

// in[...] data sets with the same elements. TensorFlow measures which is the fastest; here it is the first.
Status ChooseFastest(const KernelCall& call) {
  std::vector<DatasetPtr> inputs;
  STILLFLOW_RETURN_IF_ERROR(Inputs(call, call.in_count, &inputs));
  if (inputs.size() < 2) {
    return STILLFLOW_INVALID_ARGUMENT("ChooseFastestDataset must have at least two input datasets.");
  }
  const TupleSpec spec = OutputSpec(call);
  int64_t cardinality = inputs[0]->Cardinality();
  for (size_t i = 1; i < inputs.size(); ++i) {
    STILLFLOW_RETURN_IF_ERROR(CheckAlike(spec, inputs[i]->spec(), static_cast<int>(i)));
    const int64_t found = inputs[i]->Cardinality();
    if (cardinality == kUnknownCardinality) cardinality = found;
    if (found != cardinality && found != kUnknownCardinality) {
      return STILLFLOW_INVALID_ARGUMENT(
          "All inputs to ChooseFastestDataset must have compatible cardinalities. Input %d has cardinality: %lld, "
          "while all prior inputs have cardinality: %lld.",
          static_cast<int>(i), static_cast<long long>(found), static_cast<long long>(cardinality));
    }
  }
  return OutputDataset(call, inputs[0]);
}

// TensorFlow looks here for numbers of threads to tune.
Status Model(const KernelCall& call) {
  DatasetPtr input;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &input));
  return OutputDataset(call, MakeTransparentDataset("Model", std::move(input), false));
}

Status NonSerializable(const KernelCall& call) {
  DatasetPtr input;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &input));
  return OutputDataset(call, MakeTransparentDataset("NonSerializable", std::move(input), true));
}

// out[0] a scalar: how many elements there are, or -1 for no end, or -2 if nobody knows
Status Cardinality(const KernelCall& call) {
  DatasetPtr input;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &input));
  STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, DType::kInt64, Shape(), call.out[0]));
  *MutableData<int64_t>(*call.out[0]) = input->Cardinality();
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(data, transformations){
    {"take_dataset", "input_dataset, count | output_types, output_shapes", Guarded<Take>},
    {"skip_dataset", "input_dataset, count | output_types, output_shapes", Guarded<Skip>},
    {"shard_dataset", "input_dataset, num_shards, index | output_types, output_shapes, require_non_empty",
     Guarded<Shard>},
    {"auto_shard_dataset", "input_dataset, num_workers, index | output_types, output_shapes", Guarded<AutoSharded>},
    {"rebatch_dataset", "input_dataset, num_replicas | output_types, output_shapes", Guarded<Rebatch>},
    {"zip_dataset", "input_datasets... | output_types, output_shapes", Guarded<Zip>},
    {"concatenate_dataset", "input_dataset, another_dataset | output_types, output_shapes", Guarded<Concatenate>},
    {"repeat_dataset", "input_dataset, count | output_types, output_shapes", Guarded<Repeat>},
    {"shuffle_dataset",
     "input_dataset, buffer_size, seed, seed2 | output_types, output_shapes, reshuffle_each_iteration",
     Guarded<Shuffle>},
    {"shuffle_and_repeat_dataset", "input_dataset, buffer_size, seed, seed2, count | output_types, output_shapes",
     Guarded<ShuffleAndRepeat>},
    {"batch_dataset", "input_dataset, batch_size | output_types, output_shapes", Guarded<Batch>},
    {"batch_dataset_v2", "input_dataset, batch_size, drop_remainder | output_types, output_shapes", Guarded<Batch>},
    {"padded_batch_dataset",
     "input_dataset, batch_size, padded_shapes..., padding_values... | output_types, output_shapes, count",
     Guarded<PaddedBatch>},
    {"padded_batch_dataset_v2",
     "input_dataset, batch_size, padded_shapes..., padding_values..., drop_remainder | output_types, output_shapes, "
     "count",
     Guarded<PaddedBatch>},
    {"window_dataset", "input_dataset, size, shift, stride, drop_remainder | output_types, output_shapes",
     Guarded<Window>},
    {"cache_dataset", "input_dataset, filename | output_types, output_shapes", Guarded<Cache>},
    {"prefetch_dataset", "input_dataset, buffer_size | output_types, output_shapes", Guarded<Prefetch>},
    {"optimize_dataset", "input_dataset, optimizations | output_types, output_shapes, optimization_configs",
     Guarded<OptimizeDataset>},
    {"model_dataset", "input_dataset | output_types, output_shapes", Guarded<Model>},
    {"non_serializable_dataset", "input_dataset | output_types, output_shapes", Guarded<NonSerializable>},
    {"assert_next_dataset", "input_dataset, transformations | output_types, output_shapes", Guarded<AssertNext>},
    {"choose_fastest_dataset", "input_datasets... | output_types, output_shapes", Guarded<ChooseFastest>},
    {"dataset_cardinality", "input_dataset", Guarded<Cardinality>},
    {}};

}  // namespace stillflow
