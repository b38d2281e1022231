// where: the places of elements that are not zero.
//
//   in[0]   array of numbers or bools
//   out[0]  int64[places, rank]: the indices of each, in the order of the elements
//
// The elements are counted in chunks of one size, and then written by the same chunks.
#include <algorithm>

#include "arithmetic/math/complex.h"
#include "arithmetic/math/lanes.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 32 << 10;

template <typename T>
inline bool IsTrue(T value) {
  if constexpr (kIsFloating<T>) {
    return Widen(value) != 0;
  } else {
    return value != T{0};
  }
}

using Mark = void (*)(const void* from, Range range, uint8_t* is_true);

template <typename T>
void MarkTrue(const void* from, Range range, uint8_t* is_true) {
  const T* const data = static_cast<const T*>(from);
  for (int64_t i = range.begin; i < range.end; ++i) is_true[i] = IsTrue(data[i]);
}

// Of a byte each, eight of which are added at a time.
int64_t CountTrue(const uint8_t* is_true, int64_t count) {
  constexpr int64_t kMostWords = 255;  // that a byte can count
  constexpr uint64_t kEvenBytes = 0x00FF00FF00FF00FF;
  int64_t found = 0;
  int64_t i = 0;
  while (i + 8 <= count) {
    const int64_t words = std::min((count - i) / 8, kMostWords);
    uint64_t sums = 0;
    for (int64_t k = 0; k < words; ++k) {
      uint64_t word;
      std::memcpy(&word, is_true + i + k * 8, 8);
      sums += word;
    }
    const uint64_t pairs = (sums & kEvenBytes) + (sums >> 8 & kEvenBytes);
    found += static_cast<int64_t>(pairs * 0x0001000100010001 >> 48);
    i += words * 8;
  }
  for (; i < count; ++i) found += is_true[i];
  return found;
}

#if defined(__AVX2__)
// The places of the bits that are set in each byte, one after another.
struct PlacesOfBits {
  constexpr PlacesOfBits() {
    for (int byte = 0; byte < 256; ++byte) {
      int count = 0;
      for (uint8_t bit = 0; bit < 8; ++bit) {
        if ((byte >> bit & 1) != 0) places[byte][count++] = bit;
      }
    }
  }
  uint8_t places[256][8] = {};
};
constexpr PlacesOfBits kPlacesOfBits;

// The places of eight flags that are set, and room for as many as eight.
inline int WritePlacesOfEight(const uint8_t* is_true, int64_t begin, int64_t* to) {
  const __m128i flags = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(is_true));
  const int bits = _mm_movemask_epi8(_mm_slli_epi16(flags, 7));
  const __m128i places = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kPlacesOfBits.places[bits]));
  const __m256i begins = _mm256_set1_epi64x(begin);
  auto* const written = reinterpret_cast<__m256i*>(to);
  _mm256_storeu_si256(written, _mm256_add_epi64(_mm256_cvtepu8_epi64(places), begins));
  _mm256_storeu_si256(written + 1, _mm256_add_epi64(_mm256_cvtepu8_epi64(_mm_srli_si128(places, 4)), begins));
  return __builtin_popcount(static_cast<unsigned>(bits));
}
#endif

// The places of the first `found` flags that are set, `begin` added to each. A place is written for every flag, and
// written over unless the flag is set.
void WritePlaces(const uint8_t* is_true, int64_t begin, int64_t found, int64_t* to) {
  int64_t i = 0;
  int64_t written = 0;
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  __m512i places = _mm512_add_epi64(_mm512_set1_epi64(begin), _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
  for (; written + 8 <= found; i += 8) {
    const __m128i flags = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(is_true + i));
    const __mmask8 mask = static_cast<__mmask8>(_mm_test_epi8_mask(flags, flags));
    _mm512_storeu_si512(to + written, _mm512_maskz_compress_epi64(mask, places));
    written += __builtin_popcount(mask);
    places = _mm512_add_epi64(places, _mm512_set1_epi64(8));
  }
#elif defined(__AVX2__)
  for (; written + 8 <= found; i += 8) written += WritePlacesOfEight(is_true + i, begin + i, to + written);
#endif
  for (; written < found; ++i) {
    to[written] = begin + i;
    written += is_true[i];
  }
}

// Positions, which stand at the end of `to`, become the indices of each: at no time is more written than was read.
void SpreadPlaces(const Shape& shape, int64_t found, int64_t* to) {
  const int last = shape.rank - 1;
  const int64_t width = shape.dims[last];
  const int64_t* const positions = to + found * last;
  int64_t place[kMaxRank] = {};
  int64_t row_begin = -width;  // of the row that `place` lies in
  for (int64_t k = 0; k < found; ++k, to += shape.rank) {
    const int64_t position = positions[k];
    if (position >= row_begin + width) {
      int64_t row = position / width;
      row_begin = row * width;
      for (int i = last - 1; i >= 0; --i) {
        place[i] = row % shape.dims[i];
        row /= shape.dims[i];
      }
    }
    for (int i = 0; i < last; ++i) to[i] = place[i];
    to[last] = position - row_begin;
  }
}

Status FindTrue(const KernelCall& call, Mark mark) {
  const Tensor& input = *call.in[0];
  const int64_t chunks = (input.count + kElementsPerChunk - 1) / kElementsPerChunk;
  const Scratch starts(call, (chunks + 1) * 8);
  const Scratch flags(call, input.count);  // what is counted is what is written, whoever changes the input
  if (!starts.ok() || !flags.ok()) return OutOfScratch();
  int64_t* const start = starts.data<int64_t>();
  auto* const is_true = flags.data<uint8_t>();
  STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, input.count, kElementsPerChunk, [&](Range range) {
    mark(input.data, range, is_true);
    start[range.begin / kElementsPerChunk] = CountTrue(is_true + range.begin, range.end - range.begin);
  }));
  int64_t total = 0;
  for (int64_t i = 0; i < chunks; ++i) {
    const int64_t found = start[i];
    start[i] = total;
    total += found;
  }
  start[chunks] = total;
  const Shape shape(input);
  Shape places;
  places.Add(total);
  places.Add(shape.rank);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt64, places));
  if (call.out[0]->count == 0) return Status();
  return ForEachChunk(call, input.count, kElementsPerChunk, [&](Range range) {
    const int64_t* const chunk = start + range.begin / kElementsPerChunk;
    const int64_t found = chunk[1] - chunk[0];
    int64_t* const to = MutableData<int64_t>(*call.out[0]) + chunk[0] * shape.rank;
    WritePlaces(is_true + range.begin, range.begin, found, to + found * (shape.rank - 1));
    if (shape.rank > 1) SpreadPlaces(shape, found, to);
  });
}

// One code for all integers, and bools, of one width.
template <typename T>
constexpr Mark MarkOf() {
  if constexpr (kIsFloating<T> || kIsComplex<T>) {
    return MarkTrue<T>;
  } else {
    constexpr size_t size = sizeof(T);
    return size == 8   ? MarkTrue<uint64_t>
           : size == 4 ? MarkTrue<uint32_t>
           : size == 2 ? MarkTrue<uint16_t>
                       : MarkTrue<uint8_t>;
  }
}

Status Where(const KernelCall& call) {
  if (call.in[0]->rank == 0) return STILLFLOW_INVALID_ARGUMENT("WhereOp : Unhandled input dimensions: 0");
  return ForType<bool, float, double, int64_t, int32_t, int16_t, int8_t, uint64_t, uint32_t, uint16_t, uint8_t, Half,
                 BFloat16, Complex64, Complex128>(
      "Where", call.in[0]->dtype, [&](auto tag) { return FindTrue(call, MarkOf<typename decltype(tag)::type>()); });
}

}  // namespace

STILLFLOW_KERNELS(array, where){{"where", "input", Where}, {}};

}  // namespace stillflow
