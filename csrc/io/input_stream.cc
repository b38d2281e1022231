#include "io/input_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "io/file.h"
#include "kernel_api/kernel.h"

namespace stillflow::io {
namespace {

constexpr size_t kBufferBytes = 1 << 18;

class FileStream : public InputStream {
 public:
  FileStream(std::string path, int file) : path_(std::move(path)), file_(file), buffer_(kBufferBytes) {}
  ~FileStream() override { close(file_); }

  Status Read(char* data, size_t size, size_t* read) override {
    *read = 0;
    while (*read < size) {
      if (begin_ == end_) {
        STILLFLOW_RETURN_IF_ERROR(Fill());
        if (begin_ == end_) break;
      }
      const size_t count = std::min(size - *read, end_ - begin_);
      std::memcpy(data + *read, buffer_.data() + begin_, count);
      begin_ += count;
      *read += count;
    }
    return Status();
  }

 private:
  Status Fill() {
    ssize_t count;
    do {
      count = ::read(file_, buffer_.data(), buffer_.size());
    } while (count < 0 && errno == EINTR);
    if (count < 0) return SystemError(path_, errno);
    begin_ = 0;
    end_ = static_cast<size_t>(count);
    return Status();
  }

  const std::string path_;
  const int file_;
  std::vector<char> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
};

class InflatedStream : public InputStream {
 public:
  InflatedStream(std::unique_ptr<InputStream> source, Compression compression)
      : source_(std::move(source)), is_gzip_(compression == Compression::kGzip), buffer_(kBufferBytes) {
    std::memset(&stream_, 0, sizeof stream_);
    is_open_ = inflateInit2(&stream_, MAX_WBITS + (is_gzip_ ? 16 : 0)) == Z_OK;
  }
  ~InflatedStream() override {
    if (is_open_) inflateEnd(&stream_);
  }

  Status Read(char* data, size_t size, size_t* read) override {
    *read = 0;
    if (!is_open_) return Error(Code::kResourceExhausted, "inflateInit() failed");
    while (*read < size && !is_ended_) {
      if (stream_.avail_in == 0) {
        size_t count = 0;
        STILLFLOW_RETURN_IF_ERROR(source_->Read(buffer_.data(), buffer_.size(), &count));
        if (count == 0) break;
        stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
        stream_.avail_in = static_cast<uInt>(count);
      }
      const size_t most = std::min<size_t>(size - *read, 1 << 30);
      stream_.next_out = reinterpret_cast<Bytef*>(data + *read);
      stream_.avail_out = static_cast<uInt>(most);
      const int result = inflate(&stream_, Z_NO_FLUSH);
      *read += most - stream_.avail_out;
      if (result == Z_STREAM_END) {
        StartNextMember();
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        return Error(Code::kDataLoss, "inflate() failed with error %d%s%s", result,
                     stream_.msg != nullptr ? ": " : "", stream_.msg != nullptr ? stream_.msg : "");
      }
    }
    return Status();
  }

 private:
  // Gzip files may be put after one another; what else follows is not looked at.
  void StartNextMember() {
    if (is_gzip_ && stream_.avail_in == 0) {
      size_t count = 0;
      if (source_->Read(buffer_.data(), buffer_.size(), &count).ok()) {
        stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
        stream_.avail_in = static_cast<uInt>(count);
      }
    }
    const bool is_member =
        is_gzip_ && stream_.avail_in >= 2 && stream_.next_in[0] == 0x1F && stream_.next_in[1] == 0x8B;
    is_ended_ = !is_member || inflateReset(&stream_) != Z_OK;
  }

  std::unique_ptr<InputStream> source_;
  const bool is_gzip_;
  std::vector<char> buffer_;
  z_stream stream_;
  bool is_open_ = false;
  bool is_ended_ = false;
};

}  // namespace

bool CompressionFromName(const std::string& name, Compression* compression) {
  if (name.empty()) {
    *compression = Compression::kNone;
  } else if (name == "ZLIB") {
    *compression = Compression::kZlib;
  } else if (name == "GZIP") {
    *compression = Compression::kGzip;
  } else {
    return false;
  }
  return true;
}

Status InputStream::Skip(uint64_t size, bool* is_all) {
  std::vector<char> unused(std::min<uint64_t>(size, kBufferBytes));
  while (size > 0) {
    const size_t wanted = std::min<uint64_t>(size, unused.size());
    size_t count = 0;
    STILLFLOW_RETURN_IF_ERROR(Read(unused.data(), wanted, &count));
    size -= count;
    if (count < wanted) break;
  }
  *is_all = size == 0;
  return Status();
}

Status OpenFile(const std::string& path, Compression compression, std::unique_ptr<InputStream>* stream) {
  if (path.find('\0') != std::string::npos) {
    return STILLFLOW_INVALID_ARGUMENT("%s; embedded null byte", path.c_str());
  }
  const int file = open(LocalPath(path).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return SystemError(path, errno);
  struct stat found;
  if (fstat(file, &found) == 0 && S_ISDIR(found.st_mode)) {
    close(file);
    return SystemError(path, EISDIR);
  }
  *stream = std::make_unique<FileStream>(path, file);
  if (compression != Compression::kNone) {
    *stream = std::make_unique<InflatedStream>(std::move(*stream), compression);
  }
  return Status();
}

}  // namespace stillflow::io
