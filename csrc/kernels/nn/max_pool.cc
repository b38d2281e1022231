// max_pool, max_pool_v2, max_pool3d: max pooling.
//
//   in[0]   input   [batch, spatial..., channels], or channels first; max_pool_v2: in[1] ksize, in[2] strides
//   out[0]  [batch, places..., channels], in the same format
//   attrs   ksize, strides: a number for each dimension; padding: "SAME" or "VALID"; data_format
//
// Elements are passed over that are not larger than those before them: NaN is, and of equal ones the first is taken.
// As in TensorFlow no maximum is lower than the lowest number. A window over channels has as many places as it fits.
#include <limits>

#include "arithmetic/math/pieces.h"
#include "arithmetic/window/places.h"
#include "kernels/nn/pool_arguments.h"

namespace stillflow {
namespace {

constexpr PoolTexts kTexts = {"stride", nullptr};
constexpr PoolTexts kTexts3D = {"stride", "Pooling is not yet supported on the depth dimension."};
constexpr int64_t kPixelsPerChunk = 64;

template <typename T>
Computed<T> Lowest() {
  if constexpr (std::is_same_v<T, Half>) {
    return -65504.0f;
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return -0x1.FEp127f;
  } else {
    return std::numeric_limits<T>::lowest();
  }
}

template <typename T>
Status PoolPixels(const KernelCall& call, const Pool& pool, const T* input, T* output) {
  using C = Computed<T>;
  const WindowAxis* axes = pool.axes;
  const int64_t channels = pool.channels;
  return ForLines(call, pool.batch, axes[0].output, axes[1].output, axes[2].output, kPixelsPerChunk,
                  [&](int64_t image, int64_t plane, int64_t row, int64_t first) {
                    const T* const from = input + image * pool.InputPixels() * channels;
                    for (int64_t column = 0; column < axes[2].output; ++column) {
                      const PixelBox box = PixelsUnder(axes, plane, row, column);
                      T* const to = output + (first + column) * channels;
                      ForChannels<C>(channels, [&](int64_t c, auto count) {
                        using P = Piece<C, decltype(count)::value>;
                        P largest(Lowest<T>());
                        ForPixels(box, axes[1].input, axes[2].input, [&](int64_t pixel) {
                          largest.Combine(P(from + pixel * channels + c),
                                          [](auto a, auto b) { return Larger(b, a); });
                        });
                        largest.Store(to + c);
                      });
                    }
                  });
}

template <typename T>
Status PoolChannels(const KernelCall& call, const Pool& pool, const T* input, T* output) {
  const int64_t count = pool.batch * pool.InputPixels() * pool.OutputChannels();
  return ForEachChunk(call, count, 4096, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      Computed<T> largest = Lowest<T>();
      for (int64_t k = 0; k < pool.channel_window; ++k) {
        const Piece<Computed<T>, 1> next(input + i * pool.channel_window + k);
        largest = Larger(next.parts[0], largest);
      }
      output[i] = Narrow<T>(largest);
    }
  });
}

Status PoolInput(const KernelCall& call, const char* op, Pool* pool) {
  const Tensor& input = *call.in[0];
  const ImageFormat& format = pool->format;
  if (input.rank != format.Rank()) {
    if (format.spatial_rank == 3) return CheckRank(input, "tensor_in", 5);
    return STILLFLOW_INVALID_ARGUMENT("tensor_in_shape must have 2 spatial dimensions. %d %d", input.rank,
                                      format.is_channels_first);
  }
  STILLFLOW_RETURN_IF_ERROR(ReadImages(Shape(input), pool));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, pool->Output()));
  if (call.out[0]->count == 0) return Status();
  ChannelsLast images;
  ChannelsLastOutput output;
  STILLFLOW_RETURN_IF_ERROR(images.Read(call, input, format));
  STILLFLOW_RETURN_IF_ERROR(output.Begin(call, call.out[0], format));
  STILLFLOW_RETURN_IF_ERROR(
      (ForType<float, double, Half, BFloat16, int32_t, int64_t, uint8_t, int16_t, int8_t, uint16_t>(
          op, input.dtype, [&](auto tag) {
            using T = typename decltype(tag)::type;
            if (pool->channel_window != 1) return PoolChannels(call, *pool, images.data<T>(), output.data<T>());
            return PoolPixels(call, *pool, images.data<T>(), output.data<T>());
          })));
  return output.Finish(call);
}

Status MaxPool(const KernelCall& call) {
  Pool pool;
  STILLFLOW_RETURN_IF_ERROR(ReadPool(call.attrs, 2, kTexts, &pool));
  return PoolInput(call, "MaxPool", &pool);
}

Status MaxPoolV2(const KernelCall& call) {
  Pool pool;
  STILLFLOW_RETURN_IF_ERROR(ReadPool(*call.in[1], *call.in[2], call.attrs, 2, kTexts, &pool));
  return PoolInput(call, "MaxPoolV2", &pool);
}

Status MaxPool3D(const KernelCall& call) {
  Pool pool;
  STILLFLOW_RETURN_IF_ERROR(ReadPool(call.attrs, 3, kTexts3D, &pool));
  return PoolInput(call, "MaxPool3D", &pool);
}

}  // namespace

STILLFLOW_KERNELS(nn, max_pool){{"max_pool", "input | ksize, strides, padding, data_format", MaxPool},
                                {"max_pool_v2", "input, ksize, strides | padding, data_format", MaxPoolV2},
                                {"max_pool3d", "input | ksize, strides, padding, data_format", MaxPool3D},
                                {}};

}  // namespace stillflow
