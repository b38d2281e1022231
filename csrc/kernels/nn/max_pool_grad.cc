// max_pool_grad, max_pool_grad_v2, max_pool3d_grad: where the gradient of a maximum goes; and of the gradients of
// these max_pool_grad_grad, max_pool_grad_grad_v2, max_pool3d_grad_grad: which elements they are taken from.
//
//   in[0]   orig_input, what was pooled; in[1] orig_output, what it was pooled to; in[2] grad
//           *_v2: in[3] ksize, in[4] strides
//   out[0]  of the shape of orig_input; *_grad_grad: of orig_output
//   attrs   ksize, strides, padding, data_format; *_v2: padding, data_format
//
//   max_pool_grad       grad[place] is added to the element under the window that max_pool takes, the first one if
//   that
//                       takes none; orig_output is not needed. Sums are in ascending order of places.
//   max_pool3d_grad     grad[place] is added to each element under the window that differs by less than 1e-5 from
//                       orig_output[place], as TensorFlow has it
//   *_grad_grad         output[place] is grad at the first element under the window that equals orig_output[place],
//   or 0
//
// 16-bit floats are added up as floats.
#include "arithmetic/math/pieces.h"
#include "arithmetic/window/taken.h"
#include "kernels/nn/pool_arguments.h"

namespace stillflow {
namespace {

constexpr PoolTexts kGradTexts = {"strides", "MaxPoolingGrad is not yet supported on the depth dimension."};
constexpr PoolTexts kGradGradTexts = {"strides", "MaxPoolingGradGrad is not yet supported on the depth dimension."};
constexpr PoolTexts kTexts3D = {"stride", "Pooling is not yet supported on the depth dimension."};
constexpr PoolTexts kGradGradTexts3D = {"strides",
                                        "MaxPooling3dGradGrad is not yet supported on the depth dimension."};
constexpr int64_t kPixelsPerChunk = 64;

// ---- To the element that is taken -------------------------------------------------------------------------------

// Integers wrap around.
template <typename Part>
STILLFLOW_INLINE Part Plus(Part a, Part b) {
  if constexpr (std::is_integral_v<Part>) {
    return static_cast<Part>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}

template <typename T>
class Spreader {
 public:
  using C = Computed<T>;

  Spreader(const KernelCall& call, const Pool& pool, const T* input, const T* grad, T* output)
      : call_(call), pool_(pool), axes_(pool.axes), input_(input), grad_(grad), output_(output) {}

  // A chunk owns some rows of an image. It goes through the places whose windows cover them, in order.
  Status Compute() {
    const int64_t rows = axes_[1].input;
    const int64_t rows_at_once = std::max(kPixelsPerChunk / axes_[2].input, axes_[1].window);
    const int64_t parts = (rows + rows_at_once - 1) / rows_at_once;
    return ForEachChunk(call_, pool_.batch * parts, 1, [&](Range range) {
      const int64_t begin = range.begin % parts * rows_at_once;
      return SpreadRows(range.begin / parts, {begin, std::min(begin + rows_at_once, rows)});
    });
  }

 private:
  static constexpr bool kIsWidened = !std::is_same_v<T, C>;

  Status SpreadRows(int64_t image, Range rows) {
    const int64_t columns = axes_[2].input, channels = pool_.channels;
    const int64_t count = (rows.end - rows.begin) * columns * channels;
    T* const to = output_ + (image * axes_[1].input + rows.begin) * columns * channels;
    if constexpr (kIsWidened) {
      const Scratch scratch(call_, count * static_cast<int64_t>(sizeof(C)));
      if (!scratch.ok()) return OutOfScratch();
      C* const sums = scratch.data<C>();
      AddPlaces(image, rows, sums);
      for (int64_t i = 0; i < count; ++i) to[i] = Narrow<T>(sums[i]);
    } else {
      AddPlaces(image, rows, to);
    }
    return Status();
  }

  // `sums` are those of the rows' elements.
  void AddPlaces(int64_t image, Range rows, C* sums) {
    const int64_t columns = axes_[2].input, channels = pool_.channels;
    const T* const input = input_ + image * pool_.InputPixels() * channels;
    std::memset(sums, 0, (rows.end - rows.begin) * columns * channels * sizeof(C));
    C* const first = sums - rows.begin * columns * channels;
    const Range places = {axes_[1].Covering(rows.begin).begin, axes_[1].Covering(rows.end - 1).end};
    for (int64_t y = places.begin; y < places.end; ++y) {
      for (int64_t x = 0; x < axes_[2].output; ++x) {
        const PixelBox box = PixelsUnder(axes_, 0, y, x);
        PixelBox owned = box;
        owned.rows = {std::max(box.rows.begin, rows.begin), std::min(box.rows.end, rows.end)};
        const T* const grad = grad_ + ((image * axes_[1].output + y) * axes_[2].output + x) * channels;
        const auto add = [&](int64_t c, auto count) {
          AddPlace<decltype(count)::value>(box, owned, c, input, grad, first);
        };
        ForComparedChannels<T>(channels, add);
      }
    }
  }

  template <int kCount>
  STILLFLOW_INLINE void AddPlace(const PixelBox& box, const PixelBox& owned, int64_t c, const T* input, const T* grad,
                                 C* sums) {
    using P = Piece<C, kCount>;
    using Numbers = Piece<PixelNumber<C>, kCount>;
    const int64_t columns = axes_[2].input, channels = pool_.channels;
    const auto taken = FindTaken<C, kCount>(box, axes_, channels, input, c);
    const P added(grad + c);
    ForPixels(owned, axes_[1].input, columns, [&](int64_t pixel) {
      C* const at = sums + pixel * channels + c;
      P sum(at);
      const Numbers number(static_cast<PixelNumber<C>>(pixel));
#pragma GCC unroll 4
      for (int i = 0; i < P::kParts; ++i) {
        sum.parts[i] =
            Plus(sum.parts[i], taken.pixel.parts[i] == number.parts[i] ? added.parts[i] : typename P::Part{});
      }
      sum.Store(at);
    });
  }

  const KernelCall& call_;
  const Pool& pool_;
  const WindowAxis* const axes_;
  const T* const input_;
  const T* const grad_;
  T* const output_;
};

// ---- To what is near the maximum ----------------------------------------------------------------------------------

template <typename T>
Status SpreadToNear(const KernelCall& call, const Pool& pool, const T* input, const T* pooled, const T* grad,
                    T* output) {
  using C = Computed<T>;
  constexpr C kNear = static_cast<C>(1e-5);
  const WindowAxis* axes = pool.axes;
  const int64_t channels = pool.channels;
  return ForLines(call, pool.batch, axes[0].input, axes[1].input, axes[2].input, kPixelsPerChunk,
                  [&](int64_t image, int64_t plane, int64_t row, int64_t first) {
                    const int64_t first_place = image * pool.OutputPixels();
                    for (int64_t column = 0; column < axes[2].input; ++column) {
                      const PixelBox box = PlacesOver(axes, plane, row, column);
                      const int64_t at = (first + column) * channels;
                      ForChannels<C>(channels, [&](int64_t c, auto count) {
                        using P = Piece<C, decltype(count)::value>;
                        const P element(input + at + c);
                        P sum(C{0});
                        ForPixels(box, axes[1].output, axes[2].output, [&](int64_t place) {
                          const int64_t from = (first_place + place) * channels + c;
                          const P maximum(pooled + from), added(grad + from);
#pragma GCC unroll 4
                          for (int i = 0; i < P::kParts; ++i) {
                            const auto distance = element.parts[i] - maximum.parts[i];
                            const auto is_near = (distance < kNear) & (distance > -kNear);
                            sum.parts[i] += is_near ? added.parts[i] : typename P::Part{};
                          }
                        });
                        sum.Store(output + at + c);
                      });
                    }
                  });
}

// ---- Gradients of gradients ---------------------------------------------------------------------------------------

template <typename T>
Status TakeGradient(const KernelCall& call, const Pool& pool, const T* input, const T* pooled, const T* grad,
                    T* output) {
  const WindowAxis* axes = pool.axes;
  const int64_t channels = pool.channels;
  return ForLines(call, pool.batch, axes[0].output, axes[1].output, axes[2].output, kPixelsPerChunk,
                  [&](int64_t image, int64_t plane, int64_t row, int64_t first) {
                    const int64_t first_pixel = image * pool.InputPixels();
                    for (int64_t column = 0; column < axes[2].output; ++column) {
                      const PixelBox box = PixelsUnder(axes, plane, row, column);
                      const T* const maximum = pooled + (first + column) * channels;
                      T* const to = output + (first + column) * channels;
                      std::memset(to, 0, channels * sizeof(T));
                      for (int64_t c = 0; c < channels; ++c) {
                        bool is_found = false;
                        ForPixels(box, axes[1].input, axes[2].input, [&](int64_t pixel) {
                          const int64_t at = (first_pixel + pixel) * channels + c;
                          const Piece<Computed<T>, 1> element(input + at), taken(maximum + c);
                          if (is_found || element.parts[0] != taken.parts[0]) return;
                          is_found = true;
                          to[c] = grad[at];
                        });
                      }
                    }
                  });
}

// ---- Kernels --------------------------------------------------------------------------------------------------

enum class Way { kToTaken, kToNear, kTake };

template <typename T>
Status ComputeWay(const KernelCall& call, Way way, const Pool& pool, const T* input, const T* pooled, const T* grad,
                  T* output) {
  if (way == Way::kToTaken) return Spreader<T>(call, pool, input, grad, output).Compute();
  if (way == Way::kToNear) return SpreadToNear(call, pool, input, pooled, grad, output);
  return TakeGradient(call, pool, input, pooled, grad, output);
}

Status ComputeGradient(const KernelCall& call, const char* op, Way way, Pool* pool) {
  const Tensor& input = *call.in[0];
  const Tensor& pooled = *call.in[1];
  const Tensor& grad = *call.in[2];
  const bool is_second = way == Way::kTake;
  const int rank = pool->format.Rank();
  STILLFLOW_RETURN_IF_ERROR(CheckRank(input, "tensor_in", rank));
  STILLFLOW_RETURN_IF_ERROR(CheckRank(pooled, "tensor_out", rank));
  STILLFLOW_RETURN_IF_ERROR(CheckRank(grad, is_second ? "out_grad_backprop" : "out_backprop", rank));
  STILLFLOW_RETURN_IF_ERROR(ReadImages(Shape(input), pool));
  STILLFLOW_RETURN_IF_ERROR(CheckShape(pooled, "orig_output", pool->Output()));
  STILLFLOW_RETURN_IF_ERROR(CheckShape(grad, "grad", is_second ? Shape(input) : pool->Output()));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, grad.dtype, is_second ? pool->Output() : Shape(input)));
  if (call.out[0]->count == 0) return Status();
  ChannelsLast images, maxima, grads;
  ChannelsLastOutput output;
  STILLFLOW_RETURN_IF_ERROR(images.Read(call, input, pool->format));
  STILLFLOW_RETURN_IF_ERROR(maxima.Read(call, pooled, pool->format));
  STILLFLOW_RETURN_IF_ERROR(grads.Read(call, grad, pool->format));
  STILLFLOW_RETURN_IF_ERROR(output.Begin(call, call.out[0], pool->format));
  STILLFLOW_RETURN_IF_ERROR(
      (ForType<float, double, Half, BFloat16, int32_t, int64_t, uint8_t, int16_t, int8_t, uint16_t>(
          op, input.dtype, [&](auto tag) {
            using T = typename decltype(tag)::type;
            return ComputeWay(call, way, *pool, images.data<T>(), maxima.data<T>(), grads.data<T>(),
                              output.data<T>());
          })));
  return output.Finish(call);
}

Status MaxPoolGrad(const KernelCall& call) {
  Pool pool;
  STILLFLOW_RETURN_IF_ERROR(ReadPool(call.attrs, 2, kGradTexts, &pool));
  return ComputeGradient(call, "MaxPoolGrad", Way::kToTaken, &pool);
}
Status MaxPoolGradV2(const KernelCall& call) {
  Pool pool;
  STILLFLOW_RETURN_IF_ERROR(ReadPool(*call.in[3], *call.in[4], call.attrs, 2, kGradTexts, &pool));
  return ComputeGradient(call, "MaxPoolGradV2", Way::kToTaken, &pool);
}
Status MaxPool3DGrad(const KernelCall& call) {
  Pool pool;
  STILLFLOW_RETURN_IF_ERROR(ReadPool(call.attrs, 3, kTexts3D, &pool));
  return ComputeGradient(call, "MaxPool3DGrad", Way::kToNear, &pool);
}
Status MaxPoolGradGrad(const KernelCall& call) {
  Pool pool;
  STILLFLOW_RETURN_IF_ERROR(ReadPool(call.attrs, 2, kGradGradTexts, &pool));
  return ComputeGradient(call, "MaxPoolGradGrad", Way::kTake, &pool);
}
Status MaxPoolGradGradV2(const KernelCall& call) {
  Pool pool;
  STILLFLOW_RETURN_IF_ERROR(ReadPool(*call.in[3], *call.in[4], call.attrs, 2, kGradTexts, &pool));
  return ComputeGradient(call, "MaxPoolGradGradV2", Way::kTake, &pool);
}
Status MaxPool3DGradGrad(const KernelCall& call) {
  Pool pool;
  STILLFLOW_RETURN_IF_ERROR(ReadPool(call.attrs, 3, kGradGradTexts3D, &pool));
  return ComputeGradient(call, "MaxPool3DGradGrad", Way::kTake, &pool);
}

}  // namespace

STILLFLOW_KERNELS(nn, max_pool_grad){
    {"max_pool_grad", "orig_input, orig_output, grad | ksize, strides, padding, data_format", MaxPoolGrad},
    {"max_pool_grad_v2", "orig_input, orig_output, grad, ksize, strides | padding, data_format", MaxPoolGradV2},
    {"max_pool3d_grad", "orig_input, orig_output, grad | ksize, strides, padding, data_format", MaxPool3DGrad},
    {"max_pool_grad_grad", "orig_input, orig_output, grad | ksize, strides, padding, data_format", MaxPoolGradGrad},
    {"max_pool_grad_grad_v2", "orig_input, orig_output, grad, ksize, strides | padding, data_format",
     MaxPoolGradGradV2},
    {"max_pool3d_grad_grad", "orig_input, orig_output, grad | ksize, strides, padding, data_format",
     MaxPool3DGradGrad},
    {}};

}  // namespace stillflow
