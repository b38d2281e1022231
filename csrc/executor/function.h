// function.h: a function of a graph: a program that kernels call, and what its stateful ops keep between calls.
//
// A function itself is immutable and has no memory. Whoever calls it says whose call it is by the FunctionState: a
// node of a graph has one in its session, an iterator one for each function of its datasets.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "executor/program.h"
#include "executor/run_context.h"
#include "executor/state_table.h"
#include "kernel_api/abi.h"

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

 private:
  StateTable table_;
  std::mutex mutex_;
  std::map<int64_t, std::vector<void*>> bound_;  // by the bodies' numbers
};

class Function : public std::enable_shared_from_this<Function> {
 public:
  // `is_stateful` says whether calls can be told apart but by their results: they are then made in one order.
  Function(std::shared_ptr<Program> body, bool is_stateful) : body_(std::move(body)), is_stateful_(is_stateful) {}
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

  bool is_stateful() const { return is_stateful_; }
  int32_t input_count() const { return body_->feed_count(); }
  int32_t output_count() const { return body_->fetch_count(); }

  // Runs the body for a kernel of the run `caller`, on its thread. `in` is borrowed; each of `out` gets a reference
  // of its own, or no buffer after a failure, which names the node of the body. Any number of threads may call at the
  // same time; they have a RunContext each. What ends the caller's run ends the call.
  Status Call(RunContext* caller, FunctionState* state, const Tensor* const* in, Tensor* const* out) const;

 private:
  const std::shared_ptr<Program> body_;
  const bool is_stateful_;
};

// The function that is an attribute of a step. It may be kept beyond the step's program.
inline std::shared_ptr<const Function> FunctionOf(const Attr& attr) {
  return static_cast<const Function*>(attr.data)->shared_from_this();
}

}  // namespace stillflow
