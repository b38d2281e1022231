// id_table.h: a hash table from int64 ids to positions, of a size that is known beforehand.
#pragma once

#include "kernel_api/kernel.h"

namespace stillflow {

class IdTable {
 public:
  // Room for `most` different ids.
  IdTable(const KernelCall& call, int64_t most)
      : slots_(SlotsFor(most)), memory_(call, slots_ * static_cast<int64_t>(sizeof(Entry))) {
    if (!memory_.ok()) return;
    for (int64_t i = 0; i < slots_; ++i) memory_.data<Entry>()[i].position = kAbsent;
  }
  bool ok() const { return memory_.ok(); }

  // Puts an id there unless it is; says whether it was not.
  bool Insert(int64_t id, int64_t position) {
    Entry* entry = Find(id);
    if (entry->position != kAbsent) return false;
    *entry = {id, position};
    return true;
  }
  void Set(int64_t id, int64_t position) { *Find(id) = {id, position}; }
  // The position of an id, or -1.
  int64_t Position(int64_t id) const { return Find(id)->position; }

 private:
  static constexpr int64_t kAbsent = -1;
  struct Entry {
    int64_t id;
    int64_t position;
  };

  // At most half full.
  static int64_t SlotsFor(int64_t most) {
    int64_t slots = 16;
    while (slots < 2 * most) slots *= 2;
    return slots;
  }
  Entry* Find(int64_t id) const {
    const auto hash = static_cast<uint64_t>(id) * 0x9E3779B97F4A7C15u;
    auto slot = static_cast<int64_t>(hash >> 32) & (slots_ - 1);
    Entry* const entries = memory_.data<Entry>();
    while (entries[slot].position != kAbsent && entries[slot].id != id) slot = (slot + 1) & (slots_ - 1);
    return entries + slot;
  }

  int64_t slots_;
  Scratch memory_;
};

}  // namespace stillflow
