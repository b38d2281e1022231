// checkpoint_reader.h: what a checkpoint holds, of either format, and its values, read straight to where they belong.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/data.h"
#include "io/tensor_slice.h"

namespace stillflow::io {

// A tensor as the checkpoint lists it.
struct StoredTensor {
  DType dtype = DType::kInvalid;
  Dims dims;
  std::vector<TensorSlice> slices;  // as written; empty if it is stored whole
};

// Any number of threads may read from one.
class CheckpointReader {
 public:
  virtual ~CheckpointReader() = default;

  // `prefix` is that of a tensor bundle, or else a pattern for the files of a V1 checkpoint.
  static Status Open(const std::string& prefix, std::unique_ptr<CheckpointReader>* reader);

  const std::map<std::string, StoredTensor>& tensors() const { return tensors_; }
  const StoredTensor* Find(const std::string& name) const;
  virtual bool is_v2() const = 0;
  virtual Status KeyNotFound(const std::string& name) const = 0;

  // Finds a tensor, and what of it `shape_and_slice` says; all of it if that is empty. `wanted` comes resolved and
  // checked.
  Status Locate(const std::string& name, const std::string& shape_and_slice, const StoredTensor** tensor,
                TensorSlice* wanted) const;

  // Whether the slice, a resolved one, can be read: that there is enough of it, and that the files are long enough.
  // To be asked before memory is allocated for what a file claims to have.
  virtual Status Check(const std::string& name, const TensorSlice& wanted) const = 0;

  // Read a slice that passed `Check`. Nothing of what was read may be used unless that went well.
  virtual Status Read(const std::string& name, const TensorSlice& wanted, void* to,
                      const Parallel& parallel) const = 0;
  virtual Status ReadStrings(const std::string& name, const TensorSlice& wanted, const StringSink& sink) const = 0;

  // Reads everything, keeps nothing, and checks all checksums.
  virtual Status Verify() const = 0;

 protected:
  // Of the tensor's slices those that make up `wanted`, none of which overlap; or all of it is stored whole.
  Status Cover(const std::string& name, const TensorSlice& wanted, std::vector<TensorSlice>* parts) const;

  std::map<std::string, StoredTensor> tensors_;
};

}  // namespace stillflow::io
