// spec_attrs.h: lists of types and shapes as attributes of kernels.
#pragma once

#include <vector>

#include "collections/tuple.h"

namespace stillflow {

inline std::vector<DType> TypesOf(const Attr& attr) {
  const auto* types = static_cast<const int64_t*>(attr.data);
  std::vector<DType> result;
  for (int64_t i = 0; i < attr.size; ++i) result.push_back(static_cast<DType>(types[i]));
  return result;
}

// The rank and the sizes of each, -1 for what is unknown.
inline std::vector<PartialShape> ShapesOf(const Attr& attr) {
  const auto* numbers = static_cast<const int64_t*>(attr.data);
  std::vector<PartialShape> shapes;
  for (int64_t i = 0; i < attr.size;) {
    PartialShape shape;
    shape.rank = static_cast<int32_t>(numbers[i++]);
    for (int d = 0; d < shape.rank; ++d) shape.dims[d] = numbers[i++];
    shapes.push_back(shape);
  }
  return shapes;
}

// One shape; -2 alone is an unknown rank.
inline PartialShape PartialShapeOf(const Attr& attr) {
  const auto* sizes = static_cast<const int64_t*>(attr.data);
  PartialShape shape;
  if (attr.size > kMaxRank || (attr.size == 1 && sizes[0] == -2)) return shape;
  shape.rank = static_cast<int32_t>(attr.size);
  for (int d = 0; d < shape.rank; ++d) shape.dims[d] = sizes[d];
  return shape;
}

// Components without a shape may have any.
inline TupleSpec SpecOf(const Attr& types, const Attr& shapes) {
  TupleSpec spec{TypesOf(types), ShapesOf(shapes)};
  spec.shapes.resize(spec.types.size());
  return spec;
}

// The strings of a list.
inline std::vector<std::string> StringsOf(const Attr& attr) {
  std::vector<std::string> result;
  const char* at = static_cast<const char*>(attr.data);
  for (const char* const end = at + attr.size; at < end;) {
    int64_t size;
    std::memcpy(&size, at, sizeof size);
    at += sizeof size;
    result.emplace_back(at, size);
    at += size;
  }
  return result;
}

}  // namespace stillflow
