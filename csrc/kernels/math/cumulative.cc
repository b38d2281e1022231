// cumulative: running sums and products along an axis.
//
//   in[0]  x     numbers, at least of rank 1
//   in[1]  axis  int32 | int64 scalar; negative counts from the end
//   out[0] of x's shape
//   attrs  exclusive: whether an element is left out of its own result; reverse: whether to begin at the end;
//          operation
//
// Elements are combined in their order, from the first (the last) on. Half types are accumulated in float.
#include <algorithm>

#include "arithmetic/math/complex.h"
#include "arithmetic/math/element.h"
#include "arithmetic/math/worked_type.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 32768;
constexpr int64_t kRowsAtATime = 4;
constexpr int64_t kFewestColumns = 8;  // that are worth code for vectors
constexpr int64_t kColumns = 512;      // whose running results stay in the first-level cache

template <typename W>
struct Sum {
  static constexpr W kStart = 0;
  static W Combine(W a, W b) { return ElementArithmetic<W>::Add(a, b); }
};
template <typename W>
struct Product {
  static constexpr W kStart = 1;
  static W Combine(W a, W b) { return ElementArithmetic<W>::Multiply(a, b); }
};

// x seen as [outer, size, inner], and the order in which the middle is walked.
struct Layout {
  int64_t outer = 1;
  int64_t size = 1;
  int64_t inner = 1;
  bool is_exclusive;
  bool is_reverse;
};

// kRows at a time, so that one does not wait for what another's last combination results in. Row k begins at
// begins[k].
template <typename Op, bool kIsExclusive, int64_t kRows, typename T>
STILLFLOW_INLINE void RunRows(const Layout& layout, const int64_t* begins, const T* from, T* to) {
  T running[kRows];
  for (auto& row : running) row = Op::kStart;
  const int64_t step = layout.is_reverse ? -layout.inner : layout.inner;
  int64_t place = layout.is_reverse ? (layout.size - 1) * layout.inner : 0;
  for (int64_t i = 0; i < layout.size; ++i, place += step) {
#pragma GCC unroll 4
    for (int64_t k = 0; k < kRows; ++k) {
      const int64_t at = begins[k] + place;
      const T next = Op::Combine(running[k], from[at]);
      to[at] = kIsExclusive ? running[k] : next;
      running[k] = next;
    }
  }
}

// Every place of the outer and of the inner dimension is a row.
template <typename Op, bool kIsExclusive, typename T>
Status RunAllRows(const KernelCall& call, const Layout& layout, const T* from, T* to) {
  const int64_t chunk = std::max(kElementsPerChunk / layout.size, kRowsAtATime);
  return ForEachChunk(call, layout.outer * layout.inner, chunk, [&](Range range) {
    int64_t outer = range.begin / layout.inner;
    int64_t inner = range.begin % layout.inner;
    int64_t begins[kRowsAtATime];
    for (int64_t row = range.begin; row < range.end;) {
      const int64_t rows = std::min(kRowsAtATime, range.end - row);
      for (int64_t k = 0; k < rows; ++k) {
        begins[k] = outer * layout.size * layout.inner + inner;
        if (++inner == layout.inner) {
          inner = 0;
          ++outer;
        }
      }
      row += rows;
      if (rows == kRowsAtATime) {
        RunRows<Op, kIsExclusive, kRowsAtATime>(layout, begins, from, to);
      } else {
        for (int64_t k = 0; k < rows; ++k) RunRows<Op, kIsExclusive, 1>(layout, begins + k, from, to);
      }
    }
  });
}

template <typename Op, typename T>
void RunColumns(const Layout& layout, const T* from, T* to, int64_t count) {
  T running[kColumns];
  std::fill_n(running, count, Op::kStart);
  for (int64_t i = 0; i < layout.size; ++i) {
    const int64_t row = (layout.is_reverse ? layout.size - 1 - i : i) * layout.inner;
    for (int64_t j = 0; j < count; ++j) {
      const T next = Op::Combine(running[j], from[row + j]);
      to[row + j] = layout.is_exclusive ? running[j] : next;
      running[j] = next;
    }
  }
}

template <typename Op, typename T>
Status Run(const KernelCall& call, const Layout& layout, const T* from, T* to) {
  if (layout.inner < kFewestColumns) {
    return layout.is_exclusive ? RunAllRows<Op, true>(call, layout, from, to)
                               : RunAllRows<Op, false>(call, layout, from, to);
  }
  const int64_t width = std::min(layout.inner, kColumns);
  const int64_t tiles = (layout.inner + width - 1) / width;
  const int64_t chunk = std::max<int64_t>(kElementsPerChunk / (layout.size * width), 1);
  return ForEachChunk(call, layout.outer * tiles, chunk, [&](Range range) {
    for (int64_t task = range.begin; task < range.end; ++task) {
      const int64_t column = task % tiles * width;
      const int64_t begin = task / tiles * layout.size * layout.inner + column;
      RunColumns<Op>(layout, from + begin, to + begin, std::min(width, layout.inner - column));
    }
  });
}

// Running products of complex numbers, in Complex128.
template <typename T>
Status MultiplyAlong(const KernelCall& call, const Layout& layout) {
  const T* const from = Data<T>(*call.in[0]);
  T* const to = MutableData<T>(*call.out[0]);
  const int64_t chunk = std::max<int64_t>(kElementsPerChunk / layout.size, 1);
  return ForEachChunk(call, layout.outer * layout.inner, chunk, [&](Range range) {
    for (int64_t row = range.begin; row < range.end; ++row) {
      const int64_t begin = row / layout.inner * layout.size * layout.inner + row % layout.inner;
      Complex128 running = {1, 0};
      for (int64_t i = 0; i < layout.size; ++i) {
        const int64_t at = begin + (layout.is_reverse ? layout.size - 1 - i : i) * layout.inner;
        const Complex128 next = stillflow::Product(running, Widen(from[at]));
        to[at] = NarrowComplex<T>(layout.is_exclusive ? running : next);
        running = next;
      }
    }
  });
}

template <typename T>
Status Accumulate(const KernelCall& call, const Layout& layout, bool is_product, const T* from, T* to) {
  return is_product ? Run<Product<T>>(call, layout, from, to) : Run<Sum<T>>(call, layout, from, to);
}

Status Cumulative(const KernelCall& call) {
  const Tensor& x = *call.in[0];
  const Tensor& axis_tensor = *call.in[1];
  if (axis_tensor.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("ScanOp: axis must be a scalar, not %s", ShapeText(axis_tensor).c_str());
  }
  int64_t axis = IntAt(axis_tensor, 0);
  if (axis < -x.rank || axis >= x.rank) {
    return STILLFLOW_INVALID_ARGUMENT("ScanOp: Expected scan axis in the range [%d, %d), but got %lld", -x.rank,
                                      x.rank, static_cast<long long>(axis));
  }
  axis = axis < 0 ? axis + x.rank : axis;
  const Shape shape(x);
  STILLFLOW_RETURN_IF_ERROR(ForwardOrAllocate(call, 0, 0, x.dtype, shape));
  if (x.count == 0) return Status();
  Layout layout;
  layout.outer = shape.Count(0, static_cast<int>(axis));
  layout.size = shape.dims[axis];
  layout.inner = shape.Count(static_cast<int>(axis) + 1, shape.rank);
  layout.is_exclusive = call.attrs[0].i != 0;
  layout.is_reverse = call.attrs[1].i != 0;
  const bool is_product = call.attrs[2].i != 0;
  const char* const kernel = is_product ? "Cumprod" : "Cumsum";
  const WorkedType worked = CountedAs(PartType(x.dtype));
  if (x.dtype == DType::kBool || x.dtype == DType::kUInt32 || x.dtype == DType::kUInt64) {
    return UnsupportedType(kernel, x.dtype);  // as in TensorFlow
  }
  if (is_product && IsComplex(x.dtype)) {
    return x.dtype == DType::kComplex64 ? MultiplyAlong<Complex64>(call, layout)
                                        : MultiplyAlong<Complex128>(call, layout);
  }
  layout.inner *= PartCount(x.dtype);  // the sums of complex numbers are those of their parts
  return ForWorkedType(kernel, x.dtype, worked, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = Data<T>(x);
    T* to = MutableData<T>(*call.out[0]);
    if (worked.convert == nullptr) return Accumulate<T>(call, layout, is_product, from, to);
    const Scratch wide(call, x.count * static_cast<int64_t>(sizeof(T)));
    if (!wide.ok()) return OutOfScratch();
    const int64_t bytes = ElementBytes(x.dtype);
    STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, x.count, kElementsPerChunk, [&](Range range) {
      worked.convert(Data<char>(x) + range.begin * bytes, range.end - range.begin, wide.data<T>() + range.begin);
    }));
    STILLFLOW_RETURN_IF_ERROR(Accumulate<T>(call, layout, is_product, wide.data<T>(), wide.data<T>()));
    return ForEachChunk(call, x.count, kElementsPerChunk, [&](Range range) {
      worked.restore(wide.data<T>() + range.begin, range.end - range.begin,
                     MutableData<char>(*call.out[0]) + range.begin * bytes);
    });
  });
}

}  // namespace

STILLFLOW_KERNELS(math, cumulative){
    {"cumulative", "x, axis | exclusive, reverse, operation: sum product", Cumulative}, {}};

}  // namespace stillflow
