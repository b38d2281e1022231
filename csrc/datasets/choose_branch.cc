// A data set whose elements are made in the fastest of several ways.
#include <atomic>
#include <chrono>

#include "datasets/datasets.h"

namespace stillflow {
namespace {

// The input of a branch: the next elements of an iterator that is there already. Only one pass is possible.
class WrapperDataset final : public Dataset {
 public:
  // `limit` below 0: all of them.
  WrapperDataset(TupleSpec spec, Iterator* input, int64_t limit)
      : Dataset(std::move(spec)), input_(input), limit_(limit) {}
  const char* type() const override { return "Wrapper"; }
  DatasetPtr WithInputs(std::vector<DatasetPtr>) const override { return shared_from_this(); }

  Status MakeIterator(IteratorContext*, const Place&, IteratorPtr* iterator) const override {
    if (is_taken_.exchange(true)) {
      return STILLFLOW_INVALID_ARGUMENT(
          "Cannot create more than one WrapperIterator per WrapperDataset. Make sure the "
          "branches to ChooseFastestDataset do not expect the input to repeat.");
    }
    *iterator = std::make_unique<It>(*this);
    return Status();
  }

 private:
  class It final : public Iterator {
   public:
    explicit It(const WrapperDataset& dataset) : dataset_(dataset) {}
    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      *is_end = dataset_.limit_ >= 0 && taken_ == dataset_.limit_;
      if (*is_end) return Status();
      ++taken_;
      return dataset_.input_->Next(context, element, is_end);
    }
    Status Save(IteratorContext*, PositionWriter* writer) override {
      writer->Int(taken_);
      return Status();
    }
    Status Restore(IteratorContext*, PositionReader* reader) override {
      taken_ = reader->IntIn(0, dataset_.limit_ < 0 ? INT64_MAX : dataset_.limit_);
      return reader->status();
    }

   private:
    const WrapperDataset& dataset_;
    int64_t taken_ = 0;
  };

  Iterator* const input_;
  const int64_t limit_;
  mutable std::atomic<bool> is_taken_{false};
};

// `dataset` with `to` wherever it reads `from`.
DatasetPtr Replaced(const DatasetPtr& dataset, const DatasetPtr& from, const DatasetPtr& to) {
  if (dataset == from) return to;
  std::vector<DatasetPtr> inputs;
  for (const DatasetPtr& input : dataset->inputs()) inputs.push_back(Replaced(input, from, to));
  return inputs == dataset->inputs() ? dataset : dataset->WithInputs(std::move(inputs));
}

class ChooseFastestBranchDataset final : public Dataset {
 public:
  ChooseFastestBranchDataset(TupleSpec spec, DatasetPtr input, std::vector<DatasetPtr> branches,
                             BranchOptions options)
      : Dataset(std::move(spec), {std::move(input)}), branches_(std::move(branches)), options_(options) {}
  const char* type() const override { return "ChooseFastestBranch"; }
  int64_t Cardinality() const override { return branches_[0]->Cardinality(); }

  DatasetPtr WithInputs(std::vector<DatasetPtr> inputs) const override {
    std::vector<DatasetPtr> branches;
    for (const DatasetPtr& branch : branches_) branches.push_back(Replaced(branch, this->inputs()[0], inputs[0]));
    return std::make_shared<ChooseFastestBranchDataset>(spec(), std::move(inputs[0]), std::move(branches), options_);
  }
  void VisitTensors(const std::function<void(const Tensor&)>& visit) const override {
    for (const DatasetPtr& branch : branches_) branch->VisitTensors(visit);
  }
  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    IteratorPtr input;
    const Place own = place.Child(type());
    STILLFLOW_RETURN_IF_ERROR(this->input().MakeIterator(context, own, &input));
    *iterator = std::make_unique<It>(*this, own, std::move(input));
    return Status();
  }

 private:
  class It final : public Iterator {
   public:
    It(const ChooseFastestBranchDataset& dataset, Place place, IteratorPtr input)
        : dataset_(dataset), place_(std::move(place)), input_(std::move(input)), taken_(dataset.branches_.size()) {}

    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      for (;;) {
        if (current_ == nullptr) STILLFLOW_RETURN_IF_ERROR(Open(context));
        const auto begin = std::chrono::steady_clock::now();
        STILLFLOW_RETURN_IF_ERROR(current_->Next(context, element, is_end));
        if (!IsTrial()) return Status();
        const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - begin;
        taken_[tried_] += taken.count();
        if (!*is_end) return Status();
        current_.reset();
        ++tried_;
      }
    }

    // What was measured is a part: otherwise a restored iterator would choose by what it has not seen.
    Status Save(IteratorContext* context, PositionWriter* writer) override {
      writer->Int(tried_);
      for (const int64_t taken : taken_) writer->Int(taken);
      writer->Bool(current_ != nullptr);
      if (current_ != nullptr) STILLFLOW_RETURN_IF_ERROR(current_->Save(context, writer));
      return input_->Save(context, writer);
    }
    Status Restore(IteratorContext* context, PositionReader* reader) override {
      tried_ = reader->IntIn(0, static_cast<int64_t>(taken_.size()));
      for (int64_t& taken : taken_) taken = reader->IntIn(0, INT64_MAX / 2);
      const bool is_open = reader->Bool();
      STILLFLOW_RETURN_IF_ERROR(reader->status());
      if (is_open) {
        STILLFLOW_RETURN_IF_ERROR(Open(context));
        STILLFLOW_RETURN_IF_ERROR(current_->Restore(context, reader));
      }
      return input_->Restore(context, reader);
    }

   private:
    bool IsTrial() const { return tried_ < static_cast<int64_t>(taken_.size()); }

    Status Open(IteratorContext* context) {
      const int64_t fastest = std::min_element(taken_.begin(), taken_.end()) - taken_.begin();
      const int64_t branch = IsTrial() ? tried_ : fastest;
      const BranchOptions& options = dataset_.options_;
      const int64_t limit = IsTrial() ? options.outputs_per_trial * options.inputs_per / options.outputs_per : -1;
      const DatasetPtr& source = dataset_.inputs()[0];
      pipeline_ = Replaced(dataset_.branches_[branch], source,
                           std::make_shared<WrapperDataset>(source->spec(), input_.get(), limit));
      return pipeline_->MakeIterator(context, place_.Child(branch), &current_);
    }

    const ChooseFastestBranchDataset& dataset_;
    const Place place_;
    const IteratorPtr input_;
    std::vector<int64_t> taken_;  // nanoseconds, by branch
    int64_t tried_ = 0;
    DatasetPtr pipeline_;
    IteratorPtr current_;  // the last member: it is the first to go
  };

  std::vector<DatasetPtr> branches_;
  BranchOptions options_;
};

}  // namespace

DatasetPtr MakeChooseFastestBranchDataset(TupleSpec spec, DatasetPtr input, std::vector<DatasetPtr> branches,
                                          BranchOptions options) {
  return std::make_shared<ChooseFastestBranchDataset>(std::move(spec), std::move(input), std::move(branches),
                                                      options);
}

}  // namespace stillflow
