// avg_pool, avg_pool3d, and the gradients avg_pool_grad, avg_pool3d_grad: average pooling.
//
//   avg_pool*       in[0] input [batch, spatial..., channels], or channels first; out[0] [batch, places..., channels]
//   avg_pool*_grad  in[0] the input's shape, int32; in[1] grad: the output's gradient; out[0] the input's gradient
//   attrs           ksize, strides: a number for each dimension; padding: "SAME" or "VALID"; data_format
//
// A mean is the sum of the elements under the window inside of the image, in ascending order of (plane, row, column),
// over their number. An element of the gradient is the sum of those of the places whose window covers it, in
// ascending order, each times the reciprocal of the number of elements there. 16-bit floats are computed as floats.
#include "arithmetic/math/pieces.h"
#include "arithmetic/window/places.h"
#include "kernels/nn/pool_arguments.h"

namespace stillflow {
namespace {

constexpr char kNoChannels[] = "Non-spatial pooling is not yet supported. Volunteers? :)";
constexpr char kNoChannels3D[] = "Pooling is not yet supported on the depth dimension.";
constexpr PoolTexts kTexts[] = {{"stride", nullptr}, {"stride", kNoChannels3D}};
constexpr PoolTexts kGradTexts[] = {{"strides", kNoChannels}, {"stride", kNoChannels3D}};
constexpr int64_t kPixelsPerChunk = 64;

template <typename T>
Status Average(const KernelCall& call, const Pool& pool, const T* input, T* output) {
  using C = Wide<T>;
  const WindowAxis* axes = pool.axes;
  const int64_t channels = pool.channels;
  return ForLines(call, pool.batch, axes[0].output, axes[1].output, axes[2].output, kPixelsPerChunk,
                  [&](int64_t image, int64_t plane, int64_t row, int64_t first) {
                    const T* const from = input + image * pool.InputPixels() * channels;
                    for (int64_t column = 0; column < axes[2].output; ++column) {
                      const PixelBox box = PixelsUnder(axes, plane, row, column);
                      const auto number = static_cast<C>(box.Count());
                      T* const to = output + (first + column) * channels;
                      ForChannels<C>(channels, [&](int64_t c, auto count) {
                        using P = Piece<C, decltype(count)::value>;
                        P sum(C{0});
                        ForPixels(box, axes[1].input, axes[2].input, [&](int64_t pixel) {
                          sum.Combine(P(from + pixel * channels + c), [](auto a, auto b) { return a + b; });
                        });
                        sum.Combine(P(number), [](auto a, auto b) { return a / b; });
                        sum.Store(to + c);
                      });
                    }
                  });
}

// 1 / the number of elements under the window at each place.
template <typename C>
void Reciprocals(const WindowAxis* axes, C* to) {
  for (int64_t z = 0; z < axes[0].output; ++z) {
    for (int64_t y = 0; y < axes[1].output; ++y) {
      for (int64_t x = 0; x < axes[2].output; ++x) *to++ = 1 / static_cast<C>(PixelsUnder(axes, z, y, x).Count());
    }
  }
}

template <typename T>
Status SpreadGradient(const KernelCall& call, const Pool& pool, const T* grad, T* output) {
  using C = Wide<T>;
  const WindowAxis* axes = pool.axes;
  const int64_t channels = pool.channels;
  const Scratch scratch(call, pool.OutputPixels() * static_cast<int64_t>(sizeof(C)));
  if (!scratch.ok()) return OutOfScratch();
  C* const reciprocals = scratch.data<C>();
  Reciprocals(axes, reciprocals);
  return ForLines(call, pool.batch, axes[0].input, axes[1].input, axes[2].input, kPixelsPerChunk,
                  [&](int64_t image, int64_t plane, int64_t row, int64_t first) {
                    const T* const from = grad + image * pool.OutputPixels() * channels;
                    for (int64_t column = 0; column < axes[2].input; ++column) {
                      const PixelBox box = PlacesOver(axes, plane, row, column);
                      T* const to = output + (first + column) * channels;
                      ForChannels<C>(channels, [&](int64_t c, auto count) {
                        using P = Piece<C, decltype(count)::value>;
                        P sum(C{0});
                        ForPixels(box, axes[1].output, axes[2].output, [&](int64_t place) {
                          P scaled(from + place * channels + c);
                          scaled.Combine(P(reciprocals[place]), [](auto a, auto b) { return a * b; });
                          sum.Combine(scaled, [](auto a, auto b) { return a + b; });
                        });
                        sum.Store(to + c);
                      });
                    }
                  });
}

template <int kSpatialRank>
Status AvgPool(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  Pool pool;
  STILLFLOW_RETURN_IF_ERROR(ReadPool(call.attrs, kSpatialRank, kTexts[kSpatialRank - 2], &pool));
  if (kSpatialRank == 2 && input.rank != 4) {
    return STILLFLOW_INVALID_ARGUMENT("tensor_in_shape must have 2 spatial dimensions. %d %d", input.rank,
                                      pool.format.is_channels_first);
  }
  STILLFLOW_RETURN_IF_ERROR(CheckRank(input, "tensor_in", pool.format.Rank()));
  STILLFLOW_RETURN_IF_ERROR(ReadImages(Shape(input), &pool));
  if (pool.channel_window != 1) return Error(Code::kUnimplemented, "%s", kNoChannels);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, pool.Output()));
  if (call.out[0]->count == 0) return Status();
  ChannelsLast images;
  ChannelsLastOutput output;
  STILLFLOW_RETURN_IF_ERROR(images.Read(call, input, pool.format));
  STILLFLOW_RETURN_IF_ERROR(output.Begin(call, call.out[0], pool.format));
  STILLFLOW_RETURN_IF_ERROR((ForType<float, double, Half, BFloat16>("AvgPool", input.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Average(call, pool, images.data<T>(), output.data<T>());
  })));
  return output.Finish(call);
}

template <int kSpatialRank>
Status AvgPoolGrad(const KernelCall& call) {
  const Tensor& spelled = *call.in[0];
  const Tensor& grad = *call.in[1];
  Pool pool;
  STILLFLOW_RETURN_IF_ERROR(ReadPool(call.attrs, kSpatialRank, kGradTexts[kSpatialRank - 2], &pool));
  const int rank = pool.format.Rank();
  if (spelled.rank != 1 || spelled.count != rank) {
    return STILLFLOW_INVALID_ARGUMENT("%s must be 1-dimensional and %d elements",
                                      kSpatialRank == 2 ? "out_backprop" : "tensor_in", rank);
  }
  STILLFLOW_RETURN_IF_ERROR(CheckRank(grad, "out_backprop", rank));
  Shape shape;
  STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(spelled, &shape));
  STILLFLOW_RETURN_IF_ERROR(ReadImages(shape, &pool));
  STILLFLOW_RETURN_IF_ERROR(CheckShape(grad, "grad", pool.Output()));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, grad.dtype, shape));
  if (call.out[0]->count == 0) return Status();
  ChannelsLast grads;
  ChannelsLastOutput output;
  STILLFLOW_RETURN_IF_ERROR(grads.Read(call, grad, pool.format));
  STILLFLOW_RETURN_IF_ERROR(output.Begin(call, call.out[0], pool.format));
  STILLFLOW_RETURN_IF_ERROR((ForType<float, double, Half, BFloat16>("AvgPoolGrad", grad.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return SpreadGradient(call, pool, grads.data<T>(), output.data<T>());
  })));
  return output.Finish(call);
}

}  // namespace

STILLFLOW_KERNELS(nn, avg_pool){
    {"avg_pool", "value | ksize, strides, padding, data_format", AvgPool<2>},
    {"avg_pool3d", "input | ksize, strides, padding, data_format", AvgPool<3>},
    {"avg_pool_grad", "orig_input_shape, grad | ksize, strides, padding, data_format", AvgPoolGrad<2>},
    {"avg_pool3d_grad", "orig_input_shape, grad | ksize, strides, padding, data_format", AvgPoolGrad<3>},
    {}};

}  // namespace stillflow
