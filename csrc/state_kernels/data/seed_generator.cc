// make_seed_generator, delete_seed_generator, shuffle_dataset_v2: a data set in random order, the iterators over
// which take their seeds one after the other from a generator of its own.
//
//   make_seed_generator     in[0..1] seed, seed2: int64 scalars
//                           out[0] the generator's handle; out[1] a variant scalar that holds nothing
//   delete_seed_generator   in[0] the handle; in[1] the variant
//   shuffle_dataset_v2      in[0] a variant scalar that holds a data set; in[1] buffer_size; in[2] the handle
//                           out[0] a variant scalar that holds the data set
#include "datasets/seed_generator.h"

#include "datasets/datasets.h"
#include "state_kernels/data/function_arguments.h"
#include "state_kernels/data/optional.h"
#include "state_kernels/handle.h"

namespace stillflow {
namespace {

struct SharedSeeds final : Resource {
  static constexpr char kKind[] = "seed_generator";
  explicit SharedSeeds(std::shared_ptr<SeedGenerator> of) : generator(std::move(of)) {}
  const char* kind() const override { return kKind; }
  const std::shared_ptr<SeedGenerator> generator;
};

Status MakeSeedGenerator(const KernelCall& call) {
  uint64_t seed = 0, seed2 = 0;
  bool is_drawn = false;
  STILLFLOW_RETURN_IF_ERROR(SeedArguments(call, 0, &seed, &seed2, &is_drawn));
  STILLFLOW_RETURN_IF_ERROR(OutputHandle<SharedSeeds>(
      call,
      [&](const ResourceTable::Name&, std::shared_ptr<Resource>* made) {
        *made = std::make_shared<SharedSeeds>(std::make_shared<SeedGenerator>(seed, seed2));
        return Status();
      },
      [](const SharedSeeds&) { return Status(); }));
  return MakeVariant(*call.services, new OptionalVariant(nullptr), call.out[1]);
}

Status DeleteSeedGenerator(const KernelCall& call) {
  std::shared_ptr<SharedSeeds> seeds;
  STILLFLOW_RETURN_IF_ERROR(FindResource(call, 0, &seeds));
  call.run->session->resources()->Erase(*Data<int64_t>(*call.in[0]));
  return Status();
}

Status ShuffleV2(const KernelCall& call) {
  DatasetPtr input;
  ShuffleOptions options{};
  std::shared_ptr<SharedSeeds> seeds;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &input));
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, 1, "buffer_size", &options.buffer_size));
  if (options.buffer_size <= 0) return STILLFLOW_INVALID_ARGUMENT("buffer_size must be greater than zero.");
  STILLFLOW_RETURN_IF_ERROR(FindResource(call, 2, &seeds));
  return OutputDataset(call, MakeShuffleDataset(OutputSpec(call), std::move(input), options, true, seeds->generator));
}

}  // namespace

STILLFLOW_KERNELS(data, seed_generator){
    {"make_seed_generator", "seed, seed2 | handle: ref resource, container: localhost, shared_name, node_name",
     Guarded<MakeSeedGenerator>, nullptr, nullptr, HandleState::New, HandleState::Free},
    {"delete_seed_generator", "handle, deleter", Guarded<DeleteSeedGenerator>},
    {"shuffle_dataset_v2", "input_dataset, buffer_size, seed_generator | output_types, output_shapes",
     Guarded<ShuffleV2>},
    {}};

}  // namespace stillflow
