#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "datasets/buffered_file.h"
#include "io/record_reader.h"

namespace stillflow {
namespace {

// ---- Files --------------------------------------------------------------------------------------------------------

// A record for each line, without the line feed that ends it and without any carriage returns.
class LineFile final : public BufferedFile {
 public:
  using BufferedFile::BufferedFile;

  Status Next(io::Bytes* record, bool* is_end) override {
    Consume(std::exchange(line_bytes_, 0));
    size_t searched = 0;
    const void* found = nullptr;
    for (;;) {
      found = std::memchr(ahead() + searched, '\n', ahead_size() - searched);
      if (found != nullptr || is_all_read()) break;
      searched = ahead_size();
      STILLFLOW_RETURN_IF_ERROR(ReadAhead());
    }
    const size_t size = found == nullptr ? ahead_size() : static_cast<const char*>(found) - ahead();
    line_bytes_ = found == nullptr ? size : size + 1;
    *is_end = line_bytes_ == 0;
    *record = io::Bytes(ahead(), size);
    if (std::memchr(ahead(), '\r', size) != nullptr) {
      line_.assign(ahead(), size);
      line_.erase(std::remove(line_.begin(), line_.end(), '\r'), line_.end());
      *record = io::Bytes(line_);
    }
    return Status();
  }
  uint64_t offset() const override { return BufferedFile::offset() + line_bytes_; }
  bool is_left_after_failure() const override { return false; }

 private:
  size_t line_bytes_ = 0;  // of the line that was brought last, which still lies ahead
  std::string line_;
};

// Records of one length between a header and a footer.
class FixedLengthFile final : public BufferedFile {
 public:
  FixedLengthFile(FixedLength lengths, io::Compression compression) : BufferedFile(compression), lengths_(lengths) {}

  Status Open(const std::string& path) override {
    path_ = path;
    STILLFLOW_RETURN_IF_ERROR(BufferedFile::Open(path));
    // The length of a compressed file is known at its end alone.
    struct stat found;
    if (compression_ == io::Compression::kNone && stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode)) {
      const uint64_t size = static_cast<uint64_t>(found.st_size);
      const uint64_t around = static_cast<uint64_t>(lengths_.header_bytes) + lengths_.footer_bytes;
      if (size < around || (size - around) % lengths_.record_bytes != 0)
        return BadLength(Code::kInvalidArgument, size);
    }
    return SkipTo(lengths_.header_bytes);
  }
  Status Next(io::Bytes* record, bool* is_end) override {
    Consume(std::exchange(consumed_, 0));
    const auto record_bytes = static_cast<size_t>(lengths_.record_bytes);
    const auto footer_bytes = static_cast<size_t>(lengths_.footer_bytes);
    STILLFLOW_RETURN_IF_ERROR(ReadAheadTo(record_bytes + footer_bytes));
    *is_end = ahead_size() < record_bytes + footer_bytes;
    if (*is_end) {
      return ahead_size() == footer_bytes ? Status() : BadLength(Code::kDataLoss, offset() + ahead_size());
    }
    *record = io::Bytes(ahead(), record_bytes);
    consumed_ = record_bytes;
    return Status();
  }
  uint64_t offset() const override { return BufferedFile::offset() + consumed_; }
  bool is_left_after_failure() const override { return compression_ != io::Compression::kNone; }

 private:
  Status BadLength(Code code, uint64_t size) const {
    const uint64_t body = size - lengths_.header_bytes - lengths_.footer_bytes;
    return Error(code,
                 "Excluding the header (%lld bytes) and footer (%lld bytes), input file \"%s\" has body length %llu "
                 "bytes, which is not an exact multiple of the record length (%lld bytes).",
                 static_cast<long long>(lengths_.header_bytes), static_cast<long long>(lengths_.footer_bytes),
                 path_.c_str(), static_cast<unsigned long long>(body), static_cast<long long>(lengths_.record_bytes));
  }

  const FixedLength lengths_;
  std::string path_;
  size_t consumed_ = 0;
};

class TFRecordFile final : public RecordFile {
 public:
  explicit TFRecordFile(io::Compression compression) : compression_(compression) {}

  Status Open(const std::string& path) override {
    std::unique_ptr<io::InputStream> file;
    STILLFLOW_RETURN_IF_ERROR(io::OpenFile(path, compression_, &file));
    records_ = std::make_unique<io::RecordReader>(std::move(file));
    return Status();
  }
  Status Next(io::Bytes* record, bool* is_end) override {
    STILLFLOW_RETURN_IF_ERROR(records_->Next(&record_, is_end));
    *record = io::Bytes(record_);
    return Status();
  }
  uint64_t offset() const override { return records_->offset(); }
  Status SkipTo(uint64_t offset) override { return records_->SkipTo(offset); }
  bool is_left_after_failure() const override { return true; }

 private:
  const io::Compression compression_;
  std::unique_ptr<io::RecordReader> records_;
  std::string record_;
};

// ---- Data sets ----------------------------------------------------------------------------------------------------

class FilesDataset final : public DatasetOf<FilesDataset> {
 public:
  FilesDataset(TupleSpec spec, const char* type, std::vector<std::string> paths, MakeFile make)
      : DatasetOf(std::move(spec)), type_(type), paths_(std::move(paths)), make_(std::move(make)) {}
  const char* type() const override { return type_; }

  Status MakeIterator(IteratorContext*, const Place&, IteratorPtr* iterator) const override {
    *iterator = std::make_unique<It>(*this);
    return Status();
  }

 private:
  class It final : public Iterator {
   public:
    explicit It(const FilesDataset& dataset) : dataset_(dataset) {}

    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      for (; at_ < dataset_.paths_.size(); Leave()) {
        STILLFLOW_RETURN_IF_ERROR(context->CheckRun());
        if (file_ == nullptr) STILLFLOW_RETURN_IF_ERROR(Open());
        io::Bytes record;
        bool is_file_over = false;
        Status status = file_->Next(&record, &is_file_over);
        if (!status.ok()) {
          if (file_->is_left_after_failure()) Leave();
          return status;
        }
        if (is_file_over) continue;
        *is_end = false;
        return MakeElement(*context->services, record, element);
      }
      *is_end = true;
      return Status();
    }

    Status Save(IteratorContext*, PositionWriter* writer) override {
      writer->Int(static_cast<int64_t>(at_));
      writer->Bool(file_ != nullptr);
      if (file_ != nullptr) writer->Word(file_->offset());
      return Status();
    }
    Status Restore(IteratorContext*, PositionReader* reader) override {
      at_ = reader->IntIn(0, static_cast<int64_t>(dataset_.paths_.size()));
      const bool is_open = reader->Bool();
      const uint64_t offset = is_open ? reader->Word() : 0;
      if (is_open && at_ == dataset_.paths_.size()) reader->Fail();
      STILLFLOW_RETURN_IF_ERROR(reader->status());
      if (!is_open) return Status();
      STILLFLOW_RETURN_IF_ERROR(Open());
      return file_->SkipTo(offset);
    }

   private:
    Status Open() {
      std::unique_ptr<RecordFile> file = dataset_.make_();
      STILLFLOW_RETURN_IF_ERROR(file->Open(dataset_.paths_[at_]));
      file_ = std::move(file);
      return Status();
    }
    void Leave() {
      file_.reset();
      ++at_;
    }
    static Status MakeElement(const Services& services, io::Bytes record, Tuple* element) {
      element->Reset(1);
      STILLFLOW_RETURN_IF_ERROR(Allocate(services, DType::kString, Shape(), &(*element)[0]));
      StringCell* cell = services.new_string(record.data, static_cast<int64_t>(record.size));
      MutableData<StringCell*>((*element)[0])[0] = cell;
      return cell == nullptr ? OutOfScratch() : Status();
    }

    const FilesDataset& dataset_;
    size_t at_ = 0;
    std::unique_ptr<RecordFile> file_;  // null before it is opened
  };

  const char* type_;
  std::vector<std::string> paths_;
  MakeFile make_;
};

}  // namespace

std::unique_ptr<RecordFile> MakeLineFile(io::Compression compression) {
  return std::make_unique<LineFile>(compression);
}

std::unique_ptr<RecordFile> MakeTFRecordFile(io::Compression compression) {
  return std::make_unique<TFRecordFile>(compression);
}

std::unique_ptr<RecordFile> MakeFixedLengthFile(FixedLength lengths, io::Compression compression) {
  return std::make_unique<FixedLengthFile>(lengths, compression);
}

DatasetPtr MakeFilesDataset(const char* type, std::vector<std::string> paths, MakeFile make) {
  PartialShape scalar;
  scalar.rank = 0;
  return std::make_shared<FilesDataset>(TupleSpec{{DType::kString}, {scalar}}, type, std::move(paths),
                                        std::move(make));
}

}  // namespace stillflow
