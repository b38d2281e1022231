// max_pool_with_argmax: the largest element under a window and where it is; max_pool_grad_with_argmax and
// max_pool_grad_grad_with_argmax: what goes to those elements, and comes from them.
//
//   max_pool_with_argmax            in[0] input [batch, rows, columns, channels]
//                                   out[0] the maxima [batch, places..., channels]; out[1] int32 or int64: the
//                                   numbers of the elements that they are, counted in the image, or in the batch
//   max_pool_grad_with_argmax       in[0] input; in[1] grad, of the maxima's shape; in[2] argmax, int32 or int64
//                                   out[0] of the input's shape: the sums of grad by element, in ascending order of
//                                   places
//   max_pool_grad_grad_with_argmax  in[0] input; in[1] grad, of the input's shape; in[2] argmax
//                                   out[0] of the maxima's shape: the elements of grad
//   attrs                           ksize, strides, padding, include_batch_in_index: whether elements are counted in
//   the
//                                   batch; max_pool_with_argmax: Targmax
//
// Which element is taken is taken.h's.
#include "arithmetic/math/pieces.h"
#include "arithmetic/window/taken.h"
#include "kernels/nn/pool_arguments.h"

namespace stillflow {
namespace {

constexpr PoolTexts kTexts = {"stride", "Pooling is not yet supported on the depth dimension."};
constexpr int64_t kPixelsPerChunk = 64;

Status ReadArguments(const KernelCall& call, Pool* pool) {
  pool->format = {2, false};
  pool->padding = PaddingOf(call.attrs[2]);
  PoolSizes windows, strides;
  STILLFLOW_RETURN_IF_ERROR(ReadAttr(call.attrs[0], "ksize", &windows));
  STILLFLOW_RETURN_IF_ERROR(ReadAttr(call.attrs[1], "strides", &strides));
  STILLFLOW_RETURN_IF_ERROR(ReadWindows(windows, strides, kTexts, pool));
  const Tensor& input = *call.in[0];
  if (input.rank != 4) {
    return STILLFLOW_INVALID_ARGUMENT("tensor_in_shape must have 2 spatial dimensions. %d 0", input.rank);
  }
  return ReadImages(Shape(input), pool);
}

template <typename Body>
Status ForElement(const char* op, DType dtype, const Body& body) {
  return ForType<float, double, Half, BFloat16, int32_t, int64_t, uint8_t, int16_t, int8_t, uint16_t>(op, dtype,
                                                                                                      body);
}

template <typename T, typename Index>
Status FindMaxima(const KernelCall& call, const Pool& pool) {
  using C = Computed<T>;
  const WindowAxis* axes = pool.axes;
  const int64_t channels = pool.channels;
  const bool counts_batch = call.attrs[3].i != 0;
  return ForLines(call, pool.batch, 1, axes[1].output, axes[2].output, kPixelsPerChunk,
                  [&](int64_t image, int64_t, int64_t row, int64_t first) {
                    const int64_t first_pixel = image * pool.InputPixels();
                    const T* const from = Data<T>(*call.in[0]) + first_pixel * channels;
                    for (int64_t column = 0; column < axes[2].output; ++column) {
                      const PixelBox box = PixelsUnder(axes, 0, row, column);
                      T* const to = MutableData<T>(*call.out[0]) + (first + column) * channels;
                      Index* const numbers = MutableData<Index>(*call.out[1]) + (first + column) * channels;
                      ForComparedChannels<T>(channels, [&](int64_t c, auto count) {
                        constexpr int kCount = decltype(count)::value;
                        const auto taken = FindTaken<C, kCount>(box, axes, channels, from, c);
                        taken.largest.Store(to + c);
                        PixelNumber<C> pixels[kCount];
                        taken.pixel.Store(pixels);
                        for (int i = 0; i < kCount; ++i) {
                          const int64_t pixel = pixels[i] + (counts_batch ? first_pixel : 0);
                          numbers[c + i] = static_cast<Index>(pixel * channels + c + i);
                        }
                      });
                    }
                  });
}

Status MaxPoolWithArgmax(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  Pool pool;
  STILLFLOW_RETURN_IF_ERROR(ReadArguments(call, &pool));
  const auto index_type = static_cast<DType>(call.attrs[4].i);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, pool.Output()));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, index_type, pool.Output()));
  if (call.out[0]->count == 0) return Status();
  return ForElement("MaxPoolWithArgmax", input.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return index_type == DType::kInt64 ? FindMaxima<T, int64_t>(call, pool) : FindMaxima<T, int32_t>(call, pool);
  });
}

// Calls body(place's element, the element of the image that argmax has for it) for those of one image, in order.
template <typename Body>
Status ForTaken(const KernelCall& call, const Pool& pool, int64_t image, const Body& body) {
  const Tensor& argmax = *call.in[2];
  const int64_t count = pool.OutputPixels() * pool.channels, size = pool.InputPixels() * pool.channels;
  const int64_t first = call.attrs[3].i != 0 ? image * size : 0;
  for (int64_t i = image * count; i < (image + 1) * count; ++i) {
    const int64_t element = IntAt(argmax, i) - first;
    if (element < 0 || element >= size) {
      return STILLFLOW_INVALID_ARGUMENT(
          "Invalid output gradient index: %lld, %lld, %lld", static_cast<long long>(element + image * size),
          static_cast<long long>(image * size), static_cast<long long>((image + 1) * size));
    }
    body(i, image * size + element);
  }
  return Status();
}

template <typename T>
Status Spread(const KernelCall& call, const Pool& pool) {
  using C = Computed<T>;
  const T* const grad = Data<T>(*call.in[1]);
  T* const to = MutableData<T>(*call.out[0]);
  const int64_t size = pool.InputPixels() * pool.channels;
  return ForEachChunk(call, pool.batch, 1, [&](Range range) {
    const int64_t image = range.begin;
    const Scratch scratch(call, size * static_cast<int64_t>(sizeof(C)));
    if (!scratch.ok()) return OutOfScratch();
    C* const sums = scratch.data<C>();
    std::memset(sums, 0, size * sizeof(C));
    STILLFLOW_RETURN_IF_ERROR(ForTaken(call, pool, image, [&](int64_t from, int64_t element) {
      const Piece<C, 1> added(grad + from);
      sums[element - image * size] = static_cast<C>(sums[element - image * size] + added.parts[0]);
    }));
    for (int64_t i = 0; i < size; ++i) Piece<C, 1>(sums[i]).Store(to + image * size + i);
    return Status();
  });
}

template <typename T>
Status Take(const KernelCall& call, const Pool& pool) {
  const T* const grad = Data<T>(*call.in[1]);
  T* const to = MutableData<T>(*call.out[0]);
  return ForEachChunk(call, pool.batch, 1, [&](Range range) {
    return ForTaken(call, pool, range.begin, [&](int64_t place, int64_t element) { to[place] = grad[element]; });
  });
}

template <bool kIsSecond>
Status Gradient(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const Tensor& grad = *call.in[1];
  Pool pool;
  STILLFLOW_RETURN_IF_ERROR(ReadArguments(call, &pool));
  STILLFLOW_RETURN_IF_ERROR(CheckShape(grad, "grad", kIsSecond ? Shape(input) : pool.Output()));
  STILLFLOW_RETURN_IF_ERROR(CheckShape(*call.in[2], "argmax", pool.Output()));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, kIsSecond ? pool.Output() : Shape(input)));
  if (call.out[0]->count == 0) return Status();
  return ForElement("MaxPoolGradWithArgmax", input.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return kIsSecond ? Take<T>(call, pool) : Spread<T>(call, pool);
  });
}

}  // namespace

STILLFLOW_KERNELS(nn, max_pool_with_argmax){
    {"max_pool_with_argmax", "input | ksize, strides, padding, include_batch_in_index, Targmax", MaxPoolWithArgmax},
    {"max_pool_grad_with_argmax", "input, grad, argmax | ksize, strides, padding, include_batch_in_index",
     Gradient<false>},
    {"max_pool_grad_grad_with_argmax", "input, grad, argmax | ksize, strides, padding, include_batch_in_index",
     Gradient<true>},
    {}};

}  // namespace stillflow
