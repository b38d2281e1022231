// abi.h: the types that the executor shares with the kernel libraries.
//
// One kernel library is built per instruction set and loaded at run time, so everything here has a fixed
// layout and nothing here does arithmetic. kernel.h adds what kernel authors write with.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace stillflow {

// TensorFlow's DataType numbers, so that a value means the same in a GraphDef and in memory.
enum class DType : int32_t {
  kInvalid = 0,
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kUInt8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kComplex64 = 8,
  kInt64 = 9,
  kBool = 10,
  kQInt8 = 11,
  kQUInt8 = 12,
  kQInt32 = 13,
  kBFloat16 = 14,
  kQInt16 = 15,
  kQUInt16 = 16,
  kUInt16 = 17,
  kComplex128 = 18,
  kHalf = 19,
  kResource = 20,
  kVariant = 21,
  kUInt32 = 22,
  kUInt64 = 23,
  kRef = 1000,  // a reference to a variable: `Tensor::data` points to a Variable
};

constexpr int kMaxRank = 16;

// Reference-counted bytes. A borrowed buffer belongs to the caller of the run that sees it: it may be read
// during that run, and is neither written nor kept.
struct Buffer {
  std::atomic<int32_t> references;
  bool is_borrowed;
  int64_t capacity_bytes;
  void* data;
  void (*destroy)(Buffer*);
};

// An immutable, reference-counted byte string; the element type of string tensors is StringCell*, where
// null is the empty string.
struct StringCell {
  std::atomic<int32_t> references;
  int64_t size;
  char bytes[1];
};

// The element type of variant tensors is Variant*, where null is a variant that holds nothing. Whatever follows the
// header belongs to the kind of value, which `destroy` tells. As in a StringCell, the count of references comes
// first. AddN and ZerosLike call the last two, which are null for kinds of values that have no sum.
class Status;
struct Services;
struct Variant {
  std::atomic<int32_t> references;
  void (*destroy)(Variant*);
  Status (*add)(const Services& services, const Variant& a, const Variant& b, Variant** sum);
  Status (*zeros_like)(const Services& services, const Variant& value, Variant** zeros);
};

struct Tensor {
  void* data;      // first element; unspecified when count is 0
  Buffer* buffer;  // null: no value
  int64_t count;
  DType dtype;
  int32_t rank;
  int64_t dims[kMaxRank];
};

// TensorFlow's error codes.
enum class Code : int32_t {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
};

// The outcome of a kernel. `part` says which of the nodes fused into a step failed.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, char* owned_message) : code_(code), message_(owned_message) {}
  Status(Status&& other) noexcept : code_(other.code_), part_(other.part_), message_(other.message_) {
    other.message_ = nullptr;
  }
  Status& operator=(Status&& other) noexcept {
    if (this != &other) {
      std::free(message_);
      code_ = other.code_;
      part_ = other.part_;
      message_ = other.message_;
      other.message_ = nullptr;
    }
    return *this;
  }
  ~Status() { std::free(message_); }

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const char* message() const { return message_ ? message_ : ""; }
  int32_t part() const { return part_; }
  Status&& InPart(int32_t part) && {
    part_ = part;
    return static_cast<Status&&>(*this);
  }

 private:
  Code code_ = Code::kOk;
  int32_t part_ = 0;
  char* message_ = nullptr;
};

// As std::mutex is; what <mutex> brings with it is a third of what a kernel's file takes to compile.
class Mutex {
 public:
  void lock() { pthread_mutex_lock(&mutex_); }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};
class MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// A variable of a session. The mutex guards `value`; whoever updates in place holds it for as long as that
// takes, so a reader sees the value before or after an update and never a mixture.
struct Variable {
  Mutex mutex;
  Tensor value;  // buffer is null until the first assignment
  DType dtype;
  int32_t rank;  // of the declared shape; -1 when unknown
  int64_t dims[kMaxRank];
  const char* name;
};

// The position of a random op in its Philox stream (specs: key = seed, counter = seed2 * 2^64 at the start).
struct RandomState {
  Mutex mutex;
  uint64_t key;
  uint64_t counter_low;
  uint64_t counter_high;
};

// An attribute, decoded when the step was made. Which members count follows from what the kernel asks for.
struct Attr {
  int64_t i;
  double f;
  const void* data;  // list elements (int64_t or double), or the bytes of a string
  int64_t size;      // number of list elements or bytes
};

struct RunContext;

// What the executor does for kernels.
struct Services {
  // Returns 64-byte aligned memory of at least `bytes` bytes with one reference, or null.
  Buffer* (*allocate)(int64_t bytes);
  // Returns `count` null cells with one reference, or null.
  Buffer* (*allocate_strings)(int64_t count);
  // The same of variants.
  Buffer* (*allocate_variants)(int64_t count);
  // Returns a cell with one reference, to be put into such a buffer, or null.
  StringCell* (*new_string)(const char* bytes, int64_t size);
  // Calls body(arg, chunk) once for each chunk in [0, count), possibly from several threads. After a failure
  // no higher chunk starts, and the failure of the lowest chunk that fails is returned.
  Status (*parallel_for)(RunContext* run, int64_t count, Status (*body)(void* arg, int64_t chunk), void* arg);
  // How many threads a parallel_for of this run may use; for sizing only, results must not depend on it.
  int (*thread_count)(RunContext* run);
};

struct KernelCall {
  const Tensor* const* in;
  Tensor* const* out;
  int32_t in_count;
  int32_t out_count;
  uint64_t dying;  // bit i: nothing reads in[i] after this step, so its buffer may become an output's
  const Attr* attrs;
  void* prepared;  // what the kernel's `prepare` returned for this step
  void* state;     // RandomState, or what the kernel's `new_state` returned, for this node and session
  RunContext* run;
  const Services* services;
  uint64_t unread;  // bit i: nothing reads out[i], which the kernel may leave without a value
};

using KernelFunction = Status (*)(const KernelCall& call);

// A kernel as its library lists it.
//
// `parameters` names inputs, then attributes after a bar: "params, indices, axis | batch_dims". A name that
// ends in "..." stands for any number of inputs. Of an attribute that is one of some names, these follow it:
// "data, segment_ids | operation: sum mean prod"; Attr::i then is the place of the name in that list.
struct KernelDef {
  const char* name;
  const char* parameters;
  KernelFunction run;
  Status (*prepare)(const Attr* attrs, void** prepared);
  void (*release_prepared)(void* prepared);
  Status (*new_state)(const Attr* attrs, void** state);
  void (*free_state)(void* state);
  // For states that are worth keeping: writes one to `bytes` unless that is null, and returns how many there are, or
  // -1 if it cannot be saved now.
  int64_t (*save_state)(void* state, void* bytes);
  // Returns false, and changes nothing, if the bytes are not of such a state.
  bool (*restore_state)(void* state, const void* bytes, int64_t size);
};

// What a kernel library exports, as the C symbol `stillflow_kernel_library`; the engine's own services are
// `stillflow_runtime_kernel_library`.
struct KernelLibrary {
  const char* isa;
  const KernelDef* const* tables;  // one per file of the folder, each ended by an entry without a name
  int32_t table_count;
};

}  // namespace stillflow
