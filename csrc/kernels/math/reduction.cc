// reduce: sums, means, products, extrema, all and any over some axes.
//
//   in[0]  input  any shape
//   in[1]  axes   int32 | int64, scalar or vector; negative ones count from the end
//   out[0] output the input's shape without the axes, or with 1 in their place
//   attrs  keep_dims; operation: euclidean_norm is the root of the sum of squares, and the
//          input itself, signs and all, where no axis of several elements is reduced, as in TensorFlow
//
// l2_loss: half the sum of all squares, a scalar.
//
// bias_add_grad: sums over everything but the channels: the last axis, or axis 1 if attr data_format is NCHW, with
// the same bits.
//
// Complex numbers are reduced as their parts; products of them, in Complex128, in the order of the elements.
//
// The order of combination follows from the shape alone (reduction/rows.h, reduction/columns.h). 16-bit floats are
// accumulated in float.
#include <algorithm>

#include "arithmetic/math/complex.h"
#include "arithmetic/reduction/columns.h"
#include "arithmetic/reduction/reducer.h"
#include "memory/cache.h"
#include "memory/strided_copy.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 32768;
constexpr int64_t kMostRowsPerChunk = kElementsPerChunk / 16;  // also of shorter ones
constexpr int64_t kColumnsPerTile = 4096;

// What is reduced, seen as [outer, reduced, inner].
struct Extent {
  int64_t outer;
  int64_t reduced;
  int64_t inner;
};

// ---- Rows ---------------------------------------------------------------------------------------------------

// Every output is the combination of a row that is one run.
Status ReduceSingleRuns(const KernelCall& call, const Reducer& reducer, const Rows& rows, const char* from,
                        char* to) {
  const int64_t rows_per_chunk = std::max<int64_t>(kElementsPerChunk / std::max<int64_t>(rows.length, 16), 1);
  return ForEachChunk(call, rows.count, rows_per_chunk, [&](Range range) {
    char* const made = to + range.begin * reducer.element_bytes;
    if (reducer.makes_elements) return reducer.combine_runs(rows, reducer.At(from), range, made);
    alignas(kLineBytes) char results[kMostRowsPerChunk * sizeof(double)];
    reducer.combine_runs(rows, reducer.At(from), range, results);
    reducer.finish(results, range.end - range.begin, rows.length, made);
  });
}

Status ReduceRows(const KernelCall& call, const Reducer& reducer, const Rows& rows, const char* from, char* to) {
  const int64_t runs = rows.Runs();
  if (runs == 1) return ReduceSingleRuns(call, reducer, rows, from, to);
  const Scratch scratch(call, rows.count * runs * reducer.result_bytes);
  if (!scratch.ok()) return OutOfScratch();
  char* const results = scratch.data<char>();
  STILLFLOW_RETURN_IF_ERROR(
      ForEachChunk(call, rows.count * runs, kElementsPerChunk / kReductionRun, [&](Range range) {
        reducer.combine_runs(rows, reducer.At(from), range, results + range.begin * reducer.result_bytes);
      }));
  for (int64_t row = 0; row < rows.count; ++row) {
    char* const of_row = results + row * runs * reducer.result_bytes;
    reducer.combine_tree(of_row, runs, 1, 1);
    reducer.finish(of_row, 1, rows.length, to + row * reducer.element_bytes);
  }
  return Status();
}

// ---- Columns ------------------------------------------------------------------------------------------------

// Tasks: tiles of columns of runs of rows. A tile at a time keeps a run's results in the first-level cache.
struct Columns {
  explicit Columns(const Extent& extent)
      : reduced(extent.reduced),
        width(extent.inner),
        runs(std::max<int64_t>((extent.reduced + kRowsPerRun - 1) / kRowsPerRun, 1)),
        tile(std::min(width, kColumnsPerTile)),
        tiles((width + tile - 1) / tile) {}

  const int64_t reduced;
  const int64_t width;
  const int64_t runs;
  const int64_t tile;
  const int64_t tiles;
};

// Makes the results of a range of tasks, one row of them for each run.
void CombineTasks(const Reducer& reducer, const Columns& columns, Range tasks, const char* from, char* results) {
  const int64_t width = columns.width;
  for (int64_t task = tasks.begin; task < tasks.end; ++task) {
    const int64_t column = task % columns.tiles * columns.tile;
    const int64_t run = task / columns.tiles % columns.runs;
    const int64_t outer = task / columns.tiles / columns.runs;
    const int64_t row = run * kRowsPerRun;
    const Elements begin =
        reducer.At(from + ((outer * columns.reduced + row) * width + column) * reducer.element_bytes);
    char* const to = results + ((outer * columns.runs + run) * width + column) * reducer.result_bytes;
    const int64_t whole = std::min(columns.reduced / kRowsPerRun - run, tasks.end - task);
    if (width <= reducer.most_narrow && whole >= reducer.runs_at_once) {
      reducer.combine_narrow_runs(begin, width, to);
      task += reducer.runs_at_once - 1;
      continue;
    }
    reducer.combine_rows(begin, std::min(kRowsPerRun, columns.reduced - row), width,
                         std::min(columns.tile, width - column), to);
  }
}

Status ReduceColumns(const KernelCall& call, const Reducer& reducer, const Extent& extent, const char* from,
                     char* to) {
  const Columns columns(extent);
  const bool is_direct = columns.runs == 1 && reducer.makes_elements;
  const int64_t row_bytes = columns.width * reducer.result_bytes;
  const Scratch scratch(call, is_direct ? 0 : extent.outer * columns.runs * row_bytes);
  if (!scratch.ok()) return OutOfScratch();
  char* const results = is_direct ? to : scratch.data<char>();
  const int64_t rows_of_run = std::min(kRowsPerRun, extent.reduced + 1);
  STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, extent.outer * columns.runs * columns.tiles,
                                         std::max<int64_t>(kElementsPerChunk / (rows_of_run * columns.tile), 1),
                                         [&](Range tasks) { CombineTasks(reducer, columns, tasks, from, results); }));
  if (is_direct) return Status();
  const int64_t tiles_per_chunk = std::max<int64_t>(kElementsPerChunk / (columns.runs * columns.tile), 1);
  return ForEachChunk(call, extent.outer * columns.tiles, tiles_per_chunk, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const int64_t outer = i / columns.tiles;
      const int64_t column = i % columns.tiles * columns.tile;
      const int64_t count = std::min(columns.tile, columns.width - column);
      char* const of_tile = results + outer * columns.runs * row_bytes + column * reducer.result_bytes;
      reducer.combine_tree(of_tile, columns.runs, columns.width, count);
      reducer.finish(of_tile, count, extent.reduced, to + (outer * columns.width + column) * reducer.element_bytes);
    }
  });
}

Status ReduceExtent(const KernelCall& call, const Reducer& reducer, const Extent& extent, const char* from,
                    char* to) {
  if (extent.outer * extent.inner == 0) return Status();
  if (extent.inner != 1) return ReduceColumns(call, reducer, extent, from, to);
  return ReduceRows(call, reducer, Rows::Adjacent(extent.outer, extent.reduced), from, to);
}

// ---- Any axes -----------------------------------------------------------------------------------------------

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
  int64_t dims[kMaxRank + 1];
  bool is_reduced[kMaxRank + 1];

  void Add(int64_t dim, bool is_dim_reduced) {
    if (dim == 1) return;
    if (count > 0 && is_reduced[count - 1] == is_dim_reduced) {
      dims[count - 1] *= dim;
    } else {
      dims[count] = dim;
      is_reduced[count++] = is_dim_reduced;
    }
  }
  int64_t Count(bool of_reduced) const {
    int64_t product = 1;
    for (int i = 0; i < count; ++i) product *= is_reduced[i] == of_reduced ? dims[i] : 1;
    return product;
  }
};

// Of complex numbers, their parts are a dimension too.
Layout Merge(const Tensor& input, const bool* is_reduced, bool are_parts_reduced = false) {
  Layout layout;
  for (int i = 0; i < input.rank; ++i) layout.Add(input.dims[i], is_reduced[i]);
  layout.Add(PartCount(input.dtype), are_parts_reduced);
  return layout;
}

// Copies the input so that kept dimensions come first and reduced ones last, each in their order.
Status Gather(const KernelCall& call, const Layout& layout, int64_t element_bytes, const void* from, void* to) {
  int64_t strides[kMaxRank + 1];
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

Status ReduceLayout(const KernelCall& call, const Reducer& reducer, const Layout& layout, const char* from,
                    char* to) {
  const bool starts_kept = layout.count > 0 && !layout.is_reduced[0];
  if (layout.count <= (starts_kept ? 3 : 2)) {
    const int first = starts_kept ? 0 : -1;
    const auto dim = [&](int i) { return i >= 0 && i < layout.count ? layout.dims[i] : int64_t{1}; };
    return ReduceExtent(call, reducer, Extent{dim(first), dim(first + 1), dim(first + 2)}, from, to);
  }
  if (layout.count == 3) {
    const Rows rows = {layout.dims[1], layout.dims[0] * layout.dims[2], layout.dims[2], layout.dims[2],
                       layout.dims[1] * layout.dims[2]};
    return ReduceRows(call, reducer, rows, from, to);
  }
  const Extent extent{layout.Count(false), layout.Count(true), 1};
  const Scratch scratch(call, extent.outer * extent.reduced * reducer.element_bytes);
  if (!scratch.ok()) return OutOfScratch();
  if (extent.outer * extent.reduced > 0) {
    STILLFLOW_RETURN_IF_ERROR(Gather(call, layout, reducer.element_bytes, from, scratch.data<char>()));
  }
  return ReduceExtent(call, reducer, extent, scratch.data<char>(), to);
}

Status Reduce(const KernelCall& call, const Reducer& reducer, const bool* is_reduced, const char* from) {
  return ReduceLayout(call, reducer, Merge(*call.in[0], is_reduced), from, MutableData<char>(*call.out[0]));
}

template <typename T>
void Square(const void* from, int64_t count, void* to) {
  using Factor = std::conditional_t<(sizeof(T) < 4), uint32_t, T>;
  for (int64_t i = 0; i < count; ++i) {
    const Factor factor = static_cast<const T*>(from)[i];
    static_cast<T*>(to)[i] = static_cast<T>(factor * factor);
  }
}

// The sum of the squares of integers, which wrap around.
Status ReduceSquares(const KernelCall& call, const Reducer& reducer, const bool* is_reduced) {
  const Tensor& input = *call.in[0];
  const Scratch squares(call, input.count * reducer.element_bytes);
  if (!squares.ok()) return OutOfScratch();
  const auto square = reducer.element_bytes == 8   ? Square<uint64_t>
                      : reducer.element_bytes == 4 ? Square<uint32_t>
                      : reducer.element_bytes == 2 ? Square<uint16_t>
                                                   : Square<uint8_t>;
  square(input.data, input.count, squares.data<void>());
  return Reduce(call, reducer, is_reduced, squares.data<char>());
}

// ---- Complex numbers ----------------------------------------------------------------------------------------

template <typename T>
Status MultiplyAll(const KernelCall& call, const bool* is_reduced) {
  const Tensor& input = *call.in[0];
  Layout layout;
  for (int i = 0; i < input.rank; ++i) layout.Add(input.dims[i], is_reduced[i]);
  const int64_t length = layout.Count(true);
  const Scratch scratch(call, input.count * static_cast<int64_t>(sizeof(T)));
  if (!scratch.ok()) return OutOfScratch();
  if (input.count > 0) STILLFLOW_RETURN_IF_ERROR(Gather(call, layout, sizeof(T), input.data, scratch.data<char>()));
  const T* const from = scratch.data<T>();
  T* const to = MutableData<T>(*call.out[0]);
  const int64_t rows_per_chunk = std::max<int64_t>(kElementsPerChunk / std::max<int64_t>(length, 1), 1);
  return ForEachChunk(call, call.out[0]->count, rows_per_chunk, [&](Range range) {
    for (int64_t row = range.begin; row < range.end; ++row) {
      Complex128 product = {1, 0};
      for (int64_t i = 0; i < length; ++i) product = Product(product, Widen(from[row * length + i]));
      to[row] = NarrowComplex<T>(product);
    }
  });
}

template <typename R>
void WriteReals(const R* from, int64_t count, Complex<R>* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = {from[i], 0};
}

// The root of the sum of the squares of all parts, as a complex number.
Status ReduceToNorms(const KernelCall& call, const Reducer& reducer, const bool* is_reduced) {
  const Tensor& input = *call.in[0];
  Tensor* const output = call.out[0];
  const Scratch norms(call, output->count * reducer.element_bytes);
  if (!norms.ok()) return OutOfScratch();
  STILLFLOW_RETURN_IF_ERROR(
      ReduceLayout(call, reducer, Merge(input, is_reduced, true), Data<char>(input), norms.data<char>()));
  if (input.dtype == DType::kComplex64) {
    WriteReals(norms.data<float>(), output->count, MutableData<Complex64>(*output));
  } else {
    WriteReals(norms.data<double>(), output->count, MutableData<Complex128>(*output));
  }
  return Status();
}

Status ReduceComplex(const KernelCall& call, Reduction reduction, const Reducer& reducer, const bool* is_reduced) {
  const DType type = call.in[0]->dtype;
  switch (reduction) {
    case Reduction::kSum:
    case Reduction::kMean:
      return Reduce(call, reducer, is_reduced, Data<char>(*call.in[0]));
    case Reduction::kProd:
      return type == DType::kComplex64 ? MultiplyAll<Complex64>(call, is_reduced)
                                       : MultiplyAll<Complex128>(call, is_reduced);
    case Reduction::kEuclideanNorm:
      return ReduceToNorms(call, reducer, is_reduced);
    default:
      return UnsupportedType("Reduction", type);
  }
}

bool IsFloating(DType dtype) {
  return dtype == DType::kFloat || dtype == DType::kDouble || dtype == DType::kHalf || dtype == DType::kBFloat16;
}

Status ReduceKernel(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const bool keeps_dims = call.attrs[0].i != 0;
  const auto reduction = static_cast<Reduction>(call.attrs[1].i);
  bool is_reduced[kMaxRank];
  STILLFLOW_RETURN_IF_ERROR(ReadAxes(input, *call.in[1], is_reduced));
  Shape shape;
  bool output_is_input = true;  // but for dimensions of one element
  for (int i = 0; i < input.rank; ++i) {
    if (!is_reduced[i]) shape.Add(input.dims[i]);
    if (is_reduced[i] && keeps_dims) shape.Add(1);
    if (is_reduced[i] && input.dims[i] != 1) output_is_input = false;
  }
  Reducer reducer;
  STILLFLOW_RETURN_IF_ERROR(FindReducer(reduction, PartType(input.dtype), &reducer));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, shape));
  if (output_is_input) {  // signs of norms and NaN stay, too
    if (input.count > 0) std::memcpy(call.out[0]->data, input.data, input.count * ElementBytes(input.dtype));
    return Status();
  }
  if (IsComplex(input.dtype)) return ReduceComplex(call, reduction, reducer, is_reduced);
  if (reduction == Reduction::kEuclideanNorm && !IsFloating(input.dtype)) {
    return ReduceSquares(call, reducer, is_reduced);
  }
  return Reduce(call, reducer, is_reduced, Data<char>(input));
}

Status L2Loss(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  if (!IsFloating(input.dtype)) return UnsupportedType("L2Loss", input.dtype);
  bool is_reduced[kMaxRank];
  std::fill_n(is_reduced, kMaxRank, true);
  Reducer reducer;
  STILLFLOW_RETURN_IF_ERROR(FindReducer(Reduction::kHalfOfSquares, input.dtype, &reducer));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, Shape()));
  return Reduce(call, reducer, is_reduced, Data<char>(input));
}

// [batch, channels, ...] is copied as rows of channels, so that the sums have the order, and the bits, of NHWC.
Status SumOfPlanes(const KernelCall& call, const Reducer& reducer) {
  const Tensor& input = *call.in[0];
  const int64_t channels = input.dims[1];
  const int64_t bytes = ElementBytes(input.dtype);
  const int64_t positions = input.count == 0 ? 0 : input.count / (input.dims[0] * channels);
  Layout layout;
  layout.Add(input.dims[0] * positions, true);
  layout.Add(channels, false);
  layout.Add(PartCount(input.dtype), false);
  const Scratch scratch(call, input.count * bytes);
  if (!scratch.ok()) return OutOfScratch();
  if (input.count > 0) {
    StridedCopy copy;
    copy.Add(input.dims[0], channels * positions, channels * positions);
    copy.Add(positions, 1, channels);
    copy.Add(channels, positions, 1);
    STILLFLOW_RETURN_IF_ERROR(CopyStrided(call, copy, bytes, input.data, scratch.data<char>()));
  }
  return ReduceLayout(call, reducer, layout, scratch.data<char>(), MutableData<char>(*call.out[0]));
}

Status BiasAddGrad(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const bool is_nchw = call.attrs[0].i == 1;
  if (input.rank < 2) {
    return STILLFLOW_INVALID_ARGUMENT("Input tensor must be at least 2D: %s", ShapeText(input).c_str());
  }
  const int axis = is_nchw ? 1 : input.rank - 1;
  bool is_reduced[kMaxRank];
  std::fill_n(is_reduced, kMaxRank, true);
  is_reduced[axis] = false;
  Shape shape;
  shape.Add(input.dims[axis]);
  Reducer reducer;
  STILLFLOW_RETURN_IF_ERROR(FindReducer(Reduction::kSum, PartType(input.dtype), &reducer));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, shape));
  if (is_nchw && input.rank > 2) return SumOfPlanes(call, reducer);
  return Reduce(call, reducer, is_reduced, Data<char>(input));
}

}  // namespace

STILLFLOW_KERNELS(math, reduction){
    {"reduce", "input, axes | keep_dims, operation: sum mean prod max min all any euclidean_norm",  // as Reduction
     ReduceKernel},
    {"l2_loss", "t", L2Loss},
    {"bias_add_grad", "out_backprop | data_format: NHWC NCHW", BiasAddGrad},
    {}};

}  // namespace stillflow
