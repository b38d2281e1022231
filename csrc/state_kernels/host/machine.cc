// timestamp, bytes_in_use, bytes_limit, max_bytes_in_use: what the machine says at the moment of the run.
//
//   timestamp          out[0] double: seconds since 1970
//   bytes_in_use       out[0] int64: of the buffers that tensors have now
//   max_bytes_in_use   out[0] int64: the most that they have had since the process began
//   bytes_limit        out[0] int64: the machine's memory
#include <unistd.h>

#include <chrono>

#include "kernel_api/kernel.h"
#include "runtime/executor/allocator_statistics.h"

namespace stillflow {
namespace {

template <typename T>
Status Answer(const KernelCall& call, DType dtype, T value) {
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, dtype, Shape()));
  MutableData<T>(*call.out[0])[0] = value;
  return Status();
}

Status Timestamp(const KernelCall& call) {
  const std::chrono::duration<double> since = std::chrono::system_clock::now().time_since_epoch();
  return Answer<double>(call, DType::kDouble, since.count());
}

Status BytesInUse(const KernelCall& call) {
  return Answer<int64_t>(call, DType::kInt64, GetAllocatorStatistics().used_bytes);
}

Status MaxBytesInUse(const KernelCall& call) {
  return Answer<int64_t>(call, DType::kInt64, GetAllocatorStatistics().peak_bytes);
}

Status BytesLimit(const KernelCall& call) {
  return Answer<int64_t>(call, DType::kInt64, int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE));
}

}  // namespace

STILLFLOW_KERNELS(host, machine){{"timestamp", "", Timestamp},
                                 {"bytes_in_use", "", BytesInUse},
                                 {"max_bytes_in_use", "", MaxBytesInUse},
                                 {"bytes_limit", "", BytesLimit},
                                 {}};

}  // namespace stillflow
