// A LearnerConfig as a message, and the trees that it drops.
#include "state_kernels/gradient_trees/learner_config.h"

#include <algorithm>

#include "arithmetic/random/philox.h"
#include "state_kernels/boosted_trees/message_fields.h"

namespace stillflow::gradient_trees {
namespace {

using boosted_trees::ReadFloat;
using boosted_trees::ReadInt;
using io::Bytes;
using io::WireReader;
using io::WireType;

bool ParseDropout(Bytes bytes, DropoutConfig* dropout) {
  WireReader reader(bytes);
  while (reader.NextField()) {
    if (reader.Is(1, WireType::kFixed32)) {
      dropout->probability = ReadFloat(&reader);
    } else if (reader.Is(2, WireType::kFixed32)) {
      dropout->skip_probability = ReadFloat(&reader);
    } else {
      reader.Skip();
    }
  }
  return reader.ok();
}

// The tuner is the last one that is there; of those only dropout matters here.
bool ParseTuner(Bytes bytes, LearnerConfig* config) {
  WireReader reader(bytes);
  while (reader.NextField()) {
    if (reader.type != WireType::kBytes || reader.field > 3) {
      reader.Skip();
      continue;
    }
    const Bytes content = reader.LengthDelimited();
    config->has_dropout = reader.field == 2;
    if (config->has_dropout && !ParseDropout(content, &config->dropout)) return false;
  }
  return reader.ok();
}

bool ParseConstraints(Bytes bytes, LearnerConfig* config) {
  WireReader reader(bytes);
  while (reader.NextField()) {
    if (reader.Is(3, WireType::kVarint)) {
      config->max_columns = static_cast<int64_t>(reader.Varint());
    } else {
      reader.Skip();
    }
  }
  return reader.ok();
}

bool ParseAveraging(Bytes bytes, LearnerConfig* config) {
  WireReader reader(bytes);
  while (reader.NextField()) {
    if (reader.type != WireType::kFixed32 || reader.field > 2) {
      reader.Skip();
      continue;
    }
    config->averaging = static_cast<LearnerConfig::Averaging>(reader.field);
    config->averaged = ReadFloat(&reader);
  }
  return reader.ok();
}

bool ParseMessageField(uint32_t field, Bytes content, LearnerConfig* config) {
  if (field == 5) return ParseConstraints(content, config);
  if (field == 6) return ParseTuner(content, config);
  if (field == 11) return ParseAveraging(content, config);
  if (field == 13) return ParseTree(content, &config->each_tree_start);
  return true;
}

// Numbers in [0, 1) of a Philox stream, two words each.
class Dice {
 public:
  explicit Dice(uint64_t seed) : position_{seed, 0, 0} {}

  double Roll() {
    const uint64_t high = Word();
    const uint64_t mantissa = (high & 0xFFFFF) << 32 | Word();
    const uint64_t bits = uint64_t{1023} << 52 | mantissa;
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value - 1;
  }

 private:
  uint32_t Word() {
    if (used_ == SF_PHILOX_WORDS) {
      sf_philox_fill(position_, 1, words_);
      position_ = sf_philox_skip(position_, 1);
      used_ = 0;
    }
    return words_[used_++];
  }

  sf_philox position_;
  uint32_t words_[SF_PHILOX_WORDS];
  int used_ = SF_PHILOX_WORDS;
};

}  // namespace

bool LearnerConfig::Parse(Bytes bytes) {
  WireReader reader(bytes);
  while (reader.NextField()) {
    if (reader.type == WireType::kBytes) {
      const uint32_t field = reader.field;
      if (!ParseMessageField(field, reader.LengthDelimited(), this)) return false;
      continue;
    }
    if (reader.type != WireType::kVarint) {
      reader.Skip();
      continue;
    }
    const int32_t value = ReadInt(&reader);
    if (reader.field == 1) num_classes = static_cast<uint32_t>(value);
    if (reader.field == 8) pruning = static_cast<Pruning>(value);
    if (reader.field == 9) growing = static_cast<Growing>(value);
    if (reader.field == 14) each_tree_start_layers = value;
  }
  return reader.ok();
}

Status DroppedTrees(uint64_t seed, const DropoutConfig& config, const std::vector<int32_t>& kept, int32_t count,
                    std::vector<int32_t>* dropped) {
  if (!(config.probability >= 0 && config.probability <= 1)) {
    return STILLFLOW_INVALID_ARGUMENT("Dropout probability must be in [0,1] range");
  }
  if (!(config.skip_probability >= 0 && config.skip_probability <= 1)) {
    return STILLFLOW_INVALID_ARGUMENT("Probability of skipping dropout must be in [0,1] range");
  }
  if (config.probability == 0 || config.skip_probability == 1) return Status();
  Dice dice(seed);
  if (config.skip_probability != 0 && dice.Roll() < static_cast<double>(config.skip_probability)) return Status();
  for (int32_t i = 0; i < count; ++i) {
    if (std::find(kept.begin(), kept.end(), i) != kept.end()) continue;
    if (dice.Roll() < static_cast<double>(config.probability)) dropped->push_back(i);
  }
  return Status();
}

}  // namespace stillflow::gradient_trees
