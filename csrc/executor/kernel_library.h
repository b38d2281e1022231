// kernel_library.h: finds the kernels of a shared library made for one instruction set.
#pragma once

#include <string>
#include <vector>

#include "kernel_api/abi.h"

namespace stillflow {

// Loads `path` and lists its kernels in the order of the library; the library stays loaded for good.
Status LoadKernels(const std::string& path, std::vector<const KernelDef*>* kernels);

}  // namespace stillflow
