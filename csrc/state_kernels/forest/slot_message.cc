#include "state_kernels/forest/slot_message.h"

namespace stillflow::forest {
namespace {

using io::Bytes;
using io::MessageWriter;
using io::WireReader;
using io::WireType;

std::string VectorBytes(const std::vector<float>& numbers) {
  std::string bytes;
  for (const float number : numbers) {
    std::string value;
    MessageWriter(&value).Float(1, number);
    MessageWriter(&bytes).Field(1, value);
  }
  return bytes;
}

std::string SparseBytes(const std::vector<float>& numbers) {
  std::string bytes;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == 0) continue;
    std::string value, entry;
    MessageWriter(&value).Float(1, numbers[i]);
    MessageWriter(&entry).Varint(1, i);
    MessageWriter(&entry).Field(2, value);
    MessageWriter(&bytes).Field(1, entry);
  }
  return bytes;
}

std::string StatBytes(const LeafStat& stat, SlotKind kind) {
  std::string counts, bytes;
  MessageWriter writer(&bytes);
  if (kind == SlotKind::kRegression) {
    MessageWriter(&counts).Field(1, VectorBytes(stat.counts));
    MessageWriter(&counts).Field(2, VectorBytes(stat.squares));
    writer.Field(2, counts);
  } else {
    const bool is_dense = kind == SlotKind::kDense;
    MessageWriter(&counts).Field(is_dense ? 1 : 2, is_dense ? VectorBytes(stat.counts) : SparseBytes(stat.counts));
    writer.Field(1, counts);
  }
  if (stat.weight != 0) writer.Float(3, stat.weight);
  return bytes;
}

template <typename Take>
bool ForMessages(Bytes bytes, const Take& take) {
  WireReader reader(bytes);
  while (reader.NextField()) {
    if (reader.type != WireType::kBytes) {
      reader.Skip();
    } else if (const uint32_t field = reader.field; !take(field, reader.LengthDelimited())) {
      return false;
    }
  }
  return reader.ok();
}

// Value.float_value
bool ParseNumber(Bytes bytes, float* number) {
  WireReader reader(bytes);
  while (reader.NextField()) {
    if (reader.Is(1, WireType::kFixed32)) {
      *number = DepthParam::FloatOf(reader.Fixed32());
    } else {
      reader.Skip();
    }
  }
  return reader.ok();
}

bool ParseVector(Bytes bytes, std::vector<float>* numbers) {
  size_t next = 0;
  return ForMessages(bytes, [&](uint32_t field, Bytes value) {
    return field != 1 || (next < numbers->size() && ParseNumber(value, &(*numbers)[next++]));
  });
}

bool ParseEntry(Bytes bytes, std::vector<float>* numbers) {
  WireReader reader(bytes);
  uint64_t key = 0;
  float number = 0;
  while (reader.NextField()) {
    if (reader.Is(1, WireType::kVarint)) {
      key = reader.Varint();
    } else if (reader.Is(2, WireType::kBytes)) {
      if (!ParseNumber(reader.LengthDelimited(), &number)) return false;
    } else {
      reader.Skip();
    }
  }
  if (!reader.ok() || key >= numbers->size()) return false;
  (*numbers)[key] = number;
  return true;
}

bool ParseCounts(uint32_t kind, Bytes bytes, LeafStat* stat) {
  return ForMessages(bytes, [&](uint32_t field, Bytes value) {
    if (field > 2) return true;
    if (kind == 2) return ParseVector(value, field == 1 ? &stat->counts : &stat->squares);
    if (field == 1) return ParseVector(value, &stat->counts);
    return ForMessages(value,
                       [&](uint32_t number, Bytes entry) { return number != 1 || ParseEntry(entry, &stat->counts); });
  });
}

bool ParseStat(Bytes bytes, int64_t outputs, LeafStat* stat) {
  stat->counts.assign(outputs, 0);
  stat->squares.assign(outputs, 0);
  WireReader reader(bytes);
  while (reader.NextField()) {
    if (reader.Is(3, WireType::kFixed32)) {
      stat->weight = DepthParam::FloatOf(reader.Fixed32());
    } else if (reader.type == WireType::kBytes && reader.field <= 2) {
      const uint32_t kind = reader.field;
      if (!ParseCounts(kind, reader.LengthDelimited(), stat)) return false;
    } else {
      reader.Skip();
    }
  }
  return reader.ok();
}

}  // namespace

std::string SlotBytes(const Slot& slot, SlotKind kind) {
  std::string bytes;
  MessageWriter writer(&bytes);
  for (const Candidate& candidate : slot.candidates) {
    std::string message;
    MessageWriter(&message).Field(1, SplitBytes(candidate.split, false, 0, 0));
    MessageWriter(&message).Field(4, StatBytes(candidate.left, kind));
    writer.Field(1, message);
  }
  return bytes;
}

std::string TotalBytes(const Slot& slot, SlotKind kind) { return StatBytes(slot.total, kind); }

bool ParseSlot(Bytes bytes, int64_t outputs, Slot* slot) {
  slot->total.counts.assign(outputs, 0);
  slot->total.squares.assign(outputs, 0);
  return ForMessages(bytes, [&](uint32_t field, Bytes value) {
    if (field == 6) {
      slot->has_stats = true;
      return ParseStat(value, outputs, &slot->total);
    }
    if (field != 1) return true;
    slot->candidates.emplace_back();
    Candidate& candidate = slot->candidates.back();
    candidate.left.counts.assign(outputs, 0);
    candidate.left.squares.assign(outputs, 0);
    int64_t unused = 0;
    return ForMessages(value, [&](uint32_t number, Bytes part) {
      if (number == 1) return ParseSplit(part, &candidate.split, &unused, &unused);
      return number != 4 || ParseStat(part, outputs, &candidate.left);
    });
  });
}

}  // namespace stillflow::forest
