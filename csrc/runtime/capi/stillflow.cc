#include "runtime/capi/stillflow.h"

#include <cstring>
#include <new>
#include <utility>

#include "runtime/capi/guarded.h"
#include "runtime/executor/buffer.h"
#include "runtime/executor/cpu.h"
#include "runtime/executor/function.h"
#include "runtime/executor/host_watch.h"
#include "runtime/executor/kernel_library.h"
#include "runtime/executor/program.h"
#include "runtime/executor/session.h"
#include "runtime/executor/thread_pool.h"

using stillflow::Buffer;
using stillflow::Code;
using stillflow::DType;
using stillflow::Guarded;
using stillflow::KernelDef;
using stillflow::Status;
using stillflow::StringCell;
using stillflow::Tensor;

static_assert(sizeof(sf_tensor) == sizeof(Tensor) && SF_MAX_RANK == stillflow::kMaxRank,
              "sf_tensor is Tensor under its C name");
static_assert(sizeof(sf_step_trace) == sizeof(stillflow::StepTrace), "sf_step_trace is StepTrace under its C name");

struct sf_kernels {
  std::vector<const KernelDef*> all;
};

struct sf_program {
  sf_program(sf_session* owner, const sf_kernels* library, int32_t slot_count, bool is_function_body)
      : session(&owner->session),
        kernels(library),
        shared(std::make_shared<stillflow::Program>(session, slot_count)),
        program(*shared),
        is_body(is_function_body) {}

  stillflow::Session* session;
  const sf_kernels* kernels;
  std::shared_ptr<stillflow::Program> shared;  // with the functions that it is the body of
  stillflow::Program& program;
  const bool is_body;
  // The step being described.
  stillflow::AttrList attrs;
  stillflow::StateSpec state;
  std::vector<std::string> parts;
  std::vector<int32_t> guard;
};

namespace {

Buffer* Unwrap(sf_buffer* buffer) { return reinterpret_cast<Buffer*>(buffer); }
const Buffer* Unwrap(const sf_buffer* buffer) { return reinterpret_cast<const Buffer*>(buffer); }
sf_buffer* Wrap(Buffer* buffer) { return reinterpret_cast<sf_buffer*>(buffer); }

Status AddStep(sf_program* program, int32_t kernel, stillflow::StepSpec spec) {
  using Kind = stillflow::StateSpec::Kind;
  spec.kernel = program->kernels->all[kernel];
  spec.attrs = std::exchange(program->attrs, {});
  Status named = spec.attrs.NumberNames(*spec.kernel);
  if (!named.ok()) return named;
  spec.guard = std::exchange(program->guard, {});
  spec.parts = std::exchange(program->parts, {});
  spec.state = nullptr;
  stillflow::StateSpec state = std::exchange(program->state, {});
  stillflow::StateTable* const states = program->session->states();
  if (program->is_body) {
    spec.state_spec = std::move(state);
  } else if (state.kind == Kind::kRandom) {
    spec.state = states->GetRandom(state.name, state.seed, state.seed2);
  } else if (state.kind == Kind::kOp) {
    Status status;
    spec.state = states->GetOp(state.name, *spec.kernel, spec.attrs.data(), &status);
    if (!status.ok()) return status;
  }
  return program->program.AddStep(std::move(spec));
}

}  // namespace

extern "C" {

void sf_free(void* memory) { std::free(memory); }

const char* const* sf_supported_isas(void) { return stillflow::SupportedIsas(); }

int32_t sf_kernels_open(const char* path, sf_kernels** kernels, char** message) {
  return Guarded(message, [&] {
    auto library = std::make_unique<sf_kernels>();
    Status status = stillflow::LoadKernels(path, &library->all);
    if (!status.ok()) return status;
    *kernels = library.release();
    return status;
  });
}

int32_t sf_kernels_count(const sf_kernels* kernels) { return static_cast<int32_t>(kernels->all.size()); }
const char* sf_kernels_name(const sf_kernels* kernels, int32_t kernel) { return kernels->all[kernel]->name; }
const char* sf_kernels_parameters(const sf_kernels* kernels, int32_t kernel) {
  return kernels->all[kernel]->parameters;
}

sf_buffer* sf_buffer_allocate(int64_t bytes, void** data) {
  Buffer* buffer = stillflow::AllocateBuffer(bytes);
  if (buffer != nullptr) *data = buffer->data;
  return Wrap(buffer);
}

void sf_buffer_retain(sf_buffer* buffer) { stillflow::Retain(Unwrap(buffer)); }
void sf_buffer_release(sf_buffer* buffer) { stillflow::Release(Unwrap(buffer)); }

bool sf_buffer_is_unique(const sf_buffer* buffer) {
  return !Unwrap(buffer)->is_borrowed && Unwrap(buffer)->references.load(std::memory_order_acquire) == 1;
}

sf_buffer* sf_strings_allocate(int64_t count, void** data) {
  Buffer* buffer = stillflow::AllocateStrings(count);
  if (buffer != nullptr) *data = buffer->data;
  return Wrap(buffer);
}

bool sf_string_set(void* data, int64_t index, const char* bytes, int64_t size) {
  StringCell* cell = stillflow::NewString(bytes, size);
  static_cast<StringCell**>(data)[index] = cell;
  return cell != nullptr;
}

const char* sf_string_get(const void* data, int64_t index, int64_t* size) {
  const StringCell* cell = static_cast<StringCell* const*>(data)[index];
  *size = cell == nullptr ? 0 : cell->size;
  return cell == nullptr ? "" : cell->bytes;
}

void sf_allocator_statistics(int64_t* used_bytes, int64_t* cached_bytes) {
  const stillflow::AllocatorStatistics statistics = stillflow::GetAllocatorStatistics();
  *used_bytes = statistics.used_bytes;
  *cached_bytes = statistics.cached_bytes;
}

sf_container* sf_container_new(void) { return new (std::nothrow) sf_container; }
void sf_container_free(sf_container* container) { delete container; }

sf_session* sf_session_new(int32_t threads, sf_container* container) {
  return new (std::nothrow) sf_session(threads, container == nullptr ? nullptr : container->container);
}
void sf_session_free(sf_session* session) { delete session; }
void sf_session_close(sf_session* session) { session->session.Close(); }

sf_variable* sf_session_variable(sf_session* session, const char* place, const char* name, int32_t dtype,
                                 int32_t rank, const int64_t* dims) {
  stillflow::Variable* variable = session->session.GetVariable(place, name, static_cast<DType>(dtype), rank, dims);
  return reinterpret_cast<sf_variable*>(variable);
}

void sf_variable_clear(sf_variable* handle) {
  auto* variable = reinterpret_cast<stillflow::Variable*>(handle);
  stillflow::Buffer* buffer;
  {
    stillflow::MutexLock guard(variable->mutex);
    buffer = variable->value.buffer;
    variable->value.buffer = nullptr;
  }
  if (buffer != nullptr) stillflow::Release(buffer);
}

bool sf_session_random_state(sf_session* session, int64_t index, const char** name, uint64_t* key,
                             uint64_t* counter_low, uint64_t* counter_high) {
  int64_t position = 0;
  bool is_found = false;
  session->session.states()->VisitRandom([&](const std::string& node, stillflow::RandomState* state) {
    if (position++ != index) return;
    stillflow::MutexLock guard(state->mutex);
    *name = node.c_str();
    *key = state->key;
    *counter_low = state->counter_low;
    *counter_high = state->counter_high;
    is_found = true;
  });
  return is_found;
}

int32_t sf_session_set_random_state(sf_session* session, const char* name, uint64_t key, uint64_t counter_low,
                                    uint64_t counter_high, char** message) {
  return Guarded(message, [&] {
    session->session.states()->SetRandom(name, key, counter_low, counter_high);
    return Status();
  });
}

int32_t sf_session_save_op_states(sf_session* session, char** message,
                                  void (*visit)(void* arg, const char* name, const char* bytes, int64_t size),
                                  void* arg) {
  return Guarded(message, [&] {
    for (const auto& entry : session->session.states()->SaveOps()) {
      visit(arg, entry.first.c_str(), entry.second.data(), static_cast<int64_t>(entry.second.size()));
    }
    return Status();
  });
}

int32_t sf_session_restore_op_state(sf_session* session, const char* name, const char* bytes, int64_t size,
                                    char** message) {
  return Guarded(message, [&] {
    if (session->session.states()->RestoreOp(name, std::string(bytes, size))) return Status();
    constexpr char kText[] = "The saved state is not one of this op";
    return Status(stillflow::Code::kFailedPrecondition, strdup(kText));
  });
}

void sf_session_forget_resource(sf_session* session, const char* kind, const char* name) {
  session->session.resources()->Erase(kind, {"localhost", name});
  session->session.states()->Forget(name);
}

sf_program* sf_program_new(sf_session* session, const sf_kernels* kernels, int32_t slot_count, bool is_body) {
  return new (std::nothrow) sf_program(session, kernels, slot_count, is_body);
}
void sf_program_free(sf_program* program) { delete program; }

void sf_program_constant(sf_program* program, int32_t slot, const sf_tensor* value) {
  program->program.AddConstant(slot, *reinterpret_cast<const Tensor*>(value));
}

void sf_program_reference(sf_program* program, int32_t slot, sf_variable* variable) {
  program->program.AddReference(slot, reinterpret_cast<stillflow::Variable*>(variable));
}

void sf_program_attr_int(sf_program* program, int64_t value) { program->attrs.AddInt(value); }
void sf_program_attr_float(sf_program* program, double value) { program->attrs.AddFloat(value); }
void sf_program_attr_bytes(sf_program* program, const void* data, int64_t bytes, int64_t size) {
  program->attrs.AddBytes(data, bytes, size);
}

void sf_program_attr_function(sf_program* program, const sf_program* body, const char* name, bool is_stateful,
                              const int32_t* input_types, const int32_t* output_types) {
  const auto types = [](const int32_t* numbers, int32_t count) {
    std::vector<DType> found;
    for (int32_t i = 0; i < count; ++i) found.push_back(static_cast<DType>(numbers[i]));
    return found;
  };
  const stillflow::Program& run = *body->shared;
  program->attrs.AddFunction(std::make_shared<const stillflow::Function>(
      body->shared, stillflow::FunctionSignature{name, is_stateful, types(input_types, run.feed_count()),
                                                 types(output_types, run.fetch_count())}));
}

void sf_program_random_state(sf_program* program, const char* name, int64_t seed, int64_t seed2) {
  program->state = {stillflow::StateSpec::Kind::kRandom, name, seed, seed2};
}

void sf_program_op_state(sf_program* program, const char* name) {
  program->state = {stillflow::StateSpec::Kind::kOp, name, 0, 0};
}

void sf_program_part(sf_program* program, const char* name) { program->parts.emplace_back(name); }

void sf_program_guard(sf_program* program, const int32_t* cells, int32_t count) {
  program->guard.assign(cells, cells + count);
}

int32_t sf_program_step(sf_program* program, int32_t kernel, const int32_t* in, int32_t in_count, const int32_t* out,
                        int32_t out_count, uint64_t dying, const int32_t* releases, int32_t release_count,
                        char** message) {
  return Guarded(message, [&] {
    stillflow::StepSpec spec;
    spec.in.assign(in, in + in_count);
    spec.out.assign(out, out + out_count);
    spec.dying = dying;
    spec.releases.assign(releases, releases + release_count);
    return AddStep(program, kernel, std::move(spec));
  });
}

int32_t sf_program_step_count(const sf_program* program) { return program->program.step_count(); }

void sf_program_feeds(sf_program* program, const int32_t* slots, int32_t count) {
  program->program.SetFeeds(std::vector<int32_t>(slots, slots + count));
}

void sf_program_fetches(sf_program* program, const int32_t* slots, int32_t count) {
  program->program.SetFetches(std::vector<int32_t>(slots, slots + count));
}

void sf_program_cells(sf_program* program, int32_t count) { program->program.SetCellCount(count); }

void sf_program_fetch_guard(sf_program* program, int32_t label, const int32_t* cells, int32_t count) {
  program->program.AddFetchGuard(label, std::vector<int32_t>(cells, cells + count));
}

void sf_program_unit(sf_program* program, int32_t first, int32_t end, bool is_loop, bool waits, const int32_t* after,
                     int32_t after_count, const int32_t* loosely_after, int32_t loosely_after_count) {
  program->program.AddUnit({first,
                            end,
                            is_loop,
                            waits,
                            {after, after + after_count},
                            {loosely_after, loosely_after + loosely_after_count}});
}

sf_outcome sf_program_run(sf_program* program, const sf_tensor* feeds, sf_tensor* results,
                          const sf_run_options* options) {
  constexpr int kFewFeeds = 16;
  sf_outcome outcome = {0, -1, 0, nullptr};
  outcome.code = Guarded(&outcome.message, [&] {
    const int32_t feed_count = program->program.feed_count();
    Buffer few_buffers[kFewFeeds];
    Tensor few_tensors[kFewFeeds];
    std::vector<Buffer> many_buffers(feed_count > kFewFeeds ? feed_count : 0);
    std::vector<Tensor> many_tensors(feed_count > kFewFeeds ? feed_count : 0);
    Buffer* buffers = feed_count > kFewFeeds ? many_buffers.data() : few_buffers;
    Tensor* tensors = feed_count > kFewFeeds ? many_tensors.data() : few_tensors;
    for (int32_t i = 0; i < feed_count; ++i) {
      tensors[i] = *reinterpret_cast<const Tensor*>(&feeds[i]);
      if (tensors[i].buffer != nullptr) continue;
      stillflow::BorrowBuffer(&buffers[i], tensors[i].data, 0);
      tensors[i].buffer = &buffers[i];
    }
    auto* fetched = reinterpret_cast<Tensor*>(results);
    const stillflow::RunOptions run_options = {{options->poll, options->arg},
                                               options->timeout_nanos,
                                               reinterpret_cast<stillflow::HostFunction>(options->host),
                                               reinterpret_cast<stillflow::StepTrace*>(options->trace)};
    stillflow::RunResult result = program->program.Run(tensors, fetched, run_options);
    for (int32_t i = 0; i < program->program.fetch_count(); ++i) {
      if (fetched[i].buffer != nullptr && fetched[i].buffer->is_borrowed) fetched[i].buffer = nullptr;
    }
    outcome.step = result.step;
    outcome.part = result.status.part();
    return std::move(result.status);
  });
  return outcome;
}

void sf_after_fork_in_child(void) {
  stillflow::ForgetThreadsAfterFork();
  stillflow::ForgetHostWatchAfterFork();
}

}  // extern "C"
