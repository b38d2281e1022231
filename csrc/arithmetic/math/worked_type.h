// worked_type.h: the four types that reductions and searches are compiled for, and conversions of the others to them.
//
// Converting is cheap beside the computation; compiling every kernel for a dozen types would not be.
#pragma once

#include "kernel_api/kernel.h"

namespace stillflow {

using Conversion = void (*)(const void* from, int64_t count, void* to);

struct WorkedType {
  DType type;          // float, double, int32 or int64; kInvalid if there is none
  Conversion convert;  // null: elements are of that type already, or have its bits
  Conversion restore;  // the way back, if it is that of a number and convert is not null: rounds, or wraps around
};

// Keeps the order of numbers: 16-bit floats are widened, integers of 8 and 16 bits too, and unsigned ones of 32 and
// 64 bits have their highest bit flipped. NaN stays NaN.
WorkedType OrderedAs(DType type);
// Turns the order around, by a sign or by the complement. Every type is converted.
WorkedType ReversedAs(DType type);
// Keeps numbers (of booleans 0 and 1), and sums and products modulo 2^n of integers of n bits.
WorkedType CountedAs(DType type);

// Calls body(TypeTag<T>) for the T that `type` is worked on as.
template <typename Body>
Status ForWorkedType(const char* kernel, DType type, const WorkedType& worked, const Body& body) {
  if (worked.type == DType::kInvalid) return UnsupportedType(kernel, type);
  return ForType<float, double, int64_t, int32_t>(kernel, worked.type, body);
}

}  // namespace stillflow
