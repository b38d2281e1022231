// kernel.h: what kernels are written with.
//
// A kernel is a function of a KernelCall. It checks what depends on its inputs' values and shapes, allocates
// its outputs, and cuts its work into chunks by size alone, so that the result has the same bits for every
// number of threads. Kernels throw nothing; they return a Status.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "kernel_api/abi.h"

namespace stillflow {

// ---- Element types --------------------------------------------------------------------------------------

struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};
template <typename R>
struct Complex {
  using Part = R;
  R re;
  R im;
};
using Complex64 = Complex<float>;
using Complex128 = Complex<double>;

template <typename T>
struct TypeTag {
  using type = T;
};

template <typename T>
constexpr DType DTypeOf() {
  if constexpr (std::is_same_v<T, float>) return DType::kFloat;
  if constexpr (std::is_same_v<T, double>) return DType::kDouble;
  if constexpr (std::is_same_v<T, Half>) return DType::kHalf;
  if constexpr (std::is_same_v<T, BFloat16>) return DType::kBFloat16;
  if constexpr (std::is_same_v<T, int64_t>) return DType::kInt64;
  if constexpr (std::is_same_v<T, int32_t>) return DType::kInt32;
  if constexpr (std::is_same_v<T, int16_t>) return DType::kInt16;
  if constexpr (std::is_same_v<T, int8_t>) return DType::kInt8;
  if constexpr (std::is_same_v<T, uint64_t>) return DType::kUInt64;
  if constexpr (std::is_same_v<T, uint32_t>) return DType::kUInt32;
  if constexpr (std::is_same_v<T, uint16_t>) return DType::kUInt16;
  if constexpr (std::is_same_v<T, uint8_t>) return DType::kUInt8;
  if constexpr (std::is_same_v<T, bool>) return DType::kBool;
  if constexpr (std::is_same_v<T, Complex64>) return DType::kComplex64;
  if constexpr (std::is_same_v<T, Complex128>) return DType::kComplex128;
  return DType::kInvalid;
}

inline bool IsComplex(DType dtype) { return dtype == DType::kComplex64 || dtype == DType::kComplex128; }
// The type of a complex number's parts; of any other type itself. Sums and moves of complex numbers are those of
// twice as many parts.
inline DType PartType(DType dtype) {
  return dtype == DType::kComplex64 ? DType::kFloat : dtype == DType::kComplex128 ? DType::kDouble : dtype;
}
inline int64_t PartCount(DType dtype) { return IsComplex(dtype) ? 2 : 1; }

inline int64_t ElementBytes(DType dtype) {
  switch (dtype) {
    case DType::kComplex128:
      return 16;
    case DType::kDouble:
    case DType::kInt64:
    case DType::kUInt64:
    case DType::kString:
    case DType::kResource:
    case DType::kVariant:
    case DType::kComplex64:
      return 8;
    case DType::kFloat:
    case DType::kInt32:
    case DType::kUInt32:
    case DType::kQInt32:
      return 4;
    case DType::kHalf:
    case DType::kBFloat16:
    case DType::kInt16:
    case DType::kUInt16:
    case DType::kQInt16:
    case DType::kQUInt16:
      return 2;
    case DType::kInt8:
    case DType::kUInt8:
    case DType::kBool:
    case DType::kQInt8:
    case DType::kQUInt8:
      return 1;
    default:
      return 0;
  }
}

// Whether the elements are cells that are shared: one that is copied has a reference more.
inline bool HasCells(DType dtype) { return dtype == DType::kString || dtype == DType::kVariant; }

inline const char* Name(DType dtype) {
  constexpr const char* kNames[] = {"invalid",    "float",  "double",    "int32",   "uint8",   "int16",
                                    "int8",       "string", "complex64", "int64",   "bool",    "qint8",
                                    "quint8",     "qint32", "bfloat16",  "qint16",  "quint16", "uint16",
                                    "complex128", "half",   "resource",  "variant", "uint32",  "uint64"};
  const auto number = static_cast<size_t>(dtype);
  return number < sizeof kNames / sizeof kNames[0] ? kNames[number] : "invalid";
}

// ---- Errors ---------------------------------------------------------------------------------------------

__attribute__((format(printf, 2, 3))) inline Status Error(Code code, const char* format, ...) {
  constexpr int kMostBytes = 1024;
  auto* text = static_cast<char*>(std::malloc(kMostBytes));
  if (text != nullptr) {
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, kMostBytes, format, arguments);
    va_end(arguments);
  }
  return Status(code, text);
}

#define STILLFLOW_INVALID_ARGUMENT(...) ::stillflow::Error(::stillflow::Code::kInvalidArgument, __VA_ARGS__)

#define STILLFLOW_RETURN_IF_ERROR(expression)                    \
  do {                                                           \
    ::stillflow::Status status_of_expression = (expression);     \
    if (!status_of_expression.ok()) return status_of_expression; \
  } while (false)

inline Status UnsupportedType(const char* kernel, DType dtype) {
  return Error(Code::kInvalidArgument, "No OpKernel was registered to support '%s' with type %s", kernel,
               Name(dtype));
}

// ---- Shapes ---------------------------------------------------------------------------------------------

struct Shape {
  int32_t rank = 0;
  int64_t dims[kMaxRank];

  Shape() = default;
  explicit Shape(const Tensor& tensor) : rank(tensor.rank) {
    std::memcpy(dims, tensor.dims, sizeof(int64_t) * tensor.rank);
  }
  void Add(int64_t dim) { dims[rank++] = dim; }
  // Valid for shapes of existing tensors; made-up ones go through CheckedCount.
  int64_t Count() const { return Count(0, rank); }
  int64_t Count(int begin, int end) const {
    int64_t count = 1;
    for (int i = begin; i < end; ++i) count *= dims[i];
    return count;
  }
};

inline bool operator==(const Shape& a, const Shape& b) {
  return a.rank == b.rank && std::memcmp(a.dims, b.dims, sizeof(int64_t) * a.rank) == 0;
}

// "[2,3]", for messages.
class ShapeText {
 public:
  ShapeText(int rank, const int64_t* dims, const char* separator = ",") {
    size_t used = 0;
    used += std::snprintf(text_, sizeof text_, "[");
    for (int i = 0; i < rank && used < sizeof text_ - 24; ++i) {
      used += std::snprintf(text_ + used, sizeof text_ - used, "%s%lld", i == 0 ? "" : separator,
                            static_cast<long long>(dims[i]));
    }
    std::snprintf(text_ + used, sizeof text_ - used, "]");
  }
  explicit ShapeText(const Shape& shape) : ShapeText(shape.rank, shape.dims) {}
  explicit ShapeText(const Tensor& tensor) : ShapeText(tensor.rank, tensor.dims) {}
  const char* c_str() const { return text_; }

 private:
  char text_[256];
};

// The number of elements of a shape made from data; refuses what TensorFlow refuses.
inline Status CheckedCount(const Shape& shape, int64_t* count) {
  int64_t product = 1;
  bool is_too_large = false;
  bool is_empty = false;
  for (int i = 0; i < shape.rank; ++i) {
    if (shape.dims[i] < 0) {
      return STILLFLOW_INVALID_ARGUMENT("Dimension %lld must be >= 0", static_cast<long long>(shape.dims[i]));
    }
    if (shape.dims[i] == 0) {
      is_empty = true;  // a zero hides an overflow from the product, not from us
    } else if (__builtin_mul_overflow(product, shape.dims[i], &product)) {
      is_too_large = true;
    }
    if (is_too_large) {
      return STILLFLOW_INVALID_ARGUMENT("Shape %s would have more than 2**63 - 1 elements", ShapeText(shape).c_str());
    }
  }
  *count = is_empty ? 0 : product;
  return Status();
}

// ---- Reading inputs and making outputs ------------------------------------------------------------------

template <typename T>
const T* Data(const Tensor& tensor) {
  return static_cast<const T*>(tensor.data);
}
template <typename T>
T* MutableData(Tensor& tensor) {
  return static_cast<T*>(tensor.data);
}

inline void SetShape(Tensor* tensor, DType dtype, const Shape& shape, int64_t count) {
  tensor->dtype = dtype;
  tensor->rank = shape.rank;
  tensor->count = count;
  std::memcpy(tensor->dims, shape.dims, sizeof(int64_t) * shape.rank);
}

inline Status OutOfMemory(DType dtype, const Shape& shape) {
  return Error(Code::kResourceExhausted, "OOM when allocating tensor with shape%s and type %s",
               ShapeText(shape).c_str(), Name(dtype));
}

// Gives `tensor` memory for a shape; its elements are uninitialized (null for strings and variants).
inline Status Allocate(const Services& services, DType dtype, const Shape& shape, Tensor* tensor) {
  int64_t count = 0;
  STILLFLOW_RETURN_IF_ERROR(CheckedCount(shape, &count));
  int64_t bytes = 0;
  if (__builtin_mul_overflow(count, ElementBytes(dtype), &bytes)) return OutOfMemory(dtype, shape);
  Buffer* buffer = dtype == DType::kString    ? services.allocate_strings(count)
                   : dtype == DType::kVariant ? services.allocate_variants(count)
                                              : services.allocate(bytes);
  if (buffer == nullptr) return OutOfMemory(dtype, shape);
  tensor->buffer = buffer;
  tensor->data = buffer->data;
  SetShape(tensor, dtype, shape, count);
  return Status();
}

inline Status AllocateOutput(const KernelCall& call, int out, DType dtype, const Shape& shape) {
  return Allocate(*call.services, dtype, shape, call.out[out]);
}

inline void Retain(Buffer* buffer) { buffer->references.fetch_add(1, std::memory_order_relaxed); }
inline void Release(Buffer* buffer) {
  if (buffer->references.fetch_sub(1, std::memory_order_acq_rel) == 1) buffer->destroy(buffer);
}

// Makes out[out] another view of in[in]'s elements, with a shape of as many.
inline void Alias(const KernelCall& call, int in, int out, const Shape& shape) {
  const Tensor& from = *call.in[in];
  Tensor* to = call.out[out];
  Retain(from.buffer);
  to->buffer = from.buffer;
  to->data = from.data;
  SetShape(to, from.dtype, shape, from.count);
}

// Whether nobody but this step can see in[in]'s elements, so that they may be overwritten.
inline bool IsOwned(const KernelCall& call, int in) {
  if (in >= 64 || (call.dying >> in & 1) == 0) return false;
  const Buffer* buffer = call.in[in]->buffer;
  return !buffer->is_borrowed && buffer->references.load(std::memory_order_acquire) == 1;
}

// Whether anything reads out[out].
inline bool IsWanted(const KernelCall& call, int out) { return out >= 64 || (call.unread >> out & 1) == 0; }

// Like AllocateOutput, but hands on in[in]'s memory if it is owned and of the right size.
inline Status ForwardOrAllocate(const KernelCall& call, int in, int out, DType dtype, const Shape& shape) {
  const Tensor& from = *call.in[in];
  const bool fits = from.count == shape.Count() && ElementBytes(from.dtype) == ElementBytes(dtype) &&
                    !HasCells(from.dtype) && !HasCells(dtype);
  if (!fits || !IsOwned(call, in)) return AllocateOutput(call, out, dtype, shape);
  Alias(call, in, out, shape);
  call.out[out]->dtype = dtype;
  return Status();
}

// Puts one string into a string output.
inline bool SetString(const KernelCall& call, Tensor* tensor, int64_t index, const char* bytes, int64_t size) {
  StringCell* cell = call.services->new_string(bytes, size);
  MutableData<StringCell*>(*tensor)[index] = cell;
  return cell != nullptr;
}

inline bool AreEqual(const StringCell* a, const StringCell* b) {
  const int64_t size = a == nullptr ? 0 : a->size;
  if (size != (b == nullptr ? 0 : b->size)) return false;
  return size == 0 || std::memcmp(a->bytes, b->bytes, size) == 0;
}

// Adds a reference to each string or variant of a tensor whose cells were copied. Until then the kernel must not
// fail.
inline void RetainStrings(const Tensor& tensor) {
  if (!HasCells(tensor.dtype)) return;
  for (int64_t i = 0; i < tensor.count; ++i) {
    if (StringCell* cell = Data<StringCell*>(tensor)[i]) cell->references.fetch_add(1, std::memory_order_relaxed);
  }
}

// An int32 or int64 tensor's element.
inline int64_t IntAt(const Tensor& tensor, int64_t index) {
  return tensor.dtype == DType::kInt64 ? Data<int64_t>(tensor)[index] : Data<int32_t>(tensor)[index];
}

// The shape that an int32 or int64 vector spells.
inline Status ShapeFromTensor(const Tensor& tensor, Shape* shape) {
  if (tensor.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("shape must be a vector of {int32,int64}, got shape %s",
                                      ShapeText(tensor).c_str());
  }
  if (tensor.dtype != DType::kInt32 && tensor.dtype != DType::kInt64) {
    return STILLFLOW_INVALID_ARGUMENT("shape must be a vector of {int32,int64}, got type %s", Name(tensor.dtype));
  }
  if (tensor.count > kMaxRank) {
    return STILLFLOW_INVALID_ARGUMENT("too many dimensions: must be <= %d, but received %lld", kMaxRank,
                                      static_cast<long long>(tensor.count));
  }
  shape->rank = static_cast<int32_t>(tensor.count);
  for (int i = 0; i < shape->rank; ++i) shape->dims[i] = IntAt(tensor, i);
  int64_t count = 0;
  return CheckedCount(*shape, &count);
}

// Memory for the duration of a kernel.
class Scratch {
 public:
  Scratch(const KernelCall& call, int64_t bytes) : buffer_(call.services->allocate(bytes)) {}
  ~Scratch() {
    if (buffer_ != nullptr) Release(buffer_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  bool ok() const { return buffer_ != nullptr; }
  template <typename T>
  T* data() const {
    return static_cast<T*>(buffer_->data);
  }

 private:
  Buffer* buffer_;
};

inline Status OutOfScratch() { return Error(Code::kResourceExhausted, "OOM when allocating scratch memory"); }

// ---- Work in chunks -------------------------------------------------------------------------------------

struct Range {
  int64_t begin;
  int64_t end;
};

// Cuts [0, total) into chunks of `chunk` and calls body(Range) for each, from several threads when there is
// more than one. `body` returns void or Status. Choose `chunk` so that it takes some 10 us.
template <typename Body>
Status ForEachChunk(const KernelCall& call, int64_t total, int64_t chunk, const Body& body) {
  struct Work {
    const Body& body;
    int64_t total;
    int64_t chunk;
    static Status Run(void* self, int64_t index) {
      const auto* work = static_cast<const Work*>(self);
      const int64_t begin = index * work->chunk;
      const int64_t end = begin + work->chunk < work->total ? begin + work->chunk : work->total;
      if constexpr (std::is_void_v<decltype(work->body(Range{begin, end}))>) {
        work->body(Range{begin, end});
        return Status();
      } else {
        return work->body(Range{begin, end});
      }
    }
  };
  if (total <= 0) return Status();
  Work work{body, total, chunk};
  if (total <= chunk) return Work::Run(&work, 0);
  return call.services->parallel_for(call.run, (total + chunk - 1) / chunk, Work::Run, &work);
}

// ---- Choosing by element type ---------------------------------------------------------------------------

// Calls body(TypeTag<T>) for the T among Ts whose DType is `dtype`.
template <typename... Ts, typename Body>
Status ForType(const char* kernel, DType dtype, const Body& body) {
  Status status;
  const bool is_found = ((DTypeOf<Ts>() == dtype ? (status = body(TypeTag<Ts>{}), true) : false) || ...);
  return is_found ? static_cast<Status&&>(status) : UnsupportedType(kernel, dtype);
}

// ---- Variables ------------------------------------------------------------------------------------------

inline Variable* VariableOf(const Tensor& reference) { return static_cast<Variable*>(reference.data); }

// A resource variable is named "resource:container/name", so that it is told from a reference variable.
inline const char* ResourceName(const Variable& variable) {
  constexpr char kPrefix[] = "resource:";
  constexpr size_t kLength = sizeof(kPrefix) - 1;
  return std::strncmp(variable.name, kPrefix, kLength) == 0 ? variable.name + kLength : nullptr;
}

inline Status Uninitialized(const Variable& variable) {
  if (const char* resource = ResourceName(variable)) {
    const char* slash = std::strchr(resource, '/');
    const char* name = slash != nullptr ? slash + 1 : resource;
    const int container = slash != nullptr ? static_cast<int>(slash - resource) : 0;
    return Error(
        Code::kFailedPrecondition,
        "Error while reading resource variable %s from Container: %.*s. This could mean that the variable was "
        "uninitialized. Not found: Resource %s does not exist.",
        name, container, resource, resource);
  }
  return Error(Code::kFailedPrecondition, "Attempting to use uninitialized value %s", variable.name);
}

// Makes the variable's buffer its own, copying it if a reader holds it. Call with the mutex held.
inline Status MakeUnique(const Services& services, Variable* variable) {
  Tensor& value = variable->value;
  if (value.buffer == nullptr) return Uninitialized(*variable);
  if (value.buffer->references.load(std::memory_order_acquire) == 1) return Status();
  Tensor copy;
  STILLFLOW_RETURN_IF_ERROR(Allocate(services, value.dtype, Shape(value), &copy));
  std::memcpy(copy.data, value.data, value.count * ElementBytes(value.dtype));
  if (HasCells(value.dtype)) {
    for (int64_t i = 0; i < value.count; ++i) {
      if (StringCell* cell = Data<StringCell*>(value)[i]) cell->references.fetch_add(1, std::memory_order_relaxed);
    }
  }
  Release(value.buffer);
  value = copy;
  return Status();
}

// ---- Listing kernels ------------------------------------------------------------------------------------

// The kernels of csrc/kernels/array/gather.cc: STILLFLOW_KERNELS(array, gather){{"gather", "params, indices |
// batch_dims", Gather}, {}}; The build finds the table by the file's folder and stem.
#define STILLFLOW_KERNELS(folder, stem) extern const ::stillflow::KernelDef kKernelsOf_##folder##_##stem[] =

}  // namespace stillflow
