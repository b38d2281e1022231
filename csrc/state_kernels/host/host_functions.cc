// Kernels that Python does, with libraries that are extras or with files behind a scheme: decode_png and its kin,
// read_file, write_file, matching_files, and others that no loop depends on.
//
// The host function is called with the name after "builtin:", the inputs, and then the attributes as scalars.
#include <cstring>

#include "io/png_reader.h"
#include "kernels/guarded.h"
#include "runtime/executor/cpu.h"
#include "runtime/executor/program.h"
#include "runtime/executor/run_context.h"

namespace stillflow {
namespace {

constexpr int kMostArguments = 12;

// What stands for an attribute: 'i' a number, 'f' a float, 's' a string, 't' the type of output 0.
Status SetArgument(const Services& services, char kind, const Attr& attr, Tensor* tensor) {
  const DType dtype = kind == 's' ? DType::kString : kind == 'f' ? DType::kDouble : DType::kInt64;
  STILLFLOW_RETURN_IF_ERROR(Allocate(services, dtype, Shape(), tensor));
  if (kind == 's') {
    StringCell* cell = services.new_string(static_cast<const char*>(attr.data), attr.size);
    if (cell == nullptr) return OutOfScratch();
    MutableData<StringCell*>(*tensor)[0] = cell;
  } else if (kind == 'f') {
    MutableData<double>(*tensor)[0] = attr.f;
  } else {
    MutableData<int64_t>(*tensor)[0] = attr.i;
  }
  return Status();
}

class Arguments {
 public:
  ~Arguments() {
    for (Tensor& tensor : made_) {
      if (tensor.buffer != nullptr) Release(tensor.buffer);
    }
  }
  Status Set(const KernelCall& call, const char* kinds) {
    for (int i = 0; i < call.in_count; ++i) tensors_[count_++] = call.in[i];
    for (int i = 0; kinds[i] != 0; ++i) {
      STILLFLOW_RETURN_IF_ERROR(SetArgument(*call.services, kinds[i], call.attrs[i], &made_[i]));
      tensors_[count_++] = &made_[i];
    }
    return Status();
  }
  const Tensor* const* data() const { return tensors_; }
  int count() const { return count_; }

 private:
  const Tensor* tensors_[kMostArguments];
  Tensor made_[kMostArguments] = {};
  int count_ = 0;
};

Status CallHost(const KernelCall& call, const char* name, const char* kinds, DType result) {
  const HostFunction host = call.run->options->host;
  if (host == nullptr) return Error(Code::kInternal, "This run cannot call functions of its program");
  Arguments arguments;
  STILLFLOW_RETURN_IF_ERROR(arguments.Set(call, kinds));
  if (call.out_count > 0) call.out[0]->dtype = result;
  const HostFloatMode float_mode;
  const Session::HostScope scope(call.run->session);
  char* message = nullptr;
  const int32_t code = host(call.run->options->interrupt.arg, name, static_cast<int64_t>(std::strlen(name)),
                            arguments.data(), arguments.count(), call.out, call.out_count, &message);
  return code == 0 ? Status() : Status(static_cast<Code>(code), message);
}

// The kernels: name, what the attributes are, the result's type; kInvalid: the attribute 't' says it.
#define STILLFLOW_BUILTIN(function, name, kinds, result)                                            \
  Status function(const KernelCall& call) {                                                         \
    constexpr const char* kKinds = kinds;                                                           \
    const char* type = std::strchr(kKinds, 't');                                                    \
    const DType dtype = type == nullptr ? result : static_cast<DType>(call.attrs[type - kKinds].i); \
    return CallHost(call, "builtin:" name, kKinds, dtype);                                          \
  }

STILLFLOW_BUILTIN(DecodeOther, "decode_image", "it", DType::kUInt8)
STILLFLOW_BUILTIN(DecodeJpegFile, "decode_jpeg", "iiiifs", DType::kUInt8)
STILLFLOW_BUILTIN(DecodeAndCropJpeg, "decode_and_crop_jpeg", "iiiifs", DType::kUInt8)
STILLFLOW_BUILTIN(DecodeGif, "decode_gif", "", DType::kUInt8)
STILLFLOW_BUILTIN(DecodeBmp, "decode_bmp", "i", DType::kUInt8)
STILLFLOW_BUILTIN(EncodeJpeg, "encode_jpeg", "siiiisiis", DType::kString)
STILLFLOW_BUILTIN(EncodeJpegVariableQuality, "encode_jpeg_variable_quality", "", DType::kString)
STILLFLOW_BUILTIN(ExtractJpegShape, "extract_jpeg_shape", "t", DType::kInt32)
STILLFLOW_BUILTIN(ReadFile, "read_file", "", DType::kString)
STILLFLOW_BUILTIN(WriteFile, "write_file", "", DType::kString)
STILLFLOW_BUILTIN(MatchingFiles, "matching_files", "", DType::kString)
STILLFLOW_BUILTIN(DecodeJsonExample, "decode_json_example", "", DType::kString)
STILLFLOW_BUILTIN(ParseTensor, "parse_tensor", "t", DType::kString)
STILLFLOW_BUILTIN(DecodeCompressed, "decode_compressed", "s", DType::kString)
STILLFLOW_BUILTIN(StringLower, "string_lower", "s", DType::kString)
STILLFLOW_BUILTIN(StringUpper, "string_upper", "s", DType::kString)
STILLFLOW_BUILTIN(LoadAndRemapMatrix, "load_and_remap_matrix", "ii", DType::kFloat)

Status GenerateVocabRemapping(const KernelCall& call) {
  if (call.out_count > 1) call.out[1]->dtype = DType::kInt32;
  return CallHost(call, "builtin:generate_vocab_remapping", "iii", DType::kInt64);
}

// PNG files need no Python; others may be given to these ops as well.
Status DecodePngFile(const KernelCall& call, int channels, DType dtype) {
  const io::Bytes file = StringAt(*call.in[0], 0);
  io::PngImage image;
  const bool is_deep = dtype == DType::kUInt16;
  const io::PngStatus status = io::ReadPng(file, channels, is_deep ? 16 : 8, &image);
  if (status == io::PngStatus::kTooLarge) {
    return STILLFLOW_INVALID_ARGUMENT("PNG size too large for int: %lld by %lld", static_cast<long long>(image.width),
                                      static_cast<long long>(image.height));
  }
  if (status == io::PngStatus::kInvalid) {
    return STILLFLOW_INVALID_ARGUMENT("Invalid PNG data, size %lld", static_cast<long long>(file.size));
  }
  Shape shape;
  shape.Add(image.height);
  shape.Add(image.width);
  shape.Add(image.channels);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, dtype, shape));
  const void* pixels = is_deep ? static_cast<const void*>(image.words.data()) : image.bytes.data();
  std::memcpy(call.out[0]->data, pixels, call.out[0]->count * ElementBytes(dtype));
  return Status();
}

Status CheckImage(const KernelCall& call) {
  const int64_t channels = call.attrs[0].i;
  if (call.in[0]->rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("contents must be scalar, got shape %s", ShapeText(*call.in[0]).c_str());
  }
  if (channels != 0 && channels != 1 && channels != 3 && channels != 4) {
    return STILLFLOW_INVALID_ARGUMENT("channels must be 0, 1, 3, or 4, got %lld", static_cast<long long>(channels));
  }
  return Status();
}

Status DecodePng(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckImage(call));
  if (!io::IsPng(StringAt(*call.in[0], 0))) return DecodeOther(call);
  return DecodePngFile(call, static_cast<int>(call.attrs[0].i), static_cast<DType>(call.attrs[1].i));
}

Status DecodeJpeg(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckImage(call));
  if (!io::IsPng(StringAt(*call.in[0], 0))) return DecodeJpegFile(call);
  return DecodePngFile(call, static_cast<int>(call.attrs[0].i), DType::kUInt8);
}

// Letters of ASCII need no Python.
template <bool kIsUpper>
Status ChangeCase(const KernelCall& call) {
  if (call.attrs[0].size != 0) return kIsUpper ? StringUpper(call) : StringLower(call);
  const Tensor& input = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kString, Shape(input)));
  for (int64_t i = 0; i < input.count; ++i) {
    std::string text = Text(StringAt(input, i));
    for (char& c : text) {
      if (kIsUpper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z') c = static_cast<char>(c ^ 32);
    }
    if (!SetString(call, call.out[0], i, text.data(), static_cast<int64_t>(text.size()))) return OutOfScratch();
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(host, host_functions){
    {"decode_png", "contents | channels, dtype", Guarded<DecodePng>},
    {"decode_jpeg",
     "contents | channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method",
     Guarded<DecodeJpeg>},
    {"decode_and_crop_jpeg",
     "contents, crop_window | channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, "
     "dct_method",
     DecodeAndCropJpeg},
    {"decode_gif", "contents", DecodeGif},
    {"decode_bmp", "contents | channels", DecodeBmp},
    {"encode_jpeg",
     "image | format, quality, progressive, optimize_size, chroma_downsampling, density_unit, x_density, y_density, "
     "xmp_metadata",
     EncodeJpeg},
    {"encode_jpeg_variable_quality", "images, quality", EncodeJpegVariableQuality},
    {"extract_jpeg_shape", "contents | output_type", ExtractJpegShape},
    {"read_file", "filename", ReadFile},
    {"write_file", "filename, contents", WriteFile},
    {"matching_files", "pattern", MatchingFiles},
    {"decode_json_example", "json_examples", DecodeJsonExample},
    {"parse_tensor", "serialized | out_type", ParseTensor},
    {"decode_compressed", "bytes | compression_type", DecodeCompressed},
    {"string_lower", "input | encoding", Guarded<ChangeCase<false>>},
    {"string_upper", "input | encoding", Guarded<ChangeCase<true>>},
    {"generate_vocab_remapping", "new_vocab_file, old_vocab_file | new_vocab_offset, num_new_vocab, old_vocab_size",
     GenerateVocabRemapping},
    {"load_and_remap_matrix",
     "ckpt_path, old_tensor_name, row_remapping, col_remapping, initializing_values | num_rows, num_cols",
     LoadAndRemapMatrix},
    {}};

}  // namespace stillflow
