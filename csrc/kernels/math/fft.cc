// fft, rfft, irfft: discrete Fourier transforms over the last dimensions.
//
//   fft    in[0] complex; attrs rank: how many dimensions, is_inverse; out[0] of in[0]'s shape
//   rfft   in[0] real, in[1] int32[rank] lengths; attr rank; out[0] complex: of the last dimension length / 2 + 1
//          elements, the others are their conjugates
//   irfft  in[0] complex, in[1] int32[rank] lengths; attr rank; out[0] real. What is not in[0] of the last dimension
//          are the conjugates; imaginary parts that would make the result complex are left out.
//
// rfft and irfft read as much of each dimension as they need. Inverse transforms are divided by their length. Each
// transform is computed by one thread in one order (fourier/plan.h); one of real numbers of an even length is that of
// half as many complex ones.
#include <algorithm>
#include <memory>
#include <vector>

#include "arithmetic/fourier/plan.h"
#include "arithmetic/math/complex.h"
#include "memory/strided_copy.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 32768;
constexpr int64_t kMostLanes = 16;          // transforms side by side
constexpr int64_t kMostElements = 1 << 15;  // of these together, unless one has more

// ---- Plans
// ------------------------------------------------------------------------------------------------------------

// The plans of the lengths that an op met last.
class Plans {
 public:
  template <typename R>
  std::shared_ptr<const FourierPlan<R>> Get(int64_t length) {
    auto& list = ListOf(static_cast<R*>(nullptr));
    const MutexLock guard(mutex_);
    for (const auto& plan : list) {
      if (plan->length() == length) return plan;
    }
    if (list.size() == kMostPlans) list.erase(list.begin());
    list.push_back(std::make_shared<const FourierPlan<R>>(length));
    return list.back();
  }

 private:
  static constexpr size_t kMostPlans = 4;
  template <typename R>
  using List = std::vector<std::shared_ptr<const FourierPlan<R>>>;

  List<float>& ListOf(const float*) { return of_floats_; }
  List<double>& ListOf(const double*) { return of_doubles_; }

  Mutex mutex_;
  List<float> of_floats_;
  List<double> of_doubles_;
};

Status NewPlans(const Attr*, void** state) {
  *state = new Plans;
  return Status();
}
void FreePlans(void* state) { delete static_cast<Plans*>(state); }

// ---- Transforms along a dimension
// -------------------------------------------------------------------------------------

// Where transforms lie: number i begins at i / inner * pitch + i % inner, its elements are `step` apart.
struct Places {
  int64_t inner;
  int64_t pitch;
  int64_t step;

  int64_t Begin(int64_t transform) const { return transform / inner * pitch + transform % inner; }
};

// What is read as complex numbers of a plan's length, and how results are written.
template <typename T>
struct ComplexLines {
  const Complex<T>* from;
  Complex<T>* to;
  Places places;
  bool is_inverse;

  // An inverse transform is the transform of numbers with their parts exchanged.
  template <typename R>
  void Load(int64_t transform, int64_t length, R* re, R* im, int64_t stride) const {
    if (is_inverse) std::swap(re, im);
    const Complex<T>* const at = from + places.Begin(transform);
    for (int64_t i = 0; i < length; ++i) {
      re[i * stride] = static_cast<R>(at[i * places.step].re);
      im[i * stride] = static_cast<R>(at[i * places.step].im);
    }
  }
  template <typename R>
  void Store(int64_t transform, int64_t length, const R* re, const R* im, int64_t stride) const {
    Complex<T>* const at = to + places.Begin(transform);
    if (is_inverse) {
      const R divisor = static_cast<R>(length);
      for (int64_t i = 0; i < length; ++i) {
        at[i * places.step] = {static_cast<T>(im[i * stride] / divisor), static_cast<T>(re[i * stride] / divisor)};
      }
    } else {
      for (int64_t i = 0; i < length; ++i) {
        at[i * places.step] = {static_cast<T>(re[i * stride]), static_cast<T>(im[i * stride])};
      }
    }
  }
};

// Rows of `length` real numbers, as their transforms' first length / 2 + 1 elements. Of an even length, elements 2 i
// and 2 i + 1 are the parts of one number; with the transforms E of the even ones and O of the odd ones, element k of
// the result is E[k] + root^k O[k].
template <typename T>
struct RealLines {
  const T* from;
  Complex<T>* to;
  int64_t length;
  const Complex128* roots;  // root^k for k <= length / 2, if the length is even

  template <typename R>
  void Load(int64_t transform, int64_t count, R* re, R* im, int64_t stride) const {
    const T* const row = from + transform * length;
    const bool is_even = count != length;
    for (int64_t i = 0; i < count; ++i) {
      re[i * stride] = static_cast<R>(is_even ? row[2 * i] : row[i]);
      im[i * stride] = is_even ? static_cast<R>(row[2 * i + 1]) : R{0};
    }
  }
  template <typename R>
  void Store(int64_t transform, int64_t count, const R* re, const R* im, int64_t stride) const {
    const int64_t kept = length / 2 + 1;
    Complex<T>* const row = to + transform * kept;
    if (count == length) {
      for (int64_t k = 0; k < kept; ++k) row[k] = {static_cast<T>(re[k * stride]), static_cast<T>(im[k * stride])};
      return;
    }
    for (int64_t k = 0; k < kept; ++k) {
      const int64_t below = k % count * stride;
      const int64_t above = (count - k) % count * stride;
      const Complex<R> even = {(re[below] + re[above]) / 2, (im[below] - im[above]) / 2};
      const Complex<R> odd = {(im[below] + im[above]) / 2, (re[above] - re[below]) / 2};
      const Complex<R> sum = even + NarrowComplex<Complex<R>>(roots[k]) * odd;
      row[k] = {static_cast<T>(sum.re), static_cast<T>(sum.im)};
    }
  }
};

// The way back, from rows that are `pitch` apart.
template <typename T>
struct HalfComplexLines {
  const Complex<T>* from;
  int64_t pitch;
  T* to;
  int64_t length;
  const Complex128* roots;

  // An element whose conjugate stands for itself is real.
  template <typename R>
  Complex<R> At(const Complex<T>* row, int64_t k) const {
    const bool is_real = k == 0 || 2 * k == length;
    return {static_cast<R>(row[k].re), is_real ? R{0} : static_cast<R>(row[k].im)};
  }
  // With the parts exchanged: see ComplexLines.
  template <typename R>
  void Load(int64_t transform, int64_t count, R* re, R* im, int64_t stride) const {
    const Complex<T>* const row = from + transform * pitch;
    for (int64_t k = 0; k < count; ++k) {
      Complex<R> element;
      if (count == length) {
        element = 2 * k <= length ? At<R>(row, k) : Conj(At<R>(row, length - k));
      } else {
        const Complex<R> below = At<R>(row, k);
        const Complex<R> above = Conj(At<R>(row, count - k));
        const Complex<R> even = {(below.re + above.re) / 2, (below.im + above.im) / 2};
        const Complex<R> half = {(below.re - above.re) / 2, (below.im - above.im) / 2};
        element = even + TimesI(Conj(NarrowComplex<Complex<R>>(roots[k])) * half);
      }
      re[k * stride] = element.im;
      im[k * stride] = element.re;
    }
  }
  template <typename R>
  void Store(int64_t transform, int64_t count, const R* re, const R* im, int64_t stride) const {
    T* const row = to + transform * length;
    const R divisor = static_cast<R>(count);
    for (int64_t i = 0; i < count; ++i) {
      if (count == length) {
        row[i] = static_cast<T>(im[i * stride] / divisor);
      } else {
        row[2 * i] = static_cast<T>(im[i * stride] / divisor);
        row[2 * i + 1] = static_cast<T>(re[i * stride] / divisor);
      }
    }
  }
};

// `transforms` transforms of `length`, some side by side at a time; those of `inner` are next to each other.
template <typename R, typename Lines>
Status RunPlan(const KernelCall& call, const FourierPlan<R>& plan, int64_t transforms, int64_t inner,
               const Lines& lines) {
  const int64_t room = plan.room();
  int64_t lanes = std::clamp<int64_t>(kMostElements / room, 1, kMostLanes);
  lanes = std::min(lanes, inner == 1 ? transforms : inner);
  const int64_t group = inner == 1 ? transforms : inner;
  const int64_t tasks_of_group = (group + lanes - 1) / lanes;
  const int64_t tasks = transforms / group * tasks_of_group;
  const int64_t per_chunk = std::max<int64_t>(kElementsPerChunk / (room * lanes), 1);
  return ForEachChunk(call, tasks, per_chunk, [&](Range range) -> Status {
    const Scratch scratch(call, 4 * room * lanes * static_cast<int64_t>(sizeof(R)));
    if (!scratch.ok()) return OutOfScratch();
    R* const memory = scratch.data<R>();
    const Planes<R> data = {memory, memory + room * lanes};
    const Planes<R> other = {memory + 2 * room * lanes, memory + 3 * room * lanes};
    for (int64_t task = range.begin; task < range.end; ++task) {
      const int64_t in_group = task % tasks_of_group * lanes;
      const int64_t first = task / tasks_of_group * group + in_group;
      const int64_t width = std::min(lanes, group - in_group);
      for (int64_t j = 0; j < width; ++j) lines.Load(first + j, plan.length(), data.re + j, data.im + j, width);
      const Planes<R> result = plan.Run(data, other, width);
      for (int64_t j = 0; j < width; ++j) lines.Store(first + j, plan.length(), result.re + j, result.im + j, width);
    }
    return Status();
  });
}

template <typename T, typename Lines>
Status RunLines(const KernelCall& call, int64_t length, int64_t transforms, int64_t inner, const Lines& lines) {
  auto* const plans = static_cast<Plans*>(call.state);
  if (FourierPlan<T>::HasSmallFactors(length)) {
    return RunPlan<T>(call, *plans->Get<T>(length), transforms, inner, lines);
  }
  return RunPlan<double>(call, *plans->Get<double>(length), transforms, inner, lines);
}

// Complex transforms along dimension `axis` of arrays of a shape; `to` may be `from`.
template <typename T>
Status RunAlong(const KernelCall& call, const Shape& shape, int axis, bool is_inverse, const Complex<T>* from,
                Complex<T>* to) {
  const int64_t length = shape.dims[axis];
  const int64_t inner = shape.Count(axis + 1, shape.rank);
  const ComplexLines<T> lines = {from, to, {inner, length * inner, inner}, is_inverse};
  return RunLines<T>(call, length, shape.Count() / length, inner, lines);
}

template <typename T>
Status RunAlongAll(const KernelCall& call, const Shape& shape, int first, int last, bool is_inverse,
                   const Complex<T>* from, Complex<T>* to) {
  for (int axis = last; axis >= first; --axis, from = to) {
    STILLFLOW_RETURN_IF_ERROR(RunAlong(call, shape, axis, is_inverse, from, to));
  }
  return Status();
}

std::vector<Complex128> RootsOf(int64_t length) {
  std::vector<Complex128> roots;
  for (int64_t k = 0; length % 2 == 0 && 2 * k <= length; ++k) roots.push_back(UnitRoot(k, length));
  return roots;
}

// ---- Kernels
// ------------------------------------------------------------------------------------------------------------

Status CheckRank(const Tensor& input, int rank) {
  if (input.rank >= rank) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Input must have rank of at least %d but got: %s", rank,
                                    ShapeText(input).c_str());
}

Status Fft(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const auto rank = static_cast<int>(call.attrs[0].i);
  const bool is_inverse = call.attrs[1].i != 0;
  STILLFLOW_RETURN_IF_ERROR(CheckRank(input, rank));
  const Shape shape(input);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, shape));
  if (input.count == 0) return Status();
  return ForType<Complex64, Complex128>("FFT", input.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return RunAlongAll(call, shape, shape.rank - rank, shape.rank - 1, is_inverse, Data<T>(input),
                       MutableData<T>(*call.out[0]));
  });
}

// The shapes of what is read of in[0], and of out[0].
Status ReadLengths(const KernelCall& call, int rank, bool is_forward, Shape* read, Shape* made) {
  const Tensor& input = *call.in[0];
  const Tensor& lengths = *call.in[1];
  STILLFLOW_RETURN_IF_ERROR(CheckRank(input, rank));
  if (lengths.rank != 1 || lengths.count != rank) {
    return STILLFLOW_INVALID_ARGUMENT("fft_length must have shape [%d]", rank);
  }
  *read = *made = Shape(input);
  for (int i = 0; i < rank; ++i) {
    const int64_t length = IntAt(lengths, i);
    if (length < 0) {
      return STILLFLOW_INVALID_ARGUMENT("fft_length[%d] must be >= 0, but got: %lld", i,
                                        static_cast<long long>(length));
    }
    const int axis = input.rank - rank + i;
    const bool is_last = i == rank - 1;
    const int64_t half = length == 0 ? 0 : length / 2 + 1;
    read->dims[axis] = is_last && !is_forward ? half : length;
    made->dims[axis] = is_last && is_forward ? half : length;
    if (input.dims[axis] != 0 && input.dims[axis] < read->dims[axis]) {
      return STILLFLOW_INVALID_ARGUMENT("Input dimension %d must have length of at least %lld but got: %lld", axis,
                                        static_cast<long long>(read->dims[axis]),
                                        static_cast<long long>(input.dims[axis]));
    }
  }
  return Status();
}

// The part of in[0] of a shape, which is in[0] itself or a copy in `scratch`.
template <typename T>
Status TakeFirst(const KernelCall& call, const Shape& shape, T* scratch, const T** part) {
  const Tensor& input = *call.in[0];
  *part = Data<T>(input);
  if (shape == Shape(input)) return Status();
  int64_t from_strides[kMaxRank];
  int64_t to_strides[kMaxRank];
  DenseStrides(Shape(input), from_strides);
  DenseStrides(shape, to_strides);
  StridedCopy copy;
  for (int i = 0; i < shape.rank; ++i) copy.Add(shape.dims[i], from_strides[i], to_strides[i]);
  *part = scratch;
  return CopyStrided(call, copy, sizeof(T), input.data, scratch);
}

template <typename T>
Status TransformReal(const KernelCall& call, int rank, const Shape& read, const Shape& made) {
  const Scratch scratch(call, read.Count() * static_cast<int64_t>(sizeof(T)));
  if (!scratch.ok()) return OutOfScratch();
  const T* from = nullptr;
  STILLFLOW_RETURN_IF_ERROR(TakeFirst(call, read, scratch.data<T>(), &from));
  auto* const to = MutableData<Complex<T>>(*call.out[0]);
  const int last = read.rank - 1;
  const int64_t length = read.dims[last];
  const std::vector<Complex128> roots = RootsOf(length);
  const RealLines<T> lines = {from, to, length, roots.data()};
  STILLFLOW_RETURN_IF_ERROR(
      RunLines<T>(call, length % 2 == 0 ? length / 2 : length, read.Count() / length, 1, lines));
  return RunAlongAll(call, made, made.rank - rank, last - 1, false, to, to);
}

template <typename T>
Status TransformToReal(const KernelCall& call, int rank, const Shape& read, const Shape& made) {
  const Scratch scratch(call, read.Count() * static_cast<int64_t>(sizeof(Complex<T>)));
  if (!scratch.ok()) return OutOfScratch();
  auto* const spectrum = scratch.data<Complex<T>>();
  const Complex<T>* from = nullptr;
  STILLFLOW_RETURN_IF_ERROR(TakeFirst(call, read, spectrum, &from));
  const int last = read.rank - 1;
  STILLFLOW_RETURN_IF_ERROR(RunAlongAll(call, read, read.rank - rank, last - 1, true, from, spectrum));
  if (rank > 1) from = spectrum;
  const int64_t length = made.dims[last];
  const std::vector<Complex128> roots = RootsOf(length);
  const HalfComplexLines<T> lines = {from, read.dims[last], MutableData<T>(*call.out[0]), length, roots.data()};
  return RunLines<T>(call, length % 2 == 0 ? length / 2 : length, made.Count() / length, 1, lines);
}

// Nothing, made longer, is zeros.
Status ZeroOutput(const KernelCall& call) {
  const Tensor& output = *call.out[0];
  if (output.count > 0) std::memset(output.data, 0, output.count * ElementBytes(output.dtype));
  return Status();
}

Status Rfft(const KernelCall& call) {
  const auto rank = static_cast<int>(call.attrs[0].i);
  Shape read;
  Shape made;
  STILLFLOW_RETURN_IF_ERROR(ReadLengths(call, rank, true, &read, &made));
  const bool is_double = call.in[0]->dtype == DType::kDouble;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, is_double ? DType::kComplex128 : DType::kComplex64, made));
  if (call.in[0]->count == 0 || made.Count() == 0) return ZeroOutput(call);
  return ForType<float, double>("RFFT", call.in[0]->dtype, [&](auto tag) {
    return TransformReal<typename decltype(tag)::type>(call, rank, read, made);
  });
}

Status Irfft(const KernelCall& call) {
  const auto rank = static_cast<int>(call.attrs[0].i);
  Shape read;
  Shape made;
  STILLFLOW_RETURN_IF_ERROR(ReadLengths(call, rank, false, &read, &made));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, PartType(call.in[0]->dtype), made));
  if (call.in[0]->count == 0 || made.Count() == 0) return ZeroOutput(call);
  return ForType<Complex64, Complex128>("IRFFT", call.in[0]->dtype, [&](auto tag) {
    return TransformToReal<typename decltype(tag)::type::Part>(call, rank, read, made);
  });
}

}  // namespace

STILLFLOW_KERNELS(math, fft){{"fft", "input | rank, is_inverse", Fft, nullptr, nullptr, NewPlans, FreePlans},
                             {"rfft", "input, fft_length | rank", Rfft, nullptr, nullptr, NewPlans, FreePlans},
                             {"irfft", "input, fft_length | rank", Irfft, nullptr, nullptr, NewPlans, FreePlans},
                             {}};

}  // namespace stillflow
