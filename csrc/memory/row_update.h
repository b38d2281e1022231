// row_update.h: rows of a table changed by rows of updates, several of which may fall on one row.
#pragma once

#include "arithmetic/math/scalar.h"
#include "memory/dealt_rows.h"
#include "memory/prefetch.h"

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

template <typename Operation, typename T>
STILLFLOW_INLINE void UpdateRow(T* to, const T* from, int64_t width, const T* scale = nullptr) {
  if (scale == nullptr) {
    for (int64_t i = 0; i < width; ++i) to[i] = Operation::template Apply<T>(to[i], from[i]);
  } else {
    const T factor = *scale;
    for (int64_t i = 0; i < width; ++i) {
      to[i] = Operation::template Apply<T>(to[i], MultiplyBy::Apply<T>(from[i], factor));
    }
  }
}

// Makes updates number(0), ..., number(count - 1). A kWidth other than 0 is the rows' width: loops over few elements
// take less time where the compiler knows how many, and rows at random places need not be asked for then.
template <typename Operation, int kWidth, typename T, typename Number>
void UpdateInOrder(const RowUpdates<T> work, int64_t count, const Number number) {
  const int64_t width = kWidth > 0 ? kWidth : work.width;
  const int64_t row_bytes = width * static_cast<int64_t>(sizeof(T));
  const auto fetch = [&](int64_t i) __attribute__((always_inline)) {
    const int64_t update = number(i);
    if (work.rows[update] >= 0) PrefetchRow(work.table + work.rows[update] * width, row_bytes);
    PrefetchRow(work.updates + update * work.update_stride, row_bytes);
  };
  FetchAhead ahead(0, kWidth > 0 ? 0 : count, RowsAhead(row_bytes, kProcessor.random_bytes_ahead), fetch);
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (kWidth == 0) ahead.Before(i);
    const int64_t update = number(i);
    if (work.rows[update] < 0) continue;
    UpdateRow<Operation>(work.table + work.rows[update] * width, work.updates + update * work.update_stride, width,
                         work.scale);
  }
}

// For small elements such code is not worth its size.
template <typename T, int kWidth>
constexpr int kNarrow = sizeof(T) >= 4 ? kWidth : 0;

template <typename Operation, typename T>
Status UpdateRows(const KernelCall& call, const RowUpdates<T>& work) {
  const int64_t row_bytes = work.width * static_cast<int64_t>(sizeof(T));
  return ForDealtRows(call, work.rows, work.count, row_bytes, [&](int64_t count, const auto& number) {
    switch (work.width) {
      case 1:
        return UpdateInOrder<Operation, kNarrow<T, 1>>(work, count, number);
      case 2:
        return UpdateInOrder<Operation, kNarrow<T, 2>>(work, count, number);
      case 3:
        return UpdateInOrder<Operation, kNarrow<T, 3>>(work, count, number);
      case 4:
        return UpdateInOrder<Operation, kNarrow<T, 4>>(work, count, number);
      default:
        return UpdateInOrder<Operation, 0>(work, count, number);
    }
  });
}

}  // namespace stillflow
