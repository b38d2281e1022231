// decode_raw, decode_padded_raw: the bytes of strings as numbers.
//
//   in[0]   strings, for decode_raw of one size; attrs out_type, little_endian
//   in[1]   decode_padded_raw: int32 scalar: as many bytes are taken of each, zeros behind shorter ones
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

Status DecodePaddedRaw(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const Tensor& length = *call.in[1];
  const auto dtype = static_cast<DType>(call.attrs[0].i);
  const int64_t element = ElementBytes(dtype);
  if (element == 0) return UnsupportedType("DecodePaddedRaw", dtype);
  if (length.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("k must be scalar, got shape %s", ShapeText(length).c_str());
  }
  const int64_t size = IntAt(length, 0);
  if (size % element != 0) {
    return STILLFLOW_INVALID_ARGUMENT("fixed_length (%lld) must be a multiple of the size of out_type (%lld)",
                                      static_cast<long long>(size), static_cast<long long>(element));
  }
  if (size <= 0) {
    return STILLFLOW_INVALID_ARGUMENT("fixed_length (%lld) must be greater than zero.", static_cast<long long>(size));
  }
  Shape shape(input);
  if (shape.rank == kMaxRank) return STILLFLOW_INVALID_ARGUMENT("DecodePaddedRaw of a tensor of too many dimensions");
  shape.Add(size / element);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, dtype, shape));
  char* out = MutableData<char>(*call.out[0]);
  for (int64_t i = 0; i < input.count; ++i, out += size) {
    const io::Bytes text = StringAt(input, i);
    const int64_t taken = std::min(size, static_cast<int64_t>(text.size));
    if (taken > 0) std::memcpy(out, text.data, taken);
    std::memset(out + taken, 0, size - taken);
    for (int64_t j = 0; call.attrs[1].i == 0 && j < size; j += element) std::reverse(out + j, out + j + element);
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(parsing, decode_raw){
    {"decode_raw", "bytes | out_type, little_endian", Guarded<DecodeRaw>},
    {"decode_padded_raw", "input_bytes, fixed_length | out_type, little_endian", Guarded<DecodePaddedRaw>},
    {}};

}  // namespace stillflow
