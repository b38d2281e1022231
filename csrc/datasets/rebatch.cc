// Data sets whose elements are parts of batches, one for each of so many replicas: rebatch.
#include <algorithm>

#include "datasets/datasets.h"

namespace stillflow {
namespace {

class RebatchDataset final : public DatasetOf<RebatchDataset> {
 public:
  RebatchDataset(TupleSpec spec, DatasetPtr input, int64_t parts)
      : DatasetOf(std::move(spec), {std::move(input)}), parts_(parts) {}
  const char* type() const override { return "Rebatch"; }
  int64_t Cardinality() const override { return RepeatedCount(input().Cardinality(), parts_); }

  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    return MakeOverInput<It>(context, place, iterator);
  }

 private:
  class It final : public Iterator {
   public:
    It(const RebatchDataset& dataset, IteratorPtr input) : dataset_(dataset), input_(std::move(input)) {}

    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      *is_end = false;
      if (part_ == 0) {
        STILLFLOW_RETURN_IF_ERROR(input_->Next(context, &batch_, is_end));
        if (*is_end) return Status();
        STILLFLOW_RETURN_IF_ERROR(CheckBatch());
      }
      element->Reset(batch_.size());
      for (size_t i = 0; i < batch_.size(); ++i) {
        STILLFLOW_RETURN_IF_ERROR(CopyPart(*context->services, batch_[i], &(*element)[i]));
      }
      part_ = (part_ + 1) % dataset_.parts_;
      return Status();
    }
    Status Save(IteratorContext* context, PositionWriter* writer) override {
      writer->Int(part_);
      if (part_ != 0) STILLFLOW_RETURN_IF_ERROR(writer->Element(batch_));
      return input_->Save(context, writer);
    }
    Status Restore(IteratorContext* context, PositionReader* reader) override {
      part_ = reader->IntIn(0, dataset_.parts_ - 1);
      if (part_ != 0) {
        STILLFLOW_RETURN_IF_ERROR(reader->Element(*context->services, dataset_.input().spec(), &batch_));
        STILLFLOW_RETURN_IF_ERROR(CheckBatch());
      }
      return input_->Restore(context, reader);
    }

   private:
    Status CheckBatch() const {
      for (size_t i = 0; i < batch_.size(); ++i) {
        if (batch_[i].rank == 0) {
          return STILLFLOW_INVALID_ARGUMENT(
              "Cannot rebatch dataset: All components must have at least one dimension. Perhaps your input dataset "
              "is "
              "not batched? Component %d is scalar.",
              static_cast<int>(i));
        }
      }
      return Status();
    }

    // Parts are of one size, the last ones smaller or empty; sizes of components may differ.
    Status CopyPart(const Services& services, const Tensor& whole, Tensor* part) const {
      const int64_t rows = whole.dims[0];
      const int64_t most = rows / dataset_.parts_ + (rows % dataset_.parts_ != 0 ? 1 : 0);
      const int64_t first = std::min(most * part_, rows);
      const int64_t count = std::min(most, rows - first);
      const int64_t row_size = rows == 0 ? 0 : whole.count / rows;
      Shape shape;
      shape.Add(count);
      for (int d = 1; d < whole.rank; ++d) shape.Add(whole.dims[d]);
      STILLFLOW_RETURN_IF_ERROR(Allocate(services, whole.dtype, shape, part));
      CopyElements(whole, first * row_size, count * row_size, part, 0);
      return Status();
    }

    const RebatchDataset& dataset_;
    const IteratorPtr input_;
    Tuple batch_;
    int64_t part_ = 0;  // the one that comes next
  };

  int64_t parts_;
};

}  // namespace

DatasetPtr MakeRebatchDataset(TupleSpec spec, DatasetPtr input, int64_t parts) {
  return std::make_shared<RebatchDataset>(std::move(spec), std::move(input), parts);
}

}  // namespace stillflow
