// params.h: the settings of a random forest (TensorForestParams) and what its input is made of.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "io/wire.h"
#include "kernel_api/kernel.h"

namespace stillflow::forest {

// A number that may depend on a node's depth.
struct DepthParam {
  enum Kind { kNone, kConstant, kLinear, kExponential, kThreshold };
  Kind kind = kNone;
  float values[4] = {0, 0, 0, 0};

  float At(int depth) const {
    const auto level = static_cast<float>(depth);
    switch (kind) {
      case kConstant:
        return values[0];
      case kLinear:
        return std::min(std::max(level * values[0] + values[1], values[2]), values[3]);
      case kExponential:
        return values[0] + values[2] * std::pow(values[1], values[3] * level);
      case kThreshold:
        return level >= values[2] ? values[0] : values[1];
      default:
        return 0;
    }
  }

  bool Parse(io::Bytes bytes) {
    io::WireReader reader(bytes);
    while (reader.NextField()) {
      if (reader.Is(kConstant, io::WireType::kFixed32)) {
        kind = kConstant;
        values[0] = FloatOf(reader.Fixed32());
      } else if (reader.field > kConstant && reader.field <= kThreshold && reader.type == io::WireType::kBytes) {
        kind = static_cast<Kind>(reader.field);
        io::WireReader parts(reader.LengthDelimited());
        while (parts.NextField()) {
          if (parts.field <= 4 && parts.type == io::WireType::kFixed32) {
            values[parts.field - 1] = FloatOf(parts.Fixed32());
          } else {
            parts.Skip();
          }
        }
        if (!parts.ok()) return false;
      } else {
        reader.Skip();
      }
    }
    return reader.ok();
  }

  static float FloatOf(uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
};

// Numbers as tensor_forest_params.proto has them.
enum LeafType { kDenseLeaf, kSparseLeaf, kRegressionLeaf, kSparseOrDenseLeaf };
enum StatsType { kDenseGini, kSparseGini, kLeastSquares };
enum PruningType { kPruneNone, kPruneHalf, kPruneQuarter, kPruneTenth, kPruneHoeffding };
enum FinishType { kFinishBasic = 0, kFinishHoeffding = 2, kFinishBootstrap = 3 };

struct Params {
  int leaf_type = 0, stats_type = 0, collection_type = 0, pruning_type = 0, finish_type = 0, inequality_type = 0;
  int64_t max_nodes = 0, num_features = 0, num_outputs = 0;
  bool is_regression = false, checkpoint_stats = false, initialize_average_splits = false;
  bool inference_tree_paths = false;
  DepthParam prune_every, check_every, num_splits_to_consider, split_after_samples, dominate_fraction;
  DepthParam min_split_samples;

  // Refuses what there are no statistics for.
  Status Parse(const Attr& attr) {
    io::WireReader reader({static_cast<const char*>(attr.data), static_cast<size_t>(attr.size)});
    bool is_parsed = true;
    while (is_parsed && reader.NextField()) is_parsed = ParseField(&reader);
    if (!is_parsed || !reader.ok()) return STILLFLOW_INVALID_ARGUMENT("Unable to parse the params of a forest.");
    if (num_outputs < 1 || num_outputs > 1 << 24) {
      return STILLFLOW_INVALID_ARGUMENT("A forest has no %lld outputs.", static_cast<long long>(num_outputs));
    }
    if (leaf_type > kSparseOrDenseLeaf) return STILLFLOW_INVALID_ARGUMENT("Unknown model operator: %d", leaf_type);
    if (stats_type > kLeastSquares) return STILLFLOW_INVALID_ARGUMENT("Unknown grow stats type: %d", stats_type);
    if (collection_type != 0) {
      return STILLFLOW_INVALID_ARGUMENT("Unknown split collection operator: %d", collection_type);
    }
    if ((leaf_type == kRegressionLeaf) != (stats_type == kLeastSquares)) {
      return STILLFLOW_INVALID_ARGUMENT("Leaves of type %d do not go with statistics of type %d.", leaf_type,
                                        stats_type);
    }
    if (finish_type == kFinishBasic) return Status();
    if (finish_type != kFinishHoeffding) {
      return STILLFLOW_INVALID_ARGUMENT("Unknown split finish strategy: %d", finish_type);
    }
    if (dominate_fraction.kind == DepthParam::kNone || min_split_samples.kind == DepthParam::kNone) {
      return STILLFLOW_INVALID_ARGUMENT(
          "dominate_fraction and min_split_samples required for early-finish strategy.");
    }
    return Status();
  }

 private:
  // A number in a message of its own, and the type beside it.
  static bool ParseConfig(io::Bytes bytes, DepthParam* param, int* kind) {
    io::WireReader reader(bytes);
    bool is_parsed = true;
    while (is_parsed && reader.NextField()) {
      if (reader.Is(1, io::WireType::kBytes)) {
        is_parsed = param->Parse(reader.LengthDelimited());
      } else if (reader.Is(2, io::WireType::kVarint)) {
        *kind = static_cast<int>(reader.Varint());
      } else {
        reader.Skip();
      }
    }
    return is_parsed && reader.ok();
  }

  bool ParseField(io::WireReader* reader) {
    if (reader->type == io::WireType::kVarint) {
      const uint32_t field = reader->field;
      SetNumber(field, static_cast<int64_t>(reader->Varint()));
      return true;
    }
    if (reader->type != io::WireType::kBytes) {
      reader->Skip();
      return true;
    }
    const io::Bytes bytes = reader->LengthDelimited();
    switch (reader->field) {
      case 4:
        return ParseConfig(bytes, &prune_every, &pruning_type);
      case 5:
        return ParseConfig(bytes, &check_every, &finish_type);
      case 13:
        return num_splits_to_consider.Parse(bytes);
      case 14:
        return split_after_samples.Parse(bytes);
      case 15:
        return dominate_fraction.Parse(bytes);
      case 18:
        return min_split_samples.Parse(bytes);
      default:
        return true;
    }
  }

  void SetNumber(uint32_t field, int64_t value) {
    const int kind = static_cast<int>(std::clamp<int64_t>(value, -1, 100));
    switch (field) {
      case 1:
        leaf_type = kind;
        break;
      case 2:
        stats_type = kind;
        break;
      case 3:
        collection_type = kind;
        break;
      case 7:
        max_nodes = value;
        break;
      case 8:
        is_regression = value != 0;
        break;
      case 11:
        checkpoint_stats = value != 0;
        break;
      case 12:
        num_outputs = value;
        break;
      case 19:
        inequality_type = kind;
        break;
      case 21:
        num_features = value;
        break;
      case 22:
        initialize_average_splits = value != 0;
        break;
      case 23:
        inference_tree_paths = value != 0;
        break;
      default:
        break;
    }
  }
};

}  // namespace stillflow::forest
