// crop_and_resize, crop_and_resize_grad_image, crop_and_resize_grad_boxes: boxes cut out of images and resized.
//
//   crop_and_resize  in[0] images [batch, height, width, depth] of numbers; in[1] boxes float[boxes, 4]: top, left,
//                    bottom, right, as parts of what the centers of the outermost pixels span; in[2] int32[boxes]:
//                    the image of each; in[3] int32[2]: height and width of a crop attrs method: bilinear or nearest;
//                    extrapolation_value: what is outside of an image out[0] float[boxes, crop height, crop width,
//                    depth]
//   ..._grad_image   in[0] gradients of the crops; in[1] boxes; in[2] images of each; in[3] int32[4]: the shape of
//   the
//                    images; attrs type of the result, method; out[0] gradients of the images
//   ..._grad_boxes   in[0] gradients of the crops; in[1] images; in[2] boxes; in[3] images of each; bilinear only
//                    out[0] float[boxes, 4]
//
// Arithmetic is in float. What falls on one element of a gradient is added up in the order of boxes and pixels.
#include <algorithm>
#include <cmath>

#include "arithmetic/elementwise/conversion.h"
#include "arithmetic/math/scalar.h"

namespace stillflow {
namespace {

enum Method { kBilinear, kNearest };

struct Extents {
  int64_t batch, height, width, depth;

  int64_t Offset(int64_t image, int64_t y, int64_t x) const { return ((image * height + y) * width + x) * depth; }
};

struct Box {
  float top, left, bottom, right;
};

// Where the pixels of a crop fall along one axis of an image.
struct Axis {
  float begin, end;
  int64_t size;  // of the image
  int64_t crop;

  float At(int64_t i) const {
    if (crop == 1) return static_cast<float>(0.5 * (begin + end) * static_cast<double>(size - 1));
    const float last = static_cast<float>(size - 1);
    const float scale = (end - begin) * last / static_cast<float>(crop - 1);
    return begin * last + static_cast<float>(i) * scale;
  }
};

// A place between two pixels, and how far it is from the lower one.
struct Place {
  explicit Place(float at)
      : below(static_cast<int64_t>(std::floor(at))),
        above(static_cast<int64_t>(std::ceil(at))),
        part(at - std::floor(at)) {}
  int64_t below, above;
  float part;
};
bool IsInside(float at, int64_t size) { return at >= 0 && at <= static_cast<float>(size - 1); }
int64_t Nearest(float at) { return static_cast<int64_t>(std::round(at)); }

Status CheckImages(const Tensor& images, const char* name) {
  if (images.rank != 4) {
    return STILLFLOW_INVALID_ARGUMENT("%s must be 4-D%s", name, ShapeText(images).c_str());
  }
  return Status();
}

Status CheckSizes(int64_t height, int64_t width, const char* name) {
  if (height > 0 && width > 0) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s dimensions must be positive", name);
}

// Checks boxes and their images, each below `batch`.
Status CheckBoxes(const Tensor& boxes, const Tensor& indices, int64_t batch, int64_t* count) {
  *count = 0;
  if (boxes.count == 0 && indices.count == 0) return Status();
  if (boxes.rank != 2) return STILLFLOW_INVALID_ARGUMENT("boxes must be 2-D%s", ShapeText(boxes).c_str());
  if (boxes.dims[1] != 4) return STILLFLOW_INVALID_ARGUMENT("boxes must have 4 columns");
  if (indices.rank != 1) return STILLFLOW_INVALID_ARGUMENT("box_index must be 1-D%s", ShapeText(indices).c_str());
  if (indices.count != boxes.dims[0]) return STILLFLOW_INVALID_ARGUMENT("box_index has incompatible shape");
  *count = indices.count;
  for (int64_t i = 0; i < *count; ++i) {
    const int64_t image = Data<int32_t>(indices)[i];
    if (image < 0 || image >= batch) {
      return Error(Code::kOutOfRange, "box_index has values outside [0, batch_size)");
    }
  }
  return Status();
}

Box BoxAt(const Tensor& boxes, int64_t i) {
  const float* const box = Data<float>(boxes) + 4 * i;
  return {box[0], box[1], box[2], box[3]};
}

// ---- crop_and_resize
// ------------------------------------------------------------------------------------------------

struct Crop {
  const float* images;
  Extents extents;
  int64_t height, width;
  Method method;
  float outside;
};

void CropRow(const Crop& crop, int64_t image, float at_y, const Axis& columns, float* to) {
  const int64_t depth = crop.extents.depth;
  const bool is_row_inside = IsInside(at_y, crop.extents.height);
  for (int64_t x = 0; x < crop.width; ++x, to += depth) {
    const float at_x = columns.At(x);
    if (!is_row_inside || !IsInside(at_x, crop.extents.width)) {
      std::fill_n(to, depth, crop.outside);
      continue;
    }
    const auto pixel = [&](int64_t row, int64_t column) {
      return crop.images + crop.extents.Offset(image, row, column);
    };
    if (crop.method == kNearest) {
      std::copy_n(pixel(Nearest(at_y), Nearest(at_x)), depth, to);
      continue;
    }
    const Place y(at_y);
    const Place x_place(at_x);
    const float* const top_left = pixel(y.below, x_place.below);
    const float* const top_right = pixel(y.below, x_place.above);
    const float* const bottom_left = pixel(y.above, x_place.below);
    const float* const bottom_right = pixel(y.above, x_place.above);
    for (int64_t d = 0; d < depth; ++d) {
      const float top = top_left[d] + (top_right[d] - top_left[d]) * x_place.part;
      const float bottom = bottom_left[d] + (bottom_right[d] - bottom_left[d]) * x_place.part;
      to[d] = top + (bottom - top) * y.part;
    }
  }
}

Status CropAndResize(const KernelCall& call) {
  constexpr int64_t kElementsPerChunk = 16384;
  const Tensor& images = *call.in[0];
  const Tensor& boxes = *call.in[1];
  const Tensor& indices = *call.in[2];
  const Tensor& size = *call.in[3];
  STILLFLOW_RETURN_IF_ERROR(CheckImages(images, "input image"));
  Crop crop{};
  crop.extents = {images.dims[0], images.dims[1], images.dims[2], images.dims[3]};
  STILLFLOW_RETURN_IF_ERROR(CheckSizes(crop.extents.height, crop.extents.width, "image"));
  int64_t count = 0;
  STILLFLOW_RETURN_IF_ERROR(CheckBoxes(boxes, indices, crop.extents.batch, &count));
  if (size.rank != 1) return STILLFLOW_INVALID_ARGUMENT("crop_size must be 1-D%s", ShapeText(size).c_str());
  if (size.count != 2) {
    return STILLFLOW_INVALID_ARGUMENT("crop_size must have two elements%s", ShapeText(size).c_str());
  }
  crop.height = Data<int32_t>(size)[0];
  crop.width = Data<int32_t>(size)[1];
  STILLFLOW_RETURN_IF_ERROR(CheckSizes(crop.height, crop.width, "crop"));
  crop.method = static_cast<Method>(call.attrs[0].i);
  crop.outside = static_cast<float>(call.attrs[1].f);
  Shape shape;
  for (const int64_t dim : {count, crop.height, crop.width, crop.extents.depth}) shape.Add(dim);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kFloat, shape));
  if (call.out[0]->count == 0) return Status();
  Converted floats;
  STILLFLOW_RETURN_IF_ERROR(floats.Convert(call, "CropAndResize", images, DType::kFloat));
  crop.images = floats.data<float>();
  float* const to = MutableData<float>(*call.out[0]);
  const int64_t row_size = crop.width * crop.extents.depth;
  const int64_t rows_per_chunk = std::max<int64_t>(kElementsPerChunk / row_size, 1);
  return ForEachChunk(call, count * crop.height, rows_per_chunk, [&](Range range) {
    for (int64_t row = range.begin; row < range.end; ++row) {
      const int64_t number = row / crop.height;
      const Box box = BoxAt(boxes, number);
      const Axis rows = {box.top, box.bottom, crop.extents.height, crop.height};
      const Axis columns = {box.left, box.right, crop.extents.width, crop.width};
      CropRow(crop, Data<int32_t>(indices)[number], rows.At(row % crop.height), columns, to + row * row_size);
    }
  });
}

// ---- Gradients
// ------------------------------------------------------------------------------------------------------

Status CheckGradients(const Tensor& grads) {
  STILLFLOW_RETURN_IF_ERROR(CheckImages(grads, "grads image"));
  return CheckSizes(grads.dims[1], grads.dims[2], "grads");
}

// Calls each(y, x, at_y, at_x, gradients of the pixel) for the pixels of a crop that are inside of the image.
template <typename Each>
void ForPixelsInside(const Tensor& grads, const Extents& extents, const Box& box, int64_t number, const Each& each) {
  const int64_t height = grads.dims[1];
  const int64_t width = grads.dims[2];
  const Axis rows = {box.top, box.bottom, extents.height, height};
  const Axis columns = {box.left, box.right, extents.width, width};
  for (int64_t y = 0; y < height; ++y) {
    const float at_y = rows.At(y);
    if (!IsInside(at_y, extents.height)) continue;
    for (int64_t x = 0; x < width; ++x) {
      const float at_x = columns.At(x);
      if (!IsInside(at_x, extents.width)) continue;
      each(y, x, at_y, at_x, Data<float>(grads) + ((number * height + y) * width + x) * extents.depth);
    }
  }
}

void SpreadCrop(const Tensor& grads, const Extents& extents, const Box& box, int64_t number, int64_t image,
                Method method, float* to) {
  ForPixelsInside(grads, extents, box, number, [&](int64_t, int64_t, float at_y, float at_x, const float* grad) {
    if (method == kNearest) {
      float* const pixel = to + extents.Offset(image, Nearest(at_y), Nearest(at_x));
      for (int64_t d = 0; d < extents.depth; ++d) pixel[d] += grad[d];
      return;
    }
    const Place y(at_y);
    const Place x(at_x);
    float* const top_left = to + extents.Offset(image, y.below, x.below);
    float* const top_right = to + extents.Offset(image, y.below, x.above);
    float* const bottom_left = to + extents.Offset(image, y.above, x.below);
    float* const bottom_right = to + extents.Offset(image, y.above, x.above);
    for (int64_t d = 0; d < extents.depth; ++d) {
      const float top = (1 - y.part) * grad[d];
      const float bottom = y.part * grad[d];
      top_left[d] += (1 - x.part) * top;
      top_right[d] += x.part * top;
      bottom_left[d] += (1 - x.part) * bottom;
      bottom_right[d] += x.part * bottom;
    }
  });
}

Status GradImage(const KernelCall& call) {
  const Tensor& grads = *call.in[0];
  const Tensor& boxes = *call.in[1];
  const Tensor& indices = *call.in[2];
  const Tensor& size = *call.in[3];
  STILLFLOW_RETURN_IF_ERROR(CheckGradients(grads));
  if (size.rank != 1) return STILLFLOW_INVALID_ARGUMENT("image_size must be 1-D%s", ShapeText(size).c_str());
  if (size.count != 4) {
    return STILLFLOW_INVALID_ARGUMENT("image_size must have 4 elements%s", ShapeText(size).c_str());
  }
  const int32_t* const dims = Data<int32_t>(size);
  const Extents extents = {dims[0], dims[1], dims[2], dims[3]};
  int64_t count = 0;
  STILLFLOW_RETURN_IF_ERROR(CheckBoxes(boxes, indices, extents.batch, &count));
  if (grads.dims[0] != count) return STILLFLOW_INVALID_ARGUMENT("boxes and grads have incompatible shape");
  STILLFLOW_RETURN_IF_ERROR(CheckSizes(extents.height, extents.width, "image"));
  if (grads.dims[3] != extents.depth) return STILLFLOW_INVALID_ARGUMENT("image_size and grads are incompatible");
  Shape shape;
  for (int i = 0; i < 4; ++i) shape.Add(dims[i]);
  const auto type = static_cast<DType>(call.attrs[0].i);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, type, shape));
  const bool is_float = type == DType::kFloat;
  const Scratch sums(call, is_float ? 0 : call.out[0]->count * static_cast<int64_t>(sizeof(float)));
  if (!sums.ok()) return OutOfScratch();
  float* const to = is_float ? MutableData<float>(*call.out[0]) : sums.data<float>();
  std::fill_n(to, call.out[0]->count, 0.0f);
  STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, extents.batch, 1, [&](Range range) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t image = Data<int32_t>(indices)[i];
      if (image < range.begin || image >= range.end) continue;
      SpreadCrop(grads, extents, BoxAt(boxes, i), i, image, static_cast<Method>(call.attrs[1].i), to);
    }
  }));
  return is_float ? Status() : StoreConverted(call, "CropAndResizeGradImage", DType::kFloat, to, call.out[0]);
}

// The gradient of one box: how the image changes along both axes, times how a pixel's place moves with the box.
void GradOfBox(const Tensor& grads, const float* images, const Extents& extents, const Box& box, int64_t number,
               int64_t image, float* to) {
  const int64_t height = grads.dims[1];
  const int64_t width = grads.dims[2];
  const float last_row = static_cast<float>(extents.height - 1);
  const float last_column = static_cast<float>(extents.width - 1);
  const float row_ratio = height > 1 ? last_row / static_cast<float>(height - 1) : 0;
  const float column_ratio = width > 1 ? last_column / static_cast<float>(width - 1) : 0;
  ForPixelsInside(grads, extents, box, number, [&](int64_t y, int64_t x, float at_y, float at_x, const float* grad) {
    const Place row(at_y);
    const Place column(at_x);
    const float* const top_left = images + extents.Offset(image, row.below, column.below);
    const float* const top_right = images + extents.Offset(image, row.below, column.above);
    const float* const bottom_left = images + extents.Offset(image, row.above, column.below);
    const float* const bottom_right = images + extents.Offset(image, row.above, column.above);
    const float down = height > 1 ? static_cast<float>(y) * row_ratio : 0.5f * last_row;
    const float across = width > 1 ? static_cast<float>(x) * column_ratio : 0.5f * last_column;
    for (int64_t d = 0; d < extents.depth; ++d) {
      const float by_y = grad[d] * ((1 - column.part) * (bottom_left[d] - top_left[d]) +
                                    column.part * (bottom_right[d] - top_right[d]));
      const float by_x =
          grad[d] * ((1 - row.part) * (top_right[d] - top_left[d]) + row.part * (bottom_right[d] - bottom_left[d]));
      to[0] += by_y * (last_row - down);
      to[2] += by_y * down;
      to[1] += by_x * (last_column - across);
      to[3] += by_x * across;
    }
  });
}

Status GradBoxes(const KernelCall& call) {
  const Tensor& grads = *call.in[0];
  const Tensor& images = *call.in[1];
  const Tensor& boxes = *call.in[2];
  const Tensor& indices = *call.in[3];
  STILLFLOW_RETURN_IF_ERROR(CheckGradients(grads));
  STILLFLOW_RETURN_IF_ERROR(CheckImages(images, "input image"));
  const Extents extents = {images.dims[0], images.dims[1], images.dims[2], images.dims[3]};
  STILLFLOW_RETURN_IF_ERROR(CheckSizes(extents.height, extents.width, "image"));
  if (grads.dims[3] != extents.depth) return STILLFLOW_INVALID_ARGUMENT("image, grads depth differ");
  int64_t count = 0;
  STILLFLOW_RETURN_IF_ERROR(CheckBoxes(boxes, indices, extents.batch, &count));
  if (grads.dims[0] != count) return STILLFLOW_INVALID_ARGUMENT("boxes and grads have incompatible shape");
  Shape shape;
  shape.Add(count);
  shape.Add(4);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kFloat, shape));
  Converted floats;
  STILLFLOW_RETURN_IF_ERROR(floats.Convert(call, "CropAndResizeGradBoxes", images, DType::kFloat));
  float* const to = MutableData<float>(*call.out[0]);
  std::fill_n(to, 4 * count, 0.0f);
  return ForEachChunk(call, count, 1, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      GradOfBox(grads, floats.data<float>(), extents, BoxAt(boxes, i), i, Data<int32_t>(indices)[i], to + 4 * i);
    }
  });
}

#define METHODS "method: bilinear nearest"

}  // namespace

STILLFLOW_KERNELS(image, crop_and_resize){
    {"crop_and_resize", "image, boxes, box_ind, crop_size | " METHODS ", extrapolation_value", CropAndResize},
    {"crop_and_resize_grad_image", "grads, boxes, box_ind, image_size | T, " METHODS, GradImage},
    {"crop_and_resize_grad_boxes", "grads, image, boxes, box_ind", GradBoxes},
    {}};

}  // namespace stillflow
