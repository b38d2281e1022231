// tensor_array.h: a list of tensors that a run writes and reads, and the list of their gradients.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "collections/run_object.h"

namespace stillflow {

// What is known of a shape: -1 is an unknown rank or size.
struct PartialShape {
  int32_t rank = -1;
  int64_t dims[kMaxRank] = {};

  PartialShape() = default;
  explicit PartialShape(const Attr& attr);
  bool IsComplete() const;
  bool Accepts(const Shape& shape) const;
  void Take(const Shape& shape);
  Shape Completed() const;
};

class TensorArray : public Handled {
 public:
  TensorArray(DType type, int64_t size, const PartialShape& element, const std::string& name);
  ~TensorArray() override;

  DType type() const { return type_; }
  int64_t size() const { return static_cast<int64_t>(elements_.size()); }
  const PartialShape& element_shape() const { return element_shape_; }

  bool is_dynamic = false;
  bool clears_after_read = true;
  bool has_one_shape = false;  // of all elements

  // An element may be written once; in an array of gradients what is written adds up.
  Status Write(const Services& services, int64_t index, const Tensor& value);
  // `value` gets a reference of its own.
  Status Read(const Services& services, int64_t index, Tensor* value);
  // Makes room for `size` elements, if the array may grow.
  Status Grow(int64_t size, bool* is_large_enough);
  // Remembers the size after all elements were written at once: so many does an array of gradients put together,
  // however far elements written one by one let the array grow later.
  void MarkSize() {
    if (!is_gradient_) marked_size_ = size();
  }
  int64_t SizeToConcat() const { return is_gradient_ && marked_size_ >= 0 ? marked_size_ : size(); }
  // The array of gradients for `source`; lives as long as this one.
  // Its elements have dimensions `before` more than those of this one, in front.
  Status Gradient(const std::string& source, const Shape& before, TensorArray** gradient);
  Status CheckOpen() const;
  Status CheckType(DType requested) const;
  void Close();

 private:
  struct Element {
    Tensor value;  // without a buffer: zeros of `shape`, if written
    Shape shape;
    bool is_written = false;
    bool is_read = false;
    bool is_cleared = false;
  };
  const char* name() const { return name_.c_str(); }
  Status Add(const Services& services, int64_t index, const Tensor& value);
  Status MakeZeros(int64_t index);

  const DType type_;
  PartialShape element_shape_;
  const std::string name_;  // for messages
  std::vector<Element> elements_;
  int64_t marked_size_ = -1;
  bool is_gradient_ = false;
  bool has_gradient_ = false;
  bool is_closed_ = false;
  std::map<std::string, TensorArray*> gradients_;
};

}  // namespace stillflow
