// bundle_reader.h: checkpoints of format V2: an index of entries, and files of data.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "io/bundle_entry.h"
#include "io/checkpoint_reader.h"

namespace stillflow::io {

using BundleEntries = std::map<std::string, BundleEntry>;

// Reads all of an index; `entries` also has those of slices, under their keys.
Status ReadIndex(const std::string& prefix, BundleHeader* header, BundleEntries* entries);

class BundleReader : public CheckpointReader {
 public:
  static Status Open(const std::string& prefix, std::unique_ptr<CheckpointReader>* reader);

  bool is_v2() const override { return true; }
  Status KeyNotFound(const std::string& name) const override;
  Status Check(const std::string& name, const TensorSlice& wanted) const override;
  Status Read(const std::string& name, const TensorSlice& wanted, void* to, const Parallel& parallel) const override;
  Status ReadStrings(const std::string& name, const TensorSlice& wanted, const StringSink& sink) const override;
  Status Verify() const override;

 private:
  // The entry of the tensor, or of one of its slices as it is stored.
  Status EntryOf(const std::string& name, const TensorSlice& slice, const BundleEntry** entry) const;
  Status DataFile(int32_t shard, const InputFile** file) const;
  Status CheckEntry(const std::string& name, const BundleEntry& entry) const;

  std::string prefix_;
  BundleHeader header_;
  BundleEntries entries_;
  mutable std::mutex mutex_;
  mutable std::map<int32_t, std::unique_ptr<InputFile>> files_;
};

}  // namespace stillflow::io
