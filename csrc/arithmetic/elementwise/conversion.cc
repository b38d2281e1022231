#include "arithmetic/elementwise/conversion.h"

#include "arithmetic/elementwise/tile.h"

namespace stillflow {
namespace {

Status CastAll(const KernelCall& call, const char* kernel, DType from_type, const void* from, DType to_type, void* to,
               int64_t count) {
  constexpr int64_t kElementsPerChunk = 16384;
  const TileOp* const cast = FindTileOp("cast", from_type, to_type);
  if (cast == nullptr) return UnsupportedType(kernel, from_type);
  const int64_t from_bytes = ElementBytes(from_type);
  const int64_t to_bytes = ElementBytes(to_type);
  return ForEachChunk(call, count, kElementsPerChunk, [&](Range range) {
    TileCall tile = {};
    tile.count = range.end - range.begin;
    tile.in[0] = static_cast<const char*>(from) + range.begin * from_bytes;
    tile.out = static_cast<char*>(to) + range.begin * to_bytes;
    RunTileOp(*cast, tile);
  });
}

}  // namespace

Status Converted::Convert(const KernelCall& call, const char* kernel, const Tensor& tensor, DType type) {
  data_ = tensor.data;
  if (tensor.dtype == type) return Status();
  buffer_ = call.services->allocate(tensor.count * ElementBytes(type));
  if (buffer_ == nullptr) return OutOfScratch();
  data_ = buffer_->data;
  return CastAll(call, kernel, tensor.dtype, tensor.data, type, buffer_->data, tensor.count);
}

Status StoreConverted(const KernelCall& call, const char* kernel, DType type, const void* from, Tensor* tensor) {
  return CastAll(call, kernel, type, from, tensor->dtype, tensor->data, tensor->count);
}

}  // namespace stillflow
