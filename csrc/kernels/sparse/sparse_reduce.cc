// sparse_reduce: sums or maxima of a sparse tensor's entries over some axes.
//
//   in[0]   indices int64[n, rank], in[1] values [n], in[2] shape int64[rank]
//   in[3]   int32: the axes to reduce, a scalar or a vector
//   attrs   keep_dims; maximum: the largest entry rather than the sum; is_sparse
//   out[0]  the result with 0 where there is no entry; if is_sparse, out[0..3) are its indices, values and shape
//
// A result adds up its entries in row-major order.
#include "arithmetic/math/element.h"
#include "kernel_api/sparse_tensor.h"

namespace stillflow {
namespace {

Status CheckInputs(const KernelCall& call) {
  if (call.in[0]->rank != 2) {
    return STILLFLOW_INVALID_ARGUMENT("indices must be a matrix, but got: %s", ShapeText(*call.in[0]).c_str());
  }
  if (call.in[1]->rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("vals must be a vec, but got: %s", ShapeText(*call.in[1]).c_str());
  }
  if (call.in[2]->rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Expected input_shape to be a vector; got shape: %s",
                                      ShapeText(*call.in[2]).c_str());
  }
  if (call.in[3]->rank > 1) {
    return STILLFLOW_INVALID_ARGUMENT("Expected reduction_axes to be a scalar or a vector; got shape: %s",
                                      ShapeText(*call.in[3]).c_str());
  }
  const Entries entries(*call.in[0]);
  STILLFLOW_RETURN_IF_ERROR(CheckValueCount(entries, *call.in[1]));
  return CheckRank(entries, *call.in[2]);
}

// What is reduced: which axes stay, and the shape of the result.
struct Reduction {
  Shape shape;
  bool is_reduced[kMaxRank] = {};
  Shape result;

  Status Read(const KernelCall& call) {
    STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(*call.in[2], &shape));
    for (int64_t i = 0; i < call.in[3]->count; ++i) {
      const int64_t axis = IntAt(*call.in[3], i);
      if (axis < -shape.rank || axis >= shape.rank) {
        return STILLFLOW_INVALID_ARGUMENT("Invalid reduction dimension %lld, for input with %d dimensions.",
                                          static_cast<long long>(axis), shape.rank);
      }
      is_reduced[axis < 0 ? axis + shape.rank : axis] = true;
    }
    const bool keeps_dims = call.attrs[0].i != 0;
    for (int axis = 0; axis < shape.rank; ++axis) {
      if (!is_reduced[axis]) result.Add(shape.dims[axis]);
      if (is_reduced[axis] && keeps_dims) result.Add(1);
    }
    return Status();
  }
  // Writes where the entry goes to: an index of the result.
  void Place(const int64_t* row, int64_t* to) const {
    int at = 0;
    for (int axis = 0; axis < shape.rank; ++axis) {
      if (!is_reduced[axis]) to[at++] = row[axis];
      if (is_reduced[axis] && result.rank == shape.rank) to[at++] = 0;
    }
  }
};

// The entries' places in the result, and the order in which they come there.
struct Groups {
  Entries places;
  const int64_t* order;
  bool StartsAt(int64_t i) const {
    return i == 0 || CompareRows(places[order[i - 1]], places[order[i]], places.rank) != 0;
  }
};

// Calls take(index of the group, place, value) for each group of entries that have one place.
template <typename T, typename Take>
void ReduceGroups(const Groups& groups, const T* values, bool is_maximum, const Take& take) {
  using A = ElementArithmetic<T>;
  int64_t group = 0;
  for (int64_t i = 0; i < groups.places.count;) {
    const int64_t* place = groups.places[groups.order[i]];
    auto total = A::Load(values[groups.order[i]]);
    for (++i; i < groups.places.count && !groups.StartsAt(i); ++i) {
      const auto value = A::Load(values[groups.order[i]]);
      if constexpr (kIsComplex<T>) {
        total = A::Add(total, value);
      } else {
        total = is_maximum ? std::max(total, value) : A::Add(total, value);
      }
    }
    take(group++, place, A::Store(total));
  }
}

template <typename T>
Status WriteDense(const KernelCall& call, const Reduction& reduction, const Groups& groups) {
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, call.in[1]->dtype, reduction.result));
  auto* to = MutableData<T>(*call.out[0]);
  std::fill_n(to, call.out[0]->count, T{});
  ReduceGroups(groups, Data<T>(*call.in[1]), call.attrs[1].i != 0, [&](int64_t, const int64_t* place, T value) {
    int64_t position = 0;
    for (int axis = 0; axis < reduction.result.rank; ++axis) {
      position = position * reduction.result.dims[axis] + place[axis];
    }
    to[position] = value;
  });
  return Status();
}

template <typename T>
Status WriteSparse(const KernelCall& call, const Reduction& reduction, const Groups& groups) {
  int64_t count = 0;
  for (int64_t i = 0; i < groups.places.count; ++i) count += groups.StartsAt(i) ? 1 : 0;
  const int rank = reduction.result.rank;
  STILLFLOW_RETURN_IF_ERROR(AllocateMatrix(call, 0, DType::kInt64, count, rank));
  STILLFLOW_RETURN_IF_ERROR(AllocateVector(call, 1, call.in[1]->dtype, count));
  ReduceGroups(groups, Data<T>(*call.in[1]), call.attrs[1].i != 0, [&](int64_t group, const int64_t* place, T value) {
    std::copy_n(place, rank, MutableData<int64_t>(*call.out[0]) + group * rank);
    MutableData<T>(*call.out[1])[group] = value;
  });
  return WriteShape(call, 2, reduction.result);
}

Status SparseReduce(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckInputs(call));
  Reduction reduction;
  STILLFLOW_RETURN_IF_ERROR(reduction.Read(call));
  const Entries entries(*call.in[0]);
  const Scratch rows(call, entries.count * (entries.rank + reduction.result.rank) * 8);
  const Scratch orders(call, 2 * entries.count * 8);
  if (!rows.ok() || !orders.ok()) return OutOfScratch();
  // The indices are copied before they are checked: nobody changes the copy.
  Entries copy = entries;
  copy.indices =
      std::copy_n(entries.indices, entries.count * entries.rank, rows.data<int64_t>()) - entries.count * entries.rank;
  STILLFLOW_RETURN_IF_ERROR(CheckInside(copy, reduction.shape));
  OrderRows(copy, orders.data<int64_t>());
  Entries places = entries;
  places.rank = reduction.result.rank;
  auto* to = rows.data<int64_t>() + entries.count * entries.rank;
  places.indices = to;
  for (int64_t i = 0; i < entries.count; ++i) reduction.Place(copy[i], to + i * places.rank);
  // Entries of one place keep the row-major order that they have by now.
  auto* order = orders.data<int64_t>() + entries.count;
  std::copy_n(orders.data<int64_t>(), entries.count, order);
  auto* rank_of = orders.data<int64_t>();
  for (int64_t i = 0; i < entries.count; ++i) rank_of[order[i]] = i;
  const auto is_before = [&](int64_t a, int64_t b) {
    const int comparison = CompareRows(places[a], places[b], places.rank);
    return comparison != 0 ? comparison < 0 : rank_of[a] < rank_of[b];
  };
  if (!std::is_sorted(order, order + entries.count, is_before)) std::sort(order, order + entries.count, is_before);
  const Groups groups{places, order};
  const bool is_maximum = call.attrs[1].i != 0;
  if (is_maximum && IsComplex(call.in[1]->dtype)) return UnsupportedType("SparseReduceMax", call.in[1]->dtype);
  return ForType<float, double, int64_t, int32_t, int16_t, int8_t, uint16_t, uint8_t, Half, BFloat16, Complex64,
                 Complex128>("SparseReduce", call.in[1]->dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return call.attrs[2].i != 0 ? WriteSparse<T>(call, reduction, groups) : WriteDense<T>(call, reduction, groups);
  });
}

}  // namespace

STILLFLOW_KERNELS(sparse, sparse_reduce){
    {"sparse_reduce",
     "input_indices, input_values, input_shape, reduction_axes | keep_dims, operation: sum max, is_sparse",
     SparseReduce},
    {}};

}  // namespace stillflow
