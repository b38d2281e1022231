// v1_writer.h: writes checkpoints of format V1, for programs that ask for them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "io/bundle_writer.h"

namespace stillflow::io {

class V1Writer {
 public:
  // Data and strings stay the caller's until Finish.
  Status Add(const TensorPart& part, const void* data);
  Status AddStrings(const TensorPart& part, StringSource source);
  Status Finish(const std::string& path);

 private:
  struct Pending {
    TensorPart part;
    const void* data;
    StringSource source;
  };
  Status AddPending(Pending pending);
  Status WriteTo(OutputFile* file);
  std::string Meta() const;

  std::map<std::string, Pending> pending_;                  // by key
  std::map<std::string, std::vector<TensorPart>> tensors_;  // by name; the slices in order
};

}  // namespace stillflow::io
