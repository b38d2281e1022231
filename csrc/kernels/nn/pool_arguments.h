// pool_arguments.h: what the nodes of pools say, checked as TensorFlow checks it.
#pragma once

#include "arithmetic/window/channels_last.h"

namespace stillflow {

struct Pool {
  ImageFormat format;
  Padding padding = Padding::kValid;
  int64_t batch = 0;
  int64_t channels = 0;
  WindowAxis axes[kSpatialAxes];
  // Of windows over channels, which go with no others.
  int64_t channel_window = 1;
  int64_t channel_stride = 1;

  int64_t InputPixels() const { return axes[0].input * axes[1].input * axes[2].input; }
  int64_t OutputPixels() const { return axes[0].output * axes[1].output * axes[2].output; }
  int64_t OutputChannels() const { return channels / channel_window; }

  // The shape of what is pooled.
  Shape Output() const {
    Shape shape;
    shape.rank = format.Rank();
    shape.dims[0] = batch;
    shape.dims[format.ChannelAxis()] = OutputChannels();
    for (int i = 0; i < format.spatial_rank; ++i) shape.dims[format.SpatialAxis(i)] = axes[format.Slot(i)].output;
    return shape;
  }
};

// How an op words what is wrong.
struct PoolTexts {
  const char* strides;   // what it calls them
  const char* channels;  // what it says of windows over channels; null if there may be some
};

// The numbers of a list, from an attribute or an input.
struct PoolSizes {
  int64_t count = 0;
  int64_t values[kMaxRank];
};

inline Status ReadAttr(const Attr& attr, const char* name, PoolSizes* sizes) {
  sizes->count = attr.size;
  if (attr.size > kMaxRank) return Status();
  return ReadSizes(attr, name, static_cast<int>(attr.size), "", sizes->values);
}
inline Status ReadInput(const Tensor& tensor, PoolSizes* sizes) {
  sizes->count = tensor.count;
  for (int64_t i = 0; i < tensor.count && i < kMaxRank; ++i) sizes->values[i] = IntAt(tensor, i);
  return Status();
}

inline Status ReadWindows(const PoolSizes& windows, const PoolSizes& strides, const PoolTexts& texts, Pool* pool) {
  const ImageFormat& format = pool->format;
  const int rank = format.Rank();
  if (windows.count != rank) {
    return STILLFLOW_INVALID_ARGUMENT("Sliding window ksize field must specify %d dimensions", rank);
  }
  if (strides.count != rank) {
    return STILLFLOW_INVALID_ARGUMENT("Sliding window %s field must specify %d dimensions", texts.strides, rank);
  }
  if (windows.values[0] != 1 || strides.values[0] != 1) {
    return Error(Code::kUnimplemented, "Pooling is not yet supported on the batch dimension.");
  }
  pool->channel_window = windows.values[format.ChannelAxis()];
  pool->channel_stride = strides.values[format.ChannelAxis()];
  if (texts.channels != nullptr && (pool->channel_window != 1 || pool->channel_stride != 1)) {
    return Error(Code::kUnimplemented, "%s", texts.channels);
  }
  for (int i = 0; i < rank; ++i) {
    if (windows.values[i] <= 0) {
      return STILLFLOW_INVALID_ARGUMENT("Sliding window ksize for dimension %d was zero.", i);
    }
  }
  for (int i = 0; i < format.spatial_rank; ++i) {
    WindowAxis& axis = pool->axes[format.Slot(i)];
    axis.window = windows.values[format.SpatialAxis(i)];
    axis.stride = strides.values[format.SpatialAxis(i)];
  }
  return Status();
}

// Fills in the sizes of the images that are pooled, which are of the format's rank.
inline Status ReadImages(const Shape& images, Pool* pool) {
  const ImageFormat& format = pool->format;
  for (int i = 0; i < images.rank; ++i) {
    if (images.dims[i] > INT_MAX) {
      return STILLFLOW_INVALID_ARGUMENT("image is too large: %s", ShapeText(images).c_str());
    }
  }
  pool->batch = images.dims[0];
  pool->channels = images.dims[format.ChannelAxis()];
  for (int i = 0; i < format.spatial_rank; ++i) {
    pool->axes[format.Slot(i)].input = images.dims[format.SpatialAxis(i)];
  }
  if (pool->channel_window != 1) {
    if (pool->axes[1].window != 1 || pool->axes[2].window != 1) {
      return Error(Code::kUnimplemented,
                   "MaxPooling supports exactly one of pooling across depth or pooling across width/height.");
    }
    if (pool->channels % pool->channel_window != 0) {
      return Error(Code::kUnimplemented,
                   "Depthwise max pooling requires the depth window to evenly divide the input depth");
    }
    if (pool->channel_stride != pool->channel_window) {
      return Error(Code::kUnimplemented, "Depthwise max pooling requires the depth window to equal the depth stride");
    }
    for (WindowAxis& axis : pool->axes) axis.output = axis.input;
    return Status();
  }
  for (WindowAxis& axis : pool->axes) STILLFLOW_RETURN_IF_ERROR(axis.Resolve(pool->padding));
  return Status();
}

// `sizes` are the attributes ksize, strides, padding and data_format. Nothing is known of images yet.
inline Status ReadPool(const Attr* sizes, int spatial_rank, const PoolTexts& texts, Pool* pool) {
  pool->format = FormatOf(sizes[3], spatial_rank);
  pool->padding = PaddingOf(sizes[2]);
  PoolSizes windows, strides;
  STILLFLOW_RETURN_IF_ERROR(ReadAttr(sizes[0], "ksize", &windows));
  STILLFLOW_RETURN_IF_ERROR(ReadAttr(sizes[1], "strides", &strides));
  return ReadWindows(windows, strides, texts, pool);
}
// Sizes that are inputs; `attrs` are padding and data_format.
inline Status ReadPool(const Tensor& ksize, const Tensor& strides_of_input, const Attr* attrs, int spatial_rank,
                       const PoolTexts& texts, Pool* pool) {
  pool->format = FormatOf(attrs[1], spatial_rank);
  pool->padding = PaddingOf(attrs[0]);
  PoolSizes windows, strides;
  STILLFLOW_RETURN_IF_ERROR(ReadInput(ksize, &windows));
  STILLFLOW_RETURN_IF_ERROR(ReadInput(strides_of_input, &strides));
  return ReadWindows(windows, strides, texts, pool);
}

inline Status CheckRank(const Tensor& tensor, const char* name, int rank) {
  if (tensor.rank == rank) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s must be %d-dimensional", name, rank);
}

inline Status CheckShape(const Tensor& tensor, const char* name, const Shape& expected) {
  if (Shape(tensor) == expected) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Expected %s shape to be %s, but got %s", name, ShapeText(expected).c_str(),
                                    ShapeText(tensor).c_str());
}

}  // namespace stillflow
