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
// The order of combination follows from the shape alone: runs of kRun elements are combined in kReductionLanes lanes,
// the lanes by a tree, and the runs' results by a tree again. Half types are accumulated in float.
#include <algorithm>

#include "kernel_api/processor.h"
#include "kernel_api/stream.h"
#include "math/reduction.h"
#include "movement/prefetch.h"
#include "movement/strided_copy.h"
#include "movement/transposed_tile.h"

namespace stillflow {
namespace {

constexpr int64_t kRun = kReductionRun;  // elements of a contiguous run
constexpr int64_t kRowsPerRun = 64;      // rows of a run when whole rows are combined
constexpr int64_t kElementsPerChunk = 32768;
constexpr int64_t kColumnsPerTile = 4096;
// Elements of rows that are taken apart by column. Longer ones fill registers well enough.
template <typename Acc, typename T>
constexpr int64_t kMostShort = !kFillsRegisters<Acc, T> ? kReductionLanes
                               : kRegisterBytes == 64   ? 20
                                                        : 28;
constexpr int64_t kMostAtOnceInMemory = 256;  // elements of rows for which what ends a row takes longer than memory
constexpr int64_t kFetchedBytes = 4 << 20;    // of arrays whose rows are asked for: more than a second-level cache

enum class Operation { kSum, kMean, kProd, kMax, kMin, kAll, kAny, kEuclideanNorm, kHalfOfSquares };

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

// Rows of elements that lie in segments: row i begins at i * pitch, its segments are `stride` apart.
struct Rows {
  int64_t count;
  int64_t length;
  int64_t pitch;
  int64_t segment;
  int64_t stride;

  static Rows Adjacent(int64_t count, int64_t length) { return {count, length, length, length, length}; }
  bool AreAdjacent() const { return segment == length; }
  int64_t Runs() const { return std::max<int64_t>((length + kRun - 1) / kRun, 1); }  // of a row
  int64_t RunLength(int64_t run) const { return std::min(kRun, length - run % Runs() * kRun); }
  // Where it begins if rows are adjacent.
  int64_t RunOffset(int64_t run) const { return run / Runs() * length + run % Runs() * kRun; }
  // Whether they may lie in a cache.
  bool FitCache(int64_t element_bytes) const { return !IsStreamed(count * length * element_bytes); }
};

// Where `count` elements of a row stand one after another: a copy in `buffer`, if need be. Segments that are far from
// each other are asked for before they are read.
template <typename T>
const T* Fetch(const Rows& rows, const T* from, int64_t row, int64_t begin, int64_t count, T* buffer) {
  from += row * rows.pitch;
  if (rows.AreAdjacent()) return from + begin;
  const int64_t ahead = rows.FitCache(sizeof(T)) ? 0 : (kRun + rows.segment - 1) / rows.segment * rows.stride;
  int64_t in_segment = begin % rows.segment;
  from += begin / rows.segment * rows.stride;
  for (int64_t done = 0; done < count; from += rows.stride, in_segment = 0) {
    const int64_t part = std::min(rows.segment - in_segment, count - done);
    if (ahead > 0) PrefetchRow(from + in_segment + ahead, part * static_cast<int64_t>(sizeof(T)));
    CopyBytes(reinterpret_cast<char*>(buffer + done), reinterpret_cast<const char*>(from + in_segment),
              part * static_cast<int64_t>(sizeof(T)));
    done += part;
  }
  return buffer;
}

// Combines `count` elements of a row, which begin at a multiple of kRun. Segments that fill the lanes are not copied.
template <typename Op, typename Acc, typename T>
Acc CombinePart(const Rows& rows, const T* from, int64_t row, int64_t begin, int64_t count, T* buffer) {
  if constexpr (kFillsRegisters<Acc, T>) {
    if (!rows.AreAdjacent() && rows.segment % kReductionLanes == 0) {
      using L = Lane<Op, T>;
      CombinedLanes<Op, kReductionLanes, L> lanes(static_cast<L>(Op::Start()));
      const T* segment = from + row * rows.pitch + begin / rows.segment * rows.stride;
      int64_t skipped = begin % rows.segment;
      for (int64_t left = count; left > 0; segment += rows.stride, skipped = 0) {
        const int64_t part = std::min(rows.segment - skipped, left);
        lanes.Add(reinterpret_cast<const L*>(segment + skipped), part);
        left -= part;
      }
      return static_cast<Acc>(lanes.Total());
    }
  }
  const bool is_in_memory = rows.AreAdjacent() && !rows.FitCache(sizeof(T));
  return CombineRun<Op, Acc>(Fetch(rows, from, row, begin, count, buffer), count, is_in_memory);
}

// Calls store(i, combination of run i) for the runs of a range; every row has Rows::Runs of them.
template <typename Op, typename Acc, typename T, typename Store>
void CombineRuns(const Rows& rows, const T* from, Range range, const Store& store) {
  const int64_t runs = rows.Runs();
  int64_t i = range.begin;
  if constexpr (kFillsRegisters<Acc, T>) {
    const bool are_pairs = kProcessor.reads_in_pairs && rows.AreAdjacent() && !rows.FitCache(sizeof(T));
    const int64_t apart = are_pairs ? (range.end - range.begin) / 2 : 0;
    for (const int64_t end = i + apart; i < end; ++i) {
      const int64_t j = i + apart;
      Acc values[2];
      CombineTwoRuns<Op>(from + rows.RunOffset(i), rows.RunLength(i), from + rows.RunOffset(j), rows.RunLength(j),
                         values);
      store(i, values[0]);
      store(j, values[1]);
    }
    i += apart;
  }
  T buffer[kRun];
  for (; i < range.end; ++i) {
    store(i, CombinePart<Op, Acc>(rows, from, i / runs, i % runs * kRun, rows.RunLength(i), buffer));
  }
}

// Every output is the combination of a row of at most kRun elements.
template <typename Op, typename Acc, typename T>
Status ReduceSingleRuns(const KernelCall& call, Operation operation, const Rows& rows, const T* from, T* to) {
  const int64_t rows_per_chunk = std::max<int64_t>(kElementsPerChunk / std::max<int64_t>(rows.length, 16), 1);
  const bool are_short = 0 < rows.length && rows.length <= kMostShort<Acc, T> && rows.AreAdjacent();
  const bool is_in_memory = !rows.FitCache(sizeof(T));
  const bool is_worth_it = !is_in_memory || (!kProcessor.reads_in_pairs && rows.length <= kMostAtOnceInMemory);
  const bool are_at_once = rows.length > kMostShort<Acc, T> && rows.AreAdjacent() && is_worth_it;
  return ForEachChunk(call, rows.count, rows_per_chunk, [&](Range range) {
    int64_t i = range.begin;
    while (are_short && i + 1 < range.end) {
      Acc values[kShortRowsPerTile];
      const int64_t count = std::min(kShortRowsPerTile, range.end - i);
      const int64_t behind = (rows.count - i - count) * rows.length;
      CombineShortRows<Op>(from + i * rows.length, count, rows.length, behind, values);
      for (int64_t k = 0; k < count; ++k) to[i + k] = Finish<Acc, T>(values[k], operation, rows.length);
      i += count;
    }
    if constexpr (kFillsRegisters<Acc, T>) {
      constexpr int64_t kRows = kRegisterBytes / sizeof(T);
      Acc values[kRows];
      for (; are_at_once && i + kRows <= range.end; i += kRows) {
        CombineRunsAtOnce<Op>(from + i * rows.length, rows.length, is_in_memory, values);
        for (int64_t k = 0; k < kRows; ++k) to[i + k] = Finish<Acc, T>(values[k], operation, rows.length);
      }
    }
    CombineRuns<Op, Acc>(rows, from, Range{i, range.end},
                         [=](int64_t row, Acc value) { to[row] = Finish<Acc, T>(value, operation, rows.length); });
  });
}

template <typename Op, typename Acc, typename T>
Status ReduceRows(const KernelCall& call, Operation operation, const Rows& rows, const T* from, T* to) {
  if (rows.length <= kRun) return ReduceSingleRuns<Op, Acc>(call, operation, rows, from, to);
  const int64_t runs = rows.Runs();
  const Scratch scratch(call, rows.count * runs * static_cast<int64_t>(sizeof(Acc)));
  if (!scratch.ok()) return OutOfScratch();
  Acc* partial = scratch.data<Acc>();
  STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, rows.count * runs, kElementsPerChunk / kRun, [&](Range range) {
    CombineRuns<Op, Acc>(rows, from, range, [=](int64_t run, Acc value) { partial[run] = value; });
  }));
  for (int64_t row = 0; row < rows.count; ++row) {
    CombineTree<Op>(partial + row * runs, runs, 1, 1);
    to[row] = Finish<Acc, T>(partial[row * runs], operation, rows.length);
  }
  return Status();
}

// Runs of rows with fewer columns do not fill a register: as many runs as it has lanes are combined side by side.
constexpr int64_t kMostNarrow = 8;
template <typename T>
constexpr int64_t kRunsAtOnce = kRegisterBytes / static_cast<int64_t>(sizeof(T));

// What these runs lie between is not read in order: if `is_fetched`, as much is asked for that comes next.
template <typename Op, typename T>
void CombineNarrowRuns(const T* from, int64_t width, bool is_fetched, T* to) {
  constexpr int64_t kRuns = kRunsAtOnce<T>;
  constexpr int64_t kRows = 8;  // that are transposed together: they stay in the first-level cache
  using Word = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  T lanes[kRows * kMostNarrow * kRuns];
  T combined[kMostNarrow * kRuns];
  std::fill_n(combined, width * kRuns, static_cast<T>(Op::Start()));
  const T* next_runs = from + kRuns * kRowsPerRun * width;
  for (int64_t row = 0; row < kRowsPerRun; row += kRows, next_runs += kRuns * kRows * width) {
    if (is_fetched) PrefetchRow(next_runs, kRuns * kRows * width * static_cast<int64_t>(sizeof(T)));
    TransposeTile(reinterpret_cast<const Word*>(from + row * width), kRowsPerRun * width,
                  reinterpret_cast<Word*>(lanes), kRuns, kRuns, kRows * width);
    for (int64_t i = 0; i < kRows; ++i) {
      const T* const next = lanes + i * width * kRuns;
      for (int64_t k = 0; k < width * kRuns; ++k) combined[k] = Op::Combine(combined[k], Op::Prepare(next[k]));
    }
  }
  for (int64_t run = 0; run < kRuns; ++run) {
    for (int64_t j = 0; j < width; ++j) to[run * width + j] = combined[j * kRuns + run];
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
  const bool is_fetched = extent.outer * extent.reduced * width * static_cast<int64_t>(sizeof(T)) >= kFetchedBytes;
  STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, tasks, tasks_per_chunk, [&](Range range) {
    for (int64_t task = range.begin; task < range.end; ++task) {
      const int64_t column = task % tiles * tile;
      const int64_t run = task / tiles % runs;
      const int64_t outer = task / tiles / runs;
      const int64_t row = run * kRowsPerRun;
      if constexpr (kFillsRegisters<Acc, T>) {
        const int64_t whole = std::min(extent.reduced / kRowsPerRun - run, range.end - task);
        if (width <= kMostNarrow && whole >= kRunsAtOnce<T>) {
          CombineNarrowRuns<Op>(from + (outer * extent.reduced + row) * width, width, is_fetched,
                                partial + (outer * runs + run) * width);
          task += kRunsAtOnce<T> - 1;
          continue;
        }
      }
      CombineRows<Op, Acc>(from + (outer * extent.reduced + row) * width + column,
                           std::min(kRowsPerRun, extent.reduced - row), width, std::min(tile, width - column),
                           is_fetched, partial + (outer * runs + run) * width + column);
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
  if (extent.inner != 1) return ReduceColumns<Op, Acc>(call, operation, extent, from, to);
  return ReduceRows<Op, Acc>(call, operation, Rows::Adjacent(extent.outer, extent.reduced), from, to);
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
Status Gather(const KernelCall& call, const Layout& layout, int64_t element_bytes, const void* from, void* to) {
  int64_t strides[kMaxRank];
  int64_t stride = 1;
  for (int i = layout.count - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= layout.dims[i];
  }
  StridedCopy copy;
  int64_t to_stride = stride;
  for (const bool wanted : {false, true}) {
    for (int i = 0; i < layout.count; ++i) {
      if (layout.is_reduced[i] != wanted) continue;
      to_stride /= layout.dims[i];
      copy.Add(layout.dims[i], strides[i], to_stride);
    }
  }
  return CopyStrided(call, copy, element_bytes, from, to);
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
  if (layout.count == 3) {
    const Rows rows = {layout.dims[1], layout.dims[0] * layout.dims[2], layout.dims[2], layout.dims[2],
                       layout.dims[1] * layout.dims[2]};
    return ReduceRows<Op, Acc>(call, operation, rows, from, to);
  }
  const Scratch scratch(call, input.count * static_cast<int64_t>(sizeof(T)));
  if (!scratch.ok()) return OutOfScratch();
  if (input.count > 0) STILLFLOW_RETURN_IF_ERROR(Gather(call, layout, sizeof(T), from, scratch.data<T>()));
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
