// reverse, reverse_dims, reverse_sequence, roll: elements moved along their dimensions.
//
//   reverse           in[0] array; in[1] axes, int32 | int64; out[0] in[0] with these turned round
//   reverse_dims      in[1] bools: whether to turn round each dimension
//   reverse_sequence  in[1] lengths, int32 | int64, one for each place of the batch dimension: so many elements of
//                     the sequence dimension are turned round; attrs sequence dimension, batch dimension
//   roll              in[1] shifts, in[2] axes, int32 | int64 scalars or vectors; what leaves at one end comes in at
//                     the other
#include <algorithm>

#include "memory/strided_copy.h"

namespace stillflow {
namespace {

// ---- reverse ------------------------------------------------------------------------------------------------------

Status Turn(const KernelCall& call, const bool* is_turned) {
  const Tensor& input = *call.in[0];
  const Shape shape(input);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, shape));
  if (input.count == 0) return Status();
  int64_t strides[kMaxRank];
  DenseStrides(shape, strides);
  StridedCopy copy;
  int64_t offset = 0;
  for (int i = 0; i < shape.rank; ++i) {
    if (is_turned[i]) offset += (shape.dims[i] - 1) * strides[i];
    copy.Add(shape.dims[i], is_turned[i] ? -strides[i] : strides[i], strides[i]);
  }
  const int64_t element_bytes = ElementBytes(input.dtype);
  STILLFLOW_RETURN_IF_ERROR(
      CopyStrided(call, copy, element_bytes, Data<char>(input) + offset * element_bytes, call.out[0]->data));
  RetainStrings(*call.out[0]);
  return Status();
}

Status Reverse(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const Tensor& axes = *call.in[1];
  if (axes.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("'dims' must be 1-dimension, not %d", axes.rank);
  }
  bool is_turned[kMaxRank] = {};
  if (input.rank == 0) return Turn(call, is_turned);  // whatever the axes
  for (int64_t i = 0; i < axes.count; ++i) {
    const int64_t given = IntAt(axes, i);
    const int64_t axis = given < 0 ? given + input.rank : given;
    if (axis < 0 || axis >= input.rank) {
      return STILLFLOW_INVALID_ARGUMENT("'axis'[%lld] = %lld is out of valid range [%d, %d]",
                                        static_cast<long long>(i), static_cast<long long>(given), 0, input.rank - 1);
    }
    if (is_turned[axis]) {
      return STILLFLOW_INVALID_ARGUMENT("axis %lld specified more than once.", static_cast<long long>(axis));
    }
    is_turned[axis] = true;
  }
  return Turn(call, is_turned);
}

Status ReverseDims(const KernelCall& call) {
  const Tensor& dims = *call.in[1];
  if (dims.rank != 1 || dims.count != call.in[0]->rank) {
    return STILLFLOW_INVALID_ARGUMENT(
        "'dims' must have the same number of values as 'input' has dimensions. 'input' "
        "has %d 'dims' has %lld values",
        call.in[0]->rank, static_cast<long long>(dims.count));
  }
  bool is_turned[kMaxRank] = {};
  std::copy_n(Data<bool>(dims), dims.count, is_turned);
  return Turn(call, is_turned);
}

// ---- reverse_sequence ---------------------------------------------------------------------------------------------

Status CheckSequence(const KernelCall& call, int64_t sequence_dim, int64_t batch_dim) {
  const Tensor& input = *call.in[0];
  const Tensor& lengths = *call.in[1];
  if (sequence_dim < 0 || sequence_dim >= input.rank) {
    return STILLFLOW_INVALID_ARGUMENT("seq_dim must be < input rank ( %lld vs. %d)",
                                      static_cast<long long>(sequence_dim), input.rank);
  }
  if (batch_dim < 0 || batch_dim >= input.rank) {
    return STILLFLOW_INVALID_ARGUMENT("batch_dim must be < input rank ( %lld vs. %d)",
                                      static_cast<long long>(batch_dim), input.rank);
  }
  if (batch_dim == sequence_dim) {
    return STILLFLOW_INVALID_ARGUMENT("batch_dim == seq_dim == %lld", static_cast<long long>(batch_dim));
  }
  if (lengths.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("seq_lengths input must be 1-dim, not %d", lengths.rank);
  }
  if (lengths.count != input.dims[batch_dim]) {
    return STILLFLOW_INVALID_ARGUMENT("Length of seq_lengths != input.dims(%lld), (%lld vs. %lld)",
                                      static_cast<long long>(batch_dim), static_cast<long long>(lengths.count),
                                      static_cast<long long>(input.dims[batch_dim]));
  }
  return Status();
}

Status CheckLengths(const Tensor& lengths, int64_t sequence_dim, int64_t size, int64_t* read) {
  for (int64_t i = 0; i < lengths.count; ++i) {
    read[i] = IntAt(lengths, i);
    if (read[i] < 0) return STILLFLOW_INVALID_ARGUMENT("seq_lens(%lld) < 0", static_cast<long long>(i));
    if (read[i] > size) {
      return STILLFLOW_INVALID_ARGUMENT("seq_lens(%lld) > input.dims(%lld)", static_cast<long long>(i),
                                        static_cast<long long>(sequence_dim));
    }
  }
  return Status();
}

// Copies elements [begin, end) of the sequence of one batch, turned round or not.
struct SequencePart {
  int64_t batch;
  int64_t begin;
  int64_t end;
  bool is_turned;
};

Status CopyPart(const KernelCall& call, const SequencePart& part) {
  const Tensor& input = *call.in[0];
  const Shape shape(input);
  int64_t strides[kMaxRank];
  DenseStrides(shape, strides);
  StridedCopy copy;
  int64_t to = 0;
  int64_t from = 0;
  for (int i = 0; i < shape.rank; ++i) {
    if (i == call.attrs[1].i) {
      to += part.batch * strides[i];
      from += part.batch * strides[i];
    } else if (i == call.attrs[0].i) {
      to += part.begin * strides[i];
      from += (part.is_turned ? part.end - 1 : part.begin) * strides[i];
      copy.Add(part.end - part.begin, part.is_turned ? -strides[i] : strides[i], strides[i]);
    } else {
      copy.Add(shape.dims[i], strides[i], strides[i]);
    }
  }
  const int64_t element_bytes = ElementBytes(input.dtype);
  return CopyStrided(call, copy, element_bytes, Data<char>(input) + from * element_bytes,
                     MutableData<char>(*call.out[0]) + to * element_bytes);
}

Status ReverseSequence(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const int64_t sequence_dim = call.attrs[0].i;
  STILLFLOW_RETURN_IF_ERROR(CheckSequence(call, sequence_dim, call.attrs[1].i));
  const int64_t size = input.dims[sequence_dim];
  const Scratch lengths(call, call.in[1]->count * 8);
  if (!lengths.ok()) return OutOfScratch();
  STILLFLOW_RETURN_IF_ERROR(CheckLengths(*call.in[1], sequence_dim, size, lengths.data<int64_t>()));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, Shape(input)));
  if (input.count == 0) return Status();
  for (int64_t i = 0; i < call.in[1]->count; ++i) {
    const int64_t length = lengths.data<int64_t>()[i];
    if (length > 0) STILLFLOW_RETURN_IF_ERROR(CopyPart(call, {i, 0, length, true}));
    if (length < size) STILLFLOW_RETURN_IF_ERROR(CopyPart(call, {i, length, size, false}));
  }
  RetainStrings(*call.out[0]);
  return Status();
}

// ---- roll ---------------------------------------------------------------------------------------------------------

Status ReadShifts(const KernelCall& call, int64_t* shifts) {
  const Tensor& input = *call.in[0];
  const Tensor& shift = *call.in[1];
  const Tensor& axis = *call.in[2];
  if (input.rank < 1) return STILLFLOW_INVALID_ARGUMENT("input must be 1-D or higher");
  if (shift.rank > 1) {
    return STILLFLOW_INVALID_ARGUMENT("shift must be a scalar or a 1-D vector. Found: %s", ShapeText(shift).c_str());
  }
  if (axis.rank > 1) {
    return STILLFLOW_INVALID_ARGUMENT("axis must be a scalar or a 1-D vector. Found: %s", ShapeText(axis).c_str());
  }
  if (shift.rank != axis.rank || shift.count != axis.count) {
    return STILLFLOW_INVALID_ARGUMENT("shift and axis must have the same size");
  }
  std::fill_n(shifts, input.rank, 0);
  for (int64_t i = 0; i < axis.count; ++i) {
    const int64_t given = IntAt(axis, i);
    const int64_t at = given < 0 ? given + input.rank : given;
    if (at < 0 || at >= input.rank) {
      return STILLFLOW_INVALID_ARGUMENT("axis %lld is out of range", static_cast<long long>(given));
    }
    const int64_t size = std::max<int64_t>(input.dims[at], 1);
    shifts[at] = (shifts[at] + IntAt(shift, i) % size + size) % size;
  }
  return Status();
}

// Copies what is left of the array when the dimensions before `dim` are cut into the part that wraps round and the
// part that does not: `copy` holds these dimensions already.
Status RollFrom(const KernelCall& call, const int64_t* shifts, int dim, const StridedCopy& copy, int64_t from,
                int64_t to) {
  const Tensor& input = *call.in[0];
  const int64_t element_bytes = ElementBytes(input.dtype);
  if (dim == input.rank) {
    return CopyStrided(call, copy, element_bytes, Data<char>(input) + from * element_bytes,
                       MutableData<char>(*call.out[0]) + to * element_bytes);
  }
  const int64_t stride = Shape(input).Count(dim + 1, input.rank);
  const int64_t size = input.dims[dim];
  StridedCopy stays = copy;
  stays.Add(size - shifts[dim], stride, stride);
  STILLFLOW_RETURN_IF_ERROR(RollFrom(call, shifts, dim + 1, stays, from, to + shifts[dim] * stride));
  if (shifts[dim] == 0) return Status();
  StridedCopy wraps = copy;
  wraps.Add(shifts[dim], stride, stride);
  return RollFrom(call, shifts, dim + 1, wraps, from + (size - shifts[dim]) * stride, to);
}

Status Roll(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  int64_t shifts[kMaxRank];
  STILLFLOW_RETURN_IF_ERROR(ReadShifts(call, shifts));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, Shape(input)));
  if (input.count == 0) return Status();
  STILLFLOW_RETURN_IF_ERROR(RollFrom(call, shifts, 0, StridedCopy(), 0, 0));
  RetainStrings(*call.out[0]);
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(array, reverse){{"reverse", "tensor, axis", Reverse},
                                  {"reverse_dims", "tensor, dims", ReverseDims},
                                  {"reverse_sequence", "input, seq_lengths | seq_dim, batch_dim", ReverseSequence},
                                  {"roll", "input, shift, axis", Roll},
                                  {}};

}  // namespace stillflow
