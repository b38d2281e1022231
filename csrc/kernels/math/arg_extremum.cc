// arg_extremum: where along an axis the largest or smallest element is.
//
//   in[0]  input  numbers
//   in[1]  axis   int32 | int64 scalar; negative counts from the end
//   out[0] the input's shape without the axis, int32 or int64 as attr 0 says
//   attrs  output type; which element is sought
//
// Of equal elements the first counts, and NaN does not unless there is nothing else. The smallest element is the
// largest of the same numbers in reversed order.
#include <algorithm>
#include <limits>

#include "arithmetic/math/lanes.h"
#include "arithmetic/math/worked_type.h"
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

// What no element is behind.
template <typename W>
constexpr W Worst() {
  using Limits = std::numeric_limits<W>;
  return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
}

// A bit of each lane that equals its fellow; a byte elsewhere than on x86, and of the first one alone.
#if defined(__SSE2__)
template <typename W>
constexpr int kBitsPerLane = 1;
#else
template <typename W>
constexpr int kBitsPerLane = sizeof(W);
#endif
template <typename W>
STILLFLOW_INLINE uint64_t EqualLanes(Register<W> a, Register<W> b) {
  const auto is_equal = a == b;
#if defined(__AVX512DQ__)
  return sizeof(W) == 4 ? _mm512_movepi32_mask((__m512i)is_equal) : _mm512_movepi64_mask((__m512i)is_equal);
#elif defined(__AVX2__)
  const int bits = sizeof(W) == 4 ? _mm256_movemask_ps((__m256)is_equal) : _mm256_movemask_pd((__m256d)is_equal);
  return static_cast<uint32_t>(bits);
#elif defined(__SSE2__)
  const int bits = sizeof(W) == 4 ? _mm_movemask_ps((__m128)is_equal) : _mm_movemask_pd((__m128d)is_equal);
  return static_cast<uint32_t>(bits);
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

// The input's elements as they are compared: where they lie, or a copy.
struct Elements {
  const char* data;
  int64_t bytes;
  Conversion convert;

  Elements At(int64_t i) const { return {data + i * bytes, bytes, convert}; }
  template <typename W>
  const W* Compared(int64_t begin, int64_t count, W* buffer) const {
    if (convert == nullptr) return reinterpret_cast<const W*>(data) + begin;
    convert(data + begin * bytes, count, buffer);
    return buffer;
  }
};

// As words, which is the same and half as much code.
template <typename W>
void TakeApart(const W* from, int64_t rows, int64_t columns, W* to, int64_t to_stride) {
  using Word = WordOf<W>;
  Deinterleave(reinterpret_cast<const Word*>(from), rows, columns, reinterpret_cast<Word*>(to), to_stride);
}

// ---- Rows ---------------------------------------------------------------------------------------------------

// The best of all blocks that have been looked at, and where it is. Block by block, a block is still in cache when
// its best element is looked for.
template <typename W>
class Best {
 public:
  // At least a register's elements, the first of which is element `begin`.
  void LookAt(const W* block, int64_t count, int64_t begin) {
    const W best_of_block = CombineInAnyOrder<LargerLanes>(block, count, Worst<W>());
    if (index_ >= 0 && !(best_of_block > best_)) return;
    const int64_t place = FirstEqual(block, count, best_of_block);
    if (place < 0) return;  // nothing but NaN
    best_ = best_of_block;
    index_ = begin + place;
  }

  int64_t index() const { return std::max<int64_t>(index_, 0); }

 private:
  W best_ = Worst<W>();
  int64_t index_ = -1;
};

// The last block overlaps the one before it.
template <typename W>
int64_t FindInRow(const Elements& row, int64_t size) {
  W buffer[kElementsPerBlock];
  Best<W> best;
  for (int64_t i = 0; i < size; i += kElementsPerBlock) {
    const int64_t begin = std::min(i, std::max<int64_t>(size - kElementsPerBlock, 0));
    const int64_t count = std::min(kElementsPerBlock, size);
    best.LookAt(row.Compared(begin, count, buffer), count, begin);
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
template <typename W>
void FindInColumns(const Elements& from, int64_t size, int64_t stride, int64_t columns, const Places& to,
                   int64_t at) {
  using Place = WordOf<W>;
  constexpr int64_t kRows = 255;
  W buffer[kColumns];
  W best[kColumns];
  Place places[kColumns];
  int64_t found[kColumns] = {};
  std::copy_n(from.Compared(0, columns, buffer), columns, best);
  for (int64_t begin = 1; begin < size; begin += kRows) {
    std::fill_n(places, columns, kNone<Place>);
    const auto rows = static_cast<Place>(std::min(kRows, size - begin));
    for (Place i = 0; i < rows; ++i) {
      const W* const row = from.Compared((begin + static_cast<int64_t>(i)) * stride, columns, buffer);
#pragma GCC ivdep
      for (int64_t j = 0; j < columns; ++j) {
        const W value = row[j];
        const bool is_better = (value > best[j]) | ((best[j] != best[j]) & (value == value));
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
template <typename W>
void FindInShortRows(const Elements& from, int64_t size, Range rows, const Places& to) {
  constexpr int64_t kMostElements = kShortRows * kShortRowBytes / static_cast<int64_t>(sizeof(W));
  W buffer[kMostElements];
  W columns[kMostElements];
  for (int64_t i = rows.begin; i < rows.end; i += kShortRows) {
    const int64_t count = std::min(kShortRows, rows.end - i);
    TakeApart(from.Compared(i * size, count * size, buffer), count, size, columns, kShortRows);
    const Elements apart = {reinterpret_cast<const char*>(columns), sizeof(W), nullptr};
    FindInColumns<W>(apart, size, kShortRows, count, to, i);
  }
}

// Few and long columns, taken apart block by block. The last block overlaps the one before it.
template <typename W>
void FindInNarrowColumns(const Elements& from, int64_t size, int64_t columns, const Places& to, int64_t at) {
  W buffer[kMostNarrow * kRowsPerBlock];
  W block[kMostNarrow * kRowsPerBlock];
  Best<W> best[kMostNarrow];
  for (int64_t i = 0; i < size; i += kRowsPerBlock) {
    const int64_t begin = std::min(i, size - kRowsPerBlock);
    TakeApart(from.Compared(begin * columns, kRowsPerBlock * columns, buffer), kRowsPerBlock, columns, block,
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

template <typename W>
void FindInTables(const Layout& layout, const Elements& from, Range range, const Places& to) {
  const int64_t table = layout.size * layout.inner;
  for (int64_t i = range.begin; i < range.end; ++i) {
    FindInNarrowColumns<W>(from.At(i * table), layout.size, layout.inner, to, i * layout.inner);
  }
}

template <typename W>
void FindInRows(const Layout& layout, const Elements& from, Range range, const Places& to) {
  if (layout.size * static_cast<int64_t>(sizeof(W)) < kShortRowBytes) {
    return FindInShortRows<W>(from, layout.size, range, to);
  }
  for (int64_t i = range.begin; i < range.end; ++i) to.Put(i, FindInRow<W>(from.At(i * layout.size), layout.size));
}

template <typename W>
Status Find(const KernelCall& call, const Layout& layout, Conversion convert) {
  const Tensor& input = *call.in[0];
  const Elements from = {Data<char>(input), ElementBytes(input.dtype), convert};
  const Places to(*call.out[0]);
  const auto per_chunk = [](int64_t elements) { return std::max<int64_t>(kElementsPerChunk / elements, 1); };
  if (layout.inner == 1) {
    return ForEachChunk(call, layout.outer, per_chunk(layout.size),
                        [&](Range range) { FindInRows<W>(layout, from, range, to); });
  }
  if (layout.inner <= kMostNarrow && layout.size >= kRowsPerBlock) {
    return ForEachChunk(call, layout.outer, per_chunk(layout.size * layout.inner),
                        [&](Range range) { FindInTables<W>(layout, from, range, to); });
  }
  const int64_t width = std::min(layout.inner, kColumns);
  const int64_t tiles = (layout.inner + width - 1) / width;
  return ForEachChunk(call, layout.outer * tiles, per_chunk(layout.size * width), [&](Range range) {
    for (int64_t task = range.begin; task < range.end; ++task) {
      const int64_t outer = task / tiles;
      const int64_t column = task % tiles * width;
      FindInColumns<W>(from.At(outer * layout.size * layout.inner + column), layout.size, layout.inner,
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
  const WorkedType worked = finds_smallest ? ReversedAs(input.dtype) : OrderedAs(input.dtype);
  return ForWorkedType(finds_smallest ? "ArgMin" : "ArgMax", input.dtype, worked,
                       [&](auto tag) { return Find<typename decltype(tag)::type>(call, layout, worked.convert); });
}

}  // namespace

STILLFLOW_KERNELS(math, arg_extremum){
    {"arg_extremum", "input, axis | output_type, sought: largest smallest", ArgExtremum}, {}};

}  // namespace stillflow
