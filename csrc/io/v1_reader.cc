#include "io/v1_reader.h"

#include <glob.h>

#include <utility>

#include "io/tensor_proto.h"
#include "kernel_api/kernel.h"

namespace stillflow::io {
namespace {

std::vector<std::string> MatchingFiles(const std::string& pattern) {
  std::vector<std::string> paths;
  if (FileExists(pattern)) return {pattern};
  glob_t found = {};
  if (glob(LocalPath(pattern).c_str(), GLOB_NOSORT, nullptr, &found) == 0)
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return paths;
}

const char* NameOfCode(Code code) {
  switch (code) {
    case Code::kDataLoss:
      return "Data loss";
    case Code::kNotFound:
      return "Not found";
    case Code::kPermissionDenied:
      return "Permission denied";
    case Code::kFailedPrecondition:
      return "Failed precondition";
    case Code::kOutOfRange:
      return "Out of range";
    default:
      return "Unknown";
  }
}

Status Damaged(const std::string& path) {
  return Error(Code::kDataLoss, "Failed to find the saved tensor slices at the beginning of the checkpoint file: %s",
               path.c_str());
}

// The last sub-message of that number.
bool SubMessage(Bytes message, uint32_t number, Bytes* found) {
  WireReader reader(message);
  bool has = false;
  while (reader.NextField()) {
    if (reader.Is(number, WireType::kBytes)) {
      *found = reader.LengthDelimited();
      has = true;
    } else {
      reader.Skip();
    }
  }
  return reader.ok() && has;
}

}  // namespace

Status V1Reader::Open(const std::string& pattern, std::unique_ptr<CheckpointReader>* reader) {
  const std::vector<std::string> paths = MatchingFiles(pattern);
  if (paths.empty()) {
    return Error(Code::kNotFound,
                 "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for %s",
                 pattern.c_str());
  }
  auto checkpoint = std::make_unique<V1Reader>();
  checkpoint->pattern_ = pattern;
  for (const std::string& path : paths) STILLFLOW_RETURN_IF_ERROR(checkpoint->AddTable(path));
  *reader = std::move(checkpoint);
  return Status();
}

Status V1Reader::AddTable(const std::string& path) {
  std::unique_ptr<TableReader> table;
  Status status = TableReader::Open(path, &table);
  if (!status.ok()) {
    return Error(
        Code::kDataLoss,
        "Unable to open table file %s: %s: %s: perhaps your file is in a different file format and you need to "
        "use a different restore operator?",
        path.c_str(), NameOfCode(status.code()), status.message());
  }
  std::string value;
  bool is_found = false;
  STILLFLOW_RETURN_IF_ERROR(table->Get(Bytes(), &value, &is_found));
  Bytes meta;
  if (!is_found || !SubMessage(Bytes(value), 1, &meta) || !AddMeta(meta, tables_.size())) return Damaged(path);
  tables_.push_back(std::move(table));
  return Status();
}

bool V1Reader::AddMeta(Bytes message, size_t table) {
  WireReader reader(message);
  while (reader.NextField()) {
    if (!reader.Is(1, WireType::kBytes)) {
      reader.Skip();
    } else if (!AddTensor(reader.LengthDelimited(), table)) {
      return false;
    }
  }
  return reader.ok();
}

// SavedSliceMeta: 1 name, 2 shape, 3 type, 4 slices.
bool V1Reader::AddTensor(Bytes message, size_t table) {
  std::string name;
  StoredTensor tensor;
  uint64_t type = 0;
  bool is_good = true;
  WireReader reader(message);
  while (reader.NextField()) {
    if (reader.Is(1, WireType::kBytes)) {
      name = reader.LengthDelimited().ToString();
    } else if (reader.Is(2, WireType::kBytes)) {
      is_good = ParseShape(reader.LengthDelimited(), &tensor.dims) && is_good;
    } else if (reader.Is(3, WireType::kVarint)) {
      type = reader.Varint();
    } else if (reader.Is(4, WireType::kBytes)) {
      tensor.slices.emplace_back();
      is_good = tensor.slices.back().Parse(reader.LengthDelimited()) && is_good;
    } else {
      reader.Skip();
    }
  }
  if (!reader.ok() || !is_good || type >= 100 || tensor.slices.empty()) return false;
  tensor.dtype = static_cast<DType>(type);
  for (const TensorSlice& slice : tensor.slices) {
    if (slice.rank() != tensor.dims.size()) return false;
    table_of_[SliceKey(name, slice)] = table;
  }
  const auto known = tensors_.find(name);
  if (known == tensors_.end()) {
    tensors_[name] = std::move(tensor);
    return true;
  }
  if (known->second.dims != tensor.dims || known->second.dtype != tensor.dtype) return false;
  std::vector<TensorSlice>& slices = known->second.slices;
  slices.insert(slices.end(), tensor.slices.begin(), tensor.slices.end());
  return true;
}

Status V1Reader::KeyNotFound(const std::string& name) const {
  return Error(Code::kNotFound, "Tensor name \"%s\" not found in checkpoint files %s", name.c_str(),
               pattern_.c_str());
}

Status V1Reader::ProtoOf(const std::string& name, const TensorSlice& slice, std::string* storage,
                         Bytes* proto) const {
  const std::string key = SliceKey(name, slice);
  const auto table = table_of_.find(key);
  bool is_found = table != table_of_.end();
  if (is_found) STILLFLOW_RETURN_IF_ERROR(tables_[table->second]->Get(Bytes(key), storage, &is_found));
  Bytes data;
  if (!is_found || !SubMessage(Bytes(*storage), 2, &data)) {
    return Error(Code::kDataLoss, "Slice %s of %s is not in the checkpoint", slice.ToString().c_str(), name.c_str());
  }
  const StoredTensor& tensor = *Find(name);
  TensorSlice resolved = slice;
  resolved.Resolve(tensor.dims);
  if (!SubMessage(data, 3, proto)) *proto = Bytes();
  if (HasValues(*proto, tensor.dtype, ElementCount(resolved.Shape()))) return Status();
  return Error(Code::kDataLoss, "Slice %s of %s has not as many values as it should", slice.ToString().c_str(),
               name.c_str());
}

Status V1Reader::Check(const std::string& name, const TensorSlice& wanted) const {
  std::vector<TensorSlice> parts;
  STILLFLOW_RETURN_IF_ERROR(Cover(name, wanted, &parts));
  const StoredTensor& tensor = *Find(name);
  for (const TensorSlice& part : parts) {
    std::string storage;
    Bytes proto;
    TensorSlice stored = part;
    stored.Resolve(tensor.dims);
    STILLFLOW_RETURN_IF_ERROR(ProtoOf(name, part, &storage, &proto));
    if (tensor.dtype == DType::kString && !(stored == wanted)) {
      return Error(Code::kUnimplemented,
                   "Dtype string not supported: slices of %s can be read only as they are stored", name.c_str());
    }
  }
  return Status();
}

Status V1Reader::Read(const std::string& name, const TensorSlice& wanted, void* to, const Parallel&) const {
  std::vector<TensorSlice> parts;
  STILLFLOW_RETURN_IF_ERROR(Cover(name, wanted, &parts));
  const StoredTensor& tensor = *Find(name);
  for (const TensorSlice& part : parts) {
    std::string storage;
    Bytes proto;
    STILLFLOW_RETURN_IF_ERROR(ProtoOf(name, part, &storage, &proto));
    TensorSlice stored = part;
    stored.Resolve(tensor.dims);
    if (stored == wanted) {
      CopyValues(proto, tensor.dtype, to);
      continue;
    }
    std::string values(ElementCount(stored.Shape()) * ElementBytes(tensor.dtype), '\0');
    CopyValues(proto, tensor.dtype, &values[0]);
    SliceCopy(stored, wanted, ElementBytes(tensor.dtype), to)
        .Take(0, values.data(), static_cast<int64_t>(values.size()));
  }
  return Status();
}

Status V1Reader::ReadStrings(const std::string& name, const TensorSlice& wanted, const StringSink& sink) const {
  std::vector<TensorSlice> parts;
  STILLFLOW_RETURN_IF_ERROR(Cover(name, wanted, &parts));
  if (parts.empty()) return Status();
  std::string storage;
  Bytes proto;
  STILLFLOW_RETURN_IF_ERROR(ProtoOf(name, parts[0], &storage, &proto));
  return CopyStrings(proto, sink) ? Status() : Error(Code::kResourceExhausted, "OOM when restoring strings");
}

Status V1Reader::Verify() const {
  for (const auto& item : tensors_) {
    for (const TensorSlice& slice : item.second.slices) {
      std::string storage;
      Bytes proto;
      STILLFLOW_RETURN_IF_ERROR(ProtoOf(item.first, slice, &storage, &proto));
    }
  }
  return Status();
}

}  // namespace stillflow::io
