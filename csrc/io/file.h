// file.h: files read at any place by any thread, and files that appear whole or not at all.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

#include "io/wire.h"
#include "kernel_api/abi.h"

namespace stillflow::io {

// The path that the operating system takes: of file:///a/b it is /a/b.
std::string LocalPath(const std::string& path);

// What the operating system said of `path`, as TensorFlow words it.
Status SystemError(const std::string& path, int error);

class InputFile {
 public:
  InputFile() = default;
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  Status Open(const std::string& path);
  const std::string& path() const { return path_; }
  int64_t size() const { return size_; }

  // Reads exactly `size` bytes; OutOfRange if the file has fewer there.
  Status Read(int64_t offset, void* to, int64_t size) const;

 private:
  std::string path_;
  int handle_ = -1;
  int64_t size_ = 0;
};

// A file under a name of its own until it is complete; removed if it never is.
class OutputFile {
 public:
  OutputFile() = default;
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // `path` is the name to be; nothing of that name is touched before Rename.
  Status Create(const std::string& path);
  int64_t size() const { return size_; }

  // Small pieces are gathered.
  Status Append(Bytes bytes);
  // Makes room at the end for what WritePiece will bring, and says where; any thread may then write there.
  Status Reserve(int64_t size, int64_t* offset);
  // Lets the disk begin with it, so that Sync has less to wait for. The page cache holds what has been written, in
  // place of the file of that name, unless its memory costs more time than the disk.
  Status WritePiece(int64_t offset, const void* data, int64_t size);

  // Brings everything to the disk, so that a name given from now on is one of a whole file.
  Status Sync();
  Status Rename(const std::string& path);
  Status Rename() { return Rename(path_); }

 private:
  struct Range {
    int64_t offset, size;
  };

  Status Flush();
  Status WriteAt(int64_t offset, const void* data, int64_t size) const;
  Status LeaveCache(Range written);

  std::string path_;
  std::string temporary_;  // empty: none is there
  std::string gathered_;   // not written yet; lies at the end
  int handle_ = -1;
  int replaced_ = -1;  // the file of the name to be, for as long as this one is written
  int64_t size_ = 0;
  std::atomic<bool> leaves_cache_{false};
  std::mutex mutex_;
  std::deque<Range> on_their_way_;  // to the disk, and then out of the cache
};

bool FileExists(const std::string& path);
// Renames, and links, as the system does; the caller syncs the folder.
Status RenameFile(const std::string& from, const std::string& to);
Status LinkFile(const std::string& from, const std::string& to);
void RemoveFile(const std::string& path);    // what is not there need not be removed
Status MakeFolder(const std::string& path);  // one that is there is fine
void RemoveFolder(const std::string& path);

std::string FolderOf(const std::string& path);  // "." for a bare name
// Makes names that were given or taken in the folder last, where the system can.
Status SyncFolder(const std::string& folder);

}  // namespace stillflow::io
