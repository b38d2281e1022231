// nth_element: of each row the element that would be at a place if the row were sorted.
//
//   in[0] an array, in[1] a scalar place; attr reverse: whether the greatest come first; out[0] in[0] without its
//   last dimension
#include <algorithm>
#include <vector>

#include "arithmetic/math/element.h"
#include "kernels/guarded.h"

namespace stillflow {
namespace {

Status NthElement(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const Tensor& place = *call.in[1];
  if (place.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("N must be scalar but has rank %d", place.rank);
  }
  const int32_t n = Data<int32_t>(place)[0];
  if (n < 0) return STILLFLOW_INVALID_ARGUMENT("Need n >= 0, got %d", n);
  if (input.rank < 1)
    return STILLFLOW_INVALID_ARGUMENT("Input must be >= 1-D, got shape %s", ShapeText(input).c_str());
  const int64_t width = input.dims[input.rank - 1];
  if (width <= n) {
    return STILLFLOW_INVALID_ARGUMENT("Input must have at least n+1 columns");
  }
  Shape shape(input);
  --shape.rank;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, shape));
  const int64_t at = call.attrs[0].i != 0 ? width - 1 - n : n;
  return ForType<float, double, int64_t, int32_t, int16_t, int8_t, uint64_t, uint32_t, uint16_t, uint8_t, Half,
                 BFloat16>("NthElement", input.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using E = ElementArithmetic<T>;
    std::vector<T> row(width);
    // NaN is greater than all, so that the order is one.
    const auto is_less = [](T a, T b) {
      const auto x = E::Load(a), y = E::Load(b);
      return x < y || (x == x && y != y);
    };
    for (int64_t i = 0; i < shape.Count(); ++i) {
      std::copy_n(Data<T>(input) + i * width, width, row.begin());
      std::nth_element(row.begin(), row.begin() + at, row.end(), is_less);
      MutableData<T>(*call.out[0])[i] = row[at];
    }
    return Status();
  });
}

}  // namespace

STILLFLOW_KERNELS(nn, nth_element){{"nth_element", "input, n | reverse", Guarded<NthElement>}, {}};

}  // namespace stillflow
