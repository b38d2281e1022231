// elementwise_operands.h: where the inputs and outputs of an elementwise program lie.
#pragma once

#include <algorithm>
#include <cstring>

#include "arithmetic/elementwise/program.h"
#include "kernel_api/broadcast.h"
#include "memory/stream.h"

namespace stillflow {

// An input that does not lie element for element as the output does, seen over the flattened output: one that is
// repeated along some dimensions, or some columns of a wider matrix.
struct Repeated {
  int32_t input;
  int32_t rank;  // after merging neighbours that are both repeated or both not
  int64_t dims[kMaxRank];
  int64_t strides[kMaxRank];  // of elements; 0: repeated

  bool is_repeated(int dim) const { return strides[dim] == 0; }
};

inline Repeated DescribeRepeats(const Tensor& tensor, const Shape& out, int input) {
  Repeated repeated;
  repeated.input = input;
  repeated.rank = 0;
  bool was_repeated = false;
  const int offset = out.rank - tensor.rank;
  for (int i = 0; i < out.rank; ++i) {
    if (out.dims[i] == 1) continue;
    const bool is_repeated = i < offset || tensor.dims[i - offset] == 1;
    if (repeated.rank > 0 && was_repeated == is_repeated) {
      repeated.dims[repeated.rank - 1] *= out.dims[i];
    } else {
      repeated.strides[repeated.rank] = is_repeated ? 0 : 1;
      repeated.dims[repeated.rank++] = out.dims[i];
    }
    was_repeated = is_repeated;
  }
  int64_t size = 1;
  for (int i = repeated.rank - 1; i >= 0; --i) {
    if (repeated.is_repeated(i)) continue;
    repeated.strides[i] = size;
    size *= repeated.dims[i];
  }
  return repeated;
}

// Columns of a matrix whose rows are `row` elements apart.
inline Repeated DescribeColumns(const Tensor& columns, int64_t row, int input) {
  const int64_t width = columns.dims[columns.rank - 1];
  return {input, 2, {columns.count / width, width}, {row, 1}};
}

// Where the element lies that stands at `position` of the flattened output.
inline int64_t PlaceOf(const Repeated& repeated, int64_t position) {
  int64_t place = 0;
  for (int i = repeated.rank - 1; i >= 0; --i) {
    place += position % repeated.dims[i] * repeated.strides[i];
    position /= repeated.dims[i];
  }
  return place;
}

// Writes elements [begin, begin + count) of the flattened output shape.
template <typename T>
void CopyRepeated(const Repeated& repeated, const T* from, int64_t begin, int64_t count, T* to) {
  const int last = repeated.rank - 1;
  const int64_t* const stride = repeated.strides;
  int64_t position[kMaxRank];
  int64_t rest = begin;
  int64_t at = 0;
  for (int i = last; i >= 0; --i) {
    position[i] = rest % repeated.dims[i];
    rest /= repeated.dims[i];
    at += position[i] * stride[i];
  }
  while (count > 0) {
    const int64_t run = std::min(count, repeated.dims[last] - position[last]);
    if (repeated.is_repeated(last)) {
      std::fill_n(to, run, from[at]);
    } else {
      std::memcpy(to, from + at, run * sizeof(T));
    }
    to += run;
    count -= run;
    at -= position[last] * stride[last];
    position[last] = 0;
    for (int i = last - 1; i >= 0; --i) {
      at += stride[i];
      if (++position[i] < repeated.dims[i]) break;
      at -= repeated.dims[i] * stride[i];
      position[i] = 0;
    }
  }
}

inline void Expand(const Repeated& repeated, const Tensor& tensor, int64_t begin, int64_t count, void* to) {
  switch (ElementBytes(tensor.dtype)) {
    case 16:
      return CopyRepeated(repeated, Data<Complex128>(tensor), begin, count, static_cast<Complex128*>(to));
    case 8:
      return CopyRepeated(repeated, Data<uint64_t>(tensor), begin, count, static_cast<uint64_t*>(to));
    case 4:
      return CopyRepeated(repeated, Data<uint32_t>(tensor), begin, count, static_cast<uint32_t*>(to));
    case 2:
      return CopyRepeated(repeated, Data<uint16_t>(tensor), begin, count, static_cast<uint16_t*>(to));
    default:
      return CopyRepeated(repeated, Data<uint8_t>(tensor), begin, count, static_cast<uint8_t*>(to));
  }
}

// The inputs as the program sees them, those that are columns of wider tensors, too.
class Inputs {
 public:
  // Fails if a tensor does not have the columns.
  Status Read(const KernelCall& call) {
    const Attr& columns = call.attrs[2];
    const auto* const numbers = static_cast<const int64_t*>(columns.data);
    for (int i = 0; i < call.in_count; ++i) {
      in_[i] = call.in[i];
      row_[i] = 0;
      if (columns.size == 0 || numbers[i + 1] < 0) continue;
      const Tensor& whole = *call.in[i];
      const int64_t width = numbers[0];
      const int64_t offset = numbers[i + 1];
      const int64_t row = whole.rank > 0 ? whole.dims[whole.rank - 1] : 0;
      if (width <= 0 || width > row || offset > row - width) return Error(Code::kInternal, "Columns out of range");
      Tensor& part = parts_[part_count_++];
      part = whole;
      part.data = static_cast<char*>(whole.data) + offset * ElementBytes(whole.dtype);
      part.dims[part.rank - 1] = width;
      part.count = whole.count / row * width;
      in_[i] = &part;
      is_part_ |= uint64_t{1} << i;
      if (part.count != width && width != row) row_[i] = row;
    }
    return Status();
  }

  const Tensor* const* all() const { return in_; }
  const Tensor& operator[](int i) const { return *in_[i]; }
  // Whether the input is columns of the tensor that the kernel was given.
  bool is_part(int i) const { return is_part_ >> i & 1; }
  // The distance of rows, in elements, of columns that do not lie together; 0 for all else.
  int64_t row(int i) const { return row_[i]; }

 private:
  static constexpr int kMostParts = ElementwiseProgram::kMostInputs;

  int part_count_ = 0;
  uint64_t is_part_ = 0;
  const Tensor* in_[kMostParts];
  int64_t row_[kMostParts];
  Tensor parts_[kMostParts];
};

// Where the program's outputs lie.
struct Outputs {
  int own_count;  // those that are tensors, before those that are columns of one
  int joined_count;
  int64_t width;  // of these columns
};

// The inputs as tiles see them.
struct Operands {
  Inputs inputs;
  Outputs outputs;
  uint64_t scalars = 0;
  int repeated_count = 0;
  Repeated repeated[ElementwiseProgram::kMostInputs];
  uint64_t columns = 0;  // inputs of which one element stands for a run
  // Of the flattened output: within a run, each repeated input is either one element or adjacent elements.
  int64_t run;
  bool are_columns;  // all that are repeated, of which the program takes runs
  bool is_streamed;
};

inline void DescribeOperands(const KernelCall& call, const ElementwiseProgram& program, const Shape& shape,
                             int64_t count, Operands* operands) {
  operands->run = std::max<int64_t>(count, 1);
  bool has_parts = operands->outputs.joined_count > 0;
  for (int i = 0; i < call.in_count; ++i) {
    const Tensor& tensor = operands->inputs[i];
    const int64_t row = operands->inputs.row(i);
    has_parts |= row != 0;
    if (tensor.count == count && row == 0) continue;
    if (tensor.count == 1) {
      operands->scalars |= uint64_t{1} << i;
    } else {
      const Repeated& repeated = operands->repeated[operands->repeated_count++] =
          row == 0 ? DescribeRepeats(tensor, shape, i) : DescribeColumns(tensor, row, i);
      operands->run = std::min(operands->run, repeated.dims[repeated.rank - 1]);
      operands->columns |= uint64_t{repeated.is_repeated(repeated.rank - 1)} << i;
    }
  }
  operands->are_columns = operands->columns != 0 && program.TakesRuns(operands->columns, operands->scalars);
  for (int i = 0; i < operands->repeated_count; ++i) {
    const Repeated& repeated = operands->repeated[i];
    operands->are_columns &= repeated.rank == 2 && repeated.is_repeated(1) && repeated.dims[1] == operands->run;
  }
  operands->is_streamed = !has_parts && IsStreamed(*call.out[0]);
  for (int out = 0; operands->is_streamed && out < call.out_count; ++out) {
    for (int in = 0; in < call.in_count; ++in) {
      if (call.out[out]->data == call.in[in]->data) operands->is_streamed = false;  // the line is in a cache already
    }
  }
}

}  // namespace stillflow
