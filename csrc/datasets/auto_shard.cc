// What TensorFlow makes of a pipeline for one of several workers: each reads some of the files, or where no files are
// found takes some of the elements.
#include <algorithm>
#include <initializer_list>

#include "datasets/functional.h"
#include "datasets/kinds.h"

namespace stillflow {
namespace {

bool Contains(std::initializer_list<const char*> types, const Dataset& dataset) {
  const std::string type = dataset.type();
  return std::any_of(types.begin(), types.end(), [&](const char* name) { return type == name; });
}

// Whether the data sets that the function makes are of the files that it is given.
bool ReadsFiles(const Dataset& dataset) {
  const CapturedFunction* const function = InnerFunctionOf(dataset);
  return function != nullptr &&
         function->function().HandsOn({"tf_record_dataset", "text_line_dataset", "fixed_length_record_dataset"},
                                      {"flat_map_dataset", "interleave_dataset", "parallel_interleave_dataset",
                                       "legacy_parallel_interleave_dataset"});
}

class Sharder {
 public:
  Sharder(int64_t count, int64_t index) : count_(count), index_(index) {}

  // Null if there are no files to be found.
  DatasetPtr Shard(const DatasetPtr& dataset) const {
    if (ReadsFiles(*dataset)) return dataset->WithInputs({SourceFor(dataset->inputs()[0])});
    const bool has_several_inputs = Contains({"Concatenate", "Zip"}, *dataset);
    if (!has_several_inputs &&
        !Contains({"BatchV2",      "MapAndBatch",   "PaddedBatchV2", "MemoryCache",      "FileCache",
                   "Filter",       "Map",           "ParallelMap",   "Prefetch",         "EmptyRepeat",
                   "FiniteRepeat", "ForeverRepeat", "Shard",         "ShuffleAndRepeat", "Shuffle",
                   "EmptySkip",    "FiniteSkip",    "EmptyTake",     "FiniteTake",       "Window"},
                  *dataset)) {
      return nullptr;
    }
    std::vector<DatasetPtr> inputs;
    for (const DatasetPtr& input : dataset->inputs()) {
      inputs.push_back(Shard(input));
      if (inputs.back() == nullptr) return nullptr;
    }
    return dataset->WithInputs(std::move(inputs));
  }

  DatasetPtr Part(const DatasetPtr& dataset) const {
    return MakeShardDataset(dataset->spec(), dataset, count_, index_, true);
  }

 private:
  // Workers must agree about the order of files, so what shuffles them now comes after the choice.
  DatasetPtr SourceFor(const DatasetPtr& files) const {
    const ShuffleDataset* shuffle = nullptr;
    DatasetPtr part = Part(WithoutShuffles(files, &shuffle));
    return shuffle == nullptr ? part : shuffle->WithInputs({std::move(part)});
  }

  static DatasetPtr WithoutShuffles(const DatasetPtr& dataset, const ShuffleDataset** last) {
    if (const auto* shuffle = dynamic_cast<const ShuffleDataset*>(dataset.get())) {
      *last = shuffle;
      return WithoutShuffles(shuffle->inputs()[0], last);
    }
    std::vector<DatasetPtr> inputs;
    for (const DatasetPtr& input : dataset->inputs()) inputs.push_back(WithoutShuffles(input, last));
    return inputs == dataset->inputs() ? dataset : dataset->WithInputs(std::move(inputs));
  }

  const int64_t count_;
  const int64_t index_;
};

}  // namespace

DatasetPtr AutoShard(const DatasetPtr& dataset, int64_t worker_count, int64_t index) {
  if (worker_count == 1) return dataset;
  const Sharder sharder(worker_count, index);
  DatasetPtr sharded = sharder.Shard(dataset);
  return sharded != nullptr ? sharded : sharder.Part(dataset);
}

}  // namespace stillflow
