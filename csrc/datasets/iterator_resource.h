// iterator_resource.h: an iterator of a session: the pipeline that it goes through, and its position as bytes.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "datasets/dataset.h"
#include "runtime/executor/resource.h"
#include "runtime/executor/run_lock.h"

namespace stillflow {

class IteratorResource : public Resource {
 public:
  static constexpr char kKind[] = "iterator";

  IteratorResource(Session* session, TupleSpec spec) : session_(session), spec_(std::move(spec)) {}
  const char* kind() const override { return kKind; }
  const TupleSpec& spec() const { return spec_; }

  // Begins at the beginning of a data set, or where a position says that is waiting for a data set made in the same
  // way. A position at the end is no reason not to begin anew, unless it `begins_once`.
  Status Initialize(IteratorContext* context, DatasetPtr dataset, bool begins_once);

  bool is_started() const { return is_started_.load(); }

  // FailedPrecondition before the first Initialize.
  Status Next(IteratorContext* context, Tuple* element, bool* is_end);

  // The position. An error before the first Initialize, and for a pipeline of which it cannot be told.
  Status Save(std::string* bytes);

  // Makes the next Initialize or Next go on at a position. False if it is none, or one in another pipeline than that
  // which is there. No bytes: it is as it was before the first Initialize.
  bool Await(const std::string& bytes);

  // Goes on at a position, or has the first Initialize go on there. An error if it is none, or in another pipeline.
  Status GoTo(IteratorContext* context, const std::string& position);

  // Whether the bytes are a position, of whatever pipeline.
  static bool IsPosition(const std::string& bytes);

 private:
  // The iterator is the last member: it is the first to go.
  struct Pipeline {
    DatasetPtr dataset;
    Sources sources;
    Legacies legacies;
    IteratorPtr iterator;
  };
  struct Header {
    bool is_at_end = false;
    std::string structure;
  };

  static bool ReadHeader(PositionReader* reader, Header* header);
  Status Start(IteratorContext* context, DatasetPtr dataset, const std::string& position);
  Status GoToAwaited(IteratorContext* context);
  Status SavePipeline(IteratorContext* context, std::string* bytes);

  Session* const session_;
  const TupleSpec spec_;
  RunLock lock_;  // one run at a time
  std::unique_ptr<Pipeline> pipeline_;
  std::atomic<bool> is_started_{false};  // whether there is a pipeline
  bool is_at_end_ = false;
  std::string awaited_;  // a position that is waiting for a run
};

}  // namespace stillflow
