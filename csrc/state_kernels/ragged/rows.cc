// ragged_range, ragged_gather, ragged_tensor_to_sparse: rows of different lengths, whose values lie one after the
// other in one tensor, and are told apart by splits: row i is values[splits[i]:splits[i + 1]].
//
//   ragged_range             in[0..2] starts, limits, deltas, scalars or vectors of one length;
//                            out[0] splits, out[1] the numbers of each row
//   ragged_gather            in[0..n) nested splits; in[n] values; in[n + 1] indices of any rank;
//                            out[0..m) nested splits, out[m] values, for the rows that the indices name
//   ragged_tensor_to_sparse  in[0..n) nested splits; in[n] values; out[0] int64 indices, out[1] values, out[2] int64
//                            shape
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/guarded.h"
#include "state_kernels/ragged/splits.h"

namespace stillflow {
namespace {

// ---- Ranges -------------------------------------------------------------------------------------------------------

// How many numbers there are from start on before limit; none where the step leads away from it.
template <typename T>
Status StepCount(T start, T limit, T delta, int64_t* count) {
  *count = 0;
  if (delta == 0) return STILLFLOW_INVALID_ARGUMENT("Requires delta != 0");
  if ((delta > 0 && limit < start) || (delta < 0 && limit > start)) return Status();
  if constexpr (std::is_integral_v<T>) {
    const uint64_t distance = delta > 0 ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                                        : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
    const uint64_t step =
        delta > 0 ? static_cast<uint64_t>(delta) : uint64_t{0} - static_cast<uint64_t>(static_cast<int64_t>(delta));
    *count = static_cast<int64_t>(std::min<uint64_t>(distance == 0 ? 0 : (distance - 1) / step + 1, INT64_MAX));
  } else {
    const double steps = std::ceil(std::abs(static_cast<double>((limit - start) / delta)));
    *count = steps < 9.2e18 ? static_cast<int64_t>(steps) : INT64_MAX;
  }
  return Status();
}

template <typename T>
T RowOf(const Tensor& tensor, int64_t row) {
  return Data<T>(tensor)[tensor.rank == 0 ? 0 : row];
}

template <typename T>
Status FillRanges(const KernelCall& call, int64_t rows) {
  const Tensor& starts = *call.in[0];
  const Tensor& deltas = *call.in[2];
  std::vector<int64_t> splits(1, 0);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t count = 0;
    STILLFLOW_RETURN_IF_ERROR(
        StepCount(RowOf<T>(starts, row), RowOf<T>(*call.in[1], row), RowOf<T>(deltas, row), &count));
    int64_t end = 0;
    if (__builtin_add_overflow(splits.back(), count, &end)) end = INT64_MAX;
    splits.push_back(end);
  }
  STILLFLOW_RETURN_IF_ERROR(OutputSplits(call, 0, static_cast<DType>(call.attrs[0].i), splits));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, starts.dtype, ShapeOfVector(splits.back())));
  T* next = MutableData<T>(*call.out[1]);
  for (int64_t row = 0; row < rows; ++row) {
    T value = RowOf<T>(starts, row);
    const T delta = RowOf<T>(deltas, row);
    for (int64_t i = splits[row]; i < splits[row + 1]; ++i) {
      *next++ = value;
      if constexpr (std::is_integral_v<T>) {
        value = static_cast<T>(static_cast<uint64_t>(value) + static_cast<uint64_t>(delta));
      } else {
        value += delta;
      }
    }
  }
  return Status();
}

Status RaggedRange(const KernelCall& call) {
  constexpr const char* kNames[] = {"starts", "limits", "deltas"};
  int64_t rows = -1;
  for (int i = 0; i < 3; ++i) {
    const Tensor& input = *call.in[i];
    if (input.rank > 1) return STILLFLOW_INVALID_ARGUMENT("%s must be a scalar or vector", kNames[i]);
    if (input.rank == 0) continue;
    if (rows >= 0 && rows != input.dims[0]) {
      return STILLFLOW_INVALID_ARGUMENT("starts, limits, and deltas must have the same shape");
    }
    rows = input.dims[0];
  }
  if (rows < 0) rows = 1;
  return ForType<int32_t, int64_t, float, double>("RaggedRange", call.in[0]->dtype, [&](auto tag) {
    return FillRanges<typename decltype(tag)::type>(call, rows);
  });
}

// ---- Gathering rows -----------------------------------------------------------------------------------------------

struct Rows {
  int64_t begin;
  int64_t end;
};

// How many rows, or values, the splits of a level speak of.
int64_t PartCount(const KernelCall& call, int level, int level_count) {
  return level + 1 < level_count ? call.in[level + 1]->count - 1 : call.in[level_count]->dims[0];
}

Status CheckSplits(const KernelCall& call, int level_count) {
  for (int level = 0; level < level_count; ++level) {
    const Tensor& splits = *call.in[level];
    if (splits.count == 0) return STILLFLOW_INVALID_ARGUMENT("Ragged splits may not be empty");
    if (IntAt(splits, 0) < 0) return STILLFLOW_INVALID_ARGUMENT("Ragged splits must be non-negative");
    if (IntAt(splits, splits.count - 1) > PartCount(call, level, level_count)) {
      return STILLFLOW_INVALID_ARGUMENT("Ragged splits must not point past values");
    }
    for (int64_t i = 1; i < splits.count; ++i) {
      if (IntAt(splits, i - 1) > IntAt(splits, i)) {
        return STILLFLOW_INVALID_ARGUMENT("Ragged splits must be sorted");
      }
    }
  }
  return Status();
}

// "[1,2]": the place of element `index` of a tensor.
std::string PlaceText(const Tensor& tensor, int64_t index) {
  std::vector<int64_t> place(tensor.rank);
  for (int d = tensor.rank - 1; d >= 0; --d) {
    place[d] = index % tensor.dims[d];
    index /= tensor.dims[d];
  }
  return tensor.rank == 0 ? std::string() : std::string(ShapeText(tensor.rank, place.data()).c_str());
}

Status RowsOfIndices(const Tensor& indices, int64_t row_count, std::vector<Rows>* rows) {
  for (int64_t i = 0; i < indices.count; ++i) {
    const int64_t index = IntAt(indices, i);
    if (index < 0 || index >= row_count) {
      return STILLFLOW_INVALID_ARGUMENT("indices%s = %lld is not in [0, %lld)", PlaceText(indices, i).c_str(),
                                        static_cast<long long>(index), static_cast<long long>(row_count));
    }
    rows->push_back({index, index + 1});
  }
  return Status();
}

// The splits of the next level for these rows of it, which become the rows, or values, that they consist of.
void Descend(const Tensor& splits, std::vector<Rows>* rows, std::vector<int64_t>* made) {
  made->assign(1, 0);
  for (Rows& range : *rows) {
    // What lies in memory of the caller may have changed since it was checked.
    const auto at = [&](int64_t i) { return std::clamp<int64_t>(i, 0, splits.count - 1); };
    range = {at(range.begin), std::max(at(range.begin), at(range.end))};
    for (int64_t i = range.begin; i < range.end; ++i) {
      const int64_t size = std::max<int64_t>(IntAt(splits, i + 1) - IntAt(splits, i), 0);
      made->push_back(made->back() + size);
    }
    range = {IntAt(splits, range.begin), IntAt(splits, range.end)};
  }
}

Status RaggedGather(const KernelCall& call) {
  const int level_count = call.in_count - 2;
  const Tensor& values = *call.in[level_count];
  const Tensor& indices = *call.in[level_count + 1];
  if (values.rank == 0) return STILLFLOW_INVALID_ARGUMENT("params.rank must be nonzero");
  if (call.out_count - 1 != indices.rank + level_count - 1) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Expected OUTPUT_RAGGED_RANK = indices.rank + PARAMS_RAGGED_RANK - 1, but got %d for indices of rank %d",
        call.out_count - 1, indices.rank);
  }
  const DType dtype = call.in[0]->dtype;
  if (call.in[0]->count == 0) return STILLFLOW_INVALID_ARGUMENT("Ragged splits may not be empty");
  std::vector<Rows> rows;
  STILLFLOW_RETURN_IF_ERROR(RowsOfIndices(indices, call.in[0]->count - 1, &rows));
  STILLFLOW_RETURN_IF_ERROR(CheckSplits(call, level_count));
  STILLFLOW_RETURN_IF_ERROR(OutputEvenSplits(call, indices, dtype));
  for (int level = 0; level < level_count; ++level) {
    std::vector<int64_t> splits;
    Descend(*call.in[level], &rows, &splits);
    // A scalar index names one row, whose own splits are not asked for.
    const int out = indices.rank - 1 + level;
    if (out >= 0) STILLFLOW_RETURN_IF_ERROR(OutputSplits(call, out, dtype, splits));
  }
  Shape shape(values);
  shape.dims[0] = 0;
  for (Rows& range : rows) {
    range.begin = std::clamp<int64_t>(range.begin, 0, values.dims[0]);
    range.end = std::clamp<int64_t>(range.end, range.begin, values.dims[0]);
    shape.dims[0] += range.end - range.begin;
  }
  const int out = call.out_count - 1;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out, values.dtype, shape));
  const int64_t width = shape.Count(1, shape.rank) * ElementBytes(values.dtype);
  char* next = MutableData<char>(*call.out[out]);
  for (const Rows& range : rows) {
    const int64_t bytes = (range.end - range.begin) * width;
    if (bytes > 0) std::memcpy(next, Data<char>(values) + range.begin * width, bytes);
    next += bytes;
  }
  RetainStrings(*call.out[out]);
  return Status();
}

// ---- Sparse tensors -----------------------------------------------------------------------------------------------

Status CheckNesting(const KernelCall& call, int level_count) {
  for (int level = 0; level < level_count; ++level) {
    const Tensor& splits = *call.in[level];
    if (splits.count == 0) return STILLFLOW_INVALID_ARGUMENT("ragged splits may not be empty.");
    if (IntAt(splits, 0) != 0) return STILLFLOW_INVALID_ARGUMENT("First value of ragged splits must be 0.");
  }
  for (int level = 0; level < level_count; ++level) {
    const Tensor& splits = *call.in[level];
    if (IntAt(splits, splits.count - 1) != PartCount(call, level, level_count)) {
      return STILLFLOW_INVALID_ARGUMENT(
          "Final value of ragged splits must match the length the corresponding ragged values.");
    }
    for (int64_t i = 1; i < splits.count; ++i) {
      if (IntAt(splits, i - 1) > IntAt(splits, i)) {
        return STILLFLOW_INVALID_ARGUMENT("Ragged splits must be sorted");
      }
    }
  }
  return Status();
}

// The index of the values' first dimension in each ragged dimension, dimension after dimension.
std::vector<std::vector<int64_t>> IndicesOfRows(const KernelCall& call, int level_count) {
  std::vector<std::vector<int64_t>> columns;
  for (int level = 0; level < level_count; ++level) {
    const Tensor& splits = *call.in[level];
    const int64_t row_count = splits.count - 1;
    if (level == 0) {
      columns.emplace_back(row_count);
      for (int64_t i = 0; i < row_count; ++i) columns[0][i] = i;
    }
    std::vector<std::vector<int64_t>> wider(level + 2);
    for (int64_t row = 0; row < row_count; ++row) {
      for (int64_t i = IntAt(splits, row); i < IntAt(splits, row + 1); ++i) {
        for (int d = 0; d <= level; ++d) wider[d].push_back(columns[d][row]);
        wider[level + 1].push_back(i - IntAt(splits, row));
      }
    }
    columns = std::move(wider);
  }
  return columns;
}

Status RaggedTensorToSparse(const KernelCall& call) {
  const int level_count = call.in_count - 1;
  const Tensor& values = *call.in[level_count];
  if (values.rank == 0) return STILLFLOW_INVALID_ARGUMENT("The values of a ragged tensor must have at least rank 1");
  if (values.rank + level_count > kMaxRank) {
    return STILLFLOW_INVALID_ARGUMENT("too many dimensions: must be <= %d, but received %d", kMaxRank,
                                      values.rank + level_count);
  }
  STILLFLOW_RETURN_IF_ERROR(CheckNesting(call, level_count));
  const std::vector<std::vector<int64_t>> columns = IndicesOfRows(call, level_count);
  const int64_t rank = level_count + values.rank;
  Shape matrix = ShapeOfVector(values.count);
  matrix.Add(rank);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt64, matrix));
  Alias(call, level_count, 1, ShapeOfVector(values.count));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 2, DType::kInt64, ShapeOfVector(rank)));
  auto* place = MutableData<int64_t>(*call.out[0]);
  const int64_t width = Shape(values).Count(1, values.rank);
  const auto row_count = static_cast<int64_t>(columns[0].size());
  for (int64_t row = 0; row < std::min(row_count, values.dims[0]); ++row) {
    for (int64_t j = 0; j < width; ++j, place += rank) {
      for (int d = 0; d <= level_count; ++d) place[d] = columns[d][row];
      int64_t rest = j;
      for (int d = values.rank - 1; d > 0; --d) {
        place[level_count + d] = rest % values.dims[d];
        rest /= values.dims[d];
      }
    }
  }
  auto* sizes = MutableData<int64_t>(*call.out[2]);
  sizes[0] = call.in[0]->count - 1;
  for (int level = 0; level < level_count; ++level) {
    const Tensor& splits = *call.in[level];
    int64_t most = 0;
    for (int64_t i = 1; i < splits.count; ++i) most = std::max(most, IntAt(splits, i) - IntAt(splits, i - 1));
    sizes[level + 1] = most;
  }
  for (int d = 1; d < values.rank; ++d) sizes[level_count + d] = values.dims[d];
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(ragged, rows){
    {"ragged_range", "starts, limits, deltas | Tsplits", Guarded<RaggedRange>},
    {"ragged_gather", "params_nested_splits..., params_dense_values, indices", Guarded<RaggedGather>},
    {"ragged_tensor_to_sparse", "rt_nested_splits..., rt_dense_values", Guarded<RaggedTensorToSparse>},
    {}};

}  // namespace stillflow
