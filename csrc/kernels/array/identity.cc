// identity_n: every output is an input.
#include "kernel_api/kernel.h"

namespace stillflow {
namespace {

// out[i] is in[i].
Status IdentityN(const KernelCall& call) {
  for (int i = 0; i < call.in_count; ++i) Alias(call, i, i, Shape(*call.in[i]));
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(array, identity){{"identity_n", "inputs...", IdentityN}, {}};

}  // namespace stillflow
