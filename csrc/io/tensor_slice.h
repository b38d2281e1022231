// tensor_slice.h: which part of a tensor something is, and the forms in which checkpoints say so.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/wire.h"
#include "kernel_api/abi.h"

namespace stillflow::io {

using Dims = std::vector<int64_t>;

// The product, or -1 if it is no number of elements: a negative size, or beyond 63 bits.
int64_t ElementCount(const Dims& dims);
std::string DimsText(const Dims& dims);  // "[2,3]"

constexpr int64_t kFullExtent = -1;

struct Extent {
  int64_t start = 0;
  int64_t length = kFullExtent;
};

// A box inside a tensor: an extent for each dimension.
class TensorSlice {
 public:
  TensorSlice() = default;
  static TensorSlice Full(size_t rank);

  size_t rank() const { return extents.size(); }
  bool IsFull() const;
  // Gives every extent its length. False if the slice does not lie inside `dims`.
  bool Resolve(const Dims& dims);
  Dims Shape() const;            // of a resolved slice
  std::string ToString() const;  // "0,3:-"

  // The field values of TensorSliceProto.
  bool Parse(Bytes message);
  void AppendTo(std::string* message) const;

  std::vector<Extent> extents;
};

bool operator==(const TensorSlice& a, const TensorSlice& b);

// The box that two resolved slices have in common; false if there is none.
bool Intersect(const TensorSlice& a, const TensorSlice& b, TensorSlice* common);

// "10 4 4,3:0,4", as SaveV2 and RestoreV2 take it: the full shape and the slice.
Status ParseShapeAndSlice(const std::string& text, Dims* shape, TensorSlice* slice);

// The key under which a table keeps a slice of a tensor; it sorts before the names of tensors.
std::string SliceKey(const std::string& name, const TensorSlice& slice);

// Appends, and takes off, the message TensorShapeProto. False for what is no shape with known sizes.
void AppendShape(const Dims& dims, std::string* message);
bool ParseShape(Bytes message, Dims* dims);

}  // namespace stillflow::io
