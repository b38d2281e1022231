// convolution_arguments.h: what the nodes of convolutions say, checked as TensorFlow checks it.
#pragma once

#include "arithmetic/window/channels_last.h"
#include "arithmetic/window/convolution.h"

namespace stillflow {

// The attributes of a node. Conv3D has no explicit paddings.
struct ConvolutionAttrs {
  int spatial_rank;
  const Attr* strides;
  const Attr* dilations;
  const Attr* padding;
  const Attr* data_format;
  const Attr* explicit_paddings = nullptr;
};

// kernel attrs: strides, dilations, padding, data_format and, in two dimensions, explicit_paddings
inline ConvolutionAttrs AttrsOf(const KernelCall& call, int spatial_rank) {
  const Attr* attrs = call.attrs;
  return {spatial_rank, attrs, attrs + 1, attrs + 2, attrs + 3, spatial_rank == 2 ? attrs + 4 : nullptr};
}

// How a window goes over images; sizes of images are filled in later.
struct WindowPlan {
  ImageFormat format;
  Padding padding;
  WindowAxis axes[kSpatialAxes];
};

namespace convolution {

struct Texts {
  const char* stride_count;
  const char* dilation_count;
  const char* spatial_strides;
  const char* dilations;
};
inline const Texts& TextsFor(int spatial_rank) {
  static constexpr Texts kTexts[] = {
      {"Sliding window strides field must specify 4 dimensions",
       "Sliding window dilations field must specify 4 dimensions", "Row and column strides should be larger than 0.",
       "Current implementation does not yet support dilations in the batch and depth dimensions."},
      {"Sliding window strides field must specify 5 dimensions", "Dilation rates field must specify 5 dimensions",
       "Spatial strides should be larger than 0.",
       "Current implementation does not yet support dilation rates in the batch and depth dimensions."}};
  return kTexts[spatial_rank - 2];
}

inline Status ReadPaddings(const Attr& attr, const ImageFormat& format, WindowAxis* axes) {
  const int rank = format.Rank();
  if (attr.size != 2 * rank) {
    return STILLFLOW_INVALID_ARGUMENT("explicit_paddings attribute must contain %d values, but got: %lld", 2 * rank,
                                      static_cast<long long>(attr.size));
  }
  const auto* values = static_cast<const int64_t*>(attr.data);
  for (int i = 0; i < 2 * rank; ++i) {
    if (values[i] < 0) return STILLFLOW_INVALID_ARGUMENT("All elements of explicit_paddings must be nonnegative");
    if (values[i] > INT_MAX) return STILLFLOW_INVALID_ARGUMENT("filter too large");
  }
  const int channels = 2 * format.ChannelAxis();
  if (values[0] != 0 || values[1] != 0 || values[channels] != 0 || values[channels + 1] != 0) {
    return STILLFLOW_INVALID_ARGUMENT("Nonzero explicit padding in the batch or depth dimensions is not supported");
  }
  for (int i = 0; i < format.spatial_rank; ++i) {
    WindowAxis& axis = axes[format.Slot(i)];
    axis.before = values[2 * format.SpatialAxis(i)];
    axis.after = values[2 * format.SpatialAxis(i) + 1];
  }
  return Status();
}

}  // namespace convolution

inline Status ReadAttrs(const ConvolutionAttrs& attrs, WindowPlan* plan) {
  const convolution::Texts& texts = convolution::TextsFor(attrs.spatial_rank);
  plan->format = FormatOf(*attrs.data_format, attrs.spatial_rank);
  plan->padding = PaddingOf(*attrs.padding);
  const ImageFormat& format = plan->format;
  int64_t strides[kMaxRank], dilations[kMaxRank];
  STILLFLOW_RETURN_IF_ERROR(ReadSizes(*attrs.strides, "strides", format.Rank(), texts.stride_count, strides));
  STILLFLOW_RETURN_IF_ERROR(ReadSizes(*attrs.dilations, "dilations", format.Rank(), texts.dilation_count, dilations));
  if (strides[0] != 1 || strides[format.ChannelAxis()] != 1) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Current implementation does not yet support strides in the batch and depth dimensions.");
  }
  if (dilations[0] != 1 || dilations[format.ChannelAxis()] != 1) {
    return STILLFLOW_INVALID_ARGUMENT("%s", texts.dilations);
  }
  for (int i = 0; i < attrs.spatial_rank; ++i) {
    WindowAxis& axis = plan->axes[format.Slot(i)];
    axis.stride = strides[format.SpatialAxis(i)];
    axis.dilation = dilations[format.SpatialAxis(i)];
    if (axis.stride <= 0) return STILLFLOW_INVALID_ARGUMENT("%s", texts.spatial_strides);
    if (axis.dilation <= 0) return STILLFLOW_INVALID_ARGUMENT("Dilated rates should be larger than 0.");
  }
  if (plan->padding == Padding::kExplicit) {
    return convolution::ReadPaddings(*attrs.explicit_paddings, format, plan->axes);
  }
  if (attrs.explicit_paddings != nullptr && attrs.explicit_paddings->size != 0) {
    return STILLFLOW_INVALID_ARGUMENT(
        "explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT");
  }
  return Status();
}

// The shape of images with `channels` that are as large as the window has places.
inline Shape OutputShape(const WindowPlan& plan, int64_t batch, int64_t channels) {
  Shape shape;
  shape.rank = plan.format.Rank();
  shape.dims[0] = batch;
  shape.dims[plan.format.ChannelAxis()] = channels;
  for (int i = 0; i < plan.format.spatial_rank; ++i) {
    shape.dims[plan.format.SpatialAxis(i)] = plan.axes[plan.format.Slot(i)].output;
  }
  return shape;
}

// ---- Gradients --------------------------------------------------------------------------------------------------

// The shape that an input of a gradient spells, or the shape of that input.
inline Status ReadShape(const Tensor& tensor, bool is_spelled, const char* label, const char* name, Shape* shape) {
  if (!is_spelled) {
    *shape = Shape(tensor);
    return Status();
  }
  if (tensor.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("%s: %s input must be 1-dim, not %d", label, name, tensor.rank);
  }
  return ShapeFromTensor(tensor, shape);
}

// `label` names the op in messages. Fills in the sizes, which must fit each other.
inline Status ReadBackprop(const char* label, const Shape& input, const Shape& filter, const Tensor& out_backprop,
                           WindowPlan* plan, Convolution* conv) {
  const ImageFormat& format = plan->format;
  const int rank = format.Rank();
  if (input.rank != rank) return STILLFLOW_INVALID_ARGUMENT("%s: input must be %d-dimensional", label, rank);
  if (filter.rank != rank) return STILLFLOW_INVALID_ARGUMENT("%s: filter must be %d-dimensional", label, rank);
  if (out_backprop.rank != rank) {
    return STILLFLOW_INVALID_ARGUMENT("%s: out_backprop must be %d-dimensional", label, rank);
  }
  for (int i = 0; i < rank; ++i) {
    if (input.dims[i] > INT_MAX || filter.dims[i] > INT_MAX) {
      return STILLFLOW_INVALID_ARGUMENT("%s: image or filter too large", label);
    }
  }
  conv->batch = input.dims[0];
  if (conv->batch != out_backprop.dims[0]) {
    return STILLFLOW_INVALID_ARGUMENT(
        "%s: input and out_backprop must have the same batch sizeinput batch: %lldoutbackprop batch: %lld batch_dim: "
        "0",
        label, static_cast<long long>(conv->batch), static_cast<long long>(out_backprop.dims[0]));
  }
  conv->in_channels = input.dims[format.ChannelAxis()];
  conv->out_channels = filter.dims[rank - 1];
  const int64_t depth = filter.dims[rank - 2];
  if (depth == 0 ? conv->in_channels != 0 : conv->in_channels % depth != 0) {
    return STILLFLOW_INVALID_ARGUMENT("%s: input depth must be evenly divisible by filter depth", label);
  }
  conv->groups = depth == 0 ? 1 : std::max<int64_t>(conv->in_channels / depth, 1);
  if (conv->out_channels != out_backprop.dims[format.ChannelAxis()]) {
    return STILLFLOW_INVALID_ARGUMENT("%s: filter and out_backprop must have the same out_depth", label);
  }
  if (conv->out_channels % conv->groups != 0) {
    return STILLFLOW_INVALID_ARGUMENT("Depth of output (%lld) is not a multiple of the number of groups (%lld)",
                                      static_cast<long long>(conv->out_channels),
                                      static_cast<long long>(conv->groups));
  }
  for (int i = 0; i < format.spatial_rank; ++i) {
    WindowAxis& axis = plan->axes[format.Slot(i)];
    const int at = format.SpatialAxis(i);
    axis.input = input.dims[at];
    axis.window = filter.dims[i];
    STILLFLOW_RETURN_IF_ERROR(axis.Resolve(plan->padding));
    if (axis.output != out_backprop.dims[at]) {
      return STILLFLOW_INVALID_ARGUMENT(
          "%s: Size of out_backprop doesn't match computed: actual = %lld, computed = %lld spatial_dim: %d input: "
          "%lld "
          "filter: %lld output: %lld stride: %lld dilation: %lld",
          label, static_cast<long long>(out_backprop.dims[at]), static_cast<long long>(axis.output), at,
          static_cast<long long>(axis.input), static_cast<long long>(axis.window),
          static_cast<long long>(out_backprop.dims[at]), static_cast<long long>(axis.stride),
          static_cast<long long>(axis.dilation));
    }
  }
  std::copy(plan->axes, plan->axes + kSpatialAxes, conv->axes);
  return Status();
}

}  // namespace stillflow
