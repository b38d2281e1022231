// slot_message.h: FertileSlot messages: what a leaf has counted, as checkpoints have it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "io/message_writer.h"
#include "state_kernels/forest/tree.h"

namespace stillflow::forest {

// LeafStat: the weight, and one or two vectors of numbers: the classes' counts, or outputs' sums and squares.
struct LeafStat {
  float weight = 0;
  std::vector<float> counts, squares;
};

struct Candidate {
  Split split;
  LeafStat left;
};

struct Slot {
  bool has_stats = false;
  LeafStat total;
  std::vector<Candidate> candidates;
};

enum class SlotKind { kDense, kSparse, kRegression };

// The fields of candidates, and of what all examples are; a slot's node and depth come between them.
std::string SlotBytes(const Slot& slot, SlotKind kind);
std::string TotalBytes(const Slot& slot, SlotKind kind);
bool ParseSlot(io::Bytes bytes, int64_t outputs, Slot* slot);

}  // namespace stillflow::forest
