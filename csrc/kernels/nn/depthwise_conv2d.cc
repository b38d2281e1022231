// depthwise_conv2d, depthwise_conv2d_backprop_input, depthwise_conv2d_backprop_filter: convolutions of each channel
// with filters of its own, and their gradients.
//
//   depthwise_conv2d   in[0] input [batch, rows, columns, channels], or channels first;
//                      in[1] filter [rows, columns, channels, multiplier]
//                      out[0] [batch, rows, columns, channels * multiplier]
//   *_backprop_input   in[0] the input's shape, int32; in[1] filter; in[2] out_backprop; out[0] the input's gradient
//   *_backprop_filter  in[0] input; in[1] the filter's shape, int32; in[2] out_backprop; out[0] the filter's gradient
//   attrs              strides: a number for each dimension; padding: "SAME" or "VALID"; data_format
//
// The order of arithmetic is depthwise.h's.
#include "arithmetic/window/channels_last.h"
#include "arithmetic/window/depthwise.h"

namespace stillflow {
namespace {

struct Plan {
  ImageFormat format;
  Padding padding;
  DepthwiseConvolution conv;
};

Status ReadAttrs(const KernelCall& call, Plan* plan) {
  plan->format = FormatOf(call.attrs[2], 2);
  plan->padding = PaddingOf(call.attrs[1]);
  int64_t strides[4];
  STILLFLOW_RETURN_IF_ERROR(
      ReadSizes(call.attrs[0], "strides", 4, "Sliding window strides field must specify 4 dimensions", strides));
  plan->conv.rows.stride = strides[plan->format.SpatialAxis(0)];
  plan->conv.columns.stride = strides[plan->format.SpatialAxis(1)];
  if (plan->conv.rows.stride != plan->conv.columns.stride) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Current implementation only supports equal length strides in the row and column dimensions.");
  }
  if (strides[0] != 1 || strides[plan->format.ChannelAxis()] != 1) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Current implementation does not yet support strides in the batch and depth dimensions.");
  }
  return Status();
}

Shape OutputShape(const Plan& plan) {
  Shape shape;
  shape.rank = 4;
  shape.dims[0] = plan.conv.batch;
  shape.dims[plan.format.ChannelAxis()] = plan.conv.channels * plan.conv.multiplier;
  shape.dims[plan.format.SpatialAxis(0)] = plan.conv.rows.output;
  shape.dims[plan.format.SpatialAxis(1)] = plan.conv.columns.output;
  return shape;
}

// Fills in the sizes; `images` and `filter` have four dimensions and as many channels.
Status ReadSizes(const Shape& images, const Shape& filter, Plan* plan) {
  constexpr const char* kTooLarge[] = {"Input rows too large", "Input cols too large"};
  for (int i = 0; i < 2; ++i) {
    if (images.dims[plan->format.SpatialAxis(i)] > INT_MAX) return STILLFLOW_INVALID_ARGUMENT("%s", kTooLarge[i]);
  }
  for (int i = 0; i < 4; ++i) {
    if (filter.dims[i] > INT_MAX || images.dims[i] > INT_MAX) return STILLFLOW_INVALID_ARGUMENT("filter too large");
  }
  DepthwiseConvolution& conv = plan->conv;
  conv.batch = images.dims[0];
  conv.channels = filter.dims[2];
  conv.multiplier = filter.dims[3];
  conv.rows.input = images.dims[plan->format.SpatialAxis(0)];
  conv.columns.input = images.dims[plan->format.SpatialAxis(1)];
  conv.rows.window = filter.dims[0];
  conv.columns.window = filter.dims[1];
  STILLFLOW_RETURN_IF_ERROR(conv.rows.Resolve(plan->padding));
  return conv.columns.Resolve(plan->padding);
}

Status Depthwise(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const Tensor& filter = *call.in[1];
  Plan plan;
  STILLFLOW_RETURN_IF_ERROR(ReadAttrs(call, &plan));
  if (input.rank != 4) {
    return STILLFLOW_INVALID_ARGUMENT("input must be 4-dimensional%s", ShapeText(input).c_str());
  }
  if (filter.rank != 4) {
    return STILLFLOW_INVALID_ARGUMENT("filter must be 4-dimensional: %s", ShapeText(filter).c_str());
  }
  const int64_t channels = input.dims[plan.format.ChannelAxis()];
  if (channels != filter.dims[2]) {
    return STILLFLOW_INVALID_ARGUMENT("input and filter must have the same depth: %lld vs %lld",
                                      static_cast<long long>(channels), static_cast<long long>(filter.dims[2]));
  }
  STILLFLOW_RETURN_IF_ERROR(ReadSizes(Shape(input), Shape(filter), &plan));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, OutputShape(plan)));
  if (call.out[0]->count == 0) return Status();
  ChannelsLast images;
  ChannelsLastOutput output;
  STILLFLOW_RETURN_IF_ERROR(images.Read(call, input, plan.format));
  STILLFLOW_RETURN_IF_ERROR(output.Begin(call, call.out[0], plan.format));
  STILLFLOW_RETURN_IF_ERROR(
      (ForType<float, double, Half, BFloat16>("DepthwiseConv2dNative", input.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        return DepthwiseConvolve<T>(call, plan.conv, images.data<T>(), Data<T>(filter), output.data<T>());
      })));
  return output.Finish(call);
}

// The checks of both gradients.
Status ReadBackprop(const char* label, const Shape& input, const Shape& filter, const Tensor& grads, Plan* plan) {
  if (input.rank != 4) return STILLFLOW_INVALID_ARGUMENT("%s: input must be 4-dimensional", label);
  if (filter.rank != 4) return STILLFLOW_INVALID_ARGUMENT("%s: filter must be 4-dimensional", label);
  if (grads.rank != 4) return STILLFLOW_INVALID_ARGUMENT("%s: out_backprop must be 4-dimensional", label);
  if (input.dims[0] != grads.dims[0]) {
    return STILLFLOW_INVALID_ARGUMENT("%s: input and out_backprop must have the same batch size", label);
  }
  const int64_t channels = input.dims[plan->format.ChannelAxis()];
  if (channels != filter.dims[2]) {
    return STILLFLOW_INVALID_ARGUMENT("%s: input and filter must have the same in_depth", label);
  }
  STILLFLOW_RETURN_IF_ERROR(ReadSizes(input, filter, plan));
  if (channels * filter.dims[3] != grads.dims[plan->format.ChannelAxis()]) {
    return STILLFLOW_INVALID_ARGUMENT("%s: depth_multiplier * in_depth not equal to out_depth", label);
  }
  const WindowAxis* axes[] = {&plan->conv.rows, &plan->conv.columns};
  constexpr const char* kNames[] = {"rows", "cols"};
  for (int i = 0; i < 2; ++i) {
    const int64_t actual = grads.dims[plan->format.SpatialAxis(i)];
    if (actual != axes[i]->output) {
      return STILLFLOW_INVALID_ARGUMENT(
          "%s: Number of %s of out_backprop doesn't match computed: actual = %lld, computed = %lld", label, kNames[i],
          static_cast<long long>(actual), static_cast<long long>(axes[i]->output));
    }
  }
  return Status();
}

Status ReadShape(const Tensor& sizes, const char* label, const char* name, Shape* shape) {
  if (sizes.rank == 1) return ShapeFromTensor(sizes, shape);
  return STILLFLOW_INVALID_ARGUMENT("%s: %s input must be 1-dim, not %d", label, name, sizes.rank);
}

Status BackpropInput(const KernelCall& call) {
  constexpr const char* kLabel = "Conv2DBackpropInput";
  const Tensor& filter = *call.in[1];
  const Tensor& out_backprop = *call.in[2];
  Plan plan;
  Shape shape;
  STILLFLOW_RETURN_IF_ERROR(ReadAttrs(call, &plan));
  STILLFLOW_RETURN_IF_ERROR(ReadShape(*call.in[0], kLabel, "input_sizes", &shape));
  STILLFLOW_RETURN_IF_ERROR(ReadBackprop("DepthwiseConv2DBackpropInput", shape, Shape(filter), out_backprop, &plan));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, filter.dtype, shape));
  if (call.out[0]->count == 0) return Status();
  ChannelsLast grads;
  ChannelsLastOutput output;
  STILLFLOW_RETURN_IF_ERROR(grads.Read(call, out_backprop, plan.format));
  STILLFLOW_RETURN_IF_ERROR(output.Begin(call, call.out[0], plan.format));
  STILLFLOW_RETURN_IF_ERROR(
      (ForType<float, double, Half, BFloat16>("DepthwiseConv2dNativeBackpropInput", filter.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        return DepthwiseBackward<T>(call, plan.conv, Data<T>(filter), grads.data<T>(), output.data<T>());
      })));
  return output.Finish(call);
}

Status BackpropFilter(const KernelCall& call) {
  constexpr const char* kLabel = "Conv2DBackpropFilter";
  const Tensor& input = *call.in[0];
  const Tensor& out_backprop = *call.in[2];
  Plan plan;
  Shape shape;
  STILLFLOW_RETURN_IF_ERROR(ReadAttrs(call, &plan));
  STILLFLOW_RETURN_IF_ERROR(ReadShape(*call.in[1], kLabel, "filter_sizes", &shape));
  STILLFLOW_RETURN_IF_ERROR(ReadBackprop("DepthwiseConv2DBackpropFilter", Shape(input), shape, out_backprop, &plan));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, shape));
  if (call.out[0]->count == 0) return Status();
  ChannelsLast images, grads;
  STILLFLOW_RETURN_IF_ERROR(images.Read(call, input, plan.format));
  STILLFLOW_RETURN_IF_ERROR(grads.Read(call, out_backprop, plan.format));
  return ForType<float, double, Half, BFloat16>("DepthwiseConv2dNativeBackpropFilter", input.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return DepthwiseFilter<T>(call, plan.conv, images.data<T>(), grads.data<T>(), MutableData<T>(*call.out[0]));
  });
}

}  // namespace

STILLFLOW_KERNELS(nn, depthwise_conv2d){
    {"depthwise_conv2d", "input, filter | strides, padding, data_format", Depthwise},
    {"depthwise_conv2d_backprop_input", "input_sizes, filter, out_backprop | strides, padding, data_format",
     BackpropInput},
    {"depthwise_conv2d_backprop_filter", "input, filter_sizes, out_backprop | strides, padding, data_format",
     BackpropFilter},
    {}};

}  // namespace stillflow
