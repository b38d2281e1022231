#include "arithmetic/window/depthwise.h"

#include <limits>

#include "arithmetic/gemm/vector.h"
#include "arithmetic/math/pieces.h"
#include "arithmetic/window/channels_last.h"
#include "arithmetic/window/patch_axis.h"
#include "arithmetic/window/places.h"

namespace stillflow {
namespace {

template <typename Part>
STILLFLOW_INLINE Part MultiplyAdd(Part a, Part b, Part c) {
  if constexpr (std::is_floating_point_v<Part>) {
    return Fma(a, b, c);
  } else {
    using Element = std::decay_t<decltype(a[0])>;
    return gemm::MulAdd<Element>(a, b, c);
  }
}

template <typename P>
STILLFLOW_INLINE void AddProduct(const P& a, const P& b, P* sum) {
#pragma GCC unroll 4
  for (int i = 0; i < P::kParts; ++i) sum->parts[i] = MultiplyAdd(a.parts[i], b.parts[i], sum->parts[i]);
}

// ---- The filter, widened, as [tap][q][channel]
// ----------------------------------------------------------------------

template <typename T>
void ArrangeFilter(const DepthwiseConvolution& conv, const T* filter, Wide<T>* to) {
  for (int64_t tap = 0; tap < conv.Taps(); ++tap) {
    for (int64_t q = 0; q < conv.multiplier; ++q) {
      for (int64_t c = 0; c < conv.channels; ++c) {
        *to++ = Widen(filter[(tap * conv.channels + c) * conv.multiplier + q]);
      }
    }
  }
}

// ---- Sums over taps, for all places of a window
// ---------------------------------------------------------------------

// Taps are numbered (row, column, q): q counts planes of channels that lie side by side in a pixel.
template <typename T>
struct TapPass {
  PatchAxis rows, columns;
  int64_t planes = 1;        // that each tap has
  const T* from = nullptr;   // the first pixel of the first image
  int64_t pixel_stride = 0;  // of what is under the window
  int64_t image_stride = 0;
  const Wide<T>* const* weights = nullptr;  // of each tap
  T* to = nullptr;                          // where the first place's sums go
  int64_t to_image_stride = 0, to_row_stride = 0, to_column_stride = 0;

  int64_t Taps() const { return rows.taps * columns.taps * planes; }
};

#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kPlacesAtOnce = 4;
#else
constexpr int kPlacesAtOnce = 2;
#endif

template <typename T>
class TapSums {
 public:
  using C = Wide<T>;

  TapSums(const KernelCall& call, int64_t batch, int64_t channels, const TapPass<T>& pass)
      : call_(call), batch_(batch), channels_(channels), pass_(pass), taps_(pass.Taps()) {}

  Status Compute() {
    const Scratch scratch(
        call_, taps_ * static_cast<int64_t>(sizeof(int64_t)) + channels_ * static_cast<int64_t>(sizeof(T)));
    if (!scratch.ok()) return OutOfScratch();
    int64_t* const offsets = scratch.data<int64_t>();
    T* const zeros = reinterpret_cast<T*>(offsets + taps_);
    std::memset(zeros, 0, channels_ * sizeof(T));
    int64_t tap = 0;
    for (int64_t y = 0; y < pass_.rows.taps; ++y) {
      for (int64_t x = 0; x < pass_.columns.taps; ++x) {
        for (int64_t q = 0; q < pass_.planes; ++q) {
          const int64_t pixel = y * pass_.rows.tap_step * pass_.columns.size + x * pass_.columns.tap_step;
          offsets[tap++] = pixel * pass_.pixel_stride + q * channels_;
        }
      }
    }
    const int64_t rows = pass_.rows.places;
    const int64_t rows_at_once =
        std::max<int64_t>(kProductsPerChunk / (pass_.columns.places * channels_ * taps_ + 1), 1);
    return ForEachChunk(call_, batch_ * rows, rows_at_once, [&](Range range) {
      const Scratch memory(call_, taps_ * static_cast<int64_t>(sizeof(T*)));
      if (!memory.ok()) return OutOfScratch();
      for (int64_t i = range.begin; i < range.end; ++i) {
        ComputeRow(i / rows, i % rows, offsets, zeros, memory.data<const T*>());
      }
      return Status();
    });
  }

 private:
  static constexpr int64_t kProductsPerChunk = 1 << 17;

  void ComputeRow(int64_t image, int64_t row, const int64_t* offsets, const T* zeros, const T** sources) {
    const T* const from = pass_.from + image * pass_.image_stride;
    T* const to = pass_.to + image * pass_.to_image_stride + row * pass_.to_row_stride;
    const Range rows = pass_.rows.Inside();
    const Range inside = row >= rows.begin && row < rows.end ? pass_.columns.Inside() : Range{0, 0};
    const int64_t y = row * pass_.rows.step + pass_.rows.first;
    for (int64_t x = 0; x < pass_.columns.places; ++x) {
      if (x == inside.begin && x < inside.end) {
        const int64_t pixel = y * pass_.columns.size + x * pass_.columns.step + pass_.columns.first;
        ComputeInside(from + pixel * pass_.pixel_stride, inside.end - inside.begin, offsets,
                      to + x * pass_.to_column_stride);
        x = inside.end - 1;
      } else {
        FindSources(from, y, x, zeros, sources);
        SumTaps<1>([&](int64_t tap, int) { return sources[tap]; }, to + x * pass_.to_column_stride);
      }
    }
  }

  void ComputeInside(const T* from, int64_t count, const int64_t* offsets, T* to) {
    const int64_t step = pass_.columns.step * pass_.pixel_stride;
    int64_t x = 0;
    for (; x + kPlacesAtOnce <= count; x += kPlacesAtOnce) {
      const T* const at = from + x * step;
      SumTaps<kPlacesAtOnce>([=](int64_t tap, int place) { return at + place * step + offsets[tap]; },
                             to + x * pass_.to_column_stride);
    }
    for (; x < count; ++x) {
      const T* const at = from + x * step;
      SumTaps<1>([=](int64_t tap, int) { return at + offsets[tap]; }, to + x * pass_.to_column_stride);
    }
  }

  // Where each tap at a place is, outside of the image zeros.
  void FindSources(const T* from, int64_t first_row, int64_t column, const T* zeros, const T** sources) {
    const int64_t first_column = column * pass_.columns.step + pass_.columns.first;
    for (int64_t ty = 0; ty < pass_.rows.taps; ++ty) {
      const int64_t y = first_row + ty * pass_.rows.tap_step;
      for (int64_t tx = 0; tx < pass_.columns.taps; ++tx) {
        const int64_t x = first_column + tx * pass_.columns.tap_step;
        const bool is_inside = y >= 0 && y < pass_.rows.size && x >= 0 && x < pass_.columns.size;
        for (int64_t q = 0; q < pass_.planes; ++q) {
          const int64_t at = (y * pass_.columns.size + x) * pass_.pixel_stride + q * channels_;
          *sources++ = is_inside ? from + at : zeros;
        }
      }
    }
  }

  template <int kPlaces, typename Source>
  STILLFLOW_INLINE void SumTaps(const Source& source, T* to) {
    ForChannels<C>(channels_, [&](int64_t c, auto count) {
      using P = Piece<C, decltype(count)::value>;
      P sums[kPlaces];
      for (int64_t tap = 0; tap < taps_; ++tap) {
        const P weights(pass_.weights[tap] + c);
#pragma GCC unroll 4
        for (int place = 0; place < kPlaces; ++place) AddProduct(P(source(tap, place) + c), weights, &sums[place]);
      }
#pragma GCC unroll 4
      for (int place = 0; place < kPlaces; ++place) sums[place].Store(to + place * pass_.to_column_stride + c);
    });
  }

  const KernelCall& call_;
  const int64_t batch_, channels_;
  const TapPass<T>& pass_;
  const int64_t taps_;
};

// Memory for the arranged filter and for a pointer to each of its rows.
template <typename T>
class ArrangedFilter {
 public:
  ArrangedFilter(const KernelCall& call, const DepthwiseConvolution& conv)
      : conv_(conv),
        rows_(conv.Taps() * conv.multiplier),
        scratch_(call, rows_ * static_cast<int64_t>(sizeof(Wide<T>*) + conv.channels * sizeof(Wide<T>))) {}

  bool ok() const { return scratch_.ok(); }
  void Read(const T* filter) { ArrangeFilter(conv_, filter, Row(0)); }
  const Wide<T>** pointers() const { return scratch_.template data<const Wide<T>*>(); }
  Wide<T>* Row(int64_t row) const { return reinterpret_cast<Wide<T>*>(pointers() + rows_) + row * conv_.channels; }

 private:
  const DepthwiseConvolution& conv_;
  const int64_t rows_;
  const Scratch scratch_;
};

// ---- The filter's gradient
// ------------------------------------------------------------------------------------------

template <typename T>
class FilterSums {
 public:
  using C = Wide<T>;

  // `grads` has planes of channels: [batch, output pixels, multiplier, channels].
  FilterSums(const KernelCall& call, const DepthwiseConvolution& conv, const T* input, const T* grads)
      : call_(call),
        conv_(conv),
        input_(input),
        grads_(grads),
        rows_(ForwardAxis(conv.rows)),
        columns_(ForwardAxis(conv.columns)),
        taps_(conv.Taps()),
        places_(conv.batch * conv.OutputPixels()) {}

  Status Compute(T* filter_backprop) {
    const int64_t size = taps_ * conv_.multiplier * conv_.channels;
    const int64_t blocks = (places_ + kPlacesPerBlock - 1) / kPlacesPerBlock;
    const Scratch scratch(call_, std::max<int64_t>(blocks, 1) * size * static_cast<int64_t>(sizeof(C)));
    if (!scratch.ok()) return OutOfScratch();
    C* const sums = scratch.data<C>();
    if (blocks == 0) std::memset(sums, 0, size * sizeof(C));
    STILLFLOW_RETURN_IF_ERROR(ForEachChunk(
        call_, blocks, 1, [&](Range range) { return SumBlock(range.begin, sums + range.begin * size); }));
    return ForEachChunk(call_, size, kAddedPerChunk, [&](Range range) {
      for (int64_t block = 1; block < blocks; ++block) {
        const C* const next = sums + block * size;
        for (int64_t i = range.begin; i < range.end; ++i) sums[i] += next[i];
      }
      for (int64_t i = range.begin; i < range.end; ++i) {
        const int64_t c = i % conv_.channels, rest = i / conv_.channels;
        const int64_t q = rest % conv_.multiplier, tap = rest / conv_.multiplier;
        const C sum = sums[i] == sums[i] ? sums[i] : std::numeric_limits<C>::quiet_NaN();
        filter_backprop[(tap * conv_.channels + c) * conv_.multiplier + q] = Narrow<T>(sum);
      }
    });
  }

 private:
  static constexpr int64_t kAddedPerChunk = 1024;
  static constexpr int kMostTaps = 9;  // whose sums are in registers at once

  // Neighbouring places with all taps inside, or one place whose taps are where `sources` says.
  struct Run {
    int64_t count;
    const T* grads;
    const T* from;
    const T* const* sources;
  };

  // Finds the places of a block in their order.
  int64_t FindRuns(int64_t block, const T* zeros, Run* runs, const T** sources) {
    const Range rows_inside = rows_.Inside(), columns_inside = columns_.Inside();
    const int64_t pixels = conv_.multiplier * conv_.channels;
    const int64_t end = std::min((block + 1) * kPlacesPerBlock, places_);
    int64_t count = 0;
    for (int64_t place = block * kPlacesPerBlock; place < end;) {
      const int64_t x = place % columns_.places, line = place / columns_.places;
      const int64_t y = line % rows_.places;
      const T* const image = input_ + line / rows_.places * conv_.InputPixels() * conv_.channels;
      const int64_t row = y * rows_.step + rows_.first, column = x * columns_.step + columns_.first;
      Run& run = runs[count++];
      run = {1, grads_ + place * pixels, nullptr, nullptr};
      if (y >= rows_inside.begin && y < rows_inside.end && x >= columns_inside.begin && x < columns_inside.end) {
        run.count = std::min(columns_inside.end - x, end - place);
        run.from = image + (row * columns_.size + column) * conv_.channels;
      } else {
        run.sources = sources;
        sources = FindSources(image, row, column, zeros, sources);
      }
      place += run.count;
    }
    return count;
  }

  const T** FindSources(const T* image, int64_t row, int64_t column, const T* zeros, const T** sources) {
    for (int64_t ty = 0; ty < rows_.taps; ++ty) {
      const int64_t y = row + ty * rows_.tap_step;
      for (int64_t tx = 0; tx < columns_.taps; ++tx) {
        const int64_t x = column + tx * columns_.tap_step;
        const bool is_inside = y >= 0 && y < rows_.size && x >= 0 && x < columns_.size;
        *sources++ = is_inside ? image + (y * columns_.size + x) * conv_.channels : zeros;
      }
    }
    return sources;
  }

  Status SumBlock(int64_t block, C* sums) {
    const int64_t source_count = kPlacesPerBlock * taps_;
    const Scratch scratch(call_, source_count * static_cast<int64_t>(sizeof(T*)) +
                                     kPlacesPerBlock * static_cast<int64_t>(sizeof(Run)) +
                                     conv_.channels * static_cast<int64_t>(sizeof(T)));
    if (!scratch.ok()) return OutOfScratch();
    const T** const sources = scratch.data<const T*>();
    Run* const runs = reinterpret_cast<Run*>(sources + source_count);
    T* const zeros = reinterpret_cast<T*>(runs + kPlacesPerBlock);
    std::memset(zeros, 0, conv_.channels * sizeof(T));
    const int64_t count = FindRuns(block, zeros, runs, sources);
    for (int64_t q = 0; q < conv_.multiplier; ++q) {
      for (int64_t tap = 0; tap < taps_;) {
        const int64_t left = taps_ - tap;
        if (left >= kMostTaps) {
          SumTaps<kMostTaps>(runs, count, tap, q, sums);
          tap += kMostTaps;
        } else if (left >= 3) {
          SumTaps<3>(runs, count, tap, q, sums);
          tap += 3;
        } else {
          SumTaps<1>(runs, count, tap++, q, sums);
        }
      }
    }
    return Status();
  }

  int64_t TapOffset(int64_t tap) const {
    const int64_t row = tap / columns_.taps, column = tap % columns_.taps;
    return (row * rows_.tap_step * columns_.size + column * columns_.tap_step) * conv_.channels;
  }

  template <int kTaps>
  void SumTaps(const Run* runs, int64_t run_count, int64_t tap, int64_t q, C* sums) {
    const int64_t step = columns_.step * conv_.channels, grad_step = conv_.multiplier * conv_.channels;
    int64_t offsets[kTaps];
    for (int k = 0; k < kTaps; ++k) offsets[k] = TapOffset(tap + k);
    ForLanes([&](int64_t c, auto count) {
      using P = Piece<C, decltype(count)::value>;
      P added[kTaps];
      for (const Run* run = runs; run < runs + run_count; ++run) {
        const T* grads = run->grads + q * conv_.channels + c;
        if (run->sources != nullptr) {
          const P grad(grads);
#pragma GCC unroll 9
          for (int k = 0; k < kTaps; ++k) AddProduct(P(run->sources[tap + k] + c), grad, &added[k]);
          continue;
        }
        const T* from = run->from + c;
        for (int64_t i = 0; i < run->count; ++i, from += step, grads += grad_step) {
          const P grad(grads);
#pragma GCC unroll 9
          for (int k = 0; k < kTaps; ++k) AddProduct(P(from + offsets[k]), grad, &added[k]);
        }
      }
      for (int k = 0; k < kTaps; ++k) added[k].Store(sums + ((tap + k) * conv_.multiplier + q) * conv_.channels + c);
    });
  }

  // Channels a register at a time, which leaves registers for the sums of several taps.
  template <typename Body>
  STILLFLOW_INLINE void ForLanes(const Body& body) {
    constexpr int kLanes = kRegisterBytes / static_cast<int>(sizeof(C));
    int64_t c = 0;
    for (; c + kLanes <= conv_.channels; c += kLanes) body(c, std::integral_constant<int, kLanes>{});
    for (; c < conv_.channels; ++c) body(c, std::integral_constant<int, 1>{});
  }

  const KernelCall& call_;
  const DepthwiseConvolution& conv_;
  const T* const input_;
  const T* const grads_;
  const PatchAxis rows_, columns_;
  const int64_t taps_, places_;
};

// Pixels whose channels are [channels][multiplier], as [multiplier][channels].
template <typename T>
class Planes {
 public:
  Planes(const KernelCall& call, const DepthwiseConvolution& conv, const T* pixels)
      : call_(call),
        conv_(conv),
        pixels_(pixels),
        count_(conv.batch * conv.OutputPixels()),
        scratch_(call, conv.multiplier == 1
                           ? 1
                           : count_ * conv.channels * conv.multiplier * static_cast<int64_t>(sizeof(T))) {}

  bool ok() const { return scratch_.ok(); }
  Status Read() {
    if (conv_.multiplier == 1) return Status();
    return TransposeEach(call_, count_, conv_.channels, conv_.multiplier, sizeof(T), pixels_,
                         scratch_.template data<T>());
  }
  const T* data() const { return conv_.multiplier == 1 ? pixels_ : scratch_.template data<T>(); }

 private:
  const KernelCall& call_;
  const DepthwiseConvolution& conv_;
  const T* const pixels_;
  const int64_t count_;
  const Scratch scratch_;
};

}  // namespace

template <typename T>
Status DepthwiseConvolve(const KernelCall& call, const DepthwiseConvolution& conv, const T* input, const T* filter,
                         T* output) {
  const int64_t pixel = conv.multiplier * conv.channels;
  const int64_t places = conv.batch * conv.OutputPixels();
  ArrangedFilter<T> arranged(call, conv);
  const Scratch planes(call, conv.multiplier == 1 ? 1 : places * pixel * static_cast<int64_t>(sizeof(T)));
  if (!arranged.ok() || !planes.ok()) return OutOfScratch();
  arranged.Read(filter);
  T* const to = conv.multiplier == 1 ? output : planes.data<T>();
  for (int64_t q = 0; q < conv.multiplier; ++q) {
    for (int64_t tap = 0; tap < conv.Taps(); ++tap) {
      arranged.pointers()[tap] = arranged.Row(tap * conv.multiplier + q);
    }
    TapPass<T> pass;
    pass.rows = ForwardAxis(conv.rows);
    pass.columns = ForwardAxis(conv.columns);
    pass.from = input;
    pass.pixel_stride = conv.channels;
    pass.image_stride = conv.InputPixels() * conv.channels;
    pass.weights = arranged.pointers();
    pass.to = to + q * conv.channels;
    pass.to_image_stride = conv.OutputPixels() * pixel;
    pass.to_row_stride = conv.columns.output * pixel;
    pass.to_column_stride = pixel;
    STILLFLOW_RETURN_IF_ERROR(TapSums<T>(call, conv.batch, conv.channels, pass).Compute());
  }
  if (conv.multiplier == 1) return Status();
  return TransposeEach(call, places, conv.multiplier, conv.channels, sizeof(T), to, output);
}

template <typename T>
Status DepthwiseBackward(const KernelCall& call, const DepthwiseConvolution& conv, const T* filter,
                         const T* out_backprop, T* in_backprop) {
  ArrangedFilter<T> arranged(call, conv);
  Planes<T> grads(call, conv, out_backprop);
  if (!arranged.ok() || !grads.ok()) return OutOfScratch();
  arranged.Read(filter);
  STILLFLOW_RETURN_IF_ERROR(grads.Read());
  for (int64_t y = 0; y < PhaseCount(conv.rows); ++y) {
    const PhaseAxis rows = BackwardAxis(conv.rows, y);
    for (int64_t x = 0; x < PhaseCount(conv.columns); ++x) {
      const PhaseAxis columns = BackwardAxis(conv.columns, x);
      TapPass<T> pass;
      pass.rows = rows.patch;
      pass.columns = columns.patch;
      pass.planes = conv.multiplier;
      pass.from = grads.data();
      pass.pixel_stride = conv.multiplier * conv.channels;
      pass.image_stride = conv.OutputPixels() * pass.pixel_stride;
      int64_t count = 0;
      for (int64_t ty = 0; ty < rows.patch.taps; ++ty) {
        for (int64_t tx = 0; tx < columns.patch.taps; ++tx) {
          const int64_t row = rows.first_tap + ty * rows.tap_stride,
                        column = columns.first_tap + tx * columns.tap_stride;
          for (int64_t q = 0; q < conv.multiplier; ++q) {
            arranged.pointers()[count++] = arranged.Row((row * conv.columns.window + column) * conv.multiplier + q);
          }
        }
      }
      pass.weights = arranged.pointers();
      pass.to = in_backprop + (y * conv.columns.input + x) * conv.channels;
      pass.to_image_stride = conv.InputPixels() * conv.channels;
      pass.to_row_stride = conv.rows.stride * conv.columns.input * conv.channels;
      pass.to_column_stride = conv.columns.stride * conv.channels;
      STILLFLOW_RETURN_IF_ERROR(TapSums<T>(call, conv.batch, conv.channels, pass).Compute());
    }
  }
  return Status();
}

template <typename T>
Status DepthwiseFilter(const KernelCall& call, const DepthwiseConvolution& conv, const T* input,
                       const T* out_backprop, T* filter_backprop) {
  Planes<T> grads(call, conv, out_backprop);
  if (!grads.ok()) return OutOfScratch();
  STILLFLOW_RETURN_IF_ERROR(grads.Read());
  return FilterSums<T>(call, conv, input, grads.data()).Compute(filter_backprop);
}

#define STILLFLOW_DEPTHWISE(T)                                                                                  \
  template Status DepthwiseConvolve<T>(const KernelCall&, const DepthwiseConvolution&, const T*, const T*, T*); \
  template Status DepthwiseBackward<T>(const KernelCall&, const DepthwiseConvolution&, const T*, const T*, T*); \
  template Status DepthwiseFilter<T>(const KernelCall&, const DepthwiseConvolution&, const T*, const T*, T*);
STILLFLOW_DEPTHWISE(float)
STILLFLOW_DEPTHWISE(double)
STILLFLOW_DEPTHWISE(Half)
STILLFLOW_DEPTHWISE(BFloat16)
#undef STILLFLOW_DEPTHWISE

}  // namespace stillflow
