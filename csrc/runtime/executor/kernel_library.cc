#include "runtime/executor/kernel_library.h"

#include <dlfcn.h>

#include <cstring>

extern "C" const stillflow::KernelLibrary stillflow_runtime_kernel_library;

namespace stillflow {
namespace {

void List(const KernelLibrary& library, std::vector<const KernelDef*>* kernels) {
  for (int32_t i = 0; i < library.table_count; ++i) {
    for (const KernelDef* kernel = library.tables[i]; kernel->name != nullptr; ++kernel) kernels->push_back(kernel);
  }
}

}  // namespace

Status LoadKernels(const std::string& path, std::vector<const KernelDef*>* kernels) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return Status(Code::kNotFound, strdup(dlerror()));
  auto* library = static_cast<const KernelLibrary*>(dlsym(handle, "stillflow_kernel_library"));
  if (library == nullptr) return Status(Code::kNotFound, strdup(("No kernels in " + path).c_str()));
  List(*library, kernels);
  List(stillflow_runtime_kernel_library, kernels);
  return Status();
}

}  // namespace stillflow
