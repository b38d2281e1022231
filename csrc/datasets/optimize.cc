// The rewrites that TensorFlow makes of a pipeline before it runs, those that change which elements come or when and
// those that spare calls, and what looks at their result.
#include <algorithm>
#include <sstream>

#include "datasets/functional.h"
#include "datasets/kinds.h"

namespace stillflow {
namespace {

class Rewriter {
 public:
  explicit Rewriter(const std::vector<std::string>& rewrites)
      : drops_idle_(Contains(rewrites, "noop_elimination")),
        fuses_shuffles_(Contains(rewrites, "shuffle_and_repeat_fusion")),
        fuses_filters_(Contains(rewrites, "filter_fusion")) {}

  DatasetPtr Rewrite(const DatasetPtr& dataset) const {
    std::vector<DatasetPtr> inputs;
    for (const DatasetPtr& input : dataset->inputs()) inputs.push_back(Rewrite(input));
    if (drops_idle_ && IsIdle(*dataset)) return inputs[0];
    if (fuses_filters_ && inputs.size() == 1) {
      if (DatasetPtr fused = FuseFilters(*dataset, *inputs[0])) return fused;
    }
    const auto* repeat = dynamic_cast<const RepeatDataset*>(dataset.get());
    if (fuses_shuffles_ && repeat != nullptr && repeat->count() != 0) {
      const auto* shuffle = dynamic_cast<const ShuffleDataset*>(inputs[0].get());
      if (shuffle != nullptr && shuffle->reshuffles()) {
        return MakeShuffleAndRepeatDataset(repeat->spec(), shuffle->inputs()[0], shuffle->options(), repeat->count());
      }
    }
    return inputs == dataset->inputs() ? dataset : dataset->WithInputs(std::move(inputs));
  }

 private:
  static bool Contains(const std::vector<std::string>& names, const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
  static bool IsIdle(const Dataset& dataset) {
    if (const auto* take = dynamic_cast<const TakeDataset*>(&dataset)) return take->takes_all();
    if (const auto* skip = dynamic_cast<const SkipDataset*>(&dataset)) return skip->skips_nothing();
    if (const auto* repeat = dynamic_cast<const RepeatDataset*>(&dataset)) return repeat->count() == 1;
    return false;
  }

  const bool drops_idle_;
  const bool fuses_shuffles_;
  const bool fuses_filters_;
};

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
    std::istringstream path(place.path());
    for (std::string name; std::getline(path, name, '/');) {
      if (name.empty()) continue;
      names.push_back(name);
      if (name == "MemoryCache") names.push_back("MemoryCacheImpl");
    }
    return names;
  }

  std::vector<std::string> readers_;
};

}  // namespace

DatasetPtr Optimize(const DatasetPtr& dataset, const std::vector<std::string>& rewrites) {
  return Rewriter(rewrites).Rewrite(dataset);
}

DatasetPtr MakeAssertNextDataset(TupleSpec spec, DatasetPtr input, std::vector<std::string> readers) {
  return std::make_shared<AssertNextDataset>(std::move(spec), std::move(input), std::move(readers));
}

}  // namespace stillflow
