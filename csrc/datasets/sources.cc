// Data sets that bring what they have been given: tensors, their rows, numbers, elements.
#include "datasets/datasets.h"

namespace stillflow {
namespace {

// Data sets of tensors are shared, so a copy of one refers to the same tensors.
using Shared = std::shared_ptr<const Tuple>;

void VisitAll(const Tuple& tuple, const std::function<void(const Tensor&)>& visit) {
  for (size_t i = 0; i < tuple.size(); ++i) visit(tuple[i]);
}

void ShareElement(const Tuple& from, Tuple* element) {
  element->Reset(from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    (*element)[i] = from[i];
    Retain(from[i].buffer);
  }
}

// Counts the elements that have been brought, of a number that is known.
class CountingIterator : public Iterator {
 public:
  explicit CountingIterator(int64_t count) : count_(count) {}
  Status Save(IteratorContext*, PositionWriter* writer) override {
    writer->Int(next_);
    return Status();
  }
  Status Restore(IteratorContext*, PositionReader* reader) override {
    next_ = reader->IntIn(0, INT64_MAX);
    if (next_ > count_) reader->Fail();
    return reader->status();
  }

 protected:
  const int64_t count_;
  int64_t next_ = 0;
};

// ---- One element --------------------------------------------------------------------------------------------------

class TensorDataset final : public DatasetOf<TensorDataset> {
 public:
  TensorDataset(TupleSpec spec, Tuple components)
      : DatasetOf(std::move(spec)), components_(std::make_shared<const Tuple>(std::move(components))) {}
  const char* type() const override { return "Tensor"; }
  int64_t Cardinality() const override { return 1; }
  void VisitTensors(const std::function<void(const Tensor&)>& visit) const override { VisitAll(*components_, visit); }

  Status MakeIterator(IteratorContext*, const Place&, IteratorPtr* iterator) const override {
    *iterator = std::make_unique<It>(*components_);
    return Status();
  }

 private:
  class It final : public CountingIterator {
   public:
    explicit It(const Tuple& components) : CountingIterator(1), components_(components) {}
    Status Next(IteratorContext*, Tuple* element, bool* is_end) override {
      *is_end = next_ == count_;
      if (*is_end) return Status();
      ++next_;
      ShareElement(components_, element);
      return Status();
    }

   private:
    const Tuple& components_;
  };

  Shared components_;
};

// ---- Rows ---------------------------------------------------------------------------------------------------------

class SliceDataset final : public DatasetOf<SliceDataset> {
 public:
  SliceDataset(TupleSpec spec, Tuple components)
      : DatasetOf(std::move(spec)), components_(std::make_shared<const Tuple>(std::move(components))) {}
  const char* type() const override { return "TensorSlice"; }
  int64_t Cardinality() const override { return (*components_)[0].dims[0]; }
  void VisitTensors(const std::function<void(const Tensor&)>& visit) const override { VisitAll(*components_, visit); }

  Status MakeIterator(IteratorContext*, const Place&, IteratorPtr* iterator) const override {
    *iterator = std::make_unique<It>(*components_);
    return Status();
  }

 private:
  // Elements are views of the rows: nothing is copied until somebody puts them together.
  class It final : public CountingIterator {
   public:
    explicit It(const Tuple& components) : CountingIterator(components[0].dims[0]), components_(components) {}
    Status Next(IteratorContext*, Tuple* element, bool* is_end) override {
      *is_end = next_ == count_;
      if (*is_end) return Status();
      element->Reset(components_.size());
      for (size_t i = 0; i < components_.size(); ++i) {
        const Tensor& from = components_[i];
        Tensor& row = (*element)[i];
        row.count = from.count / count_;
        row.data = static_cast<char*>(from.data) + next_ * row.count * ElementBytes(from.dtype);
        row.buffer = from.buffer;
        row.dtype = from.dtype;
        row.rank = from.rank - 1;
        for (int d = 0; d < row.rank; ++d) row.dims[d] = from.dims[d + 1];
        Retain(from.buffer);
      }
      ++next_;
      return Status();
    }

   private:
    const Tuple& components_;
  };

  Shared components_;
};

// ---- Numbers ------------------------------------------------------------------------------------------------------

class RangeDataset final : public DatasetOf<RangeDataset> {
 public:
  RangeDataset(TupleSpec spec, int64_t start, int64_t stop, int64_t step)
      : DatasetOf(std::move(spec)), start_(start), stop_(stop), step_(step) {}
  const char* type() const override { return "Range"; }
  int64_t Cardinality() const override {
    const bool is_up = step_ > 0;
    if (is_up ? start_ >= stop_ : start_ <= stop_) return 0;
    // Unsigned, as the distance of two numbers need not be one of their type.
    const auto first = static_cast<uint64_t>(start_);
    const auto last = static_cast<uint64_t>(stop_);
    const auto step = static_cast<uint64_t>(step_);
    const uint64_t distance = is_up ? last - first : first - last;
    return static_cast<int64_t>((distance - 1) / (is_up ? step : 0 - step) + 1);
  }

  Status MakeIterator(IteratorContext*, const Place&, IteratorPtr* iterator) const override {
    *iterator = std::make_unique<It>(*this);
    return Status();
  }

 private:
  // Numbers are made some at a time, in memory that their elements share.
  class It final : public Iterator {
   public:
    explicit It(const RangeDataset& range) : range_(range), next_(range.start_), block_(1) {}

    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      *is_end = is_over_ || (range_.step_ > 0 ? next_ >= range_.stop_ : next_ <= range_.stop_);
      if (*is_end) return Status();
      if (used_ == kBlock) {
        Shape shape;
        shape.Add(kBlock);
        block_.Reset(1);
        STILLFLOW_RETURN_IF_ERROR(Allocate(*context->services, DType::kInt64, shape, &block_[0]));
        used_ = 0;
      }
      auto* cell = MutableData<int64_t>(block_[0]) + used_++;
      *cell = next_;
      element->Reset(1);
      Tensor& number = (*element)[0];
      number.data = cell;
      number.buffer = block_[0].buffer;
      number.count = 1;
      number.dtype = DType::kInt64;
      number.rank = 0;
      Retain(number.buffer);
      is_over_ = __builtin_add_overflow(next_, range_.step_, &next_);
      return Status();
    }

    Status Save(IteratorContext*, PositionWriter* writer) override {
      writer->Int(next_);
      writer->Bool(is_over_);
      return Status();
    }
    Status Restore(IteratorContext*, PositionReader* reader) override {
      next_ = reader->Int();
      is_over_ = reader->Bool();
      return reader->status();
    }

   private:
    static constexpr int kBlock = 64;

    const RangeDataset& range_;
    int64_t next_;
    bool is_over_ = false;
    Tuple block_;
    int used_ = kBlock;
  };

  int64_t start_;
  int64_t stop_;
  int64_t step_;
};

// ---- Given elements -----------------------------------------------------------------------------------------------

class ElementsDataset final : public DatasetOf<ElementsDataset> {
 public:
  ElementsDataset(TupleSpec spec, std::vector<Tuple> elements)
      : DatasetOf(std::move(spec)), elements_(std::make_shared<std::vector<Tuple>>(std::move(elements))) {}
  const char* type() const override { return "Elements"; }
  int64_t Cardinality() const override { return static_cast<int64_t>(elements_->size()); }
  const std::vector<Tuple>& elements() const { return *elements_; }

  Status MakeIterator(IteratorContext*, const Place&, IteratorPtr* iterator) const override {
    *iterator = std::make_unique<It>(*elements_);
    return Status();
  }

 private:
  class It final : public CountingIterator {
   public:
    explicit It(const std::vector<Tuple>& elements)
        : CountingIterator(static_cast<int64_t>(elements.size())), elements_(elements) {}
    Status Next(IteratorContext*, Tuple* element, bool* is_end) override {
      *is_end = next_ == count_;
      if (!*is_end) ShareElement(elements_[next_++], element);
      return Status();
    }

   private:
    const std::vector<Tuple>& elements_;
  };

  std::shared_ptr<const std::vector<Tuple>> elements_;
};

}  // namespace

DatasetPtr MakeTensorDataset(TupleSpec spec, Tuple components) {
  return std::make_shared<TensorDataset>(std::move(spec), std::move(components));
}

DatasetPtr MakeSliceDataset(TupleSpec spec, Tuple components) {
  return std::make_shared<SliceDataset>(std::move(spec), std::move(components));
}

DatasetPtr MakeRangeDataset(TupleSpec spec, int64_t start, int64_t stop, int64_t step) {
  return std::make_shared<RangeDataset>(std::move(spec), start, stop, step);
}

DatasetPtr MakeElementsDataset(TupleSpec spec, std::vector<Tuple> elements) {
  return std::make_shared<ElementsDataset>(std::move(spec), std::move(elements));
}

const std::vector<Tuple>* ElementsOf(const Dataset& dataset) {
  const auto* found = dynamic_cast<const ElementsDataset*>(&dataset);
  return found == nullptr ? nullptr : &found->elements();
}

}  // namespace stillflow
