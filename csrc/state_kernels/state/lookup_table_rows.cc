// What tables keep: keys and values as bytes, and the checks of tensors that hold them.
#include <algorithm>
#include <initializer_list>

#include "kernels/guarded.h"
#include "state_kernels/spec_attrs.h"
#include "state_kernels/state/lookup_table.h"

namespace stillflow {
namespace {

bool IsOneOf(DType dtype, std::initializer_list<DType> types) {
  return std::find(types.begin(), types.end(), dtype) != types.end();
}

// Whether the last dimensions are those of `end`.
bool EndsWith(const Tensor& tensor, const Shape& end) {
  return tensor.rank >= end.rank && std::equal(end.dims, end.dims + end.rank, tensor.dims + tensor.rank - end.rank);
}

}  // namespace

// The pairs of types for which TensorFlow has tables.
bool AreTypesOfTable(DType key, DType value) {
  using D = DType;
  switch (key) {
    case D::kInt32:
      return IsOneOf(value, {D::kInt32, D::kFloat, D::kDouble, D::kString});
    case D::kInt64:
      return IsOneOf(value, {D::kInt32, D::kInt64, D::kFloat, D::kDouble, D::kString});
    case D::kString:
      return IsOneOf(value, {D::kInt32, D::kInt64, D::kFloat, D::kDouble, D::kString, D::kBool});
    default:
      return false;
  }
}

Status CheckTypes(const KernelCall& call, const LookupTable& table, DType key, DType value, const char* separator) {
  if (key == table.key_dtype() && value == table.value_dtype()) return Status();
  const char* handle = call.in[0]->dtype == DType::kString ? "string_ref" : "resource";
  return STILLFLOW_INVALID_ARGUMENT("Signature mismatch, have: %s, %s, %s%s expected: %s, %s, %s%s", handle,
                                    Name(key), Name(value), separator, handle, Name(table.key_dtype()),
                                    Name(table.value_dtype()), separator);
}

// ---- Bytes --------------------------------------------------------------------------------------------------------

std::string BytesAt(const Tensor& tensor, int64_t i) {
  if (tensor.dtype == DType::kString) return Text(StringAt(tensor, i));
  const int64_t size = ElementBytes(tensor.dtype);
  return std::string(static_cast<const char*>(tensor.data) + i * size, size);
}

bool StoreAt(const KernelCall& call, Tensor* tensor, int64_t i, const std::string& bytes) {
  if (tensor->dtype == DType::kString) {
    return SetString(call, tensor, i, bytes.data(), static_cast<int64_t>(bytes.size()));
  }
  std::memcpy(static_cast<char*>(tensor->data) + i * static_cast<int64_t>(bytes.size()), bytes.data(), bytes.size());
  return true;
}

// Several strings are told apart by their sizes, which come first.
std::string RowAt(const Tensor& tensor, int64_t row, int64_t width) {
  if (tensor.dtype != DType::kString) {
    const int64_t size = ElementBytes(tensor.dtype) * width;
    return size == 0 ? std::string() : std::string(static_cast<const char*>(tensor.data) + row * size, size);
  }
  if (width == 1) return BytesAt(tensor, row);
  std::string bytes;
  for (int64_t i = 0; i < width; ++i) {
    const std::string element = BytesAt(tensor, row * width + i);
    const auto size = static_cast<int64_t>(element.size());
    bytes.append(reinterpret_cast<const char*>(&size), sizeof size).append(element);
  }
  return bytes;
}

bool StoreRow(const KernelCall& call, Tensor* tensor, int64_t row, int64_t width, const std::string& bytes) {
  if (tensor->dtype != DType::kString || width == 1) return bytes.empty() || StoreAt(call, tensor, row, bytes);
  size_t at = 0;
  for (int64_t i = 0; i < width; ++i) {
    int64_t size = 0;
    std::memcpy(&size, bytes.data() + at, sizeof size);
    at += sizeof size;
    if (!SetString(call, tensor, row * width + i, bytes.data() + at, size)) return false;
    at += size;
  }
  return true;
}

std::string EmptyRow(DType dtype, int64_t width) {
  if (dtype != DType::kString) return std::string(ElementBytes(dtype) * width, '\0');
  return width == 1 ? std::string() : std::string(sizeof(int64_t) * width, '\0');
}

Status ValueShapeOf(const Attr& attr, Shape* shape) {
  const PartialShape given = PartialShapeOf(attr);
  if (given.rank != 0 && (given.rank != 1 || given.dims[0] < 0)) {
    return STILLFLOW_INVALID_ARGUMENT("Default value must be a vector, got shape %s", TextOf(given).c_str());
  }
  for (int i = 0; i < given.rank; ++i) shape->Add(given.dims[i]);
  int64_t count = 0;
  return CheckedCount(*shape, &count);
}

// ---- Checks -------------------------------------------------------------------------------------------------------

Status CheckKeys(const LookupTable& table, const Tensor& keys, const Shape& key_shape) {
  if (keys.dtype != table.key_dtype()) {
    return STILLFLOW_INVALID_ARGUMENT("Key must be type %s but got %s", Name(table.key_dtype()), Name(keys.dtype));
  }
  if (EndsWith(keys, key_shape)) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Input key shape %s must end with the table's key shape %s",
                                    ShapeText(keys).c_str(), ShapeText(key_shape).c_str());
}

Status CheckPairs(const LookupTable& table, const Tensor& keys, const Tensor& values, const Shape& key_shape,
                  const Shape& value_shape) {
  STILLFLOW_RETURN_IF_ERROR(CheckKeys(table, keys, key_shape));
  if (values.dtype != table.value_dtype()) {
    return STILLFLOW_INVALID_ARGUMENT("Value must be type %s but got %s", Name(table.value_dtype()),
                                      Name(values.dtype));
  }
  Shape expected;
  expected.rank = 0;
  for (int i = 0; i < keys.rank - key_shape.rank; ++i) expected.Add(keys.dims[i]);
  for (int i = 0; i < value_shape.rank && expected.rank < kMaxRank; ++i) expected.Add(value_shape.dims[i]);
  if (Shape(values) == expected) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Expected shape %s for value, got %s", ShapeText(expected).c_str(),
                                    ShapeText(values).c_str());
}

}  // namespace stillflow
