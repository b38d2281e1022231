// v1_reader.h: checkpoints of format V1: tables of SavedTensorSlices, in which the values lie as messages.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/checkpoint_reader.h"
#include "io/table.h"

namespace stillflow::io {

class V1Reader : public CheckpointReader {
 public:
  // `pattern` may have * and ? for the shards.
  static Status Open(const std::string& pattern, std::unique_ptr<CheckpointReader>* reader);

  bool is_v2() const override { return false; }
  Status KeyNotFound(const std::string& name) const override;
  Status Check(const std::string& name, const TensorSlice& wanted) const override;
  Status Read(const std::string& name, const TensorSlice& wanted, void* to, const Parallel& parallel) const override;
  Status ReadStrings(const std::string& name, const TensorSlice& wanted, const StringSink& sink) const override;
  Status Verify() const override;

 private:
  Status AddTable(const std::string& path);
  bool AddMeta(Bytes message, size_t table);
  bool AddTensor(Bytes message, size_t table);
  // The TensorProto of a slice as it is stored; it points into `storage`.
  Status ProtoOf(const std::string& name, const TensorSlice& slice, std::string* storage, Bytes* proto) const;

  std::string pattern_;
  std::vector<std::unique_ptr<TableReader>> tables_;
  std::map<std::string, size_t> table_of_;  // by the key of the slice
};

}  // namespace stillflow::io
