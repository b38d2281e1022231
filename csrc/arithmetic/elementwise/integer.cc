// Integer operations that can fail, shift, or count bits: they look at values, so they are plain loops.
#include <algorithm>

#include "arithmetic/elementwise/tile.h"

namespace stillflow {
namespace {

// ---- Division -----------------------------------------------------------------------------------------------

// A quotient rounded toward zero; b is neither 0 nor -1. A division of floating-point numbers is vector code, one of
// integers is not. It rounds by less than |a| / |b| * 2^-p, where 2^p > |a|; between the exact quotient and an
// integer that it is not lies 1 / |b| at least, so it does not get there.
struct PlainQuotient {
  template <typename T>
  STILLFLOW_INLINE static T Run(T a, T b) {
    if constexpr (sizeof(T) == 8) {
      return a / b;
    } else {
      return static_cast<T>(static_cast<double>(a) / static_cast<double>(b));
    }
  }
};

// The same of a and b from -2^51 to 2^51 - 1, which lie in the mantissas of doubles at kShift.
struct QuotientOfSmall {
  static constexpr double kShift = 0x1.8p52;
  static constexpr int64_t kShiftBits = 0x4338000000000000;

  STILLFLOW_INLINE static double ToDouble(int64_t x) { return BitCast<double>(x + kShiftBits) - kShift; }
  STILLFLOW_INLINE static int64_t Run(int64_t a, int64_t b) {
    const double exact = ToDouble(a) / ToDouble(b);
    const double nearest = RoundSmall(exact);
    const double excess = Abs(nearest) > Abs(exact) ? CopySign(1.0, exact) : 0.0;
    return BitCast<int64_t>(nearest - excess + kShift) - kShiftBits;
  }
  static bool Takes(const int64_t* x, int64_t count) {
    uint64_t high = 0;
    for (int64_t i = 0; i < count; ++i) high |= static_cast<uint64_t>(x[i]) + (uint64_t{1} << 51);
    return high >> 52 == 0;
  }
};

// By 0 all results are 0; whoever divided is told by the fault.
struct Division {
  static constexpr uint32_t kFault = kDivisionByZero;
  template <typename T>
  STILLFLOW_INLINE static bool IsFaulty(T b) {
    return b == 0;
  }

 protected:
  template <typename T>
  STILLFLOW_INLINE static bool IsMinusOne(T b) {
    return std::is_signed_v<T> && b == static_cast<T>(-1);
  }
  template <typename Quotient, typename T>
  STILLFLOW_INLINE static T Truncated(T a, T b) {
    if constexpr (sizeof(T) == 8 && std::is_same_v<Quotient, PlainQuotient>) {  // divisions take longer than branches
      if (b == 0) return 0;
      if (!IsMinusOne(b)) return Quotient::Run(a, b);
      return static_cast<T>(0 - static_cast<uint64_t>(a));
    }
    const bool is_plain = (b != 0) & !IsMinusOne(b);
    const T quotient = Quotient::Run(a, is_plain ? b : static_cast<T>(1));
    const T other = b == 0 ? static_cast<T>(0) : static_cast<T>(0 - static_cast<uint64_t>(a));
    return is_plain ? quotient : other;
  }
  template <typename T>
  STILLFLOW_INLINE static T Remainder(T a, T b, T quotient) {
    const uint64_t product = static_cast<uint64_t>(quotient) * static_cast<uint64_t>(b);
    return b == 0 ? static_cast<T>(0) : static_cast<T>(static_cast<uint64_t>(a) - product);
  }
};
template <typename Quotient>
struct TruncateDiv : Division {
  template <typename T>
  STILLFLOW_INLINE static T Run(T a, T b) {
    return Truncated<Quotient>(a, b);
  }
};
template <typename Quotient>
struct TruncateMod : Division {
  template <typename T>
  STILLFLOW_INLINE static T Run(T a, T b) {
    return Remainder(a, b, Truncated<Quotient>(a, b));
  }
};
template <typename Quotient>
struct FloorDiv : Division {
  template <typename T>
  STILLFLOW_INLINE static T Run(T a, T b) {
    const T quotient = Truncated<Quotient>(a, b);
    const T remainder = Remainder(a, b, quotient);
    return (remainder != 0) & ((remainder < 0) != (b < 0)) ? static_cast<T>(quotient - 1) : quotient;
  }
};
template <typename Quotient>
struct FloorMod : Division {
  template <typename T>
  STILLFLOW_INLINE static T Run(T a, T b) {
    const T remainder = Remainder(a, b, Truncated<Quotient>(a, b));
    return (remainder != 0) & ((remainder < 0) != (b < 0)) ? static_cast<T>(remainder + b) : remainder;
  }
};

// ---- Others -------------------------------------------------------------------------------------------------

struct Power {
  static constexpr uint32_t kFault = kNegativePower;
  template <typename T>
  static bool IsFaulty(T exponent) {
    return exponent < 0;
  }
};

// Counts are clamped to 0, ..., kLast, the width of an element less one.
template <int kLast>
struct LeftShift {
  template <typename T>
  STILLFLOW_INLINE static T Run(T a, T b) {
    const int bits = b < 0 ? 0 : (b > static_cast<T>(kLast) ? kLast : static_cast<int>(b));
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << bits);
  }
};
template <int kLast>
struct RightShift {
  template <typename T>
  STILLFLOW_INLINE static T Run(T a, T b) {
    const int bits = b < 0 ? 0 : (b > static_cast<T>(kLast) ? kLast : static_cast<int>(b));
    return static_cast<T>(a >> bits);
  }
};
struct And : Sized {
  template <typename T>
  STILLFLOW_INLINE static T Run(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or : Sized {
  template <typename T>
  STILLFLOW_INLINE static T Run(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor : Sized {
  template <typename T>
  STILLFLOW_INLINE static T Run(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct Invert : Sized {
  template <typename T>
  static T Run(T x) {
    return static_cast<T>(~x);
  }
};

struct PopulationCount : Sized {
  template <typename T>
  static uint8_t Run(T x) {
    return static_cast<uint8_t>(__builtin_popcountll(static_cast<std::make_unsigned_t<T>>(x)));
  }
};

// ---- Tiles --------------------------------------------------------------------------------------------------

template <typename Op, typename T>
void FindFaults(const TileCall& call) {
  const T* b = static_cast<const T*>(call.in[1]);
  const int64_t count = OperandCount(call, 1);
  T faulty = 0;
  for (int64_t i = 0; i < count; ++i) faulty |= static_cast<T>(Op::IsFaulty(b[i]));
  if (faulty != 0) *call.faults |= Op::kFault;
}

// An operand's elements.
template <typename T, typename W>
void LoadAs(const TileCall& call, int in, W* to) {
  const T* const from = static_cast<const T*>(call.in[in]);
  if ((call.scalars >> in & 1) != 0) {
    std::fill_n(to, call.count, static_cast<W>(*from));
  } else {
    std::copy_n(from, call.count, to);
  }
}

// Wraps around. By squaring, a bit of all exponents at a time.
template <typename T>
void PowTile(const TileCall& call) {
  using W = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  constexpr int64_t kBlock = 256;
  FindFaults<Power, T>(call);
  ForParts<T>(call, kBlock, 2, [](const TileCall& part) {
    W factors[kBlock];
    W exponents[kBlock];
    W powers[kBlock];
    LoadAs<T>(part, 0, factors);
    LoadAs<T>(part, 1, exponents);
    std::fill_n(powers, part.count, 1);
    W left = 0;
    for (int64_t i = 0; i < part.count; ++i) left |= exponents[i];
    for (; left != 0; left >>= 1) {
      for (int64_t i = 0; i < part.count; ++i) {
        powers[i] *= (exponents[i] & 1) != 0 ? factors[i] : 1;
        factors[i] *= factors[i];
        exponents[i] >>= 1;
      }
    }
    T* const y = static_cast<T*>(part.out);
    for (int64_t i = 0; i < part.count; ++i) y[i] = static_cast<T>(powers[i]);
  });
}

template <template <typename> class Op, typename T>
void DivisionTile(const TileCall& call) {
  FindFaults<Division, T>(call);
  constexpr bool kHasWideRegisters = kRegisterBytes > 16;  // what pays for the shorter division of doubles
  if constexpr (sizeof(T) < 8 || !kHasWideRegisters) {
    BinaryTile<Op<PlainQuotient>, T>(call);
  } else {
    ForParts<T>(call, 256, 2, [](const TileCall& part) {
      bool are_small = true;
      for (int i = 0; i < 2; ++i) {
        are_small &= QuotientOfSmall::Takes(static_cast<const T*>(part.in[i]), OperandCount(part, i));
      }
      are_small ? BinaryTile<Op<QuotientOfSmall>, T>(part) : BinaryTile<Op<PlainQuotient>, T>(part);
    });
  }
}

template <template <int> class Op, typename T>
constexpr TileOp OfShift(const char* name) {
  return Binary<Op<static_cast<int>(sizeof(T)) * 8 - 1>, T>(name);
}

template <typename T>
constexpr TileOp OfPower(const char* name) {
  return TileOpOf<Power, T, Worked<Power, T>>(name, 2, PowTile<Worked<Power, T>>);
}

template <template <typename> class Op, typename T>
constexpr TileOp Divided(const char* name) {
  return TileOpOf<Division, T, Worked<Division, T>>(name, 2, DivisionTile<Op, Worked<Division, T>>);
}

}  // namespace

const TileOp kIntegerTiles[] = {STILLFLOW_INTEGER_TILES(Divided, TruncateDiv, "truncate_div"),
                                Divided<TruncateDiv, uint16_t>("truncate_div"),
                                STILLFLOW_INTEGER_TILES(Divided, TruncateDiv, "div"),
                                Divided<TruncateDiv, uint16_t>("div"),
                                STILLFLOW_INTEGER_TILES(Divided, TruncateMod, "truncate_mod"),
                                STILLFLOW_INTEGER_TILES(Divided, FloorDiv, "floor_div"),
                                Divided<FloorDiv, uint16_t>("floor_div"),
                                STILLFLOW_INTEGER_TILES(Divided, FloorMod, "floor_mod"),
                                OfPower<int64_t>("pow"),
                                OfPower<int32_t>("pow"),
                                OfPower<int16_t>("pow"),
                                OfPower<int8_t>("pow"),
                                OfPower<uint8_t>("pow"),
                                STILLFLOW_ALL_INTEGER_TILES(OfShift, LeftShift, "left_shift"),
                                STILLFLOW_ALL_INTEGER_TILES(OfShift, RightShift, "right_shift"),
                                STILLFLOW_BITS_TILES(Binary, And, "bitwise_and"),
                                STILLFLOW_BITS_TILES(Binary, Or, "bitwise_or"),
                                STILLFLOW_BITS_TILES(Binary, Xor, "bitwise_xor"),
                                STILLFLOW_BITS_TILES(Unary, Invert, "invert"),
                                STILLFLOW_ALL_INTEGER_TILES(Unary, PopulationCount, "population_count"),
                                {}};

}  // namespace stillflow
