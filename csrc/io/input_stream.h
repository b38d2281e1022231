// input_stream.h: files read from their beginning, plain or compressed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kernel_api/abi.h"

namespace stillflow::io {

class InputStream {
 public:
  virtual ~InputStream() = default;

  // Reads up to `size` bytes; fewer only at the end. Damage and what the system refuses are errors.
  virtual Status Read(char* data, size_t size, size_t* read) = 0;
  // Goes on `size` bytes further, or to the end. False in `is_all` if that comes first.
  virtual Status Skip(uint64_t size, bool* is_all);
};

enum class Compression { kNone, kZlib, kGzip };

// "", "ZLIB" or "GZIP". False for others.
bool CompressionFromName(const std::string& name, Compression* compression);

// Opens a file. NotFound: "path; No such file or directory", and so on.
Status OpenFile(const std::string& path, Compression compression, std::unique_ptr<InputStream>* stream);

}  // namespace stillflow::io
