#include "memory/row_update.h"

#include "arithmetic/math/element.h"
#include "memory/prefetch.h"
#include "memory/row_partition.h"

namespace stillflow {
namespace {

// ---- What an update does to an element --------------------------------------------------------------------

struct AddTo {
  template <typename T>
  static T Apply(T a, T b) {
    using E = ElementArithmetic<T>;
    return E::Store(E::Add(E::Load(a), E::Load(b)));
  }
};
struct SubtractFrom {
  template <typename T>
  static T Apply(T a, T b) {
    using E = ElementArithmetic<T>;
    return E::Store(E::Subtract(E::Load(a), E::Load(b)));
  }
};
struct MultiplyBy {
  template <typename T>
  static T Apply(T a, T b) {
    using E = ElementArithmetic<T>;
    return E::Store(E::Multiply(E::Load(a), E::Load(b)));
  }
};
struct DivideBy {
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (kIsFloating<T>) {
      return Narrow<T>(Widen(a) / Widen(b));
    } else if constexpr (kIsComplex<T>) {
      return a / b;
    } else if constexpr (std::is_signed_v<T>) {
      return b == T(-1) ? ElementArithmetic<T>::Negative(a) : static_cast<T>(a / b);  // the smallest integer wraps
    } else {
      return static_cast<T>(a / b);
    }
  }
};
template <typename T>
inline bool IsLess(T a, T b) {
  return Load(a) < Load(b);
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

template <typename Operation, typename T>
void UpdateSome(void* table, const int64_t* rows, const void* updates, const int64_t* numbers, int64_t count,
                int64_t width, int64_t stride, const void* scale) {
  constexpr bool kTakesScale = (kIsFloating<T> || kIsComplex<T>) &&
                               (std::is_same_v<Operation, AddTo> || std::is_same_v<Operation, SubtractFrom>);
  if (width == 1 && scale == nullptr) {
    for (int64_t k = 0; k < count; ++k) {
      T& x = static_cast<T*>(table)[rows[k]];
      x = Operation::template Apply<T>(x, static_cast<const T*>(updates)[numbers[k] * stride]);
    }
    return;
  }
  for (int64_t k = 0; k < count; ++k) {
    T* const x = static_cast<T*>(table) + rows[k] * width;
    const T* const y = static_cast<const T*>(updates) + numbers[k] * stride;
    if constexpr (kTakesScale) {
      if (scale != nullptr) {
        const T factor = *static_cast<const T*>(scale);
        for (int64_t i = 0; i < width; ++i) {
          x[i] = Operation::template Apply<T>(x[i], MultiplyBy::Apply<T>(y[i], factor));
        }
        continue;
      }
    }
    for (int64_t i = 0; i < width; ++i) x[i] = Operation::template Apply<T>(x[i], y[i]);
  }
}

template <typename T>
void SetSome(void* table, const int64_t* rows, const void* updates, const int64_t* numbers, int64_t count,
             int64_t width, int64_t stride, const void*) {
  for (int64_t k = 0; k < count; ++k) {
    std::memcpy(static_cast<T*>(table) + rows[k] * width, static_cast<const T*>(updates) + numbers[k] * stride,
                width * sizeof(T));
  }
}

RowFunction SetterOf(DType type) {
  switch (ElementBytes(type)) {
    case 16:
      return SetSome<Complex128>;
    case 8:
      return SetSome<uint64_t>;
    case 4:
      return SetSome<uint32_t>;
    case 2:
      return SetSome<uint16_t>;
    case 1:
      return SetSome<uint8_t>;
    default:
      return nullptr;
  }
}

// Of what the sign does not matter for. Other operations are in the table of the type itself.
template <typename T>
using SignedOf = typename std::conditional_t<std::is_unsigned_v<T>, std::make_signed<T>, TypeTag<T>>::type;

template <typename T>
RowFunction ArithmeticOf(RowOperation operation) {
  switch (operation) {
    case RowOperation::kAdd:
      return UpdateSome<AddTo, SignedOf<T>>;
    case RowOperation::kSubtract:
      return UpdateSome<SubtractFrom, SignedOf<T>>;
    case RowOperation::kMultiply:
      return UpdateSome<MultiplyBy, SignedOf<T>>;
    case RowOperation::kDivide:
      return UpdateSome<DivideBy, T>;
    default:
      break;
  }
  if constexpr (kIsComplex<T>) {
    return nullptr;
  } else {
    return operation == RowOperation::kMinimum ? UpdateSome<KeepLess, T> : UpdateSome<KeepGreater, T>;
  }
}

// Some updates whose rows have been prefetched.
struct Batch {
  static constexpr int64_t kMost = 256;
  int64_t count = 0;
  int64_t rows[kMost];
  int64_t numbers[kMost];
};

// Makes the updates of a list, or the first `count` if there is none: one batch while the rows of the next are on
// their way.
void UpdateInOrder(const RowUpdates& work, int64_t bytes, RowFunction update, int64_t count, const int64_t* list) {
  constexpr int64_t kTinyRowBytes = 16;  // rows that take less time than their prefetch
  const char* const table = static_cast<const char*>(work.table);
  const char* const updates = static_cast<const char*>(work.updates);
  const int64_t row_bytes = work.width * bytes;
  const int64_t stride = work.update_stride * bytes;
  const int64_t batch_size = std::min(RowsAhead(row_bytes, kRandomBytesAhead), Batch::kMost);
  Batch batches[2];
  const auto make = [&](const Batch& batch) {
    update(work.table, batch.rows, work.updates, batch.numbers, batch.count, work.width, work.update_stride,
           work.scale);
  };
  int turn = 0;
  for (int64_t begin = 0; begin < count; begin += batch_size, turn ^= 1) {
    Batch& batch = batches[turn];
    batch.count = 0;
    for (int64_t i = begin; i < std::min(begin + batch_size, count); ++i) {
      const int64_t number = list == nullptr ? i : list[i];
      const int64_t row = work.rows[number];
      batch.rows[batch.count] = row;
      batch.numbers[batch.count] = number;
      batch.count += row >= 0 ? 1 : 0;
      if (row_bytes <= kTinyRowBytes || row < 0) continue;
      PrefetchRow(table + row * row_bytes, row_bytes);
      PrefetchRow(updates + number * stride, row_bytes);
    }
    make(batches[turn ^ 1]);
  }
  make(batches[turn ^ 1]);
}

}  // namespace

RowFunction RowFunctionOf(RowOperation operation, DType type) {
  if (operation == RowOperation::kSet) return SetterOf(type);
  if (type == DType::kBool) return operation == RowOperation::kAdd ? UpdateSome<AddTo, bool> : RowFunction{nullptr};
  RowFunction found = nullptr;
  (void)ForType<float, double, int64_t, int32_t, int16_t, int8_t, uint64_t, uint32_t, uint16_t, uint8_t, Half,
                BFloat16, Complex64, Complex128>("", type, [&](auto tag) {
    found = ArithmeticOf<typename decltype(tag)::type>(operation);
    return Status();
  });
  return found;
}

Status UpdateRows(const KernelCall& call, const char* kernel, RowOperation operation, DType type,
                  const RowUpdates& work) {
  const RowFunction update = RowFunctionOf(operation, type);
  if (update == nullptr) return UnsupportedType(kernel, type);
  const int64_t bytes = ElementBytes(type);
  return ForRowPartition(call, work.rows, work.count, work.width * bytes, [&](int64_t count, const int64_t* list) {
    UpdateInOrder(work, bytes, update, count, list);
  });
}

}  // namespace stillflow
