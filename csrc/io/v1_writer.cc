#include "io/v1_writer.h"

#include <utility>

#include "io/table.h"
#include "io/tensor_proto.h"
#include "kernel_api/kernel.h"

namespace stillflow::io {
namespace {

constexpr int64_t kMostMessageBytes = (int64_t{1} << 31) - (1 << 10);  // what a message can have

// The slice as the file says it; what is stored whole has the full extents.
TensorSlice SliceOf(const TensorPart& part) {
  return part.is_slice ? part.slice : TensorSlice::Full(part.dims.size());
}

}  // namespace

Status V1Writer::AddPending(Pending pending) {
  const TensorPart part = pending.part;
  if (part.name.empty()) return STILLFLOW_INVALID_ARGUMENT("Tensors of a checkpoint need a name");
  std::vector<TensorPart>& parts = tensors_[part.name];
  const Dims& dims = part.is_slice ? part.full_dims : part.dims;
  if (!parts.empty()) {
    const TensorPart& first = parts.front();
    if (first.dtype != part.dtype || (first.is_slice ? first.full_dims : first.dims) != dims) {
      return STILLFLOW_INVALID_ARGUMENT("Slices of %s do not agree on its type and shape", part.name.c_str());
    }
  }
  if (!pending_.emplace(SliceKey(part.name, SliceOf(part)), std::move(pending)).second) {
    return STILLFLOW_INVALID_ARGUMENT("Adding duplicate key: %s", part.name.c_str());
  }
  parts.push_back(part);
  return Status();
}

Status V1Writer::Add(const TensorPart& part, const void* data) {
  std::string probe;
  if (!AppendValues(part.dtype, nullptr, 0, &probe)) {
    return Error(Code::kUnimplemented, "Saving data type %s not yet supported", Name(part.dtype));
  }
  return AddPending({part, data, nullptr});
}

Status V1Writer::AddStrings(const TensorPart& part, StringSource source) {
  return AddPending({part, nullptr, std::move(source)});
}

std::string V1Writer::Meta() const {
  std::string meta, version, message;
  for (const auto& item : tensors_) {
    std::string tensor, shape;
    const TensorPart& first = item.second.front();
    AppendBytesField(1, Bytes(item.first), &tensor);
    AppendShape(first.is_slice ? first.full_dims : first.dims, &shape);
    AppendBytesField(2, Bytes(shape), &tensor);
    AppendVarintField(3, static_cast<uint64_t>(first.dtype), &tensor);
    for (const TensorPart& part : item.second) {
      std::string slice;
      SliceOf(part).AppendTo(&slice);
      AppendBytesField(4, Bytes(slice), &tensor);
    }
    AppendBytesField(1, Bytes(tensor), &meta);
  }
  AppendVarintField(1, 1, &version);
  AppendBytesField(2, Bytes(version), &meta);
  AppendBytesField(1, Bytes(meta), &message);
  return message;
}

Status V1Writer::WriteTo(OutputFile* file) {
  TableWriter table(file);
  STILLFLOW_RETURN_IF_ERROR(table.Add("", Bytes(Meta())));
  for (const auto& item : pending_) {
    const TensorPart& part = item.second.part;
    const int64_t count = ElementCount(part.dims);
    std::string values, slice, data, message;
    if (part.dtype == DType::kString) {
      AppendStrings(item.second.source, count, &values);
    } else {
      AppendValues(part.dtype, item.second.data, count, &values);
    }
    if (static_cast<int64_t>(values.size()) > kMostMessageBytes) {
      return STILLFLOW_INVALID_ARGUMENT("Tensor slice is too large to serialize (conservative estimate: %zu bytes)",
                                        values.size());
    }
    AppendBytesField(1, Bytes(part.name), &data);
    SliceOf(part).AppendTo(&slice);
    AppendBytesField(2, Bytes(slice), &data);
    AppendBytesField(3, Bytes(values), &data);
    AppendBytesField(2, Bytes(data), &message);
    STILLFLOW_RETURN_IF_ERROR(table.Add(item.first, Bytes(message)));
  }
  return table.Finish();
}

Status V1Writer::Finish(const std::string& path) {
  OutputFile file;
  STILLFLOW_RETURN_IF_ERROR(file.Create(path));
  STILLFLOW_RETURN_IF_ERROR(WriteTo(&file));
  STILLFLOW_RETURN_IF_ERROR(file.Sync());
  STILLFLOW_RETURN_IF_ERROR(file.Rename());
  return SyncFolder(FolderOf(path));
}

}  // namespace stillflow::io
