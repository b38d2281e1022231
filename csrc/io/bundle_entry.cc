#include "io/bundle_entry.h"

#include <cstdio>

#include "kernel_api/kernel.h"

namespace stillflow::io {
namespace {

constexpr uint64_t kVersion = 1;  // of the format, as producer of files and as reader

bool ParseVersion(Bytes message, uint64_t* min_consumer) {
  WireReader reader(message);
  while (reader.NextField()) {
    if (reader.Is(2, WireType::kVarint)) {
      *min_consumer = reader.Varint();
    } else {
      reader.Skip();
    }
  }
  return reader.ok();
}

}  // namespace

Status BundleHeader::Parse(Bytes message) {
  uint64_t shards = 0, endianness = 0, min_consumer = 0;
  bool is_good = true;
  WireReader reader(message);
  while (reader.NextField()) {
    if (reader.Is(1, WireType::kVarint)) {
      shards = reader.Varint();
    } else if (reader.Is(2, WireType::kVarint)) {
      endianness = reader.Varint();
    } else if (reader.Is(3, WireType::kBytes)) {
      is_good = ParseVersion(reader.LengthDelimited(), &min_consumer) && is_good;
    } else {
      reader.Skip();
    }
  }
  if (!reader.ok() || !is_good || shards > INT32_MAX || endianness > 1) {
    return Error(Code::kDataLoss, "Unable to parse the header of the checkpoint");
  }
  if (min_consumer > kVersion) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Checkpoint min consumer version %llu above current version %llu for TensorFlow. Please upgrade.",
        static_cast<unsigned long long>(min_consumer), static_cast<unsigned long long>(kVersion));
  }
  num_shards = static_cast<int32_t>(shards);
  is_big_endian = endianness == 1;
  return Status();
}

std::string BundleHeader::ToString() const {
  std::string message, version;
  if (num_shards != 0) AppendVarintField(1, static_cast<uint64_t>(num_shards), &message);
  if (is_big_endian) AppendVarintField(2, 1, &message);
  AppendVarintField(1, kVersion, &version);
  AppendBytesField(3, Bytes(version), &message);
  return message;
}

bool BundleEntry::Parse(Bytes message) {
  *this = BundleEntry();
  uint64_t type = 0, shard_number = 0;
  bool is_good = true;
  WireReader reader(message);
  while (reader.NextField()) {
    if (reader.Is(1, WireType::kVarint)) {
      type = reader.Varint();
    } else if (reader.Is(2, WireType::kBytes)) {
      is_good = ParseShape(reader.LengthDelimited(), &dims) && is_good;
    } else if (reader.Is(3, WireType::kVarint)) {
      shard_number = reader.Varint();
    } else if (reader.Is(4, WireType::kVarint)) {
      offset = static_cast<int64_t>(reader.Varint());
    } else if (reader.Is(5, WireType::kVarint)) {
      size = static_cast<int64_t>(reader.Varint());
    } else if (reader.Is(6, WireType::kFixed32)) {
      masked_crc = reader.Fixed32();
    } else if (reader.Is(7, WireType::kBytes)) {
      slices.emplace_back();
      is_good = slices.back().Parse(reader.LengthDelimited()) && is_good;
    } else {
      reader.Skip();
    }
  }
  dtype = type < 100 ? static_cast<DType>(type) : DType::kInvalid;
  shard = static_cast<int32_t>(shard_number);
  return reader.ok() && is_good && offset >= 0 && size >= 0 && shard_number <= INT32_MAX;
}

std::string BundleEntry::ToString() const {
  std::string message, shape;
  AppendVarintField(1, static_cast<uint64_t>(dtype), &message);
  AppendShape(dims, &shape);
  AppendBytesField(2, Bytes(shape), &message);
  if (shard != 0) AppendVarintField(3, static_cast<uint64_t>(shard), &message);
  if (offset != 0) AppendVarintField(4, static_cast<uint64_t>(offset), &message);
  if (size != 0) AppendVarintField(5, static_cast<uint64_t>(size), &message);
  if (masked_crc != 0) {
    AppendTag(6, WireType::kFixed32, &message);
    AppendFixed32(masked_crc, &message);
  }
  for (const TensorSlice& slice : slices) {
    std::string fields;
    slice.AppendTo(&fields);
    AppendBytesField(7, Bytes(fields), &message);
  }
  return message;
}

std::string IndexName(const std::string& prefix) { return prefix + ".index"; }

std::string DataName(const std::string& prefix, int32_t shard, int32_t num_shards) {
  char suffix[48];
  std::snprintf(suffix, sizeof suffix, ".data-%05d-of-%05d", shard, num_shards);
  return prefix + suffix;
}

}  // namespace stillflow::io
