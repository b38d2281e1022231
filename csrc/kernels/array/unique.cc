// unique, list_diff: different elements in the order in which they come first.
//
//   unique     in[0] array; in[1] axis, int32 | int64: one element, or none for a vector; attr index type
//              out[0] the different slices along the axis; out[1] for each slice of in[0] its place in out[0];
//              out[2], if there, how often each occurs
//   list_diff  in[0] vector x; in[1] vector y; attr index type
//              out[0] the elements of x that are not in y; out[1] their places in x
//
// Equal is what == says: 0 and -0 are, NaN is not equal to itself.
#include <algorithm>

#include "arithmetic/math/scalar.h"
#include "memory/strided_copy.h"

namespace stillflow {
namespace {

// ---- Elements as keys ---------------------------------------------------------------------------------------------

inline uint64_t Mix(uint64_t hash) {
  hash ^= hash >> 32;
  hash *= 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 29;
}

inline uint64_t HashBytes(const char* bytes, int64_t size) {
  uint64_t hash = static_cast<uint64_t>(size);
  for (; size >= 8; size -= 8, bytes += 8) {
    uint64_t word;
    std::memcpy(&word, bytes, 8);
    hash = Mix(hash ^ word);
  }
  uint64_t word = 0;
  std::memcpy(&word, bytes, size);
  return Mix(hash ^ word);
}

template <typename T>
inline bool IsEqual(T a, T b) {
  if constexpr (std::is_same_v<T, StringCell*>) {
    const int64_t a_size = a == nullptr ? 0 : a->size;
    const int64_t b_size = b == nullptr ? 0 : b->size;
    return a_size == b_size && (a == b || a_size == 0 || std::memcmp(a->bytes, b->bytes, a_size) == 0);
  } else if constexpr (kIsFloating<T>) {
    return Widen(a) == Widen(b);
  } else {
    return a == b;
  }
}

template <typename T>
inline uint64_t Hash(T value) {
  if constexpr (std::is_same_v<T, StringCell*>) {
    return value == nullptr ? HashBytes("", 0) : HashBytes(value->bytes, value->size);
  } else if constexpr (kIsFloating<T>) {
    const double wide = static_cast<double>(Widen(value)) + 0.0;  // 0 for -0
    return Mix(BitCast<uint64_t>(wide));
  } else {
    return Mix(static_cast<uint64_t>(value));
  }
}

// Slices of `width` elements, each standing for a key.
template <typename T>
struct Slices {
  const T* data;
  int64_t width;

  bool AreEqual(int64_t a, const Slices& other, int64_t b) const {
    for (int64_t i = 0; i < width; ++i) {
      if (!IsEqual<T>(data[a * width + i], other.data[b * width + i])) return false;
    }
    return true;
  }
  uint64_t HashOf(int64_t slice) const {
    if (width == 1) return Hash<T>(data[slice]);
    uint64_t hash = 0;
    for (int64_t i = 0; i < width; ++i) hash = Mix(hash + Hash<T>(data[slice * width + i]));
    return hash;
  }
};

// An open-addressing table from slices to their numbers. Cells hold number + 1, and 0 where they are free.
template <typename T>
class Table {
 public:
  Table(const KernelCall& call, int64_t count) : mask_(Capacity(count) - 1), cells_(call, Capacity(count) * 8) {
    if (cells_.ok()) std::memset(cells_.data<char>(), 0, Capacity(count) * 8);
  }
  bool ok() const { return cells_.ok(); }

  // The number of the slice among `members` that equals slices[slice]; adds it as `number` if there is none and
  // `number` is not negative.
  int64_t Find(const Slices<T>& slices, int64_t slice, const Slices<T>& members, const int64_t* firsts,
               int64_t number) {
    int64_t* const cells = cells_.template data<int64_t>();
    for (uint64_t at = slices.HashOf(slice) & mask_;; at = (at + 1) & mask_) {
      if (cells[at] == 0) {
        if (number >= 0) cells[at] = number + 1;
        return number;
      }
      const int64_t found = cells[at] - 1;
      if (slices.AreEqual(slice, members, firsts[found])) return found;
    }
  }

 private:
  static int64_t Capacity(int64_t count) {
    int64_t capacity = 16;
    while (capacity < 2 * count) capacity *= 2;
    return capacity;
  }

  uint64_t mask_;
  Scratch cells_;
};

template <typename Body>
Status ForKeyType(const char* kernel, DType dtype, const Body& body) {
  if (dtype == DType::kString) return body(TypeTag<StringCell*>{});
  return ForType<float, double, int64_t, int32_t, Half, BFloat16, int16_t, int8_t, uint64_t, uint32_t, uint16_t,
                 uint8_t, bool>(kernel, dtype, body);
}

inline void SetIndex(Tensor& tensor, int64_t position, int64_t value) {
  if (tensor.dtype == DType::kInt64) {
    MutableData<int64_t>(tensor)[position] = value;
  } else {
    MutableData<int32_t>(tensor)[position] = static_cast<int32_t>(value);
  }
}

Status AllocateIndices(const KernelCall& call, int out, int64_t count) {
  Shape shape;
  shape.Add(count);
  return AllocateOutput(call, out, static_cast<DType>(call.attrs[0].i), shape);
}

// ---- unique -------------------------------------------------------------------------------------------------------

// The array as [outer, size, inner], where slices along the axis are compared.
struct Sliced {
  int64_t outer;
  int64_t size;
  int64_t inner;
};

Status ReadAxis(const KernelCall& call, int* axis) {
  const Tensor& input = *call.in[0];
  *axis = 0;
  if (call.in_count < 2 || call.in[1]->count == 0) {
    if (call.in_count > 1 && call.in[1]->rank != 1) return STILLFLOW_INVALID_ARGUMENT("axis expects a 1D vector.");
    if (input.rank != 1) return STILLFLOW_INVALID_ARGUMENT("unique expects a 1D vector.");
    return Status();
  }
  if (call.in[1]->rank != 1) return STILLFLOW_INVALID_ARGUMENT("axis expects a 1D vector.");
  if (call.in[1]->count > 1)
    return STILLFLOW_INVALID_ARGUMENT("axis does not support input tensors larger than 1 elements");
  const int64_t given = IntAt(*call.in[1], 0);
  const int64_t from_front = given < 0 ? given + input.rank : given;
  if (from_front < 0 || from_front >= input.rank) {
    return STILLFLOW_INVALID_ARGUMENT("axis has to be between [0, %d)", input.rank);
  }
  *axis = static_cast<int>(from_front);
  return Status();
}

// Copies between the array and one with the axis in front.
Status MoveAxis(const KernelCall& call, const Sliced& from_shape, int64_t element_bytes, bool to_front,
                const void* from, void* to) {
  const auto& [outer, size, inner] = from_shape;
  StridedCopy copy;
  if (to_front) {
    copy.Add(size, inner, outer * inner);
    copy.Add(outer, size * inner, inner);
  } else {
    copy.Add(outer, inner, size * inner);
    copy.Add(size, outer * inner, inner);
  }
  copy.Add(inner, 1, 1);
  return CopyStrided(call, copy, element_bytes, from, to);
}

// Integers that lie close together, as indices of rows do: least, least + 1, ..., least + values - 1.
template <typename T>
struct Interval {
  T least;
  uint64_t values;

  static Interval Of(const T* x, int64_t count) {
    T least = x[0];
    T largest = x[0];
    for (int64_t i = 1; i < count; ++i) {
      least = std::min(least, x[i]);
      largest = std::max(largest, x[i]);
    }
    const uint64_t distance = static_cast<uint64_t>(largest) - static_cast<uint64_t>(least);
    return {least, distance + (distance < UINT64_MAX ? 1 : 0)};
  }
  // Of no other x than has been looked at, unless another thread has changed it since.
  uint64_t PlaceOf(T x) const {
    return std::min(static_cast<uint64_t>(x) - static_cast<uint64_t>(least), values - 1);
  }
};

// A table has a place for each number between the least and the largest, with its number + 1, or 0.
template <typename T, typename Index>
Status NumberByValue(const KernelCall& call, const T* x, int64_t count, const Interval<T>& interval, int64_t* firsts,
                     Index* numbers, int64_t* found) {
  const Scratch table(call, static_cast<int64_t>(interval.values) * 4);
  if (!table.ok()) return OutOfScratch();
  auto* const places = table.data<uint32_t>();
  std::fill_n(places, interval.values, 0);
  uint32_t unique = 0;
  for (int64_t i = 0; i < count; ++i) {
    uint32_t& place = places[interval.PlaceOf(x[i])];
    firsts[unique] = i;
    unique += place == 0 ? 1 : 0;
    place = place == 0 ? unique : place;
    numbers[i] = static_cast<Index>(place - 1);
  }
  *found = unique;
  return Status();
}

// Numbers the slices: out[1] is filled, firsts[k] is where slice k of the result comes first.
template <typename T>
Status Number(const KernelCall& call, const Slices<T>& slices, int64_t count, int64_t* firsts, int64_t* found) {
  Tensor& numbers = *call.out[1];
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (slices.width == 1 && count > 0) {
      const auto interval = Interval<T>::Of(slices.data, count);
      if (interval.values <= 4 * static_cast<uint64_t>(count) + 256) {
        return numbers.dtype == DType::kInt64
                   ? NumberByValue(call, slices.data, count, interval, firsts, MutableData<int64_t>(numbers), found)
                   : NumberByValue(call, slices.data, count, interval, firsts, MutableData<int32_t>(numbers), found);
      }
    }
  }
  Table<T> table(call, count);
  if (!table.ok()) return OutOfScratch();
  int64_t unique = 0;
  for (int64_t i = 0; i < count; ++i) {
    firsts[unique] = i;
    const int64_t number = table.Find(slices, i, slices, firsts, unique);
    unique += number == unique;
    SetIndex(numbers, i, number);
  }
  *found = unique;
  return Status();
}

Status CountEach(const KernelCall& call, int64_t unique) {
  STILLFLOW_RETURN_IF_ERROR(AllocateIndices(call, 2, unique));
  Tensor& counts = *call.out[2];
  std::memset(counts.data, 0, counts.count * ElementBytes(counts.dtype));
  for (int64_t i = 0; i < call.out[1]->count; ++i) {
    const int64_t number = IntAt(*call.out[1], i);
    SetIndex(counts, number, IntAt(counts, number) + 1);
  }
  return Status();
}

// Writes the slices that come first to out[0], the axis back in its place.
template <typename T>
Status TakeFirsts(const KernelCall& call, const Slices<T>& slices, const int64_t* firsts, const Sliced& result) {
  T* const output = MutableData<T>(*call.out[0]);
  if (result.outer == 1) {
    for (int64_t i = 0; i < result.size; ++i) {
      std::copy_n(slices.data + firsts[i] * slices.width, slices.width, output + i * slices.width);
    }
    return Status();
  }
  const Scratch rows(call, result.size * slices.width * static_cast<int64_t>(sizeof(T)));
  if (!rows.ok()) return OutOfScratch();
  for (int64_t i = 0; i < result.size; ++i) {
    std::copy_n(slices.data + firsts[i] * slices.width, slices.width, rows.data<T>() + i * slices.width);
  }
  return MoveAxis(call, result, sizeof(T), false, rows.data<char>(), output);
}

template <typename T>
Status UniqueSlices(const KernelCall& call, int axis, const Sliced& sliced) {
  const Tensor& input = *call.in[0];
  const int64_t width = sliced.outer * sliced.inner;
  const bool is_moved = sliced.outer > 1 && input.count > 0;
  const Scratch moved(call, is_moved ? input.count * static_cast<int64_t>(sizeof(T)) : 0);
  const Scratch firsts(call, (sliced.size + 1) * 8);
  if (!moved.ok() || !firsts.ok()) return OutOfScratch();
  Slices<T> slices{Data<T>(input), width};
  if (is_moved) {
    STILLFLOW_RETURN_IF_ERROR(MoveAxis(call, sliced, sizeof(T), true, input.data, moved.data<char>()));
    slices.data = moved.data<T>();
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateIndices(call, 1, sliced.size));
  int64_t unique = 0;
  STILLFLOW_RETURN_IF_ERROR(Number(call, slices, sliced.size, firsts.data<int64_t>(), &unique));
  if (call.out_count > 2) STILLFLOW_RETURN_IF_ERROR(CountEach(call, unique));
  Shape shape(input);
  shape.dims[axis] = unique;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, shape));
  if (call.out[0]->count == 0) return Status();
  STILLFLOW_RETURN_IF_ERROR(
      TakeFirsts(call, slices, firsts.data<int64_t>(), Sliced{sliced.outer, unique, sliced.inner}));
  RetainStrings(*call.out[0]);
  return Status();
}

Status Unique(const KernelCall& call) {
  int axis = 0;
  STILLFLOW_RETURN_IF_ERROR(ReadAxis(call, &axis));
  const Shape shape(*call.in[0]);
  const Sliced sliced{shape.Count(0, axis), shape.dims[axis], shape.Count(axis + 1, shape.rank)};
  if (sliced.size > INT32_MAX) {
    return STILLFLOW_INVALID_ARGUMENT("unique does not support input tensors larger than %d elements", INT32_MAX);
  }
  return ForKeyType("Unique", call.in[0]->dtype,
                    [&](auto tag) { return UniqueSlices<typename decltype(tag)::type>(call, axis, sliced); });
}

// ---- list_diff ----------------------------------------------------------------------------------------------------

template <typename T>
Status Subtract(const KernelCall& call) {
  const Slices<T> x{Data<T>(*call.in[0]), 1};
  const Slices<T> y{Data<T>(*call.in[1]), 1};
  const int64_t x_count = call.in[0]->count;
  const int64_t y_count = call.in[1]->count;
  const Scratch firsts(call, (y_count + 1) * 8);
  const Scratch kept(call, (x_count + 1) * 8);
  Table<T> table(call, y_count);
  if (!firsts.ok() || !kept.ok() || !table.ok()) return OutOfScratch();
  int64_t members = 0;
  for (int64_t i = 0; i < y_count; ++i) {
    firsts.data<int64_t>()[members] = i;
    members += table.Find(y, i, y, firsts.data<int64_t>(), members) == members;
  }
  int64_t count = 0;
  for (int64_t i = 0; i < x_count; ++i) {
    kept.data<int64_t>()[count] = i;
    count += table.Find(x, i, y, firsts.data<int64_t>(), -1) == -1;
  }
  Shape shape;
  shape.Add(count);
  STILLFLOW_RETURN_IF_ERROR(AllocateIndices(call, 1, count));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, call.in[0]->dtype, shape));
  for (int64_t i = 0; i < count; ++i) {
    MutableData<T>(*call.out[0])[i] = x.data[kept.data<int64_t>()[i]];
    SetIndex(*call.out[1], i, kept.data<int64_t>()[i]);
  }
  RetainStrings(*call.out[0]);
  return Status();
}

Status ListDiff(const KernelCall& call) {
  if (call.in[0]->rank != 1) return STILLFLOW_INVALID_ARGUMENT("x should be a 1D vector.");
  if (call.in[1]->rank != 1) return STILLFLOW_INVALID_ARGUMENT("y should be a 1D vector.");
  return ForKeyType("ListDiff", call.in[0]->dtype,
                    [&](auto tag) { return Subtract<typename decltype(tag)::type>(call); });
}

}  // namespace

STILLFLOW_KERNELS(array, unique){{"unique", "x | out_idx", Unique},
                                 {"unique_along", "x, axis | out_idx", Unique},
                                 {"list_diff", "x, y | out_idx", ListDiff},
                                 {}};

}  // namespace stillflow
