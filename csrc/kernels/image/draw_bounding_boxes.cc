// draw_bounding_boxes: outlines of boxes, one pixel wide, over images.
//
//   in[0]  images [batch, height, width, 1, 3 or 4], float or half
//   in[1]  boxes [batch, boxes, 4] of the same type: top, left, bottom, right as parts of 1
//   in[2]  colors float[colors, channels or more], which boxes take by turns; if there are none, ten of TensorFlow's
//   out[0] the images with the boxes, which are cut off at the image's edges
#include <algorithm>
#include <vector>

#include "arithmetic/elementwise/conversion.h"

namespace stillflow {
namespace {

constexpr int kChannels = 4;
// Yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia.
constexpr float kColors[][kChannels] = {{1, 1, 0, 1},       {0, 0, 1, 1},       {1, 0, 0, 1},    {0, 1, 0, 1},
                                        {0.5f, 0, 0.5f, 1}, {0.5f, 0.5f, 0, 1}, {0.5f, 0, 0, 1}, {0, 0, 0.5f, 1},
                                        {0, 1, 1, 1},       {1, 0, 1, 1}};

struct Colors {
  const float* rows;
  int64_t count;
  int64_t stride;
  bool is_gray;  // of the ten, gray pixels take white

  float At(int64_t box, int64_t channel) const {
    if (is_gray && channel == 0) return 1;
    return rows[box % count * stride + channel];
  }
};

Status ReadColors(const KernelCall& call, int64_t depth, Colors* colors) {
  *colors = {kColors[0], sizeof kColors / sizeof kColors[0], kChannels, depth == 1};
  if (call.in_count < 3) return Status();
  const Tensor& table = *call.in[2];
  if (table.rank != 2) return STILLFLOW_INVALID_ARGUMENT("colors must be a 2-D matrix%s", ShapeText(table).c_str());
  if (table.dims[1] < depth) {
    return STILLFLOW_INVALID_ARGUMENT("colors must have equal or more channels than the image provided: %s",
                                      ShapeText(table).c_str());
  }
  if (table.count > 0) *colors = {Data<float>(table), table.dims[0], table.dims[1], false};
  return Status();
}

// A box in pixels, both ends included; beyond the image where the box is.
struct Outline {
  int64_t top, left, bottom, right;

  // Numbers without a pixel are far away.
  static int64_t PixelOf(float part, int64_t size) {
    constexpr float kFar = 1e15f;
    const float at = part * static_cast<float>(size - 1);
    return at >= -kFar && at <= kFar ? static_cast<int64_t>(at) : static_cast<int64_t>(at > 0 ? kFar : -kFar);
  }
};

class Canvas {
 public:
  Canvas(float* pixels, int64_t height, int64_t width, int64_t depth)
      : pixels_(pixels), height_(height), width_(width), depth_(depth) {}

  void Draw(const float* box, const float* color) {
    const Outline outline = {Outline::PixelOf(box[0], height_), Outline::PixelOf(box[1], width_),
                             Outline::PixelOf(box[2], height_), Outline::PixelOf(box[3], width_)};
    if (outline.top > outline.bottom || outline.left > outline.right) return;
    for (const int64_t row : {outline.top, outline.bottom}) {
      for (int64_t x = std::max<int64_t>(outline.left, 0); x <= std::min(outline.right, width_ - 1); ++x) {
        Set(row, x, color);
      }
    }
    for (const int64_t column : {outline.left, outline.right}) {
      for (int64_t y = std::max<int64_t>(outline.top, 0); y <= std::min(outline.bottom, height_ - 1); ++y) {
        Set(y, column, color);
      }
    }
  }

 private:
  void Set(int64_t y, int64_t x, const float* color) {
    if (y < 0 || y >= height_ || x < 0 || x >= width_) return;
    std::copy_n(color, depth_, pixels_ + (y * width_ + x) * depth_);
  }

  float* pixels_;
  int64_t height_, width_, depth_;
};

Status CheckInputs(const Tensor& images, const Tensor& boxes) {
  if (images.rank != 4) return STILLFLOW_INVALID_ARGUMENT("The rank of the images should be 4");
  if (boxes.rank != 3) return STILLFLOW_INVALID_ARGUMENT("The rank of the boxes tensor should be 3");
  if (images.dims[0] != boxes.dims[0]) return STILLFLOW_INVALID_ARGUMENT("The batch sizes should be the same");
  if (boxes.dims[2] != 4) return STILLFLOW_INVALID_ARGUMENT("boxes must have 4 columns");
  const int64_t depth = images.dims[3];
  if (depth == 1 || depth == 3 || depth == 4) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)");
}

Status DrawBoundingBoxes(const KernelCall& call) {
  constexpr const char* kName = "DrawBoundingBoxes";
  const Tensor& images = *call.in[0];
  const Tensor& boxes = *call.in[1];
  STILLFLOW_RETURN_IF_ERROR(CheckInputs(images, boxes));
  const int64_t depth = images.dims[3];
  Colors colors;
  STILLFLOW_RETURN_IF_ERROR(ReadColors(call, depth, &colors));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, images.dtype, Shape(images)));
  if (images.count == 0) return Status();
  Converted pixels;
  Converted corners;
  STILLFLOW_RETURN_IF_ERROR(pixels.Convert(call, kName, images, DType::kFloat));
  STILLFLOW_RETURN_IF_ERROR(corners.Convert(call, kName, boxes, DType::kFloat));
  const bool is_float = images.dtype == DType::kFloat;
  const Scratch scratch(call, is_float ? 0 : images.count * static_cast<int64_t>(sizeof(float)));
  if (!scratch.ok()) return OutOfScratch();
  float* const to = is_float ? MutableData<float>(*call.out[0]) : scratch.data<float>();
  const int64_t size = images.count / images.dims[0];
  STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, images.dims[0], 1, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      std::copy_n(pixels.data<float>() + i * size, size, to + i * size);
      Canvas canvas(to + i * size, images.dims[1], images.dims[2], depth);
      for (int64_t box = 0; box < boxes.dims[1]; ++box) {
        float color[kChannels];
        for (int64_t channel = 0; channel < depth; ++channel) color[channel] = colors.At(box, channel);
        canvas.Draw(corners.data<float>() + (i * boxes.dims[1] + box) * 4, color);
      }
    }
  }));
  return is_float ? Status() : StoreConverted(call, kName, DType::kFloat, to, call.out[0]);
}

}  // namespace

STILLFLOW_KERNELS(image, draw_bounding_boxes){{"draw_bounding_boxes", "images, boxes, colors...", DrawBoundingBoxes},
                                              {}};

}  // namespace stillflow
