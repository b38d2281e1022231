// broadcast.h: broadcasting of shapes by numpy's rules.
#pragma once

#include <algorithm>

#include "kernel_api/kernel.h"

namespace stillflow {

// The shape of two shapes broadcast against each other.
inline Status BroadcastTwo(const Shape& a, const Shape& b, Shape* out) {
  const Shape& longer = a.rank >= b.rank ? a : b;
  const Shape& shorter = a.rank >= b.rank ? b : a;
  *out = longer;
  const int offset = longer.rank - shorter.rank;
  for (int i = 0; i < shorter.rank; ++i) {
    int64_t& dim = out->dims[i + offset];
    if (dim == shorter.dims[i] || shorter.dims[i] == 1) continue;
    if (dim != 1) {
      return STILLFLOW_INVALID_ARGUMENT("Incompatible shapes: %s vs. %s", ShapeText(a).c_str(), ShapeText(b).c_str());
    }
    dim = shorter.dims[i];
  }
  return Status();
}

// Where the elements of a broadcast input lie, one output element after the other.
class BroadcastWalk {
 public:
  BroadcastWalk(const Shape& in, const Shape& out, int64_t begin) : rank_(out.rank), at_(0) {
    int64_t stride = 1;
    for (int i = rank_ - 1; i >= 0; --i) {
      const int own = i - (out.rank - in.rank);
      const int64_t size = own >= 0 ? in.dims[own] : 1;
      dims_[i] = out.dims[i];
      strides_[i] = size == 1 ? 0 : stride;
      stride *= size;
      position_[i] = begin % dims_[i];
      begin /= dims_[i];
      at_ += position_[i] * strides_[i];
    }
  }
  int64_t index() const { return at_; }
  void Next() {
    for (int i = rank_ - 1; i >= 0; --i) {
      at_ += strides_[i];
      if (++position_[i] < dims_[i]) return;
      at_ -= dims_[i] * strides_[i];
      position_[i] = 0;
    }
  }

 private:
  int rank_;
  int64_t at_;
  int64_t dims_[kMaxRank];
  int64_t strides_[kMaxRank];
  int64_t position_[kMaxRank];
};

}  // namespace stillflow
