// sample_distorted_bounding_box: a part of an image, at random, that covers enough of one of its boxes.
//
//   in[0]   integers [height, width, depth]; in[1] float32 [batch, boxes, 4]: boxes, [top, left, bottom, right] as
//   parts
//           of 1; in[2], if there, a scalar: how much of a box must be covered
//   out[0], out[1] begin [y, x, 0] and size [height, width, -1], of the type of in[0]; out[2] float32 [1, 1, 4]
//   attrs   min_object_covered where there is no in[2]; aspect_ratio_range, area_range: two numbers each;
//   max_attempts;
//           use_image_if_no_bounding_boxes
//   state   the node's stream
//
// The whole image, if no attempt succeeds. Arithmetic is in float32.
#include <algorithm>
#include <cmath>

#include "arithmetic/random/box_muller.h"
#include "arithmetic/random/stream.h"
#include "arithmetic/random/unigram.h"

namespace stillflow {
namespace {

struct Box {
  int64_t top, left, bottom, right;
  int64_t Area() const { return std::max<int64_t>(bottom - top, 0) * std::max<int64_t>(right - left, 0); }
  Box Intersection(const Box& other) const {
    return {std::max(top, other.top), std::max(left, other.left), std::min(bottom, other.bottom),
            std::min(right, other.right)};
  }
};

// A float's integer part; what does not fit is the nearest that does.
int64_t ToInteger(float x) {
  if (!(x > -2147483648.0f)) return x != x ? 0 : INT32_MIN;
  return x < 2147483648.0f ? static_cast<int64_t>(x) : INT32_MAX;
}
int64_t Rounded(float x) { return ToInteger(std::rint(x)); }

template <typename Body>
Status ForSizeType(DType dtype, const Body& body) {
  return ForType<uint8_t, int8_t, int16_t, int32_t, int64_t>("SampleDistortedBoundingBox", dtype, body);
}

struct Options {
  float min_covered;
  float aspect[2];
  float area[2];
  int64_t max_attempts;
  bool uses_image;
};

Status ReadPair(const Attr& attr, const char* name, float* values) {
  if (attr.size != 2) return STILLFLOW_INVALID_ARGUMENT("%s range field must specify 2 dimensions", name);
  for (int i = 0; i < 2; ++i) values[i] = static_cast<float>(static_cast<const double*>(attr.data)[i]);
  if (values[0] >= 0 && values[1] >= 0) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s range must be non-negative: [%g, %g]", name, static_cast<double>(values[0]),
                                    static_cast<double>(values[1]));
}

Status ReadOptions(const KernelCall& call, Options* options) {
  if (call.in_count == 2) {
    options->min_covered = static_cast<float>(call.attrs[4].f);
  } else {
    if (call.in[2]->rank != 0) {
      return STILLFLOW_INVALID_ARGUMENT("min_object_covered must be 0-D, got shape %s",
                                        ShapeText(*call.in[2]).c_str());
    }
    options->min_covered = *Data<float>(*call.in[2]);
  }
  if (!(options->min_covered >= 0)) {
    return STILLFLOW_INVALID_ARGUMENT("Min object covered must be non-negative: %g",
                                      static_cast<double>(options->min_covered));
  }
  STILLFLOW_RETURN_IF_ERROR(ReadPair(call.attrs[0], "Aspect ratio", options->aspect));
  STILLFLOW_RETURN_IF_ERROR(ReadPair(call.attrs[1], "Area", options->area));
  if (options->area[0] > 1 || options->area[1] > 1) {
    return STILLFLOW_INVALID_ARGUMENT("Area range must be less then or equal to 1.0: [%g, %g]",
                                      static_cast<double>(options->area[0]), static_cast<double>(options->area[1]));
  }
  options->max_attempts = call.attrs[2].i;
  options->uses_image = call.attrs[3].i != 0;
  if (options->max_attempts > 0) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Max attempts must be non-negative: %lld",
                                    static_cast<long long>(options->max_attempts));
}

// ---- The image and its boxes --------------------------------------------------------------------------------------

Status ReadSize(const Tensor& tensor, int64_t* height, int64_t* width) {
  if (tensor.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("image_size must be 1-dimensional%s", ShapeText(tensor).c_str());
  }
  if (tensor.count != 3) {
    return STILLFLOW_INVALID_ARGUMENT("image_size must contain 3 elements%s", ShapeText(tensor).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(ForSizeType(tensor.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    *height = static_cast<int64_t>(Data<T>(tensor)[0]);
    *width = static_cast<int64_t>(Data<T>(tensor)[1]);
    return Status();
  }));
  if (*height < 0 || *height >= INT32_MAX) {
    return STILLFLOW_INVALID_ARGUMENT("image height cannot be >= int32 max");
  }
  if (*width < 0 || *width >= INT32_MAX) return STILLFLOW_INVALID_ARGUMENT("image width cannot be >= int32 max");
  return Status();
}

Status CheckBoxes(const Tensor& boxes, bool uses_image) {
  if (boxes.rank != 3) {
    return STILLFLOW_INVALID_ARGUMENT("input boxes must be 3-dimensional [batch, num_boxes, coords]: %s",
                                      ShapeText(boxes).c_str());
  }
  if (boxes.dims[2] != 4) {
    return STILLFLOW_INVALID_ARGUMENT("bounding boxes must have shape [4] or [*, 4], got %s",
                                      ShapeText(boxes).c_str());
  }
  if (boxes.count == 0 && !uses_image) {
    return STILLFLOW_INVALID_ARGUMENT(
        "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if you wish to not "
        "provide any bounding boxes.");
  }
  for (int64_t i = 0; i < boxes.count; ++i) {
    const float part = Data<float>(boxes)[i];
    if (part >= 0 && part <= 1) continue;
    return STILLFLOW_INVALID_ARGUMENT("All bounding box coordinates must be in [0.0, 1.0]: %g",
                                      static_cast<double>(part));
  }
  return Status();
}

// ---- Attempts -----------------------------------------------------------------------------------------------------

class Sampler {
 public:
  Sampler(const Options& options, int64_t height, int64_t width, sf_philox position)
      : options_(options), height_(height), width_(width), words_(position) {}

  // A part of the image with a size in the ranges; false if there is none for the aspect that was drawn.
  bool Draw(Box* box) {
    const float aspect = UniformFloat(words_.Next()) * (options_.aspect[1] - options_.aspect[0]) + options_.aspect[0];
    const auto wide = static_cast<float>(width_);
    const auto high = static_cast<float>(height_);
    const float least = options_.area[0] * wide * high;
    const float most = options_.area[1] * wide * high;
    int64_t height = DrawHeight(aspect, least, most);
    const auto width_of = [&] { return Rounded(static_cast<float>(height) * aspect); };
    int64_t width = width_of();
    const auto area = [&] { return static_cast<float>(width * height); };
    if (area() < least) {
      ++height;
      width = width_of();
    }
    if (area() > most) {
      --height;
      width = width_of();
    }
    const bool is_inside = width <= width_ && height <= height_ && width > 0 && height > 0;
    if (area() < least || area() > most || !is_inside) return false;
    const int64_t y = height < height_ ? Below(height_ - height) : 0;
    const int64_t x = width < width_ ? Below(width_ - width) : 0;
    *box = {y, x, y + height, x + width};
    return true;
  }

 private:
  int64_t Below(int64_t bound) { return ExactUniform<uint32_t>(static_cast<uint32_t>(bound)).Draw(&words_); }
  int64_t DrawHeight(float aspect, float least, float most) {
    int64_t height = Rounded(Sqrt(least / aspect));
    int64_t top = Rounded(Sqrt(most / aspect));
    if (Rounded(static_cast<float>(top) * aspect) > width_) {
      const double rest = static_cast<double>(width_) + 0.5 - static_cast<double>(1e-7f);
      top = ToInteger(static_cast<float>(std::trunc(rest / static_cast<double>(aspect))));
      if (Rounded(static_cast<float>(top) * aspect) > width_) --top;
    }
    top = std::min(top, height_);
    height = std::min(height, top);
    return height < top ? height + Below(top - height + 1) : height;
  }

  const Options& options_;
  int64_t height_;
  int64_t width_;
  WordReader words_;
};

// Whether the part covers enough of one of the boxes.
bool Covers(const Box& part, const Tensor& boxes, int64_t height, int64_t width, float min_covered) {
  if (part.Area() < 1) return false;
  const auto covers = [&](const Box& box) {
    if (box.Area() < 1) return false;
    const auto covered = static_cast<float>(part.Intersection(box).Area());
    return covered / static_cast<float>(box.Area()) >= min_covered;
  };
  if (boxes.count == 0) return covers({0, 0, height, width});
  const auto high = static_cast<float>(height);
  const auto wide = static_cast<float>(width);
  for (int64_t i = 0; i < boxes.count; i += 4) {
    const float* at = Data<float>(boxes) + i;
    if (covers(
            {ToInteger(at[0] * high), ToInteger(at[1] * wide), ToInteger(at[2] * high), ToInteger(at[3] * wide)})) {
      return true;
    }
  }
  return false;
}

Status WriteBox(const KernelCall& call, const Box& box, int64_t height, int64_t width) {
  Shape shape;
  shape.Add(3);
  const DType dtype = call.in[0]->dtype;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, dtype, shape));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, dtype, shape));
  STILLFLOW_RETURN_IF_ERROR(ForSizeType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t begin[] = {box.top, box.left, 0};
    const int64_t size[] = {box.bottom - box.top, box.right - box.left, -1};
    for (int i = 0; i < 3; ++i) {
      MutableData<T>(*call.out[0])[i] = static_cast<T>(begin[i]);
      MutableData<T>(*call.out[1])[i] = static_cast<T>(size[i]);
    }
    return Status();
  }));
  Shape parts;
  for (const int64_t size : {1, 1, 4}) parts.Add(size);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 2, DType::kFloat, parts));
  auto* to = MutableData<float>(*call.out[2]);
  to[0] = static_cast<float>(box.top) / static_cast<float>(height);
  to[1] = static_cast<float>(box.left) / static_cast<float>(width);
  to[2] = static_cast<float>(box.bottom) / static_cast<float>(height);
  to[3] = static_cast<float>(box.right) / static_cast<float>(width);
  return Status();
}

Status SampleDistortedBoundingBox(const KernelCall& call) {
  Options options{};
  int64_t height = 0;
  int64_t width = 0;
  STILLFLOW_RETURN_IF_ERROR(ReadSize(*call.in[0], &height, &width));
  STILLFLOW_RETURN_IF_ERROR(ReadOptions(call, &options));
  STILLFLOW_RETURN_IF_ERROR(CheckBoxes(*call.in[1], options.uses_image));
  Sampler sampler(options, height, width, TakeBlocks(call, options.max_attempts, 1));
  Box box{0, 0, height, width};
  for (int64_t i = 0; i < options.max_attempts; ++i) {
    Box drawn{};
    if (!sampler.Draw(&drawn) || !Covers(drawn, *call.in[1], height, width, options.min_covered)) continue;
    box = drawn;
    break;
  }
  return WriteBox(call, box, height, width);
}

}  // namespace

STILLFLOW_KERNELS(image, bounding_box){
    {"sample_distorted_bounding_box",
     "image_size, bounding_boxes | aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes, "
     "min_object_covered",
     SampleDistortedBoundingBox},
    {"sample_distorted_bounding_box_v2",
     "image_size, bounding_boxes, min_object_covered | aspect_ratio_range, area_range, max_attempts, "
     "use_image_if_no_bounding_boxes",
     SampleDistortedBoundingBox},
    {}};

}  // namespace stillflow
