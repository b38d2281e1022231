// The rewrites that TensorFlow makes of a pipeline before it runs, those that change which elements come or when.
#include <algorithm>

#include "datasets/kinds.h"

namespace stillflow {
namespace {

class Rewriter {
 public:
  explicit Rewriter(const std::vector<std::string>& rewrites)
      : drops_idle_(Contains(rewrites, "noop_elimination")),
        fuses_shuffles_(Contains(rewrites, "shuffle_and_repeat_fusion")) {}

  DatasetPtr Rewrite(const DatasetPtr& dataset) const {
    std::vector<DatasetPtr> inputs;
    for (const DatasetPtr& input : dataset->inputs()) inputs.push_back(Rewrite(input));
    if (drops_idle_ && IsIdle(*dataset)) return inputs[0];
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
};

}  // namespace

DatasetPtr Optimize(const DatasetPtr& dataset, const std::vector<std::string>& rewrites) {
  return Rewriter(rewrites).Rewrite(dataset);
}

}  // namespace stillflow
