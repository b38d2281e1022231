// host_call: a function of the program that runs the session, called with tensors.
//
//   in[0...] arguments; attrs name, types: of the results; out[0...] the results

#include <cstring>

#include "kernel_api/kernel.h"
#include "runtime/executor/cpu.h"
#include "runtime/executor/host_watch.h"
#include "runtime/executor/program.h"
#include "runtime/executor/run_context.h"

namespace stillflow {
namespace {

Status HostCall(const KernelCall& call) {
  const HostFunction host = call.run->options->host;
  const Attr& name = call.attrs[0];
  const auto* types = static_cast<const int64_t*>(call.attrs[1].data);
  if (host == nullptr || call.attrs[1].size != call.out_count) {
    return Status(Code::kInternal, strdup("This run cannot call functions of its program"));
  }
  for (int i = 0; i < call.out_count; ++i) call.out[i]->dtype = static_cast<DType>(types[i]);
  const HostFloatMode float_mode;
  const Session::HostScope scope(call.run->session);
  const HostWatch watch(call.run);
  char* message = nullptr;
  const int32_t code = host(call.run->options->interrupt.arg, static_cast<const char*>(name.data), name.size, call.in,
                            call.in_count, call.out, call.out_count, &message);
  return code == 0 ? Status() : Status(static_cast<Code>(code), message);
}

}  // namespace

STILLFLOW_KERNELS(host, py_functions){{"host_call", "inputs... | name, types", HostCall}, {}};

}  // namespace stillflow
