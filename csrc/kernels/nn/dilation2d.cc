// dilation2d and its gradients: the largest sums of pixels under a window and a filter of numbers for each channel.
//
//   dilation2d                  in[0] input: numbers [batch, rows, columns, channels];
//                               in[1] filter [rows, columns, channels]; out[0] [batch, places..., channels]
//   dilation2d_backprop_input   in[2] out_backprop: the output's gradient; out[0] the input's gradient
//   dilation2d_backprop_filter  likewise; out[0] the filter's gradient
//   attrs                       strides, rates: a number for each dimension; padding: "SAME" or "VALID"
//
// Sums are of the inputs' own type. The first of equal ones is taken; one that is not larger than the least number of
// the type (NaN, for one) never is. Gradients are sums in ascending order of (image, row, column), 16-bit floats
// computed as floats.
#include <algorithm>
#include <limits>

#include "arithmetic/math/pieces.h"
#include "arithmetic/window/axis.h"

namespace stillflow {
namespace {

constexpr int64_t kChannelsPerChunk = 32;

struct Plan {
  WindowAxis rows, columns;
  int64_t batch, channels;

  int64_t ChannelBlocks() const { return (channels + kChannelsPerChunk - 1) / kChannelsPerChunk; }
  Range ChannelsOf(int64_t block) const {
    return {block * kChannelsPerChunk, std::min(channels, (block + 1) * kChannelsPerChunk)};
  }
  int64_t InputPixels() const { return rows.input * columns.input; }
  int64_t Places() const { return rows.output * columns.output; }
  int64_t Taps() const { return rows.window * columns.window; }

  // Calls body(tap, pixel of the image) for the taps of a place that lie inside of the image, in ascending order.
  template <typename Body>
  void ForTaps(int64_t row, int64_t column, const Body& body) const {
    const int64_t top = row * rows.stride - rows.before, left = column * columns.stride - columns.before;
    for (int64_t ky = 0; ky < rows.window; ++ky) {
      const int64_t y = top + ky * rows.dilation;
      if (y < 0 || y >= rows.input) continue;
      for (int64_t kx = 0; kx < columns.window; ++kx) {
        const int64_t x = left + kx * columns.dilation;
        if (x >= 0 && x < columns.input) body(ky * columns.window + kx, y * columns.input + x);
      }
    }
  }
};

Status ReadPlan(const KernelCall& call, Plan* plan) {
  int64_t strides[4], rates[4];
  STILLFLOW_RETURN_IF_ERROR(
      ReadSizes(call.attrs[0], "strides", 4, "Sliding window stride field must specify 4 dimensions", strides));
  if (strides[0] != 1 || strides[3] != 1) {
    return Error(Code::kUnimplemented, "Stride is only supported across spatial dimensions.");
  }
  STILLFLOW_RETURN_IF_ERROR(
      ReadSizes(call.attrs[1], "rates", 4, "Input stride (atrous rate) field must specify 4 dimensions", rates));
  if (rates[0] != 1 || rates[3] != 1) {
    return Error(Code::kUnimplemented, "Rate is only supported across spatial dimensions.");
  }
  const Tensor& input = *call.in[0];
  const Tensor& filter = *call.in[1];
  if (input.rank != 4) return STILLFLOW_INVALID_ARGUMENT("input must be 4-dimensional%s", ShapeText(input).c_str());
  if (filter.rank != 3) {
    return STILLFLOW_INVALID_ARGUMENT("filter must be 3-dimensional: %s", ShapeText(filter).c_str());
  }
  if (input.dims[3] != filter.dims[2]) {
    return STILLFLOW_INVALID_ARGUMENT("input and filter must have the same depth: %lld vs %lld",
                                      static_cast<long long>(input.dims[3]), static_cast<long long>(filter.dims[2]));
  }
  STILLFLOW_RETURN_IF_ERROR(CheckImageSizes(input));
  STILLFLOW_RETURN_IF_ERROR(CheckImageSizes(filter));
  plan->batch = input.dims[0];
  plan->channels = input.dims[3];
  WindowAxis* const axes[] = {&plan->rows, &plan->columns};
  for (int i = 0; i < 2; ++i) {
    axes[i]->input = input.dims[i + 1];
    axes[i]->window = filter.dims[i];
    axes[i]->stride = strides[i + 1];
    axes[i]->dilation = rates[i + 1];
    STILLFLOW_RETURN_IF_ERROR(axes[i]->Resolve(PaddingOf(call.attrs[2])));
  }
  return Status();
}

Shape OutputShape(const Plan& plan) {
  Shape shape;
  shape.rank = 4;
  const int64_t sizes[] = {plan.batch, plan.rows.output, plan.columns.output, plan.channels};
  std::copy_n(sizes, 4, shape.dims);
  return shape;
}

template <typename T>
T Least() {
  if constexpr (std::is_same_v<T, Half>) {
    return Narrow<T>(-65504.0f);
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return Narrow<T>(-0x1.fep127f);
  } else {
    return std::numeric_limits<T>::lowest();
  }
}

// The sum in the type itself: integers wrap around.
template <typename T>
T SumOf(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Word = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Word>(static_cast<Word>(a) + static_cast<Word>(b)));
  } else if constexpr (sizeof(T) == 2) {
    return Narrow<T>(Widen(a) + Widen(b));
  } else {
    return a + b;
  }
}

template <typename T>
bool IsLarger(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return a > b;
  } else {
    return Widen(a) > Widen(b);
  }
}

template <typename T>
Status Dilate(const KernelCall& call, const Plan& plan, const T* input, const T* filter, T* output) {
  constexpr int64_t kPlacesPerChunk = 64;
  const int64_t channels = plan.channels;
  return ForEachChunk(call, plan.batch * plan.Places(), kPlacesPerChunk, [&](Range range) {
    for (int64_t place = range.begin; place < range.end; ++place) {
      const T* const image = input + place / plan.Places() * plan.InputPixels() * channels;
      const int64_t within = place % plan.Places();
      T* const to = output + place * channels;
      std::fill_n(to, channels, Least<T>());
      plan.ForTaps(within / plan.columns.output, within % plan.columns.output, [&](int64_t tap, int64_t pixel) {
        const T* const from = image + pixel * channels;
        const T* const added = filter + tap * channels;
        for (int64_t c = 0; c < channels; ++c) {
          const T sum = SumOf(from[c], added[c]);
          to[c] = IsLarger(sum, to[c]) ? sum : to[c];
        }
      });
    }
  });
}

// What the largest sums of some channels at a place are made of. Where there is none, the first tap and the first
// pixel that is not before the image, as in TensorFlow.
template <typename T>
struct Largest {
  T sum[kChannelsPerChunk];
  int64_t tap[kChannelsPerChunk];
  int64_t pixel[kChannelsPerChunk];

  void Find(const Plan& plan, const T* image, const T* filter, int64_t row, int64_t column, Range channels) {
    const int64_t count = channels.end - channels.begin;
    const int64_t top = std::max<int64_t>(row * plan.rows.stride - plan.rows.before, 0);
    const int64_t left = std::max<int64_t>(column * plan.columns.stride - plan.columns.before, 0);
    std::fill_n(sum, count, Least<T>());
    std::fill_n(tap, count, 0);
    std::fill_n(pixel, count, top * plan.columns.input + left);
    plan.ForTaps(row, column, [&](int64_t next_tap, int64_t next_pixel) {
      const T* const from = image + next_pixel * plan.channels + channels.begin;
      const T* const added = filter + next_tap * plan.channels + channels.begin;
      for (int64_t i = 0; i < count; ++i) {
        const T next = SumOf(from[i], added[i]);
        if (!IsLarger(next, sum[i])) continue;
        sum[i] = next;
        tap[i] = next_tap;
        pixel[i] = next_pixel;
      }
    });
  }
};

// Adds gradients of the places of an image to what some channels of their largest sums are from: sums[index of
// (*from)[i] * channels of the block + i], where `from` is Largest's tap or pixel.
template <typename T, typename Index>
void AddGradients(const Plan& plan, const T* image, const T* filter, const T* grads, Range channels, Index from,
                  Computed<T>* sums) {
  const int64_t count = channels.end - channels.begin;
  Largest<T> largest;
  for (int64_t row = 0; row < plan.rows.output; ++row) {
    for (int64_t column = 0; column < plan.columns.output; ++column) {
      largest.Find(plan, image, filter, row, column, channels);
      const T* const grad = grads + (row * plan.columns.output + column) * plan.channels + channels.begin;
      for (int64_t i = 0; i < count; ++i) {
        Computed<T>& sum = sums[(largest.*from)[i] * count + i];
        if constexpr (std::is_integral_v<T>) {
          sum = SumOf(sum, grad[i]);
        } else {
          sum += Widen(grad[i]);
        }
      }
    }
  }
}

// Calls add(sums) with memory for `rows` rows of the channels of a block, and stores them as rows of `channels`.
template <typename T, typename Body>
Status StoreSums(const KernelCall& call, int64_t rows, int64_t all_channels, Range channels, T* to, const Body& add) {
  using C = Computed<T>;
  const int64_t count = channels.end - channels.begin;
  const Scratch scratch(call, rows * count * static_cast<int64_t>(sizeof(C)));
  if (!scratch.ok()) return OutOfScratch();
  C* const sums = scratch.data<C>();
  std::fill_n(sums, rows * count, C{});
  add(sums);
  for (int64_t row = 0; row < rows; ++row) {
    T* const line = to + row * all_channels + channels.begin;
    for (int64_t i = 0; i < count; ++i) {
      if constexpr (std::is_integral_v<T>) {
        line[i] = sums[row * count + i];
      } else {
        line[i] = Narrow<T>(sums[row * count + i]);
      }
    }
  }
  return Status();
}

template <typename T>
Status InputGradient(const KernelCall& call, const Plan& plan, T* output) {
  const T* const input = Data<T>(*call.in[0]);
  const T* const grads = Data<T>(*call.in[2]);
  const int64_t blocks = plan.ChannelBlocks(), size = plan.InputPixels() * plan.channels;
  return ForEachChunk(call, plan.batch * blocks, 1, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const int64_t image = i / blocks;
      const Range channels = plan.ChannelsOf(i % blocks);
      STILLFLOW_RETURN_IF_ERROR(
          StoreSums(call, plan.InputPixels(), plan.channels, channels, output + image * size, [&](Computed<T>* sums) {
            AddGradients(plan, input + image * size, Data<T>(*call.in[1]),
                         grads + image * plan.Places() * plan.channels, channels, &Largest<T>::pixel, sums);
          }));
    }
    return Status();
  });
}

template <typename T>
Status FilterGradient(const KernelCall& call, const Plan& plan, T* output) {
  const T* const input = Data<T>(*call.in[0]);
  const T* const grads = Data<T>(*call.in[2]);
  return ForEachChunk(call, plan.ChannelBlocks(), 1, [&](Range range) {
    for (int64_t block = range.begin; block < range.end; ++block) {
      const Range channels = plan.ChannelsOf(block);
      STILLFLOW_RETURN_IF_ERROR(StoreSums(call, plan.Taps(), plan.channels, channels, output, [&](Computed<T>* sums) {
        for (int64_t image = 0; image < plan.batch; ++image) {
          AddGradients(plan, input + image * plan.InputPixels() * plan.channels, Data<T>(*call.in[1]),
                       grads + image * plan.Places() * plan.channels, channels, &Largest<T>::tap, sums);
        }
      }));
    }
    return Status();
  });
}

template <typename Body>
Status ForNumbers(const char* op, DType dtype, const Body& body) {
  return ForType<float, double, Half, BFloat16, int32_t, int64_t, uint8_t, int16_t, int8_t, uint16_t>(op, dtype,
                                                                                                      body);
}

Status Dilation2D(const KernelCall& call) {
  const DType dtype = call.in[0]->dtype;
  Plan plan;
  STILLFLOW_RETURN_IF_ERROR(ReadPlan(call, &plan));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, dtype, OutputShape(plan)));
  if (call.out[0]->count == 0) return Status();
  return ForNumbers("Dilation2D", dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Dilate(call, plan, Data<T>(*call.in[0]), Data<T>(*call.in[1]), MutableData<T>(*call.out[0]));
  });
}

// The gradient with the shape of input `like`.
Status Gradient(const KernelCall& call, const char* op, int like) {
  const DType dtype = call.in[0]->dtype;
  Plan plan;
  STILLFLOW_RETURN_IF_ERROR(ReadPlan(call, &plan));
  if (!(Shape(*call.in[2]) == OutputShape(plan))) {
    return STILLFLOW_INVALID_ARGUMENT("out_backprop has incompatible size.");
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, dtype, Shape(*call.in[like])));
  if (call.out[0]->count == 0) return Status();
  return ForNumbers(op, dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* const output = MutableData<T>(*call.out[0]);
    // Without pixels or taps there are no sums to take one of.
    if (plan.InputPixels() == 0 || plan.Taps() == 0) {
      std::fill_n(output, call.out[0]->count, T{});
      return Status();
    }
    return like == 0 ? InputGradient(call, plan, output) : FilterGradient(call, plan, output);
  });
}

Status Dilation2DBackpropInput(const KernelCall& call) { return Gradient(call, "Dilation2DBackpropInput", 0); }
Status Dilation2DBackpropFilter(const KernelCall& call) { return Gradient(call, "Dilation2DBackpropFilter", 1); }

}  // namespace

STILLFLOW_KERNELS(nn, dilation2d){
    {"dilation2d", "input, filter | strides, rates, padding", Dilation2D},
    {"dilation2d_backprop_input", "input, filter, out_backprop | strides, rates, padding", Dilation2DBackpropInput},
    {"dilation2d_backprop_filter", "input, filter, out_backprop | strides, rates, padding", Dilation2DBackpropFilter},
    {}};

}  // namespace stillflow
