#include "datasets/iterator_resource.h"

#include <algorithm>

#include "io/crc32c.h"
#include "runtime/executor/program.h"

namespace stillflow {
namespace {

constexpr int64_t kVersion = 1;
constexpr size_t kChecksumBytes = 4;

// The iterators that this thread is at work in: a call out of one of them cannot wait for it.
thread_local std::vector<const IteratorResource*> at_work;

// Saving belongs to no run, but waits and ends as one.
struct OwnRun {
  explicit OwnRun(Session* session) {
    run.session = session;
    run.options = &options;
  }
  OwnRun(const OwnRun&) = delete;
  OwnRun& operator=(const OwnRun&) = delete;
  RunOptions options{};
  RunContext run{};
};

class WorkScope {
 public:
  explicit WorkScope(const IteratorResource* iterator) { at_work.push_back(iterator); }
  ~WorkScope() { at_work.pop_back(); }
  WorkScope(const WorkScope&) = delete;
  WorkScope& operator=(const WorkScope&) = delete;
};

bool IsAtWork(const IteratorResource* iterator) {
  return std::find(at_work.begin(), at_work.end(), iterator) != at_work.end();
}

Status Recursion() {
  return Error(Code::kFailedPrecondition, "An iterator was used by what it calls to bring its next element");
}

Status Cancelled() { return Error(Code::kCancelled, "The run was cancelled"); }

// What is left of `bytes` without the checksum at the end; empty if that is not theirs.
io::Bytes Checked(const std::string& bytes) {
  if (bytes.size() < kChecksumBytes) return {};
  const size_t size = bytes.size() - kChecksumBytes;
  uint32_t stored;
  std::memcpy(&stored, bytes.data() + size, sizeof stored);
  return stored == io::Crc32c(bytes.data(), size) ? io::Bytes(bytes.data(), size) : io::Bytes();
}

}  // namespace

bool IteratorResource::ReadHeader(PositionReader* reader, Header* header) {
  if (reader->Int() != kVersion) return false;
  header->is_at_end = reader->Bool();
  header->structure = reader->String();
  return reader->ok();
}

// Makes a pipeline at its beginning or, if there is a `position`, there; on failure the one before stays.
Status IteratorResource::Start(IteratorContext* context, DatasetPtr dataset, const std::string& position) {
  auto pipeline = std::make_unique<Pipeline>();
  pipeline->dataset = std::move(dataset);
  pipeline->dataset->VisitTensors([&](const Tensor& tensor) { pipeline->sources.push_back(&tensor); });
  PositionReader reader(Checked(position), &pipeline->sources);
  Header header;
  if (!position.empty()) {
    if (!ReadHeader(&reader, &header)) reader.Fail();
    pipeline->dataset = pipeline->dataset->WithSavedSeeds(&reader);
    pipeline->legacies.Restore(&reader);
    STILLFLOW_RETURN_IF_ERROR(reader.status());
  }
  const Place place(&pipeline->legacies, "");
  IteratorContext starting = *context;
  starting.is_restoring = !position.empty();
  STILLFLOW_RETURN_IF_ERROR(pipeline->dataset->MakeIterator(&starting, place, &pipeline->iterator));
  if (!position.empty()) {
    STILLFLOW_RETURN_IF_ERROR(pipeline->iterator->Restore(&starting, &reader));
    if (!reader.done()) reader.Fail();
    STILLFLOW_RETURN_IF_ERROR(reader.status());
  }
  pipeline_ = std::move(pipeline);
  is_started_.store(true);
  is_at_end_ = header.is_at_end;
  return Status();
}

Status IteratorResource::Initialize(IteratorContext* context, DatasetPtr dataset, bool begins_once) {
  STILLFLOW_RETURN_IF_ERROR(CheckSpec(spec_, dataset->spec()));
  if (IsAtWork(this)) return Recursion();
  const RunLockScope lock(context->run, &lock_);
  if (!lock.is_held()) return Cancelled();
  const WorkScope scope(this);
  std::string position;
  std::swap(position, awaited_);
  if (!position.empty()) {
    Header header;
    PositionReader reader(Checked(position), nullptr);
    const bool goes_on = ReadHeader(&reader, &header) && (begins_once || !header.is_at_end) &&
                         header.structure == dataset->Structure();
    if (!goes_on) position.clear();
  }
  return Start(context, std::move(dataset), position);
}

Status IteratorResource::GoToAwaited(IteratorContext* context) {
  std::string position;
  std::swap(position, awaited_);
  return Start(context, pipeline_->dataset, position);
}

Status IteratorResource::Next(IteratorContext* context, Tuple* element, bool* is_end) {
  if (IsAtWork(this)) return Recursion();
  const RunLockScope lock(context->run, &lock_);
  if (!lock.is_held()) return Cancelled();
  const WorkScope scope(this);
  if (pipeline_ == nullptr) {
    return Error(Code::kFailedPrecondition,
                 "GetNext() failed because the iterator has not been initialized. Ensure that you have run the "
                 "initializer operation for this iterator before getting the next element.");
  }
  if (!awaited_.empty()) STILLFLOW_RETURN_IF_ERROR(GoToAwaited(context));
  STILLFLOW_RETURN_IF_ERROR(pipeline_->iterator->Next(context, element, is_end));
  is_at_end_ = *is_end;
  return Status();
}

Status IteratorResource::SavePipeline(IteratorContext* context, std::string* bytes) {
  PositionWriter writer(&pipeline_->sources);
  writer.Int(kVersion);
  writer.Bool(is_at_end_);
  writer.String(pipeline_->dataset->Structure());
  pipeline_->dataset->SaveSeeds(&writer);
  // Iterators may make what lies in their places, so those are saved after them, but read before.
  PositionWriter iterator(&pipeline_->sources);
  STILLFLOW_RETURN_IF_ERROR(pipeline_->iterator->Save(context, &iterator));
  STILLFLOW_RETURN_IF_ERROR(pipeline_->legacies.Save(&writer));
  writer.Append(iterator.Take());
  *bytes = writer.Take();
  io::AppendFixed32(io::Crc32c(bytes->data(), bytes->size()), bytes);
  return Status();
}

Status IteratorResource::Save(std::string* bytes) {
  if (IsAtWork(this)) return Recursion();
  OwnRun own(session_);
  const RunLockScope lock(&own.run, &lock_);
  if (!lock.is_held()) return Cancelled();
  const WorkScope scope(this);
  IteratorContext context{&own.run, nullptr};
  if (!awaited_.empty()) {
    *bytes = awaited_;
    return Status();
  }
  if (pipeline_ == nullptr) return Error(Code::kFailedPrecondition, "The iterator has not been initialized");
  return SavePipeline(&context, bytes);
}

Status IteratorResource::GoTo(IteratorContext* context, const std::string& position) {
  if (IsAtWork(this)) return Recursion();
  const RunLockScope lock(context->run, &lock_);
  if (!lock.is_held()) return Cancelled();
  const WorkScope scope(this);
  Header header;
  PositionReader reader(Checked(position), nullptr);
  if (!ReadHeader(&reader, &header))
    return Error(Code::kDataLoss, "The saved position of an iterator cannot be read");
  if (pipeline_ == nullptr) {
    awaited_ = position;
    return Status();
  }
  const std::string structure = pipeline_->dataset->Structure();
  if (header.structure != structure) {
    return Error(Code::kFailedPrecondition, "The saved position is one in %s, and the iterator goes through %s",
                 header.structure.c_str(), structure.c_str());
  }
  awaited_.clear();
  return Start(context, pipeline_->dataset, position);
}

bool IteratorResource::IsPosition(const std::string& bytes) {
  Header header;
  PositionReader reader(Checked(bytes), nullptr);
  return ReadHeader(&reader, &header);
}

bool IteratorResource::Await(const std::string& bytes) {
  Header header;
  PositionReader reader(Checked(bytes), nullptr);
  if (!(bytes.empty() || ReadHeader(&reader, &header)) || IsAtWork(this)) return false;
  OwnRun own(session_);
  const RunLockScope lock(&own.run, &lock_);
  if (!lock.is_held()) return false;
  if (bytes.empty()) {
    pipeline_.reset();
    is_started_.store(false);
  }
  if (pipeline_ != nullptr && header.structure != pipeline_->dataset->Structure()) return false;
  awaited_ = bytes;
  return true;
}

}  // namespace stillflow
