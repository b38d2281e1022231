// datasets.h: the kinds of data sets, one function for each. Arguments have been checked by then.
#pragma once

#include <algorithm>

#include "datasets/dataset.h"

namespace stillflow {

// ---- sources.cc -------------------------------------------------------------------------------------------------

// One element, `components`.
DatasetPtr MakeTensorDataset(TupleSpec spec, Tuple components);
// The rows of `components`, which have as many rows each, at least one component.
DatasetPtr MakeSliceDataset(TupleSpec spec, Tuple components);
// start, start + step, ... before stop; step is not 0.
DatasetPtr MakeRangeDataset(TupleSpec spec, int64_t start, int64_t stop, int64_t step);
// The given elements, as in a window. ElementsOf is null for data sets of other kinds.
DatasetPtr MakeElementsDataset(TupleSpec spec, std::vector<Tuple> elements);
const std::vector<Tuple>* ElementsOf(const Dataset& dataset);

// ---- selection.cc -----------------------------------------------------------------------------------------------

DatasetPtr MakeTakeDataset(TupleSpec spec, DatasetPtr input, int64_t count);  // negative: all
DatasetPtr MakeSkipDataset(TupleSpec spec, DatasetPtr input, int64_t count);  // negative: all
// If each shard is to have an element, the first that is asked for fails when there are fewer elements than shards.
DatasetPtr MakeShardDataset(TupleSpec spec, DatasetPtr input, int64_t shard_count, int64_t index,
                            bool requires_element);

// ---- combination.cc ---------------------------------------------------------------------------------------------

DatasetPtr MakeZipDataset(TupleSpec spec, std::vector<DatasetPtr> inputs);
DatasetPtr MakeConcatenateDataset(TupleSpec spec, DatasetPtr first, DatasetPtr second);
DatasetPtr MakeRepeatDataset(TupleSpec spec, DatasetPtr input, int64_t count);  // negative: for ever

// ---- shuffle.cc -------------------------------------------------------------------------------------------------

struct ShuffleOptions {
  int64_t buffer_size;
  uint64_t seed;
  uint64_t seed2;
  bool is_drawn;  // by the system: the seeds are then part of a position
};
class SeedGenerator;
// `generator` may be null: each iterator over the whole pipeline then begins with the same seeds.
DatasetPtr MakeShuffleDataset(TupleSpec spec, DatasetPtr input, ShuffleOptions options, bool reshuffles,
                              std::shared_ptr<SeedGenerator> generator);
DatasetPtr MakeShuffleAndRepeatDataset(TupleSpec spec, DatasetPtr input, ShuffleOptions options, int64_t count);

// ---- batch.cc, padded_batch.cc, window.cc -----------------------------------------------------------------------

DatasetPtr MakeBatchDataset(TupleSpec spec, DatasetPtr input, int64_t batch_size, bool drops_remainder);
// The same of the results of a map, as map_and_batch makes them.
DatasetPtr MakeResultBatchDataset(TupleSpec spec, DatasetPtr results, int64_t batch_size, bool drops_remainder);
// Of a batch of what a map brings, what map_and_batch makes; null for data sets of other kinds.
DatasetPtr FuseMapAndBatch(const Dataset& dataset);
// The same where the function is called side by side for a whole batch, or, if it `chooses`, where this is tried and
// measured first; null for functions with a state, shapes that are not known, and data sets of other kinds.
DatasetPtr VectorizeMap(const Dataset& dataset, bool chooses);
// `padding` has a scalar for each component.
DatasetPtr MakePaddedBatchDataset(TupleSpec spec, DatasetPtr input, int64_t batch_size,
                                  std::vector<PartialShape> padded_shapes, Tuple padding, bool drops_remainder);
DatasetPtr MakeWindowDataset(TupleSpec spec, DatasetPtr input, int64_t size, int64_t shift, int64_t stride,
                             bool drops_remainder);

// ---- rows.cc ----------------------------------------------------------------------------------------------------

DatasetPtr MakeUnbatchDataset(TupleSpec spec, DatasetPtr input);
DatasetPtr MakeIgnoreErrorsDataset(TupleSpec spec, DatasetPtr input);
// `selector` brings the numbers of the inputs that the next elements are of.
DatasetPtr MakeDirectedInterleaveDataset(TupleSpec spec, DatasetPtr selector, std::vector<DatasetPtr> inputs);

// ---- unique.cc, random.cc, sparse_batch.cc ----------------------------------------------------------------------

// Elements of one int32, int64 or string component that have not come before.
DatasetPtr MakeUniqueDataset(TupleSpec spec, DatasetPtr input);
DatasetPtr MakeRandomDataset(TupleSpec spec, uint64_t seed, uint64_t seed2);
// Sparse tensors, as three variants, of elements of one component; sizes of rows below 0 are those of the largest.
DatasetPtr MakeSparseBatchDataset(TupleSpec spec, DatasetPtr input, int64_t batch_size, PartialShape row_shape);

// ---- rebatch.cc -------------------------------------------------------------------------------------------------

// Each element, which is a batch, in so many parts.
DatasetPtr MakeRebatchDataset(TupleSpec spec, DatasetPtr input, int64_t parts);

// ---- cache.cc, file_cache.cc, prefetch.cc -----------------------------------------------------------------------

class MemoryCache;
// All iterators over the data set share `cache`; if it is null, those of one pipeline share another.
DatasetPtr MakeMemoryCacheDataset(TupleSpec spec, DatasetPtr input, std::shared_ptr<MemoryCache> cache = nullptr);
DatasetPtr MakeFileCacheDataset(TupleSpec spec, DatasetPtr input, std::string path);
DatasetPtr MakePrefetchDataset(TupleSpec spec, DatasetPtr input, int64_t buffer_size);

// ---- auto_shard.cc ----------------------------------------------------------------------------------------------

// The part of a data set for one of so many workers: of its files, or if there are none of its elements.
DatasetPtr AutoShard(const DatasetPtr& dataset, int64_t worker_count, int64_t index);

// ---- choose_branch.cc -------------------------------------------------------------------------------------------

// Elements are made in one of several ways: pipelines over one input that bring the same and read it once. For each
// `outputs_per_trial` elements, of `inputs_per` / `outputs_per` elements of the input each, are taken and the time is
// measured; then the fastest goes on.
struct BranchOptions {
  int64_t inputs_per;
  int64_t outputs_per;
  int64_t outputs_per_trial;
};
DatasetPtr MakeChooseFastestBranchDataset(TupleSpec spec, DatasetPtr input, std::vector<DatasetPtr> branches,
                                          BranchOptions options);

// ---- optimize.cc ------------------------------------------------------------------------------------------------

// The rewrites that are to be made, by TensorFlow's names.
struct Rewrites {
  std::vector<std::string> names;
  std::vector<std::string> configs;  // "rewrite:option:value"
  int64_t parallel_calls = 1;        // of what is made parallel

  bool Has(const char* name) const { return std::find(names.begin(), names.end(), name) != names.end(); }
  bool IsSet(const char* config) const { return std::find(configs.begin(), configs.end(), config) != configs.end(); }
};
using RewritesPtr = std::shared_ptr<const Rewrites>;

// What the rewrites make of a data set, as far as they change what it brings or spare calls.
DatasetPtr Optimize(const DatasetPtr& dataset, const RewritesPtr& rewrites);
// What stands in pipelines for what changes no element: a rewrite stops at what it cannot look into.
DatasetPtr MakeTransparentDataset(const char* type, DatasetPtr input, bool is_opaque);
// The same data set, which fails if those that read it are not of the types `readers`, the next first.
DatasetPtr MakeAssertNextDataset(TupleSpec spec, DatasetPtr input, std::vector<std::string> readers);

}  // namespace stillflow
