#include "kernels/training/update.h"

#include <algorithm>

#include "arithmetic/math/element.h"
#include "arithmetic/math/halves.h"
#include "memory/indices.h"
#include "memory/prefetch.h"
#include "memory/row_partition.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 16384;

// The first inputs of a call, references to variables, locked in the order of their addresses.
class LockedVariables {
 public:
  LockedVariables(const KernelCall& call, int count) : count_(count) {
    for (int i = 0; i < count; ++i) variables_[i] = order_[i] = VariableOf(*call.in[i]);
    std::sort(order_, order_ + count);
    different_ = static_cast<int>(std::unique(order_, order_ + count) - order_);
    for (int i = 0; i < different_; ++i) order_[i]->mutex.lock();
  }
  ~LockedVariables() {
    for (int i = different_ - 1; i >= 0; --i) order_[i]->mutex.unlock();
  }
  LockedVariables(const LockedVariables&) = delete;
  LockedVariables& operator=(const LockedVariables&) = delete;

  int count() const { return count_; }
  Tensor& operator[](int i) const { return variables_[i]->value; }
  Status CheckInitialized() const {
    for (int i = 0; i < count_; ++i) {
      if (variables_[i]->value.buffer == nullptr) {
        if (ResourceName(*variables_[i]) != nullptr) return Uninitialized(*variables_[i]);
        return Error(Code::kFailedPrecondition, "Attempting to use uninitialized variables: %s", variables_[i]->name);
      }
    }
    return Status();
  }
  // Makes buffers that a reader holds their variables' own.
  Status MakeAllUnique(const Services& services) {
    for (int i = 0; i < count_; ++i) STILLFLOW_RETURN_IF_ERROR(MakeUnique(services, variables_[i]));
    return Status();
  }

 private:
  int count_;
  int different_;
  Variable* variables_[kMostVariables];
  Variable* order_[kMostVariables];
};

// ---- Checks -------------------------------------------------------------------------------------------------

Status CheckScalar(const Tensor& tensor, const char* name) {
  if (tensor.rank == 0) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s is not a scalar: %s", name, ShapeText(tensor).c_str());
}

Status CheckSameShape(const Tensor& var, const char* var_name, const Tensor& other, const char* name) {
  if (Shape(var) == Shape(other)) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s and %s do not have the same shape%s %s", var_name, name,
                                    ShapeText(var).c_str(), ShapeText(other).c_str());
}

Status CheckVariables(const LockedVariables& variables, const UpdateSignature& signature, DType dtype) {
  STILLFLOW_RETURN_IF_ERROR(variables.CheckInitialized());
  for (int i = 0; i < variables.count(); ++i) {
    STILLFLOW_RETURN_IF_ERROR(
        CheckSameShape(variables[0], signature.variables[0], variables[i], signature.variables[i]));
    if (variables[i].dtype != dtype) {
      return STILLFLOW_INVALID_ARGUMENT("%s has type %s, but %s has type %s", signature.variables[i],
                                        Name(variables[i].dtype), signature.gradient, Name(dtype));
    }
  }
  return Status();
}

// A gradient of rows, and where they belong, which is copied to `rows`: what is checked is what is used, whatever
// another thread does to the indices.
Status ReadRows(const Tensor& var, const Tensor& grad, const Tensor& indices, int64_t* rows) {
  if (var.rank < 1) return STILLFLOW_INVALID_ARGUMENT("var must be at least 1 dimensional");
  if (indices.rank != 1) return STILLFLOW_INVALID_ARGUMENT("indices must be one-dimensional");
  if (grad.rank != var.rank) {
    return STILLFLOW_INVALID_ARGUMENT("grad must have as many dimensions as var, got %s and %s",
                                      ShapeText(grad).c_str(), ShapeText(var).c_str());
  }
  for (int i = 1; i < var.rank; ++i) {
    if (var.dims[i] != grad.dims[i]) {
      return STILLFLOW_INVALID_ARGUMENT("var and grad must match in dimension %d", i);
    }
  }
  if (grad.dims[0] != indices.dims[0]) {
    return STILLFLOW_INVALID_ARGUMENT("grad must be the same size as indices in the first dimension.");
  }
  const uint64_t largest = indices.dtype == DType::kInt64
                               ? CopyIndices<uint64_t>(Data<int64_t>(indices), indices.count, rows)
                               : CopyIndices<uint64_t>(Data<int32_t>(indices), indices.count, rows);
  if (largest < static_cast<uint64_t>(var.dims[0])) return Status();
  for (int64_t i = 0; i < indices.count; ++i) {
    if (rows[i] < 0 || rows[i] >= var.dims[0]) {
      return STILLFLOW_INVALID_ARGUMENT("Index %lld at offset %lld in indices is out of range",
                                        static_cast<long long>(rows[i]), static_cast<long long>(i));
    }
  }
  return Status();
}

// The inputs after the variables, told apart.
struct UpdateArguments {
  const Tensor* grad = nullptr;
  const Tensor* indices = nullptr;  // null for a dense update
  int scalar_count = 0;
  const Tensor* scalars[kMostScalars];

  Status Read(const KernelCall& call, const UpdateSignature& signature) {
    const Tensor* const* in = call.in + signature.variable_count;
    for (const char* const* name = signature.arguments; *name != nullptr; ++name, ++in) {
      if (std::strcmp(*name, signature.gradient) == 0) {
        grad = *in;
      } else if (std::strcmp(*name, "indices") == 0) {
        indices = *in;
      } else {
        STILLFLOW_RETURN_IF_ERROR(CheckScalar(**in, *name));
        scalars[scalar_count++] = *in;
      }
    }
    return Status();
  }
};

// ---- The loop -----------------------------------------------------------------------------------------------

// A formula and the type of the elements that it is for.
struct Updating {
  const LockedVariables& locked;
  const Tensor& grad;
  const UpdateRun run;
  alignas(16) char formula[kMostFormulaBytes];

  int64_t bytes() const { return ElementBytes(grad.dtype); }

  // Updates elements [at, at + count) by those of the gradient from `grad_at` on.
  void Update(int64_t at, int64_t grad_at, int64_t count) const {
    void* variables[kMostVariables];
    for (int k = 0; k < locked.count(); ++k) variables[k] = static_cast<char*>(locked[k].data) + at * bytes();
    const void* const from = Data<char>(grad) + grad_at * bytes();
    if (grad.dtype == DType::kHalf) return UpdateWidened<Half>(from, count, variables);
    if (grad.dtype == DType::kBFloat16) return UpdateWidened<BFloat16>(from, count, variables);
    run(formula, from, count, variables);
  }

 private:
  template <typename T>
  void UpdateWidened(const void* from, int64_t count, void* const* variables) const {
    constexpr int64_t kAtOnce = 512;
    float wide_grad[kAtOnce];
    float wide[kMostVariables][kAtOnce];
    void* places[kMostVariables];
    for (int64_t i = 0; i < count; i += kAtOnce) {
      const int64_t some = std::min(kAtOnce, count - i);
      WidenHalves(static_cast<const T*>(from) + i, some, wide_grad);
      for (int k = 0; k < locked.count(); ++k) {
        WidenHalves(static_cast<const T*>(variables[k]) + i, some, wide[k]);
        places[k] = wide[k];
      }
      run(formula, wide_grad, some, places);
      for (int k = 0; k < locked.count(); ++k) {
        T* const to = static_cast<T*>(variables[k]) + i;
        for (int64_t j = 0; j < some; ++j) to[j] = Narrow<T>(wide[k][j]);
      }
    }
  }
};

Status UpdateRows(const KernelCall& call, const Updating& updating, const int64_t* rows, int64_t count) {
  if (count == 0) return Status();
  const int64_t width = updating.grad.count / count;
  const int64_t row_bytes = width * updating.bytes();
  return ForRowPartition(call, rows, count, row_bytes, [&](int64_t some, const int64_t* list) {
    const auto number = [list](int64_t i) { return list == nullptr ? i : list[i]; };
    const auto fetch = [&](int64_t i) __attribute__((always_inline)) {
      for (int k = 0; k < updating.locked.count(); ++k) {
        PrefetchRow(static_cast<char*>(updating.locked[k].data) + rows[number(i)] * row_bytes, row_bytes);
      }
    };
    FetchAhead ahead(0, some, RowsAhead(row_bytes * updating.locked.count(), kRandomBytesAhead), fetch);
    for (int64_t i = 0; i < some; ++i) {
      ahead.Before(i);
      updating.Update(rows[number(i)] * width, number(i) * width, width);
    }
  });
}

// The scalars as W; a count of steps is an integer.
template <typename W>
void ReadScalars(const UpdateArguments& arguments, W* values) {
  for (int i = 0; i < arguments.scalar_count; ++i) {
    const Tensor& scalar = *arguments.scalars[i];
    (void)ForType<float, double, Half, BFloat16, int64_t>("", scalar.dtype, [&](auto tag) {
      values[i] = static_cast<W>(Load(*Data<typename decltype(tag)::type>(scalar)));
      return Status();
    });
  }
}

}  // namespace

Status ApplyUpdate(const KernelCall& call, const UpdateSignature& signature, const Formulas& formulas) {
  UpdateArguments arguments;
  STILLFLOW_RETURN_IF_ERROR(arguments.Read(call, signature));
  const Tensor& grad = *arguments.grad;
  const Tensor* indices = arguments.indices;
  LockedVariables locked(call, signature.variable_count);
  STILLFLOW_RETURN_IF_ERROR(CheckVariables(locked, signature, grad.dtype));
  const int64_t row_count = indices != nullptr ? indices->count : 0;
  const Scratch rows(call, row_count * static_cast<int64_t>(sizeof(int64_t)));
  if (!rows.ok()) return OutOfScratch();
  STILLFLOW_RETURN_IF_ERROR(indices != nullptr
                                ? ReadRows(locked[0], grad, *indices, rows.data<int64_t>())
                                : CheckSameShape(locked[0], signature.variables[0], grad, signature.gradient));
  STILLFLOW_RETURN_IF_ERROR(locked.MakeAllUnique(*call.services));
  return ForType<float, double, Half, BFloat16>("optimizer", grad.dtype, [&](auto tag) {
    using W = Wide<typename decltype(tag)::type>;
    constexpr int kIndex = std::is_same_v<W, double> ? 1 : 0;
    W scalars[kMostScalars];
    ReadScalars(arguments, scalars);
    Updating updating = {locked, grad, formulas.run[kIndex], {}};
    formulas.make[kIndex](scalars, call.attrs, updating.formula);
    if (indices != nullptr) return UpdateRows(call, updating, rows.data<int64_t>(), row_count);
    return ForEachChunk(call, grad.count, kElementsPerChunk,
                        [&](Range range) { updating.Update(range.begin, range.begin, range.end - range.begin); });
  });
}

}  // namespace stillflow
