// reduce: sums, means, products, extrema, all and any over some axes.
//
//   in[0]  input  any shape
//   in[1]  axes   int32 | int64, scalar or vector; negative ones count from the end
//   out[0] output the input's shape without the axes, or with 1 in their place
//   attrs  keep_dims; operation: 0 sum, 1 mean, 2 prod, 3 max, 4 min, 5 all, 6 any, 7 root of the sum of squares
//
// l2_loss: half the sum of all squares, a scalar.
//
// bias_add_grad: sums over everything but the channels: the last axis, or axis 1 if attr 0 is "NCHW".
//
// The order of combination follows from the shape alone: runs of kRun elements are combined in kLanes lanes,
// the lanes by a tree, and the runs' results by a tree again. Half types are accumulated in float.
#include <algorithm>
#include <limits>

#include "math/lanes.h"

namespace stillflow {
namespace {

constexpr int kLanes = 32;
constexpr int64_t kRun = 1024;       // elements of a contiguous run
constexpr int64_t kRowsPerRun = 64;  // rows of a run when whole rows are combined
constexpr int64_t kElementsPerChunk = 32768;
constexpr int64_t kColumnsPerTile = 4096;

enum class Operation { kSum, kMean, kProd, kMax, kMin, kAll, kAny, kEuclideanNorm, kHalfOfSquares };

template <typename Acc, typename T>
inline Acc Load(T value) {
  if constexpr (kIsFloating<T>) {
    return Widen(value);
  } else {
    return value;
  }
}

// What is combined: Start is neutral, Prepare takes an element. Floating-point numbers come as vectors as well.
template <typename Acc>
struct Plain {
  template <typename T>
  STILLFLOW_INLINE static T Prepare(T value) {
    return value;
  }
};

// Integers wrap around.
template <typename T>
using Wrapping = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;

template <typename Acc>
struct Sum : Plain<Acc> {
  static Acc Start() { return Acc{0}; }
  template <typename V>
  STILLFLOW_INLINE static V Combine(V a, V b) {
    return static_cast<V>(static_cast<Wrapping<V>>(a) + static_cast<Wrapping<V>>(b));
  }
};
template <typename Acc>
struct SumOfSquares : Sum<Acc> {
  template <typename V>
  STILLFLOW_INLINE static V Prepare(V value) {
    return static_cast<V>(static_cast<Wrapping<V>>(value) * static_cast<Wrapping<V>>(value));
  }
};
template <typename Acc>
struct Prod : Plain<Acc> {
  static Acc Start() { return Acc{1}; }
  template <typename V>
  STILLFLOW_INLINE static V Combine(V a, V b) {
    return static_cast<V>(static_cast<Wrapping<V>>(a) * static_cast<Wrapping<V>>(b));
  }
};
// A NaN stays; a may be one, and then b is not greater.
template <typename Acc>
struct Max : Plain<Acc> {
  static Acc Start() {
    return std::is_floating_point_v<Acc> ? -std::numeric_limits<Acc>::infinity() : std::numeric_limits<Acc>::lowest();
  }
  template <typename V>
  STILLFLOW_INLINE static V Combine(V a, V b) {
    const V larger = b > a ? b : a;
    return b != b ? b : larger;
  }
};
template <typename Acc>
struct Min : Plain<Acc> {
  static Acc Start() {
    return std::is_floating_point_v<Acc> ? std::numeric_limits<Acc>::infinity() : std::numeric_limits<Acc>::max();
  }
  template <typename V>
  STILLFLOW_INLINE static V Combine(V a, V b) {
    const V smaller = b < a ? b : a;
    return b != b ? b : smaller;
  }
};
struct All : Plain<bool> {
  static bool Start() { return true; }
  static bool Combine(bool a, bool b) { return a & b; }
};
struct Any : Plain<bool> {
  static bool Start() { return false; }
  static bool Combine(bool a, bool b) { return a | b; }
};

// Combines values[0], values[stride], ..., `width` of each, by a tree: neighbours first.
template <typename Op, typename Acc>
void CombineTree(Acc* values, int64_t count, int64_t stride, int64_t width) {
  while (count > 1) {
    const int64_t half = count / 2;
    for (int64_t i = 0; i < half; ++i) {
      for (int64_t j = 0; j < width; ++j) {
        values[i * stride + j] = Op::Combine(values[2 * i * stride + j], values[(2 * i + 1) * stride + j]);
      }
    }
    if (count % 2 != 0) std::copy_n(values + (count - 1) * stride, width, values + half * stride);
    count = half + count % 2;
  }
}

template <typename Op, typename Acc, typename T>
Acc CombineRun(const T* data, int64_t count) {
  if constexpr (std::is_same_v<T, Acc> && std::is_floating_point_v<T>) {
    return CombineInLanes<Op, kLanes>(data, count, Op::Start());
  } else {
    Acc lanes[kLanes];
    for (int j = 0; j < kLanes; ++j) lanes[j] = Op::Start();
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      for (int j = 0; j < kLanes; ++j) lanes[j] = Op::Combine(lanes[j], Op::Prepare(Load<Acc>(data[i + j])));
    }
    for (int j = 0; i < count; ++i, ++j) lanes[j] = Op::Combine(lanes[j], Op::Prepare(Load<Acc>(data[i])));
    for (int width = kLanes / 2; width > 0; width /= 2) {
      for (int j = 0; j < width; ++j) lanes[j] = Op::Combine(lanes[j], lanes[j + width]);
    }
    return lanes[0];
  }
}

// What is reduced, seen as [outer, reduced, inner].
struct Extent {
  int64_t outer;
  int64_t reduced;
  int64_t inner;
};

template <typename Acc, typename T>
inline T Finish(Acc value, Operation operation, int64_t count) {
  if (operation == Operation::kMean) {
    if constexpr (std::is_integral_v<T>) {
      using Widest = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
      return count == 0 ? T{0} : static_cast<T>(static_cast<Widest>(value) / static_cast<Widest>(count));
    } else {
      return Narrow<T>(value / static_cast<Acc>(count));
    }
  }
  if constexpr (kIsFloating<T>) {
    if (operation == Operation::kEuclideanNorm) value = Sqrt(value);
    if (operation == Operation::kHalfOfSquares) value *= Acc{0.5};
    return Narrow<T>(value);
  } else {
    if (operation == Operation::kEuclideanNorm) return static_cast<T>(Sqrt(static_cast<double>(value)));
    return static_cast<T>(value);
  }
}

// inner == 1: every output is the combination of a contiguous row.
template <typename Op, typename Acc, typename T>
Status ReduceRows(const KernelCall& call, Operation operation, const Extent& extent, const T* from, T* to) {
  const int64_t runs = std::max<int64_t>((extent.reduced + kRun - 1) / kRun, 1);
  if (runs == 1) {
    const int64_t rows_per_chunk = std::max<int64_t>(kElementsPerChunk / std::max<int64_t>(extent.reduced, 16), 1);
    return ForEachChunk(call, extent.outer, rows_per_chunk, [&](Range rows) {
      for (int64_t i = rows.begin; i < rows.end; ++i) {
        const Acc value = CombineRun<Op, Acc>(from + i * extent.reduced, extent.reduced);
        to[i] = Finish<Acc, T>(value, operation, extent.reduced);
      }
    });
  }
  const Scratch scratch(call, extent.outer * runs * static_cast<int64_t>(sizeof(Acc)));
  if (!scratch.ok()) return OutOfScratch();
  Acc* partial = scratch.data<Acc>();
  STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, extent.outer * runs, kElementsPerChunk / kRun, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const int64_t row = i / runs;
      const int64_t begin = i % runs * kRun;
      partial[i] = CombineRun<Op, Acc>(from + row * extent.reduced + begin, std::min(kRun, extent.reduced - begin));
    }
  }));
  for (int64_t row = 0; row < extent.outer; ++row) {
    CombineTree<Op>(partial + row * runs, runs, 1, 1);
    to[row] = Finish<Acc, T>(partial[row * runs], operation, extent.reduced);
  }
  return Status();
}

// Whole rows of `inner` elements are combined, element by element; several at a time, which saves as many passes over
// what they are combined to.
template <typename Op, typename Acc, typename T>
void CombineRows(const T* from, int64_t rows, int64_t stride, int64_t width, Acc* to) {
  const auto prepared = [](const T* row, int64_t j) { return Op::Prepare(Load<Acc>(row[j])); };
  for (int64_t j = 0; j < width; ++j) to[j] = Op::Start();
  int64_t i = 0;
  for (; i + 4 <= rows; i += 4) {
    const T* a = from + i * stride;
    const T* b = a + stride;
    const T* c = b + stride;
    const T* d = c + stride;
#pragma GCC ivdep
    for (int64_t j = 0; j < width; ++j) {
      const Acc two = Op::Combine(Op::Combine(to[j], prepared(a, j)), prepared(b, j));
      to[j] = Op::Combine(Op::Combine(two, prepared(c, j)), prepared(d, j));
    }
  }
  for (; i < rows; ++i) {
    const T* row = from + i * stride;
#pragma GCC ivdep
    for (int64_t j = 0; j < width; ++j) to[j] = Op::Combine(to[j], prepared(row, j));
  }
}

template <typename Op, typename Acc, typename T>
Status ReduceColumns(const KernelCall& call, Operation operation, const Extent& extent, const T* from, T* to) {
  const int64_t runs = std::max<int64_t>((extent.reduced + kRowsPerRun - 1) / kRowsPerRun, 1);
  const int64_t width = extent.inner;
  const Scratch scratch(call, extent.outer * runs * width * static_cast<int64_t>(sizeof(Acc)));
  if (!scratch.ok()) return OutOfScratch();
  Acc* partial = scratch.data<Acc>();
  // A tile of columns at a time keeps a run's sums in the first-level cache.
  const int64_t tile = std::min(width, kColumnsPerTile);
  const int64_t tiles = (width + tile - 1) / tile;
  const int64_t tasks = extent.outer * runs * tiles;
  const int64_t tasks_per_chunk =
      std::max<int64_t>(kElementsPerChunk / (std::min(kRowsPerRun, extent.reduced + 1) * tile), 1);
  STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, tasks, tasks_per_chunk, [&](Range range) {
    for (int64_t task = range.begin; task < range.end; ++task) {
      const int64_t column = task % tiles * tile;
      const int64_t run = task / tiles % runs;
      const int64_t outer = task / tiles / runs;
      const int64_t row = run * kRowsPerRun;
      CombineRows<Op, Acc>(from + (outer * extent.reduced + row) * width + column,
                           std::min(kRowsPerRun, extent.reduced - row), width, std::min(tile, width - column),
                           partial + (outer * runs + run) * width + column);
    }
  }));
  const int64_t tiles_per_chunk = std::max<int64_t>(kElementsPerChunk / (runs * tile), 1);
  return ForEachChunk(call, extent.outer * tiles, tiles_per_chunk, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const int64_t outer = i / tiles;
      const int64_t column = i % tiles * tile;
      const int64_t columns = std::min(tile, width - column);
      Acc* sums = partial + outer * runs * width + column;
      CombineTree<Op>(sums, runs, width, columns);
      T* results = to + outer * width + column;
      for (int64_t j = 0; j < columns; ++j) results[j] = Finish<Acc, T>(sums[j], operation, extent.reduced);
    }
  });
}

template <typename Op, typename Acc, typename T>
Status ReduceExtent(const KernelCall& call, Operation operation, const Extent& extent, const T* from, T* to) {
  if (extent.outer * extent.inner == 0) return Status();
  return extent.inner == 1 ? ReduceRows<Op, Acc>(call, operation, extent, from, to)
                           : ReduceColumns<Op, Acc>(call, operation, extent, from, to);
}

// The axes to reduce, checked.
Status ReadAxes(const Tensor& input, const Tensor& axes, bool* is_reduced) {
  if (axes.rank > 1) {
    return STILLFLOW_INVALID_ARGUMENT("Expected reduction axes to be a scalar or vector, got shape %s",
                                      ShapeText(axes).c_str());
  }
  std::fill_n(is_reduced, kMaxRank, false);
  for (int64_t i = 0; i < axes.count; ++i) {
    const int64_t axis = IntAt(axes, i);
    if (axis < -input.rank || axis >= input.rank) {
      return STILLFLOW_INVALID_ARGUMENT("Invalid reduction dimension (%lld for input with %d dimension(s)",
                                        static_cast<long long>(axis), input.rank);
    }
    const int64_t position = axis < 0 ? axis + input.rank : axis;
    is_reduced[position] = true;
  }
  return Status();
}

// Neighbouring axes of one kind merged: alternating kept and reduced dimensions.
struct Layout {
  int count = 0;
  int64_t dims[kMaxRank];
  bool is_reduced[kMaxRank];
};

Layout Merge(const Tensor& input, const bool* is_reduced) {
  Layout layout;
  for (int i = 0; i < input.rank; ++i) {
    if (input.dims[i] == 1) continue;
    if (layout.count > 0 && layout.is_reduced[layout.count - 1] == is_reduced[i]) {
      layout.dims[layout.count - 1] *= input.dims[i];
    } else {
      layout.dims[layout.count] = input.dims[i];
      layout.is_reduced[layout.count++] = is_reduced[i];
    }
  }
  return layout;
}

// Copies the input so that kept dimensions come first and reduced ones last, each in their order.
template <typename T>
void Gather(const Layout& layout, const T* from, T* to) {
  int order[kMaxRank];
  int next = 0;
  for (const bool wanted : {false, true}) {
    for (int i = 0; i < layout.count; ++i) {
      if (layout.is_reduced[i] == wanted) order[next++] = i;
    }
  }
  int64_t strides[kMaxRank];
  int64_t stride = 1;
  for (int i = layout.count - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= layout.dims[i];
  }
  int64_t position[kMaxRank] = {};
  int64_t at = 0;
  for (int64_t n = 0; n < stride; ++n) {
    to[n] = from[at];
    for (int k = layout.count - 1; k >= 0; --k) {
      const int axis = order[k];
      at += strides[axis];
      if (++position[axis] < layout.dims[axis]) break;
      at -= layout.dims[axis] * strides[axis];
      position[axis] = 0;
    }
  }
}

template <typename Op, typename Acc, typename T>
Status Reduce(const KernelCall& call, Operation operation, const bool* is_reduced) {
  const Tensor& input = *call.in[0];
  const T* from = Data<T>(input);
  T* to = MutableData<T>(*call.out[0]);
  const Layout layout = Merge(input, is_reduced);
  const bool starts_kept = layout.count > 0 && !layout.is_reduced[0];
  if (layout.count <= (starts_kept ? 3 : 2)) {
    const int first = starts_kept ? 0 : -1;
    const auto dim = [&](int i) { return i >= 0 && i < layout.count ? layout.dims[i] : int64_t{1}; };
    return ReduceExtent<Op, Acc>(call, operation, Extent{dim(first), dim(first + 1), dim(first + 2)}, from, to);
  }
  const Scratch scratch(call, input.count * static_cast<int64_t>(sizeof(T)));
  if (!scratch.ok()) return OutOfScratch();
  Gather(layout, from, scratch.data<T>());
  Extent extent{1, 1, 1};
  for (int i = 0; i < layout.count; ++i) (layout.is_reduced[i] ? extent.reduced : extent.outer) *= layout.dims[i];
  return ReduceExtent<Op, Acc>(call, operation, extent, scratch.data<T>(), to);
}

template <typename T>
Status ReduceNumbers(const KernelCall& call, Operation operation, const bool* is_reduced) {
  if constexpr (kIsFloating<T>) {
    using Acc = Wide<T>;
    switch (operation) {
      case Operation::kProd:
        return Reduce<Prod<Acc>, Acc, T>(call, operation, is_reduced);
      case Operation::kMax:
        return Reduce<Max<Acc>, Acc, T>(call, operation, is_reduced);
      case Operation::kMin:
        return Reduce<Min<Acc>, Acc, T>(call, operation, is_reduced);
      case Operation::kEuclideanNorm:
      case Operation::kHalfOfSquares:
        return Reduce<SumOfSquares<Acc>, Acc, T>(call, operation, is_reduced);
      default:
        return Reduce<Sum<Acc>, Acc, T>(call, operation, is_reduced);
    }
  } else {
    switch (operation) {
      case Operation::kProd:
        return Reduce<Prod<T>, T, T>(call, operation, is_reduced);
      case Operation::kMax:
        return Reduce<Max<T>, T, T>(call, operation, is_reduced);
      case Operation::kMin:
        return Reduce<Min<T>, T, T>(call, operation, is_reduced);
      case Operation::kEuclideanNorm:
        return Reduce<SumOfSquares<T>, T, T>(call, operation, is_reduced);
      default:
        return Reduce<Sum<T>, T, T>(call, operation, is_reduced);
    }
  }
}

Status ReduceKernel(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const bool keeps_dims = call.attrs[0].i != 0;
  const auto operation = static_cast<Operation>(call.attrs[1].i);
  bool is_reduced[kMaxRank];
  STILLFLOW_RETURN_IF_ERROR(ReadAxes(input, *call.in[1], is_reduced));
  Shape shape;
  for (int i = 0; i < input.rank; ++i) {
    if (!is_reduced[i]) shape.Add(input.dims[i]);
    if (is_reduced[i] && keeps_dims) shape.Add(1);
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, shape));
  if (operation == Operation::kAll || operation == Operation::kAny) {
    if (input.dtype != DType::kBool)
      return UnsupportedType(operation == Operation::kAll ? "All" : "Any", input.dtype);
    return operation == Operation::kAll ? Reduce<All, bool, bool>(call, operation, is_reduced)
                                        : Reduce<Any, bool, bool>(call, operation, is_reduced);
  }
  return ForType<float, double, Half, BFloat16, int64_t, int32_t, int16_t, int8_t, uint64_t, uint32_t, uint16_t,
                 uint8_t>("reduction", input.dtype, [&](auto tag) {
    return ReduceNumbers<typename decltype(tag)::type>(call, operation, is_reduced);
  });
}

Status L2Loss(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  bool is_reduced[kMaxRank];
  std::fill_n(is_reduced, kMaxRank, true);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, Shape()));
  return ForType<float, double, Half, BFloat16>("L2Loss", input.dtype, [&](auto tag) {
    return ReduceNumbers<typename decltype(tag)::type>(call, Operation::kHalfOfSquares, is_reduced);
  });
}

Status BiasAddGrad(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const bool is_nchw = call.attrs[0].size == 4 && std::memcmp(call.attrs[0].data, "NCHW", 4) == 0;
  if (input.rank < 2) {
    return STILLFLOW_INVALID_ARGUMENT("Input tensor must be at least 2D: %s", ShapeText(input).c_str());
  }
  const int axis = is_nchw ? 1 : input.rank - 1;
  bool is_reduced[kMaxRank];
  std::fill_n(is_reduced, kMaxRank, true);
  is_reduced[axis] = false;
  Shape shape;
  shape.Add(input.dims[axis]);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, shape));
  return ForType<float, double, Half, BFloat16, int64_t, int32_t, int16_t, int8_t, uint8_t>(
      "BiasAddGrad", input.dtype,
      [&](auto tag) { return ReduceNumbers<typename decltype(tag)::type>(call, Operation::kSum, is_reduced); });
}

}  // namespace

STILLFLOW_KERNELS(reduce){{"reduce", "input, axes | keep_dims, operation", ReduceKernel},
                          {"l2_loss", "t", L2Loss},
                          {"bias_add_grad", "out_backprop | data_format", BiasAddGrad},
                          {}};

}  // namespace stillflow
