// fractional_max_pool, fractional_avg_pool and their gradients: pools over cells of nearly equal sizes, drawn at
// random (Graham, "Fractional max-pooling", https://arxiv.org/abs/1412.6071).
//
//   in[0]  value    float, double, int32 or int64 [batch, rows, columns, channels]
//   out[0] output   of the same type: [batch, rows / ratio, columns / ratio, channels], rounded down
//   out[1] out[2]   int64: where cells of rows and of columns begin, and the end of the last one
//   attrs  pooling_ratio: 4 numbers of at least 1, which are 1 for batch and channels; pseudo_random: whether cells
//   are
//          drawn by one number, and not shuffled; overlapping: whether cells share their borders; deterministic:
//          whether all runs draw the same
//   state  the node's stream, of which a run takes a block for four rows and columns, or one for each of both
//
// Gradients take cells as they were drawn. Elements of a cell are compared, and added, row by row; those of a
// gradient cell by cell, for average pools as doubles.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "arithmetic/random/stream.h"
#include "kernel_api/kernel.h"

namespace stillflow {
namespace {

constexpr int kRows = 1, kColumns = 2, kImageRank = 4;

// ---- Cells --------------------------------------------------------------------------------------------------

struct Drawing {
  sf_philox position;
  bool is_pseudo_random;
};

uint64_t BlocksOf(int64_t cells, bool is_pseudo_random) {
  return is_pseudo_random ? 1 : static_cast<uint64_t>(cells + 3) / 4;
}

// Uniform in [0, 1): 20 bits of the first word and all of the second.
double NextUniform(WordReader* words) {
  const uint64_t high = words->Next() & 0xFFFFF;
  const uint64_t low = words->Next();
  return static_cast<double>(high << 32 | low) * 0x1p-52;
}

// Writes where `cells` cells of `size` elements begin, and the end: cells + 1 numbers.
void DrawCells(int64_t size, int64_t cells, Drawing* drawing, int64_t* begins) {
  WordReader words(drawing->position);
  drawing->position = sf_philox_skip(drawing->position, BlocksOf(cells, drawing->is_pseudo_random));
  const int64_t smaller = size / cells;
  begins[0] = 0;
  begins[cells] = size;
  if (drawing->is_pseudo_random) {
    const double ratio = static_cast<double>(size) / static_cast<double>(cells);
    // Up to these numbers neither the first cell is too large nor the last one too small.
    const double first = static_cast<double>(smaller + 2) / ratio - 1;
    const double last = static_cast<double>(size + 1 - smaller) / ratio - static_cast<double>(cells - 1);
    const double shift = NextUniform(&words) * std::min(first, last);
    for (int64_t i = 1; i < cells; ++i) {
      const double begin = std::ceil(ratio * (static_cast<double>(i) + shift)) - 1;
      begins[i] = std::min(std::max(static_cast<int64_t>(begin), begins[i - 1]), size);
    }
    return;
  }
  int64_t* const sizes = begins + 1;
  for (int64_t i = 0; i < cells; ++i) sizes[i] = smaller + (i < size % cells ? 1 : 0);
  for (int64_t i = 0; i + 1 < cells; ++i) {
    std::swap(sizes[i], sizes[i + static_cast<int64_t>(words.Next() % static_cast<uint64_t>(cells - i))]);
  }
  for (int64_t i = 0; i < cells; ++i) sizes[i] += begins[i];
}

// Where this run begins to draw. What is deterministic begins where the stream does, in each run.
sf_philox FirstPosition(const KernelCall& call, bool is_deterministic, uint64_t blocks) {
  if (!is_deterministic) return TakeBlocks(call, static_cast<int64_t>(blocks), 1);
  auto* state = static_cast<RandomState*>(call.state);
  MutexLock guard(state->mutex);
  return {state->key, state->counter_low, state->counter_high};
}

// Cells along one axis.
struct Axis {
  const int64_t* begins;
  int64_t cells;
  int64_t size;
  bool is_overlapping;

  int64_t Begin(int64_t cell) const { return begins[cell]; }
  int64_t End(int64_t cell) const { return std::min(begins[cell + 1] + (is_overlapping ? 1 : 0), size); }
};

struct Cells {
  Axis rows, columns;
  int64_t channels;

  int64_t InputSize() const { return rows.size * columns.size * channels; }
  int64_t OutputSize() const { return rows.cells * columns.cells * channels; }

  // Calls body(first channel of an element of the image, first channel of its cell, elements of the cell).
  template <typename Body>
  void ForEachElement(const Body& body) const {
    for (int64_t i = 0; i < rows.cells; ++i) {
      for (int64_t j = 0; j < columns.cells; ++j) {
        const int64_t cell = (i * columns.cells + j) * channels;
        const int64_t count = (rows.End(i) - rows.Begin(i)) * (columns.End(j) - columns.Begin(j));
        for (int64_t y = rows.Begin(i); y < rows.End(i); ++y) {
          for (int64_t x = columns.Begin(j); x < columns.End(j); ++x) {
            body((y * columns.size + x) * channels, cell, count);
          }
        }
      }
    }
  }
};

// ---- Pools --------------------------------------------------------------------------------------------------

template <typename T>
void PoolLargest(const Cells& cells, const T* image, T* pooled) {
  std::fill_n(pooled, cells.OutputSize(), std::numeric_limits<T>::lowest());
  cells.ForEachElement([&](int64_t from, int64_t to, int64_t) {
    for (int64_t c = 0; c < cells.channels; ++c) pooled[to + c] = std::max(pooled[to + c], image[from + c]);
  });
}

// Sums of integers wrap around.
template <typename T>
void Accumulate(T value, T* sum) {
  if constexpr (std::is_integral_v<T>) {
    __builtin_add_overflow(*sum, value, sum);
  } else {
    *sum += value;
  }
}

template <typename T>
void PoolMeans(const Cells& cells, const T* image, T* pooled) {
  std::fill_n(pooled, cells.OutputSize(), T{0});
  cells.ForEachElement([&](int64_t from, int64_t to, int64_t) {
    for (int64_t c = 0; c < cells.channels; ++c) Accumulate(image[from + c], &pooled[to + c]);
  });
  for (int64_t i = 0; i < cells.rows.cells; ++i) {
    for (int64_t j = 0; j < cells.columns.cells; ++j) {
      const int64_t rows = cells.rows.End(i) - cells.rows.Begin(i);
      const auto count = static_cast<T>(rows * (cells.columns.End(j) - cells.columns.Begin(j)));
      T* const of_cell = pooled + (i * cells.columns.cells + j) * cells.channels;
      for (int64_t c = 0; c < cells.channels; ++c) of_cell[c] /= count;
    }
  }
}

Status ReadOutputShape(const KernelCall& call, const char* kind, Shape* shape) {
  const Tensor& value = *call.in[0];
  const Attr& ratio = call.attrs[0];
  if (ratio.size != kImageRank) return STILLFLOW_INVALID_ARGUMENT("pooling_ratio field must specify 4 dimensions");
  if (value.rank != kImageRank) return STILLFLOW_INVALID_ARGUMENT("tensor_in must be 4-dimensional");
  const auto* const ratios = static_cast<const double*>(ratio.data);
  if (ratios[0] != 1 || ratios[3] != 1) {
    return Error(Code::kUnimplemented,
                 "Fractional %s pooling is not yet supported on the batch nor channel dimension.", kind);
  }
  for (int i = 0; i < kImageRank; ++i) {
    if (!(ratios[i] >= 1)) {
      return STILLFLOW_INVALID_ARGUMENT("pooling_ratio cannot be smaller than 1, got: %g", ratios[i]);
    }
    shape->Add(static_cast<int64_t>(std::floor(static_cast<float>(value.dims[i]) / static_cast<float>(ratios[i]))));
    if (i != 0 && i != 3 && shape->dims[i] <= 0) {
      return STILLFLOW_INVALID_ARGUMENT(
          "pooling_ratio %g is larger than dimension %d of the input, which has size %lld", ratios[i], i,
          static_cast<long long>(value.dims[i]));
    }
    shape->dims[i] = std::min(shape->dims[i], value.dims[i]);
  }
  return Status();
}

// Calls pool(cells, image, pooled) for each image.
template <typename T, typename Pool>
Status PoolImages(const KernelCall& call, const Cells& cells, const Pool& pool) {
  const auto* const values = Data<T>(*call.in[0]);
  auto* const pooled = MutableData<T>(*call.out[0]);
  return ForEachChunk(call, call.in[0]->dims[0], 1, [&](Range range) {
    for (int64_t b = range.begin; b < range.end; ++b) {
      pool(cells, values + b * cells.InputSize(), pooled + b * cells.OutputSize());
    }
  });
}

// Draws the cells, which become outputs, and allocates what is pooled.
Status PrepareCells(const KernelCall& call, const char* kind, Cells* cells) {
  const Tensor& value = *call.in[0];
  Shape shape;
  STILLFLOW_RETURN_IF_ERROR(ReadOutputShape(call, kind, &shape));
  const bool is_pseudo_random = call.attrs[1].i != 0;
  uint64_t blocks = 0;
  for (int axis : {kRows, kColumns}) blocks += BlocksOf(shape.dims[axis], is_pseudo_random);
  Drawing drawing = {FirstPosition(call, call.attrs[3].i != 0, blocks), is_pseudo_random};
  Axis* const axes[] = {nullptr, &cells->rows, &cells->columns};
  for (int axis : {kRows, kColumns}) {
    Shape line;
    line.Add(shape.dims[axis] + 1);
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, axis, DType::kInt64, line));
    auto* const begins = MutableData<int64_t>(*call.out[axis]);
    DrawCells(value.dims[axis], shape.dims[axis], &drawing, begins);
    *axes[axis] = {begins, shape.dims[axis], value.dims[axis], call.attrs[2].i != 0};
  }
  cells->channels = value.dims[3];
  return AllocateOutput(call, 0, value.dtype, shape);
}

Status FractionalMaxPool(const KernelCall& call) {
  Cells cells;
  STILLFLOW_RETURN_IF_ERROR(PrepareCells(call, "max", &cells));
  return ForType<float, double, int32_t, int64_t>("FractionalMaxPool", call.in[0]->dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return PoolImages<T>(call, cells, PoolLargest<T>);
  });
}

Status FractionalAvgPool(const KernelCall& call) {
  Cells cells;
  STILLFLOW_RETURN_IF_ERROR(PrepareCells(call, "average", &cells));
  return ForType<float, double, int32_t, int64_t>("FractionalAvgPool", call.in[0]->dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return PoolImages<T>(call, cells, PoolMeans<T>);
  });
}

// ---- Gradients ----------------------------------------------------------------------------------------------

// That the numbers are those of `cells` cells within `size` elements; none is empty.
Status ReadAxis(const Tensor& begins, const char* name, int64_t cells, int64_t size, bool is_overlapping,
                Axis* axis) {
  if (begins.rank != 1 || begins.count != cells + 1) {
    return STILLFLOW_INVALID_ARGUMENT("%s must have shape [%lld], but got shape %s", name,
                                      static_cast<long long>(cells) + 1, ShapeText(begins).c_str());
  }
  const auto* const numbers = Data<int64_t>(begins);
  for (int64_t i = 0; i < cells; ++i) {
    if (numbers[i] < 0 || numbers[i + 1] <= numbers[i] || numbers[i + 1] > size) {
      return STILLFLOW_INVALID_ARGUMENT("%s[%lld] = %lld is not a begin of a cell of an axis of %lld elements", name,
                                        static_cast<long long>(i), static_cast<long long>(numbers[i]),
                                        static_cast<long long>(size));
    }
  }
  *axis = {numbers, cells, size, is_overlapping};
  return Status();
}

// Inputs `first` and `first` + 1 are the cells of rows and columns.
Status ReadCells(const KernelCall& call, int first, const Shape& image, const Tensor& grads, Cells* cells) {
  if (grads.rank != kImageRank || image.rank != kImageRank) {
    return STILLFLOW_INVALID_ARGUMENT("out_backprop must be 4-dimensional, but got shape %s",
                                      ShapeText(grads).c_str());
  }
  if (grads.dims[0] != image.dims[0] || grads.dims[3] != image.dims[3]) {
    return STILLFLOW_INVALID_ARGUMENT("out_backprop of shape %s does not fit an input of shape %s",
                                      ShapeText(grads).c_str(), ShapeText(image).c_str());
  }
  const bool is_overlapping = call.attrs[0].i != 0;
  STILLFLOW_RETURN_IF_ERROR(ReadAxis(*call.in[first], "row_pooling_sequence", grads.dims[kRows], image.dims[kRows],
                                     is_overlapping, &cells->rows));
  STILLFLOW_RETURN_IF_ERROR(ReadAxis(*call.in[first + 1], "col_pooling_sequence", grads.dims[kColumns],
                                     image.dims[kColumns], is_overlapping, &cells->columns));
  cells->channels = image.dims[3];
  return Status();
}

// To the first of the largest elements of each cell goes the cell's gradient.
template <typename T>
void SpreadToLargest(const Cells& cells, const T* image, const T* grads, std::vector<int64_t>* largest, T* to) {
  largest->assign(cells.OutputSize(), -1);
  cells.ForEachElement([&](int64_t from, int64_t cell, int64_t) {
    for (int64_t c = 0; c < cells.channels; ++c) {
      int64_t& best = (*largest)[cell + c];
      if (best < 0 || image[best] < image[from + c]) best = from + c;
    }
  });
  std::fill_n(to, cells.InputSize(), T{0});
  for (int64_t i = 0; i < cells.OutputSize(); ++i) Accumulate(grads[i], &to[(*largest)[i]]);
}

template <typename T>
void SpreadEvenly(const Cells& cells, const T* grads, std::vector<double>* sums, T* to) {
  sums->assign(cells.InputSize(), 0.0);
  cells.ForEachElement([&](int64_t element, int64_t cell, int64_t count) {
    for (int64_t c = 0; c < cells.channels; ++c) {
      (*sums)[element + c] += static_cast<double>(grads[cell + c]) / static_cast<double>(count);
    }
  });
  for (int64_t i = 0; i < cells.InputSize(); ++i) to[i] = static_cast<T>((*sums)[i]);
}

Status FractionalMaxPoolGrad(const KernelCall& call) {
  const Tensor& image = *call.in[0];
  const Tensor& grads = *call.in[2];
  if (image.rank != kImageRank) return STILLFLOW_INVALID_ARGUMENT("orig_input must be 4-dimensional");
  if (!(Shape(*call.in[1]) == Shape(grads))) {
    return STILLFLOW_INVALID_ARGUMENT("out_backprop must have the shape of orig_output, %s, but got %s",
                                      ShapeText(*call.in[1]).c_str(), ShapeText(grads).c_str());
  }
  Cells cells;
  STILLFLOW_RETURN_IF_ERROR(ReadCells(call, 3, Shape(image), grads, &cells));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, image.dtype, Shape(image)));
  return ForType<float, double, int32_t, int64_t>("FractionalMaxPoolGrad", image.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return ForEachChunk(call, image.dims[0], 1, [&](Range range) {
      std::vector<int64_t> largest;
      for (int64_t b = range.begin; b < range.end; ++b) {
        SpreadToLargest(cells, Data<T>(image) + b * cells.InputSize(), Data<T>(grads) + b * cells.OutputSize(),
                        &largest, MutableData<T>(*call.out[0]) + b * cells.InputSize());
      }
    });
  });
}

Status FractionalAvgPoolGrad(const KernelCall& call) {
  const Tensor& sizes = *call.in[0];
  const Tensor& grads = *call.in[1];
  if (sizes.rank != 1 || sizes.count != kImageRank) {
    return STILLFLOW_INVALID_ARGUMENT("original input tensor shape must be1-dimensional and 4 elements");
  }
  Shape image;
  STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(sizes, &image));
  Cells cells;
  STILLFLOW_RETURN_IF_ERROR(ReadCells(call, 2, image, grads, &cells));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, grads.dtype, image));
  return ForType<float, double, int32_t, int64_t>("FractionalAvgPoolGrad", grads.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return ForEachChunk(call, image.dims[0], 1, [&](Range range) {
      std::vector<double> sums;
      for (int64_t b = range.begin; b < range.end; ++b) {
        SpreadEvenly(cells, Data<T>(grads) + b * cells.OutputSize(), &sums,
                     MutableData<T>(*call.out[0]) + b * cells.InputSize());
      }
    });
  });
}

}  // namespace

#define FRACTIONAL_POOL_PARAMETERS "value | pooling_ratio, pseudo_random, overlapping, deterministic"

STILLFLOW_KERNELS(nn, fractional_pool){
    {"fractional_max_pool", FRACTIONAL_POOL_PARAMETERS, FractionalMaxPool},
    {"fractional_avg_pool", FRACTIONAL_POOL_PARAMETERS, FractionalAvgPool},
    {"fractional_max_pool_grad",
     "orig_input, orig_output, out_backprop, row_pooling_sequence, col_pooling_sequence | overlapping",
     FractionalMaxPoolGrad},
    {"fractional_avg_pool_grad",
     "orig_input_tensor_shape, out_backprop, row_pooling_sequence, col_pooling_sequence | overlapping",
     FractionalAvgPoolGrad},
    {}};

}  // namespace stillflow
