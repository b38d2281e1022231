// generator.h: random streams whose position is the value of a variable.
#pragma once

#include "arithmetic/random/stream.h"

namespace stillflow {

// in[0] is the variable, in[1] the algorithm, of which there is one.
// The position of a generator whose state is a variable: the counter's halves, then the key. It moves on by `count`
// elements.
inline Status TakeFromGenerator(const KernelCall& call, int64_t count, sf_philox* base) {
  if (call.in[1]->rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("algorithm must be of shape [], not %s", ShapeText(*call.in[1]).c_str());
  }
  const int64_t algorithm = IntAt(*call.in[1], 0);
  if (algorithm != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Unsupported algorithm id: %lld", static_cast<long long>(algorithm));
  }
  Variable* variable = VariableOf(*call.in[0]);
  MutexLock guard(variable->mutex);
  Tensor& state = variable->value;
  if (state.buffer == nullptr) return Uninitialized(*variable);
  if (state.dtype != DType::kInt64) {
    return STILLFLOW_INVALID_ARGUMENT("dtype of RNG state variable must be int64, not %s", Name(state.dtype));
  }
  if (state.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("RNG state must have one and only one dimension, not %d", state.rank);
  }
  if (state.count < 3) {
    return STILLFLOW_INVALID_ARGUMENT("For the Philox algorithm, the size of state must be at least 3; got %lld",
                                      static_cast<long long>(state.count));
  }
  STILLFLOW_RETURN_IF_ERROR(MakeUnique(*call.services, variable));
  auto* words = MutableData<uint64_t>(state);
  *base = {words[2], words[0], words[1]};
  const sf_philox next = sf_philox_skip(*base, static_cast<uint64_t>(count) * kBlocksPerElement);
  words[0] = next.low;
  words[1] = next.high;
  return Status();
}

}  // namespace stillflow
