// learner_config.h: what kernels read of a LearnerConfig, a message of tf.contrib.boosted_trees.
#pragma once

#include "state_kernels/gradient_trees/tree_config.h"

namespace stillflow::gradient_trees {

// Trees that are left out while others grow (Rashmi and Gilad-Bachrach, "DART", 2015).
struct DropoutConfig {
  float probability = 0;
  float skip_probability = 0;
};

struct LearnerConfig {
  enum class Pruning { kUnspecified = 0, kBefore = 1, kAfter = 2 };
  enum class Growing { kUnspecified = 0, kWholeTree = 1, kLayerByLayer = 2 };
  enum class Averaging { kNone = 0, kLastTrees = 1, kLastShare = 2 };

  bool Parse(io::Bytes bytes);

  uint32_t num_classes = 0;
  int64_t max_columns = 0;  // how many columns a model may use, or 0
  Pruning pruning = Pruning::kUnspecified;
  Growing growing = Growing::kUnspecified;
  bool has_dropout = false;
  DropoutConfig dropout;
  Averaging averaging = Averaging::kNone;
  float averaged = 0;  // so many of the last trees, or which share of all
  Tree each_tree_start;
  int32_t each_tree_start_layers = 0;
};

// The trees that are dropped by a seed, in ascending order, but for those of `kept`.
Status DroppedTrees(uint64_t seed, const DropoutConfig& config, const std::vector<int32_t>& kept, int32_t count,
                    std::vector<int32_t>* dropped);

}  // namespace stillflow::gradient_trees
