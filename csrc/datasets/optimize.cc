// The rewrites that TensorFlow makes of a pipeline before it runs, those that change which elements come or when and
// those that spare calls, and what looks at their result.
#include <sstream>

#include "datasets/functional.h"
#include "datasets/kinds.h"

namespace stillflow {
namespace {

// A data set that does nothing.
class TransparentDataset final : public DatasetOf<TransparentDataset> {
 public:
  TransparentDataset(const char* type, DatasetPtr input, bool is_opaque)
      : DatasetOf(input->spec(), {input}), type_(type), is_opaque_(is_opaque) {}
  const char* type() const override { return type_; }
  bool is_opaque() const { return is_opaque_; }
  int64_t Cardinality() const override { return input().Cardinality(); }
  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    return input().MakeIterator(context, place.Child(type()), iterator);
  }

 private:
  const char* type_;
  bool is_opaque_;
};

// Of each data set and its inputs, which are rewritten by then, another one, or null.
using Rewrite = DatasetPtr (*)(const DatasetPtr& dataset, const RewritesPtr& rewrites);

DatasetPtr EliminateIdle(const DatasetPtr& dataset, const RewritesPtr&) {
  return dataset->IsIdle() ? dataset->inputs()[0] : nullptr;
}

DatasetPtr FuseTwoFilters(const DatasetPtr& dataset, const RewritesPtr&) {
  return dataset->inputs().size() == 1 ? FuseFilters(*dataset, dataset->input()) : nullptr;
}

DatasetPtr FuseTwoMaps(const DatasetPtr& dataset, const RewritesPtr&) {
  return dataset->inputs().size() == 1 ? FuseMaps(*dataset, dataset->input()) : nullptr;
}

DatasetPtr FuseShuffleAndRepeat(const DatasetPtr& dataset, const RewritesPtr&) {
  const auto* repeat = dynamic_cast<const RepeatDataset*>(dataset.get());
  if (repeat == nullptr || repeat->count() == 0) return nullptr;
  const auto* shuffle = dynamic_cast<const ShuffleDataset*>(&repeat->input());
  if (shuffle == nullptr || !shuffle->reshuffles() || shuffle->shares_seeds()) return nullptr;
  return MakeShuffleAndRepeatDataset(repeat->spec(), shuffle->inputs()[0], shuffle->options(), repeat->count());
}

DatasetPtr Vectorize(const DatasetPtr& dataset, const RewritesPtr& rewrites) {
  return VectorizeMap(*dataset, rewrites->IsSet("map_vectorization:use_choose_fastest:true"));
}

DatasetPtr FuseBatch(const DatasetPtr& dataset, const RewritesPtr&) { return FuseMapAndBatch(*dataset); }

DatasetPtr Parallelize(const DatasetPtr& dataset, const RewritesPtr& rewrites) {
  return ParallelizeMap(*dataset, rewrites->parallel_calls);
}

// In the order in which they are tried: a map that has been vectorized is no longer there to be fused.
constexpr std::pair<const char*, Rewrite> kRewrites[] = {
    {"noop_elimination", EliminateIdle},
    {"filter_fusion", FuseTwoFilters},
    {"map_fusion", FuseTwoMaps},
    {"map_parallelization", Parallelize},
    {"map_vectorization", Vectorize},
    {"map_and_batch_fusion", FuseBatch},
    {"shuffle_and_repeat_fusion", FuseShuffleAndRepeat},
};

DatasetPtr RewriteAll(const DatasetPtr& dataset, const RewritesPtr& rewrites) {
  const auto* transparent = dynamic_cast<const TransparentDataset*>(dataset.get());
  if (transparent != nullptr && transparent->is_opaque()) return dataset;
  std::vector<DatasetPtr> inputs;
  for (const DatasetPtr& input : dataset->inputs()) inputs.push_back(RewriteAll(input, rewrites));
  DatasetPtr made = inputs == dataset->inputs() ? dataset : dataset->WithInputs(std::move(inputs));
  for (const auto& entry : kRewrites) {
    if (!rewrites->Has(entry.first)) continue;
    if (DatasetPtr rewritten = entry.second(made, rewrites)) made = std::move(rewritten);
  }
  if (DatasetPtr deep = WithInnerRewrites(*made, rewrites)) return deep;
  return made;
}

// Elements in advance of all that is made side by side.
DatasetPtr InjectPrefetch(const DatasetPtr& dataset, bool is_prefetched) {
  std::vector<DatasetPtr> inputs;
  const std::string type = dataset->type();
  for (const DatasetPtr& input : dataset->inputs())
    inputs.push_back(InjectPrefetch(input, type == "Prefetch" || type == "MapAndBatch"));
  DatasetPtr made = inputs == dataset->inputs() ? dataset : dataset->WithInputs(std::move(inputs));
  const bool is_parallel = type == "ParallelMap" || type == "MapAndBatch" || type == "ParallelInterleaveV2";
  if (!is_parallel || is_prefetched) return made;
  const TupleSpec spec = made->spec();
  return MakePrefetchDataset(spec, std::move(made), -1);
}

class AssertNextDataset final : public DatasetOf<AssertNextDataset> {
 public:
  AssertNextDataset(TupleSpec spec, DatasetPtr input, std::vector<std::string> readers)
      : DatasetOf(std::move(spec), {std::move(input)}), readers_(std::move(readers)) {}
  const char* type() const override { return "AssertNext"; }
  int64_t Cardinality() const override { return input().Cardinality(); }

  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    const std::vector<std::string> found = ReadersAt(place);
    if (readers_.size() > found.size()) {
      return STILLFLOW_INVALID_ARGUMENT("Asserted next %lld transformations but encountered only %lld.",
                                        static_cast<long long>(readers_.size()),
                                        static_cast<long long>(found.size()));
    }
    for (size_t i = 0; i < readers_.size(); ++i) {
      const std::string& name = found[found.size() - 1 - i];
      if (readers_[i] == name) continue;
      return STILLFLOW_INVALID_ARGUMENT(
          "Asserted %s transformation at offset %lld but encountered %s transformation instead.", readers_[i].c_str(),
          static_cast<long long>(i), name.c_str());
    }
    return input().MakeIterator(context, place.Child(type()), iterator);
  }

 private:
  // From the outermost to the next, by TensorFlow's names: there the iterator of a cache has another inside.
  static std::vector<std::string> ReadersAt(const Place& place) {
    std::vector<std::string> names;
    bool is_part = false;
    std::istringstream path(place.path());
    for (std::string name; std::getline(path, name, '/');) {
      if (name.empty()) continue;
      // The map whose results it batches is a part of it.
      if (!names.empty() && names.back() == "MapAndBatch" && !is_part) {
        is_part = true;
        continue;
      }
      is_part = false;
      names.push_back(name);
      if (name == "MemoryCache") names.push_back("MemoryCacheImpl");
    }
    return names;
  }

  std::vector<std::string> readers_;
};

}  // namespace

DatasetPtr Optimize(const DatasetPtr& dataset, const RewritesPtr& rewrites) {
  DatasetPtr made = RewriteAll(dataset, rewrites);
  return rewrites->Has("inject_prefetch") ? InjectPrefetch(made, false) : made;
}

DatasetPtr MakeTransparentDataset(const char* type, DatasetPtr input, bool is_opaque) {
  return std::make_shared<TransparentDataset>(type, std::move(input), is_opaque);
}

DatasetPtr MakeAssertNextDataset(TupleSpec spec, DatasetPtr input, std::vector<std::string> readers) {
  return std::make_shared<AssertNextDataset>(std::move(spec), std::move(input), std::move(readers));
}

}  // namespace stillflow
