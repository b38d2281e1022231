#include "datasets/position.h"

#include "datasets/datasets.h"
#include "datasets/variant.h"

namespace stillflow {
namespace {

enum ValueForm { kWhole, kPart };
enum VariantForm { kEmpty, kTensor, kElements };
constexpr int kMostDepth = 8;

void AppendShape(const Tensor& tensor, PositionWriter* writer) {
  writer->Int(tensor.rank);
  for (int i = 0; i < tensor.rank; ++i) writer->Int(tensor.dims[i]);
}

bool ReadShape(PositionReader* reader, Shape* shape) {
  const int64_t rank = reader->IntIn(0, kMaxRank);
  for (int i = 0; i < rank; ++i) shape->Add(reader->IntIn(0, INT64_MAX));
  int64_t count = 0;
  return reader->ok() && CheckedCount(*shape, &count).ok();
}

Status WriteVariant(const Tensor& tensor, int64_t index, PositionWriter* writer) {
  if (Data<Variant*>(tensor)[index] == nullptr) {
    writer->Int(kEmpty);
    return Status();
  }
  if (const auto* held = VariantAt<TensorVariant>(tensor, index)) {
    writer->Int(kTensor);
    return writer->Value(held->tensor);
  }
  const auto* held = VariantAt<DatasetVariant>(tensor, index);
  const std::vector<Tuple>* elements = held == nullptr ? nullptr : ElementsOf(*held->dataset);
  if (elements == nullptr) {
    return Error(Code::kUnimplemented, "The position of an iterator over data sets cannot be saved");
  }
  writer->Int(kElements);
  const TupleSpec& spec = held->dataset->spec();
  writer->Int(static_cast<int64_t>(spec.size()));
  for (size_t i = 0; i < spec.size(); ++i) {
    writer->Int(static_cast<int64_t>(spec.types[i]));
    writer->Int(spec.shapes[i].rank);
    for (int d = 0; d < spec.shapes[i].rank; ++d) writer->Int(spec.shapes[i].dims[d]);
  }
  return writer->Elements(*elements);
}

bool ReadSpec(PositionReader* reader, TupleSpec* spec) {
  const int64_t size = reader->Count();
  for (int64_t i = 0; i < size && reader->ok(); ++i) {
    spec->types.push_back(static_cast<DType>(reader->IntIn(1, 23)));
    PartialShape shape;
    shape.rank = static_cast<int32_t>(reader->IntIn(-1, kMaxRank));
    for (int d = 0; d < shape.rank; ++d) shape.dims[d] = reader->IntIn(-1, INT64_MAX);
    spec->shapes.push_back(shape);
  }
  return reader->ok();
}

}  // namespace

// ---- Writing ------------------------------------------------------------------------------------------------------

void PositionWriter::String(const std::string& value) {
  io::AppendVarint(value.size(), &bytes_);
  bytes_ += value;
}

void PositionWriter::Failure(const Status& status) {
  Int(static_cast<int64_t>(status.code()));
  if (!status.ok()) String(status.message());
}

// Writes where in its source a tensor lies, if it is a part of one.
bool PositionWriter::PartOfSource(const Tensor& tensor) {
  for (size_t i = 0; i < sources_->size(); ++i) {
    const Tensor& source = *(*sources_)[i];
    if (source.buffer != tensor.buffer || source.dtype != tensor.dtype || tensor.count == 0) continue;
    const int64_t element = ElementBytes(source.dtype);
    const int64_t offset = static_cast<const char*>(tensor.data) - static_cast<const char*>(source.data);
    if (offset < 0 || offset + tensor.count * element > source.count * element) continue;
    Int(kPart);
    Int(static_cast<int64_t>(i));
    Int(offset / element);
    AppendShape(tensor, this);
    return true;
  }
  return false;
}

Status PositionWriter::Value(const Tensor& tensor) {
  if (PartOfSource(tensor)) return Status();
  Int(kWhole);
  Int(static_cast<int64_t>(tensor.dtype));
  AppendShape(tensor, this);
  if (tensor.dtype == DType::kString) {
    for (int64_t i = 0; i < tensor.count; ++i) {
      const StringCell* cell = Data<StringCell*>(tensor)[i];
      io::AppendVarint(cell == nullptr ? 0 : cell->size, &bytes_);
      if (cell != nullptr) bytes_.append(cell->bytes, cell->size);
    }
  } else if (tensor.dtype == DType::kVariant) {
    for (int64_t i = 0; i < tensor.count; ++i) STILLFLOW_RETURN_IF_ERROR(WriteVariant(tensor, i, this));
  } else if (tensor.count > 0) {
    bytes_.append(static_cast<const char*>(tensor.data), tensor.count * ElementBytes(tensor.dtype));
  }
  return Status();
}

Status PositionWriter::Element(const Tuple& element) {
  for (size_t i = 0; i < element.size(); ++i) STILLFLOW_RETURN_IF_ERROR(Value(element[i]));
  return Status();
}

Status PositionWriter::Elements(const std::vector<Tuple>& elements) {
  Int(static_cast<int64_t>(elements.size()));
  for (const Tuple& element : elements) STILLFLOW_RETURN_IF_ERROR(Element(element));
  return Status();
}

// ---- Reading ------------------------------------------------------------------------------------------------------

int64_t PositionReader::Int() {
  const uint64_t value = reader_.Varint();
  return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1));
}

int64_t PositionReader::IntIn(int64_t low, int64_t high) {
  const int64_t value = Int();
  if (value >= low && value <= high) return value;
  Fail();
  return low;
}

int64_t PositionReader::Count() { return IntIn(0, static_cast<int64_t>(reader_.left())); }

std::string PositionReader::String() {
  const uint64_t size = reader_.Varint();
  return reader_.Take(size).ToString();
}

Status PositionReader::Failure() {
  const auto code = static_cast<Code>(IntIn(0, static_cast<int64_t>(Code::kDataLoss)));
  return code == Code::kOk ? Status() : Error(code, "%s", String().c_str());
}

Status PositionReader::status() const {
  return ok() ? Status() : Error(Code::kDataLoss, "The saved position of an iterator cannot be read");
}

Status PositionReader::PartOfSource(Tensor* tensor) {
  const int64_t index = IntIn(0, static_cast<int64_t>(sources_->size()) - 1);
  const int64_t begin = IntIn(0, INT64_MAX);
  Shape shape;
  if (!ReadShape(this, &shape)) Fail();
  STILLFLOW_RETURN_IF_ERROR(status());
  const Tensor& source = *(*sources_)[index];
  const int64_t count = shape.Count();
  if (begin > source.count || count > source.count - begin) {
    Fail();
    return status();
  }
  tensor->buffer = source.buffer;
  Retain(source.buffer);
  tensor->data = static_cast<char*>(source.data) + begin * ElementBytes(source.dtype);
  SetShape(tensor, source.dtype, shape, count);
  return Status();
}

Status PositionReader::Variants(const Services& services, Tensor* tensor) {
  if (++depth_ > kMostDepth) Fail();
  for (int64_t i = 0; i < tensor->count; ++i) {
    STILLFLOW_RETURN_IF_ERROR(status());
    const int64_t form = IntIn(kEmpty, kElements);
    if (form == kTensor) {
      Tensor held;
      STILLFLOW_RETURN_IF_ERROR(Value(services, &held));
      MutableData<Variant*>(*tensor)[i] = new TensorVariant(held);
    } else if (form == kElements) {
      TupleSpec spec;
      std::vector<Tuple> elements;
      if (!ReadSpec(this, &spec)) return status();
      STILLFLOW_RETURN_IF_ERROR(Elements(services, spec, &elements));
      MutableData<Variant*>(*tensor)[i] =
          new DatasetVariant(MakeElementsDataset(std::move(spec), std::move(elements)));
    }
  }
  --depth_;
  return status();
}

Status PositionReader::Value(const Services& services, Tensor* tensor) {
  tensor->buffer = nullptr;
  if (IntIn(kWhole, kPart) == kPart) return PartOfSource(tensor);
  const auto dtype = static_cast<DType>(IntIn(1, 23));
  Shape shape;
  if (!ReadShape(this, &shape) || ElementBytes(dtype) == 0) Fail();
  STILLFLOW_RETURN_IF_ERROR(status());
  const int64_t count = shape.Count();
  const int64_t least_bytes = HasCells(dtype) ? 1 : ElementBytes(dtype);
  if (count > static_cast<int64_t>(reader_.left()) / least_bytes) Fail();
  STILLFLOW_RETURN_IF_ERROR(status());
  Tuple made(1);
  STILLFLOW_RETURN_IF_ERROR(Allocate(services, dtype, shape, &made[0]));
  if (dtype == DType::kString) {
    for (int64_t i = 0; i < count && ok(); ++i) {
      const uint64_t size = reader_.Varint();
      const io::Bytes text = reader_.Take(size);
      if (!ok()) break;
      StringCell* cell = services.new_string(text.data, static_cast<int64_t>(text.size));
      if (cell == nullptr) return OutOfScratch();
      MutableData<StringCell*>(made[0])[i] = cell;
    }
  } else if (dtype == DType::kVariant) {
    STILLFLOW_RETURN_IF_ERROR(Variants(services, &made[0]));
  } else if (count > 0) {
    const io::Bytes bytes = reader_.Take(count * ElementBytes(dtype));
    if (ok()) std::memcpy(made[0].data, bytes.data, bytes.size);
  }
  STILLFLOW_RETURN_IF_ERROR(status());
  *tensor = made[0];
  made[0].buffer = nullptr;
  return Status();
}

Status PositionReader::Element(const Services& services, const TupleSpec& spec, Tuple* element) {
  element->Reset(spec.size());
  for (size_t i = 0; i < spec.size(); ++i) {
    STILLFLOW_RETURN_IF_ERROR(Value(services, &(*element)[i]));
    if ((*element)[i].dtype != spec.types[i] || !spec.shapes[i].Fits((*element)[i])) Fail();
    STILLFLOW_RETURN_IF_ERROR(status());
  }
  return Status();
}

Status PositionReader::Elements(const Services& services, const TupleSpec& spec, std::vector<Tuple>* elements) {
  const int64_t count = Count();
  elements->clear();
  for (int64_t i = 0; i < count; ++i) {
    elements->emplace_back();
    STILLFLOW_RETURN_IF_ERROR(Element(services, spec, &elements->back()));
  }
  return status();
}

}  // namespace stillflow
