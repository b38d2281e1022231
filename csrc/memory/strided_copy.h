// strided_copy.h: copies between arrays with any strides.
//
// Transposes, slices, tiles, pads, reversals and the like are all strided copies. Dimensions that are contiguous in
// both arrays are merged first; what is left is copied as contiguous runs, fills, tiles of a transpose, or single
// elements.
#pragma once

#include <cstring>

#include "arithmetic/math/registers.h"
#include "arithmetic/math/scalar.h"
#include "memory/cache.h"

namespace stillflow {

// dims[i] elements with strides from_strides[i] and to_strides[i], in elements; a stride may be negative, and one of
// the source may be 0. No element of the destination is written twice.
struct StridedCopy {
  static constexpr int kMostDims = 2 * kMaxRank;  // a tile or a space_to_batch has two for each of its input's

  int rank = 0;
  int64_t dims[kMostDims];
  int64_t from_strides[kMostDims];
  int64_t to_strides[kMostDims];

  void Add(int64_t dim, int64_t from_stride, int64_t to_stride) {
    dims[rank] = dim;
    from_strides[rank] = from_stride;
    to_strides[rank] = to_stride;
    ++rank;
  }

  int64_t Count() const {
    int64_t count = 1;
    for (int i = 0; i < rank; ++i) count *= dims[i];
    return count;
  }

  // Drops dimensions of size 1 and merges those that are contiguous in both arrays. The order stays.
  void Simplify();

  // After Simplify: whether all of it is one run of both arrays.
  bool IsOneRun() const { return rank == 0 || (rank == 1 && from_strides[0] == 1 && to_strides[0] == 1); }
};

// Strides, in elements, of an array of that shape in C order.
inline void DenseStrides(const Shape& shape, int64_t* strides) {
  int64_t stride = 1;
  for (int i = shape.rank - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= shape.dims[i];
  }
}

// `from` and `to` point to the first elements. String cells are copied as they are: see RetainStrings.
Status CopyStrided(const KernelCall& call, StridedCopy copy, int64_t element_bytes, const void* from, void* to);

// Makes out[out] an array of zeros, or of empty strings.
Status AllocateZeros(const KernelCall& call, int out, DType dtype, const Shape& shape);

// One run.
Status CopyRun(const KernelCall& call, int64_t bytes, const void* from, void* to);

// Whether parts of in[in] may be handed out as views rather than copied. A view of what others hold as well (a
// variable above all) would make their next update in place a copy of the whole.
inline bool MayView(const KernelCall& call, int in) {
  const Buffer* buffer = call.in[in]->buffer;
  return buffer->is_borrowed || buffer->references.load(std::memory_order_acquire) == 1;
}

// Makes out[out] the `shape.Count()` elements of in[in] from `offset` on: a view if `may_view` and if they are
// worth it, a copy otherwise. Small parts are copied so that they do not keep large buffers alive.
Status TakeRun(const KernelCall& call, int in, int out, const Shape& shape, int64_t offset, bool may_view);

// Makes out[out] the elements of in[in] that lie `strides` apart from `offset` on: a view where TakeRun makes one.
Status TakeStrided(const KernelCall& call, int in, int out, const Shape& shape, int64_t offset,
                   const int64_t* strides);

// Makes out[out] the part [begin, begin + size) along `axis` of in[in]; `shape` is the output's, with or without
// the axis.
Status TakePart(const KernelCall& call, int in, int out, const Shape& shape, int axis, int64_t begin, int64_t size,
                bool may_view);

// At least kPiece bytes, so many at a time. The last piece overlaps the one before it.
template <int kPiece>
STILLFLOW_INLINE void CopyPieces(char* to, const char* from, int64_t bytes) {
  using Piece __attribute__((vector_size(kPiece))) = char;
  Piece piece;
  Piece last;
  std::memcpy(&last, from + bytes - kPiece, kPiece);
#pragma GCC unroll 4
  for (int64_t i = 0; i + kPiece < bytes; i += kPiece) {
    std::memcpy(&piece, from + i, kPiece);
    std::memcpy(to + i, &piece, kPiece);
  }
  std::memcpy(to + bytes - kPiece, &last, kPiece);
}

// A few bytes without a call.
inline void CopySmall(char* to, const char* from, int64_t bytes) {
  if (bytes >= kRegisterBytes) {
    CopyPieces<kRegisterBytes>(to, from, bytes);
  } else if (bytes >= 16) {
    CopyPieces<16>(to, from, bytes);
  } else if (bytes >= 8) {
    uint64_t first;
    uint64_t last;
    std::memcpy(&first, from, 8);
    std::memcpy(&last, from + bytes - 8, 8);
    std::memcpy(to, &first, 8);
    std::memcpy(to + bytes - 8, &last, 8);
  } else if (bytes >= 4) {
    uint32_t first;
    uint32_t last;
    std::memcpy(&first, from, 4);
    std::memcpy(&last, from + bytes - 4, 4);
    std::memcpy(to, &first, 4);
    std::memcpy(to + bytes - 4, &last, 4);
  } else {
    for (int64_t i = 0; i < bytes; ++i) to[i] = from[i];
  }
}

inline void CopyBytes(char* to, const char* from, int64_t bytes) {
  constexpr int64_t kMostInline = 4096;  // what is longer takes the C library's code less time, also from far caches
  if (bytes <= kMostInline) {
    CopySmall(to, from, bytes);
  } else {
    std::memcpy(to, from, bytes);
  }
}

}  // namespace stillflow
