// captured_function.h: the functions that data sets call with elements.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "datasets/dataset.h"
#include "runtime/executor/function.h"

namespace stillflow {

// A function with the tensors that are its last arguments in every call. Never changes.
class CapturedFunction {
 public:
  // Shares the tensors, and copies those that belong to the run's caller.
  static Status Make(const Services& services, std::shared_ptr<const Function> function,
                     const Tensor* const* captured, int32_t count, std::shared_ptr<const CapturedFunction>* made);

  const Function& function() const { return *function_; }
  const Tuple& captured() const { return captured_; }
  bool ReadsVariables() const;
  void VisitTensors(const std::function<void(const Tensor&)>& visit) const;

 private:
  std::shared_ptr<const Function> function_;
  Tuple captured_;
};

using CapturedFunctionPtr = std::shared_ptr<const CapturedFunction>;

// A captured function as the iterators in one place call it: with what its stateful ops have kept.
class BoundFunction {
 public:
  Status Bind(IteratorContext* context, const Place& place, CapturedFunctionPtr captured);

  const CapturedFunction& captured() const { return *captured_; }
  bool is_stateful() const { return captured_->function().is_stateful(); }

  // Calls it with the components of an element.
  Status Call(IteratorContext* context, const Tuple& element, Tuple* result) const;
  // The same, with another state.
  Status CallWith(FunctionState* state, IteratorContext* context, const Tuple& element, Tuple* result) const;

  // The state, for a call to be made again; empty for a function that has none.
  std::string SaveState() const;
  bool RestoreState(const std::string& bytes) const;

 private:
  CapturedFunctionPtr captured_;
  std::shared_ptr<FunctionState> state_;
};

}  // namespace stillflow
