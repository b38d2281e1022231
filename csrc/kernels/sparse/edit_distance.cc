// edit_distance: the Levenshtein distance between sequences.
//
//   in[0..2] a sparse tensor of hypotheses: int64 indices, values, int64 shape; in[3..5] one of truths
//   attr normalize: whether distances are divided by the lengths of truths
//   out[0] float, of the shape without its last dimension, the larger of both in each: sequences lie along the last
//   dimension, in the order in which they are given, whatever their last index is; without any value they are empty
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernel_api/sparse_tensor.h"

namespace stillflow {
namespace {

struct Sequences {
  Entries entries;
  const Tensor* values;
  Shape shape;
};

// That sequences, which all but the last index name, are within the shape and in order.
Status CheckSequences(const Entries& entries, const Shape& shape) {
  STILLFLOW_RETURN_IF_ERROR(CheckInside(entries, shape, std::max(shape.rank - 1, 0)));
  for (int64_t i = 1; i < entries.count; ++i) {
    if (CompareRows(entries[i - 1], entries[i], entries.rank - 1) > 0) {
      return STILLFLOW_INVALID_ARGUMENT("indices[%lld] = %s is out of order", static_cast<long long>(i),
                                        RowText(entries[i], entries.rank).c_str());
    }
  }
  return Status();
}

Status ReadSequences(const Tensor* const* in, const char* name, Sequences* sequences) {
  if (in[0]->rank != 2) {
    return STILLFLOW_INVALID_ARGUMENT("%s_indices should be a matrix, but got shape: %s", name,
                                      ShapeText(*in[0]).c_str());
  }
  if (in[1]->rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("%s_values should be a vector, but got shape: %s", name,
                                      ShapeText(*in[1]).c_str());
  }
  if (in[2]->rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("%s_shape should be a vector, but got shape: %s", name,
                                      ShapeText(*in[2]).c_str());
  }
  if (in[2]->count != in[0]->dims[1]) {
    return STILLFLOW_INVALID_ARGUMENT("%s_shape should have %lld values, but got shape: %s", name,
                                      static_cast<long long>(in[0]->dims[1]), ShapeText(*in[2]).c_str());
  }
  sequences->entries = Entries(*in[0]);
  sequences->values = in[1];
  STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(*in[2], &sequences->shape));
  STILLFLOW_RETURN_IF_ERROR(CheckValueCount(sequences->entries, *in[1]));
  return CheckSequences(sequences->entries, sequences->shape);
}

bool AreEqual(const Tensor& a, int64_t i, const Tensor& b, int64_t j) {
  if (a.dtype == DType::kString) return AreEqual(Data<StringCell*>(a)[i], Data<StringCell*>(b)[j]);
  if (a.dtype == DType::kFloat) return Data<float>(a)[i] == Data<float>(b)[j];
  if (a.dtype == DType::kDouble) return Data<double>(a)[i] == Data<double>(b)[j];
  const int64_t bytes = ElementBytes(a.dtype);
  return std::memcmp(static_cast<const char*>(a.data) + i * bytes, static_cast<const char*>(b.data) + j * bytes,
                     bytes) == 0;
}

// Entries from `begin` to `end` of both, by rows of a table of which one is kept in `row`.
int64_t Distance(const Tensor& a, Range of_a, const Tensor& b, Range of_b, int64_t* row) {
  const int64_t width = of_b.end - of_b.begin;
  for (int64_t j = 0; j <= width; ++j) row[j] = j;
  for (int64_t i = of_a.begin; i < of_a.end; ++i) {
    int64_t diagonal = row[0]++;
    for (int64_t j = 0; j < width; ++j) {
      const int64_t changed = diagonal + (AreEqual(a, i, b, of_b.begin + j) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min(changed, std::min(diagonal, row[j]) + 1);
    }
  }
  return row[width];
}

// The entries from `begin` on that belong to one sequence.
Range NextSequence(const Entries& entries, int64_t begin) {
  int64_t end = begin;
  while (end < entries.count && CompareRows(entries[begin], entries[end], entries.rank - 1) == 0) ++end;
  return {begin, end};
}

int64_t PlaceOf(const int64_t* row, const Shape& shape) {
  int64_t place = 0;
  for (int i = 0; i < shape.rank; ++i) place = place * shape.dims[i] + row[i];
  return place;
}

Status EditDistance(const KernelCall& call) {
  Sequences hypotheses, truths;
  STILLFLOW_RETURN_IF_ERROR(ReadSequences(call.in, "hypothesis", &hypotheses));
  STILLFLOW_RETURN_IF_ERROR(ReadSequences(call.in + 3, "truth", &truths));
  if (hypotheses.values->dtype != truths.values->dtype) return UnsupportedType("EditDistance", truths.values->dtype);
  if (ElementBytes(truths.values->dtype) == 0) return UnsupportedType("EditDistance", truths.values->dtype);
  if (hypotheses.shape.rank != truths.shape.rank) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Expected hypothesis_shape and truth_shape to have the same number of elements: %d vs. %d",
        hypotheses.shape.rank, truths.shape.rank);
  }
  if (truths.shape.rank < 1) return STILLFLOW_INVALID_ARGUMENT("Input SparseTensors must have rank at least 1");
  const bool is_normalized = call.attrs[0].i != 0;
  Shape shape;
  for (int i = 0; i < truths.shape.rank - 1; ++i) {
    shape.Add(std::max(hypotheses.shape.dims[i], truths.shape.dims[i]));
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kFloat, shape));
  auto* out = MutableData<float>(*call.out[0]);
  // Two empty sequences do not differ.
  std::fill_n(out, call.out[0]->count, 0.0f);
  const Scratch row(call, (hypotheses.entries.count + 1) * static_cast<int64_t>(sizeof(int64_t)));
  if (!row.ok()) return OutOfScratch();
  Range hypothesis = NextSequence(hypotheses.entries, 0), truth = NextSequence(truths.entries, 0);
  while (hypothesis.begin < hypotheses.entries.count || truth.begin < truths.entries.count) {
    int order = 0;
    if (hypothesis.begin == hypotheses.entries.count) {
      order = 1;
    } else if (truth.begin == truths.entries.count) {
      order = -1;
    } else {
      order = CompareRows(hypotheses.entries[hypothesis.begin], truths.entries[truth.begin], shape.rank);
    }
    const Range none = {0, 0};
    const Range h = order <= 0 ? hypothesis : none, t = order >= 0 ? truth : none;
    const int64_t* place = order <= 0 ? hypotheses.entries[h.begin] : truths.entries[t.begin];
    const int64_t length = t.end - t.begin;
    auto distance = static_cast<float>(Distance(*truths.values, t, *hypotheses.values, h, row.data<int64_t>()));
    if (is_normalized) {
      distance = length > 0 ? distance / static_cast<float>(length) : std::numeric_limits<float>::infinity();
    }
    out[PlaceOf(place, shape)] = distance;
    if (order <= 0) hypothesis = NextSequence(hypotheses.entries, hypothesis.end);
    if (order >= 0) truth = NextSequence(truths.entries, truth.end);
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(sparse, edit_distance){
    {"edit_distance",
     "hypothesis_indices, hypothesis_values, hypothesis_shape, truth_indices, truth_values, truth_shape | normalize",
     EditDistance},
    {}};

}  // namespace stillflow
