// kinds.h: the kinds of data sets that rewrites look for.
#pragma once

#include "datasets/datasets.h"

namespace stillflow {

class TakeDataset final : public DatasetOf<TakeDataset> {
 public:
  TakeDataset(TupleSpec spec, DatasetPtr input, int64_t count)
      : DatasetOf(std::move(spec), {std::move(input)}), count_(count) {}
  const char* type() const override { return "Take"; }
  bool takes_all() const { return count_ < 0; }
  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override;

 private:
  int64_t count_;
};

class SkipDataset final : public DatasetOf<SkipDataset> {
 public:
  SkipDataset(TupleSpec spec, DatasetPtr input, int64_t count)
      : DatasetOf(std::move(spec), {std::move(input)}), count_(count) {}
  const char* type() const override { return "Skip"; }
  bool skips_nothing() const { return count_ == 0; }
  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override;

 private:
  int64_t count_;
};

class RepeatDataset final : public DatasetOf<RepeatDataset> {
 public:
  RepeatDataset(TupleSpec spec, DatasetPtr input, int64_t count)
      : DatasetOf(std::move(spec), {std::move(input)}), count_(count) {}
  const char* type() const override { return "Repeat"; }
  int64_t count() const { return count_; }
  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override;

 private:
  int64_t count_;
};

class ShuffleDataset final : public DatasetOf<ShuffleDataset> {
 public:
  ShuffleDataset(TupleSpec spec, DatasetPtr input, ShuffleOptions options, bool reshuffles)
      : DatasetOf(std::move(spec), {std::move(input)}), options_(options), reshuffles_(reshuffles) {}
  const char* type() const override { return "Shuffle"; }
  const ShuffleOptions& options() const { return options_; }
  bool reshuffles() const { return reshuffles_; }
  void SaveSeeds(PositionWriter* writer) const override;
  DatasetPtr WithSavedSeeds(PositionReader* reader) const override;
  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override;

 private:
  ShuffleOptions options_;
  bool reshuffles_;
};

}  // namespace stillflow
