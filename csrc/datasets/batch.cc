// Data sets that bring several elements as one: batch.
#include <algorithm>

#include "datasets/functional.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerCheck = 64;
constexpr int64_t kFirstRows = 1024;

// A tensor of rows that come one after the other. It has room for more rows than it has: how many will come is not
// known, and may be far fewer than were asked for.
class Rows {
 public:
  // `first` says what rows look like.
  Status Start(const Services& services, const Tensor& first, int64_t capacity) {
    if (first.rank == kMaxRank) return STILLFLOW_INVALID_ARGUMENT("A batch would have too many dimensions");
    row_ = Shape(first);
    row_count_ = first.count;
    tensor_.Reset(1);
    return AllocateRows(services, first.dtype, capacity, &tensor_[0]);
  }

  bool Fits(const Tensor& row) const { return Shape(row) == row_; }
  const Shape& row_shape() const { return row_; }

  Status Add(const Services& services, const Tensor& row, int64_t index) {
    Tensor& all = tensor_[0];
    if (index == all.dims[0]) {
      Tuple larger(1);
      STILLFLOW_RETURN_IF_ERROR(AllocateRows(services, all.dtype, 2 * index, &larger[0]));
      CopyElements(all, 0, all.count, &larger[0], 0);
      tensor_ = std::move(larger);
    }
    CopyElements(row, 0, row_count_, &tensor_[0], index * row_count_);
    return Status();
  }

  // The rows that there are.
  void Finish(int64_t count, Tensor* batch) {
    std::swap(*batch, tensor_[0]);
    batch->dims[0] = count;
    batch->count = count * row_count_;
  }

 private:
  Status AllocateRows(const Services& services, DType dtype, int64_t count, Tensor* tensor) const {
    Shape shape;
    shape.Add(count);
    for (int i = 0; i < row_.rank; ++i) shape.Add(row_.dims[i]);
    return Allocate(services, dtype, shape, tensor);
  }

  Shape row_;
  int64_t row_count_ = 0;
  Tuple tensor_{1};
};

class BatchDataset final : public DatasetOf<BatchDataset> {
 public:
  BatchDataset(TupleSpec spec, DatasetPtr input, int64_t batch_size, bool drops_remainder, bool is_of_results)
      : DatasetOf(std::move(spec), {std::move(input)}),
        batch_size_(batch_size),
        drops_remainder_(drops_remainder),
        is_of_results_(is_of_results) {}
  const char* type() const override { return is_of_results_ ? "MapAndBatch" : "BatchV2"; }
  int64_t batch_size() const { return batch_size_; }
  // The same of the results of a map with other options.
  DatasetPtr OfResults(const MapOptions& options) const {
    return std::make_shared<BatchDataset>(spec(), WithMapOptions(input(), options), batch_size_, drops_remainder_,
                                          true);
  }
  int64_t Cardinality() const override { return BatchCount(input().Cardinality(), batch_size_, drops_remainder_); }

  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    return MakeOverInput<It>(context, place, iterator);
  }

 private:
  class It final : public Iterator {
   public:
    It(const BatchDataset& dataset, IteratorPtr input)
        : dataset_(dataset), input_(std::move(input)), components_(dataset.input().spec().size()) {}

    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      *is_end = true;
      if (input_ == nullptr) return Status();
      int64_t count = 0;
      Status failure;  // the first of the batch, of which the other results are made all the same
      for (; count < dataset_.batch_size_; ++count) {
        if (count % kElementsPerCheck == 0) STILLFLOW_RETURN_IF_ERROR(context->CheckRun());
        bool is_input_over = false;
        Status status = TakeRow(context, count, failure.ok(), &is_input_over);
        if (!status.ok()) {
          if (!dataset_.is_of_results_ || status.code() == Code::kCancelled) return status;
          if (failure.ok()) failure = std::move(status);
        }
        if (is_input_over) {
          input_.reset();
          break;
        }
      }
      if (!failure.ok()) {
        row_.Reset(0);
        return failure;
      }
      row_.Reset(0);
      *is_end = count == 0 || (dataset_.drops_remainder_ && count < dataset_.batch_size_);
      if (*is_end) return Status();
      element->Reset(components_.size());
      for (size_t i = 0; i < components_.size(); ++i) components_[i].Finish(count, &(*element)[i]);
      return Status();
    }
    Status Save(IteratorContext* context, PositionWriter* writer) override {
      writer->Bool(input_ != nullptr);
      return input_ == nullptr ? Status() : input_->Save(context, writer);
    }
    Status Restore(IteratorContext* context, PositionReader* reader) override {
      if (reader->Bool()) return input_->Restore(context, reader);
      input_.reset();
      return reader->status();
    }

   private:
    // The next row; it is put into the batch if that `is_sound` so far.
    Status TakeRow(IteratorContext* context, int64_t index, bool is_sound, bool* is_input_over) {
      STILLFLOW_RETURN_IF_ERROR(input_->Next(context, &row_, is_input_over));
      if (*is_input_over || !is_sound) return Status();
      if (index == 0) STILLFLOW_RETURN_IF_ERROR(Start(*context->services));
      return Add(*context->services, index);
    }

    Status Start(const Services& services) {
      const int64_t capacity = std::min(dataset_.batch_size_, kFirstRows);
      for (size_t i = 0; i < components_.size(); ++i) {
        STILLFLOW_RETURN_IF_ERROR(components_[i].Start(services, row_[i], capacity));
      }
      return Status();
    }

    Status Add(const Services& services, int64_t index) {
      for (size_t i = 0; i < components_.size(); ++i) {
        if (!components_[i].Fits(row_[i]) && dataset_.is_of_results_) {
          return STILLFLOW_INVALID_ARGUMENT(
              "Cannot add tensor to the batch: number of elements does not match. Shapes are: [tensor]: %s, [batch]: "
              "%s",
              ShapeText(row_[i]).c_str(), ShapeText(components_[i].row_shape()).c_str());
        }
        if (!components_[i].Fits(row_[i])) {
          return STILLFLOW_INVALID_ARGUMENT(
              "Cannot batch tensors with different shapes in component %d. First element had shape %s and element "
              "%lld had shape %s.",
              static_cast<int>(i), ShapeText(components_[i].row_shape()).c_str(), static_cast<long long>(index),
              ShapeText(row_[i]).c_str());
        }
        STILLFLOW_RETURN_IF_ERROR(components_[i].Add(services, row_[i], index));
      }
      return Status();
    }

    const BatchDataset& dataset_;
    IteratorPtr input_;  // null when it is over
    std::vector<Rows> components_;
    Tuple row_;
  };

  int64_t batch_size_;
  bool drops_remainder_;
  bool is_of_results_;  // of a function, which is called for all elements of a batch, whether or not one fails
};

bool IsStatic(const PartialShape& shape, int first_dim) {
  if (shape.rank < first_dim) return false;
  return std::all_of(shape.dims + first_dim, shape.dims + shape.rank, [](int64_t size) { return size >= 0; });
}

bool IsStatic(const TupleSpec& spec, int first_dim) {
  return std::all_of(spec.shapes.begin(), spec.shapes.end(),
                     [&](const PartialShape& shape) { return IsStatic(shape, first_dim); });
}

}  // namespace

DatasetPtr FuseMapAndBatch(const Dataset& dataset) {
  const auto* batch = dynamic_cast<const BatchDataset*>(&dataset);
  const MapOptions* const options = batch == nullptr ? nullptr : MapOptionsOf(batch->input());
  return options == nullptr ? nullptr : batch->OfResults(*options);
}

DatasetPtr VectorizeMap(const Dataset& dataset, bool chooses) {
  const auto* batch = dynamic_cast<const BatchDataset*>(&dataset);
  const MapOptions* const options = batch == nullptr ? nullptr : MapOptionsOf(batch->input());
  if (options == nullptr || IsStatefulMap(batch->input())) return nullptr;
  const DatasetPtr& source = batch->input().inputs()[0];
  if (!IsStatic(source->spec(), 0) || !IsStatic(batch->spec(), 1)) return nullptr;
  MapOptions whole_batch = *options;
  whole_batch.parallel_calls = std::max(options->parallel_calls, std::min(batch->batch_size(), kFirstRows));
  DatasetPtr vectorized = batch->OfResults(whole_batch);
  if (!chooses) return vectorized;
  const BranchOptions trial{batch->batch_size(), 1, 1};
  return MakeChooseFastestBranchDataset(batch->spec(), source, {std::move(vectorized), batch->shared_from_this()},
                                        trial);
}

DatasetPtr MakeBatchDataset(TupleSpec spec, DatasetPtr input, int64_t batch_size, bool drops_remainder) {
  return std::make_shared<BatchDataset>(std::move(spec), std::move(input), batch_size, drops_remainder, false);
}

DatasetPtr MakeResultBatchDataset(TupleSpec spec, DatasetPtr results, int64_t batch_size, bool drops_remainder) {
  return std::make_shared<BatchDataset>(std::move(spec), std::move(results), batch_size, drops_remainder, true);
}

}  // namespace stillflow
