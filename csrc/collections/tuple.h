// tuple.h: an element of a queue or a data set: a tensor for each of its components.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernel_api/kernel.h"

namespace stillflow {

// Owns a reference to each component.
class Tuple {
 public:
  Tuple() = default;
  explicit Tuple(size_t size) : tensors_(size) {
    for (Tensor& tensor : tensors_) tensor.buffer = nullptr;
  }
  Tuple(Tuple&& other) noexcept = default;
  Tuple& operator=(Tuple&& other) noexcept {
    std::swap(tensors_, other.tensors_);
    return *this;
  }
  ~Tuple() {
    for (Tensor& tensor : tensors_) {
      if (tensor.buffer != nullptr) Release(tensor.buffer);
    }
  }

  size_t size() const { return tensors_.size(); }
  // Makes it one of `size` tensors without values.
  void Reset(size_t size) {
    for (Tensor& tensor : tensors_) {
      if (tensor.buffer != nullptr) Release(tensor.buffer);
    }
    tensors_.resize(size);
    for (Tensor& tensor : tensors_) tensor.buffer = nullptr;
  }

  Tensor& operator[](size_t component) { return tensors_[component]; }
  const Tensor& operator[](size_t component) const { return tensors_[component]; }

 private:
  std::vector<Tensor> tensors_;
};

// Shares of the tensors of an element, or of elements.
Tuple SharesOf(const Tuple& element);
std::vector<Tuple> SharesOf(const std::vector<Tuple>& elements);

// A shape of which some may be unknown: -1 as the rank, or as a size.
struct PartialShape {
  int32_t rank = -1;
  int64_t dims[kMaxRank] = {};

  bool Fits(const Tensor& tensor) const {
    if (rank < 0) return true;
    if (rank != tensor.rank) return false;
    for (int i = 0; i < rank; ++i) {
      if (dims[i] >= 0 && dims[i] != tensor.dims[i]) return false;
    }
    return true;
  }
};

inline bool operator==(const PartialShape& a, const PartialShape& b) {
  return a.rank == b.rank && (a.rank <= 0 || std::memcmp(a.dims, b.dims, sizeof(int64_t) * a.rank) == 0);
}

// What the components of elements are. Without shapes they may have any.
struct TupleSpec {
  std::vector<DType> types;
  std::vector<PartialShape> shapes;

  size_t size() const { return types.size(); }
};

// "[2,?]", for messages; "<unknown>" if the rank is.
std::string TextOf(const PartialShape& shape);
// "int32, float"
std::string TextOf(const std::vector<DType>& types);
// "[[2,?],[]]"
std::string TextOf(const std::vector<PartialShape>& shapes);

// Copies `count` elements from one place to another of a tensor of the same type, whose elements there are not yet
// set.
void CopyElements(const Tensor& from, int64_t at, int64_t count, Tensor* to, int64_t to_at);

// An element made of tensors that a step has: a copy of what belongs to the run's caller, the rest shared.
Status MakeTuple(const Services& services, const TupleSpec& spec, const Tensor* const* tensors, Tuple* made);

// An element for each row of the tensors.
Status MakeTuples(const Services& services, const TupleSpec& spec, const Tensor* const* tensors,
                  std::vector<Tuple>* made);

// The tensor of which `component` of each element is a row. Where the shape leaves sizes open, a row has those of the
// largest, and zeros, or empty strings, around smaller ones.
Status Batch(const Services& services, const TupleSpec& spec, const std::vector<Tuple>& tuples, size_t component,
             Tensor* batch);

}  // namespace stillflow
