// bundle_writer.h: writes checkpoints of format V2, which appear whole or not at all, and merges them.
#pragma once

#include <string>
#include <vector>

#include "io/bundle_reader.h"
#include "io/data.h"
#include "io/file.h"

namespace stillflow::io {

// A part of a tensor that is to be stored: `slice` is empty, or says where it belongs in `full_dims`.
struct TensorPart {
  std::string name;
  DType dtype;
  Dims dims;
  Dims full_dims;
  TensorSlice slice;
  bool is_slice = false;
};

class BundleWriter {
 public:
  // Makes the folder if that is all that is missing. Nothing of the name `prefix` is touched before Finish.
  Status Open(const std::string& prefix);
  Status Add(const TensorPart& part, const void* data, const Parallel& parallel);
  Status AddStrings(const TensorPart& part, const StringSource& source);
  Status Finish();

 private:
  Status AddEntry(const TensorPart& part, BundleEntry entry);

  std::string prefix_;
  OutputFile data_;
  BundleEntries entries_;
};

// Makes one checkpoint of several, whose data files are renamed. The folders of `prefixes` are removed afterwards if
// `removes_folders`.
Status MergeBundles(const std::vector<std::string>& prefixes, const std::string& merged, bool removes_folders);

}  // namespace stillflow::io
