// arg_extremum: where along an axis the largest or smallest element is.
//
//   in[0]  input  numbers
//   in[1]  axis   int32 | int64 scalar; negative counts from the end
//   out[0] the input's shape without the axis, int32 or int64 as attr 0 says
//   attrs  output type; whether the smallest is looked for
//
// Of equal elements the first counts, and NaN does not unless there is nothing else.
#include <algorithm>

#include "math/scalar.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 16384;
constexpr int64_t kColumns = 256;

template <typename T>
auto Load(T value) {
  if constexpr (kIsFloating<T>) {
    return Widen(value);
  } else {
    return value;
  }
}

struct Larger {
  template <typename W>
  static bool IsBetter(W a, W b) {
    return a > b;
  }
};
struct Smaller {
  template <typename W>
  static bool IsBetter(W a, W b) {
    return a < b;
  }
};

// The input seen as [outer, size, inner].
struct Layout {
  int64_t outer;
  int64_t size;
  int64_t inner;
};

template <typename Order, typename T>
int64_t FindInRow(const T* row, int64_t size) {
  constexpr int kLanes = 16;
  int64_t first = 0;
  if constexpr (kIsFloating<T>) {
    while (first < size && Load(row[first]) != Load(row[first])) ++first;
    if (first == size) return 0;
  }
  using W = decltype(Load(T{}));
  W best = Load(row[first]);
  if (size - first < 4 * kLanes) {
    int64_t index = first;
    for (int64_t i = first + 1; i < size; ++i) {
      const W value = Load(row[i]);
      if (Order::IsBetter(value, best)) {
        best = value;
        index = i;
      }
    }
    return index;
  }
  // The best value first, by lanes; then where it is.
  W lanes[kLanes];
  for (int j = 0; j < kLanes; ++j) lanes[j] = best;
  int64_t i = first;
  for (; i + kLanes <= size; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) {
      const W value = Load(row[i + j]);
      lanes[j] = Order::IsBetter(value, lanes[j]) ? value : lanes[j];
    }
  }
  for (int j = 0; i < size; ++i, ++j) {
    const W value = Load(row[i]);
    lanes[j] = Order::IsBetter(value, lanes[j]) ? value : lanes[j];
  }
  for (int j = 0; j < kLanes; ++j) best = Order::IsBetter(lanes[j], best) ? lanes[j] : best;
  int64_t index = first;
  while (Load(row[index]) != best) ++index;
  return index;
}

template <typename Order, typename T, typename Index>
void FindInColumns(const Layout& layout, const T* from, int64_t count, Index* to) {
  using W = decltype(Load(T{}));
  W best[kColumns];
  for (int64_t j = 0; j < count; ++j) {
    best[j] = Load(from[j]);
    to[j] = 0;
  }
  for (int64_t i = 1; i < layout.size; ++i) {
    const T* row = from + i * layout.inner;
    for (int64_t j = 0; j < count; ++j) {
      const W value = Load(row[j]);
      const bool is_better = Order::IsBetter(value, best[j]) | ((best[j] != best[j]) & (value == value));
      best[j] = is_better ? value : best[j];
      to[j] = is_better ? static_cast<Index>(i) : to[j];
    }
  }
}

template <typename Order, typename T, typename Index>
Status Find(const KernelCall& call, const Layout& layout) {
  const T* from = Data<T>(*call.in[0]);
  Index* to = MutableData<Index>(*call.out[0]);
  if (layout.inner == 1) {
    const int64_t rows_per_chunk = std::max<int64_t>(kElementsPerChunk / layout.size, 1);
    return ForEachChunk(call, layout.outer, rows_per_chunk, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        to[i] = static_cast<Index>(FindInRow<Order>(from + i * layout.size, layout.size));
      }
    });
  }
  const int64_t width = std::min(layout.inner, kColumns);
  const int64_t tiles = (layout.inner + width - 1) / width;
  const int64_t chunk = std::max<int64_t>(kElementsPerChunk / (layout.size * width), 1);
  return ForEachChunk(call, layout.outer * tiles, chunk, [&](Range range) {
    for (int64_t task = range.begin; task < range.end; ++task) {
      const int64_t outer = task / tiles;
      const int64_t column = task % tiles * width;
      FindInColumns<Order>(layout, from + outer * layout.size * layout.inner + column,
                           std::min(width, layout.inner - column), to + outer * layout.inner + column);
    }
  });
}

template <typename T, typename Index>
Status FindEither(const KernelCall& call, const Layout& layout, bool finds_smallest) {
  return finds_smallest ? Find<Smaller, T, Index>(call, layout) : Find<Larger, T, Index>(call, layout);
}

Status ReadAxis(const Tensor& input, const Tensor& tensor, int* axis) {
  if (tensor.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("dim must be a scalar, but received tensor of shape: %s",
                                      ShapeText(tensor).c_str());
  }
  const int64_t value = IntAt(tensor, 0);
  if (value < -input.rank || value >= input.rank) {
    return STILLFLOW_INVALID_ARGUMENT("Expected dimension in the range [%d, %d), but got %lld", -input.rank,
                                      input.rank, static_cast<long long>(value));
  }
  *axis = static_cast<int>(value < 0 ? value + input.rank : value);
  if (input.dims[*axis] > 0) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Reduction axis %d is empty in shape %s", *axis, ShapeText(input).c_str());
}

Status ArgExtremum(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const auto type = static_cast<DType>(call.attrs[0].i);
  const bool finds_smallest = call.attrs[1].i != 0;
  int axis = 0;
  STILLFLOW_RETURN_IF_ERROR(ReadAxis(input, *call.in[1], &axis));
  Shape shape;
  for (int i = 0; i < input.rank; ++i) {
    if (i != axis) shape.Add(input.dims[i]);
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, type, shape));
  if (input.count == 0) return Status();
  const Layout layout{shape.Count(0, axis), input.dims[axis], shape.Count(axis, shape.rank)};
  return ForType<float, double, Half, BFloat16, int64_t, int32_t, int16_t, int8_t, uint64_t, uint32_t, uint16_t,
                 uint8_t>(finds_smallest ? "ArgMin" : "ArgMax", input.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return type == DType::kInt32 ? FindEither<T, int32_t>(call, layout, finds_smallest)
                                 : FindEither<T, int64_t>(call, layout, finds_smallest);
  });
}

}  // namespace

STILLFLOW_KERNELS(arg_extremum){{"arg_extremum", "input, axis | output_type, finds_smallest", ArgExtremum}, {}};

}  // namespace stillflow
