// convolution.h: convolutions of images, and their gradients, as products that read their patches from the image.
//
// Images have channels last. The order of arithmetic, which fixes every bit:
//
//   Convolve            An element of the output is one accumulator that starts at zero and takes the products of the
//                       window in ascending order of (plane, row, column, channel), each by one fused multiply-add.
//                       What the window covers outside of the image takes part as zeros.
//   ConvolveBackward    Likewise of an element of the input's gradient, over (plane, row, column, output channel) of
//                       the filter. Taps that meet no place of the window, because of strides or because it has only
//                       one place, are left out; other places outside of the output are zeros.
//   ConvolutionFilter   An element of the filter's gradient is a sum over (image, plane, row, column) of the output
//   in
//                       blocks of kPlacesPerBlock: one such accumulator for each block, added in order of the blocks.
//
// 16-bit floats are widened, and rounded once at the end (gemm.h).
#pragma once

#include "arithmetic/window/axis.h"

namespace stillflow {

constexpr int64_t kPlacesPerBlock = 256;

struct Convolution {
  int64_t batch = 0;
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  int64_t groups = 1;  // of channels, each with filters of its own
  WindowAxis axes[kSpatialAxes];

  int64_t Taps() const { return axes[0].window * axes[1].window * axes[2].window; }
  int64_t InputPixels() const { return axes[0].input * axes[1].input * axes[2].input; }
  int64_t OutputPixels() const { return axes[0].output * axes[1].output * axes[2].output; }
  int64_t GroupInputs() const { return in_channels / groups; }
  int64_t GroupOutputs() const { return out_channels / groups; }
};

// input [batch, input pixels, in_channels]; filter [taps, in_channels / groups, out_channels]; output [batch, output
// pixels, out_channels]. T: float, double, Half or BFloat16. Fail only for want of memory or if the run is
// interrupted.
template <typename T>
Status Convolve(const KernelCall& call, const Convolution& conv, const T* input, const T* filter, T* output);
template <typename T>
Status ConvolveBackward(const KernelCall& call, const Convolution& conv, const T* filter, const T* out_backprop,
                        T* in_backprop);
template <typename T>
Status ConvolutionFilter(const KernelCall& call, const Convolution& conv, const T* input, const T* out_backprop,
                         T* filter_backprop);

}  // namespace stillflow
