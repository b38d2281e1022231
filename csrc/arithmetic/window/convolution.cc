#include "arithmetic/window/convolution.h"

#include <limits>

#include "arithmetic/gemm/gemm.h"
#include "arithmetic/window/patches.h"
#include "memory/strided_copy.h"

namespace stillflow {
namespace {

bool IsPointwise(const WindowAxis& axis) {
  return axis.window == 1 && axis.stride == 1 && axis.before == 0 && axis.output == axis.input;
}
// Whether the window covers all of the image at its one place.
bool IsWhole(const WindowAxis& axis) {
  return axis.window == axis.input && axis.dilation == 1 && axis.before == 0 && axis.output == 1;
}

// The innermost axes whose window is whole lie beside the channels, in images and in filters: they count among these.
Convolution Folded(Convolution conv) {
  for (int i = kSpatialAxes - 1; i >= 0 && conv.groups == 1 && IsWhole(conv.axes[i]); --i) {
    conv.in_channels *= conv.axes[i].input;
    conv.axes[i] = WindowAxis();
  }
  return conv;
}

// What a window does not do with its only place: go on. With this stride each element of the input meets one tap.
Convolution WithoutOverlap(Convolution conv) {
  for (WindowAxis& axis : conv.axes) {
    if (axis.output == 1 && axis.window > 1) axis.stride = std::max(axis.Extent(), axis.before + axis.input);
  }
  return conv;
}

template <typename Is>
bool AllAxes(const Convolution& conv, const Is& is) {
  return is(conv.axes[0]) && is(conv.axes[1]) && is(conv.axes[2]);
}

void PlaceAxes(const Convolution& conv, PatchAxis* axes) {
  for (int i = 0; i < kSpatialAxes; ++i) axes[i] = ForwardAxis(conv.axes[i]);
}

// ---- The input's gradient ---------------------------------------------------------------------------------------

// The filter's part for a phase as columns of a product: line i is input channel i, along (taps, output channels).
template <typename T>
class FilterColumns final : public PanelSource<T> {
 public:
  FilterColumns(const Convolution& conv, const PhaseAxis* phases, const T* filter)
      : PanelSource<T>(PanelSource<T>::Order::kAlongK),
        phases_(phases),
        conv_(conv),
        filter_(filter),
        outputs_(conv.GroupOutputs()) {}

  void Copy(Range lines, Range k, T* to, int64_t stride) const override {
    for (int64_t l = k.begin; l < k.end;) {
      const int64_t tap = l / outputs_;
      const int64_t channel = l - tap * outputs_;
      const int64_t count = std::min(outputs_ - channel, k.end - l);
      const T* from = filter_ + (TapOf(tap) * conv_.GroupInputs() + lines.begin) * conv_.out_channels + channel;
      for (int64_t i = 0; i < lines.end - lines.begin; ++i) {
        MoveElements(to + i * stride + (l - k.begin), from + i * conv_.out_channels, count);
      }
      l += count;
    }
  }

 private:
  int64_t TapOf(int64_t tap) const {
    const int64_t column = tap % phases_[2].patch.taps;
    const int64_t rest = tap / phases_[2].patch.taps;
    const int64_t taps[kSpatialAxes] = {rest / phases_[1].patch.taps, rest % phases_[1].patch.taps, column};
    int64_t at = 0;
    for (int i = 0; i < kSpatialAxes; ++i) {
      at = at * conv_.axes[i].window + phases_[i].first_tap + taps[i] * phases_[i].tap_stride;
    }
    return at;
  }

  const PhaseAxis* const phases_;
  const Convolution& conv_;
  const T* const filter_;
  const int64_t outputs_;
};

template <typename T>
class BackwardPass {
 public:
  BackwardPass(const KernelCall& call, const Convolution& conv, const T* filter, const T* out_backprop,
               T* in_backprop)
      : call_(call), conv_(conv), filter_(filter), out_backprop_(out_backprop), in_backprop_(in_backprop) {}

  Status Compute() {
    const auto has_no_stride = [](const WindowAxis& axis) { return axis.stride == 1; };
    if (AllAxes(conv_, has_no_stride)) {
      const PhaseAxis phases[] = {BackwardAxis(conv_.axes[0], 0), BackwardAxis(conv_.axes[1], 0),
                                  BackwardAxis(conv_.axes[2], 0)};
      return ForGroups([&](int64_t group) { return Multiply(phases, group, Target(group), conv_.in_channels); });
    }
    const int64_t count = conv_.batch * conv_.InputPixels() * conv_.in_channels;
    STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call_, count, kElementsPerChunk, [&](Range range) {
      FillZeros(in_backprop_ + range.begin, range.end - range.begin);
    }));
    if (conv_.out_channels == 0) return Status();
    return ForPhases([&](const PhaseAxis* phases) { return ComputePhase(phases); });
  }

 private:
  static constexpr int64_t kElementsPerChunk = 262144;

  T* Target(int64_t group) const { return in_backprop_ + group * conv_.GroupInputs(); }

  template <typename Body>
  Status ForGroups(const Body& body) {
    for (int64_t group = 0; group < conv_.groups; ++group) STILLFLOW_RETURN_IF_ERROR(body(group));
    return Status();
  }

  template <typename Body>
  Status ForPhases(const Body& body) {
    const auto count = [&](int i) { return PhaseCount(conv_.axes[i]); };
    for (int64_t z = 0; z < count(0); ++z) {
      for (int64_t y = 0; y < count(1); ++y) {
        for (int64_t x = 0; x < count(2); ++x) {
          const PhaseAxis phases[] = {BackwardAxis(conv_.axes[0], z), BackwardAxis(conv_.axes[1], y),
                                      BackwardAxis(conv_.axes[2], x)};
          STILLFLOW_RETURN_IF_ERROR(body(phases));
        }
      }
    }
    return Status();
  }

  static int64_t Places(const PhaseAxis* phases) {
    return phases[0].patch.places * phases[1].patch.places * phases[2].patch.places;
  }
  static int64_t Taps(const PhaseAxis* phases) {
    return phases[0].patch.taps * phases[1].patch.taps * phases[2].patch.taps;
  }

  // The phase's positions side by side, and then each where it belongs.
  Status ComputePhase(const PhaseAxis* phases) {
    if (Taps(phases) == 0) return Status();
    const int64_t places = conv_.batch * Places(phases), channels = conv_.GroupInputs();
    const Scratch scratch(call_, places * channels * static_cast<int64_t>(sizeof(T)));
    if (!scratch.ok()) return OutOfScratch();
    T* const dense = scratch.data<T>();
    return ForGroups([&](int64_t group) {
      STILLFLOW_RETURN_IF_ERROR(Multiply(phases, group, dense, channels));
      return Spread(phases, dense, Target(group));
    });
  }

  Status Multiply(const PhaseAxis* phases, int64_t group, T* to, int64_t row_stride) {
    const int64_t places = conv_.batch * Places(phases), depth = Taps(phases) * conv_.GroupOutputs();
    const T* from = out_backprop_ + group * conv_.GroupOutputs();
    const T* filter = filter_ + group * conv_.GroupOutputs();
    if (AllAxes(conv_, IsPointwise)) {
      return Gemm<T>(call_, places, conv_.GroupInputs(), depth, MatrixView<T>{from, conv_.out_channels, 1},
                     MatrixView<T>{filter, 1, conv_.out_channels}, to, row_stride);
    }
    const PatchAxis axes[] = {phases[0].patch, phases[1].patch, phases[2].patch};
    const Patches<T> patches(Patches<T>::Lines::kPlaces, {from, conv_.out_channels, conv_.GroupOutputs()}, axes);
    const FilterColumns<T> columns(conv_, phases, filter);
    return Gemm<T>(call_, places, conv_.GroupInputs(), depth, patches, columns, to, row_stride);
  }

  Status Spread(const PhaseAxis* phases, const T* from, T* to) {
    StridedCopy copy;
    const int64_t channels = conv_.GroupInputs();
    copy.Add(conv_.batch, Places(phases) * channels, conv_.InputPixels() * conv_.in_channels);
    int64_t from_stride = Places(phases) * channels, to_stride = conv_.InputPixels() * conv_.in_channels;
    for (int i = 0; i < kSpatialAxes; ++i) {
      from_stride /= phases[i].patch.places;
      to_stride /= conv_.axes[i].input;
      copy.Add(phases[i].patch.places, from_stride, to_stride * conv_.axes[i].stride);
      to += phases[i].offset * to_stride;
    }
    copy.Add(channels, 1, 1);
    return CopyStrided(call_, copy, sizeof(T), from, to);
  }

  const KernelCall& call_;
  const Convolution conv_;
  const T* const filter_;
  const T* const out_backprop_;
  T* const in_backprop_;
};

// ---- The filter's gradient --------------------------------------------------------------------------------------

// Gradients with fewer elements are computed block by block, by different threads, and added afterwards.
constexpr int64_t kSmallFilter = 16384;

template <typename T>
class FilterPass {
 public:
  FilterPass(const KernelCall& call, const Convolution& conv, const T* input, const T* out_backprop)
      : call_(call),
        conv_(conv),
        input_(input),
        out_backprop_(out_backprop),
        places_(conv.batch * conv.OutputPixels()),
        rows_(conv.Taps() * conv.GroupInputs()) {
    PlaceAxes(conv, axes_);
  }

  Status Compute(T* filter_backprop) {
    const int64_t size = rows_ * conv_.out_channels;
    const int64_t blocks = (places_ + kPlacesPerBlock - 1) / kPlacesPerBlock;
    if constexpr (sizeof(T) > 2) {
      if (size <= kSmallFilter && blocks > 1) return MultiplyBlocks(blocks, size, filter_backprop);
    }
    return Multiply({0, places_}, filter_backprop);
  }

 private:
  static constexpr int64_t kAddedPerChunk = 1024;

  Status MultiplyBlocks(int64_t blocks, int64_t size, T* filter_backprop) {
    const Scratch scratch(call_, blocks * size * static_cast<int64_t>(sizeof(T)));
    if (!scratch.ok()) return OutOfScratch();
    T* const sums = scratch.data<T>();
    STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call_, blocks, 1, [&](Range range) {
      const int64_t begin = range.begin * kPlacesPerBlock;
      return Multiply({begin, std::min(begin + kPlacesPerBlock, places_)}, sums + range.begin * size);
    }));
    return Add(sums, blocks, size, filter_backprop);
  }

  Status Multiply(Range places, T* to) {
    const int64_t inputs = conv_.GroupInputs(), outputs = conv_.GroupOutputs();
    const int64_t count = places.end - places.begin;
    for (int64_t group = 0; group < conv_.groups; ++group) {
      const MatrixView<T> grads{out_backprop_ + places.begin * conv_.out_channels + group * outputs,
                                conv_.out_channels, 1};
      T* const at = to + group * outputs;
      if (AllAxes(conv_, IsPointwise)) {
        const MatrixView<T> inputs_of_place{input_ + places.begin * conv_.in_channels + group * inputs, 1,
                                            conv_.in_channels};
        STILLFLOW_RETURN_IF_ERROR(Gemm<T>(call_, rows_, outputs, count, inputs_of_place, grads, at,
                                          conv_.out_channels, false, kPlacesPerBlock));
      } else {
        const Patches<T> patches(Patches<T>::Lines::kElements, {input_ + group * inputs, conv_.in_channels, inputs},
                                 axes_, places.begin);
        STILLFLOW_RETURN_IF_ERROR(
            Gemm<T>(call_, rows_, outputs, count, patches, grads, at, conv_.out_channels, false, kPlacesPerBlock));
      }
    }
    return Status();
  }

  Status Add(const T* sums, int64_t blocks, int64_t size, T* to) {
    return ForEachChunk(call_, size, kAddedPerChunk, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) to[i] = sums[i];
      for (int64_t block = 1; block < blocks; ++block) {
        const T* next = sums + block * size;
        for (int64_t i = range.begin; i < range.end; ++i) to[i] += next[i];
      }
      for (int64_t i = range.begin; i < range.end; ++i)
        to[i] = to[i] == to[i] ? to[i] : std::numeric_limits<T>::quiet_NaN();
    });
  }

  const KernelCall& call_;
  const Convolution conv_;
  const T* const input_;
  const T* const out_backprop_;
  const int64_t places_, rows_;
  PatchAxis axes_[kSpatialAxes];
};

}  // namespace

template <typename T>
Status Convolve(const KernelCall& call, const Convolution& unfolded, const T* input, const T* filter, T* output) {
  const Convolution conv = Folded(unfolded);
  const int64_t places = conv.batch * conv.OutputPixels();
  const int64_t inputs = conv.GroupInputs(), outputs = conv.GroupOutputs(), depth = conv.Taps() * inputs;
  PatchAxis axes[kSpatialAxes];
  PlaceAxes(conv, axes);
  for (int64_t group = 0; group < conv.groups; ++group) {
    const T* const from = input + group * inputs;
    const MatrixView<T> filters{filter + group * outputs, conv.out_channels, 1};
    T* const to = output + group * outputs;
    if (AllAxes(conv, IsPointwise)) {
      STILLFLOW_RETURN_IF_ERROR(Gemm<T>(call, places, outputs, depth, MatrixView<T>{from, conv.in_channels, 1},
                                        filters, to, conv.out_channels));
    } else {
      const Patches<T> patches(Patches<T>::Lines::kPlaces, {from, conv.in_channels, inputs}, axes);
      STILLFLOW_RETURN_IF_ERROR(Gemm<T>(call, places, outputs, depth, patches, filters, to, conv.out_channels));
    }
  }
  return Status();
}

template <typename T>
Status ConvolveBackward(const KernelCall& call, const Convolution& conv, const T* filter, const T* out_backprop,
                        T* in_backprop) {
  return BackwardPass<T>(call, WithoutOverlap(Folded(conv)), filter, out_backprop, in_backprop).Compute();
}

template <typename T>
Status ConvolutionFilter(const KernelCall& call, const Convolution& conv, const T* input, const T* out_backprop,
                         T* filter_backprop) {
  return FilterPass<T>(call, Folded(conv), input, out_backprop).Compute(filter_backprop);
}

#define STILLFLOW_CONVOLUTION(T)                                                                      \
  template Status Convolve<T>(const KernelCall&, const Convolution&, const T*, const T*, T*);         \
  template Status ConvolveBackward<T>(const KernelCall&, const Convolution&, const T*, const T*, T*); \
  template Status ConvolutionFilter<T>(const KernelCall&, const Convolution&, const T*, const T*, T*);
STILLFLOW_CONVOLUTION(float)
STILLFLOW_CONVOLUTION(double)
STILLFLOW_CONVOLUTION(Half)
STILLFLOW_CONVOLUTION(BFloat16)
#undef STILLFLOW_CONVOLUTION

}  // namespace stillflow
