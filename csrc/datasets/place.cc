#include "datasets/place.h"

namespace stillflow {

Status Legacies::Save(PositionWriter* writer) {
  const std::lock_guard<std::mutex> guard(mutex_);
  std::map<std::string, std::string> saved = awaited_;
  for (auto& entry : found_) {
    PositionWriter part(writer->sources());
    STILLFLOW_RETURN_IF_ERROR(entry.second->Save(&part));
    saved[entry.first] = part.Take();
  }
  writer->Int(static_cast<int64_t>(saved.size()));
  for (const auto& entry : saved) {
    writer->String(entry.first);
    writer->String(entry.second);
  }
  return Status();
}

void Legacies::Restore(PositionReader* reader) {
  const std::lock_guard<std::mutex> guard(mutex_);
  sources_ = reader->sources();
  const int64_t count = reader->Count();
  for (int64_t i = 0; i < count && reader->ok(); ++i) {
    const std::string path = reader->String();
    awaited_[path] = reader->String();
  }
}

Status Legacies::RestoreAwaited(const Services& services, const std::string& path, Legacy* legacy) {
  const auto found = awaited_.find(path);
  if (found == awaited_.end()) return Status();
  const std::string bytes = std::move(found->second);
  awaited_.erase(found);
  PositionReader reader(io::Bytes(bytes), sources_);
  STILLFLOW_RETURN_IF_ERROR(legacy->Restore(services, &reader));
  return reader.status();
}

}  // namespace stillflow
