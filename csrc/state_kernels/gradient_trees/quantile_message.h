// quantile_message.h: quantile summaries as bytes of the messages of quantiles.proto.
#pragma once

#include <string>
#include <vector>

#include "state_kernels/boosted_trees/message_fields.h"
#include "state_kernels/boosted_trees/quantiles.h"

namespace stillflow::gradient_trees {

using boosted_trees::QuantileEntry;
using boosted_trees::QuantileStream;
using boosted_trees::QuantileSummary;

// A QuantileSummaryState.
inline std::string SummaryBytes(const QuantileSummary& summary) {
  std::string bytes;
  io::MessageWriter writer(&bytes);
  for (const QuantileEntry& entry : summary.entries()) {
    std::string content;
    io::MessageWriter inner(&content);
    boosted_trees::WriteFloat(1, entry.value, &inner);
    boosted_trees::WriteFloat(2, entry.weight, &inner);
    boosted_trees::WriteFloat(3, entry.min_rank, &inner);
    boosted_trees::WriteFloat(4, entry.max_rank, &inner);
    writer.Field(1, content);
  }
  return bytes;
}

inline bool ParseEntry(io::Bytes bytes, QuantileEntry* entry) {
  float* const numbers[] = {&entry->value, &entry->weight, &entry->min_rank, &entry->max_rank};
  io::WireReader reader(bytes);
  while (reader.NextField()) {
    if (reader.type == io::WireType::kFixed32 && reader.field <= 4) {
      *numbers[reader.field - 1] = boosted_trees::ReadFloat(&reader);
    } else {
      reader.Skip();
    }
  }
  return reader.ok();
}

inline bool ParseSummary(io::Bytes bytes, QuantileSummary* summary) {
  std::vector<QuantileEntry> entries;
  io::WireReader reader(bytes);
  while (reader.NextField()) {
    if (!reader.Is(1, io::WireType::kBytes)) {
      reader.Skip();
    } else if (!ParseEntry(reader.LengthDelimited(), &entries.emplace_back(QuantileEntry{0, 0, 0, 0}))) {
      return false;
    }
  }
  *summary = QuantileSummary(std::move(entries));
  return reader.ok();
}

// A QuantileStreamState: the levels of a stream, and a last summary, which is empty between updates.
inline std::string StreamBytes(const QuantileStream& stream) {
  std::string bytes;
  io::MessageWriter writer(&bytes);
  for (const QuantileSummary& level : stream.levels()) writer.Field(1, SummaryBytes(level));
  writer.Field(1, std::string());
  return bytes;
}

inline bool ParseLevels(io::Bytes bytes, std::vector<QuantileSummary>* levels) {
  io::WireReader reader(bytes);
  while (reader.NextField()) {
    if (!reader.Is(1, io::WireType::kBytes)) {
      reader.Skip();
    } else if (!ParseSummary(reader.LengthDelimited(), &levels->emplace_back())) {
      return false;
    }
  }
  if (!levels->empty()) levels->pop_back();
  return reader.ok();
}

struct QuantileConfig {
  double eps = 0;
  int64_t num_quantiles = 0;
};

inline bool ParseQuantileConfig(io::Bytes bytes, QuantileConfig* config) {
  io::WireReader reader(bytes);
  while (reader.NextField()) {
    if (reader.Is(1, io::WireType::kFixed64)) {
      const uint64_t bits = reader.Fixed64();
      std::memcpy(&config->eps, &bits, sizeof bits);
    } else if (reader.Is(2, io::WireType::kVarint)) {
      config->num_quantiles = static_cast<int64_t>(reader.Varint());
    } else {
      reader.Skip();
    }
  }
  return reader.ok();
}

}  // namespace stillflow::gradient_trees
