// einsum: sums of products over the indices that an equation names.
//
//   in[0], in[1]  x and, perhaps, y: float | double | complex64 | complex128, of any shapes that the equation fits
//   out[0]        what the equation says
//   attrs         the equation: "ab,bc->ac"; one "..." in a term stands for dimensions that broadcast
//
// An index of one operand that the output lacks is summed over first; of two operands, products over those that both
// have and the output lacks are then matrix products, one for each index that all have (batch_matmul). An index twice
// in an operand takes the diagonal, twice in the output puts zeros beside it. Sums are in ascending order: those of
// one operand of floats in double precision, those of products as gemm.h has them.
#include <algorithm>

#include "arithmetic/gemm/complex_gemm.h"
#include "arithmetic/gemm/gemm.h"
#include "arithmetic/math/complex.h"
#include "arithmetic/math/scalar.h"
#include "kernel_api/broadcast.h"
#include "memory/strided_copy.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 16384;
// Letters are their own labels; the dimensions of an ellipsis are counted from its right end.
constexpr int kFirstOfEllipsis = 256;
constexpr int kMostLabels = kFirstOfEllipsis + kMaxRank;

struct Labels {
  int count = 0;
  int at[kMaxRank];
  bool Has(int label) const { return std::find(at, at + count, label) != at + count; }
  void Add(int label) { at[count++] = label; }
};

struct Term {
  const char* text;
  int length;
  bool HasEllipsis() const { return std::find(text, text + length, '.') != text + length; }
  int Letters() const { return length - (HasEllipsis() ? 3 : 0); }
};

struct Equation {
  Term inputs[2];
  int input_count = 0;
  Term output;
};

// The shape rule has refused what has another form.
Status Parse(const Attr& attr, Equation* equation) {
  const char* text = static_cast<const char*>(attr.data);
  const char* const end = text + attr.size;
  const char kArrow[] = "->";
  const char* const arrow = std::search(text, end, kArrow, kArrow + 2);
  while (arrow != end && equation->input_count < 2) {
    const char* const comma = std::find(text, arrow, ',');
    equation->inputs[equation->input_count++] = {text, static_cast<int>(comma - text)};
    text = comma == arrow ? arrow : comma + 1;
    if (comma == arrow) break;
  }
  if (arrow == end || text != arrow) return STILLFLOW_INVALID_ARGUMENT("Malformed einsum equation");
  equation->output = {arrow + 2, static_cast<int>(end - arrow - 2)};
  return Status();
}

// The labels of an array with `ellipsis` dimensions behind the three dots.
Status Label(const Term& term, int ellipsis, Labels* labels) {
  if (term.Letters() < 0 || term.Letters() + ellipsis > kMaxRank) {
    return STILLFLOW_INVALID_ARGUMENT("too many dimensions: must be <= %d", kMaxRank);
  }
  for (int i = 0; i < term.length; ++i) {
    if (term.text[i] != '.') {
      labels->Add(static_cast<unsigned char>(term.text[i]));
      continue;
    }
    i += 2;
    for (int k = ellipsis; k > 0; --k) labels->Add(kFirstOfEllipsis + k - 1);
  }
  return Status();
}

using Sizes = int64_t[kMostLabels];

Status LabelInput(const Term& term, int index, const Tensor& input, Labels* labels) {
  const int ellipsis = input.rank - term.Letters();
  if (term.HasEllipsis() ? ellipsis < 0 : ellipsis != 0) {
    return STILLFLOW_INVALID_ARGUMENT("Expected input %d to have rank %s%d but got: %d", index,
                                      term.HasEllipsis() ? "at least " : "", term.Letters(), input.rank);
  }
  return Label(term, ellipsis, labels);
}

// Notes the sizes of an input's labels; -1 stands for one that is not known yet.
Status NoteSizes(const Labels& labels, const Tensor& input, int64_t* sizes) {
  for (int i = 0; i < labels.count; ++i) {
    int64_t& known = sizes[labels.at[i]];
    const int64_t size = input.dims[i];
    const bool broadcasts = labels.at[i] >= kFirstOfEllipsis;
    if (known == -1 || (broadcasts && known == 1)) {
      known = size;
    } else if (known != size && !(broadcasts && size == 1)) {
      return STILLFLOW_INVALID_ARGUMENT(
          "Expected dimension %lld at axis %d of the input shaped %s but got dimension %lld",
          static_cast<long long>(known), i, ShapeText(input).c_str(), static_cast<long long>(size));
    }
  }
  return Status();
}

// What is to be done with an operand's labels, each in the order of its first occurrence.
struct Roles {
  Labels batch, free, contracted, summed;
};

void Place(const Labels& own, const Labels* other, const Labels& output, Roles* roles) {
  for (int i = 0; i < own.count; ++i) {
    const int label = own.at[i];
    if (std::find(own.at, own.at + i, label) != own.at + i) continue;
    const bool is_shared = other != nullptr && (other->Has(label) || label >= kFirstOfEllipsis);
    Labels& role = output.Has(label) ? (is_shared ? roles->batch : roles->free)
                                     : (is_shared ? roles->contracted : roles->summed);
    role.Add(label);
  }
}

// How far apart the elements of an index lie in an array of these labels, together for a label that it has twice.
struct Strides {
  Strides(const Labels& labels, const Shape& shape) {
    std::fill(of, of + kMostLabels, 0);
    std::fill(size, size + kMostLabels, 1);
    int64_t dense[kMaxRank];
    DenseStrides(shape, dense);
    for (int i = 0; i < labels.count; ++i) {
      of[labels.at[i]] += dense[i];
      size[labels.at[i]] = shape.dims[i];
    }
  }
  int64_t of[kMostLabels];
  int64_t size[kMostLabels];
};

int64_t Count(const Labels& labels, const int64_t* sizes) {
  int64_t count = 1;
  for (int i = 0; i < labels.count; ++i) count *= sizes[labels.at[i]];
  return count;
}

// An operand as matrices, one after another: [batch, free, contracted].
struct Operand {
  const void* data;
  Shape batch;
  int64_t rows;
  int64_t columns;
};

template <typename T>
void SumRun(const T* from, int64_t count, T* to) {
  if constexpr (kIsComplex<T>) {
    double re = 0;
    double im = 0;
    for (int64_t i = 0; i < count; ++i) {
      re += from[i].re;
      im += from[i].im;
    }
    *to = {static_cast<typename T::Part>(re), static_cast<typename T::Part>(im)};
  } else {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += from[i];
    *to = static_cast<T>(sum);
  }
}

template <typename T>
Status SumRuns(const KernelCall& call, const T* from, int64_t runs, int64_t length, T* to) {
  return ForEachChunk(call, runs, std::max<int64_t>(kElementsPerChunk / std::max<int64_t>(length, 1), 1),
                      [&](Range range) {
                        for (int64_t i = range.begin; i < range.end; ++i) SumRun(from + i * length, length, to + i);
                      });
}

// Copies the operand, its summed labels last, into `packed`, and sums them into `sums`.
template <typename T>
Status Pack(const KernelCall& call, const Tensor& input, const Labels& labels, const Roles& roles, T* packed, T* sums,
            Operand* operand) {
  const Strides strides(labels, Shape(input));
  StridedCopy copy;
  const Labels* const order[] = {&roles.batch, &roles.free, &roles.contracted, &roles.summed};
  int64_t dense = 1;
  for (const Labels* group : order) dense *= Count(*group, strides.size);
  const int64_t all = dense;
  for (const Labels* group : order) {
    for (int i = 0; i < group->count; ++i) {
      const int label = group->at[i];
      dense = strides.size[label] == 0 ? 0 : dense / strides.size[label];
      copy.Add(strides.size[label], strides.of[label], dense);
    }
  }
  for (int i = 0; i < roles.batch.count; ++i) operand->batch.Add(strides.size[roles.batch.at[i]]);
  operand->rows = Count(roles.free, strides.size);
  operand->columns = Count(roles.contracted, strides.size);
  copy.Simplify();
  const void* data = input.data;
  if (all != 0 && !copy.IsOneRun()) {
    STILLFLOW_RETURN_IF_ERROR(CopyStrided(call, copy, sizeof(T), input.data, packed));
    data = packed;
  }
  operand->data = data;
  if (roles.summed.count == 0) return Status();
  const int64_t runs = operand->batch.Count() * operand->rows * operand->columns;
  operand->data = sums;
  return SumRuns(call, static_cast<const T*>(data), runs, Count(roles.summed, strides.size), sums);
}

template <typename T>
Status Multiply(const KernelCall& call, const Operand& x, const Operand& y, int64_t i, int64_t j, T* to) {
  const int64_t m = x.rows;
  const int64_t n = y.rows;
  const int64_t k = x.columns;
  const T* const a = static_cast<const T*>(x.data) + i * m * k;
  const T* const b = static_cast<const T*>(y.data) + j * n * k;
  if constexpr (kIsComplex<T>) {
    return ComplexGemm<typename T::Part>(call, m, n, k, {a, k, 1}, {b, 1, k}, to, n);
  } else {
    return Gemm<T>(call, m, n, k, {a, k, 1}, {b, 1, k}, to, n);
  }
}

// The products of the matrices of two operands: [batch, rows of x, rows of y].
template <typename T>
Status MultiplyBatches(const KernelCall& call, const Operand& x, const Operand& y, const Shape& batch, T* to) {
  const int64_t size = x.rows * y.rows;
  const int64_t work = std::max<int64_t>(size * (x.columns + 1), 1);
  if (size == 0) return Status();
  return ForEachChunk(call, batch.Count(), std::max<int64_t>(kElementsPerChunk * 16 / work, 1), [&](Range range) {
    BroadcastWalk at_x(x.batch, batch, range.begin);
    BroadcastWalk at_y(y.batch, batch, range.begin);
    for (int64_t i = range.begin; i < range.end; ++i, at_x.Next(), at_y.Next()) {
      STILLFLOW_RETURN_IF_ERROR(Multiply(call, x, y, at_x.index(), at_y.index(), to + i * size));
    }
    return Status();
  });
}

// ---- The kernel ---------------------------------------------------------------------------------------------------

struct Work {
  Labels inputs[2];
  Labels output;
  Roles roles[2];
  Sizes sizes;
};

Status Prepare(const KernelCall& call, Work* work) {
  Equation equation;
  STILLFLOW_RETURN_IF_ERROR(Parse(call.attrs[0], &equation));
  if (call.in_count != equation.input_count) {
    return STILLFLOW_INVALID_ARGUMENT("Expected %d inputs but got: %d", equation.input_count, call.in_count);
  }
  std::fill(work->sizes, work->sizes + kMostLabels, -1);
  int ellipsis = 0;
  for (int i = 0; i < call.in_count; ++i) {
    const Tensor& input = *call.in[i];
    STILLFLOW_RETURN_IF_ERROR(LabelInput(equation.inputs[i], i, input, &work->inputs[i]));
    STILLFLOW_RETURN_IF_ERROR(NoteSizes(work->inputs[i], input, work->sizes));
    ellipsis = std::max(ellipsis, input.rank - equation.inputs[i].Letters());
  }
  if (ellipsis > 0 && !equation.output.HasEllipsis()) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Output contains %d broadcasting dimension(s) but no ellipsis (...) was found in the output subscripts.",
        ellipsis);
  }
  STILLFLOW_RETURN_IF_ERROR(Label(equation.output, ellipsis, &work->output));
  for (int i = 0; i < call.in_count; ++i) {
    Place(work->inputs[i], call.in_count == 2 ? &work->inputs[1 - i] : nullptr, work->output, &work->roles[i]);
  }
  return Status();
}

// Puts an array of other labels, each once, into out[0], which has the same and perhaps some of them twice.
Status PutOut(const KernelCall& call, const Work& work, const Labels& labels, const void* from) {
  const Strides to(work.output, Shape(*call.out[0]));
  StridedCopy copy;
  int64_t dense = Count(labels, work.sizes);
  if (dense == 0) return Status();
  for (int i = 0; i < labels.count; ++i) {
    const int64_t size = work.sizes[labels.at[i]];
    dense /= size;
    copy.Add(size, dense, to.of[labels.at[i]]);
  }
  return CopyStrided(call, copy, ElementBytes(call.out[0]->dtype), from, call.out[0]->data);
}

// The labels of both operands that make batches, in one order for both, the ellipsis first.
Labels SharedBatch(const Work& work) {
  Labels found;
  for (const Roles& roles : work.roles) {
    for (int i = 0; i < roles.batch.count; ++i) {
      if (!found.Has(roles.batch.at[i])) found.Add(roles.batch.at[i]);
    }
  }
  std::sort(found.at, found.at + found.count, [](int a, int b) { return a > b; });
  return found;
}

template <typename T>
Status Contract(const KernelCall& call, Work* work) {
  const bool is_pair = call.in_count == 2;
  Labels result;
  if (is_pair) {
    result = SharedBatch(*work);
    work->roles[0].batch = work->roles[1].batch = result;
    work->roles[1].contracted = work->roles[0].contracted;
  }
  Shape batch;
  for (int i = 0; i < result.count; ++i) batch.Add(work->sizes[result.at[i]]);
  int64_t bytes[2] = {0, 0};
  for (int i = 0; i < call.in_count; ++i) bytes[i] = call.in[i]->count * static_cast<int64_t>(sizeof(T));
  const Scratch packed_x(call, 2 * bytes[0] + 2 * static_cast<int64_t>(sizeof(T)));
  const Scratch packed_y(call, 2 * bytes[1] + 2 * static_cast<int64_t>(sizeof(T)));
  if (!packed_x.ok() || !packed_y.ok()) return OutOfScratch();
  Operand operands[2] = {};
  const Scratch* const packed[] = {&packed_x, &packed_y};
  for (int i = 0; i < call.in_count; ++i) {
    T* const to = packed[i]->data<T>();
    STILLFLOW_RETURN_IF_ERROR(
        Pack(call, *call.in[i], work->inputs[i], work->roles[i], to, to + call.in[i]->count + 1, &operands[i]));
    for (int k = 0; k < work->roles[i].free.count; ++k) result.Add(work->roles[i].free.at[k]);
  }
  if (!is_pair) return PutOut(call, *work, result, operands[0].data);
  const Scratch products(call, Count(result, work->sizes) * static_cast<int64_t>(sizeof(T)));
  if (!products.ok()) return OutOfScratch();
  STILLFLOW_RETURN_IF_ERROR(MultiplyBatches(call, operands[0], operands[1], batch, products.data<T>()));
  return PutOut(call, *work, result, products.data<T>());
}

Status Einsum(const KernelCall& call) {
  Work work;
  STILLFLOW_RETURN_IF_ERROR(Prepare(call, &work));
  Shape shape;
  for (int i = 0; i < work.output.count; ++i) {
    const int64_t size = work.sizes[work.output.at[i]];
    if (size < 0) return STILLFLOW_INVALID_ARGUMENT("Einsum output subscripts have a label that the inputs lack");
    shape.Add(size);
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateZeros(call, 0, call.in[0]->dtype, shape));
  return ForType<float, double, Complex64, Complex128>(
      "Einsum", call.in[0]->dtype, [&](auto tag) { return Contract<typename decltype(tag)::type>(call, &work); });
}

}  // namespace

STILLFLOW_KERNELS(math, einsum){{"einsum", "inputs... | equation", Einsum}, {}};

}  // namespace stillflow
