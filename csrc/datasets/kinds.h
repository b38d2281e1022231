// kinds.h: the kinds of data sets that rewrites look for.
#pragma once

#include <algorithm>

#include "datasets/datasets.h"

namespace stillflow {

class TakeDataset final : public DatasetOf<TakeDataset> {
 public:
  TakeDataset(TupleSpec spec, DatasetPtr input, int64_t count)
      : DatasetOf(std::move(spec), {std::move(input)}), count_(count) {}
  const char* type() const override { return count_ == 0 ? "EmptyTake" : "FiniteTake"; }
  int64_t Cardinality() const override {
    const int64_t available = input().Cardinality();
    if (count_ < 0 || available == kUnknownCardinality) return available;
    return available == kInfiniteCardinality ? count_ : std::min(available, count_);
  }
  bool IsIdle() const override { return count_ < 0; }
  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override;

 private:
  int64_t count_;
};

class SkipDataset final : public DatasetOf<SkipDataset> {
 public:
  SkipDataset(TupleSpec spec, DatasetPtr input, int64_t count)
      : DatasetOf(std::move(spec), {std::move(input)}), count_(count) {}
  const char* type() const override { return count_ < 0 ? "EmptySkip" : "FiniteSkip"; }
  int64_t Cardinality() const override {
    const int64_t available = input().Cardinality();
    if (available < 0) return available;
    return count_ < 0 ? 0 : std::max<int64_t>(0, available - count_);
  }
  bool IsIdle() const override { return count_ == 0; }
  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override;

 private:
  int64_t count_;
};

class RepeatDataset final : public DatasetOf<RepeatDataset> {
 public:
  RepeatDataset(TupleSpec spec, DatasetPtr input, int64_t count)
      : DatasetOf(std::move(spec), {std::move(input)}), count_(count) {}
  const char* type() const override {
    if (count_ == 0) return "EmptyRepeat";
    return count_ < 0 ? "ForeverRepeat" : "FiniteRepeat";
  }
  bool IsIdle() const override { return count_ == 1; }
  int64_t Cardinality() const override { return RepeatedCount(input().Cardinality(), count_); }
  int64_t count() const { return count_; }
  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override;

 private:
  int64_t count_;
};

class ShuffleDataset final : public DatasetOf<ShuffleDataset> {
 public:
  ShuffleDataset(TupleSpec spec, DatasetPtr input, ShuffleOptions options, bool reshuffles,
                 std::shared_ptr<SeedGenerator> generator)
      : DatasetOf(std::move(spec), {std::move(input)}),
        options_(options),
        reshuffles_(reshuffles),
        generator_(std::move(generator)) {}
  const char* type() const override { return "Shuffle"; }
  int64_t Cardinality() const override { return input().Cardinality(); }
  const ShuffleOptions& options() const { return options_; }
  bool reshuffles() const { return reshuffles_; }
  bool shares_seeds() const { return generator_ != nullptr; }
  void SaveSeeds(PositionWriter* writer) const override;
  DatasetPtr WithSavedSeeds(PositionReader* reader) const override;
  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override;

 private:
  ShuffleOptions options_;
  bool reshuffles_;
  std::shared_ptr<SeedGenerator> generator_;
};

}  // namespace stillflow
