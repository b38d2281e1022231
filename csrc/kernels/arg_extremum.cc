// arg_extremum: where along an axis the largest or smallest element is.
//
//   in[0]  input  numbers
//   in[1]  axis   int32 | int64 scalar; negative counts from the end
//   out[0] the input's shape without the axis, int32 or int64 as attr 0 says
//   attrs  output type; whether the smallest is looked for
//
// Of equal elements the first counts, and NaN does not unless there is nothing else.
#include <algorithm>
#include <limits>

#include "math/deinterleave.h"
#include "math/element.h"
#include "math/lanes.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 32768;
constexpr int64_t kElementsPerBlock = 1024;
constexpr int64_t kColumns = 256;
// So few columns, each with at least the rows of a block, are looked at as rows are.
constexpr int64_t kMostNarrow = 8;
constexpr int64_t kRowsPerBlock = 256;

template <typename W>
using Limits = std::numeric_limits<W>;

// Worst is what no element is behind.
struct Larger : LargerLanes {
  template <typename W>
  STILLFLOW_INLINE static bool IsBetter(W a, W b) {
    return a > b;
  }
  template <typename W>
  static constexpr W Worst() {
    return Limits<W>::has_infinity ? -Limits<W>::infinity() : Limits<W>::lowest();
  }
};
struct Smaller : PlusLanes {
  template <typename V>
  STILLFLOW_INLINE static V Combine(V a, V b) {
    return b < a ? b : a;
  }
  template <typename W>
  STILLFLOW_INLINE static bool IsBetter(W a, W b) {
    return a < b;
  }
  template <typename W>
  static constexpr W Worst() {
    return Limits<W>::has_infinity ? Limits<W>::infinity() : Limits<W>::max();
  }
};

// The input seen as [outer, size, inner].
struct Layout {
  int64_t outer;
  int64_t size;
  int64_t inner;
};

// A bit, or as many as it has bytes, of each lane that equals its fellow. Elsewhere than on x86 of the first one
// alone.
#if defined(__SSE2__)
template <typename W>
constexpr int kBitsPerLane = sizeof(W) >= 4 ? 1 : sizeof(W);
#else
template <typename W>
constexpr int kBitsPerLane = sizeof(W);
#endif
template <typename W>
STILLFLOW_INLINE uint64_t EqualLanes(Register<W> a, Register<W> b) {
  const auto is_equal = a == b;
#if defined(__AVX512BW__) && defined(__AVX512DQ__)
  if constexpr (sizeof(W) == 4) return _mm512_movepi32_mask((__m512i)is_equal);
  if constexpr (sizeof(W) == 8) return _mm512_movepi64_mask((__m512i)is_equal);
  return _mm512_movepi8_mask((__m512i)is_equal);
#elif defined(__AVX2__)
  if constexpr (sizeof(W) == 4) return static_cast<uint32_t>(_mm256_movemask_ps((__m256)is_equal));
  if constexpr (sizeof(W) == 8) return static_cast<uint32_t>(_mm256_movemask_pd((__m256d)is_equal));
  return static_cast<uint32_t>(_mm256_movemask_epi8((__m256i)is_equal));
#elif defined(__SSE2__)
  if constexpr (sizeof(W) == 4) return static_cast<uint32_t>(_mm_movemask_ps((__m128)is_equal));
  if constexpr (sizeof(W) == 8) return static_cast<uint32_t>(_mm_movemask_pd((__m128d)is_equal));
  return static_cast<uint32_t>(_mm_movemask_epi8((__m128i)is_equal));
#else
  uint64_t words[2];
  std::memcpy(words, &is_equal, sizeof words);
  if (words[0] != 0) return uint64_t{1} << __builtin_ctzll(words[0]) / 8;
  return words[1] != 0 ? uint64_t{1} << (8 + __builtin_ctzll(words[1]) / 8) : 0;
#endif
}

// Where the first element is that equals `value`, of at least a register's; -1 if none does. As many registers as
// fill 64 bits are looked at together: the processor cannot foresee which one it is.
template <typename W>
int64_t FirstEqual(const W* from, int64_t count, W value) {
  constexpr int kWhole = kRegisterBytes / static_cast<int>(sizeof(W));
  constexpr int kBits = kWhole * kBitsPerLane<W>;
  constexpr int kGroup = 64 / kBits;
  const Register<W> values = value - Register<W>{};
  int64_t i = 0;
  for (; i + kGroup * kWhole <= count; i += kGroup * kWhole) {
    uint64_t bits = 0;
    for (int k = 0; k < kGroup; ++k) bits |= EqualLanes<W>(LoadLanes(from + i + k * kWhole), values) << (k * kBits);
    if (bits != 0) return i + __builtin_ctzll(bits) / kBitsPerLane<W>;
  }
  for (; i < count; i += kWhole) {
    const int64_t begin = std::min(i, count - kWhole);
    const uint64_t bits = EqualLanes<W>(LoadLanes(from + begin), values);
    if (bits != 0) return begin + __builtin_ctzll(bits) / kBitsPerLane<W>;
  }
  return -1;
}

template <typename Order, typename T>
int64_t FindOneByOne(const T* row, int64_t size) {
  int64_t first = 0;
  if constexpr (kIsFloating<T>) {
    while (first < size && Load(row[first]) != Load(row[first])) ++first;
    if (first == size) return 0;
  }
  auto best = Load(row[first]);
  int64_t index = first;
  for (int64_t i = first + 1; i < size; ++i) {
    const auto value = Load(row[i]);
    if (Order::IsBetter(value, best)) {
      best = value;
      index = i;
    }
  }
  return index;
}

// The best of all blocks that have been looked at, and where it is. Block by block, a block is still in cache when
// its best element is looked for.
template <typename Order, typename W>
class Best {
 public:
  // At least a register's elements, the first of which is element `begin`.
  void LookAt(const W* block, int64_t count, int64_t begin) {
    const W best_of_block = CombineInAnyOrder<Order, kRegisterBytes>(block, count, Order::template Worst<W>());
    if (index_ >= 0 && !Order::IsBetter(best_of_block, best_)) return;
    const int64_t place = FirstEqual(block, count, best_of_block);
    if (place < 0) return;  // nothing but NaN
    best_ = best_of_block;
    index_ = begin + place;
  }

  int64_t index() const { return std::max<int64_t>(index_, 0); }

 private:
  W best_ = Order::template Worst<W>();
  int64_t index_ = -1;
};

// The last block overlaps the one before it.
template <typename Order, typename T>
int64_t FindInRow(const T* row, int64_t size) {
  using W = decltype(Load(T{}));
  if (size * static_cast<int64_t>(sizeof(W)) < kRegisterBytes) return FindOneByOne<Order>(row, size);
  Best<Order, W> best;
  for (int64_t i = 0; i < size; i += kElementsPerBlock) {
    const int64_t begin = std::min(i, std::max<int64_t>(size - kElementsPerBlock, 0));
    const int64_t count = std::min(kElementsPerBlock, size);
    if constexpr (std::is_same_v<T, W>) {
      best.LookAt(row + begin, count, begin);
    } else {
      W widened[kElementsPerBlock];
      for (int64_t j = 0; j < count; ++j) widened[j] = Load(row[begin + j]);
      best.LookAt(widened, count, begin);
    }
  }
  return best.index();
}

// Few and long columns, taken apart block by block. The last block overlaps the one before it.
template <typename Order, typename W, typename Index>
void FindInNarrowColumns(const W* from, int64_t size, int64_t columns, Index* to) {
  W block[kMostNarrow * kRowsPerBlock];
  Best<Order, W> best[kMostNarrow];
  for (int64_t i = 0; i < size; i += kRowsPerBlock) {
    const int64_t begin = std::min(i, size - kRowsPerBlock);
    Deinterleave(from + begin * columns, kRowsPerBlock, columns, block, kRowsPerBlock);
    for (int64_t j = 0; j < columns; ++j) best[j].LookAt(block + j * kRowsPerBlock, kRowsPerBlock, begin);
  }
  for (int64_t j = 0; j < columns; ++j) to[j] = static_cast<Index>(best[j].index());
}

template <typename Order, typename T, typename Index>
void FindInColumns(const Layout& layout, const T* from, int64_t count, Index* to) {
  using W = decltype(Load(T{}));
  W best[kColumns];
  for (int64_t j = 0; j < count; ++j) {
    best[j] = Load(from[j]);
    to[j] = 0;
  }
  for (int64_t i = 1; i < layout.size; ++i) {
    const T* row = from + i * layout.inner;
    for (int64_t j = 0; j < count; ++j) {
      const W value = Load(row[j]);
      const bool is_better = Order::IsBetter(value, best[j]) | ((best[j] != best[j]) & (value == value));
      best[j] = is_better ? value : best[j];
      to[j] = is_better ? static_cast<Index>(i) : to[j];
    }
  }
}

template <typename Order, typename T, typename Index>
Status Find(const KernelCall& call, const Layout& layout) {
  const T* from = Data<T>(*call.in[0]);
  Index* to = MutableData<Index>(*call.out[0]);
  if (layout.inner == 1) {
    const int64_t rows_per_chunk = std::max<int64_t>(kElementsPerChunk / layout.size, 1);
    return ForEachChunk(call, layout.outer, rows_per_chunk, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        to[i] = static_cast<Index>(FindInRow<Order>(from + i * layout.size, layout.size));
      }
    });
  }
  if constexpr (std::is_same_v<T, decltype(Load(T{}))>) {
    if (layout.inner <= kMostNarrow && layout.size >= kRowsPerBlock) {
      const int64_t tables_per_chunk = std::max<int64_t>(kElementsPerChunk / (layout.size * layout.inner), 1);
      return ForEachChunk(call, layout.outer, tables_per_chunk, [&](Range range) {
        for (int64_t i = range.begin; i < range.end; ++i) {
          FindInNarrowColumns<Order>(from + i * layout.size * layout.inner, layout.size, layout.inner,
                                     to + i * layout.inner);
        }
      });
    }
  }
  const int64_t width = std::min(layout.inner, kColumns);
  const int64_t tiles = (layout.inner + width - 1) / width;
  const int64_t chunk = std::max<int64_t>(kElementsPerChunk / (layout.size * width), 1);
  return ForEachChunk(call, layout.outer * tiles, chunk, [&](Range range) {
    for (int64_t task = range.begin; task < range.end; ++task) {
      const int64_t outer = task / tiles;
      const int64_t column = task % tiles * width;
      FindInColumns<Order>(layout, from + outer * layout.size * layout.inner + column,
                           std::min(width, layout.inner - column), to + outer * layout.inner + column);
    }
  });
}

template <typename T, typename Index>
Status FindEither(const KernelCall& call, const Layout& layout, bool finds_smallest) {
  return finds_smallest ? Find<Smaller, T, Index>(call, layout) : Find<Larger, T, Index>(call, layout);
}

Status ReadAxis(const Tensor& input, const Tensor& tensor, int* axis) {
  if (tensor.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("dim must be a scalar, but received tensor of shape: %s",
                                      ShapeText(tensor).c_str());
  }
  const int64_t value = IntAt(tensor, 0);
  if (value < -input.rank || value >= input.rank) {
    return STILLFLOW_INVALID_ARGUMENT("Expected dimension in the range [%d, %d), but got %lld", -input.rank,
                                      input.rank, static_cast<long long>(value));
  }
  *axis = static_cast<int>(value < 0 ? value + input.rank : value);
  if (input.dims[*axis] > 0) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Reduction axis %d is empty in shape %s", *axis, ShapeText(input).c_str());
}

Status ArgExtremum(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const auto type = static_cast<DType>(call.attrs[0].i);
  const bool finds_smallest = call.attrs[1].i != 0;
  int axis = 0;
  STILLFLOW_RETURN_IF_ERROR(ReadAxis(input, *call.in[1], &axis));
  Shape shape;
  for (int i = 0; i < input.rank; ++i) {
    if (i != axis) shape.Add(input.dims[i]);
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, type, shape));
  if (input.count == 0) return Status();
  const Layout layout{shape.Count(0, axis), input.dims[axis], shape.Count(axis, shape.rank)};
  return ForType<float, double, Half, BFloat16, int64_t, int32_t, int16_t, int8_t, uint64_t, uint32_t, uint16_t,
                 uint8_t>(finds_smallest ? "ArgMin" : "ArgMax", input.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return type == DType::kInt32 ? FindEither<T, int32_t>(call, layout, finds_smallest)
                                 : FindEither<T, int64_t>(call, layout, finds_smallest);
  });
}

}  // namespace

STILLFLOW_KERNELS(arg_extremum){{"arg_extremum", "input, axis | output_type, finds_smallest", ArgExtremum}, {}};

}  // namespace stillflow
