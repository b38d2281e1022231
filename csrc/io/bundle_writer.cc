#include "io/bundle_writer.h"

#include <functional>
#include <set>
#include <utility>

#include "io/table.h"
#include "kernel_api/kernel.h"

namespace stillflow::io {
namespace {

Status WriteIndex(const BundleHeader& header, const BundleEntries& entries, OutputFile* file) {
  TableWriter table(file);
  STILLFLOW_RETURN_IF_ERROR(table.Add("", Bytes(header.ToString())));
  for (const auto& item : entries) {
    const std::string value = item.second.ToString();
    STILLFLOW_RETURN_IF_ERROR(table.Add(item.first, Bytes(value)));
  }
  STILLFLOW_RETURN_IF_ERROR(table.Finish());
  return file->Sync();
}

// A checkpoint that stands where a new one is about to appear. Data files of the new one may have the names of the
// old one's: those get second names, and the index is made to use them, until the new index is in its place. So there
// is a whole checkpoint at any instant.
class Predecessor {
 public:
  explicit Predecessor(const std::string& prefix) : prefix_(prefix) {}

  Status MakeRoom(int32_t new_shards) {
    BundleHeader header;
    BundleEntries entries;
    if (!FileExists(IndexName(prefix_)) || !ReadIndex(prefix_, &header, &entries).ok()) return Status();
    std::set<int32_t> shards;
    for (const auto& item : entries) {
      if (item.second.slices.empty()) shards.insert(item.second.shard);
    }
    if (header.num_shards != new_shards) {  // no name is taken twice
      for (int32_t shard : shards) old_names_.push_back(DataName(prefix_, shard, header.num_shards));
      return Status();
    }
    const int32_t second_count = new_shards + 1;
    for (int32_t shard : shards) {
      const std::string second = DataName(prefix_, shard, second_count);
      RemoveFile(second);  // what a save that was cut short has left; the index does not name it
      // It may be a damaged one, or the disk knows no links: then it cannot be kept.
      if (!LinkFile(DataName(prefix_, shard, new_shards), second).ok()) return Undo();
      old_names_.push_back(second);
    }
    header.num_shards = second_count;
    OutputFile index;
    STILLFLOW_RETURN_IF_ERROR(index.Create(IndexName(prefix_)));
    STILLFLOW_RETURN_IF_ERROR(WriteIndex(header, entries, &index));
    STILLFLOW_RETURN_IF_ERROR(SyncFolder(FolderOf(prefix_)));
    STILLFLOW_RETURN_IF_ERROR(index.Rename());
    return SyncFolder(FolderOf(prefix_));
  }

  // Removes the old data; to be called once the new index is in its place.
  void Remove() {
    for (const std::string& name : old_names_) RemoveFile(name);
  }

 private:
  Status Undo() {
    Remove();
    old_names_.clear();
    return Status();
  }

  const std::string prefix_;
  std::vector<std::string> old_names_;
};

// Puts a whole checkpoint in its place. All files have been written and synced.
Status Commit(const std::string& prefix, int32_t num_shards, const std::function<Status()>& rename_data,
              OutputFile* index) {
  const std::string folder = FolderOf(prefix);
  Predecessor predecessor(prefix);
  STILLFLOW_RETURN_IF_ERROR(predecessor.MakeRoom(num_shards));
  STILLFLOW_RETURN_IF_ERROR(rename_data());
  STILLFLOW_RETURN_IF_ERROR(SyncFolder(folder));
  STILLFLOW_RETURN_IF_ERROR(index->Rename());
  STILLFLOW_RETURN_IF_ERROR(SyncFolder(folder));
  predecessor.Remove();
  return Status();
}

}  // namespace

Status BundleWriter::Open(const std::string& prefix) {
  prefix_ = prefix;
  STILLFLOW_RETURN_IF_ERROR(MakeFolder(FolderOf(prefix)));
  return data_.Create(DataName(prefix, 0, 1));
}

Status BundleWriter::AddEntry(const TensorPart& part, BundleEntry entry) {
  entry.dtype = part.dtype;
  entry.dims = part.dims;
  std::string key = part.name;
  if (key.empty()) return STILLFLOW_INVALID_ARGUMENT("Tensors of a checkpoint need a name");
  TensorSlice resolved = part.slice;
  // What covers all of a tensor is not stored as a slice.
  if (part.is_slice && resolved.Resolve(part.full_dims) && resolved.Shape() != part.full_dims) {
    BundleEntry& full = entries_[part.name];
    if (full.slices.empty() && full.dtype != DType::kInvalid) {
      return STILLFLOW_INVALID_ARGUMENT("Adding duplicate key: %s", part.name.c_str());
    }
    if (!full.slices.empty() && (full.dtype != part.dtype || full.dims != part.full_dims)) {
      return STILLFLOW_INVALID_ARGUMENT("Slices of %s do not agree on its type and shape", part.name.c_str());
    }
    full.dtype = part.dtype;
    full.dims = part.full_dims;
    full.slices.push_back(part.slice);
    key = SliceKey(part.name, part.slice);
  }
  if (!entries_.emplace(key, std::move(entry)).second) {
    return STILLFLOW_INVALID_ARGUMENT("Adding duplicate key: %s", part.name.c_str());
  }
  return Status();
}

Status BundleWriter::Add(const TensorPart& part, const void* data, const Parallel& parallel) {
  BundleEntry entry;
  entry.size = ElementCount(part.dims) * ElementBytes(part.dtype);
  STILLFLOW_RETURN_IF_ERROR(WriteData(&data_, data, entry.size, parallel, &entry.offset, &entry.masked_crc));
  return AddEntry(part, std::move(entry));
}

Status BundleWriter::AddStrings(const TensorPart& part, const StringSource& source) {
  BundleEntry entry;
  STILLFLOW_RETURN_IF_ERROR(
      WriteStrings(&data_, ElementCount(part.dims), source, &entry.offset, &entry.size, &entry.masked_crc));
  return AddEntry(part, std::move(entry));
}

Status BundleWriter::Finish() {
  OutputFile index;
  STILLFLOW_RETURN_IF_ERROR(index.Create(IndexName(prefix_)));
  STILLFLOW_RETURN_IF_ERROR(WriteIndex(BundleHeader(), entries_, &index));
  STILLFLOW_RETURN_IF_ERROR(data_.Sync());
  return Commit(prefix_, 1, [this] { return data_.Rename(); }, &index);
}

// ---- Merging ------------------------------------------------------------------------------------------------------

namespace {

// Adds the entries of one checkpoint, whose shards become shards of the merged one in the order of their first use.
Status MergeIndex(const std::string& prefix, BundleEntries* merged, std::vector<std::string>* data_names) {
  BundleHeader header;
  BundleEntries entries;
  STILLFLOW_RETURN_IF_ERROR(ReadIndex(prefix, &header, &entries));
  if (header.is_big_endian) {
    return STILLFLOW_INVALID_ARGUMENT("Merging bundles with conflicting endianness: %s", prefix.c_str());
  }
  std::map<int32_t, int32_t> new_shards;
  for (auto& item : entries) {
    BundleEntry& entry = item.second;
    const auto found = merged->find(item.first);
    if (!entry.slices.empty()) {
      if (found == merged->end()) {
        (*merged)[item.first] = std::move(entry);
        continue;
      }
      BundleEntry& full = found->second;
      if (full.slices.empty() || full.dtype != entry.dtype || full.dims != entry.dims) {
        return STILLFLOW_INVALID_ARGUMENT("Slices of %s do not agree on its type and shape, when merging prefix: %s",
                                          item.first.c_str(), prefix.c_str());
      }
      full.slices.insert(full.slices.end(), entry.slices.begin(), entry.slices.end());
      continue;
    }
    if (found != merged->end()) {
      return STILLFLOW_INVALID_ARGUMENT("Duplicate tensor keyed by %s encountered, when merging prefix: %s",
                                        item.first.c_str(), prefix.c_str());
    }
    const auto shard = new_shards.emplace(entry.shard, static_cast<int32_t>(data_names->size()));
    if (shard.second) data_names->push_back(DataName(prefix, entry.shard, header.num_shards));
    entry.shard = shard.first->second;
    (*merged)[item.first] = std::move(entry);
  }
  return Status();
}

}  // namespace

Status MergeBundles(const std::vector<std::string>& prefixes, const std::string& merged, bool removes_folders) {
  BundleEntries entries;
  std::vector<std::string> data_names;
  for (const std::string& prefix : prefixes) STILLFLOW_RETURN_IF_ERROR(MergeIndex(prefix, &entries, &data_names));
  BundleHeader header;
  header.num_shards = static_cast<int32_t>(data_names.size());
  OutputFile index;
  STILLFLOW_RETURN_IF_ERROR(index.Create(IndexName(merged)));
  STILLFLOW_RETURN_IF_ERROR(WriteIndex(header, entries, &index));
  const auto rename_data = [&] {
    for (size_t i = 0; i < data_names.size(); ++i) {
      STILLFLOW_RETURN_IF_ERROR(
          RenameFile(data_names[i], DataName(merged, static_cast<int32_t>(i), header.num_shards)));
    }
    return Status();
  };
  STILLFLOW_RETURN_IF_ERROR(Commit(merged, header.num_shards, rename_data, &index));
  for (const std::string& prefix : prefixes) RemoveFile(IndexName(prefix));
  for (const std::string& prefix : prefixes) {
    if (removes_folders) RemoveFolder(FolderOf(prefix));
  }
  return Status();
}

}  // namespace stillflow::io
