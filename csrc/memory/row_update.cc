#include "memory/row_update.h"

#include "arithmetic/math/element.h"
#include "memory/dealt_rows.h"
#include "memory/prefetch.h"

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
void UpdateRow(void* to, const void* from, int64_t width, const void* scale) {
  constexpr bool kTakesScale =
      kIsFloating<T> && (std::is_same_v<Operation, AddTo> || std::is_same_v<Operation, SubtractFrom>);
  T* const x = static_cast<T*>(to);
  const T* const y = static_cast<const T*>(from);
  if constexpr (kTakesScale) {
    if (scale != nullptr) {
      const T factor = *static_cast<const T*>(scale);
      for (int64_t i = 0; i < width; ++i)
        x[i] = Operation::template Apply<T>(x[i], MultiplyBy::Apply<T>(y[i], factor));
      return;
    }
  }
  for (int64_t i = 0; i < width; ++i) x[i] = Operation::template Apply<T>(x[i], y[i]);
}

template <typename T>
void SetRow(void* to, const void* from, int64_t width, const void*) {
  std::memcpy(to, from, width * sizeof(T));
}

struct Bytes16 {
  uint64_t words[2];
};

RowFunction SetterOf(DType type) {
  switch (ElementBytes(type)) {
    case 16:
      return SetRow<Bytes16>;
    case 8:
      return SetRow<uint64_t>;
    case 4:
      return SetRow<uint32_t>;
    case 2:
      return SetRow<uint16_t>;
    case 1:
      return SetRow<uint8_t>;
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
      return UpdateRow<AddTo, SignedOf<T>>;
    case RowOperation::kSubtract:
      return UpdateRow<SubtractFrom, SignedOf<T>>;
    case RowOperation::kMultiply:
      return UpdateRow<MultiplyBy, SignedOf<T>>;
    case RowOperation::kDivide:
      return UpdateRow<DivideBy, T>;
    case RowOperation::kMinimum:
      return UpdateRow<KeepLess, T>;
    default:
      return UpdateRow<KeepGreater, T>;
  }
}

// Makes the updates of a list, or the first `count` if there is none.
void UpdateInOrder(const RowUpdates& work, int64_t bytes, RowFunction update, int64_t count, const int64_t* list) {
  char* const table = static_cast<char*>(work.table);
  const char* const updates = static_cast<const char*>(work.updates);
  const int64_t row_bytes = work.width * bytes;
  const int64_t stride = work.update_stride * bytes;
  const auto number = [list](int64_t i) { return list == nullptr ? i : list[i]; };
  const auto fetch = [&](int64_t i) __attribute__((always_inline)) {
    const int64_t next = number(i);
    if (work.rows[next] >= 0) PrefetchRow(table + work.rows[next] * row_bytes, row_bytes);
    PrefetchRow(updates + next * stride, row_bytes);
  };
  FetchAhead ahead(0, count, RowsAhead(row_bytes, kRandomBytesAhead), fetch);
  for (int64_t i = 0; i < count; ++i) {
    ahead.Before(i);
    const int64_t next = number(i);
    if (work.rows[next] < 0) continue;
    update(table + work.rows[next] * row_bytes, updates + next * stride, work.width, work.scale);
  }
}

}  // namespace

RowFunction RowFunctionOf(RowOperation operation, DType type) {
  if (operation == RowOperation::kSet) return SetterOf(type);
  if (type == DType::kBool) return operation == RowOperation::kAdd ? UpdateRow<AddTo, bool> : RowFunction{nullptr};
  RowFunction found = nullptr;
  (void)ForType<float, double, int64_t, int32_t, int16_t, int8_t, uint64_t, uint32_t, uint16_t, uint8_t, Half,
                BFloat16>("", type, [&](auto tag) {
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
  return ForDealtRows(call, work.rows, work.count, work.width * bytes,
                      [&](int64_t count, const int64_t* list) { UpdateInOrder(work, bytes, update, count, list); });
}

}  // namespace stillflow
