// Data sets of the records of CSV files: csv.
//
// A record ends with a line feed, a carriage return, or both, outside of quotes; it is one piece of the file when its
// fields are read.
#include "datasets/buffered_file.h"
#include "io/number_text.h"

namespace stillflow {
namespace {

constexpr char kQuote = '"';
bool IsBreak(char c) { return c == '\n' || c == '\r'; }

// ---- Records ------------------------------------------------------------------------------------------------------

class CsvFile final : public BufferedFile {
 public:
  CsvFile(const CsvOptions& options, io::Compression compression)
      : BufferedFile(compression),
        delimiter_(options.delimiter),
        has_quotes_(options.has_quotes),
        has_header_(options.has_header) {}

  Status Open(const std::string& path) override {
    STILLFLOW_RETURN_IF_ERROR(BufferedFile::Open(path));
    if (!has_header_) return Status();
    io::Bytes header;
    bool is_end = false;
    if (!Next(&header, &is_end).ok() || is_end) return STILLFLOW_INVALID_ARGUMENT("Can't read header of file");
    return Status();
  }

  Status Next(io::Bytes* record, bool* is_end) override {
    Consume(std::exchange(record_bytes_, 0));
    STILLFLOW_RETURN_IF_ERROR(ReadAheadTo(1));
    *is_end = ahead_size() == 0;
    if (*is_end) return Status();
    state_ = kFieldStart;
    size_t size = 0;
    while (state_ != kRecordEnd) {
      if (size == ahead_size()) {
        if (is_all_read()) break;
        STILLFLOW_RETURN_IF_ERROR(ReadAhead());
        continue;
      }
      Take(ahead()[size++]);
    }
    record_bytes_ = size;
    if (state_ == kQuoted) {
      return STILLFLOW_INVALID_ARGUMENT("Reached end of file without closing quoted field in record");
    }
    if (state_ == kRecordEnd) --size;
    *record = io::Bytes(ahead(), size);
    if (state_ == kRecordEnd && ahead()[size] == '\r') {
      STILLFLOW_RETURN_IF_ERROR(ReadAheadTo(record_bytes_ + 1));
      if (ahead_size() > record_bytes_ && ahead()[record_bytes_] == '\n') ++record_bytes_;
      *record = io::Bytes(ahead(), size);  // which may have moved
    }
    return Status();
  }
  uint64_t offset() const override { return BufferedFile::offset() + record_bytes_; }
  Status SkipTo(uint64_t offset) override {
    record_bytes_ = 0;
    return BufferedFile::SkipTo(offset);
  }
  bool is_left_after_failure() const override { return false; }

 private:
  enum State { kFieldStart, kPlain, kQuoted, kBehindQuote, kRecordEnd };

  void Take(char c) {
    if (state_ == kQuoted) {
      if (c == kQuote) state_ = kBehindQuote;
    } else if (state_ == kBehindQuote && c != delimiter_ && !IsBreak(c)) {
      state_ = kQuoted;
    } else if (IsBreak(c)) {
      state_ = kRecordEnd;
    } else if (c == delimiter_) {
      state_ = kFieldStart;
    } else {
      state_ = state_ == kFieldStart && has_quotes_ && c == kQuote ? kQuoted : kPlain;
    }
  }

  const char delimiter_;
  const bool has_quotes_;
  const bool has_header_;
  State state_ = kFieldStart;
  size_t record_bytes_ = 0;  // of the record that was brought last, which still lies ahead
};

// ---- Fields -------------------------------------------------------------------------------------------------------

void KeepFirst(Status* first, Status status) {
  if (first->ok()) *first = std::move(status);
}

// Takes a record apart.
class Fields {
 public:
  Fields(const CsvOptions& options, io::Bytes record)
      : options_(options), at_(record.data), end_(record.data + record.size) {}

  bool is_over() const { return is_over_; }

  // The next field, what its quotes stand for. It lasts until the next call.
  Status Next(io::Bytes* field) {
    text_.clear();
    const bool is_quoted = options_.has_quotes && at_ != end_ && *at_ == kQuote;
    Status status = is_quoted ? Quoted(field) : Plain(field);
    is_over_ = at_ == end_;
    if (!is_over_) ++at_;  // the delimiter
    return status;
  }

 private:
  Status Plain(io::Bytes* field) {
    Status status;
    const char* const begin = at_;
    for (; at_ != end_ && *at_ != options_.delimiter; ++at_) {
      if (options_.has_quotes && *at_ == kQuote) {
        KeepFirst(&status, STILLFLOW_INVALID_ARGUMENT("Unquoted fields cannot have quotes inside"));
      }
    }
    *field = io::Bytes(begin, at_ - begin);
    return status;
  }

  Status Quoted(io::Bytes* field) {
    Status status;
    for (++at_; at_ != end_; ++at_) {
      if (*at_ != kQuote) {
        text_.push_back(*at_);
        continue;
      }
      ++at_;
      if (at_ == end_ || *at_ == options_.delimiter) break;
      if (*at_ != kQuote) {
        KeepFirst(&status, STILLFLOW_INVALID_ARGUMENT("Quote inside a string has to be escaped by another quote"));
      }
      text_.push_back(*at_);
    }
    *field = io::Bytes(text_);
    return status;
  }

  const CsvOptions& options_;
  const char* at_;
  const char* const end_;
  bool is_over_ = false;
  std::string text_;
};

template <typename T>
Status SetNumber(size_t column, io::Bytes field, Tensor* out) {
  if (io::ParseNumber(field, MutableData<T>(*out))) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Field %d in record is not a valid %s: %s", static_cast<int>(column),
                                    Name(out->dtype), field.ToString().c_str());
}

Status SetField(const Services& services, size_t column, io::Bytes field, Tensor* out) {
  switch (out->dtype) {
    case DType::kInt32:
      return SetNumber<int32_t>(column, field, out);
    case DType::kInt64:
      return SetNumber<int64_t>(column, field, out);
    case DType::kFloat:
      return SetNumber<float>(column, field, out);
    case DType::kDouble:
      return SetNumber<double>(column, field, out);
    case DType::kString: {
      StringCell* cell = services.new_string(field.data, static_cast<int64_t>(field.size));
      *MutableData<StringCell*>(*out) = cell;
      return cell == nullptr ? OutOfScratch() : Status();
    }
    default:
      return STILLFLOW_INVALID_ARGUMENT("csv: data type %s not supported in field %d", Name(out->dtype),
                                        static_cast<int>(column));
  }
}

// ---- The data set -------------------------------------------------------------------------------------------------

class CsvDataset final : public DatasetOf<CsvDataset> {
 public:
  CsvDataset(TupleSpec spec, DatasetPtr records, CsvOptions options, std::shared_ptr<const Tuple> defaults)
      : DatasetOf(std::move(spec), {std::move(records)}),
        options_(std::move(options)),
        defaults_(std::move(defaults)) {}
  const char* type() const override { return "CSV"; }
  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    IteratorPtr records;
    STILLFLOW_RETURN_IF_ERROR(input().MakeIterator(context, place.Child(type()), &records));
    *iterator = std::make_unique<It>(*this, std::move(records));
    return Status();
  }

 private:
  class It final : public Iterator {
   public:
    It(const CsvDataset& dataset, IteratorPtr records) : dataset_(dataset), records_(std::move(records)) {}

    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      Tuple record;
      STILLFLOW_RETURN_IF_ERROR(records_->Next(context, &record, is_end));
      if (*is_end) return Status();
      const StringCell* cell = *Data<StringCell*>(record[0]);
      const auto bytes = cell == nullptr ? io::Bytes("", 0) : io::Bytes(cell->bytes, cell->size);
      return Parse(*context->services, bytes, element);
    }
    Status Save(IteratorContext* context, PositionWriter* writer) override { return records_->Save(context, writer); }
    Status Restore(IteratorContext* context, PositionReader* reader) override {
      return records_->Restore(context, reader);
    }

   private:
    // All fields are looked at; of several errors the first is told.
    Status Parse(const Services& services, io::Bytes record, Tuple* element) const {
      const CsvOptions& options = dataset_.options_;
      const size_t count = dataset_.spec().size();
      Fields fields(options, record);
      Status status;
      element->Reset(count);
      size_t found = 0;
      for (int64_t number = 0; !fields.is_over(); ++number) {
        io::Bytes field;
        Status read = fields.Next(&field);
        const bool is_wanted =
            options.selected.empty() || (found < options.selected.size() && options.selected[found] == number);
        const bool is_read = read.ok();
        KeepFirst(&status, std::move(read));
        if (!is_wanted) continue;
        if (found == count) {
          KeepFirst(&status,
                    STILLFLOW_INVALID_ARGUMENT("Expect %d fields but have more in record", static_cast<int>(count)));
        } else if (is_read) {
          KeepFirst(&status, MakeComponent(services, found++, field, element));
        }
      }
      if (status.ok() && found != count) {
        return STILLFLOW_INVALID_ARGUMENT("Expect %d fields but have %d in record", static_cast<int>(count),
                                          static_cast<int>(found));
      }
      return status;
    }

    Status MakeComponent(const Services& services, size_t column, io::Bytes field, Tuple* element) const {
      const Tensor& fallback = (*dataset_.defaults_)[column];
      Tensor& out = (*element)[column];
      const std::string& missing = dataset_.options_.missing;
      const bool is_missing = field.size == 0 || (field.size == missing.size() &&
                                                  std::memcmp(field.data, missing.data(), field.size) == 0);
      if (is_missing && fallback.count != 1) {
        return STILLFLOW_INVALID_ARGUMENT("Field %d is required but missing in record!", static_cast<int>(column));
      }
      STILLFLOW_RETURN_IF_ERROR(Allocate(services, dataset_.spec().types[column], Shape(), &out));
      if (!is_missing) return SetField(services, column, field, &out);
      CopyElements(fallback, 0, 1, &out, 0);
      return Status();
    }

    const CsvDataset& dataset_;
    const IteratorPtr records_;
  };

  CsvOptions options_;
  std::shared_ptr<const Tuple> defaults_;
};

}  // namespace

DatasetPtr MakeCsvDataset(TupleSpec spec, std::vector<std::string> paths, io::Compression compression,
                          CsvOptions options, Tuple defaults) {
  auto make_file = [options, compression] { return std::make_unique<CsvFile>(options, compression); };
  DatasetPtr records = MakeFilesDataset("CSVFiles", std::move(paths), std::move(make_file));
  return std::make_shared<CsvDataset>(std::move(spec), std::move(records), std::move(options),
                                      std::make_shared<const Tuple>(std::move(defaults)));
}

}  // namespace stillflow
