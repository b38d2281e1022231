// sorted_rows.h: whole rows sorted in ordering.h's order by a network; gives the values, their indices, or both.
//
// Without indices the elements themselves are sorted, unless comparing them is slow. Otherwise key and index are
// packed into one integer, the key above: a narrow key whole; a wide one without the prefix that all keys of the row
// share, and without as many of its low bits as do not fit.
#pragma once

#include <algorithm>
#include <limits>

#include "arithmetic/math/ordering.h"
#include "arithmetic/math/sorting_network.h"

namespace stillflow {

// T: float, double, int32_t or int64_t.
template <typename T>
class SortedRows {
 public:
  using Key = KeyOf<T>;

  // Longer rows are sorted by digits in less time, or have indices that leave no room for a key of 32 bits.
  static bool Takes(int64_t width, bool has_places) {
    if (width > int64_t{1} << (kItemBits - 32)) return false;
    if (kRegisterBytes == 16) return width <= 4096;
    return kRegisterBytes == 64 || width <= 8192 || sizeof(T) == 8 || !has_places;
  }

  SortedRows(const KernelCall& call, int64_t width, int64_t k, bool has_places)
      : width_(width),
        k_(k),
        has_places_(has_places || std::is_same_v<T, int64_t>),
        lanes_(has_places_ ? kLanesOf<double> : kLanesOf<Lane>),
        registers_(SortingNetwork<double>::RegistersFor((width + lanes_ - 1) / lanes_)),
        count_(std::max<int64_t>(kLanesAtOnce / (registers_ * lanes_), 1)),
        memory_(call, (count_ * registers_ + lanes_ - 1) / lanes_ * lanes_ * kRegisterBytes) {}
  bool ok() const { return memory_.ok(); }

  // How many rows to sort at once.
  int64_t count() const { return count_; }

  // Fills the first k of each of `count` rows, of what is not null. Returns false if the rows take another way.
  bool Sort(const T* rows, int64_t count, T* values, int32_t* places) {
    if constexpr (!std::is_same_v<T, int64_t>) {
      if (!has_places_) return SortAlone(rows, count, values);
    }
    return SortItems(rows, count, values, places);
  }

 private:
  static constexpr int64_t kLanesAtOnce = 2048;

  // What an element is sorted as. Integers of four bytes are compared faster than floats but by the least of
  // processors.
  static constexpr bool kIsLane =
      sizeof(T) == 8 || std::is_same_v<T, int32_t> || (std::is_same_v<T, float> && kRegisterBytes == 16);
  using Lane = std::conditional_t<kIsLane, T, int32_t>;

  // The order of the bits: of numbers as well, but that of NaNs, zeros and denormals is finer than ordering.h's.
  STILLFLOW_INLINE static Lane LaneOf(T x) {
    if constexpr (kIsFloating<T> && !kIsLane) {
      return Turned(static_cast<std::make_signed_t<Key>>(BitCast<Key>(x)));
    } else {
      return static_cast<Lane>(x);
    }
  }
  STILLFLOW_INLINE static T ElementOf(Lane lane) {
    if constexpr (kIsFloating<T> && !kIsLane) {
      return BitCast<T>(static_cast<Key>(Turned(lane)));
    } else {
      return static_cast<T>(lane);
    }
  }
  STILLFLOW_INLINE static int32_t Turned(int32_t bits) {
    return bits ^ ((bits >> 31) & std::numeric_limits<int32_t>::max());
  }

  template <typename Number>
  Number* Row(int64_t i) const {
    return memory_.template data<Number>() + i * registers_ * lanes_;
  }
  template <typename Number>
  void Fill(Number* row, Number least) const {
    std::fill(row + width_, row + registers_ * lanes_, least);
  }
  template <typename Number>
  void SortNumbers(int64_t count) const {
    SortingNetwork<Number>::Sort(memory_.template data<Register<Number>>(), count, registers_);
  }

  bool SortAlone(const T* rows, int64_t count, T* values) const {
    for (int64_t i = 0; i < count; ++i) {
      if (!FillLanes(rows + i * width_, width_, Row<Lane>(i))) return false;
      Fill(Row<Lane>(i), kLeast);
    }
    SortNumbers<Lane>(count);
    for (int64_t i = 0; i < count; ++i) {
      const Lane* const lanes = Row<Lane>(i);
      T* const to = values + i * k_;
      for (int64_t j = 0, k = k_; j < k; ++j) to[j] = ElementOf(lanes[j]);
    }
    return true;
  }

  static constexpr Lane kLeast =
      std::is_floating_point_v<Lane> ? -std::numeric_limits<Lane>::infinity() : std::numeric_limits<Lane>::min();

  // Returns false where bits do not tell the order: of NaNs, denormals, and zeros with both signs.
  static bool FillLanes(const T* row, int64_t width, Lane* lanes) {
    if constexpr (kIsFloating<T>) {
      constexpr auto kMagnitude = static_cast<Key>(~Key{0} >> 1);
      constexpr Key kNormal = kInfinityBits<T> & -kInfinityBits<T>;
      Key some = 0;  // of zeros
      auto all = static_cast<Key>(~Key{0});
      Key largest = 0;
      for (int64_t j = 0; j < width; ++j) {
        const T x = row[j];
        const auto bits = BitCast<Key>(x);
        const auto magnitude = static_cast<Key>(bits & kMagnitude);
        const bool is_zero = magnitude < kNormal;
        some |= is_zero ? bits : Key{0};
        all &= is_zero ? bits : static_cast<Key>(~Key{0});
        largest = std::max(largest, magnitude);
        lanes[j] = LaneOf(x);
      }
      const bool has_zero = all != static_cast<Key>(~Key{0});
      return largest <= kInfinityBits<T> && (!has_zero || (some == all && (some & kMagnitude) == 0));
    } else {
      for (int64_t j = 0; j < width; ++j) lanes[j] = LaneOf(row[j]);
      return true;
    }
  }

  // Doubles are compared in fewer instructions than integers. Those from the least normal one on are in the order of
  // their bits: of an item these are what it lacks to kTop.
  static constexpr uint64_t kLeastBits = uint64_t{1} << 52;
  static constexpr int kItemBits = 62;
  static constexpr uint64_t kTop = kLeastBits + (uint64_t{1} << kItemBits);

  bool SortItems(const T* rows, int64_t count, T* values, int32_t* places) const {
    const int index_bits = BitsOf(width_ - 1);
    for (int64_t i = 0; i < count; ++i) {
      FillItems(rows + i * width_, width_, index_bits, Row<uint64_t>(i));
      Fill(Row<uint64_t>(i), kLeastBits);
    }
    SortNumbers<double>(count);
    const uint64_t mask = (uint64_t{1} << index_bits) - 1;
    for (int64_t i = 0; i < count; ++i) {
      const T* const row = rows + i * width_;
      uint64_t* const items = Row<uint64_t>(i);
      if (sizeof(T) == 8 && !Mend(row, width_, mask, items)) return false;
      for (int64_t j = 0, k = k_; places != nullptr && j < k; ++j) {
        places[i * k + j] = static_cast<int32_t>((kTop - items[j]) & mask);
      }
      for (int64_t j = 0, k = k_; values != nullptr && j < k; ++j) values[i * k + j] = row[(kTop - items[j]) & mask];
    }
    return true;
  }

  static int BitsOf(uint64_t number) { return number == 0 ? 0 : 64 - __builtin_clzll(number); }

  static void FillItems(const T* row, int64_t width, int index_bits, uint64_t* items) {
    Key least = 0;
    int cut = 0;
    if constexpr (sizeof(T) == 8) {
      least = ~Key{0};
      Key most = 0;
      for (int64_t j = 0; j < width; ++j) {
        const Key key = DescendingKey(row[j]);
        least = std::min(least, key);
        most = std::max(most, key);
      }
      cut = std::max(BitsOf(most - least) + index_bits - kItemBits, 0);
    }
    for (int64_t j = 0; j < width; ++j) {
      const auto key = static_cast<uint64_t>(DescendingKey(row[j]) - least) >> cut;
      items[j] = kTop - (key << index_bits | static_cast<uint64_t>(j));
    }
  }

  // Puts items in order that what was cut from their keys tells apart. Returns false if that are many.
  static bool Mend(const T* row, int64_t width, uint64_t mask, uint64_t* items) {
    const auto are_alike = [&](uint64_t a, uint64_t b) { return ((kTop - a) ^ (kTop - b)) <= mask; };
    int64_t alike = 0;
    for (int64_t j = 1; j < width; ++j) alike += are_alike(items[j], items[j - 1]) ? 1 : 0;
    if (alike == 0) return true;
    const auto item_of = [&](uint64_t item) {
      const uint64_t index = (kTop - item) & mask;
      return ItemOf<T>(DescendingKey(row[index]), static_cast<int64_t>(index));
    };
    const auto is_before = [&](uint64_t a, uint64_t b) { return are_alike(a, b) && item_of(a) < item_of(b); };
    int64_t moves = 0;
    for (int64_t j = 1; j < width; ++j) {
      for (int64_t i = j; i > 0 && is_before(items[i], items[i - 1]); --i) {
        std::swap(items[i], items[i - 1]);
        if (++moves > width) return false;
      }
    }
    return true;
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
