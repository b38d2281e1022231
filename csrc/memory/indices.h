// indices.h: checks of indices with TensorFlow's messages, and conversion of index tuples to row numbers.
#pragma once

#include "kernel_api/kernel.h"

namespace stillflow {

// "[1,0]", the place of an element; "" in a scalar. `rank` leaves out dimensions at the end.
class PlaceText {
 public:
  PlaceText(const Tensor& tensor, int64_t position) : PlaceText(tensor, position, tensor.rank) {}
  PlaceText(const Tensor& tensor, int64_t position, int rank) {
    text_[0] = 0;
    if (rank == 0) return;
    int64_t places[kMaxRank];
    for (int i = rank - 1; i >= 0; --i) {
      const int64_t size = tensor.dims[i] > 0 ? tensor.dims[i] : 1;
      places[i] = position % size;
      position /= size;
    }
    std::snprintf(text_, sizeof text_, "%s", ShapeText(rank, places).c_str());
  }
  const char* c_str() const { return text_; }

 private:
  char text_[256];
};

inline Status BadIndex(const char* name, const Tensor& indices, int64_t position, int64_t value, int64_t size) {
  return STILLFLOW_INVALID_ARGUMENT("%s%s = %lld is not in [0, %lld)", name, PlaceText(indices, position).c_str(),
                                    static_cast<long long>(value), static_cast<long long>(size));
}

// For tuple `number` of `depth` indices.
inline Status BadTuple(const Tensor& indices, int64_t number, int depth, const char* what, const Shape& shape) {
  int64_t tuple[kMaxRank];
  for (int i = 0; i < depth; ++i) tuple[i] = IntAt(indices, number * depth + i);
  return STILLFLOW_INVALID_ARGUMENT("indices%s = %s does not index into %s %s",
                                    PlaceText(indices, number, indices.rank - 1).c_str(),
                                    ShapeText(depth, tuple, ", ").c_str(), what, ShapeText(shape).c_str());
}

// Copies indices to `rows`; tells the largest as a Number, of which a negative index is among the largest if it has
// no sign. Without indices 0.
template <typename Number, typename Index>
Number CopyIndices(const Index* from, int64_t count, int64_t* rows) {
  Number largest = 0;
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    rows[i] = from[i];
    const auto number = static_cast<Number>(static_cast<int64_t>(from[i]));
    largest = number > largest ? number : largest;
  }
  return largest;
}

// Checks all indices and writes them to `rows`, so that what is checked is what is used, whatever another thread
// does to the memory that the indices came in.
template <typename Index>
Status ReadRows(const Tensor& indices, int64_t size, int64_t* rows) {
  const auto largest = CopyIndices<uint64_t>(Data<Index>(indices), indices.count, rows);
  if (indices.count == 0 || largest < static_cast<uint64_t>(size)) return Status();
  for (int64_t i = 0; i < indices.count; ++i) {
    if (static_cast<uint64_t>(rows[i]) >= static_cast<uint64_t>(size)) {
      return BadIndex("indices", indices, i, rows[i], size);
    }
  }
  return Status();
}

// The same for index tuples into the first `depth` dimensions of a shape: rows[i] is where tuple i points.
template <typename Index>
Status ReadTuples(const Tensor& indices, int64_t count, int depth, const Shape& shape, const char* what,
                  int64_t* rows) {
  if (depth == 1) {
    const auto largest = CopyIndices<uint64_t>(Data<Index>(indices), count, rows);
    if (largest < static_cast<uint64_t>(shape.dims[0])) return Status();
  }
  const Index* tuple = Data<Index>(indices);
  for (int64_t i = 0; i < count; ++i, tuple += depth) {
    int64_t row = 0;
    for (int k = 0; k < depth; ++k) {
      const int64_t index = tuple[k];
      if (static_cast<uint64_t>(index) >= static_cast<uint64_t>(shape.dims[k])) {
        return BadTuple(indices, i, depth, what, shape);
      }
      row = row * shape.dims[k] + index;
    }
    rows[i] = row;
  }
  return Status();
}

}  // namespace stillflow
