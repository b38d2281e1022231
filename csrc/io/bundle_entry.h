// bundle_entry.h: what the index of a tensor bundle says: of the bundle, and of each tensor.
#pragma once

#include <string>
#include <vector>

#include "io/tensor_slice.h"
#include "io/wire.h"
#include "kernel_api/abi.h"

namespace stillflow::io {

// BundleHeaderProto, under the empty key.
struct BundleHeader {
  int32_t num_shards = 1;
  bool is_big_endian = false;

  // Also checks that the version is one that can be read.
  Status Parse(Bytes message);
  std::string ToString() const;
};

// BundleEntryProto. Either whole tensors and slices, which lie in a shard, or partitioned tensors, which have
// `slices`.
struct BundleEntry {
  DType dtype = DType::kInvalid;
  Dims dims;
  int32_t shard = 0;
  int64_t offset = 0;
  int64_t size = 0;
  uint32_t masked_crc = 0;
  std::vector<TensorSlice> slices;

  bool Parse(Bytes message);
  std::string ToString() const;
};

// "model-7.index", "model-7.data-00000-of-00001".
std::string IndexName(const std::string& prefix);
std::string DataName(const std::string& prefix, int32_t shard, int32_t num_shards);

}  // namespace stillflow::io
