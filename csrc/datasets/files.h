// files.h: data sets of what is in files: lines, records of one length, TFRecords.
#pragma once

#include "datasets/dataset.h"
#include "io/input_stream.h"

namespace stillflow {

// A file from its beginning to its end.
class RecordFile {
 public:
  virtual ~RecordFile() = default;
  virtual Status Open(const std::string& path) = 0;
  // The next record as one piece of memory, which lasts until the next call; or the end.
  virtual Status Next(io::Bytes* record, bool* is_end) = 0;
  // Where in the file, as it is uncompressed, the next record begins; and how to get there after Open.
  virtual uint64_t offset() const = 0;
  virtual Status SkipTo(uint64_t offset) = 0;
  // Whether a file is given up after a failure. Otherwise the next call fails again.
  virtual bool is_left_after_failure() const = 0;
};

using MakeFile = std::function<std::unique_ptr<RecordFile>()>;

std::unique_ptr<RecordFile> MakeLineFile(io::Compression compression);
std::unique_ptr<RecordFile> MakeTFRecordFile(io::Compression compression);

struct FixedLength {
  int64_t header_bytes;
  int64_t record_bytes;  // at least 1
  int64_t footer_bytes;
};
std::unique_ptr<RecordFile> MakeFixedLengthFile(FixedLength lengths, io::Compression compression);

// The records of files, one file after the other. `type` is the data set's.
DatasetPtr MakeFilesDataset(const char* type, std::vector<std::string> paths, MakeFile make);

// ---- csv.cc -----------------------------------------------------------------------------------------------------

struct CsvOptions {
  char delimiter = ',';
  bool has_quotes = true;
  bool has_header = false;        // whether the first record of each file is left out
  std::string missing;            // a field that stands for none, as an empty one does
  std::vector<int64_t> selected;  // the columns, ascending; all if empty
};

// The records of CSV files. `defaults` has for each component the value of fields that are missing, or no value if
// there have to be some.
DatasetPtr MakeCsvDataset(TupleSpec spec, std::vector<std::string> paths, io::Compression compression,
                          CsvOptions options, Tuple defaults);

}  // namespace stillflow
