// lower_bound, upper_bound, bincount, histogram_fixed_width, unravel_index: places of values and how many there are.
//
//   lower_bound, upper_bound  in[0] matrix of sorted rows; in[1] matrix of values; attr index type
//                             out[0] where each value may be put into its row, before or after equal ones
//   bincount                  in[0] int32 array; in[1] size, an int32 scalar; in[2] weights of in[0]'s shape, or none
//                             out[0] for each number below size how often it occurs, or the sum of its weights
//   histogram_fixed_width     in[0] values; in[1] range, two values; in[2] nbins, an int32 scalar; attr count type
//                             out[0] how many values lie in each of nbins equal parts of the range; those outside
//                             count in the first and the last
//   unravel_index             in[0] indices, a scalar or vector; in[1] dims; out[0] a row for each dimension
#include <algorithm>

#include "arithmetic/math/scalar.h"
#include "arithmetic/math/worked_type.h"
#include "memory/indices.h"

namespace stillflow {
namespace {

// ---- Bounds -------------------------------------------------------------------------------------------------------

template <typename T, bool kUpper>
int64_t Bound(const T* row, int64_t size, T value) {
  int64_t begin = 0;
  while (size > 0) {
    const int64_t half = size / 2;
    const T element = row[begin + half];
    const bool is_before = kUpper ? !(value < element) : element < value;
    if (is_before) {
      begin += half + 1;
      size -= half + 1;
    } else {
      size = half;
    }
  }
  return begin;
}

// A tensor's elements in a type that has an order: its own, or converted ones.
template <typename T>
const T* Ordered(const Tensor& tensor, const WorkedType& worked, const Scratch& converted) {
  if (worked.convert == nullptr) return Data<T>(tensor);
  worked.convert(tensor.data, tensor.count, converted.data<T>());
  return converted.data<T>();
}

template <typename T, bool kUpper>
Status FindBounds(const KernelCall& call, const WorkedType& worked) {
  constexpr int64_t kValuesPerChunk = 512;
  const bool converts = worked.convert != nullptr;
  const Scratch rows_scratch(call, converts ? call.in[0]->count * static_cast<int64_t>(sizeof(T)) : 0);
  const Scratch values_scratch(call, converts ? call.in[1]->count * static_cast<int64_t>(sizeof(T)) : 0);
  if (!rows_scratch.ok() || !values_scratch.ok()) return OutOfScratch();
  const T* const rows = Ordered<T>(*call.in[0], worked, rows_scratch);
  const T* const all = Ordered<T>(*call.in[1], worked, values_scratch);
  const int64_t size = call.in[0]->dims[1];
  const int64_t values = call.in[1]->dims[1];
  Tensor& output = *call.out[0];
  return ForEachChunk(call, call.in[1]->count, kValuesPerChunk, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const int64_t bound = Bound<T, kUpper>(rows + i / values * size, size, all[i]);
      if (output.dtype == DType::kInt64) {
        MutableData<int64_t>(output)[i] = bound;
      } else {
        MutableData<int32_t>(output)[i] = static_cast<int32_t>(bound);
      }
    }
  });
}

template <bool kUpper>
Status FindBound(const KernelCall& call) {
  const Tensor& sorted = *call.in[0];
  const Tensor& values = *call.in[1];
  if (sorted.rank != 2) return STILLFLOW_INVALID_ARGUMENT("sorted input argument must be a matrix");
  if (values.rank != 2) return STILLFLOW_INVALID_ARGUMENT("values argument must be a matrix");
  if (sorted.dims[0] != values.dims[0]) {
    return STILLFLOW_INVALID_ARGUMENT("Leading dim_size of both tensors must match.");
  }
  const auto type = static_cast<DType>(call.attrs[0].i);
  if (type == DType::kInt32 && sorted.dims[1] >= INT32_MAX) {
    return STILLFLOW_INVALID_ARGUMENT("values tensor size must less than INT_MAX");
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, type, Shape(values)));
  const char* const kernel = kUpper ? "UpperBound" : "LowerBound";
  const bool is_counted = sorted.dtype == DType::kUInt32 || sorted.dtype == DType::kUInt64;
  if (is_counted) return UnsupportedType(kernel, sorted.dtype);  // as in TensorFlow
  const WorkedType worked = OrderedAs(sorted.dtype);
  return ForWorkedType(kernel, sorted.dtype, worked,
                       [&](auto tag) { return FindBounds<typename decltype(tag)::type, kUpper>(call, worked); });
}

// ---- Counts -------------------------------------------------------------------------------------------------------

// Adds to bins[number] for each number; those of no bin are left out. Returns whether all are at least 0. T is
// unsigned.
template <typename T>
bool CountNumbers(const int32_t* numbers, int64_t count, T* bins, int64_t bin_count) {
  constexpr int64_t kMostTwice = 1024;
  // Of few bins there are two sets: what is added to a bin waits for what was last added to it.
  T others[kMostTwice];
  const bool has_others = bin_count <= kMostTwice;
  if (has_others) std::fill_n(others, bin_count, T{0});
  const auto size = static_cast<uint32_t>(bin_count);
  int32_t all = 0;
  const auto add = [&](int32_t number, T* to) {
    all |= number;
    if (static_cast<uint32_t>(number) < size) ++to[number];
  };
  int64_t i = 0;
  for (; has_others && i + 2 <= count; i += 2) {
    add(numbers[i], bins);
    add(numbers[i + 1], others);
  }
  for (; i < count; ++i) add(numbers[i], bins);
  for (int64_t k = 0; has_others && k < bin_count; ++k) bins[k] += others[k];
  return all >= 0;
}

template <typename T>
bool AddWeights(const int32_t* numbers, const T* weights, int64_t count, T* bins, int64_t bin_count) {
  int32_t all = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int32_t number = numbers[i];
    all |= number;
    if (static_cast<uint32_t>(number) >= static_cast<uint32_t>(bin_count)) continue;
    const T weight = weights == nullptr ? T{1} : weights[i];
    if constexpr (std::is_integral_v<T>) {
      bins[number] = static_cast<T>(static_cast<uint64_t>(bins[number]) + static_cast<uint64_t>(weight));
    } else {
      bins[number] += weight;
    }
  }
  return all >= 0;
}

template <typename T>
Status CountInto(const KernelCall& call) {
  const Tensor& weights = *call.in[2];
  const int32_t* const numbers = Data<int32_t>(*call.in[0]);
  const int64_t count = call.in[0]->count;
  T* const bins = MutableData<T>(*call.out[0]);
  const int64_t bin_count = call.out[0]->count;
  std::fill_n(bins, bin_count, T{0});
  bool are_valid = false;
  if constexpr (std::is_integral_v<T>) {
    if (weights.count == 0) {
      are_valid = CountNumbers(numbers, count, reinterpret_cast<std::make_unsigned_t<T>*>(bins), bin_count);
    } else {
      are_valid = AddWeights(numbers, Data<T>(weights), count, bins, bin_count);
    }
  } else {  // in order also where they are 1: from some number on that changes nothing
    are_valid = AddWeights(numbers, weights.count > 0 ? Data<T>(weights) : nullptr, count, bins, bin_count);
  }
  return are_valid ? Status() : STILLFLOW_INVALID_ARGUMENT("Input arr must be non-negative!");
}

Status Bincount(const KernelCall& call) {
  const Tensor& numbers = *call.in[0];
  const Tensor& size = *call.in[1];
  const Tensor& weights = *call.in[2];
  if (size.count != 1) return STILLFLOW_INVALID_ARGUMENT("Shape must be rank 0 but is rank %d", size.rank);
  const int32_t bins = *Data<int32_t>(size);
  if (bins < 0) return STILLFLOW_INVALID_ARGUMENT("size (%d) must be non-negative", bins);
  if (weights.count > 0 && weights.count != numbers.count) {
    return STILLFLOW_INVALID_ARGUMENT("weights and arr must have the same number of elements, got %lld and %lld",
                                      static_cast<long long>(weights.count), static_cast<long long>(numbers.count));
  }
  Shape shape;
  shape.Add(bins);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, weights.dtype, shape));
  return ForType<float, double, int64_t, int32_t>(
      "Bincount", weights.dtype, [&](auto tag) { return CountInto<typename decltype(tag)::type>(call); });
}

template <typename T, typename Count>
Status CountInRange(const KernelCall& call) {
  const Tensor& values = *call.in[0];
  const T low = Data<T>(*call.in[1])[0];
  const T high = Data<T>(*call.in[1])[1];
  if (!(low < high)) {
    return STILLFLOW_INVALID_ARGUMENT(
        "value_range should satisfy value_range[0] < value_range[1], but got '[%g, %g]'", static_cast<double>(low),
        static_cast<double>(high));
  }
  Tensor& bins = *call.out[0];
  Count* const counts = MutableData<Count>(bins);
  std::fill_n(counts, bins.count, Count{0});
  const double step = (static_cast<double>(high) - static_cast<double>(low)) / static_cast<double>(bins.count);
  const auto last = static_cast<double>(bins.count - 1);
  for (int64_t i = 0; i < values.count; ++i) {
    const T value = std::max(low, Data<T>(values)[i]);  // low for NaN
    const double bin = (static_cast<double>(value) - static_cast<double>(low)) / step;
    ++counts[static_cast<int64_t>(bin < last ? bin : last)];
  }
  return Status();
}

Status HistogramFixedWidth(const KernelCall& call) {
  if (call.in[1]->rank != 1 || call.in[1]->count != 2) {
    return STILLFLOW_INVALID_ARGUMENT("value_range should be a vector of 2 elements, not shape %s",
                                      ShapeText(*call.in[1]).c_str());
  }
  if (call.in[2]->rank != 0) return STILLFLOW_INVALID_ARGUMENT("nbins should be a scalar");
  const int32_t bins = *Data<int32_t>(*call.in[2]);
  if (bins <= 0) return STILLFLOW_INVALID_ARGUMENT("nbins should be a positive number, but got '%d'", bins);
  const auto type = static_cast<DType>(call.attrs[0].i);
  Shape shape;
  shape.Add(bins);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, type, shape));
  return ForType<float, double, int64_t, int32_t>("HistogramFixedWidth", call.in[0]->dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return type == DType::kInt64 ? CountInRange<T, int64_t>(call) : CountInRange<T, int32_t>(call);
  });
}

// ---- unravel_index ------------------------------------------------------------------------------------------------

template <typename Index>
Status Unravel(const KernelCall& call) {
  const Tensor& indices = *call.in[0];
  const Tensor& dims = *call.in[1];
  int64_t total = 1;
  for (int64_t k = 0; k < dims.count; ++k) {
    const int64_t size = Data<Index>(dims)[k];
    if (size <= 0) return STILLFLOW_INVALID_ARGUMENT("Input dims cannot contain a dim of zero");
    if (__builtin_mul_overflow(total, size, &total)) return STILLFLOW_INVALID_ARGUMENT("dims are too large");
  }
  Index* const output = MutableData<Index>(*call.out[0]);
  for (int64_t i = 0; i < indices.count; ++i) {
    int64_t index = Data<Index>(indices)[i];
    if (index < 0 || index >= total) return STILLFLOW_INVALID_ARGUMENT("index is out of bound as with dims");
    for (int64_t k = dims.count - 1; k >= 0; --k) {
      output[k * indices.count + i] = static_cast<Index>(index % Data<Index>(dims)[k]);
      index /= Data<Index>(dims)[k];
    }
  }
  return Status();
}

Status UnravelIndex(const KernelCall& call) {
  const Tensor& indices = *call.in[0];
  const Tensor& dims = *call.in[1];
  if (indices.rank > 1) {
    return STILLFLOW_INVALID_ARGUMENT("The indices can only be scalar or vector, got \"%s\"",
                                      ShapeText(indices).c_str());
  }
  if (dims.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("The indices can only be 1-D, got \"%s\"", ShapeText(dims).c_str());
  }
  Shape shape;
  shape.Add(dims.count);
  if (indices.rank == 1) shape.Add(indices.count);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, indices.dtype, shape));
  return indices.dtype == DType::kInt64 ? Unravel<int64_t>(call) : Unravel<int32_t>(call);
}

}  // namespace

STILLFLOW_KERNELS(array, search){{"lower_bound", "sorted_inputs, values | out_type", FindBound<false>},
                                 {"upper_bound", "sorted_inputs, values | out_type", FindBound<true>},
                                 {"bincount", "arr, size, weights", Bincount},
                                 {"histogram_fixed_width", "values, value_range, nbins | dtype", HistogramFixedWidth},
                                 {"unravel_index", "indices, dims", UnravelIndex},
                                 {}};

}  // namespace stillflow
