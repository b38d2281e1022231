// Data sets of several elements as one sparse tensor: dense_to_sparse_batch.
#include <algorithm>

#include "datasets/datasets.h"
#include "datasets/variant.h"

namespace stillflow {
namespace {

class SparseBatchDataset final : public DatasetOf<SparseBatchDataset> {
 public:
  SparseBatchDataset(TupleSpec spec, DatasetPtr input, int64_t batch_size, PartialShape row_shape)
      : DatasetOf(std::move(spec), {std::move(input)}), batch_size_(batch_size), row_shape_(row_shape) {}
  const char* type() const override { return "DenseToSparseBatch"; }
  int64_t Cardinality() const override { return BatchCount(input().Cardinality(), batch_size_, false); }
  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    return MakeOverInput<It>(context, place, iterator);
  }

 private:
  class It final : public Iterator {
   public:
    It(const SparseBatchDataset& dataset, IteratorPtr input) : dataset_(dataset), input_(std::move(input)) {}

    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      std::vector<Tuple> rows;
      Shape shape;
      shape.Add(0);
      for (int i = 0; i < dataset_.row_shape_.rank; ++i) shape.Add(std::max<int64_t>(0, dataset_.row_shape_.dims[i]));
      while (input_ != nullptr && shape.dims[0] < dataset_.batch_size_) {
        STILLFLOW_RETURN_IF_ERROR(context->CheckRun());
        Tuple row;
        bool is_input_over = false;
        STILLFLOW_RETURN_IF_ERROR(input_->Next(context, &row, &is_input_over));
        if (is_input_over) {
          input_.reset();
          break;
        }
        STILLFLOW_RETURN_IF_ERROR(Admit(row[0], &shape));
        ++shape.dims[0];
        rows.push_back(std::move(row));
      }
      *is_end = rows.empty();
      if (*is_end) return Status();
      return MakeSparse(*context->services, rows, shape, element);
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
    // Makes `shape`, that of the batch, as large as a row needs it where that is left open.
    Status Admit(const Tensor& row, Shape* shape) const {
      const PartialShape& allowed = dataset_.row_shape_;
      if (row.rank != allowed.rank) {
        return STILLFLOW_INVALID_ARGUMENT(
            "Input element had shape (%s) that is incompatible with the row shape (%s).", ShapeText(row).c_str(),
            TextOf(allowed).c_str());
      }
      for (int i = 0; i < row.rank; ++i) {
        if (allowed.dims[i] < 0) {
          shape->dims[i + 1] = std::max(shape->dims[i + 1], row.dims[i]);
        } else if (row.dims[i] > allowed.dims[i]) {
          return Error(Code::kDataLoss, "Input element had shape (%s) that is larger than the row shape (%s).",
                       ShapeText(row).c_str(), TextOf(allowed).c_str());
        }
      }
      return Status();
    }

    // The indices, values and shape of a sparse tensor of the rows, as the elements of a variant tensor.
    static Status MakeSparse(const Services& services, const std::vector<Tuple>& rows, const Shape& shape,
                             Tuple* element) {
      int64_t total = 0;
      for (const Tuple& row : rows) total += row[0].count;
      Tuple parts(3);
      Shape indices;
      indices.Add(total);
      indices.Add(shape.rank);
      Shape values;
      values.Add(total);
      Shape sizes;
      sizes.Add(shape.rank);
      STILLFLOW_RETURN_IF_ERROR(Allocate(services, DType::kInt64, indices, &parts[0]));
      STILLFLOW_RETURN_IF_ERROR(Allocate(services, rows[0][0].dtype, values, &parts[1]));
      STILLFLOW_RETURN_IF_ERROR(Allocate(services, DType::kInt64, sizes, &parts[2]));
      auto* index = MutableData<int64_t>(parts[0]);
      int64_t at = 0;
      for (size_t r = 0; r < rows.size(); ++r) {
        const Tensor& row = rows[r][0];
        CopyElements(row, 0, row.count, &parts[1], at);
        at += row.count;
        for (int64_t i = 0; i < row.count; ++i, index += shape.rank) {
          index[0] = static_cast<int64_t>(r);
          int64_t left = i;
          for (int d = row.rank; d > 0; left /= row.dims[--d]) index[d] = left % row.dims[d - 1];
        }
      }
      std::copy_n(shape.dims, shape.rank, MutableData<int64_t>(parts[2]));
      Shape three;
      three.Add(3);
      element->Reset(1);
      STILLFLOW_RETURN_IF_ERROR(Allocate(services, DType::kVariant, three, &(*element)[0]));
      for (int i = 0; i < 3; ++i) {
        MutableData<Variant*>((*element)[0])[i] = new TensorVariant(parts[i]);
        parts[i].buffer = nullptr;  // which the variant owns now
      }
      return Status();
    }

    const SparseBatchDataset& dataset_;
    IteratorPtr input_;  // null when it is over
  };

  int64_t batch_size_;
  PartialShape row_shape_;
};

}  // namespace

DatasetPtr MakeSparseBatchDataset(TupleSpec spec, DatasetPtr input, int64_t batch_size, PartialShape row_shape) {
  return std::make_shared<SparseBatchDataset>(std::move(spec), std::move(input), batch_size, row_shape);
}

}  // namespace stillflow
