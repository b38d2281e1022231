#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "kernel_api/kernel.h"

namespace stillflow::io {
namespace {

constexpr size_t kGatheredBytes = 1 << 20;
constexpr int64_t kLargestCall = int64_t{1} << 30;  // Linux moves at most 2 GiB at once
// What fills the page cache faster than this does not hold up a disk. Where memory has to be taken from elsewhere
// first, as in many virtual machines, it may take ten times as long.
constexpr double kNanosecondsPerCachedByte = 4;
constexpr size_t kRangesOnTheirWay = 16;  // enough to keep a disk busy

Code CodeOf(int error) {
  switch (error) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
      return Code::kNotFound;
    case EEXIST:
      return Code::kAlreadyExists;
    case EPERM:
    case EACCES:
    case EROFS:
      return Code::kPermissionDenied;
    case EINVAL:
    case ENAMETOOLONG:
      return Code::kInvalidArgument;
    case ENOTEMPTY:
    case EISDIR:
    case ENOTDIR:
    case EBADF:
    case EBUSY:
    case EPIPE:
      return Code::kFailedPrecondition;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case EMLINK:
    case ENOMEM:
      return Code::kResourceExhausted;
    case EFBIG:
    case EOVERFLOW:
      return Code::kOutOfRange;
    case ENOSYS:
    case EOPNOTSUPP:
    case EXDEV:
      return Code::kUnimplemented;
    case ESTALE:
      return Code::kAborted;
    default:
      return Code::kUnknown;
  }
}

// The system would take a path with a zero byte for a shorter one.
Status CheckPath(const std::string& path) {
  if (path.find('\0') == std::string::npos) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s; A path has a zero byte", path.c_str());
}

double ThreadNanoseconds() {
  struct timespec spent;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return 1e9 * static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec);
}

uint64_t RandomNumber() {
  std::random_device entropy;
  return uint64_t{entropy()} << 32 | entropy();
}

}  // namespace

std::string LocalPath(const std::string& path) {
  constexpr size_t kSchemeLength = 7;
  if (path.compare(0, kSchemeLength, "file://") != 0) return path;
  const size_t begin = path.find_first_not_of('/', kSchemeLength);
  return begin == std::string::npos ? "/" : "/" + path.substr(begin);
}

Status SystemError(const std::string& path, int error) {
  return Error(CodeOf(error), "%s; %s", path.c_str(), std::strerror(error));
}

// ---- Reading ------------------------------------------------------------------------------------------------------

InputFile::~InputFile() {
  if (handle_ >= 0) close(handle_);
}

Status InputFile::Open(const std::string& path) {
  STILLFLOW_RETURN_IF_ERROR(CheckPath(path));
  path_ = path;
  handle_ = open(LocalPath(path).c_str(), O_RDONLY | O_CLOEXEC);
  if (handle_ < 0) return SystemError(path, errno);
  struct stat found;
  if (fstat(handle_, &found) != 0) return SystemError(path, errno);
  if (S_ISDIR(found.st_mode)) return SystemError(path, EISDIR);
  size_ = found.st_size;
  return Status();
}

Status InputFile::Read(int64_t offset, void* to, int64_t size) const {
  auto* next = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t count = pread(handle_, next, std::min(size, kLargestCall), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError(path_, errno);
    if (count == 0) return Error(Code::kOutOfRange, "Read less bytes than requested");
    next += count;
    offset += count;
    size -= count;
  }
  return Status();
}

// ---- Writing ------------------------------------------------------------------------------------------------------

OutputFile::~OutputFile() {
  if (replaced_ >= 0) close(replaced_);
  if (handle_ >= 0) close(handle_);
  if (!temporary_.empty()) unlink(LocalPath(temporary_).c_str());
}

Status OutputFile::Create(const std::string& path) {
  STILLFLOW_RETURN_IF_ERROR(CheckPath(path));
  path_ = path;
  const std::string temporary = path + ".tempstate" + std::to_string(RandomNumber());
  handle_ = open(LocalPath(temporary).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (handle_ < 0) return SystemError(temporary, errno);
  temporary_ = temporary;
  replaced_ = open(LocalPath(path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  return Status();
}

Status OutputFile::WriteAt(int64_t offset, const void* data, int64_t size) const {
  const auto* next = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t count = pwrite(handle_, next, std::min(size, kLargestCall), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError(temporary_, errno);
    next += count;
    offset += count;
    size -= count;
  }
  return Status();
}

Status OutputFile::WritePiece(int64_t offset, const void* data, int64_t size) {
  // What was cached of the old file would be given up when that goes, while everyone waits. Now the disk is busy, and
  // the pages can be had for the new one.
  if (replaced_ >= 0) (void)posix_fadvise(replaced_, offset, size, POSIX_FADV_DONTNEED);
  const double before = ThreadNanoseconds();
  STILLFLOW_RETURN_IF_ERROR(WriteAt(offset, data, size));
  const double spent = ThreadNanoseconds() - before;
#ifdef SYNC_FILE_RANGE_WRITE
  (void)sync_file_range(handle_, offset, size, SYNC_FILE_RANGE_WRITE);
#endif
  if (spent > kNanosecondsPerCachedByte * static_cast<double>(size)) leaves_cache_ = true;
  return leaves_cache_ ? LeaveCache({offset, size}) : Status();
}

// Takes one range out of the cache for each that comes, so that the next one to be written has its pages.
Status OutputFile::LeaveCache(Range written) {
  Range oldest;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    on_their_way_.push_back(written);
    if (on_their_way_.size() <= kRangesOnTheirWay) return Status();
    oldest = on_their_way_.front();
    on_their_way_.pop_front();
  }
#ifdef SYNC_FILE_RANGE_WRITE
  constexpr unsigned kWait = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  const bool is_written = sync_file_range(handle_, oldest.offset, oldest.size, kWait) == 0;
  // An error of the disk that was told here is not told again by fsync.
  if (!is_written && errno != ENOSYS && errno != EINVAL) return SystemError(temporary_, errno);
#endif
  (void)posix_fadvise(handle_, oldest.offset, oldest.size, POSIX_FADV_DONTNEED);
  return Status();
}

Status OutputFile::Flush() {
  const int64_t size = static_cast<int64_t>(gathered_.size());
  STILLFLOW_RETURN_IF_ERROR(WriteAt(size_ - size, gathered_.data(), size));
  gathered_.clear();
  return Status();
}

Status OutputFile::Append(Bytes bytes) {
  if (bytes.size >= kGatheredBytes) {
    int64_t offset = 0;
    STILLFLOW_RETURN_IF_ERROR(Reserve(static_cast<int64_t>(bytes.size), &offset));
    return WriteAt(offset, bytes.data, static_cast<int64_t>(bytes.size));
  }
  gathered_.append(bytes.data, bytes.size);
  size_ += static_cast<int64_t>(bytes.size);
  return gathered_.size() >= kGatheredBytes ? Flush() : Status();
}

Status OutputFile::Reserve(int64_t size, int64_t* offset) {
  STILLFLOW_RETURN_IF_ERROR(Flush());
  *offset = size_;
  size_ += size;
  return Status();
}

Status OutputFile::Sync() {
  STILLFLOW_RETURN_IF_ERROR(Flush());
  if (replaced_ >= 0) close(replaced_);
  replaced_ = -1;
  if (fsync(handle_) != 0 && errno != EINVAL) return SystemError(temporary_, errno);
  const int handle = handle_;
  handle_ = -1;
  if (close(handle) != 0 && errno != EINTR) return SystemError(temporary_, errno);
  return Status();
}

Status OutputFile::Rename(const std::string& path) {
  STILLFLOW_RETURN_IF_ERROR(RenameFile(temporary_, path));
  temporary_.clear();
  return Status();
}

// ---- Names --------------------------------------------------------------------------------------------------------

bool FileExists(const std::string& path) { return access(LocalPath(path).c_str(), F_OK) == 0; }

Status RenameFile(const std::string& from, const std::string& to) {
  STILLFLOW_RETURN_IF_ERROR(CheckPath(to));
  return rename(LocalPath(from).c_str(), LocalPath(to).c_str()) == 0 ? Status() : SystemError(from, errno);
}

Status LinkFile(const std::string& from, const std::string& to) {
  return link(LocalPath(from).c_str(), LocalPath(to).c_str()) == 0 ? Status() : SystemError(from, errno);
}

Status MakeFolder(const std::string& path) {
  return mkdir(LocalPath(path).c_str(), 0777) == 0 || errno == EEXIST ? Status() : SystemError(path, errno);
}

void RemoveFile(const std::string& path) { unlink(LocalPath(path).c_str()); }
void RemoveFolder(const std::string& path) { rmdir(LocalPath(path).c_str()); }

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status SyncFolder(const std::string& folder) {
  const int handle = open(LocalPath(folder).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle < 0) return errno == EACCES ? Status() : SystemError(folder, errno);  // it may be written yet not read
  const int error = fsync(handle) == 0 ? 0 : errno;
  close(handle);
  // Some file systems have no such thing to offer.
  return error == 0 || error == EINVAL || error == ENOTSUP || error == EROFS ? Status() : SystemError(folder, error);
}

}  // namespace stillflow::io
