#include "collections/tuple.h"

#include <algorithm>

namespace stillflow {
namespace {

void RetainCells(StringCell* const* cells, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (cells[i] != nullptr) cells[i]->references.fetch_add(1, std::memory_order_relaxed);
  }
}

void CopyElements(DType dtype, const void* from, void* to, int64_t count) {
  if (count == 0) return;
  std::memcpy(to, from, count * ElementBytes(dtype));
  if (HasCells(dtype)) RetainCells(static_cast<StringCell* const*>(to), count);
}

Status ShapeMismatch(size_t component, const std::string& expected, const Tensor& tensor) {
  return STILLFLOW_INVALID_ARGUMENT("Shape mismatch in tuple component %d. Expected %s, got %s",
                                    static_cast<int>(component), expected.c_str(), ShapeText(tensor).c_str());
}

// What the rows of a batch of `count` elements make of a component's shape.
PartialShape BatchShape(const PartialShape& shape, int64_t count) {
  PartialShape batch;
  if (shape.rank < 0 || shape.rank == kMaxRank) return batch;
  batch.rank = shape.rank + 1;
  batch.dims[0] = count;
  std::copy_n(shape.dims, shape.rank, batch.dims + 1);
  return batch;
}

Status CheckRows(const TupleSpec& spec, const Tensor* const* tensors, int64_t count) {
  for (size_t i = 0; i < spec.size(); ++i) {
    const Tensor& tensor = *tensors[i];
    if (!spec.shapes.empty()) {
      const PartialShape expected = BatchShape(spec.shapes[i], count);
      if (!expected.Fits(tensor)) return ShapeMismatch(i, TextOf(expected), tensor);
    }
    if (tensor.rank == 0) {
      return STILLFLOW_INVALID_ARGUMENT("All input tensors must have rank at least 1, but component %d is a scalar",
                                        static_cast<int>(i));
    }
    if (tensor.dims[0] != count) {
      return STILLFLOW_INVALID_ARGUMENT(
          "All input tensors must have the same size in the 0th dimension. Component %d has %lld, and should have "
          "%lld",
          static_cast<int>(i), static_cast<long long>(tensor.dims[0]), static_cast<long long>(count));
    }
  }
  return Status();
}

Status CopyRow(const Services& services, const Tensor& from, int64_t row, Tensor* to) {
  Shape shape;
  for (int i = 1; i < from.rank; ++i) shape.Add(from.dims[i]);
  STILLFLOW_RETURN_IF_ERROR(Allocate(services, from.dtype, shape, to));
  const auto* data = static_cast<const char*>(from.data) + row * to->count * ElementBytes(from.dtype);
  CopyElements(from.dtype, data, to->data, to->count);
  return Status();
}

// Copies `from` to the corner of a larger array of the same rank.
void CopyToCorner(const Tensor& from, const int64_t* dims, char* to) {
  const int64_t width = from.rank == 0 ? 1 : from.dims[from.rank - 1];
  const int64_t element_bytes = ElementBytes(from.dtype);
  if (from.count == 0) return;
  int64_t index[kMaxRank] = {};
  for (int64_t done = 0; done < from.count; done += width) {
    int64_t offset = 0;
    for (int i = 0; i + 1 < from.rank; ++i) offset = (offset + index[i]) * dims[i + 1];
    CopyElements(from.dtype, static_cast<const char*>(from.data) + done * element_bytes, to + offset * element_bytes,
                 width);
    for (int i = from.rank - 2; i >= 0 && ++index[i] == from.dims[i]; --i) index[i] = 0;
  }
}

}  // namespace

Tuple SharesOf(const Tuple& element) {
  Tuple shares(element.size());
  for (size_t i = 0; i < element.size(); ++i) {
    shares[i] = element[i];
    Retain(shares[i].buffer);
  }
  return shares;
}

std::vector<Tuple> SharesOf(const std::vector<Tuple>& elements) {
  std::vector<Tuple> shares;
  shares.reserve(elements.size());
  for (const Tuple& element : elements) shares.push_back(SharesOf(element));
  return shares;
}

std::string TextOf(const PartialShape& shape) {
  if (shape.rank < 0) return "<unknown>";
  std::string text = "[";
  for (int i = 0; i < shape.rank; ++i) {
    if (i > 0) text += ",";
    text += shape.dims[i] < 0 ? "?" : std::to_string(shape.dims[i]);
  }
  return text + "]";
}

std::string TextOf(const std::vector<DType>& types) {
  std::string text;
  for (DType dtype : types) text += (text.empty() ? "" : ", ") + std::string(Name(dtype));
  return text;
}

std::string TextOf(const std::vector<PartialShape>& shapes) {
  std::string text = "[";
  for (size_t i = 0; i < shapes.size(); ++i) text += (i > 0 ? "," : "") + TextOf(shapes[i]);
  return text + "]";
}

void CopyElements(const Tensor& from, int64_t at, int64_t count, Tensor* to, int64_t to_at) {
  const int64_t bytes = ElementBytes(from.dtype);
  CopyElements(from.dtype, static_cast<const char*>(from.data) + at * bytes,
               static_cast<char*>(to->data) + to_at * bytes, count);
}

Status MakeTuple(const Services& services, const TupleSpec& spec, const Tensor* const* tensors, Tuple* made) {
  Tuple tuple(spec.size());
  for (size_t i = 0; i < spec.size(); ++i) {
    const Tensor& tensor = *tensors[i];
    if (!spec.shapes.empty() && !spec.shapes[i].Fits(tensor)) {
      return ShapeMismatch(i, TextOf(spec.shapes[i]), tensor);
    }
    if (tensor.buffer->is_borrowed) {
      STILLFLOW_RETURN_IF_ERROR(Allocate(services, tensor.dtype, Shape(tensor), &tuple[i]));
      CopyElements(tensor.dtype, tensor.data, tuple[i].data, tensor.count);
    } else {
      tuple[i] = tensor;
      Retain(tensor.buffer);
    }
  }
  *made = std::move(tuple);
  return Status();
}

Status MakeTuples(const Services& services, const TupleSpec& spec, const Tensor* const* tensors,
                  std::vector<Tuple>* made) {
  const int64_t count = tensors[0]->rank == 0 ? -1 : tensors[0]->dims[0];
  STILLFLOW_RETURN_IF_ERROR(CheckRows(spec, tensors, count));
  made->reserve(count);
  for (int64_t row = 0; row < count; ++row) {
    made->emplace_back(spec.size());
    for (size_t i = 0; i < spec.size(); ++i) {
      STILLFLOW_RETURN_IF_ERROR(CopyRow(services, *tensors[i], row, &made->back()[i]));
    }
  }
  return Status();
}

Status Batch(const Services& services, const TupleSpec& spec, const std::vector<Tuple>& tuples, size_t component,
             Tensor* batch) {
  const PartialShape& expected = spec.shapes[component];
  if (expected.rank == kMaxRank) return STILLFLOW_INVALID_ARGUMENT("A batch would have too many dimensions");
  Shape shape;
  shape.Add(static_cast<int64_t>(tuples.size()));
  bool is_ragged = false;
  for (int i = 0; i < expected.rank; ++i) {
    int64_t size = std::max<int64_t>(expected.dims[i], 0);
    for (const Tuple& tuple : tuples) {
      if (&tuple != &tuples[0] && tuple[component].dims[i] != size) is_ragged = true;
      size = std::max(size, tuple[component].dims[i]);
    }
    shape.Add(size);
  }
  STILLFLOW_RETURN_IF_ERROR(Allocate(services, spec.types[component], shape, batch));
  const int64_t row_bytes = shape.Count(1, shape.rank) * ElementBytes(batch->dtype);
  auto* to = static_cast<char*>(batch->data);
  if (is_ragged) std::memset(to, 0, tuples.size() * row_bytes);
  for (const Tuple& tuple : tuples) {
    const Tensor& from = tuple[component];
    if (is_ragged) {
      CopyToCorner(from, shape.dims + 1, to);
    } else {
      CopyElements(from.dtype, from.data, to, from.count);
    }
    to += row_bytes;
  }
  return Status();
}

}  // namespace stillflow
