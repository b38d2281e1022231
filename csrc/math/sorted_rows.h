// sorted_rows.h: all elements of rows in ordering.h's order, by a network: the values, where they are, or both.
//
// Where nobody asks for the places, keys are sorted alone and turned into elements again. Otherwise a key above an
// index is one number: all of a narrow key, of a wide one what is left when the bits that the row's keys share are
// taken away, and as many of the last as there is no room for.
#pragma once

#include <algorithm>
#include <limits>

#include "math/ordering.h"
#include "math/sorting_network.h"

namespace stillflow {

// Rows longer than this are sorted by digits in less time.
template <typename Lane>
constexpr int64_t kMostInNetwork = kRegisterBytes == 64   ? int64_t{1} << (sizeof(Lane) == 4 ? 20 : 16)
                                   : kRegisterBytes == 32 ? int64_t{1} << (sizeof(Lane) == 4 ? 20 : 11)
                                                          : int64_t{1} << (sizeof(Lane) == 4 ? 12 : 9);

template <typename T>
class SortedRows {
 public:
  using Key = KeyOf<T>;
  using KeyLane = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;

  static bool Takes(int64_t width, bool has_places) {
    return width <= (has_places ? kMostInNetwork<int64_t> : kMostInNetwork<KeyLane>);
  }

  SortedRows(const KernelCall& call, int64_t width, int64_t k, bool has_places)
      : width_(width),
        k_(k),
        has_places_(has_places),
        lanes_(has_places || sizeof(T) == 8 ? kLanesOf<int64_t> : kLanesOf<int32_t>),
        registers_(SortingNetwork<int64_t>::RegistersFor((width + lanes_ - 1) / lanes_)),
        count_(std::max<int64_t>(kLanesAtOnce / (registers_ * lanes_), 1)),
        memory_(call, (count_ * registers_ + lanes_ - 1) / lanes_ * lanes_ * kRegisterBytes) {}
  bool ok() const { return memory_.ok(); }

  // How many rows to sort at once.
  int64_t count() const { return count_; }

  // Fills the first k of each of `count` rows, of what is not null. Returns false if the rows take another way.
  bool Sort(const T* rows, int64_t count, T* values, int32_t* places) {
    return has_places_ ? SortItems(rows, count, values, places) : SortKeys(rows, count, values);
  }

 private:
  static constexpr int64_t kLanesAtOnce = 2048;

  // Of numbers with a sign the order that bits have: also of those that ordering.h takes for equal.
  STILLFLOW_INLINE static KeyLane LaneOf(T x) {
    if constexpr (kIsFloating<T>) {
      return static_cast<KeyLane>(~Turned(static_cast<std::make_signed_t<Key>>(BitCast<Key>(x))));
    } else {
      return static_cast<KeyLane>(~static_cast<KeyLane>(x));
    }
  }
  STILLFLOW_INLINE static T ElementOf(KeyLane lane) {
    if constexpr (kIsFloating<T>) {
      return BitCast<T>(static_cast<Key>(Turned(~lane)));
    } else {
      return static_cast<T>(~lane);
    }
  }
  STILLFLOW_INLINE static KeyLane Turned(KeyLane bits) {
    return bits ^ ((bits >> (sizeof(bits) * 8 - 1)) & std::numeric_limits<KeyLane>::max());
  }

  template <typename Lane>
  Lane* Row(int64_t i) const {
    return memory_.template data<Lane>() + i * registers_ * lanes_;
  }
  template <typename Lane>
  void Fill(Lane* lanes) const {
    std::fill(lanes + width_, lanes + registers_ * lanes_, std::numeric_limits<Lane>::max());
  }
  template <typename Lane>
  void SortLanes(int64_t count) const {
    SortingNetwork<Lane>::Sort(memory_.template data<Register<Lane>>(), count, registers_);
  }

  bool SortKeys(const T* rows, int64_t count, T* values) const {
    for (int64_t i = 0; i < count; ++i) {
      if (!FillKeys(rows + i * width_, width_, Row<KeyLane>(i))) return false;
      Fill(Row<KeyLane>(i));
    }
    SortLanes<KeyLane>(count);
    for (int64_t i = 0; i < count; ++i) {
      const KeyLane* const lanes = Row<KeyLane>(i);
      T* const to = values + i * k_;
      for (int64_t j = 0, k = k_; j < k; ++j) to[j] = ElementOf(lanes[j]);
    }
    return true;
  }

  // Returns false where bits do not tell the order: of NaNs, and of zeros of which not all have the same bits.
  static bool FillKeys(const T* row, int64_t width, KeyLane* lanes) {
    if constexpr (kIsFloating<T>) {
      constexpr auto kMagnitude = static_cast<Key>(~Key{0} >> 1);
      constexpr Key kLeast = kAreDenormalsZero<T> ? kInfinityBits<T> & -kInfinityBits<T> : 1;
      Key some = 0;  // of zeros
      auto all = static_cast<Key>(~Key{0});
      Key largest = 0;
      for (int64_t j = 0; j < width; ++j) {
        const auto bits = BitCast<Key>(row[j]);
        const auto magnitude = static_cast<Key>(bits & kMagnitude);
        const bool is_zero = magnitude < kLeast;
        some |= is_zero ? bits : Key{0};
        all &= is_zero ? bits : static_cast<Key>(~Key{0});
        largest = std::max(largest, magnitude);
        lanes[j] = LaneOf(row[j]);
      }
      return largest <= kInfinityBits<T> && (some == all || all == static_cast<Key>(~Key{0}));
    } else {
      for (int64_t j = 0; j < width; ++j) lanes[j] = LaneOf(row[j]);
      return true;
    }
  }

  bool SortItems(const T* rows, int64_t count, T* values, int32_t* places) const {
    const int index_bits = sizeof(T) == 8 ? BitsOf(width_ - 1) : 32;
    for (int64_t i = 0; i < count; ++i) {
      FillItems(rows + i * width_, width_, index_bits, Row<int64_t>(i));
      Fill(Row<int64_t>(i));
    }
    SortLanes<int64_t>(count);
    const auto mask = static_cast<int64_t>((uint64_t{1} << index_bits) - 1);
    for (int64_t i = 0; i < count; ++i) {
      const T* const row = rows + i * width_;
      const int64_t* const items = Row<int64_t>(i);
      if (sizeof(T) == 8 && !IsInOrder(row, width_, items, mask)) return false;
      for (int64_t j = 0, k = k_; places != nullptr && j < k; ++j) {
        places[i * k + j] = static_cast<int32_t>(items[j] & mask);
      }
      for (int64_t j = 0, k = k_; values != nullptr && j < k; ++j) values[i * k + j] = row[items[j] & mask];
    }
    return true;
  }

  static int BitsOf(uint64_t number) { return number == 0 ? 0 : 64 - __builtin_clzll(number); }

  static void FillItems(const T* row, int64_t width, int index_bits, int64_t* items) {
    if constexpr (sizeof(T) == 8) {
      Key least = ~Key{0};
      Key most = 0;
      for (int64_t j = 0; j < width; ++j) {
        const Key key = DescendingKey(row[j]);
        least = std::min(least, key);
        most = std::max(most, key);
      }
      const int cut = std::max(BitsOf(most - least) + index_bits - 63, 0);
      for (int64_t j = 0; j < width; ++j) {
        const Key key = (DescendingKey(row[j]) - least) >> cut;
        items[j] = static_cast<int64_t>(key << index_bits | static_cast<Key>(j));
      }
    } else {
      constexpr uint64_t kSign = uint64_t{1} << 63;
      for (int64_t j = 0; j < width; ++j) {
        items[j] = static_cast<int64_t>(NarrowItem(DescendingKey(row[j]), j).bits ^ kSign);
      }
    }
  }

  // Whether what was cut from the keys would have changed nothing.
  static bool IsInOrder(const T* row, int64_t width, const int64_t* items, int64_t mask) {
    int64_t alike = 0;
    for (int64_t j = 1; j < width; ++j) alike += (items[j] ^ items[j - 1]) <= mask ? 1 : 0;
    if (alike == 0) return true;
    bool is_in_order = true;
    for (int64_t j = 1; j < width; ++j) {
      is_in_order &= DescendingKey(row[items[j - 1] & mask]) <= DescendingKey(row[items[j] & mask]);
    }
    return is_in_order;
  }

  const int64_t width_;
  const int64_t k_;
  const bool has_places_;
  const int64_t lanes_;      // of a register
  const int64_t registers_;  // of a row
  const int64_t count_;
  const Scratch memory_;
};

}  // namespace stillflow
