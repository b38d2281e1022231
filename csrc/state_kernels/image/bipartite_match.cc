// bipartite_match: pairs of rows and columns, the nearest first.
//
//   in[0]   float[rows, columns], distances; in[1] float, one element: how many rows take part, all if it is negative
//   attrs   top_k: how many pairs at most, as many as there can be if it is not positive
//   out[0]  int32[rows], the column of each row, -1 without one; out[1] int32[columns], the row of each column
//
// Of equal distances the heap decides, as it does in TensorFlow, which fills the same heap in the same order.
#include <algorithm>
#include <queue>
#include <vector>

#include "kernels/guarded.h"

namespace stillflow {
namespace {

struct Pair {
  int64_t row;
  int64_t column;
  float distance;
};
struct IsFarther {
  bool operator()(const Pair& a, const Pair& b) const { return b.distance < a.distance; }
};

Status BipartiteMatch(const KernelCall& call) {
  const Tensor& distances = *call.in[0];
  const Tensor& valid = *call.in[1];
  if (distances.rank != 2) {
    return STILLFLOW_INVALID_ARGUMENT("distance_mat should be 2-dimensional, but got %s",
                                      ShapeText(distances).c_str());
  }
  if (valid.count != 1) {
    return STILLFLOW_INVALID_ARGUMENT("num_valid_rows argument should be a tensor with 1 element, but got %lld",
                                      static_cast<long long>(valid.count));
  }
  const int64_t columns = distances.dims[1];
  const float wanted = *Data<float>(valid);
  // A count in floating point may be a little less than it should be.
  constexpr float kSlack = 0.1f;
  constexpr float kMostRows = 2147483000.0f;
  const int64_t rows = wanted >= 0 ? static_cast<int64_t>(std::min(wanted + kSlack, kMostRows)) : distances.dims[0];
  if (rows > distances.dims[0]) {
    return STILLFLOW_INVALID_ARGUMENT("There should be at least %lld rows in distance_mat, but only got %lld rows.",
                                      static_cast<long long>(rows), static_cast<long long>(distances.dims[0]));
  }
  for (int side = 0; side < 2; ++side) {
    Shape shape;
    shape.Add(distances.dims[side]);
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, side, DType::kInt32, shape));
    std::fill_n(MutableData<int32_t>(*call.out[side]), shape.dims[0], -1);
  }
  std::priority_queue<Pair, std::vector<Pair>, IsFarther> pairs;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      pairs.push({row, column, Data<float>(distances)[row * columns + column]});
    }
  }
  auto* const column_of = MutableData<int32_t>(*call.out[0]);
  auto* const row_of = MutableData<int32_t>(*call.out[1]);
  int64_t left = call.attrs[0].i > 0 ? call.attrs[0].i : rows * columns;
  for (; !pairs.empty() && left > 0; pairs.pop()) {
    const Pair& pair = pairs.top();
    if (column_of[pair.row] != -1 || row_of[pair.column] != -1) continue;
    column_of[pair.row] = static_cast<int32_t>(pair.column);
    row_of[pair.column] = static_cast<int32_t>(pair.row);
    --left;
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(image, bipartite_match){
    {"bipartite_match", "distance_mat, num_valid_rows | top_k", Guarded<BipartiteMatch>}, {}};

}  // namespace stillflow
