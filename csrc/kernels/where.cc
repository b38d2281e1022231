// where: the places of elements that are not zero.
//
//   in[0]   array of numbers or bools
//   out[0]  int64[places, rank]: the indices of each, in the order of the elements
//
// The elements are counted in chunks of one size, and then written by the same chunks.
#include "math/scalar.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 16 << 10;

template <typename T>
inline bool IsTrue(T value) {
  if constexpr (kIsFloating<T>) {
    return Widen(value) != 0;
  } else {
    return value != T{0};
  }
}

void WritePlace(const Shape& shape, int64_t position, int64_t* to) {
  for (int i = shape.rank - 1; i >= 0; --i) {
    to[i] = position % shape.dims[i];
    position /= shape.dims[i];
  }
}

template <typename T>
Status FindTrue(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const T* const data = Data<T>(input);
  const int64_t chunks = (input.count + kElementsPerChunk - 1) / kElementsPerChunk;
  const Scratch starts(call, (chunks + 1) * 8);
  const Scratch flags(call, input.count);  // what is counted is what is written, whoever changes the input
  if (!starts.ok() || !flags.ok()) return OutOfScratch();
  int64_t* const start = starts.data<int64_t>();
  auto* const is_true = flags.data<uint8_t>();
  STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, input.count, kElementsPerChunk, [&](Range range) {
    int64_t found = 0;
    for (int64_t i = range.begin; i < range.end; ++i) {
      is_true[i] = IsTrue(data[i]);
      found += is_true[i];
    }
    start[range.begin / kElementsPerChunk] = found;
  }));
  int64_t total = 0;
  for (int64_t i = 0; i < chunks; ++i) {
    const int64_t found = start[i];
    start[i] = total;
    total += found;
  }
  const Shape shape(input);
  Shape places;
  places.Add(total);
  places.Add(shape.rank);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt64, places));
  if (call.out[0]->count == 0) return Status();
  return ForEachChunk(call, input.count, kElementsPerChunk, [&](Range range) {
    int64_t* to = MutableData<int64_t>(*call.out[0]) + start[range.begin / kElementsPerChunk] * shape.rank;
    for (int64_t i = range.begin; i < range.end; ++i) {
      if (!is_true[i]) continue;
      WritePlace(shape, i, to);
      to += shape.rank;
    }
  });
}

Status Where(const KernelCall& call) {
  return ForType<bool, float, double, int64_t, int32_t, int16_t, int8_t, uint64_t, uint32_t, uint16_t, uint8_t, Half,
                 BFloat16>("Where", call.in[0]->dtype,
                           [&](auto tag) { return FindTrue<typename decltype(tag)::type>(call); });
}

}  // namespace

STILLFLOW_KERNELS(where){{"where", "input", Where}, {}};

}  // namespace stillflow
