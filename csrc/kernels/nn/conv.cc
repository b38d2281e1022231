// conv2d, conv3d: convolutions of images with filters.
//
//   in[0]   input   [batch, spatial..., in_channels], or channels first
//   in[1]   filter  [spatial..., in_channels / groups, out_channels]
//   out[0]  [batch, spatial..., out_channels], in the same format
//   attrs   strides, dilations: a number for each dimension; padding: "SAME", "VALID" or "EXPLICIT"; data_format;
//           conv2d: explicit_paddings
//
// Where the filter has fewer input channels than the images, these are groups with filters of their own. The order of
// arithmetic is convolution.h's.
#include "kernels/nn/convolution_arguments.h"

namespace stillflow {
namespace {

Status ReadSizes(const Tensor& input, const Tensor& filter, WindowPlan* plan, Convolution* conv) {
  const ImageFormat& format = plan->format;
  const int rank = format.Rank();
  const bool is_plane = format.spatial_rank == 2;
  if (input.rank != rank) {
    return STILLFLOW_INVALID_ARGUMENT("input must be %d-dimensional%s", rank,
                                      is_plane ? ShapeText(input).c_str() : "");
  }
  if (filter.rank != rank) {
    return STILLFLOW_INVALID_ARGUMENT("filter must be %d-dimensional%s%s", rank, is_plane ? ": " : "",
                                      is_plane ? ShapeText(filter).c_str() : "");
  }
  for (int i = 0; i < rank; ++i) {
    if (filter.dims[i] > INT_MAX) return STILLFLOW_INVALID_ARGUMENT("filter too large");
  }
  STILLFLOW_RETURN_IF_ERROR(CheckImageSizes(input));
  conv->batch = input.dims[0];
  conv->in_channels = input.dims[format.ChannelAxis()];
  conv->out_channels = filter.dims[rank - 1];
  const int64_t depth = filter.dims[rank - 2];
  if (depth == 0 ? conv->in_channels != 0 : conv->in_channels % depth != 0) {
    return STILLFLOW_INVALID_ARGUMENT("%s depth must be evenly divisible by filter depth: %lld vs %lld",
                                      is_plane ? "input" : "Input", static_cast<long long>(conv->in_channels),
                                      static_cast<long long>(depth));
  }
  conv->groups = depth == 0 ? 1 : std::max<int64_t>(conv->in_channels / depth, 1);
  if (conv->out_channels % conv->groups != 0) {
    return STILLFLOW_INVALID_ARGUMENT("Depth of output (%lld) is not a multiple of the number of groups (%lld)",
                                      static_cast<long long>(conv->out_channels),
                                      static_cast<long long>(conv->groups));
  }
  for (int i = 0; i < format.spatial_rank; ++i) {
    WindowAxis& axis = plan->axes[format.Slot(i)];
    axis.input = input.dims[format.SpatialAxis(i)];
    axis.window = filter.dims[i];
    STILLFLOW_RETURN_IF_ERROR(axis.Resolve(plan->padding));
  }
  std::copy(plan->axes, plan->axes + kSpatialAxes, conv->axes);
  return Status();
}

template <int kSpatialRank>
Status Conv(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const Tensor& filter = *call.in[1];
  WindowPlan plan;
  Convolution conv;
  STILLFLOW_RETURN_IF_ERROR(ReadAttrs(AttrsOf(call, kSpatialRank), &plan));
  STILLFLOW_RETURN_IF_ERROR(ReadSizes(input, filter, &plan, &conv));
  const Shape shape = OutputShape(plan, conv.batch, conv.out_channels);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, shape));
  if (call.out[0]->count == 0) return Status();
  ChannelsLast images;
  ChannelsLastOutput output;
  STILLFLOW_RETURN_IF_ERROR(images.Read(call, input, plan.format));
  STILLFLOW_RETURN_IF_ERROR(output.Begin(call, call.out[0], plan.format));
  STILLFLOW_RETURN_IF_ERROR(
      (ForType<float, double, Half, BFloat16>(kSpatialRank == 2 ? "Conv2D" : "Conv3D", input.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        return Convolve<T>(call, conv, images.data<T>(), Data<T>(filter), output.data<T>());
      })));
  return output.Finish(call);
}

}  // namespace

STILLFLOW_KERNELS(nn, conv){
    {"conv2d", "input, filter | strides, dilations, padding, data_format, explicit_paddings", Conv<2>},
    {"conv3d", "input, filter | strides, dilations, padding, data_format", Conv<3>},
    {}};

}  // namespace stillflow
