// set_operation, set_size: the elements along the last dimension, as sets; their result is a sparse tensor.
//
//   set_operation         in[0] a; in[1] b, arrays of one rank from 2 on that differ in their last size at most;
//                         attr the operation: "a-b", "b-a", "intersection" or "union", in any case
//                         out[0..3) indices, values and shape of the results, each in ascending order
//   set_operation_sparse  the same of in[0] a and in[1..4) the parts of a sparse b
//   set_operation_both    the same of in[0..3) and in[3..6), the parts of a and of b
//   set_size              in[0..3) the parts of a sparse tensor; out[0] int32, how many different elements each row
//   has
//
// Of sparse tensors the entries must be in row-major order, except for the second of two.
#include "kernel_api/sparse_tensor.h"

namespace stillflow {
namespace {

// ---- Elements -----------------------------------------------------------------------------------------------------

template <typename T>
inline bool IsLess(T a, T b) {
  if constexpr (std::is_same_v<T, StringCell*>) {
    const int64_t a_size = a == nullptr ? 0 : a->size;
    const int64_t b_size = b == nullptr ? 0 : b->size;
    const int64_t size = std::min(a_size, b_size);
    const int comparison = size == 0 ? 0 : std::memcmp(a->bytes, b->bytes, size);
    return comparison != 0 ? comparison < 0 : a_size < b_size;
  } else {
    return a < b;
  }
}

// Copies elements to `to`, in ascending order and each once, and returns where they end.
template <typename T>
T* CopyAsSet(const T* from, int64_t count, T* to) {
  T* const end = std::copy_n(from, count, to);
  std::sort(to, end, IsLess<T>);
  return std::unique(to, end, [](T a, T b) { return !IsLess(a, b) && !IsLess(b, a); });
}

template <typename Body>
Status ForSetType(const char* kernel, DType dtype, const Body& body) {
  if (dtype == DType::kString) return body(TypeTag<StringCell*>{});
  return ForType<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t>(kernel, dtype, body);
}

// ---- Rows of sets -------------------------------------------------------------------------------------------------

// The rows of an array, or those rows of a sparse tensor that have entries; each is a set. Walks through them.
struct Rows {
  Shape shape;           // of all dimensions
  const Tensor* values;  // the elements, row after row
  Entries entries;       // of a sparse tensor
  bool is_sparse;

  int64_t index[kMaxRank] = {};  // of the current row
  int64_t begin = 0;             // of its elements
  int64_t end = 0;
  bool is_done = false;

  int groups() const { return shape.rank - 1; }

  void Start() {
    if (is_sparse) {
      FindEnd();
    } else {
      end = shape.dims[groups()];
      for (int i = 0; i < groups(); ++i) is_done = is_done || shape.dims[i] == 0;
    }
  }

  void Next() {
    begin = end;
    if (is_sparse) return FindEnd();
    end += shape.dims[groups()];
    int axis = groups() - 1;
    while (axis >= 0 && ++index[axis] == shape.dims[axis]) index[axis--] = 0;
    is_done = axis < 0;
  }

 private:
  void FindEnd() {
    is_done = begin == entries.count;
    if (is_done) return;
    std::copy_n(entries[begin], groups(), index);
    while (end < entries.count && CompareRows(entries[end], index, groups()) == 0) ++end;
  }
};

Status CheckRows(const Shape& shape) {
  if (shape.rank >= 2) return Status();
  const ShapeText text(shape.rank, shape.dims);
  return STILLFLOW_INVALID_ARGUMENT("Shape %s has rank %d < 2", text.c_str(), shape.rank);
}

Status DenseRows(const Tensor& array, Rows* rows) {
  rows->shape = Shape(array);
  rows->values = &array;
  rows->is_sparse = false;
  return CheckRows(rows->shape);
}

Status SparseRows(const Tensor* const* parts, bool is_ordered, Rows* rows) {
  const Tensor& indices = *parts[0];
  STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(*parts[2], &rows->shape));
  if (rows->shape.rank < 2) return STILLFLOW_INVALID_ARGUMENT("Invalid rank %d.", rows->shape.rank);
  STILLFLOW_RETURN_IF_ERROR(CheckPartRanks(indices, *parts[1], *parts[2]));
  rows->values = parts[1];
  rows->entries = Entries(indices);
  rows->is_sparse = true;
  STILLFLOW_RETURN_IF_ERROR(CheckValueCount(rows->entries, *parts[1]));
  STILLFLOW_RETURN_IF_ERROR(CheckRank(rows->entries, *parts[2]));
  STILLFLOW_RETURN_IF_ERROR(CheckInside(rows->entries, rows->shape));
  return is_ordered ? CheckOrder(rows->entries) : Status();
}

Status CheckShapesMatch(const Rows& a, const Rows& b) {
  if (a.groups() == b.groups() && std::equal(a.shape.dims, a.shape.dims + a.groups(), b.shape.dims)) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Mismatched shapes %s vs %s", ShapeText(a.groups(), a.shape.dims).c_str(),
                                    ShapeText(b.groups(), b.shape.dims).c_str());
}

// ---- set_operation ------------------------------------------------------------------------------------------------

enum class SetOperation { kAMinusB, kBMinusA, kIntersection, kUnion };

Status ReadOperation(const Attr& attr, SetOperation* operation) {
  constexpr const char* kNames[] = {"a-b", "b-a", "intersection", "union"};
  const auto* text = static_cast<const char*>(attr.data);
  for (int i = 0; i < 4; ++i) {
    bool is_equal = attr.size == static_cast<int64_t>(std::strlen(kNames[i]));
    for (int64_t j = 0; is_equal && j < attr.size; ++j) {
      const char lower = text[j] >= 'A' && text[j] <= 'Z' ? static_cast<char>(text[j] + 'a' - 'A') : text[j];
      is_equal = lower == kNames[i][j];
    }
    if (!is_equal) continue;
    *operation = static_cast<SetOperation>(i);
    return Status();
  }
  return STILLFLOW_INVALID_ARGUMENT("Invalid set_operation %.*s.", static_cast<int>(attr.size), text);
}

template <typename T>
T* Combine(SetOperation operation, const T* a, const T* a_end, const T* b, const T* b_end, T* to) {
  switch (operation) {
    case SetOperation::kAMinusB:
      return std::set_difference(a, a_end, b, b_end, to, IsLess<T>);
    case SetOperation::kBMinusA:
      return std::set_difference(b, b_end, a, a_end, to, IsLess<T>);
    case SetOperation::kIntersection:
      return std::set_intersection(a, a_end, b, b_end, to, IsLess<T>);
    default:
      return std::set_union(a, a_end, b, b_end, to, IsLess<T>);
  }
}

template <typename T>
Status WriteResults(const KernelCall& call, const Rows& a, Rows b, DType dtype, SetOperation operation) {
  const int rank = a.shape.rank;
  const int64_t most = a.values->count + b.values->count;
  const Scratch sets(call, 2 * most * static_cast<int64_t>(sizeof(T)));
  const Scratch indices(call, most * rank * 8);
  if (!sets.ok() || !indices.ok()) return OutOfScratch();
  T* const results = sets.data<T>();
  T* result = results;
  auto* index = indices.data<int64_t>();
  Shape shape = a.shape;
  shape.dims[rank - 1] = 0;
  for (Rows rows = a; !rows.is_done || !b.is_done;) {
    const int comparison = rows.is_done ? 1 : b.is_done ? -1 : CompareRows(rows.index, b.index, rank - 1);
    T* const set = results + most;
    T* set_end = set;
    if (comparison <= 0) set_end = CopyAsSet(Data<T>(*rows.values) + rows.begin, rows.end - rows.begin, set);
    T* other_end = set_end;
    if (comparison >= 0) other_end = CopyAsSet(Data<T>(*b.values) + b.begin, b.end - b.begin, set_end);
    T* const end = Combine<T>(operation, set, set_end, set_end, other_end, result);
    for (int64_t i = 0; i < end - result; ++i) {
      index = std::copy_n(comparison <= 0 ? rows.index : b.index, rank - 1, index);
      *index++ = i;
    }
    shape.dims[rank - 1] = std::max<int64_t>(shape.dims[rank - 1], end - result);
    result = end;
    if (comparison <= 0) rows.Next();
    if (comparison >= 0) b.Next();
  }
  const int64_t count = result - results;
  STILLFLOW_RETURN_IF_ERROR(AllocateMatrix(call, 0, DType::kInt64, count, rank));
  std::copy_n(indices.data<int64_t>(), count * rank, MutableData<int64_t>(*call.out[0]));
  STILLFLOW_RETURN_IF_ERROR(AllocateVector(call, 1, dtype, count));
  std::copy_n(results, count, MutableData<T>(*call.out[1]));
  RetainStrings(*call.out[1]);
  return WriteShape(call, 2, shape);
}

Status Operate(const KernelCall& call, Rows* a, Rows* b) {
  STILLFLOW_RETURN_IF_ERROR(CheckShapesMatch(*a, *b));
  SetOperation operation{};
  STILLFLOW_RETURN_IF_ERROR(ReadOperation(call.attrs[0], &operation));
  const DType dtype = a->values->dtype;
  if (b->values->dtype != dtype) return UnsupportedType("SetOperation", b->values->dtype);
  a->Start();
  b->Start();
  return ForSetType("SetOperation", dtype, [&](auto tag) {
    return WriteResults<typename decltype(tag)::type>(call, *a, *b, dtype, operation);
  });
}

Status DenseToDense(const KernelCall& call) {
  Rows a;
  Rows b;
  STILLFLOW_RETURN_IF_ERROR(DenseRows(*call.in[0], &a));
  STILLFLOW_RETURN_IF_ERROR(DenseRows(*call.in[1], &b));
  return Operate(call, &a, &b);
}

Status DenseToSparse(const KernelCall& call) {
  Rows a;
  Rows b;
  STILLFLOW_RETURN_IF_ERROR(SparseRows(call.in + 1, true, &b));
  STILLFLOW_RETURN_IF_ERROR(DenseRows(*call.in[0], &a));
  return Operate(call, &a, &b);
}

Status SparseToSparse(const KernelCall& call) {
  Rows a;
  Rows b;
  STILLFLOW_RETURN_IF_ERROR(SparseRows(call.in, true, &a));
  STILLFLOW_RETURN_IF_ERROR(SparseRows(call.in + 3, false, &b));
  return Operate(call, &a, &b);
}

// ---- set_size -----------------------------------------------------------------------------------------------------

template <typename T>
Status CountRows(const KernelCall& call, Rows rows) {
  const Scratch set(call, rows.entries.count * static_cast<int64_t>(sizeof(T)));
  if (!set.ok()) return OutOfScratch();
  auto* const sizes = MutableData<int32_t>(*call.out[0]);
  for (rows.Start(); !rows.is_done; rows.Next()) {
    int64_t position = 0;
    for (int axis = 0; axis < rows.groups(); ++axis) position = position * rows.shape.dims[axis] + rows.index[axis];
    T* const end = CopyAsSet(Data<T>(*rows.values) + rows.begin, rows.end - rows.begin, set.data<T>());
    sizes[position] = static_cast<int32_t>(end - set.data<T>());
  }
  return Status();
}

Status SetSize(const KernelCall& call) {
  Rows rows;
  STILLFLOW_RETURN_IF_ERROR(SparseRows(call.in, true, &rows));
  Shape shape = rows.shape;
  --shape.rank;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt32, shape));
  std::fill_n(MutableData<int32_t>(*call.out[0]), call.out[0]->count, 0);
  return ForSetType("SetSize", rows.values->dtype,
                    [&](auto tag) { return CountRows<typename decltype(tag)::type>(call, rows); });
}

}  // namespace

STILLFLOW_KERNELS(sparse, sets){
    {"set_operation", "a, b | operation", DenseToDense},
    {"set_operation_sparse", "a, b_indices, b_values, b_shape | operation", DenseToSparse},
    {"set_operation_both", "a_indices, a_values, a_shape, b_indices, b_values, b_shape | operation", SparseToSparse},
    {"set_size", "indices, values, shape", SetSize},
    {}};

}  // namespace stillflow
