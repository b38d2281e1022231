// Conversions between element types.
//
// Floats to integers truncate; what does not fit, NaN included, becomes the type's minimum, as x86 does for
// 32 and 64 bits; for uint64 that is 2^63, and 0 for what is too large. Integers wrap. Anything but zero is true,
// NaN too.
#include <algorithm>
#include <limits>

#include "arithmetic/elementwise/tile.h"
#include "arithmetic/math/halves.h"

namespace stillflow {
namespace {

// AVX2 has no conversion of doubles to 64-bit integers, and going through registers of single numbers takes twice as
// long as their mantissas, shifted.
#if defined(__AVX2__) && !defined(__AVX512DQ__)
constexpr bool kShiftsMantissas = true;
#else
constexpr bool kShiftsMantissas = false;
#endif

// x towards zero; the smallest integer for what does not fit.
inline int64_t ShiftedMantissa(double x) {
  constexpr int64_t kHighest = FloatFormat<double>::kBias + 62;  // exponent of what fits, with its bias
  constexpr int kBits = FloatFormat<double>::kMantissaBits;
  const auto bits = BitCast<uint64_t>(x);
  const int64_t exponent = static_cast<int64_t>(bits >> kBits & 0x7FF);
  const uint64_t mantissa = (bits | uint64_t{1} << kBits) << (63 - kBits - 1) & ~(uint64_t{1} << 63);
  const int64_t places = kHighest - exponent;
  const uint64_t magnitude = mantissa >> (places < 63 ? places & 63 : 63);
  const uint64_t sign = static_cast<int64_t>(bits) < 0 ? ~uint64_t{0} : 0;
  const auto value = static_cast<int64_t>((magnitude ^ sign) - sign);
  return places < 0 ? std::numeric_limits<int64_t>::min() : value;
}

// Through the signed type in which x86 converts, then wrapped.
template <typename To, typename From>
inline To FloatToInt(From x) {
  using Middle = std::conditional_t<(sizeof(To) < 4 || std::is_same_v<To, int32_t>), int32_t, int64_t>;
  constexpr From kLow = static_cast<From>(std::numeric_limits<Middle>::min());
  if constexpr (std::is_same_v<Middle, int64_t> && !std::is_same_v<To, uint64_t> && kShiftsMantissas) {
    return static_cast<To>(ShiftedMantissa(x));
  }
#if defined(__SSE2__)
  const auto middle = static_cast<Middle>(x);  // an instruction, which does so with what C++ leaves undefined
#else
  const From at_least = x > kLow ? x : kLow;
  const auto middle = static_cast<Middle>(x < -kLow ? at_least : kLow);
#endif
  if constexpr (std::is_same_v<To, uint64_t>) {
    // From 2^63 on without the highest bit, which is put back; what is too large even for that becomes 0.
    const bool is_high = x >= -kLow;
    const bool fits_high = is_high & (x < -2 * kLow);
    const auto high =
        static_cast<uint64_t>(static_cast<int64_t>(fits_high ? x + kLow : From{0})) + (uint64_t{1} << 63);
    return is_high ? (fits_high ? high : 0) : static_cast<uint64_t>(middle);
  }
  return static_cast<To>(middle);
}

template <typename To, typename From>
inline To Convert(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    if constexpr (kIsFloating<From>) {
      return Widen(x) != 0;
    } else {
      return x != 0;
    }
  } else if constexpr (kIsFloating<From> && std::is_integral_v<To>) {
    // Doubles hold all floats, and what has 64 bits like the result is compared without being packed and unpacked.
    using Worked = std::conditional_t<sizeof(To) == 8, double, Wide<From>>;
    return FloatToInt<To>(static_cast<Worked>(Widen(x)));
  } else if constexpr (kIsFloating<From>) {
    return Narrow<To>(Widen(x));
  } else if constexpr (kIsFloating<To>) {
    return Narrow<To>(static_cast<Wide<To>>(x));
  } else {
    return static_cast<To>(x);
  }
}

template <typename From, typename To>
void CastTile(const TileCall& call) {
  const From* x = static_cast<const From*>(call.in[0]);
  To* y = static_cast<To*>(call.out);
  ForElements<kStep<From, To>>(
      call.count, [=](int64_t i) __attribute__((always_inline)) { y[i] = Convert<To, From>(x[i]); });
}

// Goes through floats, a few at a time.
template <typename From>
void CastToHalf(const TileCall& call) {
  constexpr int64_t kStagedElements = 256;
  alignas(64) float staged[kStagedElements];
  const From* from = static_cast<const From*>(call.in[0]);
  Half* to = static_cast<Half*>(call.out);
  TileCall part = call;
  part.out = staged;
  for (int64_t begin = 0; begin < call.count; begin += kStagedElements) {
    part.count = std::min(kStagedElements, call.count - begin);
    part.in[0] = from + begin;
    CastTile<From, float>(part);
    NarrowToHalves(staged, part.count, to + begin);
  }
}

template <typename From, typename To>
constexpr TileOp Cast() {
  constexpr bool is_from_half = std::is_same_v<From, Half>;
  constexpr bool is_to_half = std::is_same_v<To, Half>;
  // What is converted as another type is. Of a wide one results of its own type are narrowed.
  constexpr bool is_wide = is_from_half || kIsSmallInteger<From> || std::is_same_v<From, bool>;
  TileOp op = {"cast", DTypeOf<From>(), DTypeOf<To>(), 1, nullptr};
  if constexpr (is_from_half && std::is_same_v<To, float>) {
    op.run = [](const TileCall& call) {
      WidenHalves(static_cast<const Half*>(call.in[0]), call.count, static_cast<float*>(call.out));
    };
  } else if constexpr (std::is_same_v<From, float> && is_to_half) {
    op.run = [](const TileCall& call) {
      NarrowToHalves(static_cast<const float*>(call.in[0]), call.count, static_cast<Half*>(call.out));
    };
  } else if constexpr (is_wide) {
    using Wide = std::conditional_t<is_from_half, float, int32_t>;
    op.run = Cast<Wide, std::conditional_t<std::is_same_v<From, To>, Wide, To>>().run;
    op.is_wide = true;
  } else if constexpr (is_to_half) {
    op.run = CastToHalf<From>;
  } else {
    op.run = CastTile<From, To>;
  }
  return op;
}

#define CASTS_FROM(From)                                                                                        \
  Cast<From, float>(), Cast<From, double>(), Cast<From, Half>(), Cast<From, BFloat16>(), Cast<From, int64_t>(), \
      Cast<From, int32_t>(), Cast<From, int16_t>(), Cast<From, int8_t>(), Cast<From, uint64_t>(),               \
      Cast<From, uint32_t>(), Cast<From, uint16_t>(), Cast<From, uint8_t>(), Cast<From, bool>()

}  // namespace

const TileOp kCastTiles[] = {CASTS_FROM(float),    CASTS_FROM(double),
                             CASTS_FROM(Half),     CASTS_FROM(BFloat16),
                             CASTS_FROM(int64_t),  CASTS_FROM(int32_t),
                             CASTS_FROM(int16_t),  CASTS_FROM(int8_t),
                             CASTS_FROM(uint64_t), CASTS_FROM(uint32_t),
                             CASTS_FROM(uint16_t), CASTS_FROM(uint8_t),
                             CASTS_FROM(bool),     {}};

}  // namespace stillflow
