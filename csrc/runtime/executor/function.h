// function.h: a function of a graph: a program that kernels call, and what its stateful ops keep between calls.
//
// A function itself is immutable and has no memory. Whoever calls it says whose call it is by the FunctionState: a
// node of a graph has one in its session, an iterator one for each function of its datasets.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "kernel_api/abi.h"
#include "runtime/executor/program.h"
#include "runtime/executor/run_context.h"
#include "runtime/executor/state_table.h"

namespace stillflow {

// The states of the stateful ops of a function, for one of its callers. The function may be compiled anew: states
// are found by the names of nodes.
class FunctionState {
 public:
  // The states of the body's steps in their order, made when first asked for; null if none of them has one.
  Status Bind(const Program& body, void* const** states);

  // All of it as bytes, for Restore, which returns false and changes nothing if the bytes are not such.
  std::string Save();
  bool Restore(const std::string& bytes);
  // Whether there is nothing to save.
  bool IsEmpty();

 private:
  StateTable table_;
  std::mutex mutex_;
  std::map<int64_t, std::vector<void*>> bound_;  // by the bodies' numbers
};

// What is known of a function besides its body.
struct FunctionSignature {
  std::string name;
  bool is_stateful;                // calls can be told apart but by their results, so they are made in one order
  std::vector<DType> input_types;  // kRef for a variable
  std::vector<DType> output_types;
};

class Function : public std::enable_shared_from_this<Function> {
 public:
  // The signature is the body's.
  Function(std::shared_ptr<Program> body, FunctionSignature signature)
      : body_(std::move(body)), signature_(std::move(signature)) {}
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

  const std::string& name() const { return signature_.name; }
  bool is_stateful() const { return signature_.is_stateful; }
  const std::vector<DType>& input_types() const { return signature_.input_types; }
  const std::vector<DType>& output_types() const { return signature_.output_types; }

  // An error if the results are not of these types.
  Status CheckOutputs(const std::vector<DType>& expected) const;

  // Whether a step with one of these kernels reads the first argument as its first input, or does so in a function
  // that a step with one of the kernels `callers` calls.
  bool HandsOn(const std::set<std::string>& kernels, const std::set<std::string>& callers) const;

  // Runs the body for a kernel of the run `caller`, on its thread. The arguments are borrowed; those of other types
  // are an error. Each of `out` gets a reference of its own, or no buffer after a failure, which names the node of
  // the body. Any number of threads may call at the same time; they have a RunContext each. What ends the caller's
  // run ends the call.
  Status Call(RunContext* caller, FunctionState* state, const Tensor* const* in, int32_t in_count,
              Tensor* const* out) const;

 private:
  Status CheckInputs(const Tensor* const* in, int32_t in_count) const;

  const std::shared_ptr<Program> body_;
  const FunctionSignature signature_;
};

// The function that is an attribute of a step. It may be kept beyond the step's program.
inline std::shared_ptr<const Function> FunctionOf(const Attr& attr) {
  return static_cast<const Function*>(attr.data)->shared_from_this();
}

}  // namespace stillflow
