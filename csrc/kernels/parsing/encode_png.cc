// encode_png: an image as a PNG file.
//
//   in[0]   uint8 or uint16 [height, width, channels]; attr compression: zlib's level, -1 its default
//   out[0]  the file's bytes
#include "io/png.h"
#include "kernels/guarded.h"

namespace stillflow {
namespace {

Status EncodePng(const KernelCall& call) {
  const Tensor& image = *call.in[0];
  const int64_t compression = call.attrs[0].i;
  if (compression < -1 || compression > 9) {
    return STILLFLOW_INVALID_ARGUMENT("compression should be in [-1,9], got %lld",
                                      static_cast<long long>(compression));
  }
  if (image.rank != 3) {
    return STILLFLOW_INVALID_ARGUMENT("image must be 3-dimensional%s", ShapeText(image).c_str());
  }
  if (image.dims[2] < 1 || image.dims[2] > 4) {
    return STILLFLOW_INVALID_ARGUMENT("image must have 1, 2, 3, or 4 channels, got %lld",
                                      static_cast<long long>(image.dims[2]));
  }
  if (image.count == 0) {
    return Error(Code::kInternal, "PNG encoding failed: image must not be empty, got shape %s",
                 ShapeText(image).c_str());
  }
  const int64_t row_bytes = image.dims[1] * image.dims[2] * ElementBytes(image.dtype);
  if (image.dims[0] >= int64_t{1} << 31 || row_bytes >= int64_t{1} << 31) {
    return STILLFLOW_INVALID_ARGUMENT("image is too large, got shape %s", ShapeText(image).c_str());
  }
  std::string png;
  const int bit_depth = image.dtype == DType::kUInt16 ? 16 : 8;
  if (!io::AppendPng(image.data, image.dims[1], image.dims[0], static_cast<int>(image.dims[2]), bit_depth,
                     static_cast<int>(compression), &png)) {
    return OutOfScratch();
  }
  return SetScalarString(call, png);
}

}  // namespace

STILLFLOW_KERNELS(parsing, encode_png){{"encode_png", "image | compression", Guarded<EncodePng>}, {}};

}  // namespace stillflow
