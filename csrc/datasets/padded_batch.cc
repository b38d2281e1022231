// padded_batch_dataset: batches of elements padded to one shape.
#include <algorithm>

#include "datasets/datasets.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerCheck = 64;

using Elements = std::vector<Tuple>;

// The shape of a batch of the component: each size is what the padded shape says, or that of the largest.
Status PaddedShape(const Elements& elements, size_t component, const PartialShape& padded, Shape* shape) {
  if (padded.rank == kMaxRank) return STILLFLOW_INVALID_ARGUMENT("A batch would have too many dimensions");
  shape->Add(static_cast<int64_t>(elements.size()));
  for (int d = 0; d < padded.rank; ++d) shape->Add(std::max<int64_t>(padded.dims[d], 0));
  for (const Tuple& element : elements) {
    const Tensor& tensor = element[component];
    if (tensor.rank != padded.rank) {
      return STILLFLOW_INVALID_ARGUMENT(
          "All elements in a batch must have the same rank as the padded shape for component%d: expected rank %d but "
          "got element with rank %d",
          static_cast<int>(component), padded.rank, tensor.rank);
    }
    for (int d = 0; d < padded.rank; ++d) {
      int64_t& size = shape->dims[d + 1];
      if (padded.dims[d] < 0) {
        size = std::max(size, tensor.dims[d]);
      } else if (tensor.dims[d] > size) {
        return Error(Code::kDataLoss,
                     "Attempted to pad to a smaller size than the input element, whose dimension %d is %lld.", d,
                     static_cast<long long>(tensor.dims[d]));
      }
    }
  }
  return Status();
}

void Fill(const Tensor& value, Tensor* tensor) {
  const int64_t bytes = ElementBytes(tensor->dtype);
  auto* to = static_cast<char*>(tensor->data);
  for (int64_t i = 0; i < tensor->count; ++i) std::memcpy(to + i * bytes, value.data, bytes);
  RetainStrings(*tensor);
}

// Puts an element, whose size along each dimension is at most the batch's, into the corner of its row. Strings that
// were there are released.
void CopyToRow(const Tensor& from, int64_t row, Tensor* batch) {
  if (from.count == 0) return;
  const int64_t width = from.rank == 0 ? 1 : from.dims[from.rank - 1];
  const int64_t row_count = batch->count / batch->dims[0];
  int64_t index[kMaxRank] = {};
  for (int64_t done = 0; done < from.count; done += width) {
    int64_t offset = 0;
    for (int d = 0; d + 1 < from.rank; ++d) offset = (offset + index[d]) * batch->dims[d + 2];
    const int64_t begin = row * row_count + offset;
    if (HasCells(batch->dtype)) {
      for (int64_t i = 0; i < width; ++i) {
        StringCell* cell = MutableData<StringCell*>(*batch)[begin + i];
        if (cell != nullptr) cell->references.fetch_sub(1, std::memory_order_relaxed);  // the padding keeps it
      }
    }
    CopyElements(from, done, width, batch, begin);
    for (int d = from.rank - 2; d >= 0 && ++index[d] == from.dims[d]; --d) index[d] = 0;
  }
}

class PaddedBatchDataset final : public DatasetOf<PaddedBatchDataset> {
 public:
  PaddedBatchDataset(TupleSpec spec, DatasetPtr input, int64_t batch_size, std::vector<PartialShape> padded_shapes,
                     Tuple padding, bool drops_remainder)
      : DatasetOf(std::move(spec), {std::move(input)}),
        batch_size_(batch_size),
        padded_shapes_(std::move(padded_shapes)),
        padding_(std::make_shared<const Tuple>(std::move(padding))),
        drops_remainder_(drops_remainder) {}
  const char* type() const override { return "PaddedBatchV2"; }
  int64_t Cardinality() const override { return BatchCount(input().Cardinality(), batch_size_, drops_remainder_); }

  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    return MakeOverInput<It>(context, place, iterator);
  }

 private:
  class It final : public Iterator {
   public:
    It(const PaddedBatchDataset& dataset, IteratorPtr input) : dataset_(dataset), input_(std::move(input)) {}

    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      Elements elements;
      STILLFLOW_RETURN_IF_ERROR(Collect(context, &elements));
      const auto count = static_cast<int64_t>(elements.size());
      *is_end = count == 0 || (dataset_.drops_remainder_ && count < dataset_.batch_size_);
      if (*is_end) return Status();
      element->Reset(dataset_.padded_shapes_.size());
      for (size_t c = 0; c < element->size(); ++c) {
        Shape shape;
        STILLFLOW_RETURN_IF_ERROR(PaddedShape(elements, c, dataset_.padded_shapes_[c], &shape));
        const Tensor& padding = (*dataset_.padding_)[c];
        Tensor& batch = (*element)[c];
        STILLFLOW_RETURN_IF_ERROR(Allocate(*context->services, padding.dtype, shape, &batch));
        Fill(padding, &batch);
        for (int64_t row = 0; row < count; ++row) CopyToRow(elements[row][c], row, &batch);
      }
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
    Status Collect(IteratorContext* context, Elements* elements) {
      while (input_ != nullptr && static_cast<int64_t>(elements->size()) < dataset_.batch_size_) {
        if (elements->size() % kElementsPerCheck == 0) STILLFLOW_RETURN_IF_ERROR(context->CheckRun());
        elements->emplace_back();
        bool is_input_over = false;
        STILLFLOW_RETURN_IF_ERROR(input_->Next(context, &elements->back(), &is_input_over));
        if (is_input_over) {
          elements->pop_back();
          input_.reset();
        }
      }
      return Status();
    }

    const PaddedBatchDataset& dataset_;
    IteratorPtr input_;  // null when it is over
  };

  int64_t batch_size_;
  std::vector<PartialShape> padded_shapes_;
  std::shared_ptr<const Tuple> padding_;
  bool drops_remainder_;
};

}  // namespace

DatasetPtr MakePaddedBatchDataset(TupleSpec spec, DatasetPtr input, int64_t batch_size,
                                  std::vector<PartialShape> padded_shapes, Tuple padding, bool drops_remainder) {
  return std::make_shared<PaddedBatchDataset>(std::move(spec), std::move(input), batch_size, std::move(padded_shapes),
                                              std::move(padding), drops_remainder);
}

}  // namespace stillflow
