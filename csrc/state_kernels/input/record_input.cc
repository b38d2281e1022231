// record_input: records of files in a random order, epoch after epoch.
//
//   out[0] a vector of `batch_size` strings
//   attrs  file_pattern, file_random_seed, file_shuffle_shift_ratio, file_buffer_size, batch_size, compression_type
//
// In each epoch the files come in another order, and records from a buffer from which one is picked at random. All
// records of an epoch come before those of the next. The order follows from the seed alone: nothing reads ahead.
#include <glob.h>

#include <algorithm>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "io/record_reader.h"
#include "kernels/guarded.h"
#include "state_kernels/handle.h"

namespace stillflow {
namespace {

enum RecordInputAttr { kPattern, kSeed, kShiftRatio, kBufferSize, kBatchSize, kCompression };

class ShuffledRecords {
 public:
  explicit ShuffledRecords(const Attr* attrs)
      : pattern_(StringOf(attrs[kPattern])),
        shift_ratio_(attrs[kShiftRatio].f),
        buffer_size_(static_cast<size_t>(std::max<int64_t>(1, attrs[kBufferSize].i))),
        random_(static_cast<uint64_t>(attrs[kSeed].i)) {
    io::CompressionFromName(StringOf(attrs[kCompression]), &compression_);
  }

  std::mutex& mutex() { return mutex_; }

  Status Next(RunContext* run, std::string* record) {
    int epochs_begun = 0;
    for (;;) {
      if (ShouldStop(run)) return Stopped(*run);
      STILLFLOW_RETURN_IF_ERROR(Fill(run));
      if (!buffer_.empty()) break;
      if (epochs_begun++ == 2) return Error(Code::kDataLoss, "There is no record in %s", pattern_.c_str());
      STILLFLOW_RETURN_IF_ERROR(BeginEpoch());
    }
    *record = std::move(buffer_.back());
    buffer_.pop_back();
    return Status();
  }

 private:
  // Reads until the buffer is full or the epoch's files are at their end.
  Status Fill(RunContext* run) {
    while (buffer_.size() < buffer_size_ && (reader_ != nullptr || !files_.empty())) {
      if (ShouldStop(run)) return Stopped(*run);
      if (reader_ == nullptr) {
        std::unique_ptr<io::InputStream> file;
        STILLFLOW_RETURN_IF_ERROR(io::OpenFile(files_.back(), compression_, &file));
        files_.pop_back();
        reader_ = std::make_unique<io::RecordReader>(std::move(file));
      }
      std::string record;
      bool is_end = false;
      STILLFLOW_RETURN_IF_ERROR(reader_->Next(&record, &is_end));
      if (is_end) {
        reader_ = nullptr;
        continue;
      }
      const size_t place = static_cast<size_t>(random_() % (buffer_.size() + 1));
      buffer_.push_back(std::move(record));
      std::swap(buffer_[place], buffer_.back());
    }
    return Status();
  }

  Status BeginEpoch() {
    glob_t found;
    if (glob(pattern_.c_str(), 0, nullptr, &found) == 0) {
      files_.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
      globfree(&found);
    }
    if (files_.empty()) return Error(Code::kNotFound, "Found no files at %s", pattern_.c_str());
    for (size_t i = files_.size() - 1; i > 0; --i) std::swap(files_[i], files_[random_() % (i + 1)]);
    const auto shift =
        static_cast<size_t>(shift_ratio_ * static_cast<double>(epoch_++ * files_.size())) % files_.size();
    std::rotate(files_.begin(), files_.begin() + static_cast<std::ptrdiff_t>(shift), files_.end());
    return Status();
  }

  const std::string pattern_;
  const double shift_ratio_;
  const size_t buffer_size_;
  io::Compression compression_ = io::Compression::kNone;
  std::mutex mutex_;
  std::mt19937_64 random_;
  size_t epoch_ = 0;
  std::vector<std::string> files_;  // of the epoch, those to come, the next one last
  std::unique_ptr<io::RecordReader> reader_;
  std::vector<std::string> buffer_;
};

Status NewRecords(const Attr* attrs, void** state) {
  *state = new (std::nothrow) ShuffledRecords(attrs);
  return *state == nullptr ? OutOfScratch() : Status();
}

void FreeRecords(void* state) { delete static_cast<ShuffledRecords*>(state); }

Status RecordInput(const KernelCall& call) {
  auto* const records = static_cast<ShuffledRecords*>(call.state);
  const std::lock_guard<std::mutex> guard(records->mutex());
  Shape shape;
  shape.Add(call.attrs[kBatchSize].i);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kString, shape));
  for (int64_t i = 0; i < call.attrs[kBatchSize].i; ++i) {
    std::string record;
    STILLFLOW_RETURN_IF_ERROR(records->Next(call.run, &record));
    if (!SetString(call, call.out[0], i, record.data(), static_cast<int64_t>(record.size()))) return OutOfScratch();
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(input, record_input){
    {"record_input",
     "| file_pattern, file_random_seed, file_shuffle_shift_ratio, file_buffer_size, batch_size, compression_type",
     Guarded<RecordInput>, nullptr, nullptr, NewRecords, FreeRecords},
    {}};

}  // namespace stillflow
