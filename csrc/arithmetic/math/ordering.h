// ordering.h: the largest elements of a row in descending order: of equal ones the first comes first, NaN before all.
//
// An element becomes a key, an unsigned integer that is less the earlier the element comes, and with its index an
// item. No two items are equal, so every way of sorting them ends in the same order.
#pragma once

#include <algorithm>
#include <limits>

#include "arithmetic/math/lanes.h"

namespace stillflow {

// ---- Keys ---------------------------------------------------------------------------------------------------

template <typename T>
using KeyOf = WordOf<T>;

// The bits of the type's infinity, above which NaNs lie.
template <typename T>
constexpr KeyOf<T> kInfinityBits = 0;
template <>
inline constexpr uint32_t kInfinityBits<float> = 0x7F800000;
template <>
inline constexpr uint64_t kInfinityBits<double> = uint64_t{0x7FF} << 52;

// Denormal numbers count as zero, as they do in arithmetic.
template <typename T>
STILLFLOW_INLINE KeyOf<T> DescendingKey(T x) {
  using Key = KeyOf<T>;
  constexpr Key kSign = static_cast<Key>(Key{1} << (sizeof(Key) * 8 - 1));
  const auto bits = BitCast<Key>(x);
  if constexpr (kIsFloating<T>) {
    constexpr Key kInfinity = kInfinityBits<T>;
    const auto magnitude = static_cast<Key>(bits & ~kSign);
    const bool is_zero = (magnitude & kInfinity) == 0;
    const Key number = is_zero ? Key{0} : bits;
    const auto changed = static_cast<Key>(((number >> (sizeof(Key) * 8 - 1)) - 1) & ~kSign);  // of positive numbers
    return magnitude > kInfinity ? Key{0} : static_cast<Key>(number ^ changed);
  } else {
    return static_cast<Key>(bits ^ static_cast<Key>(~kSign));
  }
}

// ---- Items --------------------------------------------------------------------------------------------------

// A key of at most 32 bits above an index is one number.
struct NarrowItem {
  using Key = uint32_t;
  uint64_t bits;
  NarrowItem() = default;
  STILLFLOW_INLINE NarrowItem(Key key, int64_t index)
      : bits(static_cast<uint64_t>(key) << 32 | static_cast<uint64_t>(index)) {}
  STILLFLOW_INLINE Key key() const { return static_cast<Key>(bits >> 32); }
  STILLFLOW_INLINE int32_t index() const { return static_cast<int32_t>(bits); }
  friend STILLFLOW_INLINE bool operator<(NarrowItem a, NarrowItem b) { return a.bits < b.bits; }
};
struct WideItem {
  using Key = uint64_t;
  Key bits;
  int64_t place;
  WideItem() = default;
  STILLFLOW_INLINE WideItem(Key key, int64_t index) : bits(key), place(index) {}
  STILLFLOW_INLINE Key key() const { return bits; }
  STILLFLOW_INLINE int32_t index() const { return static_cast<int32_t>(place); }
  friend STILLFLOW_INLINE bool operator<(const WideItem& a, const WideItem& b) {
    return (a.bits < b.bits) | ((a.bits == b.bits) & (a.place < b.place));
  }
};
template <typename T>
using ItemOf = std::conditional_t<sizeof(T) == 8, WideItem, NarrowItem>;

// ---- Sorting items ------------------------------------------------------------------------------------------

// More are not worth counting.
constexpr int64_t kMostCounted = kRegisterBytes;

// The place of an item is the number of those that come before it.
template <typename Item>
void SortByCounting(const Item* items, int64_t count, Item* to) {
  constexpr int64_t kStep = 8;
  const int64_t whole = (count + kStep - 1) / kStep * kStep;
  Item padded[kMostCounted];
  uint64_t places[kMostCounted];
  for (int64_t i = 0; i < whole; ++i) {
    padded[i] = i < count ? items[i] : Item(0, 0);
    places[i] = 0;
  }
  for (int64_t j = 0; j < count; ++j) {
    const Item item = items[j];
    for (int64_t i = 0; i < whole; ++i) places[i] += item < padded[i] ? 1 : 0;
  }
  for (int64_t i = 0; i < count; ++i) to[places[i]] = items[i];
}

// Sorts items that lie in the order of their indices by digits of their keys, the lowest first. Returns which of the
// two arrays they end in; both are overwritten.
template <int kDigitBits, typename Key, typename Item>
Item* SortByDigits(Item* items, int64_t count, Item* other) {
  constexpr int kValues = 1 << kDigitBits;
  constexpr int kDigits = (static_cast<int>(sizeof(Key)) * 8 + kDigitBits - 1) / kDigitBits;
  const auto digit_of = [](const Item& item, int digit) __attribute__((always_inline)) {
    return item.key() >> digit * kDigitBits & (kValues - 1);
  };
  int32_t begins[kDigits][kValues] = {};
  for (int64_t i = 0; i < count; ++i) {
    for (int digit = 0; digit < kDigits; ++digit) ++begins[digit][digit_of(items[i], digit)];
  }
  for (int digit = 0; digit < kDigits; ++digit) {
    int32_t* const begin = begins[digit];
    if (begin[digit_of(items[0], digit)] == count) continue;
    int32_t sum = 0;
    for (int value = 0; value < kValues; ++value) {
      const int32_t own = begin[value];
      begin[value] = sum;
      sum += own;
    }
    for (int64_t i = 0; i < count; ++i) {
      const Item item = items[i];
      other[begin[digit_of(item, digit)]++] = item;
    }
    std::swap(items, other);
  }
  return items;
}

template <typename Key, typename Item>
Item* SortByDigits(Item* items, int64_t count, Item* other) {
  constexpr int64_t kLeastOfLongDigits = 2048;  // fewer cost less to pass over than many values of a digit
  if (count >= kLeastOfLongDigits) return SortByDigits<11, Key>(items, count, other);
  return SortByDigits<8, Key>(items, count, other);
}

// ---- Choosing -----------------------------------------------------------------------------------------------

// Finds the largest elements of rows, one row after the other, in memory of its own.
template <typename T>
class LargestOfRow {
 public:
  using Item = ItemOf<T>;
  using Key = KeyOf<T>;

  // Whether rows are sorted as a whole.
  static bool TakesAll(int64_t width, int64_t k) { return width < kLeastSieved || width < kSieve * k; }

  LargestOfRow(const KernelCall& call, int64_t width, int64_t k)
      : width_(width),
        k_(k),
        takes_all_(TakesAll(width, k)),
        capacity_(takes_all_ ? width : std::min(width, 2 * k + 4 * kBlock)),
        groups_(kBlock),
        items_(call, capacity_ * static_cast<int64_t>(sizeof(Item))),
        other_(call, capacity_ * static_cast<int64_t>(sizeof(Item))) {
    while (groups_ < 2 * k) groups_ *= 2;
  }
  bool ok() const { return items_.ok() && other_.ok(); }

  // In order, until the next call.
  const Item* Find(const T* row) {
    Item* const items = items_.template data<Item>();
    if (k_ == 1) {
      *items = First(row);
      return items;
    }
    if (takes_all_) {
      for (int64_t i = 0; i < width_; ++i) items[i] = Item(DescendingKey(row[i]), i);
      count_ = width_;
    } else {
      Sieve(row);
    }
    return Sorted();
  }

 private:
  static constexpr int64_t kBlock = 32;
  static constexpr int64_t kLeastSieved = 128;
  static constexpr int64_t kSieve = 8;  // to sieve pays where at most one of so many elements is wanted

  Item First(const T* row) const {
    Item first(DescendingKey(row[0]), 0);
    for (int64_t i = 1; i < width_; ++i) {
      const Item item(DescendingKey(row[i]), i);
      first = item < first ? item : first;
    }
    return first;
  }

  // Collects what may be among the largest: the largest of each of several groups are known at little cost, and the
  // k-th of those is at most the k-th of all.
  void Sieve(const T* row) {
    Item* const items = items_.template data<Item>();
    Key limit = LimitByGroups(row);
    count_ = 0;
    int64_t begin = 0;
    for (; begin + kBlock <= width_; begin += kBlock) {
      Key found = 0;
      for (int64_t i = 0; i < kBlock; ++i) found |= static_cast<Key>(DescendingKey(row[begin + i]) <= limit);
      if (found != 0 && !Collect(row, begin, begin + kBlock, items, &limit)) return;
    }
    Collect(row, begin, width_, items, &limit);
  }

  Key LimitByGroups(const T* row) {
    Key* const least = other_.template data<Key>();
    for (int64_t i = 0; i < groups_; ++i) least[i] = DescendingKey(row[i]);
    int64_t begin = groups_;
    for (; begin + groups_ <= width_; begin += groups_) {
      for (int64_t i = 0; i < groups_; ++i) least[i] = std::min(least[i], DescendingKey(row[begin + i]));
    }
    for (int64_t i = 0; begin + i < width_; ++i) least[i] = std::min(least[i], DescendingKey(row[begin + i]));
    std::nth_element(least, least + k_ - 1, least + groups_);
    return least[k_ - 1];
  }

  // Returns false when nothing behind `end` can be wanted.
  bool Collect(const T* row, int64_t begin, int64_t end, Item* items, Key* limit) {
    int64_t count = count_;
    for (int64_t i = begin; i < end; ++i) {
      const Key key = DescendingKey(row[i]);
      items[count] = Item(key, i);
      count += key <= *limit ? 1 : 0;
    }
    count_ = count;
    if (count + kBlock <= capacity_) return true;
    KeepBest();
    const auto last = static_cast<Key>(last_.key());
    *limit = static_cast<Key>(last - 1);  // of equal elements the first are there already
    return last != 0;
  }

  // Leaves the best k in the order that they lie in.
  void KeepBest() {
    Item* const items = items_.template data<Item>();
    Item* const other = other_.template data<Item>();
    std::copy_n(items, count_, other);
    std::nth_element(other, other + k_ - 1, other + count_);
    last_ = other[k_ - 1];
    int64_t kept = 0;
    for (int64_t i = 0; i < count_; ++i) {
      const Item item = items[i];
      items[kept] = item;
      kept += last_ < item ? 0 : 1;
    }
    count_ = k_;
  }

  const Item* Sorted() {
    Item* const items = items_.template data<Item>();
    Item* const other = other_.template data<Item>();
    if (count_ > kMostCounted && !takes_all_ && count_ > k_) KeepBest();
    if (count_ > kMostCounted) return SortByDigits<Key>(items, count_, other);
    SortByCounting(items, count_, other);
    return other;
  }

  const int64_t width_;
  const int64_t k_;
  const bool takes_all_;
  const int64_t capacity_;
  int64_t groups_;
  const Scratch items_;
  const Scratch other_;
  int64_t count_ = 0;
  Item last_;  // of those that KeepBest kept
};

}  // namespace stillflow
