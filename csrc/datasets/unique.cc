// Data sets of the elements of others that have not come before: unique.
#include <set>

#include "datasets/datasets.h"

namespace stillflow {
namespace {

// The shape and the values of an int32, int64 or string tensor: equal for equal tensors alone.
std::string KeyOf(const Tensor& tensor) {
  std::string key = ShapeText(tensor).c_str();
  if (tensor.dtype != DType::kString) {
    key.append(static_cast<const char*>(tensor.data), tensor.count * ElementBytes(tensor.dtype));
    return key;
  }
  for (int64_t i = 0; i < tensor.count; ++i) {
    const StringCell* cell = Data<StringCell*>(tensor)[i];
    const int64_t size = cell == nullptr ? 0 : cell->size;
    key += std::to_string(size) + ":";
    if (size > 0) key.append(cell->bytes, size);
  }
  return key;
}

class UniqueDataset final : public DatasetOf<UniqueDataset> {
 public:
  UniqueDataset(TupleSpec spec, DatasetPtr input) : DatasetOf(std::move(spec), {std::move(input)}) {}
  const char* type() const override { return "Unique"; }
  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    IteratorPtr input;
    STILLFLOW_RETURN_IF_ERROR(this->input().MakeIterator(context, place.Child(type()), &input));
    *iterator = std::make_unique<It>(std::move(input));
    return Status();
  }

 private:
  class It final : public Iterator {
   public:
    explicit It(IteratorPtr input) : input_(std::move(input)) {}

    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      for (;;) {
        STILLFLOW_RETURN_IF_ERROR(context->CheckRun());
        STILLFLOW_RETURN_IF_ERROR(input_->Next(context, element, is_end));
        if (*is_end || seen_.insert(KeyOf((*element)[0])).second) return Status();
      }
    }
    Status Save(IteratorContext* context, PositionWriter* writer) override {
      writer->Int(static_cast<int64_t>(seen_.size()));
      for (const std::string& key : seen_) writer->String(key);
      return input_->Save(context, writer);
    }
    Status Restore(IteratorContext* context, PositionReader* reader) override {
      for (int64_t left = reader->Count(); left > 0 && reader->ok(); --left) seen_.insert(reader->String());
      return input_->Restore(context, reader);
    }

   private:
    const IteratorPtr input_;
    std::set<std::string> seen_;
  };
};

}  // namespace

DatasetPtr MakeUniqueDataset(TupleSpec spec, DatasetPtr input) {
  return std::make_shared<UniqueDataset>(std::move(spec), std::move(input));
}

}  // namespace stillflow
