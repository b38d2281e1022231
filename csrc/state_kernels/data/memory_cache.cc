// make_memory_cache, delete_memory_cache, cache_dataset_v2: a data set whose elements are made once, for all
// iterators over it.
//
//   make_memory_cache     out[0] the cache's handle; out[1] a variant scalar that holds nothing
//   delete_memory_cache   in[0] the handle; in[1] the variant
//   cache_dataset_v2      in[0] a variant scalar that holds a data set; in[1] filename, empty for memory; in[2] the
//                         handle, of which a file has no need
//                         out[0] a variant scalar that holds the data set
#include "datasets/memory_cache.h"

#include "datasets/datasets.h"
#include "state_kernels/data/function_arguments.h"
#include "state_kernels/data/optional.h"
#include "state_kernels/handle.h"

namespace stillflow {
namespace {

struct SharedCache final : Resource {
  static constexpr char kKind[] = "memory_cache";
  const char* kind() const override { return kKind; }
  const std::shared_ptr<MemoryCache> cache = std::make_shared<MemoryCache>();
};

Status MakeMemoryCache(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(OutputHandle<SharedCache>(
      call,
      [&](const ResourceTable::Name&, std::shared_ptr<Resource>* made) {
        *made = std::make_shared<SharedCache>();
        return Status();
      },
      [](const SharedCache&) { return Status(); }));
  return MakeVariant(*call.services, new OptionalVariant(nullptr), call.out[1]);
}

Status DeleteMemoryCache(const KernelCall& call) {
  std::shared_ptr<SharedCache> shared;
  STILLFLOW_RETURN_IF_ERROR(FindResource(call, 0, &shared));
  call.run->session->resources()->Erase(*Data<int64_t>(*call.in[0]));
  return Status();
}

Status CacheV2(const KernelCall& call) {
  DatasetPtr input;
  std::string file;
  std::shared_ptr<SharedCache> shared;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &input));
  STILLFLOW_RETURN_IF_ERROR(StringArgument(call, 1, "filename", &file));
  STILLFLOW_RETURN_IF_ERROR(FindResource(call, 2, &shared));
  return OutputDataset(call, file.empty() ? MakeMemoryCacheDataset(OutputSpec(call), std::move(input), shared->cache)
                                          : MakeFileCacheDataset(OutputSpec(call), std::move(input), file));
}

}  // namespace

STILLFLOW_KERNELS(data, memory_cache){
    {"make_memory_cache", "| handle: ref resource, container: localhost, shared_name, node_name",
     Guarded<MakeMemoryCache>, nullptr, nullptr, HandleState::New, HandleState::Free},
    {"delete_memory_cache", "handle, deleter", Guarded<DeleteMemoryCache>},
    {"cache_dataset_v2", "input_dataset, filename, cache | output_types, output_shapes", Guarded<CacheV2>},
    {}};

}  // namespace stillflow
