#include "io/checkpoint_reader.h"

#include "io/bundle_entry.h"
#include "io/bundle_reader.h"
#include "io/v1_reader.h"
#include "kernel_api/kernel.h"

namespace stillflow::io {

Status CheckpointReader::Open(const std::string& prefix, std::unique_ptr<CheckpointReader>* reader) {
  return FileExists(IndexName(prefix)) ? BundleReader::Open(prefix, reader) : V1Reader::Open(prefix, reader);
}

const StoredTensor* CheckpointReader::Find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

Status CheckpointReader::Locate(const std::string& name, const std::string& shape_and_slice,
                                const StoredTensor** tensor, TensorSlice* wanted) const {
  *tensor = Find(name);
  if (*tensor == nullptr) return KeyNotFound(name);
  const Dims& stored = (*tensor)->dims;
  *wanted = TensorSlice::Full(stored.size());
  if (!shape_and_slice.empty()) {
    Dims dims;
    STILLFLOW_RETURN_IF_ERROR(ParseShapeAndSlice(shape_and_slice, &dims, wanted));
    if (dims != stored) {
      return STILLFLOW_INVALID_ARGUMENT(
          "tensor_name = %s; shape in shape_and_slice spec %s does not match the shape stored in checkpoint: %s",
          name.c_str(), DimsText(dims).c_str(), DimsText(stored).c_str());
    }
  }
  wanted->Resolve(stored);
  return Check(name, *wanted);
}

Status CheckpointReader::Cover(const std::string& name, const TensorSlice& wanted,
                               std::vector<TensorSlice>* parts) const {
  const StoredTensor& tensor = *Find(name);
  parts->clear();
  if (tensor.slices.empty()) {
    parts->push_back(TensorSlice::Full(tensor.dims.size()));
    return Status();
  }
  int64_t covered = 0;
  TensorSlice common;
  for (const TensorSlice& slice : tensor.slices) {
    TensorSlice resolved = slice;
    if (!resolved.Resolve(tensor.dims))
      return Error(Code::kDataLoss, "A slice of %s lies outside of it", name.c_str());
    if (resolved == wanted) {
      parts->assign(1, slice);
      return Status();
    }
    if (!Intersect(resolved, wanted, &common)) continue;
    for (TensorSlice other : *parts) {
      TensorSlice overlap;
      if (other.Resolve(tensor.dims) && Intersect(other, common, &overlap)) {
        return Error(Code::kDataLoss, "Slices of %s overlap", name.c_str());
      }
    }
    covered += ElementCount(common.Shape());
    parts->push_back(slice);
  }
  if (covered == ElementCount(wanted.Shape())) return Status();
  return STILLFLOW_INVALID_ARGUMENT(
      "Does not have sufficient slices for partitioned tensor %s to restore in slice_spec: %s", name.c_str(),
      wanted.ToString().c_str());
}

}  // namespace stillflow::io
