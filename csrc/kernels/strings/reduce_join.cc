// reduce_join, unsorted_segment_join: strings of a tensor put together.
//
//   reduce_join            in[0] strings; in[1] int32 dimensions to join over, the first of them fastest
//                          attrs keep_dims, separator
//   unsorted_segment_join  in[0] strings; in[1] int32 or int64 segment of each of their first dimensions' elements;
//                          in[2] how many segments there are; attr separator
#include <vector>

#include "kernels/guarded.h"

namespace stillflow {
namespace {

using io::Bytes;

std::string SeparatorOf(const Attr& attr) {
  return std::string(static_cast<const char*>(attr.data), static_cast<size_t>(attr.size));
}

// ---- By dimension -------------------------------------------------------------------------------------------------

struct Dimension {
  int64_t size;
  int64_t stride;
};

// Where the elements of some dimensions lie, the first of them fastest.
std::vector<int64_t> Offsets(const std::vector<Dimension>& dimensions) {
  std::vector<int64_t> offsets = {0};
  for (const Dimension& dimension : dimensions) {
    std::vector<int64_t> more;
    for (int64_t i = 0; i < dimension.size; ++i) {
      for (int64_t offset : offsets) more.push_back(offset + i * dimension.stride);
    }
    offsets.swap(more);
  }
  return offsets;
}

Status ReduceJoin(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const Tensor& axes = *call.in[1];
  const bool keeps = call.attrs[0].i != 0;
  const std::string separator = SeparatorOf(call.attrs[1]);
  int64_t strides[kMaxRank];
  int64_t stride = 1;
  for (int i = input.rank - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= input.dims[i];
  }
  bool is_joined[kMaxRank] = {};
  std::vector<Dimension> joined, kept;
  for (int64_t i = 0; i < axes.count; ++i) {
    const int64_t given = IntAt(axes, i);
    const int64_t axis = given < 0 ? given + input.rank : given;
    if (axis < 0 || axis >= input.rank) {
      return Error(Code::kOutOfRange, "Invalid reduction dimension %lld for input with %d dimension(s)",
                   static_cast<long long>(given), input.rank);
    }
    if (is_joined[axis]) {
      return STILLFLOW_INVALID_ARGUMENT("Duplicate reduction dimension %lld", static_cast<long long>(given));
    }
    is_joined[axis] = true;
    joined.push_back({input.dims[axis], strides[axis]});
  }
  Shape shape;
  for (int i = 0; i < input.rank; ++i) {
    if (!is_joined[i]) {
      shape.Add(input.dims[i]);
      kept.insert(kept.begin(), {input.dims[i], strides[i]});  // the last dimension is the fastest
    } else if (keeps) {
      shape.Add(1);
    }
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kString, shape));
  if (call.out[0]->count == 0) return Status();
  const std::vector<int64_t> inner = Offsets(joined);
  const std::vector<int64_t> outer = Offsets(kept);
  return ForEachChunk(call, call.out[0]->count, 64, [&](Range range) {
    return CatchingOutOfMemory([&] {
      for (int64_t i = range.begin; i < range.end; ++i) {
        std::string text;
        for (size_t j = 0; j < inner.size(); ++j) {
          if (j > 0) text += separator;
          const Bytes part = StringAt(input, outer[i] + inner[j]);
          text.append(part.data, part.size);
        }
        if (!SetString(call, call.out[0], i, text.data(), static_cast<int64_t>(text.size()))) return OutOfScratch();
      }
      return Status();
    });
  });
}

// ---- By segment ---------------------------------------------------------------------------------------------------

Status UnsortedSegmentJoin(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const Tensor& segments = *call.in[1];
  const std::string separator = SeparatorOf(call.attrs[0]);
  if (call.in[2]->count != 1) return STILLFLOW_INVALID_ARGUMENT("num_segments must be a scalar");
  const int64_t segment_count = IntAt(*call.in[2], 0);
  if (segment_count < 0) {
    return STILLFLOW_INVALID_ARGUMENT("Input num_segments == %lld must not be negative.",
                                      static_cast<long long>(segment_count));
  }
  bool is_prefix = segments.rank > 0 && segments.rank <= input.rank;
  for (int i = 0; is_prefix && i < segments.rank; ++i) is_prefix = segments.dims[i] == input.dims[i];
  if (!is_prefix) {
    return STILLFLOW_INVALID_ARGUMENT("data.shape = %s does not start with segment_ids.shape = %s",
                                      ShapeText(input).c_str(), ShapeText(segments).c_str());
  }
  Shape shape;
  shape.Add(segment_count);
  for (int i = segments.rank; i < input.rank; ++i) shape.Add(input.dims[i]);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kString, shape));
  const int64_t width = Shape(input).Count(segments.rank, input.rank);
  std::vector<std::string> texts(call.out[0]->count);
  std::vector<bool> is_begun(segment_count);
  for (int64_t i = 0; i < segments.count; ++i) {
    const int64_t segment = IntAt(segments, i);
    if (segment < 0 || segment >= segment_count) {
      return STILLFLOW_INVALID_ARGUMENT(
          "segment_ids are not allowed to exceed num_segments or to have negative values.");
    }
    for (int64_t j = 0; j < width; ++j) {
      const Bytes part = StringAt(input, i * width + j);
      if (is_begun[segment]) texts[segment * width + j] += separator;
      texts[segment * width + j].append(part.data, part.size);
    }
    is_begun[segment] = true;
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    const int64_t size = static_cast<int64_t>(texts[i].size());
    if (!SetString(call, call.out[0], static_cast<int64_t>(i), texts[i].data(), size)) return OutOfScratch();
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(strings, reduce_join){
    {"reduce_join", "inputs, reduction_indices | keep_dims, separator", Guarded<ReduceJoin>},
    {"unsorted_segment_join", "inputs, segment_ids, num_segments | separator", Guarded<UnsortedSegmentJoin>},
    {}};

}  // namespace stillflow
