// event_file.h: files of Event messages, which TensorBoard reads.
#pragma once

#include <string>

#include "io/wire.h"
#include "kernel_api/abi.h"

namespace stillflow::io {

// Fields of Event: what one is about.
enum class EventField { kFileVersion = 3, kGraphDef = 4, kSummary = 5 };

// A serialized Event of this moment.
std::string EventMessage(int64_t step, EventField field, Bytes content);

// A file of records in a folder. What was added waits in memory for Flush, and is written at the end at the latest.
class EventFile {
 public:
  EventFile() = default;
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  // Makes the folder, and in it events.out.tfevents.SECOND.HOST`suffix`. Where one was made in this second, it gets
  // the next second's name.
  Status Create(const std::string& folder, const std::string& suffix);
  void Add(Bytes event);
  Status Flush();

 private:
  std::string path_;
  std::string waiting_;
  int handle_ = -1;
};

}  // namespace stillflow::io
