// decode_raw: the bytes of strings as numbers.
//
//   in[0]   strings of one size; attrs out_type, little_endian
//   out[0]  their bytes as numbers, in a further dimension
#include <algorithm>

#include "kernels/guarded.h"

namespace stillflow {
namespace {

Status DecodeRaw(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const auto dtype = static_cast<DType>(call.attrs[0].i);
  const bool is_swapped = call.attrs[1].i == 0 && ElementBytes(dtype) > 1;
  const int64_t element = ElementBytes(dtype);
  if (element == 0) return UnsupportedType("DecodeRaw", dtype);
  const int64_t size = input.count == 0 ? 0 : static_cast<int64_t>(StringAt(input, 0).size);
  for (int64_t i = 1; i < input.count; ++i) {
    const auto other = static_cast<int64_t>(StringAt(input, i).size);
    if (other != size) {
      return STILLFLOW_INVALID_ARGUMENT(
          "DecodeRaw requires input strings to all be the same size, but element %lld has size %lld != %lld",
          static_cast<long long>(i), static_cast<long long>(size), static_cast<long long>(other));
    }
  }
  if (size % element != 0) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Input to DecodeRaw has length %lld that is not a multiple of %lld, the size of %s",
        static_cast<long long>(size), static_cast<long long>(element), Name(dtype));
  }
  Shape shape(input);
  if (shape.rank == kMaxRank) return STILLFLOW_INVALID_ARGUMENT("DecodeRaw of a tensor of too many dimensions");
  shape.Add(size / element);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, dtype, shape));
  char* out = MutableData<char>(*call.out[0]);
  for (int64_t i = 0; i < input.count; ++i, out += size) {
    if (size > 0) std::memcpy(out, StringAt(input, i).data, size);
    if (dtype == DType::kBool) std::transform(out, out + size, out, [](char c) { return static_cast<char>(c != 0); });
    for (int64_t j = 0; is_swapped && j < size; j += element) std::reverse(out + j, out + j + element);
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(parsing, decode_raw){{"decode_raw", "bytes | out_type, little_endian", Guarded<DecodeRaw>}, {}};

}  // namespace stillflow
