// take, skip and shard data sets.
#include "datasets/datasets.h"
#include "datasets/kinds.h"

namespace stillflow {
namespace {

// ---- Take ---------------------------------------------------------------------------------------------------------

class TakeIterator final : public Iterator {
 public:
  TakeIterator(int64_t count, IteratorPtr input) : count_(count), input_(std::move(input)) {}

  Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
    *is_end = count_ >= 0 && taken_ >= count_;
    if (*is_end) return Status();
    STILLFLOW_RETURN_IF_ERROR(input_->Next(context, element, is_end));
    if (!*is_end) ++taken_;
    return Status();
  }
  Status Save(IteratorContext* context, PositionWriter* writer) override {
    writer->Int(taken_);
    return input_->Save(context, writer);
  }
  Status Restore(IteratorContext* context, PositionReader* reader) override {
    taken_ = reader->IntIn(0, INT64_MAX);
    return input_->Restore(context, reader);
  }

 private:
  const int64_t count_;
  const IteratorPtr input_;
  int64_t taken_ = 0;
};

// ---- Skip ---------------------------------------------------------------------------------------------------------

class SkipIterator final : public Iterator {
 public:
  SkipIterator(int64_t count, IteratorPtr input) : count_(count), input_(std::move(input)) {}

  Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
    *is_end = count_ < 0;
    if (*is_end) return Status();
    while (skipped_ < count_) {
      STILLFLOW_RETURN_IF_ERROR(context->CheckRun());
      STILLFLOW_RETURN_IF_ERROR(input_->Next(context, element, is_end));
      if (*is_end) return Status();
      ++skipped_;
    }
    return input_->Next(context, element, is_end);
  }
  Status Save(IteratorContext* context, PositionWriter* writer) override {
    writer->Int(skipped_);
    return input_->Save(context, writer);
  }
  Status Restore(IteratorContext* context, PositionReader* reader) override {
    skipped_ = reader->IntIn(0, INT64_MAX);
    return input_->Restore(context, reader);
  }

 private:
  const int64_t count_;
  const IteratorPtr input_;
  int64_t skipped_ = 0;
};

// ---- Shard --------------------------------------------------------------------------------------------------------

class ShardDataset final : public DatasetOf<ShardDataset> {
 public:
  ShardDataset(TupleSpec spec, DatasetPtr input, int64_t shard_count, int64_t index, bool requires_element)
      : DatasetOf(std::move(spec), {std::move(input)}),
        shard_count_(shard_count),
        index_(index),
        requires_element_(requires_element) {}
  const char* type() const override { return "Shard"; }
  int64_t Cardinality() const override {
    const int64_t elements = input().Cardinality();
    return elements < 0 ? elements : elements / shard_count_ + (index_ < elements % shard_count_ ? 1 : 0);
  }

  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    return MakeOverInput<It>(context, place, iterator);
  }

 private:
  class It final : public Iterator {
   public:
    It(const ShardDataset& shard, IteratorPtr input) : shard_(shard), input_(std::move(input)) {}

    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      for (;;) {
        STILLFLOW_RETURN_IF_ERROR(context->CheckRun());
        STILLFLOW_RETURN_IF_ERROR(input_->Next(context, element, is_end));
        if (*is_end) return Status();
        const bool is_ours = turn_ == shard_.index_;
        turn_ = turn_ + 1 == shard_.shard_count_ ? 0 : turn_ + 1;
        if (is_ours) return is_first_ && shard_.requires_element_ ? SkipFirstOfOthers(context) : Status();
      }
    }
    Status Save(IteratorContext* context, PositionWriter* writer) override {
      writer->Int(turn_);
      writer->Bool(is_first_);
      return input_->Save(context, writer);
    }
    Status Restore(IteratorContext* context, PositionReader* reader) override {
      turn_ = reader->IntIn(0, shard_.shard_count_ - 1);
      is_first_ = reader->Bool();
      return input_->Restore(context, reader);
    }

   private:
    // The elements of the first round that are behind ours.
    Status SkipFirstOfOthers(IteratorContext* context) {
      is_first_ = false;
      Tuple skipped;
      for (; turn_ != 0; turn_ = turn_ + 1 == shard_.shard_count_ ? 0 : turn_ + 1) {
        bool is_over = false;
        STILLFLOW_RETURN_IF_ERROR(context->CheckRun());
        STILLFLOW_RETURN_IF_ERROR(input_->Next(context, &skipped, &is_over));
        if (is_over) {
          return STILLFLOW_INVALID_ARGUMENT(
              "There aren't enough elements in this dataset for each shard to have at least one element (# elems = "
              "%lld, # shards = %lld). If you are using datasets with distribution strategy, consider turning "
              "dataset "
              "autosharding off with `tf.data.Options`.",
              static_cast<long long>(turn_), static_cast<long long>(shard_.shard_count_));
        }
      }
      return Status();
    }

    const ShardDataset& shard_;
    const IteratorPtr input_;
    int64_t turn_ = 0;
    bool is_first_ = true;  // whether no element of ours has come yet
  };

  int64_t shard_count_;
  int64_t index_;
  bool requires_element_;
};

}  // namespace

Status TakeDataset::MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const {
  IteratorPtr input;
  STILLFLOW_RETURN_IF_ERROR(this->input().MakeIterator(context, place.Child(type()), &input));
  *iterator = std::make_unique<TakeIterator>(count_, std::move(input));
  return Status();
}

Status SkipDataset::MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const {
  IteratorPtr input;
  STILLFLOW_RETURN_IF_ERROR(this->input().MakeIterator(context, place.Child(type()), &input));
  *iterator = std::make_unique<SkipIterator>(count_, std::move(input));
  return Status();
}

DatasetPtr MakeTakeDataset(TupleSpec spec, DatasetPtr input, int64_t count) {
  return std::make_shared<TakeDataset>(std::move(spec), std::move(input), count);
}

DatasetPtr MakeSkipDataset(TupleSpec spec, DatasetPtr input, int64_t count) {
  return std::make_shared<SkipDataset>(std::move(spec), std::move(input), count);
}

DatasetPtr MakeShardDataset(TupleSpec spec, DatasetPtr input, int64_t shard_count, int64_t index,
                            bool requires_element) {
  return std::make_shared<ShardDataset>(std::move(spec), std::move(input), shard_count, index, requires_element);
}

}  // namespace stillflow
