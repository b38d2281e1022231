// reader.h: readers: records from the work items, mostly file names, of a queue.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "io/input_stream.h"
#include "queues/queue.h"
#include "runtime/executor/resource.h"
#include "runtime/executor/run_context.h"
#include "runtime/executor/run_lock.h"

namespace stillflow {

struct Record {
  std::string key;
  std::string value;
};

// The kinds differ in what they make of a piece of work; that is theirs to say in the protected functions, which are
// called by one run at a time.
class Reader : public Resource {
 public:
  static constexpr char kKind[] = "reader";

  Reader(std::string type, std::string node_name) : type_(std::move(type)), node_name_(std::move(node_name)) {}
  const char* kind() const override { return kKind; }
  const std::string& type() const { return type_; }

  // Reads records, at least one and at most `most`, all of one piece of work; takes the next piece from the queue
  // when one is at its end. A piece that cannot be read is left, and the next read goes on with another.
  Status Read(RunContext* run, Queue* queue, int64_t most, std::vector<Record>* records);

  int64_t records_produced();
  int64_t work_units_completed();

  // Back to the beginning, without work.
  Status Reset(RunContext* run);
  // A message ReaderBaseState.
  Status SerializeState(RunContext* run, std::string* state);
  Status RestoreState(RunContext* run, const std::string& state);

 protected:
  virtual Status Start(const std::string& work) = 0;
  // The next record of the work; `is_end` if there is none, or if it is known to be the last: then it is set beside
  // `is_record`.
  virtual Status Next(Record* record, bool* is_record, bool* is_end) = 0;
  virtual void Finish() = 0;
  // Whether the numbers and the name of the work are all the state there is.
  virtual bool has_plain_state() const { return false; }
  const std::string& work() const { return work_; }

 private:
  struct Counts {
    int64_t started = 0;
    int64_t finished = 0;
    int64_t produced = 0;
  };
  Counts counts();
  void Count(int64_t Counts::*what, int64_t more);
  bool is_at_work() { return counts().started > counts().finished; }
  Status TakeWork(RunContext* run, Queue* queue);
  void FinishWork();
  Status DecodeState(const std::string& state, Counts* counts, std::string* work) const;

  const std::string type_;
  const std::string node_name_;
  RunLock lock_;  // one run reads at a time, and may wait for the queue meanwhile
  std::string work_;
  Status failure_;  // of a piece of work, after records that were good

  std::mutex counts_mutex_;
  Counts counts_;
};

struct ReaderOptions {
  int64_t skip_header_lines = 0;
  int64_t header_bytes = 0;
  int64_t record_bytes = 0;
  int64_t footer_bytes = 0;
  int64_t hop_bytes = 0;
  io::Compression compression = io::Compression::kNone;
};

// A reader of a type: "TextLineReader", "FixedLengthRecordReader", "WholeFileReader", "TFRecordReader" or
// "IdentityReader".
Status MakeReader(const std::string& type, const std::string& node_name, const ReaderOptions& options,
                  std::shared_ptr<Resource>* reader);

}  // namespace stillflow
