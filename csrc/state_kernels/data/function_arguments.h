// function_arguments.h: what kernels of data sets that call functions share.
#pragma once

#include <memory>
#include <vector>

#include "datasets/functional.h"
#include "state_kernels/data/arguments.h"

namespace stillflow {

enum FunctionAttr { kTypes, kShapes, kFunction, kFirstOwn };

inline TupleSpec OutputSpec(const KernelCall& call) { return SpecOf(call.attrs[kTypes], call.attrs[kShapes]); }

// The function that is an attribute, with inputs [first, first + count). `results` are what it has to return.
inline Status Captured(const KernelCall& call, int attribute, int first, int64_t count,
                       const std::vector<DType>& results, CapturedFunctionPtr* made) {
  const auto function = FunctionOf(call.attrs[attribute]);
  STILLFLOW_RETURN_IF_ERROR(function->CheckOutputs(results));
  return CapturedFunction::Make(*call.services, function, call.in + first, static_cast<int32_t>(count), made);
}

// Of ops whose inputs are a data set, the function's last arguments, and `scalars` scalars.
inline Status InputAndFunction(const KernelCall& call, int scalars, const std::vector<DType>& results,
                               DatasetPtr* input, CapturedFunctionPtr* function) {
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], input));
  return Captured(call, kFunction, 1, call.in_count - 1 - scalars, results, function);
}

constexpr int64_t kAutomatic = -1;  // a number that is left open

}  // namespace stillflow
