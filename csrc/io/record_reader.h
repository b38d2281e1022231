// record_reader.h: the records of a TFRecord file.
#pragma once

#include <memory>
#include <string>

#include "io/input_stream.h"

namespace stillflow::io {

class RecordReader {
 public:
  explicit RecordReader(std::unique_ptr<InputStream> stream) : stream_(std::move(stream)) {}

  // The next record. At the end, which may be within the 12 bytes before a record, `is_end` is set. DataLoss for one
  // that is cut off or does not fit its checksums.
  Status Next(std::string* record, bool* is_end);

  // Where in the (uncompressed) file the next record begins.
  uint64_t offset() const { return offset_; }
  // Goes to a record of which the offset is known; only ahead.
  Status SkipTo(uint64_t offset);

 private:
  std::unique_ptr<InputStream> stream_;
  uint64_t offset_ = 0;
};

}  // namespace stillflow::io
