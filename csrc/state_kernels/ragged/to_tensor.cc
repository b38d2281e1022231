// ragged_tensor_to_tensor: rows of any length as a dense tensor.
//
//   in[0]     the shape: integers, -1 for as large as needed; a scalar for all of them
//   in[1]     values, of rank 1 or more
//   in[2]     what stands where there is no value: broadcast to the shape of a value
//   in[3...]  what says where rows begin; attr kinds: FIRST_DIM_SIZE (how many rows), VALUE_ROWIDS (the row of each
//             part), ROW_SPLITS (where each row begins)
//   out[0]    of the rank of the levels and of a value
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/guarded.h"
#include "state_kernels/ragged/splits.h"
#include "state_kernels/spec_attrs.h"

namespace stillflow {
namespace {

constexpr int kFirstPartition = 3;

struct Level {
  const Tensor* tensor;
  bool is_splits;
};

// The length of the longest row.
int64_t Width(const Level& level) {
  int64_t widest = 0;
  if (level.is_splits) {
    for (int64_t i = 1; i < level.tensor->count; ++i) {
      widest = std::max(widest, IntAt(*level.tensor, i) - IntAt(*level.tensor, i - 1));
    }
    return widest;
  }
  int64_t length = 0;
  for (int64_t i = 0; i < level.tensor->count; ++i) {
    length = i > 0 && IntAt(*level.tensor, i) == IntAt(*level.tensor, i - 1) ? length + 1 : 1;
    widest = std::max(widest, length);
  }
  return widest;
}

// Where the parts of rows go that begin at `rows`; -1 for those that are cut off.
Status Descend(const Level& level, const std::vector<int64_t>& rows, int64_t stride, int64_t width,
               std::vector<int64_t>* parts) {
  parts->clear();
  if (level.is_splits) {
    if (level.tensor->count != static_cast<int64_t>(rows.size()) + 1) {
      return STILLFLOW_INVALID_ARGUMENT("Row splits and rows must be equally many");
    }
    for (size_t row = 0; row < rows.size(); ++row) {
      const int64_t length = IntAt(*level.tensor, row + 1) - IntAt(*level.tensor, row);
      if (length < 0) return STILLFLOW_INVALID_ARGUMENT("Ragged splits must be sorted");
      for (int64_t i = 0; i < length; ++i) {
        parts->push_back(rows[row] < 0 || i >= width ? -1 : rows[row] + i * stride);
      }
    }
    return Status();
  }
  int64_t place = 0;
  for (int64_t i = 0; i < level.tensor->count; ++i) {
    const int64_t row = IntAt(*level.tensor, i);
    if (row < 0 || row >= static_cast<int64_t>(rows.size())) {
      return STILLFLOW_INVALID_ARGUMENT("Row id %lld is not in [0, %lld)", static_cast<long long>(row),
                                        static_cast<long long>(rows.size()));
    }
    place = i > 0 && row == IntAt(*level.tensor, i - 1) ? place + 1 : 0;
    parts->push_back(rows[row] < 0 || place >= width ? -1 : rows[row] + place * stride);
  }
  return Status();
}

Status Levels(const KernelCall& call, std::vector<Level>* levels, int64_t* rows) {
  *rows = -1;
  int next = kFirstPartition;
  for (const std::string& kind : StringsOf(call.attrs[0])) {
    if (next == call.in_count) return STILLFLOW_INVALID_ARGUMENT("There are more partition types than tensors");
    const Tensor* const tensor = call.in[next++];
    if (kind == "FIRST_DIM_SIZE") {
      if (tensor->rank != 0) return STILLFLOW_INVALID_ARGUMENT("FIRST_DIM_SIZE must be a scalar.");
      *rows = IntAt(*tensor, 0);
    } else {
      if (tensor->rank != 1) return STILLFLOW_INVALID_ARGUMENT("Row partition must be a vector.");
      levels->push_back({tensor, kind == "ROW_SPLITS"});
    }
  }
  if (levels->empty()) return STILLFLOW_INVALID_ARGUMENT("Partition info types should not be empty");
  if (*rows < 0) *rows = std::max<int64_t>(levels->front().tensor->count - 1, 0);
  return Status();
}

Status OutputShape(const KernelCall& call, const std::vector<Level>& levels, int64_t rows, Shape* shape) {
  const Tensor& wanted = *call.in[0];
  const Tensor& values = *call.in[1];
  const int rank = static_cast<int>(levels.size()) + values.rank;
  if (values.rank == 0) return STILLFLOW_INVALID_ARGUMENT("values must be at least a vector");
  if (rank > kMaxRank) return STILLFLOW_INVALID_ARGUMENT("The result has too many dimensions");
  if (wanted.rank == 0 && IntAt(wanted, 0) != -1) {
    return STILLFLOW_INVALID_ARGUMENT(
        "The only valid scalar shape tensor is the fully unknown shape specified as -1.");
  }
  if (wanted.rank > 1 || (wanted.rank == 1 && wanted.count != rank)) {
    return STILLFLOW_INVALID_ARGUMENT("The shape asked for has %lld dimensions where the result has %d",
                                      static_cast<long long>(wanted.count), rank);
  }
  for (int i = 0; i < rank; ++i) {
    const int inner = i - static_cast<int>(levels.size());
    const int64_t asked = wanted.rank == 0 ? -1 : IntAt(wanted, i);
    const int64_t own = inner >= 1 ? values.dims[inner] : -1;
    if (own >= 0 && asked >= 0 && own != asked) {
      return STILLFLOW_INVALID_ARGUMENT("Dimension %d is %lld, and values have %lld", i,
                                        static_cast<long long>(asked), static_cast<long long>(own));
    }
    shape->Add(own >= 0 ? own : asked >= 0 ? asked : i == 0 ? rows : Width(levels[i - 1]));
  }
  return Status();
}

// Fills the output with the default, which is aligned with the innermost dimensions.
Status Fill(const Tensor& value, const Shape& shape, int64_t bytes, Tensor* out) {
  const int lead = shape.rank - value.rank;
  if (lead < 0) return STILLFLOW_INVALID_ARGUMENT("default_value has too many dimensions");
  for (int i = 0; i < value.rank; ++i) {
    if (value.dims[i] != 1 && value.dims[i] != shape.dims[lead + i]) {
      return STILLFLOW_INVALID_ARGUMENT("Unable to broadcast default_value of shape %s to tensor of shape %s",
                                        ShapeText(value).c_str(), ShapeText(shape).c_str());
    }
  }
  for (int64_t i = 0; i < out->count; ++i) {
    int64_t rest = i, from = 0, stride = 1;
    for (int d = value.rank - 1; d >= 0; --d) {
      const int64_t size = shape.dims[lead + d];
      if (value.dims[d] != 1) from += rest % size * stride;
      rest /= size;
      stride *= value.dims[d];
    }
    std::memcpy(MutableData<char>(*out) + i * bytes, Data<char>(value) + from * bytes, bytes);
  }
  return Status();
}

Status RaggedTensorToTensor(const KernelCall& call) {
  const Tensor& values = *call.in[1];
  std::vector<Level> levels;
  int64_t rows = 0;
  STILLFLOW_RETURN_IF_ERROR(Levels(call, &levels, &rows));
  Shape shape;
  STILLFLOW_RETURN_IF_ERROR(OutputShape(call, levels, rows, &shape));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, values.dtype, shape));
  Tensor* const out = call.out[0];
  const int64_t bytes = ElementBytes(values.dtype);
  STILLFLOW_RETURN_IF_ERROR(Fill(*call.in[2], shape, bytes, out));
  if (out->count > 0) {
    int64_t stride = shape.Count(1, shape.rank);
    std::vector<int64_t> places(rows), parts;
    for (int64_t i = 0; i < rows; ++i) places[i] = i < shape.dims[0] ? i * stride : -1;
    for (size_t level = 0; level < levels.size(); ++level) {
      const int64_t width = shape.dims[level + 1];
      stride /= width;
      STILLFLOW_RETURN_IF_ERROR(Descend(levels[level], places, stride, width, &parts));
      places.swap(parts);
    }
    if (static_cast<int64_t>(places.size()) != values.dims[0]) {
      return Error(Code::kInternal, "Values and indices must be equal");
    }
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i] < 0) continue;
      std::memcpy(MutableData<char>(*out) + places[i] * bytes, Data<char>(values) + i * stride * bytes,
                  stride * bytes);
    }
  }
  RetainStrings(*out);
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(ragged, to_tensor){
    {"ragged_tensor_to_tensor", "shape, values, default_value, row_partition_tensors... | row_partition_types",
     Guarded<RaggedTensorToTensor>},
    {}};

}  // namespace stillflow
