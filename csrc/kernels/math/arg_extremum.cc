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

#include "arithmetic/math/element.h"
#include "arithmetic/math/halves.h"
#include "arithmetic/math/lanes.h"
#include "memory/deinterleave.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 32768;
constexpr int64_t kElementsPerBlock = 1024;
constexpr int64_t kColumns = 256;
// Rows shorter than that are taken apart into columns, so many together.
constexpr int64_t kShortRowBytes = 256;
constexpr int64_t kShortRows = 128;
// So few columns, each with at least the rows of a block, are looked at as rows are.
constexpr int64_t kMostNarrow = 32;
constexpr int64_t kRowsPerBlock = 128;

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

// Where places are written.
class Places {
 public:
  explicit Places(const Tensor& to) : to_(to.data), are_int32_(to.dtype == DType::kInt32) {}
  void Put(int64_t i, int64_t place) const {
    if (are_int32_) {
      static_cast<int32_t*>(to_)[i] = static_cast<int32_t>(place);
    } else {
      static_cast<int64_t*>(to_)[i] = place;
    }
  }
  __attribute__((noinline)) void Put(int64_t at, int64_t count, const int64_t* places) const {
    for (int64_t i = 0; i < count; ++i) Put(at + i, places[i]);
  }

 private:
  void* const to_;
  const bool are_int32_;
};

// Elements as they are compared: `from` itself, or a copy.
template <typename T, typename W>
STILLFLOW_INLINE const W* Compared(const T* from, int64_t count, W* buffer) {
  if constexpr (std::is_same_v<T, W>) {
    return from;
  } else {
    WidenHalves(from, count, buffer);
    return buffer;
  }
}

// Integers as unsigned ones, which is the same and half as much code.
template <typename W>
void TakeApart(const W* from, int64_t rows, int64_t columns, W* to, int64_t to_stride) {
  using Word = std::conditional_t<kIsFloating<W>, W, WordOf<W>>;
  Deinterleave(reinterpret_cast<const Word*>(from), rows, columns, reinterpret_cast<Word*>(to), to_stride);
}

// ---- Rows ---------------------------------------------------------------------------------------------------

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
  W buffer[std::is_same_v<T, W> ? 1 : kElementsPerBlock];
  Best<Order, W> best;
  for (int64_t i = 0; i < size; i += kElementsPerBlock) {
    const int64_t begin = std::min(i, std::max<int64_t>(size - kElementsPerBlock, 0));
    const int64_t count = std::min(kElementsPerBlock, size);
    best.LookAt(Compared(row + begin, count, buffer), count, begin);
  }
  return best.index();
}

// ---- Columns ------------------------------------------------------------------------------------------------

// Where something has been found in a block of rows that begins at `begin`.
template <typename Place>
constexpr auto kNone = static_cast<Place>(-1);
template <typename Place>
__attribute__((noinline)) void NotePlaces(const Place* places, int64_t count, int64_t begin, int64_t* found) {
  for (int64_t j = 0; j < count; ++j) found[j] = places[j] == kNone<Place> ? found[j] : begin + places[j];
}

// In up to kColumns columns of `size` rows, `stride` elements apart. Places within blocks of rows are as wide as
// elements, so that registers hold as many of them.
template <typename Order, typename T>
void FindInColumns(const T* from, int64_t size, int64_t stride, int64_t columns, const Places& to, int64_t at) {
  using W = decltype(Load(T{}));
  using Place = WordOf<W>;
  constexpr int64_t kRows = 255;  // places of bytes that are not kNone
  W buffer[std::is_same_v<T, W> ? 1 : kColumns];
  W best[kColumns];
  Place places[kColumns];
  int64_t found[kColumns] = {};
  std::copy_n(Compared(from, columns, buffer), columns, best);
  for (int64_t begin = 1; begin < size; begin += kRows) {
    std::fill_n(places, columns, kNone<Place>);
    const auto rows = static_cast<Place>(std::min(kRows, size - begin));
    for (Place i = 0; i < rows; ++i) {
      const W* const row = Compared(from + (begin + i) * stride, columns, buffer);
#pragma GCC ivdep
      for (int64_t j = 0; j < columns; ++j) {
        const W value = row[j];
        const bool is_better = Order::IsBetter(value, best[j]) | ((best[j] != best[j]) & (value == value));
        best[j] = is_better ? value : best[j];
        places[j] = is_better ? i : places[j];
      }
    }
    NotePlaces(places, columns, begin, found);
  }
  to.Put(at, columns, found);
}

// ---- Between them -------------------------------------------------------------------------------------------

// Short rows, taken apart into columns.
template <typename Order, typename T>
void FindInShortRows(const T* from, int64_t size, Range rows, const Places& to) {
  using W = decltype(Load(T{}));
  constexpr int64_t kMostElements = kShortRows * kShortRowBytes / static_cast<int64_t>(sizeof(W));
  W buffer[std::is_same_v<T, W> ? 1 : kMostElements];
  W columns[kMostElements];
  for (int64_t i = rows.begin; i < rows.end; i += kShortRows) {
    const int64_t count = std::min(kShortRows, rows.end - i);
    TakeApart(Compared(from + i * size, count * size, buffer), count, size, columns, kShortRows);
    FindInColumns<Order>(columns, size, kShortRows, count, to, i);
  }
}

// Few and long columns, taken apart block by block. The last block overlaps the one before it.
template <typename Order, typename T>
void FindInNarrowColumns(const T* from, int64_t size, int64_t columns, const Places& to, int64_t at) {
  using W = decltype(Load(T{}));
  W buffer[std::is_same_v<T, W> ? 1 : kMostNarrow * kRowsPerBlock];
  W block[kMostNarrow * kRowsPerBlock];
  Best<Order, W> best[kMostNarrow];
  for (int64_t i = 0; i < size; i += kRowsPerBlock) {
    const int64_t begin = std::min(i, size - kRowsPerBlock);
    TakeApart(Compared(from + begin * columns, kRowsPerBlock * columns, buffer), kRowsPerBlock, columns, block,
              kRowsPerBlock);
    for (int64_t j = 0; j < columns; ++j) best[j].LookAt(block + j * kRowsPerBlock, kRowsPerBlock, begin);
  }
  for (int64_t j = 0; j < columns; ++j) to.Put(at + j, best[j].index());
}

// ---- Any axis -----------------------------------------------------------------------------------------------

// The input seen as [outer, size, inner].
struct Layout {
  int64_t outer;
  int64_t size;
  int64_t inner;
};

template <typename Order, typename T>
void FindInTables(const Layout& layout, const T* from, Range range, const Places& to) {
  const int64_t table = layout.size * layout.inner;
  for (int64_t i = range.begin; i < range.end; ++i) {
    FindInNarrowColumns<Order>(from + i * table, layout.size, layout.inner, to, i * layout.inner);
  }
}

template <typename Order, typename T>
void FindInRows(const Layout& layout, const T* from, Range range, const Places& to) {
  using W = decltype(Load(T{}));
  if (layout.size * static_cast<int64_t>(sizeof(W)) < kShortRowBytes) {
    return FindInShortRows<Order>(from, layout.size, range, to);
  }
  for (int64_t i = range.begin; i < range.end; ++i) {
    to.Put(i, FindInRow<Order>(from + i * layout.size, layout.size));
  }
}

template <typename Order, typename T>
Status Find(const KernelCall& call, const Layout& layout) {
  const T* const from = Data<T>(*call.in[0]);
  const Places to(*call.out[0]);
  const auto per_chunk = [](int64_t elements) { return std::max<int64_t>(kElementsPerChunk / elements, 1); };
  if (layout.inner == 1) {
    return ForEachChunk(call, layout.outer, per_chunk(layout.size),
                        [&](Range range) { FindInRows<Order>(layout, from, range, to); });
  }
  if (layout.inner <= kMostNarrow && layout.size >= kRowsPerBlock) {
    return ForEachChunk(call, layout.outer, per_chunk(layout.size * layout.inner),
                        [&](Range range) { FindInTables<Order>(layout, from, range, to); });
  }
  const int64_t width = std::min(layout.inner, kColumns);
  const int64_t tiles = (layout.inner + width - 1) / width;
  return ForEachChunk(call, layout.outer * tiles, per_chunk(layout.size * width), [&](Range range) {
    for (int64_t task = range.begin; task < range.end; ++task) {
      const int64_t outer = task / tiles;
      const int64_t column = task % tiles * width;
      FindInColumns<Order>(from + outer * layout.size * layout.inner + column, layout.size, layout.inner,
                           std::min(width, layout.inner - column), to, outer * layout.inner + column);
    }
  });
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
    return finds_smallest ? Find<Smaller, T>(call, layout) : Find<Larger, T>(call, layout);
  });
}

}  // namespace

STILLFLOW_KERNELS(math, arg_extremum){{"arg_extremum", "input, axis | output_type, finds_smallest", ArgExtremum}, {}};

}  // namespace stillflow
