// tensor_list.h: lists of tensors that are values: a variant scalar holds one, and what changes a list makes another.
#pragma once

#include <string>
#include <vector>

#include "datasets/variant.h"

namespace stillflow {

struct TensorList final : VariantValue {
  TensorList(DType type, const PartialShape& shape, int64_t most);
  ~TensorList() override { Resize(0); }

  int64_t size() const { return static_cast<int64_t>(elements.size()); }
  bool is_set(int64_t index) const { return elements[index].buffer != nullptr; }
  TensorList* Copy() const;
  void Resize(int64_t size);
  // Puts a tensor, of which it takes over a reference, in the place of an element.
  void Put(int64_t index, const Tensor& value);

  const DType element_type;
  PartialShape element_shape;
  int64_t max_elements;          // -1: as many as there are
  std::vector<Tensor> elements;  // without a buffer: never set, which reads as zeros
};

// Makes `shape` what both say. False where they contradict each other.
bool Merge(const PartialShape& other, PartialShape* shape);
PartialShape Partial(const Shape& shape);
bool IsComplete(const PartialShape& shape);

// The shape that a tensor spells: a scalar -1, or a vector of sizes of which -1 are unknown.
Status ReadPartialShape(const Tensor& tensor, PartialShape* shape);

// The list in a scalar. Null in `list` and an error where there is none.
Status ListIn(const Tensor& tensor, const TensorList** list);

// The error of a list whose elements are of another type than the op says.
Status CheckElementType(const TensorList& list, DType type);

// Zeros, or empty strings.
Status MakeZeros(const Services& services, DType type, const Shape& shape, Tensor* zeros);
// Zeros of the same shape; for variants what they say of themselves.
Status MakeZerosLike(const Services& services, const Tensor& tensor, Tensor* zeros);
// The sum of two tensors of the same shape, of numbers or variants.
Status AddTensors(const Services& services, const Tensor& a, const Tensor& b, Tensor* sum);

// A list for output `out` to begin with input `in`'s elements: the list itself where nothing else reads it.
Status StartFrom(const KernelCall& call, int in, int out, TensorList** list);

// Output `out` holds the list, which is taken over.
Status OutputList(const KernelCall& call, int out, TensorList* list);

}  // namespace stillflow
