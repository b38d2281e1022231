// timestamp: out[0] double [], seconds since the epoch, in microseconds.
#include <chrono>

#include "kernel_api/kernel.h"

namespace stillflow {
namespace {

Status Timestamp(const KernelCall& call) {
  using std::chrono::microseconds;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kDouble, Shape()));
  *MutableData<double>(*call.out[0]) =
      static_cast<double>(std::chrono::duration_cast<microseconds>(now).count()) / 1e6;
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(state, timestamp){{"timestamp", "", Timestamp}, {}};

}  // namespace stillflow
