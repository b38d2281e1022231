// top_k: the largest elements of rows, and where they are; in_top_k: whether a class is among the likeliest.
//
// top_k
//   in[0]  input    real numbers, [..., n]
//   in[1]  k        int32 scalar, at most n (top_k_v2; of top_k it is attr 0)
//   out[0] values   [..., k], in descending order; of equal ones the first comes first, NaN before all numbers
//   out[1] indices  int32 [..., k]
//
// bottom_k: -top_k(-input), of float | double | int32 | int64; indices may be left out
//
// in_top_k
//   in[0]  predictions  float32 [batch, classes]
//   in[1]  targets      int32 | int64 [batch]
//   in[2]  k            a scalar of the targets' type (in_top_k_v2; of in_top_k it is attr 0)
//   out[0] bool [batch]: fewer than k classes are likelier than the target; false where the target is no class, or
//          a prediction is not finite
#include <algorithm>
#include <cmath>

#include "arithmetic/math/sorted_rows.h"
#include "arithmetic/math/worked_type.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 8192;

int64_t RowsPerChunk(int64_t width) { return std::max<int64_t>(kElementsPerChunk / std::max<int64_t>(width, 1), 1); }

// The outputs; null of one that nobody reads.
template <typename T>
struct Chosen {
  T* values;
  int32_t* indices;
  int64_t k;

  Chosen From(int64_t row) const {
    return {values == nullptr ? nullptr : values + row * k, indices == nullptr ? nullptr : indices + row * k, k};
  }
};

template <typename T>
Status ChooseByRow(const KernelCall& call, const T* rows, int64_t count, int64_t width, const Chosen<T>& chosen) {
  LargestOfRow<T> largest(call, width, chosen.k);
  if (!largest.ok()) return OutOfScratch();
  for (int64_t i = 0; i < count; ++i) {
    const T* row = rows + i * width;
    const Chosen<T> to = chosen.From(i);
    const auto* found = largest.Find(row);
    for (int64_t j = 0; j < to.k; ++j) {
      const int32_t index = found[j].index();
      if (to.indices != nullptr) to.indices[j] = index;
      if (to.values != nullptr) to.values[j] = row[index];
    }
  }
  return Status();
}

// Rows whose values their keys do not tell are sorted with indices, and row by row if that leads nowhere.
template <typename T>
Status SortRows(const KernelCall& call, const T* rows, int64_t count, int64_t width, const Chosen<T>& chosen,
                bool has_places) {
  if (!SortedRows<T>::Takes(width, has_places)) return ChooseByRow<T>(call, rows, count, width, chosen);
  SortedRows<T> sorted(call, width, chosen.k, has_places);
  if (!sorted.ok()) return OutOfScratch();
  for (int64_t begin = 0; begin < count; begin += sorted.count()) {
    const int64_t some = std::min(sorted.count(), count - begin);
    const T* const from = rows + begin * width;
    const Chosen<T> to = chosen.From(begin);
    if (sorted.Sort(from, some, to.values, to.indices)) continue;
    STILLFLOW_RETURN_IF_ERROR(has_places ? ChooseByRow<T>(call, from, some, width, to)
                                         : SortRows<T>(call, from, some, width, to, true));
  }
  return Status();
}

template <typename T>
Status ChooseInRows(const KernelCall& call, const T* rows, int64_t count, int64_t width, const Chosen<T>& to) {
  const bool takes_all = to.k > 1 && LargestOfRow<T>::TakesAll(width, to.k);
  return takes_all ? SortRows<T>(call, rows, count, width, to, to.indices != nullptr)
                   : ChooseByRow<T>(call, rows, count, width, to);
}

bool WantsIndices(const KernelCall& call) { return call.out_count > 1 && IsWanted(call, 1); }

// ---- Elements that are converted first ----------------------------------------------------------------------

template <typename T>
void Negated(const void* from, int64_t count, void* to) {
  for (int64_t i = 0; i < count; ++i) {
    const T x = static_cast<const T*>(from)[i];
    if constexpr (kIsFloating<T>) {
      static_cast<T*>(to)[i] = -x;
    } else {
      static_cast<T*>(to)[i] = static_cast<T>(WordOf<T>{0} - static_cast<WordOf<T>>(x));
    }
  }
}

// The elements of `bytes` bytes that the indices of each row pick.
template <typename Word>
void PickFromRows(const void* rows, int64_t count, int64_t width, const int32_t* indices, int64_t k, void* to) {
  for (int64_t i = 0; i < count; ++i) {
    const Word* const row = static_cast<const Word*>(rows) + i * width;
    for (int64_t j = i * k; j < (i + 1) * k; ++j) static_cast<Word*>(to)[j] = row[indices[j]];
  }
}

// The inputs' rows of a type that is converted to a wider T: it is the indices that tell the values.
template <typename T>
Status ChooseInConverted(const KernelCall& call, Conversion convert, Range range, int64_t width, int64_t k) {
  const int64_t count = range.end - range.begin;
  const int64_t bytes = ElementBytes(call.in[0]->dtype);
  const char* const rows = Data<char>(*call.in[0]) + range.begin * width * bytes;
  const Scratch converted(call, count * width * static_cast<int64_t>(sizeof(T)));
  const Scratch found(call, count * k * static_cast<int64_t>(sizeof(int32_t)));
  if (!converted.ok() || !found.ok()) return OutOfScratch();
  convert(rows, count * width, converted.data<void>());
  int32_t* const indices =
      WantsIndices(call) ? MutableData<int32_t>(*call.out[1]) + range.begin * k : found.data<int32_t>();
  STILLFLOW_RETURN_IF_ERROR(ChooseInRows<T>(call, converted.data<T>(), count, width, {nullptr, indices, k}));
  if (!IsWanted(call, 0)) return Status();
  char* const values = MutableData<char>(*call.out[0]) + range.begin * k * bytes;
  bytes == 2 ? PickFromRows<uint16_t>(rows, count, width, indices, k, values)
             : PickFromRows<uint8_t>(rows, count, width, indices, k, values);
  return Status();
}

// Negated elements are chosen from, and what is chosen negated again.
template <typename T>
Status ChooseInNegated(const KernelCall& call, const T* rows, int64_t count, int64_t width, const Chosen<T>& to) {
  const Scratch negated(call, count * width * static_cast<int64_t>(sizeof(T)));
  if (!negated.ok()) return OutOfScratch();
  Negated<T>(rows, count * width, negated.data<void>());
  STILLFLOW_RETURN_IF_ERROR(ChooseInRows<T>(call, negated.data<T>(), count, width, to));
  if (to.values != nullptr) Negated<T>(to.values, count * to.k, to.values);
  return Status();
}

template <typename T>
Status Choose(const KernelCall& call, Conversion convert, bool is_negated, int64_t rows, int64_t width, int64_t k) {
  return ForEachChunk(call, rows, RowsPerChunk(width), [&](Range range) {
    if (convert != nullptr) return ChooseInConverted<T>(call, convert, range, width, k);
    const Chosen<T> all = {IsWanted(call, 0) ? MutableData<T>(*call.out[0]) : nullptr,
                           WantsIndices(call) ? MutableData<int32_t>(*call.out[1]) : nullptr, k};
    const T* const from = Data<T>(*call.in[0]) + range.begin * width;
    const int64_t count = range.end - range.begin;
    return is_negated ? ChooseInNegated<T>(call, from, count, width, all.From(range.begin))
                      : ChooseInRows<T>(call, from, count, width, all.From(range.begin));
  });
}

Status TopKOf(const KernelCall& call, int64_t k, bool is_negated) {
  const Tensor& input = *call.in[0];
  if (k < 0) return STILLFLOW_INVALID_ARGUMENT("Need k >= 0, got %lld", static_cast<long long>(k));
  if (input.rank < 1) {
    return STILLFLOW_INVALID_ARGUMENT("input must be >= 1-D, got shape %s", ShapeText(input).c_str());
  }
  const int64_t width = input.dims[input.rank - 1];
  if (width < k) {
    return STILLFLOW_INVALID_ARGUMENT("input must have at least k columns. Had %lld, needed %lld",
                                      static_cast<long long>(width), static_cast<long long>(k));
  }
  if (width > INT32_MAX) {
    return STILLFLOW_INVALID_ARGUMENT("input has %lld columns, more than an int32 can count",
                                      static_cast<long long>(width));
  }
  Shape shape(input);
  shape.dims[shape.rank - 1] = k;
  if (IsWanted(call, 0)) STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, shape));
  if (WantsIndices(call)) STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, DType::kInt32, shape));
  if (input.count == 0 || k == 0) return Status();
  const int64_t rows = input.count / width;
  const WorkedType worked = OrderedAs(input.dtype);
  const char* const kernel = is_negated ? "BottomK" : "TopK";
  const bool is_unsigned = input.dtype == DType::kUInt32 || input.dtype == DType::kUInt64;  // TensorFlow has none
  if (is_unsigned || (is_negated && worked.convert != nullptr)) return UnsupportedType(kernel, input.dtype);
  return ForWorkedType(kernel, input.dtype, worked, [&](auto tag) {
    return Choose<typename decltype(tag)::type>(call, worked.convert, is_negated, rows, width, k);
  });
}

Status TopK(const KernelCall& call) { return TopKOf(call, call.attrs[0].i, false); }

Status ScalarK(const Tensor& tensor, int64_t* k) {
  if (tensor.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("k must be scalar, got shape %s", ShapeText(tensor).c_str());
  }
  *k = IntAt(tensor, 0);
  return Status();
}

template <bool kIsNegated>
Status TopKV2(const KernelCall& call) {
  int64_t k = 0;
  STILLFLOW_RETURN_IF_ERROR(ScalarK(*call.in[1], &k));
  return TopKOf(call, k, kIsNegated);
}

bool IsAmongLargest(const float* row, int64_t classes, int64_t target, int64_t k) {
  if (target < 0 || target >= classes || !std::isfinite(row[target])) return false;
  int64_t larger = 0;
  bool are_finite = true;
  for (int64_t j = 0; j < classes; ++j) {
    larger += row[j] > row[target];
    are_finite &= std::fabs(row[j]) <= std::numeric_limits<float>::max();
  }
  return are_finite && larger < k;
}

Status InTopKOf(const KernelCall& call, int64_t k) {
  const Tensor& predictions = *call.in[0];
  const Tensor& targets = *call.in[1];
  if (predictions.rank != 2) return STILLFLOW_INVALID_ARGUMENT("predictions must be 2-dimensional");
  if (targets.rank != 1) return STILLFLOW_INVALID_ARGUMENT("targets must be 1-dimensional");
  if (predictions.dims[0] != targets.dims[0]) {
    return STILLFLOW_INVALID_ARGUMENT("First dimension of predictions %lld must match length of targets %lld",
                                      static_cast<long long>(predictions.dims[0]),
                                      static_cast<long long>(targets.dims[0]));
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kBool, Shape(targets)));
  const int64_t classes = predictions.dims[1];
  const float* from = Data<float>(predictions);
  bool* to = MutableData<bool>(*call.out[0]);
  return ForEachChunk(call, targets.count, RowsPerChunk(classes), [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      to[i] = IsAmongLargest(from + i * classes, classes, IntAt(targets, i), k);
    }
  });
}

Status InTopK(const KernelCall& call) { return InTopKOf(call, call.attrs[0].i); }

Status InTopKV2(const KernelCall& call) {
  int64_t k = 0;
  STILLFLOW_RETURN_IF_ERROR(ScalarK(*call.in[2], &k));
  return InTopKOf(call, k);
}

}  // namespace

STILLFLOW_KERNELS(nn, top_k){{"top_k", "input | k", TopK},
                             {"top_k_v2", "input, k", TopKV2<false>},
                             {"bottom_k", "input, k", TopKV2<true>},
                             {"in_top_k", "predictions, targets | k", InTopK},
                             {"in_top_k_v2", "predictions, targets, k", InTopKV2},
                             {}};

}  // namespace stillflow
