#include "readers/reader.h"

#include <utility>

#include "io/wire.h"

namespace stillflow {
namespace {

Status Cancelled() { return Error(Code::kCancelled, "Read operation was cancelled"); }

}  // namespace

Reader::Counts Reader::counts() {
  const std::lock_guard<std::mutex> guard(counts_mutex_);
  return counts_;
}

void Reader::Count(int64_t Counts::*what, int64_t more) {
  const std::lock_guard<std::mutex> guard(counts_mutex_);
  counts_.*what += more;
}

int64_t Reader::records_produced() { return counts().produced; }
int64_t Reader::work_units_completed() { return counts().finished; }

Status Reader::Read(RunContext* run, Queue* queue, int64_t most, std::vector<Record>* records) {
  const RunLockScope scope(run, &lock_);
  if (!scope.is_held()) return Cancelled();
  if (!failure_.ok()) return std::exchange(failure_, Status());
  const auto count = [&] { return static_cast<int64_t>(records->size()); };
  while (count() < most) {
    if (!is_at_work()) {
      if (count() > 0) break;
      STILLFLOW_RETURN_IF_ERROR(TakeWork(run, queue));
    }
    Record record;
    bool is_record = false;
    bool is_end = false;
    Status status = Next(&record, &is_record, &is_end);
    if (!status.ok()) is_end = true;
    if (is_record) {
      records->push_back(std::move(record));
      Count(&Counts::produced, 1);
    }
    if (is_end) FinishWork();
    if (!status.ok()) {
      if (count() == 0) return status;
      failure_ = std::move(status);  // what has been read is good; the next read fails
      break;
    }
  }
  return Status();
}

Status Reader::TakeWork(RunContext* run, Queue* queue) {
  std::vector<Tuple> tuples;
  STILLFLOW_RETURN_IF_ERROR(queue->Dequeue(run, 1, false, &tuples));
  const Tensor& name = tuples[0][0];
  if (name.count != 1) return STILLFLOW_INVALID_ARGUMENT("Expected to dequeue a one-element string tensor");
  const StringCell* cell = *Data<StringCell*>(name);
  work_ = cell == nullptr ? std::string() : std::string(cell->bytes, cell->size);
  Status status = Start(work_);
  if (status.ok()) {
    Count(&Counts::started, 1);
  } else {
    Finish();
  }
  return status;
}

void Reader::FinishWork() {
  Finish();
  Count(&Counts::finished, 1);
}

Status Reader::Reset(RunContext* run) {
  const RunLockScope scope(run, &lock_);
  if (!scope.is_held()) return Cancelled();
  Finish();
  work_.clear();
  const std::lock_guard<std::mutex> guard(counts_mutex_);
  counts_ = Counts();
  return Status();
}

// ---- State --------------------------------------------------------------------------------------------------------

Status Reader::SerializeState(RunContext* run, std::string* state) {
  if (!has_plain_state()) return Error(Code::kUnimplemented, "Reader SerializeState");
  const RunLockScope scope(run, &lock_);
  if (!scope.is_held()) return Cancelled();
  const Counts now = counts();
  // Scalars of proto3 that have their default are left out.
  const int64_t numbers[] = {now.started, now.finished, now.produced};
  for (uint32_t i = 0; i < 3; ++i) {
    if (numbers[i] != 0) io::AppendVarintField(i + 1, static_cast<uint64_t>(numbers[i]), state);
  }
  if (!work_.empty()) io::AppendBytesField(4, io::Bytes(work_), state);
  return Status();
}

Status Reader::RestoreState(RunContext* run, const std::string& state) {
  if (!has_plain_state()) return Error(Code::kUnimplemented, "Reader RestoreState");
  const RunLockScope scope(run, &lock_);
  if (!scope.is_held()) return Cancelled();
  Counts restored;
  std::string work;
  STILLFLOW_RETURN_IF_ERROR(DecodeState(state, &restored, &work));
  Finish();
  work_ = work;
  if (restored.started > restored.finished) STILLFLOW_RETURN_IF_ERROR(Start(work_));
  const std::lock_guard<std::mutex> guard(counts_mutex_);
  counts_ = restored;
  return Status();
}

Status Reader::DecodeState(const std::string& state, Counts* counts, std::string* work) const {
  const char* const type = type_.c_str();
  const char* const name = node_name_.c_str();
  int64_t* const numbers[] = {&counts->started, &counts->finished, &counts->produced};
  io::WireReader reader{io::Bytes(state)};
  while (reader.NextField()) {
    if (reader.field <= 3 && reader.type == io::WireType::kVarint) {
      *numbers[reader.field - 1] = static_cast<int64_t>(reader.Varint());
    } else if (reader.Is(4, io::WireType::kBytes)) {
      *work = reader.LengthDelimited().ToString();
    } else {
      reader.Skip();
    }
  }
  if (!reader.ok()) {
    return STILLFLOW_INVALID_ARGUMENT("Could not parse state for %s '%s': %s", type, name, state.c_str());
  }
  if (counts->started < 0 || counts->finished < 0 || counts->produced < 0) {
    return STILLFLOW_INVALID_ARGUMENT("Unexpected negative value when restoring in %s '%s'", type, name);
  }
  if (counts->started < counts->finished || counts->started > counts->finished + 1) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Inconsistent work started vs. finished when restoring in %s '%s': work_started: %lld work_finished: %lld",
        type, name, static_cast<long long>(counts->started), static_cast<long long>(counts->finished));
  }
  return Status();
}

}  // namespace stillflow
