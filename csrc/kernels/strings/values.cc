// string_to_number, string_length, string_strip, encode_base64, decode_base64: one string, one value.
//
//   string_to_number  in[0] strings; attr out_type; out[0] numbers
//   string_length     in[0] strings; attr unit: "BYTE" or "UTF8_CHAR"; out[0] int32
//   string_strip      in[0] strings; out[0] without white space around them
//   encode_base64     in[0] strings; attr pad; out[0] in the alphabet that file names and addresses may have
//   decode_base64     in[0] such strings; out[0] what they say
#include <algorithm>

#include "io/number_text.h"
#include "kernels/guarded.h"

namespace stillflow {
namespace {

using io::Bytes;

constexpr int64_t kStringsPerChunk = 512;

// out[0][i] = map(in[0][i]) for strings; map returns a Status and fills in a std::string.
template <typename Map>
Status MapStrings(const KernelCall& call, const Map& map) {
  const Tensor& input = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kString, Shape(input)));
  return ForEachChunk(call, input.count, kStringsPerChunk, [&](Range range) {
    return CatchingOutOfMemory([&] {
      std::string result;
      for (int64_t i = range.begin; i < range.end; ++i) {
        result.clear();
        STILLFLOW_RETURN_IF_ERROR(map(StringAt(input, i), &result));
        if (!SetString(call, call.out[0], i, result.data(), static_cast<int64_t>(result.size())))
          return OutOfScratch();
      }
      return Status();
    });
  });
}

// ---- Numbers ------------------------------------------------------------------------------------------------------

Status StringToNumber(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const auto dtype = static_cast<DType>(call.attrs[0].i);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, dtype, Shape(input)));
  return ForType<float, double, int32_t, int64_t>("StringToNumber", dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    T* out = MutableData<T>(*call.out[0]);
    return ForEachChunk(call, input.count, kStringsPerChunk, [&](Range range) {
      return CatchingOutOfMemory([&] {
        for (int64_t i = range.begin; i < range.end; ++i) {
          if (!io::ParseNumber(StringAt(input, i), out + i)) {
            return STILLFLOW_INVALID_ARGUMENT("StringToNumberOp could not correctly convert string: %s",
                                              Text(StringAt(input, i)).c_str());
          }
        }
        return Status();
      });
    });
  });
}

Status StringLength(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const bool is_utf8 = call.attrs[0].size == 9;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt32, Shape(input)));
  auto* out = MutableData<int32_t>(*call.out[0]);
  return ForEachChunk(call, input.count, kStringsPerChunk, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const Bytes text = StringAt(input, i);
      const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
      out[i] = static_cast<int32_t>(is_utf8 ? std::count_if(text.data, text.data + text.size, begins) : text.size);
    }
  });
}

// ---- Letters ------------------------------------------------------------------------------------------------------

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

Status StringStrip(const KernelCall& call) {
  return MapStrings(call, [](Bytes text, std::string* result) {
    while (text.size > 0 && IsSpace(text.data[0])) text = {text.data + 1, text.size - 1};
    while (text.size > 0 && IsSpace(text.data[text.size - 1])) --text.size;
    result->assign(text.data, text.size);
    return Status();
  });
}

// ---- Base 64 ------------------------------------------------------------------------------------------------------

constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

Status EncodeBase64(const KernelCall& call) {
  const bool is_padded = call.attrs[0].i != 0;
  return MapStrings(call, [is_padded](Bytes bytes, std::string* result) {
    for (size_t i = 0; i < bytes.size; i += 3) {
      uint32_t group = 0;
      const size_t count = std::min<size_t>(3, bytes.size - i);
      for (size_t j = 0; j < 3; ++j) {
        group = group << 8 | (j < count ? static_cast<unsigned char>(bytes.data[i + j]) : 0u);
      }
      for (size_t j = 0; j < 4; ++j) {
        if (j <= count) {
          result->push_back(kAlphabet[group >> (18 - 6 * j) & 63]);
        } else if (is_padded) {
          result->push_back('=');
        }
      }
    }
    return Status();
  });
}

Status DecodeBase64(const KernelCall& call) {
  int8_t values[256];
  std::fill_n(values, 256, int8_t{-1});
  for (int i = 0; i < 64; ++i) values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<int8_t>(i);
  return MapStrings(call, [&values](Bytes text, std::string* result) {
    if (text.size % 4 == 0) {
      for (int i = 0; i < 2 && text.size > 0 && text.data[text.size - 1] == '='; ++i) --text.size;
    }
    if (text.size % 4 == 1) return STILLFLOW_INVALID_ARGUMENT("Base64 string length cannot be 1 modulo 4.");
    uint32_t bits = 0;
    int count = 0;
    for (size_t i = 0; i < text.size; ++i) {
      const int value = values[static_cast<unsigned char>(text.data[i])];
      if (value < 0) return STILLFLOW_INVALID_ARGUMENT("Invalid character found in base64.");
      bits = bits << 6 | static_cast<uint32_t>(value);
      count += 6;
      if (count >= 8) {
        count -= 8;
        result->push_back(static_cast<char>(bits >> count));
      }
    }
    return Status();
  });
}

}  // namespace

STILLFLOW_KERNELS(strings, values){{"string_to_number", "string_tensor | out_type", Guarded<StringToNumber>},
                                   {"string_length", "input | unit", Guarded<StringLength>},
                                   {"string_strip", "input", Guarded<StringStrip>},
                                   {"encode_base64", "input | pad", Guarded<EncodeBase64>},
                                   {"decode_base64", "input", Guarded<DecodeBase64>},
                                   {}};

}  // namespace stillflow
