// place.h: the places of a pipeline, and what lies there from one pass to the next.
//
// The iterators that a repetition makes one after the other for the same part of the pipeline are in the same place,
// and find there what the one before left: a shuffle its generator of seeds, a cache its elements. It lasts until the
// iterator of the whole pipeline is initialized again.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "datasets/position.h"

namespace stillflow {

class Legacy {
 public:
  virtual ~Legacy() = default;
  virtual Status Save(PositionWriter* writer) = 0;
  virtual Status Restore(const Services& services, PositionReader* reader) = 0;
};

// Everything that lies in the places of one pipeline.
class Legacies {
 public:
  // Makes with `make()` what is not there. What was saved is restored when it is asked for.
  template <typename Make>
  Status Find(const Services& services, const std::string& path, const Make& make, std::shared_ptr<Legacy>* found) {
    const std::lock_guard<std::mutex> guard(mutex_);
    std::shared_ptr<Legacy>& entry = found_[path];
    if (entry == nullptr) {
      std::shared_ptr<Legacy> made = make();
      STILLFLOW_RETURN_IF_ERROR(RestoreAwaited(services, path, made.get()));
      entry = std::move(made);
    }
    *found = entry;
    return Status();
  }

  Status Save(PositionWriter* writer);
  // To be called before anything is asked for. `reader` has the sources, which outlive this.
  void Restore(PositionReader* reader);

 private:
  Status RestoreAwaited(const Services& services, const std::string& path, Legacy* legacy);

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Legacy>> found_;
  std::map<std::string, std::string> awaited_;
  const Sources* sources_ = nullptr;
};

class Place {
 public:
  Place(Legacies* legacies, const std::string& path) : Place(legacies, path, path) {}

  Place Child(const std::string& name) const {
    return Place(legacies_, path_ + "/" + name, functions_path_ + "/" + name);
  }
  Place Child(size_t index) const { return Child(std::to_string(index)); }
  // For the data set that a function makes of an element: what it leaves is found by the number of the element, or
  // of the place in a cycle, but the states of functions are the same for all elements.
  Place Element(int64_t number) const {
    return Place(legacies_, path_ + "/[" + std::to_string(number) + "]", functions_path_ + "/[]");
  }

  // The names of the data sets that lead here, each behind a slash.
  const std::string& path() const { return path_; }

  // What lies here, made by `make()` if there is nothing yet.
  template <typename Kind, typename Make>
  Status FindOrMake(const Services& services, const Make& make, std::shared_ptr<Kind>* found) const {
    return FindOrMakeAt(path_, services, make, found);
  }
  // The state of a function that is called here.
  template <typename Kind, typename Make>
  Status FindOrMakeState(const Services& services, const Make& make, std::shared_ptr<Kind>* found) const {
    return FindOrMakeAt(functions_path_, services, make, found);
  }

 private:
  Place(Legacies* legacies, std::string path, std::string functions_path)
      : legacies_(legacies), path_(std::move(path)), functions_path_(std::move(functions_path)) {}

  template <typename Kind, typename Make>
  Status FindOrMakeAt(const std::string& path, const Services& services, const Make& make,
                      std::shared_ptr<Kind>* found) const {
    std::shared_ptr<Legacy> legacy;
    STILLFLOW_RETURN_IF_ERROR(legacies_->Find(services, path, make, &legacy));
    *found = std::dynamic_pointer_cast<Kind>(legacy);
    return *found == nullptr ? Error(Code::kInternal, "Two things in one place: %s", path.c_str()) : Status();
  }

  Legacies* legacies_;
  std::string path_;
  std::string functions_path_;
};

}  // namespace stillflow
