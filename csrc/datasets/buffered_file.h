// buffered_file.h: a file with what has been read ahead of it.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "datasets/files.h"

namespace stillflow {

class BufferedFile : public RecordFile {
 public:
  explicit BufferedFile(io::Compression compression) : compression_(compression) {}

  Status Open(const std::string& path) override { return io::OpenFile(path, compression_, &file_); }
  uint64_t offset() const override { return offset_; }
  Status SkipTo(uint64_t offset) override {
    while (offset_ < offset) {
      STILLFLOW_RETURN_IF_ERROR(ReadAheadTo(1));
      const uint64_t step = std::min<uint64_t>(offset - offset_, ahead_size());
      if (step == 0) return Error(Code::kOutOfRange, "Read less bytes than requested");
      Consume(step);
    }
    return Status();
  }

 protected:
  static constexpr size_t kChunkBytes = 1 << 18;

  const char* ahead() const { return ahead_.data() + begin_; }
  size_t ahead_size() const { return ahead_.size() - begin_; }
  bool is_all_read() const { return is_all_read_; }
  void Consume(size_t size) {
    begin_ += size;
    offset_ += size;
  }

  // Reads a chunk more, unless the file is at its end.
  Status ReadAhead() {
    ahead_.erase(0, std::exchange(begin_, 0));
    const size_t size = ahead_.size();
    size_t count = 0;
    ahead_.resize(size + kChunkBytes);
    Status status = file_->Read(ahead_.data() + size, kChunkBytes, &count);
    ahead_.resize(size + count);
    is_all_read_ = status.ok() && count < kChunkBytes;
    return status;
  }
  Status ReadAheadTo(uint64_t size) {
    while (ahead_size() < size && !is_all_read_) STILLFLOW_RETURN_IF_ERROR(ReadAhead());
    return Status();
  }

  const io::Compression compression_;

 private:
  std::unique_ptr<io::InputStream> file_;
  std::string ahead_;
  size_t begin_ = 0;
  uint64_t offset_ = 0;
  bool is_all_read_ = false;
};

}  // namespace stillflow
