// equal, string_add, cast_string: what elementwise programs leave to plain loops.
//
//   in[0], in[1]  tensors of one type that broadcast
//   out[0]        equal: bool, whether elements are equal (attr 0: are not); of shapes that do not broadcast,
//                 a scalar false (true) if attr 1 is false, else an error. string_add: their concatenations.
#include <cstring>
#include <string>

#include "arithmetic/math/complex.h"
#include "kernel_api/broadcast.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 4096;

template <typename T>
bool AreEqual(T a, T b) {
  if constexpr (kIsFloating<T>) {
    return Widen(a) == Widen(b);
  } else {
    return a == b;
  }
}

template <typename T>
Status Compare(const KernelCall& call, const Shape& shape, bool is_negated) {
  const T* x = Data<T>(*call.in[0]);
  const T* y = Data<T>(*call.in[1]);
  bool* z = MutableData<bool>(*call.out[0]);
  return ForEachChunk(call, call.out[0]->count, kElementsPerChunk, [&](Range range) {
    BroadcastWalk at_x(Shape(*call.in[0]), shape, range.begin);
    BroadcastWalk at_y(Shape(*call.in[1]), shape, range.begin);
    for (int64_t i = range.begin; i < range.end; ++i, at_x.Next(), at_y.Next()) {
      z[i] = AreEqual(x[at_x.index()], y[at_y.index()]) != is_negated;
    }
  });
}

Status Equal(const KernelCall& call) {
  const bool is_negated = call.attrs[0].i != 0;
  const bool must_broadcast = call.attrs[1].i != 0;
  Shape shape;
  Status status = BroadcastTwo(Shape(*call.in[0]), Shape(*call.in[1]), &shape);
  if (!status.ok()) {
    if (must_broadcast) return status;
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kBool, Shape()));
    *MutableData<bool>(*call.out[0]) = is_negated;
    return Status();
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kBool, shape));
  if (call.in[0]->dtype == DType::kString) return Compare<const StringCell*>(call, shape, is_negated);
  return ForType<float, double, Half, BFloat16, int64_t, int32_t, int16_t, int8_t, uint8_t, bool, Complex64,
                 Complex128>("Equal", call.in[0]->dtype, [&](auto tag) {
    return Compare<typename decltype(tag)::type>(call, shape, is_negated);
  });
}

Status StringAdd(const KernelCall& call) {
  Shape shape;
  const Shape x_shape(*call.in[0]);
  const Shape y_shape(*call.in[1]);
  STILLFLOW_RETURN_IF_ERROR(BroadcastTwo(x_shape, y_shape, &shape));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kString, shape));
  const auto* x = Data<StringCell*>(*call.in[0]);
  const auto* y = Data<StringCell*>(*call.in[1]);
  BroadcastWalk at_x(x_shape, shape, 0);
  BroadcastWalk at_y(y_shape, shape, 0);
  std::string sum;
  for (int64_t i = 0; i < call.out[0]->count; ++i, at_x.Next(), at_y.Next()) {
    sum.clear();
    for (const StringCell* cell : {x[at_x.index()], y[at_y.index()]}) {
      if (cell != nullptr) sum.append(cell->bytes, cell->size);
    }
    if (!sum.empty() && !SetString(call, call.out[0], i, sum.data(), static_cast<int64_t>(sum.size()))) {
      return OutOfMemory(DType::kString, shape);
    }
  }
  return Status();
}

Status CastString(const KernelCall& call) {
  return Error(Code::kUnimplemented, "Cast %s to %s is not supported", Name(call.in[0]->dtype),
               Name(static_cast<DType>(call.attrs[0].i)));
}

}  // namespace

STILLFLOW_KERNELS(math, equal){{"equal", "x, y | is_negated, incompatible_shape_error", Equal},
                               {"string_add", "x, y", StringAdd},
                               {"cast_string", "x | DstT", CastString},
                               {}};

}  // namespace stillflow
