// dataset.h: data sets, which say what elements there are, and iterators, which bring them one after the other.
//
// A data set is a description that never changes; any number of iterators may be made of it. What a pass over it
// leaves for the next pass (the seeds of a shuffle, what a cache holds) lies in the places of the pipeline.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collections/tuple.h"
#include "datasets/place.h"
#include "datasets/position.h"
#include "kernel_api/kernel.h"
#include "runtime/executor/run_context.h"

namespace stillflow {

constexpr int64_t kInfiniteCardinality = -1;
constexpr int64_t kUnknownCardinality = -2;

// Where what is measured while elements are made goes. Any number of threads may call it.
class Statistics {
 public:
  virtual ~Statistics() = default;
  virtual void AddToHistogram(const std::string& name, double value) = 0;
};

// The run that asks for elements; its end ends what takes long.
struct IteratorContext {
  RunContext* run;
  const Services* services;
  Statistics* statistics = nullptr;  // null if nobody asks for them
  bool is_restoring = false;         // whether iterators that are made get their position next

  // An error if the run is to end. Belongs into loops that may go on for long without bringing an element.
  Status CheckRun() const;
};

class Iterator {
 public:
  virtual ~Iterator() = default;

  // Puts the next element in the place of what `element` held, or sets `is_end` if there is none; then there is none
  // later either. After an error `is_end` says nothing, and the next call goes on behind what failed. One call at a
  // time.
  virtual Status Next(IteratorContext* context, Tuple* element, bool* is_end) = 0;

  // Where it is, and how a new iterator of an equal data set gets there. One that could not be restored is of no use.
  virtual Status Save(IteratorContext* context, PositionWriter* writer) = 0;
  virtual Status Restore(IteratorContext* context, PositionReader* reader) = 0;
};

class Dataset;
using DatasetPtr = std::shared_ptr<const Dataset>;
using IteratorPtr = std::unique_ptr<Iterator>;

class Dataset : public std::enable_shared_from_this<Dataset> {
 public:
  explicit Dataset(TupleSpec spec, std::vector<DatasetPtr> inputs = {})
      : spec_(std::move(spec)), inputs_(std::move(inputs)) {}
  virtual ~Dataset() = default;

  // What it does, as "Shuffle", by the name of its iterator in TensorFlow: a position belongs to data sets that are
  // made of the same types in the same way.
  virtual const char* type() const = 0;
  const TupleSpec& spec() const { return spec_; }
  const std::vector<DatasetPtr>& inputs() const { return inputs_; }
  const Dataset& input() const { return *inputs_[0]; }

  // Whether it brings what its only input brings, so that it may be left out.
  virtual bool IsIdle() const { return false; }

  // How many elements a pass brings, as far as that is known without one; or one of the numbers below.
  virtual int64_t Cardinality() const { return kUnknownCardinality; }

  // An iterator at the beginning. It may refer to the data set, which has to outlive it.
  virtual Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const = 0;

  // The same with other inputs.
  virtual DatasetPtr WithInputs(std::vector<DatasetPtr> inputs) const = 0;

  // Calls `visit` for each tensor of which elements are parts, so that positions need not repeat what is in them.
  virtual void VisitTensors(const std::function<void(const Tensor&)>& visit) const;

  // Writes the seeds that the system has drawn for the pipeline; the same pipeline with those that were written.
  virtual void SaveSeeds(PositionWriter* writer) const;
  virtual DatasetPtr WithSavedSeeds(PositionReader* reader) const;

  // "Batch(Shuffle(Range))"
  std::string Structure() const;

 protected:
  void SetInputs(std::vector<DatasetPtr> inputs) { inputs_ = std::move(inputs); }

 private:
  void AppendStructure(std::string* text) const;

  TupleSpec spec_;
  std::vector<DatasetPtr> inputs_;
};

// What every kind of data set is derived from.
template <typename Kind>
class DatasetOf : public Dataset {
 public:
  using Dataset::Dataset;
  DatasetPtr WithInputs(std::vector<DatasetPtr> inputs) const override {
    auto copy = std::make_shared<Kind>(static_cast<const Kind&>(*this));
    static_cast<DatasetOf&>(*copy).SetInputs(std::move(inputs));
    return copy;
  }

 protected:
  // Makes an iterator of a kind `It` over one of the only input.
  template <typename It>
  Status MakeOverInput(IteratorContext* context, const Place& place, IteratorPtr* iterator) const {
    IteratorPtr over;
    STILLFLOW_RETURN_IF_ERROR(input().MakeIterator(context, place.Child(type()), &over));
    *iterator = std::make_unique<It>(static_cast<const Kind&>(*this), std::move(over));
    return Status();
  }
};

// How many batches there are of so many elements; a number below 0 says that nobody knows.
int64_t BatchCount(int64_t elements, int64_t batch_size, bool drops_remainder);

// How many elements there are when a pass of so many is repeated, `count` below 0 for ever.
int64_t RepeatedCount(int64_t elements, int64_t count);

// Whether elements of `found` may stand where `expected` is announced; the error is in TensorFlow's words.
Status CheckSpec(const TupleSpec& expected, const TupleSpec& found);

// Makes `made` a share of a tensor, or a copy where it belongs to the run's caller.
Status KeepTensor(const Services& services, const Tensor& tensor, Tensor* made);

}  // namespace stillflow
