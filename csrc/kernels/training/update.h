// update.h: what optimizer kernels have in common. A kernel is a formula for one element:
//
//   template <typename W>
//   struct Momentum {
//     W lr, momentum;
//     Momentum(const W* scalars, const Attr*) : lr(scalars[0]), momentum(scalars[1]) {}
//     void operator()(W grad, W& var, W& accum) const { ... }
//   };
//   const UpdateSignature kMomentum = {2, {"var", "accum"}, "grad", {"lr", "grad", "momentum"}};
//
// Its inputs are variables, then in any order the gradient, for sparse updates the "indices" of its rows, and
// scalars. All variables are read and written in one pass over memory. Each element is computed from its own place
// alone, and rows that occur several times are updated in the order of their indices, so neither chunks nor threads
// change a bit.
#pragma once

#include <algorithm>
#include <utility>

#include "arithmetic/math/scalar.h"
#include "memory/dealt_rows.h"
#include "memory/indices.h"
#include "memory/prefetch.h"

namespace stillflow {

constexpr int kMostVariables = 4;
constexpr int kMostScalars = 8;

struct UpdateSignature {
  int variable_count;
  const char* variables[kMostVariables];
  const char* gradient;
  const char* arguments[kMostScalars + 2];  // the inputs after the variables; null after the last
};

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

namespace update {

constexpr int64_t kElementsPerChunk = 16384;

// ---- Checks -------------------------------------------------------------------------------------------------

inline Status CheckScalar(const Tensor& tensor, const char* name) {
  if (tensor.rank == 0) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s is not a scalar: %s", name, ShapeText(tensor).c_str());
}

inline Status CheckSameShape(const Tensor& var, const char* var_name, const Tensor& other, const char* name) {
  if (Shape(var) == Shape(other)) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s and %s do not have the same shape%s %s", var_name, name,
                                    ShapeText(var).c_str(), ShapeText(other).c_str());
}

inline Status CheckVariables(const LockedVariables& variables, const UpdateSignature& signature, DType dtype) {
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
inline Status ReadRows(const Tensor& var, const Tensor& grad, const Tensor& indices, int64_t* rows) {
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

// ---- The loop -----------------------------------------------------------------------------------------------

template <typename T, typename Formula, size_t... kIndex>
inline void UpdateElements(const Formula& formula, const T* grad, int64_t count, T* const* variables,
                           std::index_sequence<kIndex...>) {
  T* const pointers[] = {variables[kIndex]...};
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    Wide<T> values[] = {Widen(pointers[kIndex][i])...};
    formula(Widen(grad[i]), values[kIndex]...);
    ((pointers[kIndex][i] = Narrow<T>(values[kIndex])), ...);
  }
}

template <typename T, int kVariables, typename Formula>
inline void UpdateRun(const Formula& formula, const LockedVariables& locked, int64_t at, const T* grad,
                      int64_t count) {
  T* variables[kVariables];
  for (int i = 0; i < kVariables; ++i) variables[i] = MutableData<T>(locked[i]) + at;
  UpdateElements(formula, grad, count, variables, std::make_index_sequence<kVariables>());
}

template <typename T, int kVariables, typename Formula>
Status UpdateDense(const KernelCall& call, const Formula& formula, const LockedVariables& locked,
                   const Tensor& grad) {
  return ForEachChunk(call, grad.count, kElementsPerChunk, [&](Range range) {
    UpdateRun<T, kVariables>(formula, locked, range.begin, Data<T>(grad) + range.begin, range.end - range.begin);
  });
}

// Makes updates number(0), ..., number(count - 1). A kWidth other than 0 is the rows' width, as the compiler should
// know.
template <typename T, int kVariables, int kWidth, typename Formula, typename Number>
void UpdateInOrder(const Formula& formula, const LockedVariables& locked, const T* grad, const int64_t* rows,
                   int64_t count, int64_t row_width, const Number number) {
  const int64_t width = kWidth > 0 ? kWidth : row_width;
  const int64_t row_bytes = width * static_cast<int64_t>(sizeof(T));
  T* variables[kVariables];
  for (int k = 0; k < kVariables; ++k) variables[k] = MutableData<T>(locked[k]);
  const auto fetch = [&](int64_t i) __attribute__((always_inline)) {
    for (int k = 0; k < kVariables; ++k) PrefetchRow(variables[k] + rows[number(i)] * width, row_bytes);
  };
  FetchAhead ahead(0, count, RowsAhead(row_bytes * kVariables, kProcessor.random_bytes_ahead), fetch);
  for (int64_t i = 0; i < count; ++i) {
    ahead.Before(i);
    const int64_t update = number(i);
    T* row[kVariables];
    for (int k = 0; k < kVariables; ++k) row[k] = variables[k] + rows[update] * width;
    UpdateElements(formula, grad + update * width, width, row, std::make_index_sequence<kVariables>());
  }
}

template <typename T, int kVariables, typename Formula>
Status UpdateRows(const KernelCall& call, const Formula& formula, const LockedVariables& locked, const Tensor& grad,
                  const int64_t* rows, int64_t count) {
  if (count == 0) return Status();
  const int64_t width = grad.count / count;
  const int64_t row_bytes = width * static_cast<int64_t>(sizeof(T));
  return ForDealtRows(call, rows, count, row_bytes, [&](int64_t dealt, const auto& number) {
    const T* const from = Data<T>(grad);
    if (width == 1) return UpdateInOrder<T, kVariables, 1>(formula, locked, from, rows, dealt, width, number);
    UpdateInOrder<T, kVariables, 0>(formula, locked, from, rows, dealt, width, number);
  });
}

}  // namespace update

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
        STILLFLOW_RETURN_IF_ERROR(update::CheckScalar(**in, *name));
        scalars[scalar_count++] = *in;
      }
    }
    return Status();
  }
};

// Runs a formula on in[0], in[1], ..., the variables of `signature`.
template <template <typename> class Formula, int kVariables>
Status ApplyUpdate(const KernelCall& call, const UpdateSignature& signature) {
  UpdateArguments arguments;
  STILLFLOW_RETURN_IF_ERROR(arguments.Read(call, signature));
  const Tensor& grad = *arguments.grad;
  const Tensor* indices = arguments.indices;
  LockedVariables locked(call, kVariables);
  STILLFLOW_RETURN_IF_ERROR(update::CheckVariables(locked, signature, grad.dtype));
  const int64_t row_count = indices != nullptr ? indices->count : 0;
  const Scratch rows(call, row_count * static_cast<int64_t>(sizeof(int64_t)));
  if (!rows.ok()) return OutOfScratch();
  STILLFLOW_RETURN_IF_ERROR(
      indices != nullptr ? update::ReadRows(locked[0], grad, *indices, rows.data<int64_t>())
                         : update::CheckSameShape(locked[0], signature.variables[0], grad, signature.gradient));
  STILLFLOW_RETURN_IF_ERROR(locked.MakeAllUnique(*call.services));
  return ForType<float, double, Half, BFloat16>("optimizer", grad.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Wide<T> values[kMostScalars];
    for (int i = 0; i < arguments.scalar_count; ++i) {
      const Tensor& scalar = *arguments.scalars[i];  // a count of steps is an integer
      values[i] =
          scalar.dtype == DType::kInt64 ? static_cast<Wide<T>>(*Data<int64_t>(scalar)) : Widen(*Data<T>(scalar));
    }
    const Formula<Wide<T>> formula(values, call.attrs);
    return indices != nullptr
               ? update::UpdateRows<T, kVariables>(call, formula, locked, grad, rows.data<int64_t>(), row_count)
               : update::UpdateDense<T, kVariables>(call, formula, locked, grad);
  });
}

}  // namespace stillflow
