// Integer operations that can fail, shift, or count bits: they look at values, so they are plain loops.
#include "elementwise/tile.h"

namespace stillflow {
namespace {

// Each of these says by `fault` that its operands have no result.
struct TruncateDiv {
  template <typename T>
  static T Run(T a, T b, uint32_t* fault) {
    if (b == 0) {
      *fault |= kDivisionByZero;
      return 0;
    }
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(0 - static_cast<uint64_t>(a));
    return static_cast<T>(a / b);
  }
};
struct TruncateMod {
  template <typename T>
  static T Run(T a, T b, uint32_t* fault) {
    if (b == 0) {
      *fault |= kDivisionByZero;
      return 0;
    }
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};
struct FloorDiv {
  template <typename T>
  static T Run(T a, T b, uint32_t* fault) {
    const T quotient = TruncateDiv::Run(a, b, fault);
    const bool is_between = b != 0 && b != static_cast<T>(-1) && a % b != 0;
    return is_between && (a < 0) != (b < 0) ? static_cast<T>(quotient - 1) : quotient;
  }
};
struct FloorMod {
  template <typename T>
  static T Run(T a, T b, uint32_t* fault) {
    const T remainder = TruncateMod::Run(a, b, fault);
    return remainder != 0 && (remainder < 0) != (b < 0) ? static_cast<T>(remainder + b) : remainder;
  }
};
struct Pow {
  template <typename T>
  static T Run(T base, T exponent, uint32_t* fault) {
    if (exponent < 0) {
      *fault |= kNegativePower;
      return 0;
    }
    auto factor = static_cast<uint64_t>(base);
    uint64_t result = 1;
    for (auto left = static_cast<uint64_t>(exponent); left != 0; left >>= 1) {
      if (left & 1) result *= factor;
      factor *= factor;
    }
    return static_cast<T>(result);
  }
};

template <typename T>
inline int Bits(T count) {  // shift counts are clamped
  constexpr int kLast = sizeof(T) * 8 - 1;
  return count < 0 ? 0 : (count > static_cast<T>(kLast) ? kLast : static_cast<int>(count));
}
struct LeftShift {
  template <typename T>
  static T Run(T a, T b, uint32_t*) {
    return static_cast<T>(static_cast<uint64_t>(a) << Bits(b));
  }
};
struct RightShift {
  template <typename T>
  static T Run(T a, T b, uint32_t*) {
    return static_cast<T>(a >> Bits(b));
  }
};
struct And {
  template <typename T>
  static T Run(T a, T b, uint32_t*) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <typename T>
  static T Run(T a, T b, uint32_t*) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <typename T>
  static T Run(T a, T b, uint32_t*) {
    return static_cast<T>(a ^ b);
  }
};
struct Invert {
  template <typename T>
  static T Run(T x) {
    return static_cast<T>(~x);
  }
};

struct PopulationCount {
  template <typename T>
  static uint8_t Run(T x) {
    return static_cast<uint8_t>(__builtin_popcountll(static_cast<std::make_unsigned_t<T>>(x)));
  }
};

template <typename Op, typename T>
void CheckedTile(const TileCall& call) {
  const T* a = static_cast<const T*>(call.in[0]);
  const T* b = static_cast<const T*>(call.in[1]);
  const int64_t a_step = call.scalars & 1 ? 0 : 1;
  const int64_t b_step = call.scalars & 2 ? 0 : 1;
  T* y = static_cast<T*>(call.out);
  uint32_t faults = 0;
  for (int64_t i = 0; i < call.count; ++i) y[i] = Op::Run(a[i * a_step], b[i * b_step], &faults);
  *call.faults |= faults;
}

template <typename Op, typename T>
constexpr TileOp Checked(const char* name) {
  return {name, DTypeOf<T>(), DTypeOf<T>(), 2, CheckedTile<Op, T>};
}

}  // namespace

const TileOp kIntegerTiles[] = {STILLFLOW_INTEGER_TILES(Checked, TruncateDiv, "truncate_div"),
                                Checked<TruncateDiv, uint16_t>("truncate_div"),
                                STILLFLOW_INTEGER_TILES(Checked, TruncateDiv, "div"),
                                Checked<TruncateDiv, uint16_t>("div"),
                                STILLFLOW_INTEGER_TILES(Checked, TruncateMod, "truncate_mod"),
                                STILLFLOW_INTEGER_TILES(Checked, FloorDiv, "floor_div"),
                                Checked<FloorDiv, uint16_t>("floor_div"),
                                STILLFLOW_INTEGER_TILES(Checked, FloorMod, "floor_mod"),
                                STILLFLOW_INTEGER_TILES(Checked, Pow, "pow"),
                                STILLFLOW_ALL_INTEGER_TILES(Checked, LeftShift, "left_shift"),
                                STILLFLOW_ALL_INTEGER_TILES(Checked, RightShift, "right_shift"),
                                STILLFLOW_ALL_INTEGER_TILES(Checked, And, "bitwise_and"),
                                STILLFLOW_ALL_INTEGER_TILES(Checked, Or, "bitwise_or"),
                                STILLFLOW_ALL_INTEGER_TILES(Checked, Xor, "bitwise_xor"),
                                STILLFLOW_ALL_INTEGER_TILES(Unary, Invert, "invert"),
                                STILLFLOW_ALL_INTEGER_TILES(Unary, PopulationCount, "population_count"),
                                {}};

}  // namespace stillflow
