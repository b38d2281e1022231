#include "runtime/executor/resource.h"

#include <atomic>
#include <cstring>
#include <utility>

namespace stillflow {
namespace {

// Both count for the whole process: a number of one session is none of another's.
std::atomic<int64_t> next_number{1};
std::atomic<int64_t> next_private_name{0};

}  // namespace

ResourceTable::Name ResourceTable::NameOf(const std::string& container, const std::string& shared_name,
                                          const std::string& node_name) {
  Name name{container.empty() ? "localhost" : container, shared_name};
  if (shared_name.empty()) {
    name.name = "_" + std::to_string(next_private_name.fetch_add(1)) + "_" + node_name;
    name.is_private = true;
  }
  return name;
}

Status ResourceTable::FindOrMake(const char* kind, const Name& name, const Make& make,
                                 std::shared_ptr<Resource>* resource, int64_t* number) {
  // An iterator runs functions of the session that made it, which others may outlive.
  if (shared_ != nullptr && !name.is_private && std::strcmp(kind, "iterator") != 0) {
    return shared_->FindOrMake(kind, name, make, resource, number);
  }
  const std::lock_guard<std::mutex> guard(mutex_);
  const Key key(kind, name.container, name.name);
  const auto found = numbers_.find(key);
  if (found != numbers_.end()) {
    *number = found->second;
    *resource = entries_.at(*number).resource;
    return Status();
  }
  Status status = make(name, resource);
  if (!status.ok()) return status;
  *number = next_number.fetch_add(1);
  numbers_[key] = *number;
  entries_[*number] = {*resource, key};
  return status;
}

std::shared_ptr<Resource> ResourceTable::Find(int64_t number) {
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    const auto found = entries_.find(number);
    if (found != entries_.end()) return found->second.resource;
  }
  return shared_ == nullptr ? nullptr : shared_->Find(number);
}

std::shared_ptr<Resource> ResourceTable::Find(const char* kind, const Name& name) {
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    const auto found = numbers_.find(Key(kind, name.container, name.name));
    if (found != numbers_.end()) return entries_.at(found->second).resource;
  }
  return shared_ == nullptr ? nullptr : shared_->Find(kind, name);
}

bool ResourceTable::Erase(int64_t number) {
  std::shared_ptr<Resource> last;  // let go of outside the lock: its end may take long
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    const auto found = entries_.find(number);
    if (found != entries_.end()) {
      last = std::move(found->second.resource);
      numbers_.erase(found->second.key);
      entries_.erase(found);
      return true;
    }
  }
  return shared_ != nullptr && shared_->Erase(number);
}

bool ResourceTable::Erase(const char* kind, const Name& name) {
  int64_t number = 0;
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    const auto found = numbers_.find(Key(kind, name.container, name.name));
    if (found != numbers_.end()) number = found->second;
  }
  if (number != 0) return Erase(number);
  return shared_ != nullptr && shared_->Erase(kind, name);
}

}  // namespace stillflow
