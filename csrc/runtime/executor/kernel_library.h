// kernel_library.h: finds the kernels of a shared library made for one instruction set, and those of the engine.
#pragma once

#include <string>
#include <vector>

#include "kernel_api/abi.h"

namespace stillflow {

// Loads `path` and lists its kernels and then those of the engine itself; the library stays loaded for good.
Status LoadKernels(const std::string& path, std::vector<const KernelDef*>* kernels);

}  // namespace stillflow
