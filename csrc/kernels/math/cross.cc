// cross: products of vectors of three elements in the last dimension.
//
//   in[0], in[1] arrays of one shape; out[0] their cross products
#include "arithmetic/math/element.h"

namespace stillflow {
namespace {

template <typename T>
inline T ProductDifference(T a, T b, T c, T d) {
  using E = ElementArithmetic<T>;
  const auto product = [](T x, T y) { return E::Load(E::Store(E::Multiply(E::Load(x), E::Load(y)))); };
  return E::Store(E::Subtract(product(a, b), product(c, d)));
}

Status Cross(const KernelCall& call) {
  constexpr int64_t kVectorsPerChunk = 4096;
  const Tensor& a = *call.in[0];
  if (!(Shape(a) == Shape(*call.in[1]))) {
    return STILLFLOW_INVALID_ARGUMENT("Both inputs must be of same shape: %s vs. %s", ShapeText(a).c_str(),
                                      ShapeText(*call.in[1]).c_str());
  }
  if (a.rank < 1) return STILLFLOW_INVALID_ARGUMENT("Input must be at least 1D");
  if (a.dims[a.rank - 1] != 3) {
    return Error(Code::kFailedPrecondition, "Cross-products are only defined for 3-element vectors.");
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, a.dtype, Shape(a)));
  return ForType<float, double, int64_t, int32_t, int16_t, int8_t, uint64_t, uint32_t, uint16_t, uint8_t, Half,
                 BFloat16>("Cross", a.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return ForEachChunk(call, a.count / 3, kVectorsPerChunk, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        const T* u = Data<T>(a) + 3 * i;
        const T* v = Data<T>(*call.in[1]) + 3 * i;
        T* to = MutableData<T>(*call.out[0]) + 3 * i;
        to[0] = ProductDifference(u[1], v[2], u[2], v[1]);
        to[1] = ProductDifference(u[2], v[0], u[0], v[2]);
        to[2] = ProductDifference(u[0], v[1], u[1], v[0]);
      }
    });
  });
}

}  // namespace

STILLFLOW_KERNELS(math, cross){{"cross", "a, b", Cross}, {}};

}  // namespace stillflow
