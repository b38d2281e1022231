// half_tile.h: light operations on 16-bit floats without a copy of them as floats, where processors convert them.
#pragma once

#include <cmath>

#include "arithmetic/elementwise/tile.h"
#include "arithmetic/math/halves.h"

namespace stillflow {

// std::floor, std::ceil and std::nearbyint, of a register's lanes too.
template <typename T>
STILLFLOW_INLINE T Floor(T x) {
  return std::floor(x);
}
template <typename T>
STILLFLOW_INLINE T Ceil(T x) {
  return std::ceil(x);
}
template <typename T>
STILLFLOW_INLINE T Rint(T x) {
  return std::nearbyint(x);
}

#if defined(__F16C__)

#if defined(__AVX512F__)
template <int kRounding>
STILLFLOW_INLINE Register<float> Round(Register<float> x) {
  return _mm512_maskz_roundscale_ps(0xFFFF, x, kRounding | _MM_FROUND_NO_EXC);
}
#else
template <int kRounding>
STILLFLOW_INLINE Register<float> Round(Register<float> x) {
  return _mm256_round_ps(x, kRounding | _MM_FROUND_NO_EXC);
}
#endif
STILLFLOW_INLINE Register<float> Floor(Register<float> x) { return Round<_MM_FROUND_TO_NEG_INF>(x); }
STILLFLOW_INLINE Register<float> Ceil(Register<float> x) { return Round<_MM_FROUND_TO_POS_INF>(x); }
STILLFLOW_INLINE Register<float> Rint(Register<float> x) { return Round<_MM_FROUND_TO_NEAREST_INT>(x); }

// An operand of a HalfTile.
class HalfOperand {
 public:
  HalfOperand(const TileCall& call, int in) : from_(static_cast<const Half*>(call.in[in])), step_(1) {
    if ((call.scalars >> in & 1) == 0) return;
    std::fill_n(scalar_, kHalfLanes, *from_);
    from_ = scalar_;
    step_ = 0;
  }
  HalfOperand(const HalfOperand&) = delete;
  HalfOperand& operator=(const HalfOperand&) = delete;

  STILLFLOW_INLINE Register<float> Lanes(int64_t i) const { return LoadLanes(from_ + i * step_); }
  STILLFLOW_INLINE float One(int64_t i) const { return Widen(from_[i * step_]); }

 private:
  const Half* from_;
  int64_t step_;
  Half scalar_[kHalfLanes];
};

// Registers with a NaN are left to what all processors have.
template <typename Op, typename... Operands>
STILLFLOW_INLINE void RunHalves(const TileCall& call, const Operands&... operands) {
  constexpr int64_t kAtOnce = 2 * kHalfLanes;
  Half* const out = static_cast<Half*>(call.out);
  const auto run_one = [&](int64_t i) { out[i] = Narrow<Half>(Op::Run(operands.One(i)...)); };
  int64_t i = 0;
  for (; i + kAtOnce <= call.count; i += kAtOnce) {
    const Register<float> first = Op::Run(operands.Lanes(i)...);
    const Register<float> second = Op::Run(operands.Lanes(i + kHalfLanes)...);
    if (__builtin_expect(HasNaN(first, second), false)) {
      for (int64_t k = i; k < i + kAtOnce; ++k) run_one(k);
    } else {
      StoreLanes(first, out + i);
      StoreLanes(second, out + i + kHalfLanes);
    }
  }
  for (; i < call.count; ++i) run_one(i);
}

template <typename Op>
__attribute__((noinline)) void UnaryHalfTile(const TileCall& call) {
  RunHalves<Op>(call, HalfOperand(call, 0));
}
template <typename Op>
__attribute__((noinline)) void BinaryHalfTile(const TileCall& call) {
  RunHalves<Op>(call, HalfOperand(call, 0), HalfOperand(call, 1));
}

#endif

// Unary and Binary, for an Op that takes registers as well.
template <typename Op, typename T>
constexpr TileOp LightUnary(const char* name) {
#if defined(__F16C__)
  if constexpr (std::is_same_v<T, Half>) return {name, DType::kHalf, DType::kHalf, 1, UnaryHalfTile<Op>};
#endif
  return Unary<Op, T>(name);
}
template <typename Op, typename T>
constexpr TileOp LightBinary(const char* name) {
#if defined(__F16C__)
  if constexpr (std::is_same_v<T, Half>) return {name, DType::kHalf, DType::kHalf, 2, BinaryHalfTile<Op>};
#endif
  return Binary<Op, T>(name);
}

}  // namespace stillflow
