// unsorted_segment, segment: rows reduced to one for each segment.
//
//   unsorted_segment  in[0] data; in[1] segment ids, int32 | int64, with which the shape of data begins; negative
//                     ones are left out; in[2] the number of segments, a scalar
//   segment           in[0] data; in[1] segment ids, a vector that does not decrease, one for each row
//   attr              operation
//   out[0]            a row for each segment. One without rows is what the operation begins with; in `segment`,
//                     0, or 1 for products
//
// Rows are added up in order. Bad ids are reported before anything is written.
#include <algorithm>
#include <limits>

#include "arithmetic/math/complex.h"
#include "arithmetic/math/scalar.h"
#include "kernels/math/segment_ids.h"
#include "memory/indices.h"
#include "memory/row_update.h"
#include "memory/strided_copy.h"

namespace stillflow {
namespace {

enum Operation { kSum, kMean, kProduct, kMinimum, kMaximum };
#define OPERATIONS "sum mean prod min max"

template <typename T>
T NumberOf(double value) {
  if constexpr (kIsFloating<T>) {
    return Narrow<T>(static_cast<Wide<T>>(value));
  } else if constexpr (kIsComplex<T>) {
    return {static_cast<typename T::Part>(value), 0};
  } else {
    return static_cast<T>(value);
  }
}

// The largest or smallest value of a type, from which a minimum or maximum begins.
template <typename T>
T Extreme(bool is_largest) {
  if constexpr (std::is_same_v<T, Half>) {
    return Half{static_cast<uint16_t>(is_largest ? 0x7BFF : 0xFBFF)};
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return BFloat16{static_cast<uint16_t>(is_largest ? 0x7F7F : 0xFF7F)};
  } else if constexpr (kIsComplex<T>) {
    return {};  // there is none: see Reduce
  } else {
    return is_largest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
  }
}

template <typename T>
T Beginning(Operation operation) {
  switch (operation) {
    case kProduct:
      return NumberOf<T>(1);
    case kMinimum:
      return Extreme<T>(true);
    case kMaximum:
      return Extreme<T>(false);
    default:
      return NumberOf<T>(0);
  }
}

Status Reduce(const KernelCall& call, const char* kernel, const RowUpdates& work, Operation operation) {
  const auto changes = [&](RowOperation change) { return UpdateRows(call, kernel, change, call.in[0]->dtype, work); };
  switch (operation) {
    case kProduct:
      return changes(RowOperation::kMultiply);
    case kMinimum:
      return changes(RowOperation::kMinimum);
    case kMaximum:
      return changes(RowOperation::kMaximum);
    default:
      return changes(RowOperation::kAdd);
  }
}

Status AllocateSegments(const KernelCall& call, int64_t segments) {
  const Tensor& data = *call.in[0];
  Shape shape;
  shape.Add(segments);
  for (int i = call.in[1]->rank; i < data.rank; ++i) {
    if (shape.rank == kMaxRank) return STILLFLOW_INVALID_ARGUMENT("too many dimensions: must be <= %d", kMaxRank);
    shape.Add(data.dims[i]);
  }
  return AllocateOutput(call, 0, data.dtype, shape);
}

RowUpdates WorkOf(const KernelCall& call, const int64_t* rows) {
  const Tensor& data = *call.in[0];
  const int64_t width = Shape(data).Count(call.in[1]->rank, data.rank);
  return {call.out[0]->data, rows, call.in[1]->count, width, data.data, width};
}

template <typename Body>
Status ForNumber(const char* kernel, DType dtype, const Body& body) {
  return ForType<float, double, int64_t, int32_t, int16_t, int8_t, uint64_t, uint32_t, uint16_t, uint8_t, Half,
                 BFloat16, Complex64, Complex128>(kernel, dtype, body);
}

// ---- unsorted_segment ---------------------------------------------------------------------------------------------

template <typename Index>
Status ReadUnsorted(const Tensor& ids, int64_t segments, int64_t* rows) {
  if (CopyIndices<int64_t>(Data<Index>(ids), ids.count, rows) < segments) return Status();
  for (int64_t i = 0; i < ids.count; ++i) {
    if (rows[i] >= segments) {
      return STILLFLOW_INVALID_ARGUMENT("segment_ids%s = %lld is out of range [0, %lld)", PlaceText(ids, i).c_str(),
                                        static_cast<long long>(rows[i]), static_cast<long long>(segments));
    }
  }
  return Status();
}

Status UnsortedSegment(const KernelCall& call) {
  const Tensor& data = *call.in[0];
  const Tensor& ids = *call.in[1];
  if (call.in[2]->rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("num_segments should be a scalar, not shape %s",
                                      ShapeText(*call.in[2]).c_str());
  }
  if (data.rank < ids.rank || std::memcmp(data.dims, ids.dims, sizeof(int64_t) * ids.rank) != 0) {
    return STILLFLOW_INVALID_ARGUMENT("data.shape = %s does not start with segment_ids.shape = %s",
                                      ShapeText(data).c_str(), ShapeText(ids).c_str());
  }
  const int64_t segments = IntAt(*call.in[2], 0);
  if (segments < 0) {
    return STILLFLOW_INVALID_ARGUMENT("Input num_segments == %lld must not be negative.",
                                      static_cast<long long>(segments));
  }
  const Scratch rows(call, ids.count * 8);
  if (!rows.ok()) return OutOfScratch();
  STILLFLOW_RETURN_IF_ERROR(ids.dtype == DType::kInt64 ? ReadUnsorted<int64_t>(ids, segments, rows.data<int64_t>())
                                                       : ReadUnsorted<int32_t>(ids, segments, rows.data<int64_t>()));
  STILLFLOW_RETURN_IF_ERROR(AllocateSegments(call, segments));
  const auto operation = static_cast<Operation>(call.attrs[0].i);
  STILLFLOW_RETURN_IF_ERROR(ForNumber("UnsortedSegment", data.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::fill_n(MutableData<T>(*call.out[0]), call.out[0]->count, Beginning<T>(operation));
    return Status();
  }));
  return Reduce(call, "UnsortedSegment", WorkOf(call, rows.data<int64_t>()), operation);
}

// ---- segment ------------------------------------------------------------------------------------------------------

// Reads ids that do not decrease, and how many rows each segment has.
Status ReadSorted(const Tensor& ids, int64_t* rows, int64_t* segments) {
  STILLFLOW_RETURN_IF_ERROR(SegmentsNeeded(ids, segments));
  STILLFLOW_RETURN_IF_ERROR(CheckSegmentIds(ids, *segments));
  for (int64_t i = 0; i < ids.count; ++i) rows[i] = IntAt(ids, i);
  return Status();
}

// Gives segments that have rows the value that the operation begins with, and the others 0 or 1.
template <typename T>
void Begin(const RowUpdates& work, int64_t count, Operation operation) {
  T* const table = static_cast<T*>(work.table);
  std::fill_n(table, count, NumberOf<T>(operation == kProduct ? 1 : 0));
  if (operation != kMinimum && operation != kMaximum) return;
  for (int64_t i = 0; i < work.count; ++i) {
    if (i > 0 && work.rows[i] == work.rows[i - 1]) continue;
    std::fill_n(table + work.rows[i] * work.width, work.width, Beginning<T>(operation));
  }
}

template <typename T>
void DivideByCounts(const RowUpdates& work) {
  for (int64_t begin = 0; begin < work.count;) {
    int64_t end = begin + 1;
    while (end < work.count && work.rows[end] == work.rows[begin]) ++end;
    T* const row = static_cast<T*>(work.table) + work.rows[begin] * work.width;
    for (int64_t i = 0; i < work.width; ++i) {
      if constexpr (kIsComplex<T>) {
        row[i] = {row[i].re / static_cast<typename T::Part>(end - begin),
                  row[i].im / static_cast<typename T::Part>(end - begin)};
      } else if constexpr (kIsFloating<T>) {
        row[i] = Narrow<T>(Widen(row[i]) / static_cast<Wide<T>>(end - begin));
      } else if constexpr (std::is_signed_v<T>) {
        row[i] = static_cast<T>(row[i] / (end - begin));
      } else {
        row[i] = static_cast<T>(row[i] / static_cast<uint64_t>(end - begin));
      }
    }
    begin = end;
  }
}

Status Segment(const KernelCall& call) {
  const Tensor& data = *call.in[0];
  const Tensor& ids = *call.in[1];
  if (ids.rank != 1) return STILLFLOW_INVALID_ARGUMENT("segment_ids should be a vector.");
  if (data.rank < 1 || data.dims[0] != ids.count) {
    return STILLFLOW_INVALID_ARGUMENT("segment_ids should be the same size as dimension 0 of input.");
  }
  const Scratch rows(call, ids.count * 8);
  if (!rows.ok()) return OutOfScratch();
  int64_t segments = 0;
  STILLFLOW_RETURN_IF_ERROR(ReadSorted(ids, rows.data<int64_t>(), &segments));
  STILLFLOW_RETURN_IF_ERROR(AllocateSegments(call, segments));
  const auto operation = static_cast<Operation>(call.attrs[0].i);
  const RowUpdates work = WorkOf(call, rows.data<int64_t>());
  STILLFLOW_RETURN_IF_ERROR(ForNumber("Segment", data.dtype, [&](auto tag) {
    Begin<typename decltype(tag)::type>(work, call.out[0]->count, operation);
    return Status();
  }));
  STILLFLOW_RETURN_IF_ERROR(Reduce(call, "Segment", work, operation));
  if (operation != kMean) return Status();
  return ForNumber("Segment", data.dtype, [&](auto tag) {
    DivideByCounts<typename decltype(tag)::type>(work);
    return Status();
  });
}

}  // namespace

STILLFLOW_KERNELS(math, segment){
    {"unsorted_segment", "data, segment_ids, num_segments | operation: " OPERATIONS, UnsortedSegment},
    {"segment", "data, segment_ids | operation: " OPERATIONS, Segment},
    {}};

}  // namespace stillflow
