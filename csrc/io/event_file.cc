#include "io/event_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "io/crc32c.h"
#include "io/file.h"
#include "io/message_writer.h"
#include "kernel_api/kernel.h"

namespace stillflow::io {
namespace {

enum { kWallTime = 1, kStep = 2 };  // fields of Event

// Makes a folder and those that it lies in.
Status MakeFolders(const std::string& folder) {
  struct stat found;
  if (stat(LocalPath(folder).c_str(), &found) == 0) {
    return S_ISDIR(found.st_mode) ? Status() : Error(Code::kFailedPrecondition, "Not a directory");
  }
  if (errno != ENOENT) return SystemError(folder, errno);
  const std::string outer = FolderOf(folder);
  if (outer != folder && outer != ".") STILLFLOW_RETURN_IF_ERROR(MakeFolders(outer));
  return MakeFolder(folder);
}

void AppendRecord(Bytes record, std::string* to) {
  std::string length;
  AppendFixed32(static_cast<uint32_t>(record.size), &length);
  AppendFixed32(static_cast<uint32_t>(uint64_t{record.size} >> 32), &length);
  to->append(length);
  AppendFixed32(MaskCrc(Crc32c(length.data(), length.size())), to);
  to->append(record.data, record.size);
  AppendFixed32(MaskCrc(Crc32c(record.data, record.size)), to);
}

}  // namespace

std::string EventMessage(int64_t step, EventField field, Bytes content) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  std::string event;
  MessageWriter writer(&event);
  writer.DoubleUnlessZero(kWallTime, static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec / 1000) / 1e6);
  writer.VarintUnlessZero(kStep, static_cast<uint64_t>(step));
  writer.Field(static_cast<uint32_t>(field), content);
  return event;
}

EventFile::~EventFile() {
  if (handle_ < 0) return;
  (void)Flush();  // nobody is left to be told
  close(handle_);
}

Status EventFile::Create(const std::string& folder, const std::string& suffix) {
  const size_t end = folder.find_last_not_of('/');
  const std::string base = end == std::string::npos ? folder.substr(0, 1) : folder.substr(0, end + 1);
  if (!base.empty()) STILLFLOW_RETURN_IF_ERROR(MakeFolders(base));
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) != 0) return SystemError(folder, errno);
  const std::string beginning = base.empty() || base == "/" ? base : base + "/";
  for (int64_t second = time(nullptr); handle_ < 0; ++second) {
    std::string number = std::to_string(second);
    number.insert(0, 10 - std::min<size_t>(10, number.size()), '0');
    path_ = beginning + "events.out.tfevents." + number + "." + host + suffix;
    handle_ = open(LocalPath(path_).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (handle_ < 0 && errno != EEXIST) return SystemError(path_, errno);
  }
  Add(Bytes(EventMessage(0, EventField::kFileVersion, Bytes{"brain.Event:2", 13})));
  return Flush();
}

void EventFile::Add(Bytes event) { AppendRecord(event, &waiting_); }

Status EventFile::Flush() {
  size_t written = 0;
  Status status;
  while (written < waiting_.size()) {
    const ssize_t count = write(handle_, waiting_.data() + written, waiting_.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      status = SystemError(path_, errno);
      break;
    }
    written += static_cast<size_t>(count);
  }
  waiting_.erase(0, written);
  return status;
}

}  // namespace stillflow::io
