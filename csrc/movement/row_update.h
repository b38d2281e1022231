// row_update.h: rows of a table changed by rows of updates, several of which may fall on one row.
//
// Updates of one row apply in the order in which they are given, whatever threads do them: the table's rows are
// dealt out to parts, and one thread does a part's updates.
#pragma once

#include <algorithm>

#include "math/scalar.h"
#include "movement/prefetch.h"

namespace stillflow {

// ---- What an update does to an element --------------------------------------------------------------------

// Integers wrap around.
template <typename T>
inline T WrappingAdd(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <typename T>
inline T WrappingSub(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
template <typename T>
inline T WrappingMul(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

struct SetTo {
  template <typename T>
  static T Apply(T, T b) {
    return b;
  }
};
struct AddTo {
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (kIsFloating<T>) {
      return Narrow<T>(Widen(a) + Widen(b));
    } else {
      return WrappingAdd(a, b);
    }
  }
};
struct SubtractFrom {
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (kIsFloating<T>) {
      return Narrow<T>(Widen(a) - Widen(b));
    } else {
      return WrappingSub(a, b);
    }
  }
};
struct MultiplyBy {
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (kIsFloating<T>) {
      return Narrow<T>(Widen(a) * Widen(b));
    } else {
      return WrappingMul(a, b);
    }
  }
};
// The caller makes sure that no integer is divided by 0.
struct DivideBy {
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (kIsFloating<T>) {
      return Narrow<T>(Widen(a) / Widen(b));
    } else if constexpr (std::is_signed_v<T>) {
      return b == T(-1) ? WrappingSub(T{0}, a) : static_cast<T>(a / b);  // the smallest integer by -1 wraps
    } else {
      return static_cast<T>(a / b);
    }
  }
};
template <typename T>
inline bool IsLess(T a, T b) {
  if constexpr (kIsFloating<T>) {
    return Widen(a) < Widen(b);
  } else {
    return a < b;
  }
}
struct KeepLess {
  template <typename T>
  static T Apply(T a, T b) {
    return IsLess(b, a) ? b : a;
  }
};
struct KeepGreater {
  template <typename T>
  static T Apply(T a, T b) {
    return IsLess(a, b) ? b : a;
  }
};

// ---- Rows ---------------------------------------------------------------------------------------------------

// `count` updates of `width` elements; update i changes row rows[i] of the table, or nothing if that is negative.
// With an update_stride of 0 all updates are the same. With a scale they are multiplied by it first.
template <typename T>
struct RowUpdates {
  T* table;
  const int64_t* rows;
  int64_t count;
  int64_t width;
  const T* updates;
  int64_t update_stride;
  const T* scale = nullptr;
};

constexpr int64_t kMostParts = 256;

// Which part a row belongs to. Rows that share a cache line mostly share a part; neighbours do not, because low row
// numbers are often the frequent ones.
struct Dealing {
  int shift;      // log2 of the rows that go to one part together
  int64_t parts;  // a power of two

  int64_t PartOf(int64_t row) const { return row >> shift & (parts - 1); }
};

template <typename Operation, typename T>
inline void UpdateRow(T* to, const T* from, int64_t width, const T* scale = nullptr) {
  if (scale == nullptr) {
    for (int64_t i = 0; i < width; ++i) to[i] = Operation::template Apply<T>(to[i], from[i]);
  } else {
    const T factor = *scale;
    for (int64_t i = 0; i < width; ++i) {
      to[i] = Operation::template Apply<T>(to[i], MultiplyBy::Apply<T>(from[i], factor));
    }
  }
}

// Does updates number(0), number(1), ... number(count - 1).
template <typename Operation, typename T, typename Number>
STILLFLOW_INLINE void UpdateNumbered(const RowUpdates<T>& work, int64_t count, const Number& number) {
  const int64_t row_bytes = work.width * static_cast<int64_t>(sizeof(T));
  const int64_t ahead = RowsAhead(row_bytes, kRandomBytesAhead);
  int64_t fetched = 0;
  for (int64_t i = 0; i < count; ++i) {
    for (; fetched < std::min(i + ahead, count); ++fetched) {
      const int64_t next = number(fetched);
      if (work.rows[next] >= 0) PrefetchRow(work.table + work.rows[next] * work.width, row_bytes);
      PrefetchRow(work.updates + next * work.update_stride, row_bytes);
    }
    const int64_t update = number(i);
    if (work.rows[update] < 0) continue;
    UpdateRow<Operation>(work.table + work.rows[update] * work.width, work.updates + update * work.update_stride,
                         work.width, work.scale);
  }
}

template <typename Operation, typename T>
void UpdateListed(const RowUpdates<T>& work, const int64_t* list, int64_t count) {
  UpdateNumbered<Operation>(work, count, [list](int64_t i) { return list[i]; });
}

// All updates, by the calling thread.
template <typename Operation, typename T>
void UpdateInOrder(const RowUpdates<T>& work) {
  if (work.width > 1) return UpdateNumbered<Operation>(work, work.count, [](int64_t i) { return i; });
  for (int64_t i = 0; i < work.count; ++i) {
    if (work.rows[i] >= 0)
      UpdateRow<Operation>(work.table + work.rows[i], work.updates + i * work.update_stride, 1, work.scale);
  }
}

// The updates of each part in their order, as lists for each block of `per_block` updates.
class PartLists {
 public:
  PartLists(const KernelCall& call, const Dealing& dealing, int64_t count, int64_t per_block)
      : dealing_(dealing),
        count_(count),
        per_block_(per_block),
        blocks_((count + per_block - 1) / per_block),
        begins_(call, blocks_ * (dealing.parts + 1) * static_cast<int64_t>(sizeof(int64_t))),
        list_(call, count * static_cast<int64_t>(sizeof(int64_t))) {}
  bool ok() const { return begins_.ok() && list_.ok(); }
  int64_t blocks() const { return blocks_; }

  Status Fill(const KernelCall& call, const int64_t* rows) {
    return ForEachChunk(call, blocks_, 1, [&](Range blocks) {
      for (int64_t block = blocks.begin; block < blocks.end; ++block) FillBlock(block, rows);
    });
  }

  const int64_t* List(int64_t block, int64_t part) const { return list_.data<int64_t>() + BeginsOf(block)[part]; }
  int64_t Count(int64_t block, int64_t part) const { return BeginsOf(block)[part + 1] - BeginsOf(block)[part]; }

 private:
  int64_t* BeginsOf(int64_t block) const { return begins_.data<int64_t>() + block * (dealing_.parts + 1); }

  void FillBlock(int64_t block, const int64_t* rows) {
    const int64_t first = block * per_block_;
    const int64_t end = std::min(first + per_block_, count_);
    int64_t* begins = BeginsOf(block);
    std::fill_n(begins, dealing_.parts + 1, 0);
    for (int64_t i = first; i < end; ++i) begins[dealing_.PartOf(rows[i]) + 1] += rows[i] >= 0;
    begins[0] = first;
    for (int64_t part = 0; part < dealing_.parts; ++part) begins[part + 1] += begins[part];
    int64_t ends[kMostParts];
    std::copy_n(begins, dealing_.parts, ends);
    int64_t* list = list_.data<int64_t>();
    for (int64_t i = first; i < end; ++i) {
      if (rows[i] >= 0) list[ends[dealing_.PartOf(rows[i])]++] = i;
    }
  }

  const Dealing dealing_;
  const int64_t count_;
  const int64_t per_block_;
  const int64_t blocks_;
  const Scratch begins_;
  const Scratch list_;
};

template <typename Operation, typename T>
Status UpdateRows(const KernelCall& call, const RowUpdates<T>& work) {
  constexpr int64_t kBytesPerPart = 128 << 10;    // fewer bytes cost more to bring to another core than to add
  constexpr int64_t kBytesPerThread = 512 << 10;  // of a block of updates
  constexpr int64_t kPartsPerThread = 4;          // frequent rows make parts unequal
  const int64_t row_bytes = work.width * static_cast<int64_t>(sizeof(T));
  if (row_bytes == 0 || work.count == 0) return Status();
  Dealing dealing{row_bytes < kLineBytes ? 63 - __builtin_clzll(kLineBytes / row_bytes) : 0, 1};
  const int64_t threads = call.services->thread_count(call.run);
  const int64_t most = threads > 1 ? std::min(threads * kPartsPerThread, kMostParts) : 1;
  const int64_t wanted = std::min(most, work.count * row_bytes / kBytesPerPart);
  while (dealing.parts * 2 <= wanted) dealing.parts *= 2;
  if (dealing.parts == 1) {
    UpdateInOrder<Operation>(work);
    return Status();
  }
  const int64_t per_block = std::max<int64_t>(threads * kBytesPerThread / row_bytes, 1024);
  PartLists lists(call, dealing, work.count, per_block);
  if (!lists.ok()) return OutOfScratch();
  STILLFLOW_RETURN_IF_ERROR(lists.Fill(call, work.rows));
  // Block by block: every thread passes over the updates, which it should find in a cache.
  for (int64_t block = 0; block < lists.blocks(); ++block) {
    STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, dealing.parts, 1, [&](Range parts) {
      for (int64_t part = parts.begin; part < parts.end; ++part) {
        UpdateListed<Operation>(work, lists.List(block, part), lists.Count(block, part));
      }
    }));
  }
  return Status();
}

}  // namespace stillflow
