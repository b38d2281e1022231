// non_max_suppression, combined_non_max_suppression: boxes with the highest scores that overlap each other little.
//
//   non_max_suppression  in[0] boxes [boxes, 4] of two opposite corners, or, if attr has_overlaps, overlaps
//                        [boxes, boxes]; in[1] scores [boxes], of the same type: float or half; in[2] int32 scalar:
//                        how many boxes at most; then, as far as they are there, scalars: in[3] from which overlap on
//                        a box is suppressed (else attr iou_threshold), in[4] which score is too low, in[5] sigma:
//                        scores fall with overlaps by a Gaussian of it attr outputs: what is wanted beside out[0],
//                        int32 indices of the boxes in descending order of their scores: their scores, how many there
//                        are attr pad_to_max_output_size: whether indices and scores go on with zeros
//   combined_...         in[0] boxes float[batch, boxes, 1 or classes, 4], in[1] scores float[batch, boxes, classes],
//                        in[2], in[3] int32 scalars: how many at most of a class and in all; in[4], in[5] float
//                        scalars: thresholds of overlap and score; attrs pad_per_class, clip_boxes out[0] boxes,
//                        out[1] scores, out[2] classes as floats, out[3] int32[batch]: how many there are
//
// Of equal scores the lower index comes first. Soft suppression is that of Bodla et al., "Soft-NMS", 2017.
#include <algorithm>
#include <limits>
#include <queue>
#include <vector>

#include "arithmetic/elementwise/conversion.h"
#include "arithmetic/math/exponential.h"

namespace stillflow {
namespace {

// Intersection over union of two boxes of which corners may come in any order.
float Overlap(const float* a, const float* b) {
  const auto area = [](const float* box) {
    return (std::max(box[0], box[2]) - std::min(box[0], box[2])) *
           (std::max(box[1], box[3]) - std::min(box[1], box[3]));
  };
  const float a_area = area(a);
  const float b_area = area(b);
  if (!(a_area > 0) || !(b_area > 0)) return 0;
  const auto common = [&](int from, int to) {
    const float begin = std::max(std::min(a[from], a[to]), std::min(b[from], b[to]));
    const float end = std::min(std::max(a[from], a[to]), std::max(b[from], b[to]));
    return std::max(end - begin, 0.0f);
  };
  const float intersection = common(0, 2) * common(1, 3);
  return intersection / (a_area + b_area - intersection);
}

struct Candidate {
  int64_t box;
  float score;
  size_t compared;  // how many of those selected its score already accounts for
};
// Of equal scores the heap decides, as it does in TensorFlow, which fills the same heap in the same order.
struct IsBehind {
  bool operator()(const Candidate& a, const Candidate& b) const { return a.score < b.score; }
};

struct Limits {
  int64_t most = 0;
  float overlap = 0.5f;
  float score = -std::numeric_limits<float>::infinity();
  float sigma = 0;
};

struct Selection {
  std::vector<int32_t> boxes;
  std::vector<float> scores;
};

// What a score is multiplied by for an overlap.
float Weight(float overlap, const Limits& limits) {
  if (overlap > limits.overlap) return 0;
  return limits.sigma > 0 ? Exp(-0.5f / limits.sigma * overlap * overlap) : 1;
}

template <typename OverlapOf>
Selection Select(const float* scores, int64_t count, const Limits& limits, const OverlapOf& overlap_of) {
  std::priority_queue<Candidate, std::vector<Candidate>, IsBehind> candidates;
  for (int64_t i = 0; i < count; ++i) {
    if (scores[i] > limits.score) candidates.push({i, scores[i], 0});
  }
  Selection selection;
  while (static_cast<int64_t>(selection.boxes.size()) < limits.most && !candidates.empty()) {
    Candidate next = candidates.top();
    candidates.pop();
    const float score = next.score;
    bool is_suppressed = false;
    for (size_t j = selection.boxes.size(); j > next.compared && !is_suppressed; --j) {
      const float overlap = overlap_of(next.box, selection.boxes[j - 1]);
      next.score *= Weight(overlap, limits);
      is_suppressed = overlap >= limits.overlap;
      if (next.score <= limits.score) break;
    }
    next.compared = selection.boxes.size();
    if (is_suppressed) continue;
    if (next.score == score) {
      selection.boxes.push_back(static_cast<int32_t>(next.box));
      selection.scores.push_back(score);
    }
    // What was weakened may come after others now. What was selected meets itself next: that ends it, unless the
    // overlaps given, or an area of 0, say otherwise.
    if (next.score > limits.score) candidates.push(next);
  }
  return selection;
}

// ---- non_max_suppression
// --------------------------------------------------------------------------------------------

Status ReadScalar(const KernelCall& call, int in, const char* name, float* value) {
  const Tensor& tensor = *call.in[in];
  if (tensor.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("%s must be 0-D, got shape %s", name, ShapeText(tensor).c_str());
  }
  Converted converted;
  STILLFLOW_RETURN_IF_ERROR(converted.Convert(call, "NonMaxSuppression", tensor, DType::kFloat));
  *value = *converted.data<float>();
  return Status();
}

Status ReadLimits(const KernelCall& call, bool has_overlaps, Limits* limits) {
  const Tensor& most = *call.in[2];
  if (most.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("max_output_size must be 0-D, got shape %s", ShapeText(most).c_str());
  }
  // TensorFlow compares without sign: no limit, where there is nothing to fill up.
  const int32_t given = *Data<int32_t>(most);
  limits->most = given >= 0 ? given : call.attrs[3].i != 0 ? 0 : std::numeric_limits<int32_t>::max();
  limits->overlap = static_cast<float>(call.attrs[0].f);
  if (call.in_count > 3) {
    const char* const name = has_overlaps ? "overlap_threshold" : "iou_threshold";
    STILLFLOW_RETURN_IF_ERROR(ReadScalar(call, 3, name, &limits->overlap));
  }
  if (!has_overlaps && !(limits->overlap >= 0 && limits->overlap <= 1)) {
    return STILLFLOW_INVALID_ARGUMENT("iou_threshold must be in [0, 1]");
  }
  if (call.in_count > 4) STILLFLOW_RETURN_IF_ERROR(ReadScalar(call, 4, "score_threshold", &limits->score));
  if (call.in_count > 5) {
    STILLFLOW_RETURN_IF_ERROR(ReadScalar(call, 5, "soft_nms_sigma", &limits->sigma));
    if (!(limits->sigma >= 0)) return STILLFLOW_INVALID_ARGUMENT("soft_nms_sigma_val must be >= 0");
  }
  return Status();
}

Status CheckBoxes(const Tensor& boxes, const Tensor& scores, bool has_overlaps) {
  const char* const name = has_overlaps ? "overlaps" : "boxes";
  if (boxes.rank != 2) return STILLFLOW_INVALID_ARGUMENT("%s must be 2-D%s", name, ShapeText(boxes).c_str());
  if (has_overlaps && boxes.dims[1] != boxes.dims[0]) {
    return STILLFLOW_INVALID_ARGUMENT("overlaps must be square%s", ShapeText(boxes).c_str());
  }
  if (!has_overlaps && boxes.dims[1] != 4) return STILLFLOW_INVALID_ARGUMENT("boxes must have 4 columns");
  if (scores.rank != 1) return STILLFLOW_INVALID_ARGUMENT("scores must be 1-D%s", ShapeText(scores).c_str());
  if (scores.count != boxes.dims[0]) return STILLFLOW_INVALID_ARGUMENT("scores has incompatible shape");
  return Status();
}

Status AllocateVector(const KernelCall& call, int out, DType type, int64_t count) {
  Shape shape;
  shape.Add(count);
  return AllocateOutput(call, out, type, shape);
}

enum Outputs { kIndices, kIndicesAndCount, kAll };

Status WriteSelection(const KernelCall& call, Selection* selection, int64_t most) {
  const auto outputs = static_cast<Outputs>(call.attrs[2].i);
  const auto count = static_cast<int32_t>(selection->boxes.size());
  if (call.attrs[3].i != 0) {
    selection->boxes.resize(most, 0);
    selection->scores.resize(most, 0);
  }
  const auto size = static_cast<int64_t>(selection->boxes.size());
  STILLFLOW_RETURN_IF_ERROR(AllocateVector(call, 0, DType::kInt32, size));
  std::copy_n(selection->boxes.data(), size, MutableData<int32_t>(*call.out[0]));
  if (outputs == kAll) {
    STILLFLOW_RETURN_IF_ERROR(AllocateVector(call, 1, call.in[1]->dtype, size));
    STILLFLOW_RETURN_IF_ERROR(
        StoreConverted(call, "NonMaxSuppression", DType::kFloat, selection->scores.data(), call.out[1]));
  }
  if (outputs == kIndices) return Status();
  const int last = outputs == kAll ? 2 : 1;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, last, DType::kInt32, Shape()));
  *MutableData<int32_t>(*call.out[last]) = count;
  return Status();
}

Status NonMaxSuppression(const KernelCall& call) {
  const Tensor& boxes = *call.in[0];
  const Tensor& scores = *call.in[1];
  const bool has_overlaps = call.attrs[1].i != 0;
  Limits limits;
  STILLFLOW_RETURN_IF_ERROR(ReadLimits(call, has_overlaps, &limits));
  STILLFLOW_RETURN_IF_ERROR(CheckBoxes(boxes, scores, has_overlaps));
  Converted box_floats;
  Converted score_floats;
  STILLFLOW_RETURN_IF_ERROR(box_floats.Convert(call, "NonMaxSuppression", boxes, DType::kFloat));
  STILLFLOW_RETURN_IF_ERROR(score_floats.Convert(call, "NonMaxSuppression", scores, DType::kFloat));
  const float* const rows = box_floats.data<float>();
  Selection selection = Select(score_floats.data<float>(), scores.count, limits, [&](int64_t a, int64_t b) {
    return has_overlaps ? rows[a * boxes.dims[1] + b] : Overlap(rows + 4 * a, rows + 4 * b);
  });
  return WriteSelection(call, &selection, limits.most);
}

// ---- combined_non_max_suppression
// -----------------------------------------------------------------------------------

// A batch's scores and boxes, one row of classes for each box.
struct Detections {
  const float* boxes;
  const float* scores;
  int64_t count, box_classes, classes;

  const float* Box(int64_t i, int64_t of_class) const {
    return boxes + 4 * (i * box_classes + (box_classes > 1 ? of_class : 0));
  }
};

struct Detection {
  float score;
  int64_t of_class;
  const float* box;
};

// All detections of all classes, by score; equal ones by class and box.
std::vector<Detection> Detect(const Detections& from, const Limits& limits) {
  std::vector<Detection> found;
  std::vector<float> scores(from.count);
  for (int64_t of_class = 0; of_class < from.classes; ++of_class) {
    for (int64_t i = 0; i < from.count; ++i) scores[i] = from.scores[i * from.classes + of_class];
    // Here an overlap that is as large as the threshold does not suppress.
    std::vector<int32_t> order;
    for (int64_t i = 0; i < from.count; ++i) {
      if (scores[i] > limits.score) order.push_back(static_cast<int32_t>(i));
    }
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return scores[a] > scores[b]; });
    std::vector<const float*> selected;
    for (const int32_t i : order) {
      if (static_cast<int64_t>(selected.size()) >= limits.most) break;
      const float* const box = from.Box(i, of_class);
      const bool is_suppressed = std::any_of(
          selected.begin(), selected.end(), [&](const float* other) { return Overlap(box, other) > limits.overlap; });
      if (is_suppressed) continue;
      selected.push_back(box);
      found.push_back({scores[i], of_class, box});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Detection& a, const Detection& b) { return a.score > b.score; });
  return found;
}

Status CheckDetections(const KernelCall& call) {
  const Tensor& boxes = *call.in[0];
  const Tensor& scores = *call.in[1];
  if (boxes.rank != 4) return STILLFLOW_INVALID_ARGUMENT("boxes must be 4-D%s", ShapeText(boxes).c_str());
  if (scores.rank != 3) return STILLFLOW_INVALID_ARGUMENT("scores must be 3-D%s", ShapeText(scores).c_str());
  if (boxes.dims[2] != 1 && boxes.dims[2] != scores.dims[2]) {
    return STILLFLOW_INVALID_ARGUMENT("third dimension of boxes must be either 1 or num classes");
  }
  if (boxes.dims[3] != 4) return STILLFLOW_INVALID_ARGUMENT("boxes must have 4 columns");
  if (scores.dims[0] != boxes.dims[0] || scores.dims[1] != boxes.dims[1]) {
    return STILLFLOW_INVALID_ARGUMENT("scores has incompatible shape");
  }
  constexpr const char* kNames[] = {"max_size_per_class", "max_total_size", "iou_threshold", "score_threshold"};
  for (int i = 0; i < 4; ++i) {
    if (call.in[i + 2]->rank == 0) continue;
    return STILLFLOW_INVALID_ARGUMENT("%s must be 0-D, got shape %s", kNames[i], ShapeText(*call.in[i + 2]).c_str());
  }
  if (*Data<int32_t>(*call.in[2]) <= 0) return STILLFLOW_INVALID_ARGUMENT("max_size_per_class must be positive");
  if (*Data<int32_t>(*call.in[3]) <= 0) return STILLFLOW_INVALID_ARGUMENT("max_total_size must be > 0");
  const float overlap = *Data<float>(*call.in[4]);
  if (!(overlap >= 0 && overlap <= 1)) return STILLFLOW_INVALID_ARGUMENT("iou_threshold must be in [0, 1]");
  return Status();
}

// Detection i of a batch, or zeros behind the last one.
void WriteDetection(const KernelCall& call, int64_t at, const Detection* detection) {
  const bool is_clipped = call.attrs[1].i != 0;
  float* const box = MutableData<float>(*call.out[0]) + 4 * at;
  for (int k = 0; k < 4; ++k) {
    const float edge = detection == nullptr ? 0 : detection->box[k];
    box[k] = is_clipped ? std::max(std::min(edge, 1.0f), 0.0f) : edge;
  }
  MutableData<float>(*call.out[1])[at] = detection == nullptr ? 0 : detection->score;
  MutableData<float>(*call.out[2])[at] = detection == nullptr ? 0 : static_cast<float>(detection->of_class);
}

Status CombinedNonMaxSuppression(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckDetections(call));
  const Tensor& boxes = *call.in[0];
  const Tensor& scores = *call.in[1];
  Limits limits;
  limits.most = *Data<int32_t>(*call.in[2]);
  limits.overlap = *Data<float>(*call.in[4]);
  limits.score = *Data<float>(*call.in[5]);
  int64_t size = *Data<int32_t>(*call.in[3]);
  if (call.attrs[0].i != 0) size = std::min(size, limits.most * scores.dims[2]);
  Shape shape;
  shape.Add(boxes.dims[0]);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 3, DType::kInt32, shape));
  shape.Add(size);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, DType::kFloat, shape));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 2, DType::kFloat, shape));
  shape.Add(4);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kFloat, shape));
  return ForEachChunk(call, boxes.dims[0], 1, [&](Range range) {
    for (int64_t batch = range.begin; batch < range.end; ++batch) {
      const Detections from = {Data<float>(boxes) + batch * boxes.dims[1] * boxes.dims[2] * 4,
                               Data<float>(scores) + batch * scores.dims[1] * scores.dims[2], boxes.dims[1],
                               boxes.dims[2], scores.dims[2]};
      const std::vector<Detection> found = Detect(from, limits);
      const int64_t valid = std::min(size, static_cast<int64_t>(found.size()));
      MutableData<int32_t>(*call.out[3])[batch] = static_cast<int32_t>(valid);
      for (int64_t i = 0; i < size; ++i) WriteDetection(call, batch * size + i, i < valid ? &found[i] : nullptr);
    }
  });
}

#define ATTRIBUTES " | iou_threshold, has_overlaps, outputs: indices count all, pad_to_max_output_size"

}  // namespace

STILLFLOW_KERNELS(image, non_max_suppression){
    {"non_max_suppression", "boxes, scores, limits..." ATTRIBUTES, NonMaxSuppression},
    {"combined_non_max_suppression",
     "boxes, scores, max_output_size_per_class, max_total_size, iou_threshold, score_threshold | pad_per_class, "
     "clip_boxes",
     CombinedNonMaxSuppression},
    {}};

}  // namespace stillflow
