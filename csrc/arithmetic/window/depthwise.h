// depthwise.h: convolutions that keep channels apart, and their gradients.
//
// Channel c of the images has `multiplier` filters of its own; channel c * multiplier + q of the output is that of
// filter q. Images have channels last. The order of arithmetic, which fixes every bit:
//
//   DepthwiseConvolve   An element of the output is one accumulator that starts at zero and takes the products of the
//                       window in ascending order of (row, column), each by one fused multiply-add. What the window
//                       covers outside of the image takes part as zeros.
//   DepthwiseBackward   Likewise of the input's gradient, over (row, column, q) of the filter. Taps that meet no
//   place of
//                       the window, because of strides, are left out; places outside of the output are zeros.
//   DepthwiseFilter     An element of the filter's gradient is a sum over (image, row, column) of the output in
//   blocks of
//                       kPlacesPerBlock: one such accumulator for each block, added in order of the blocks.
//
// 16-bit floats are widened, and rounded once at the end.
#pragma once

#include "arithmetic/window/convolution.h"

namespace stillflow {

struct DepthwiseConvolution {
  int64_t batch = 0;
  int64_t channels = 0;
  int64_t multiplier = 1;
  WindowAxis rows, columns;

  int64_t Taps() const { return rows.window * columns.window; }
  int64_t InputPixels() const { return rows.input * columns.input; }
  int64_t OutputPixels() const { return rows.output * columns.output; }
};

// input [batch, input pixels, channels]; filter [taps, channels, multiplier]; output [batch, output pixels, channels
// * multiplier]. T: float, double, Half or BFloat16.
template <typename T>
Status DepthwiseConvolve(const KernelCall& call, const DepthwiseConvolution& conv, const T* input, const T* filter,
                         T* output);
template <typename T>
Status DepthwiseBackward(const KernelCall& call, const DepthwiseConvolution& conv, const T* filter,
                         const T* out_backprop, T* in_backprop);
template <typename T>
Status DepthwiseFilter(const KernelCall& call, const DepthwiseConvolution& conv, const T* input,
                       const T* out_backprop, T* filter_backprop);

}  // namespace stillflow
