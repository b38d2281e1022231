// conv2d_backprop_input, conv2d_backprop_filter, conv3d_backprop_input, conv3d_backprop_filter: gradients of
// convolutions.
//
//   *_input   in[0] the input's shape, or the input; in[1] filter; in[2] out_backprop: the output's gradient
//             out[0] the input's gradient
//   *_filter  in[0] input; in[1] the filter's shape, or the filter; in[2] out_backprop
//             out[0] the filter's gradient
//   attrs     as in conv.cc; of conv3d, whether a shape is spelled
//
// The order of arithmetic is convolution.h's.
#include "kernels/nn/convolution_arguments.h"

namespace stillflow {
namespace {

template <int kSpatialRank>
bool IsSpelled(const KernelCall& call) {
  return kSpatialRank == 2 || call.attrs[4].i != 0;
}

template <int kSpatialRank>
Status BackpropInput(const KernelCall& call) {
  constexpr const char* kLabel = kSpatialRank == 2 ? "Conv2DCustomBackpropInput" : "Conv3DBackpropInputOp";
  const Tensor& filter = *call.in[1];
  const Tensor& out_backprop = *call.in[2];
  WindowPlan plan;
  Convolution conv;
  Shape shape;
  STILLFLOW_RETURN_IF_ERROR(ReadAttrs(AttrsOf(call, kSpatialRank), &plan));
  STILLFLOW_RETURN_IF_ERROR(
      ReadShape(*call.in[0], IsSpelled<kSpatialRank>(call), "Conv2DBackpropInput", "input_sizes", &shape));
  STILLFLOW_RETURN_IF_ERROR(ReadBackprop(kLabel, shape, Shape(filter), out_backprop, &plan, &conv));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, filter.dtype, shape));
  if (call.out[0]->count == 0) return Status();
  ChannelsLast grads;
  ChannelsLastOutput output;
  STILLFLOW_RETURN_IF_ERROR(grads.Read(call, out_backprop, plan.format));
  STILLFLOW_RETURN_IF_ERROR(output.Begin(call, call.out[0], plan.format));
  STILLFLOW_RETURN_IF_ERROR((ForType<float, double, Half, BFloat16>(
      kSpatialRank == 2 ? "Conv2DBackpropInput" : "Conv3DBackpropInputV2", filter.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        return ConvolveBackward<T>(call, conv, Data<T>(filter), grads.data<T>(), output.data<T>());
      })));
  return output.Finish(call);
}

template <int kSpatialRank>
Status BackpropFilter(const KernelCall& call) {
  constexpr const char* kLabel = kSpatialRank == 2 ? "Conv2DCustomBackpropFilter" : "Conv3DBackpropFilterOp";
  const Tensor& input = *call.in[0];
  const Tensor& out_backprop = *call.in[2];
  WindowPlan plan;
  Convolution conv;
  Shape shape;
  STILLFLOW_RETURN_IF_ERROR(ReadAttrs(AttrsOf(call, kSpatialRank), &plan));
  STILLFLOW_RETURN_IF_ERROR(
      ReadShape(*call.in[1], IsSpelled<kSpatialRank>(call), "Conv2DCustomBackpropFilter", "filter_sizes", &shape));
  STILLFLOW_RETURN_IF_ERROR(ReadBackprop(kLabel, Shape(input), shape, out_backprop, &plan, &conv));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, shape));
  if (call.out[0]->count == 0) return Status();
  ChannelsLast images, grads;
  STILLFLOW_RETURN_IF_ERROR(images.Read(call, input, plan.format));
  STILLFLOW_RETURN_IF_ERROR(grads.Read(call, out_backprop, plan.format));
  return ForType<float, double, Half, BFloat16>(
      kSpatialRank == 2 ? "Conv2DBackpropFilter" : "Conv3DBackpropFilterV2", input.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        return ConvolutionFilter<T>(call, conv, images.data<T>(), grads.data<T>(), MutableData<T>(*call.out[0]));
      });
}

}  // namespace

STILLFLOW_KERNELS(nn, conv_backprop){
    {"conv2d_backprop_input",
     "input_sizes, filter, out_backprop | strides, dilations, padding, data_format, explicit_paddings",
     BackpropInput<2>},
    {"conv2d_backprop_filter",
     "input, filter_sizes, out_backprop | strides, dilations, padding, data_format, explicit_paddings",
     BackpropFilter<2>},
    {"conv3d_backprop_input",
     "input_sizes, filter, out_backprop | strides, dilations, padding, data_format, is_spelled", BackpropInput<3>},
    {"conv3d_backprop_filter",
     "input, filter_sizes, out_backprop | strides, dilations, padding, data_format, is_spelled", BackpropFilter<3>},
    {}};

}  // namespace stillflow
