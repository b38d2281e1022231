#include "io/record_reader.h"

#include <algorithm>
#include <cstring>

#include "io/crc32c.h"
#include "kernel_api/kernel.h"

namespace stillflow::io {
namespace {

constexpr size_t kHeaderBytes = 12;
constexpr size_t kFooterBytes = 4;
constexpr uint64_t kChunkBytes = 1 << 20;

bool FitsChecksum(const char* data, size_t size, const char* stored) {
  uint32_t masked;
  std::memcpy(&masked, stored, sizeof masked);
  return MaskCrc(Crc32c(data, size)) == masked;
}

Status Corrupted(uint64_t offset) {
  return Error(Code::kDataLoss, "corrupted record at %llu", static_cast<unsigned long long>(offset));
}
Status Truncated(uint64_t offset) {
  return Error(Code::kDataLoss, "truncated record at %llu", static_cast<unsigned long long>(offset));
}

}  // namespace

Status RecordReader::Next(std::string* record, bool* is_end) {
  char header[kHeaderBytes];
  size_t count = 0;
  record->clear();
  *is_end = false;
  STILLFLOW_RETURN_IF_ERROR(stream_->Read(header, sizeof header, &count));
  if (count < kHeaderBytes) {
    *is_end = true;
    return Status();
  }
  if (!FitsChecksum(header, 8, header + 8)) return Corrupted(offset_);
  uint64_t size;
  std::memcpy(&size, header, sizeof size);
  // A length that is not true must not take more memory than the file has bytes.
  while (record->size() < size) {
    const size_t begin = record->size();
    const size_t wanted = std::min(size - begin, kChunkBytes);
    record->resize(begin + wanted);
    STILLFLOW_RETURN_IF_ERROR(stream_->Read(record->data() + begin, wanted, &count));
    if (count < wanted) return Truncated(offset_);
  }
  char footer[kFooterBytes];
  STILLFLOW_RETURN_IF_ERROR(stream_->Read(footer, sizeof footer, &count));
  if (count < kFooterBytes) return Truncated(offset_);
  if (!FitsChecksum(record->data(), record->size(), footer)) return Corrupted(offset_ + kHeaderBytes);
  offset_ += kHeaderBytes + size + kFooterBytes;
  return Status();
}

Status RecordReader::SkipTo(uint64_t offset) {
  if (offset < offset_) {
    return STILLFLOW_INVALID_ARGUMENT("Trying to seek offset: %llu which is less than the current offset: %llu",
                                      static_cast<unsigned long long>(offset),
                                      static_cast<unsigned long long>(offset_));
  }
  bool is_all = false;
  STILLFLOW_RETURN_IF_ERROR(stream_->Skip(offset - offset_, &is_all));
  offset_ = offset;
  return Status();
}

}  // namespace stillflow::io
