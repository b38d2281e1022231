#include "io/bundle_reader.h"

#include <utility>

#include "io/table.h"
#include "kernel_api/kernel.h"

namespace stillflow::io {
namespace {

Status Unreadable(const std::string& path, const char* why) {
  return Error(
      Code::kDataLoss,
      "Unable to read file (%s). Perhaps the file is corrupt or was produced by a newer version of TensorFlow "
      "with format changes (failed to seek to header entry): %s",
      path.c_str(), why);
}

}  // namespace

Status ReadIndex(const std::string& prefix, BundleHeader* header, BundleEntries* entries) {
  const std::string path = IndexName(prefix);
  std::unique_ptr<TableReader> table;
  STILLFLOW_RETURN_IF_ERROR(TableReader::Open(path, &table));
  bool has_header = false;
  Status header_status;
  const Status status = table->ForEach([&](const std::string& key, Bytes value) {
    if (key.empty()) {
      has_header = true;
      header_status = header->Parse(value);
      return header_status.ok();
    }
    return (*entries)[key].Parse(value);
  });
  if (!header_status.ok()) return header_status;
  if (!status.ok()) return Unreadable(path, status.message());
  return has_header ? Status() : Unreadable(path, "there is none");
}

Status BundleReader::Open(const std::string& prefix, std::unique_ptr<CheckpointReader>* reader) {
  auto bundle = std::make_unique<BundleReader>();
  bundle->prefix_ = prefix;
  STILLFLOW_RETURN_IF_ERROR(ReadIndex(prefix, &bundle->header_, &bundle->entries_));
  std::map<std::string, bool> slice_keys;
  for (const auto& item : bundle->entries_) {
    for (const TensorSlice& slice : item.second.slices) slice_keys[SliceKey(item.first, slice)] = true;
  }
  for (const auto& item : bundle->entries_) {
    if (slice_keys.count(item.first) != 0) continue;
    bundle->tensors_[item.first] = StoredTensor{item.second.dtype, item.second.dims, item.second.slices};
  }
  *reader = std::move(bundle);
  return Status();
}

Status BundleReader::KeyNotFound(const std::string& name) const {
  return Error(Code::kNotFound, "Key %s not found in checkpoint", name.c_str());
}

Status BundleReader::DataFile(int32_t shard, const InputFile** file) const {
  std::lock_guard<std::mutex> guard(mutex_);
  std::unique_ptr<InputFile>& found = files_[shard];
  if (found == nullptr) {
    auto opened = std::make_unique<InputFile>();
    STILLFLOW_RETURN_IF_ERROR(opened->Open(DataName(prefix_, shard, header_.num_shards)));
    found = std::move(opened);
  }
  *file = found.get();
  return Status();
}

Status BundleReader::EntryOf(const std::string& name, const TensorSlice& slice, const BundleEntry** entry) const {
  const auto whole = entries_.find(name);
  const auto found = whole->second.slices.empty() ? whole : entries_.find(SliceKey(name, slice));
  if (found == entries_.end()) {
    return Error(Code::kDataLoss, "Slice %s of %s is not in the checkpoint", slice.ToString().c_str(), name.c_str());
  }
  *entry = &found->second;
  return Status();
}

Status BundleReader::CheckEntry(const std::string& name, const BundleEntry& entry) const {
  if (entry.shard >= header_.num_shards && header_.num_shards > 0) {
    return Error(Code::kDataLoss, "The shard of bundle entry %s, %d, is none of %d", name.c_str(), entry.shard,
                 header_.num_shards);
  }
  const int64_t count = ElementCount(entry.dims);
  if (entry.dtype == DType::kString) {
    if (entry.size < 4 || count > entry.size - 4) {
      return Error(Code::kDataLoss, "Invalid size in bundle entry: key %s; stored size %lld for %lld strings",
                   name.c_str(), static_cast<long long>(entry.size), static_cast<long long>(count));
    }
  } else {
    const int64_t element_bytes = ElementBytes(entry.dtype);
    int64_t expected = 0;
    if (element_bytes == 0 || entry.dtype == DType::kResource || entry.dtype == DType::kVariant) {
      return Error(Code::kUnimplemented, "Values of type %s are not read: %s", Name(entry.dtype), name.c_str());
    }
    if (__builtin_mul_overflow(count, element_bytes, &expected) || expected != entry.size) {
      return Error(Code::kDataLoss, "Invalid size in bundle entry: key %s; stored size %lld; expected size %lld",
                   name.c_str(), static_cast<long long>(entry.size), static_cast<long long>(expected));
    }
  }
  const InputFile* file = nullptr;
  STILLFLOW_RETURN_IF_ERROR(DataFile(entry.shard, &file));
  if (entry.offset <= file->size() && entry.size <= file->size() - entry.offset) return Status();
  return Error(Code::kOutOfRange, "Read less bytes than requested");
}

Status BundleReader::Check(const std::string& name, const TensorSlice& wanted) const {
  const StoredTensor& tensor = *Find(name);
  std::vector<TensorSlice> parts;
  STILLFLOW_RETURN_IF_ERROR(Cover(name, wanted, &parts));
  for (const TensorSlice& part : parts) {
    const BundleEntry* entry = nullptr;
    STILLFLOW_RETURN_IF_ERROR(EntryOf(name, part, &entry));
    TensorSlice stored = part;
    if (!stored.Resolve(tensor.dims) || stored.Shape() != entry->dims || entry->dtype != tensor.dtype ||
        !entry->slices.empty()) {
      return Error(Code::kDataLoss, "Slice %s of %s is not what it is said to be", part.ToString().c_str(),
                   name.c_str());
    }
    STILLFLOW_RETURN_IF_ERROR(CheckEntry(name, *entry));
    if (tensor.dtype == DType::kString && !(stored == wanted)) {
      return Error(Code::kUnimplemented,
                   "Dtype string not supported: slices of %s can be read only as they are stored", name.c_str());
    }
  }
  return Status();
}

Status BundleReader::Read(const std::string& name, const TensorSlice& wanted, void* to,
                          const Parallel& parallel) const {
  const StoredTensor& tensor = *Find(name);
  std::vector<TensorSlice> parts;
  STILLFLOW_RETURN_IF_ERROR(Cover(name, wanted, &parts));
  const int64_t element_bytes = ElementBytes(tensor.dtype);
  for (const TensorSlice& part : parts) {
    const BundleEntry* entry = nullptr;
    const InputFile* file = nullptr;
    STILLFLOW_RETURN_IF_ERROR(EntryOf(name, part, &entry));
    STILLFLOW_RETURN_IF_ERROR(DataFile(entry->shard, &file));
    TensorSlice stored = part;
    stored.Resolve(tensor.dims);
    if (stored == wanted) {
      STILLFLOW_RETURN_IF_ERROR(ReadData(*file, entry->offset, entry->size, entry->masked_crc, to, parallel));
      if (header_.is_big_endian) SwapBytes(tensor.dtype, to, entry->size);
      continue;
    }
    SliceCopy copy(stored, wanted, element_bytes, to);
    STILLFLOW_RETURN_IF_ERROR(VisitData(*file, entry->offset, entry->size, entry->masked_crc,
                                        [&](int64_t offset, char* bytes, int64_t size) {
                                          if (header_.is_big_endian) SwapBytes(tensor.dtype, bytes, size);
                                          copy.Take(offset, bytes, size);
                                        }));
  }
  return Status();
}

Status BundleReader::ReadStrings(const std::string& name, const TensorSlice& wanted, const StringSink& sink) const {
  std::vector<TensorSlice> parts;
  STILLFLOW_RETURN_IF_ERROR(Cover(name, wanted, &parts));
  if (parts.empty()) return Status();  // none are wanted
  const BundleEntry* entry = nullptr;
  const InputFile* file = nullptr;
  STILLFLOW_RETURN_IF_ERROR(EntryOf(name, parts[0], &entry));
  STILLFLOW_RETURN_IF_ERROR(DataFile(entry->shard, &file));
  return io::ReadStrings(*file, entry->offset, entry->size, entry->masked_crc, header_.is_big_endian,
                         ElementCount(entry->dims), sink);
}

Status BundleReader::Verify() const {
  for (const auto& item : tensors_) {
    const StoredTensor& tensor = item.second;
    for (const TensorSlice& slice : tensor.slices) {
      const BundleEntry* entry = nullptr;
      STILLFLOW_RETURN_IF_ERROR(EntryOf(item.first, slice, &entry));
    }
  }
  for (const auto& item : entries_) {
    const BundleEntry& entry = item.second;
    if (!entry.slices.empty() || entry.dtype == DType::kVariant) continue;
    STILLFLOW_RETURN_IF_ERROR(CheckEntry(item.first, entry));
    const InputFile* file = nullptr;
    STILLFLOW_RETURN_IF_ERROR(DataFile(entry.shard, &file));
    if (entry.dtype == DType::kString) {
      STILLFLOW_RETURN_IF_ERROR(io::ReadStrings(*file, entry.offset, entry.size, entry.masked_crc,
                                                header_.is_big_endian, ElementCount(entry.dims),
                                                [](int64_t, Bytes) { return true; }));
    } else {
      STILLFLOW_RETURN_IF_ERROR(
          VisitData(*file, entry.offset, entry.size, entry.masked_crc, [](int64_t, char*, int64_t) {}));
    }
  }
  return Status();
}

}  // namespace stillflow::io
