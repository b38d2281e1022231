// The kinds of readers: by lines, by a fixed number of bytes, whole files, TFRecords, and names as they are.
#include <algorithm>
#include <cstring>
#include <utility>

#include "io/record_reader.h"
#include "readers/reader.h"

namespace stillflow {
namespace {

constexpr size_t kChunkBytes = 1 << 18;

std::string Numbered(const std::string& work, uint64_t number) { return work + ":" + std::to_string(number); }

// The file of the work, with what has been read ahead of it.
class FileReader : public Reader {
 public:
  FileReader(const std::string& type, const std::string& node_name, io::Compression compression)
      : Reader(type, node_name), compression_(compression) {}

 protected:
  Status Start(const std::string& work) override {
    ahead_.clear();
    begin_ = 0;
    is_all_read_ = false;
    return io::OpenFile(work, compression_, &file_);
  }
  void Finish() override {
    file_.reset();
    ahead_.clear();
    begin_ = 0;
  }

  const char* ahead() const { return ahead_.data() + begin_; }
  size_t ahead_size() const { return ahead_.size() - begin_; }
  bool is_all_read() const { return is_all_read_; }
  void Consume(size_t size) { begin_ += size; }

  // Reads a chunk more, unless the file is at its end.
  Status ReadAhead() {
    ahead_.erase(0, std::exchange(begin_, 0));
    const size_t size = ahead_.size();
    size_t count = 0;
    ahead_.resize(size + kChunkBytes);
    Status status = file_->Read(ahead_.data() + size, kChunkBytes, &count);
    ahead_.resize(size + count);
    is_all_read_ = count < kChunkBytes;
    return status;
  }
  // Reads until there are `size` bytes ahead, or all.
  Status ReadAheadTo(uint64_t size) {
    while (ahead_size() < size && !is_all_read_) STILLFLOW_RETURN_IF_ERROR(ReadAhead());
    return Status();
  }

 private:
  const io::Compression compression_;
  std::unique_ptr<io::InputStream> file_;
  std::string ahead_;
  size_t begin_ = 0;
  bool is_all_read_ = false;
};

// A record for each line, without what ends it ("\n" or "\r\n"); the key ends in its number, from 1 on.
class TextLineReader final : public FileReader {
 public:
  TextLineReader(const std::string& type, const std::string& node_name, int64_t skipped_lines)
      : FileReader(type, node_name, io::Compression::kNone), skipped_lines_(skipped_lines) {}

 protected:
  Status Start(const std::string& work) override {
    line_ = 0;
    STILLFLOW_RETURN_IF_ERROR(FileReader::Start(work));
    bool is_line = true;
    while (line_ < skipped_lines_ && is_line) STILLFLOW_RETURN_IF_ERROR(NextLine(nullptr, &is_line));
    return Status();
  }
  Status Next(Record* record, bool* is_record, bool* is_end) override {
    STILLFLOW_RETURN_IF_ERROR(NextLine(&record->value, is_record));
    *is_end = !*is_record;
    if (*is_record) record->key = Numbered(work(), static_cast<uint64_t>(line_));
    return Status();
  }

 private:
  Status NextLine(std::string* line, bool* is_line) {
    size_t searched = 0;
    for (;;) {
      const char* const from = ahead();
      const auto* end = static_cast<const char*>(std::memchr(from + searched, '\n', ahead_size() - searched));
      if (end == nullptr && !is_all_read()) {
        searched = ahead_size();
        STILLFLOW_RETURN_IF_ERROR(ReadAhead());
        continue;
      }
      const size_t taken = end == nullptr ? ahead_size() : end + 1 - from;
      *is_line = taken > 0;
      if (!*is_line) return Status();
      size_t size = end == nullptr ? taken : taken - 1;
      if (size > 0 && from[size - 1] == '\r') --size;
      if (line != nullptr) line->assign(from, size);
      Consume(taken);
      ++line_;
      return Status();
    }
  }

  const int64_t skipped_lines_;
  int64_t line_ = 0;
};

// A record every `hop_bytes`, between a header and a footer; the key ends in its number, from 0 on.
class FixedLengthRecordReader final : public FileReader {
 public:
  FixedLengthRecordReader(const std::string& type, const std::string& node_name, const ReaderOptions& options)
      : FileReader(type, node_name, options.compression), options_(options) {}

 protected:
  Status Start(const std::string& work) override {
    number_ = 0;
    STILLFLOW_RETURN_IF_ERROR(FileReader::Start(work));
    return Skip(options_.header_bytes, "reached end of file");
  }
  Status Next(Record* record, bool* is_record, bool* is_end) override {
    STILLFLOW_RETURN_IF_ERROR(Skip(std::exchange(to_skip_, 0), nullptr));
    const uint64_t record_bytes = options_.record_bytes;
    STILLFLOW_RETURN_IF_ERROR(ReadAheadTo(record_bytes + options_.footer_bytes));
    *is_record = ahead_size() >= record_bytes + options_.footer_bytes;
    *is_end = !*is_record;
    if (*is_end) return Status();
    record->value.assign(ahead(), record_bytes);
    record->key = Numbered(work(), number_++);
    to_skip_ = options_.hop_bytes > 0 ? options_.hop_bytes : record_bytes;
    return Status();
  }
  void Finish() override {
    FileReader::Finish();
    to_skip_ = 0;
  }

 private:
  // Goes on; with a message an end of the file before that is an error.
  Status Skip(uint64_t size, const char* message) {
    while (size > 0) {
      if (ahead_size() == 0 && !is_all_read()) STILLFLOW_RETURN_IF_ERROR(ReadAhead());
      const uint64_t step = std::min<uint64_t>(size, ahead_size());
      if (step == 0) return message == nullptr ? Status() : Error(Code::kOutOfRange, "%s", message);
      Consume(step);
      size -= step;
    }
    return Status();
  }

  const ReaderOptions options_;
  uint64_t number_ = 0;
  uint64_t to_skip_ = 0;
};

// One record for each file.
class WholeFileReader final : public FileReader {
 public:
  WholeFileReader(const std::string& type, const std::string& node_name)
      : FileReader(type, node_name, io::Compression::kNone) {}

 protected:
  Status Next(Record* record, bool* is_record, bool* is_end) override {
    while (!is_all_read()) STILLFLOW_RETURN_IF_ERROR(ReadAhead());
    record->key = work();
    record->value.assign(ahead(), ahead_size());
    *is_record = *is_end = true;
    return Status();
  }
  bool has_plain_state() const override { return true; }
};

// A record for each record of a TFRecord file; the key ends in the place where it begins.
class TFRecordReader final : public Reader {
 public:
  TFRecordReader(const std::string& type, const std::string& node_name, io::Compression compression)
      : Reader(type, node_name), compression_(compression) {}

 protected:
  Status Start(const std::string& work) override {
    std::unique_ptr<io::InputStream> file;
    STILLFLOW_RETURN_IF_ERROR(io::OpenFile(work, compression_, &file));
    records_ = std::make_unique<io::RecordReader>(std::move(file));
    return Status();
  }
  Status Next(Record* record, bool* is_record, bool* is_end) override {
    record->key = Numbered(work(), records_->offset());
    STILLFLOW_RETURN_IF_ERROR(records_->Next(&record->value, is_end));
    *is_record = !*is_end;
    return Status();
  }
  void Finish() override { records_.reset(); }

 private:
  const io::Compression compression_;
  std::unique_ptr<io::RecordReader> records_;
};

// The name of the work is key and record.
class IdentityReader final : public Reader {
 public:
  using Reader::Reader;

 protected:
  Status Start(const std::string&) override { return Status(); }
  Status Next(Record* record, bool* is_record, bool* is_end) override {
    *record = {work(), work()};
    *is_record = *is_end = true;
    return Status();
  }
  void Finish() override {}
  bool has_plain_state() const override { return true; }
};

Status CheckNotNegative(const char* name, int64_t value) {
  if (value >= 0) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s must be >= 0 not %lld", name, static_cast<long long>(value));
}

Status CheckOptions(const std::string& type, const ReaderOptions& options) {
  STILLFLOW_RETURN_IF_ERROR(CheckNotNegative("skip_header_lines", options.skip_header_lines));
  STILLFLOW_RETURN_IF_ERROR(CheckNotNegative("header_bytes", options.header_bytes));
  STILLFLOW_RETURN_IF_ERROR(CheckNotNegative("record_bytes", options.record_bytes));
  STILLFLOW_RETURN_IF_ERROR(CheckNotNegative("footer_bytes", options.footer_bytes));
  STILLFLOW_RETURN_IF_ERROR(CheckNotNegative("hop_bytes", options.hop_bytes));
  if (type != "FixedLengthRecordReader") return Status();
  // A file would have records of no bytes without end.
  if (options.record_bytes == 0) return STILLFLOW_INVALID_ARGUMENT("record_bytes must be > 0 not 0");
  int64_t sum;
  if (__builtin_add_overflow(options.record_bytes, options.footer_bytes, &sum)) {
    return STILLFLOW_INVALID_ARGUMENT("record_bytes and footer_bytes are too large");
  }
  return Status();
}

}  // namespace

Status MakeReader(const std::string& type, const std::string& node_name, const ReaderOptions& options,
                  std::shared_ptr<Resource>* reader) {
  STILLFLOW_RETURN_IF_ERROR(CheckOptions(type, options));
  if (type == "TextLineReader") {
    *reader = std::make_shared<TextLineReader>(type, node_name, options.skip_header_lines);
  } else if (type == "FixedLengthRecordReader") {
    *reader = std::make_shared<FixedLengthRecordReader>(type, node_name, options);
  } else if (type == "WholeFileReader") {
    *reader = std::make_shared<WholeFileReader>(type, node_name);
  } else if (type == "TFRecordReader") {
    *reader = std::make_shared<TFRecordReader>(type, node_name, options.compression);
  } else {
    *reader = std::make_shared<IdentityReader>(type, node_name);
  }
  return Status();
}

}  // namespace stillflow
