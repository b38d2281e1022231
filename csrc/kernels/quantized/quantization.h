// quantization.h: real numbers as integers of few bits, between the least and the largest number that they stand for.
//
// Single numbers are converted in double, those of tensors in float, each as TensorFlow rounds them.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernel_api/kernel.h"

namespace stillflow {

constexpr int64_t kQuantizedPerChunk = 32768;

template <typename T>
constexpr int64_t kLowestCode = std::numeric_limits<T>::min();
template <typename T>
constexpr int64_t kHighestCode = std::numeric_limits<T>::max();
template <typename T>
constexpr int64_t kCodes = int64_t{1} << (8 * sizeof(T));

// Calls body(TypeTag<T>) for the integer T that a quantized type among Ts is stored as.
template <typename T>
constexpr DType QuantizedTypeOf() {
  if constexpr (std::is_same_v<T, int8_t>) return DType::kQInt8;
  if constexpr (std::is_same_v<T, uint8_t>) return DType::kQUInt8;
  if constexpr (std::is_same_v<T, int16_t>) return DType::kQInt16;
  if constexpr (std::is_same_v<T, uint16_t>) return DType::kQUInt16;
  if constexpr (std::is_same_v<T, int32_t>) return DType::kQInt32;
  return DType::kInvalid;
}
template <typename... Ts, typename Body>
Status ForQuantizedType(const char* kernel, DType dtype, const Body& body) {
  Status status;
  const bool is_found = ((QuantizedTypeOf<Ts>() == dtype ? (status = body(TypeTag<Ts>{}), true) : false) || ...);
  return is_found ? static_cast<Status&&>(status) : UnsupportedType(kernel, dtype);
}

// What numbers a tensor's least and largest integer stand for.
struct NumberRange {
  float low = 0;
  float high = 0;
};

inline Status ReadFloat(const KernelCall& call, int in, const char* name, float* value) {
  const Tensor& tensor = *call.in[in];
  if (tensor.count < 1) return STILLFLOW_INVALID_ARGUMENT("%s must have a value", name);
  *value = Data<float>(tensor)[0];
  return Status();
}

inline Status ReadRange(const KernelCall& call, int in, NumberRange* range) {
  STILLFLOW_RETURN_IF_ERROR(ReadFloat(call, in, "The least number of a range", &range->low));
  return ReadFloat(call, in + 1, "The largest number of a range", &range->high);
}

inline Status OutputFloat(const KernelCall& call, int out, float value) {
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out, DType::kFloat, Shape()));
  MutableData<float>(*call.out[out])[0] = value;
  return Status();
}

inline Status OutputRange(const KernelCall& call, int out, NumberRange range) {
  STILLFLOW_RETURN_IF_ERROR(OutputFloat(call, out, range.low));
  return OutputFloat(call, out + 1, range.high);
}

// The integer nearest to zero that x is cut off to; as of processors, the least if it does not fit.
inline int32_t CutOff(float x) {
  return x >= -0x1p31f && x < 0x1p31f ? static_cast<int32_t>(x) : std::numeric_limits<int32_t>::min();
}
inline int64_t CutOff(double x) {
  return x >= -0x1p63 && x < 0x1p63 ? static_cast<int64_t>(x) : std::numeric_limits<int64_t>::min();
}

// ---- Single numbers ---------------------------------------------------------------------------------------

// The integer that stands for x, if there were no end of them.
template <typename T>
int64_t UnboundedCode(float x, NumberRange range) {
  if (range.low == range.high) return kLowestCode<T>;
  const double adjustment = static_cast<double>(kCodes<T>) / (static_cast<double>(kCodes<T>) - 1.0);
  const double width = static_cast<double>(range.high - range.low) * adjustment;
  const double scale = static_cast<double>(kCodes<T>) / width;
  const double code = std::round(static_cast<double>(x) * scale) - std::round(static_cast<double>(range.low) * scale);
  return static_cast<int64_t>(static_cast<uint64_t>(CutOff(code)) + static_cast<uint64_t>(kLowestCode<T>));
}

template <typename T>
T CodeOf(float x, NumberRange range) {
  return static_cast<T>(std::clamp(UnboundedCode<T>(x, range), kLowestCode<T>, kHighestCode<T>));
}

template <typename T>
float NumberOfCode(T code, NumberRange range) {
  if (range.low == range.high) return range.low;
  const double adjustment = static_cast<double>(kCodes<T>) / (static_cast<double>(kCodes<T>) - 1.0);
  const double width = static_cast<double>(range.high - range.low) * adjustment;
  const double step = width / static_cast<double>(kCodes<T>);
  const auto rounded_step = static_cast<float>(step);
  const float low = std::round(range.low / rounded_step) * rounded_step;
  const double steps = static_cast<double>(code) - static_cast<double>(kLowestCode<T>);
  return static_cast<float>(static_cast<double>(low) + steps * step);
}

// ---- Tensors ----------------------------------------------------------------------------------------------

template <typename T>
struct Dequantizer {
  float step;
  float zero;  // what stands for 0
  explicit Dequantizer(NumberRange range)
      : step(static_cast<float>(static_cast<double>(range.high - range.low) /
                                (static_cast<double>(kCodes<T>) - 1.0))) {
    const float low = range.high == range.low ? range.low : std::round(range.low / step) * step;
    zero = low - static_cast<float>(kLowestCode<T>) * step;
  }
  float operator()(T code) const { return zero + static_cast<float>(code) * step; }
};

template <typename T>
struct Quantizer {
  float scale;
  float offset;
  explicit Quantizer(NumberRange range)
      : scale(range.high == range.low ? 0.0f
                                      : static_cast<float>((static_cast<double>(kCodes<T>) - 1.0) /
                                                           static_cast<double>(range.high - range.low))),
        offset(std::round(range.low * scale) - static_cast<float>(kLowestCode<T>)) {}
  T operator()(float x) const {
    constexpr float kMost = sizeof(T) == 4 ? 2147483520.0f : static_cast<float>(kHighestCode<T>);
    const float code = std::round(x * scale) - offset;
    const float above = code > static_cast<float>(kLowestCode<T>) ? code : static_cast<float>(kLowestCode<T>);
    return static_cast<T>(CutOff(above < kMost ? above : kMost));
  }
};

// The range of products, as sums of which they are kept.
template <typename A, typename B>
NumberRange RangeOfProducts(NumberRange a, NumberRange b) {
  const float a_step = (a.high - a.low) / static_cast<float>(kHighestCode<A> - kLowestCode<A>);
  const float b_step = (b.high - b.low) / static_cast<float>(kHighestCode<B> - kLowestCode<B>);
  const float step = a_step * b_step;
  return {step * static_cast<float>(kLowestCode<int32_t>), step * static_cast<float>(kHighestCode<int32_t>)};
}

// Sums of 32 bits go around.
inline int32_t AddAround(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
inline int32_t MultiplyAround(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
}

}  // namespace stillflow
