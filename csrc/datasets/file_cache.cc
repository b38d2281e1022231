// Data sets that bring what their input brought the first time, from a file: a tensor bundle, as TensorFlow writes
// it.
//
// Component c of element e has the name "      e_c", e in seven places and c in as many as the largest has digits.
// The file appears when a pass has come to its end. A pass that is gone on with from a saved position leaves none.
#include "datasets/datasets.h"
#include "io/bundle_writer.h"
#include "io/checkpoint_reader.h"

namespace stillflow {
namespace {

constexpr int kElementDigits = 7;

std::string NameOf(int64_t element, size_t component, size_t component_count) {
  char text[64];
  const int digits = static_cast<int>(std::to_string(component_count - 1).size());
  std::snprintf(text, sizeof text, "%*lld_%*zu", kElementDigits, static_cast<long long>(element), digits, component);
  return text;
}

Status WriteElement(const Tuple& element, int64_t number, io::BundleWriter* writer) {
  for (size_t c = 0; c < element.size(); ++c) {
    const Tensor& tensor = element[c];
    io::TensorPart part;
    part.name = NameOf(number, c, element.size());
    part.dtype = tensor.dtype;
    part.dims = part.full_dims = io::Dims(tensor.dims, tensor.dims + tensor.rank);
    if (tensor.dtype == DType::kString) {
      const auto bytes_at = [&](int64_t i) {
        const StringCell* cell = Data<StringCell*>(tensor)[i];
        return cell == nullptr ? io::Bytes("", 0) : io::Bytes(cell->bytes, static_cast<size_t>(cell->size));
      };
      STILLFLOW_RETURN_IF_ERROR(writer->AddStrings(part, bytes_at));
    } else if (tensor.dtype == DType::kVariant || tensor.dtype == DType::kResource) {
      return Error(Code::kUnimplemented, "Elements of type %s cannot be kept in a file", Name(tensor.dtype));
    } else {
      STILLFLOW_RETURN_IF_ERROR(writer->Add(part, tensor.data, io::kSerial));
    }
  }
  return Status();
}

Status ReadComponent(const Services& services, const io::CheckpointReader& reader, const std::string& name,
                     Tensor* tensor) {
  const io::StoredTensor* stored = nullptr;
  io::TensorSlice all;
  STILLFLOW_RETURN_IF_ERROR(reader.Locate(name, "", &stored, &all));
  STILLFLOW_RETURN_IF_ERROR(reader.Check(name, all));
  Shape shape;
  if (stored->dims.size() > kMaxRank) return Error(Code::kDataLoss, "%s has too many dimensions", name.c_str());
  for (int64_t size : stored->dims) shape.Add(size);
  STILLFLOW_RETURN_IF_ERROR(Allocate(services, stored->dtype, shape, tensor));
  if (stored->dtype != DType::kString) return reader.Read(name, all, tensor->data, io::kSerial);
  return reader.ReadStrings(name, all, [&](int64_t i, io::Bytes value) {
    StringCell*& cell = MutableData<StringCell*>(*tensor)[i];
    cell = services.new_string(value.data, static_cast<int64_t>(value.size));
    return cell != nullptr;
  });
}

class FileCacheDataset final : public DatasetOf<FileCacheDataset> {
 public:
  FileCacheDataset(TupleSpec spec, DatasetPtr input, std::string path)
      : DatasetOf(std::move(spec), {std::move(input)}), path_(std::move(path)) {}
  const char* type() const override { return "FileCache"; }
  int64_t Cardinality() const override { return input().Cardinality(); }

  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    auto made = std::make_unique<It>(*this, place.Child(type()));
    STILLFLOW_RETURN_IF_ERROR(made->Start(context));
    *iterator = std::move(made);
    return Status();
  }

 private:
  // Reads the file if it is there; otherwise goes through the input, and writes it.
  class It final : public Iterator {
   public:
    It(const FileCacheDataset& dataset, Place place) : dataset_(dataset), place_(std::move(place)) {}

    Status Start(IteratorContext* context) {
      if (io::FileExists(io::IndexName(dataset_.path_))) return io::CheckpointReader::Open(dataset_.path_, &reader_);
      STILLFLOW_RETURN_IF_ERROR(dataset_.input().MakeIterator(context, place_, &input_));
      writer_ = std::make_unique<io::BundleWriter>();
      return Status();
    }

    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      *is_end = is_over_;
      if (is_over_) return Status();
      if (reader_ != nullptr) return ReadNext(*context->services, element, is_end);
      STILLFLOW_RETURN_IF_ERROR(input_->Next(context, element, is_end));
      is_over_ = *is_end;
      if (writer_ == nullptr) return Status();
      if (!is_open_) STILLFLOW_RETURN_IF_ERROR(writer_->Open(dataset_.path_));
      is_open_ = true;
      if (is_over_) return writer_->Finish();
      return WriteElement(*element, next_++, writer_.get());
    }

    Status Save(IteratorContext* context, PositionWriter* writer) override {
      writer->Bool(is_over_);
      writer->Int(next_);
      writer->Bool(input_ != nullptr);
      return input_ == nullptr ? Status() : input_->Save(context, writer);
    }
    Status Restore(IteratorContext* context, PositionReader* reader) override {
      is_over_ = reader->Bool();
      next_ = reader->IntIn(0, INT64_MAX);
      const bool was_writing = reader->Bool();
      STILLFLOW_RETURN_IF_ERROR(reader->status());
      if (!was_writing) {
        return reader_ != nullptr ? Status() : Error(Code::kNotFound, "%s; No such cache", dataset_.path_.c_str());
      }
      reader_.reset();
      writer_.reset();
      STILLFLOW_RETURN_IF_ERROR(dataset_.input().MakeIterator(context, place_, &input_));
      return input_->Restore(context, reader);
    }

   private:
    Status ReadNext(const Services& services, Tuple* element, bool* is_end) {
      const TupleSpec& spec = dataset_.spec();
      *is_end = is_over_ = reader_->Find(NameOf(next_, 0, spec.size())) == nullptr;
      if (is_over_) return Status();
      element->Reset(spec.size());
      for (size_t c = 0; c < spec.size(); ++c) {
        Tensor& tensor = (*element)[c];
        STILLFLOW_RETURN_IF_ERROR(ReadComponent(services, *reader_, NameOf(next_, c, spec.size()), &tensor));
        if (tensor.dtype != spec.types[c]) {
          return STILLFLOW_INVALID_ARGUMENT("The cache %s has a component of type %s where %s is expected",
                                            dataset_.path_.c_str(), Name(tensor.dtype), Name(spec.types[c]));
        }
      }
      ++next_;
      return Status();
    }

    const FileCacheDataset& dataset_;
    const Place place_;
    std::unique_ptr<io::CheckpointReader> reader_;
    IteratorPtr input_;
    std::unique_ptr<io::BundleWriter> writer_;
    bool is_open_ = false;
    int64_t next_ = 0;
    bool is_over_ = false;
  };

  std::string path_;
};

}  // namespace

DatasetPtr MakeFileCacheDataset(TupleSpec spec, DatasetPtr input, std::string path) {
  return std::make_shared<FileCacheDataset>(std::move(spec), std::move(input), std::move(path));
}

}  // namespace stillflow
