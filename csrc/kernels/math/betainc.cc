// betainc: the regularized incomplete beta function.
//
//   in[0]  a    float or double, any shape
//   in[1]  b    its type
//   in[2]  x    its type; those that are no scalars have one shape
//   out[0] that shape
#include "arithmetic/math/incomplete_beta.h"
#include "kernel_api/broadcast.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 1024;  // an element takes about a microsecond

Status CheckShapes(const KernelCall& call, Shape* shape) {
  constexpr char kNames[] = "abx";
  *shape = Shape(*call.in[0]);
  int first = 0;
  for (int i = 1; i < 3; ++i) {
    const Shape other(*call.in[i]);
    if (shape->rank == 0) {
      *shape = other;
      first = i;
    } else if (other.rank != 0 && !(other == *shape)) {
      return STILLFLOW_INVALID_ARGUMENT("Shapes of %c and %c are inconsistent: %s vs. %s", kNames[first], kNames[i],
                                        ShapeText(*shape).c_str(), ShapeText(other).c_str());
    }
  }
  return Status();
}

template <typename T>
Status Run(const KernelCall& call) {
  const auto step = [&](int i) { return call.in[i]->rank == 0 ? 0 : 1; };
  const int64_t a_step = step(0);
  const int64_t b_step = step(1);
  const int64_t x_step = step(2);
  const T* a = Data<T>(*call.in[0]);
  const T* b = Data<T>(*call.in[1]);
  const T* x = Data<T>(*call.in[2]);
  T* to = MutableData<T>(*call.out[0]);
  return ForEachChunk(call, call.out[0]->count, kElementsPerChunk, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      to[i] = static_cast<T>(Betainc(a[i * a_step], b[i * b_step], x[i * x_step]));
    }
  });
}

Status RunBetainc(const KernelCall& call) {
  Shape shape;
  STILLFLOW_RETURN_IF_ERROR(CheckShapes(call, &shape));
  const DType type = call.in[0]->dtype;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, type, shape));
  if (type == DType::kFloat) return Run<float>(call);
  if (type == DType::kDouble) return Run<double>(call);
  return UnsupportedType("Betainc", type);
}

}  // namespace

STILLFLOW_KERNELS(math, betainc){{"betainc", "a, b, x", RunBetainc}, {}};

}  // namespace stillflow
