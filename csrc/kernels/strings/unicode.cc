// unicode_decode, unicode_encode, unicode_transcode: text as code points, and in other encodings.
//
//   unicode_decode     in[0] strings; attrs input_encoding, errors, replacement_char, replace_control_characters,
//                      Tsplits; out: where each string's characters begin [n + 1], int32 code points, and if it is
//                      asked for int64 where each character begins in its string
//   unicode_encode     in[0] int32 code points; in[1] where each string begins [n + 1], int32 or int64
//                      attrs errors, output_encoding, replacement_char; out[0] strings [n]
//   unicode_transcode  in[0] strings; attrs input_encoding, output_encoding, errors, replacement_char,
//                      replace_control_characters; out[0] strings
#include <vector>

#include "kernels/guarded.h"
#include "kernels/strings/unicode_text.h"

namespace stillflow {
namespace {

using io::Bytes;

constexpr int32_t kLastCode = 0x10FFFF;
constexpr int32_t kLastControlCode = 0x1F;

Bytes BytesOf(const Attr& attr) { return {static_cast<const char*>(attr.data), static_cast<size_t>(attr.size)}; }

// What is done about malformed text: an error, another character in its place, or nothing in its place.
struct ErrorPolicy {
  bool fails;
  bool drops;
  int32_t replacement;
  bool replaces_control_codes;

  bool Replaces(const Character& c) const {
    return c.is_malformed || (replaces_control_codes && c.code <= kLastControlCode);
  }
};

Status PolicyOf(const Attr& errors, const Attr& replacement, bool replaces_control_codes, ErrorPolicy* policy) {
  if (replacement.i < 0 || replacement.i > kLastCode) {
    return STILLFLOW_INVALID_ARGUMENT("replacement_char out of unicode codepoint range");
  }
  const char first = errors.size > 0 ? *static_cast<const char*>(errors.data) : 'r';
  *policy = {first == 's', first == 'i', static_cast<int32_t>(replacement.i), replaces_control_codes};
  return Status();
}

Status InputEncodingOf(const Attr& attr, Encoding* encoding) {
  if (EncodingOf(BytesOf(attr), encoding)) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Could not create converter for input encoding: %s",
                                    BytesOf(attr).ToString().c_str());
}

Status Malformed() { return STILLFLOW_INVALID_ARGUMENT("Invalid formatting on input string"); }

// ---- Decoding -----------------------------------------------------------------------------------------------------

template <typename Index>
Status SetSplits(const KernelCall& call, DType type, const std::vector<int64_t>& ends) {
  Shape shape;
  shape.Add(static_cast<int64_t>(ends.size()));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, type, shape));
  for (size_t i = 0; i < ends.size(); ++i) MutableData<Index>(*call.out[0])[i] = static_cast<Index>(ends[i]);
  return Status();
}

template <typename T>
Status SetVector(const KernelCall& call, int output, DType type, const std::vector<T>& values) {
  Shape shape;
  shape.Add(static_cast<int64_t>(values.size()));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, output, type, shape));
  std::copy(values.begin(), values.end(), MutableData<T>(*call.out[output]));
  return Status();
}

template <bool kWithOffsets>
Status UnicodeDecode(const KernelCall& call) {
  Encoding encoding;
  ErrorPolicy policy;
  STILLFLOW_RETURN_IF_ERROR(InputEncodingOf(call.attrs[0], &encoding));
  STILLFLOW_RETURN_IF_ERROR(PolicyOf(call.attrs[1], call.attrs[2], call.attrs[3].i != 0, &policy));
  std::vector<int64_t> ends = {0}, begins;
  std::vector<int32_t> codes;
  for (int64_t i = 0; i < call.in[0]->count; ++i) {
    CharacterReader reader(StringAt(*call.in[0], i), encoding);
    for (Character character; reader.Next(&character);) {
      if (policy.fails && character.is_malformed) return Malformed();
      const bool is_replaced = policy.Replaces(character);
      if (is_replaced && policy.drops) continue;
      codes.push_back(is_replaced ? policy.replacement : character.code);
      if (kWithOffsets) begins.push_back(character.begin);
    }
    ends.push_back(static_cast<int64_t>(codes.size()));
  }
  const auto splits_type = static_cast<DType>(call.attrs[4].i);
  STILLFLOW_RETURN_IF_ERROR(splits_type == DType::kInt32 ? SetSplits<int32_t>(call, splits_type, ends)
                                                         : SetSplits<int64_t>(call, splits_type, ends));
  STILLFLOW_RETURN_IF_ERROR(SetVector(call, 1, DType::kInt32, codes));
  return kWithOffsets ? SetVector(call, 2, DType::kInt64, begins) : Status();
}

// ---- Encoding -----------------------------------------------------------------------------------------------------

Encoding OutputEncodingOf(const Attr& attr) {
  Encoding encoding = Encoding::kUtf8;
  EncodingOf(BytesOf(attr), &encoding);
  return encoding;
}

Status SetText(const KernelCall& call, int64_t index, const CharacterWriter& writer, Encoding encoding) {
  const std::string text = writer.Encoded(encoding);
  return SetString(call, call.out[0], index, text.data(), static_cast<int64_t>(text.size())) ? Status()
                                                                                             : OutOfScratch();
}

template <typename Index>
Status Encode(const KernelCall& call, const ErrorPolicy& policy) {
  const Tensor& codes = *call.in[0];
  const auto* splits = Data<Index>(*call.in[1]);
  const Encoding encoding = OutputEncodingOf(call.attrs[1]);
  const int64_t count = call.in[1]->count - 1;
  if (count < 0) return STILLFLOW_INVALID_ARGUMENT("input_splits must have at least one element");
  Shape shape;
  shape.Add(count);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kString, shape));
  for (int64_t i = 0; i < count; ++i) {
    CharacterWriter writer;
    const auto begin = static_cast<int64_t>(splits[i]), end = static_cast<int64_t>(splits[i + 1]);
    if (begin < 0 || end > codes.count) {
      return STILLFLOW_INVALID_ARGUMENT("Invalid split value %lld, must be in [0,%lld]",
                                        static_cast<long long>(begin < 0 ? begin : end),
                                        static_cast<long long>(codes.count));
    }
    for (int64_t j = begin; j < end; ++j) {
      const int32_t code = Data<int32_t>(codes)[j];
      if (code >= 0 && code <= kLastCode) {
        writer.Append(code);
      } else if (policy.fails) {
        return STILLFLOW_INVALID_ARGUMENT("Code point value out of valid Unicode range.");
      } else if (!policy.drops) {
        writer.Append(policy.replacement);
      }
    }
    STILLFLOW_RETURN_IF_ERROR(SetText(call, i, writer, encoding));
  }
  return Status();
}

Status UnicodeEncode(const KernelCall& call) {
  ErrorPolicy policy;
  STILLFLOW_RETURN_IF_ERROR(PolicyOf(call.attrs[0], call.attrs[2], false, &policy));
  return call.in[1]->dtype == DType::kInt32 ? Encode<int32_t>(call, policy) : Encode<int64_t>(call, policy);
}

Status UnicodeTranscode(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  Encoding from;
  ErrorPolicy policy;
  STILLFLOW_RETURN_IF_ERROR(InputEncodingOf(call.attrs[0], &from));
  STILLFLOW_RETURN_IF_ERROR(PolicyOf(call.attrs[2], call.attrs[3], call.attrs[4].i != 0, &policy));
  const Encoding to = OutputEncodingOf(call.attrs[1]);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kString, Shape(input)));
  for (int64_t i = 0; i < input.count; ++i) {
    CharacterWriter writer;
    CharacterReader reader(StringAt(input, i), from);
    for (Character character; reader.Next(&character);) {
      const bool is_replaced = policy.Replaces(character);
      if (is_replaced && policy.fails) return Malformed();
      if (is_replaced && policy.drops) continue;
      writer.Append(is_replaced ? policy.replacement : character.code);
    }
    STILLFLOW_RETURN_IF_ERROR(SetText(call, i, writer, to));
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(strings, unicode){
    {"unicode_decode", "input | input_encoding, errors, replacement_char, replace_control_characters, Tsplits",
     Guarded<UnicodeDecode<false>>},
    {"unicode_decode_with_offsets",
     "input | input_encoding, errors, replacement_char, replace_control_characters, Tsplits",
     Guarded<UnicodeDecode<true>>},
    {"unicode_encode", "input_values, input_splits | errors, output_encoding, replacement_char",
     Guarded<UnicodeEncode>},
    {"unicode_transcode",
     "input | input_encoding, output_encoding, errors, replacement_char, replace_control_characters",
     Guarded<UnicodeTranscode>},
    {}};

}  // namespace stillflow
