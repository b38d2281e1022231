// host_call.h: the step that leaves the engine and calls a function of the program that uses it.
#pragma once

#include "kernel_api/abi.h"

namespace stillflow {

// host_call: in[0...] arguments; attrs name (which function), types (a DType for each output); out[0...] results.
// It lies here and not in a kernel library because it needs the run, and no arithmetic.
extern const KernelDef kHostCall;

}  // namespace stillflow
