// program.h: a compiled plan: a flat list of steps over slots, run from top to bottom.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "kernel_api/abi.h"
#include "runtime/executor/session.h"
#include "runtime/executor/state_table.h"
#include "runtime/executor/thread_pool.h"

namespace stillflow {

class Function;
class Lanes;

// Attributes that own their bytes and functions.
class AttrList {
 public:
  void AddInt(int64_t value) { attrs_.push_back({value, static_cast<double>(value), nullptr, 0}); }
  void AddFloat(double value) { attrs_.push_back({0, value, nullptr, 0}); }
  void AddBytes(const void* data, int64_t bytes, int64_t size);
  void AddFunction(std::shared_ptr<const Function> function);
  const Attr* data() const { return attrs_.data(); }
  const std::vector<std::shared_ptr<const Function>>& functions() const { return functions_; }

  // Gives names that a kernel's attributes may have their numbers; see KernelDef. Fails if one is none of them.
  Status NumberNames(const KernelDef& kernel);

 private:
  std::vector<Attr> attrs_;
  std::vector<std::shared_ptr<const Function>> functions_;
  std::vector<std::unique_ptr<char[]>> owned_;
};

// What a step of a function's body needs from whoever calls the function.
struct StateSpec {
  enum class Kind { kNone, kRandom, kOp };
  Kind kind = Kind::kNone;
  std::string name;
  int64_t seed = 0;
  int64_t seed2 = 0;
};

struct StepSpec {
  const KernelDef* kernel;
  std::vector<int32_t> in;
  std::vector<int32_t> out;
  uint64_t dying;                 // see KernelCall::dying
  std::vector<int32_t> releases;  // slots nobody reads after this step
  std::vector<int32_t> guard;     // cells: the step runs if all of them are live
  AttrList attrs;
  void* state;  // null in a function's body, which has `state_spec`
  StateSpec state_spec;
  std::vector<std::string> parts;  // the nodes that it stands for; of a function's body
};

// Steps that run together where a step is overtaken: see lanes.h.
struct Unit {
  int32_t first;  // steps: [first, end)
  int32_t end;
  bool is_loop;
  bool waits;                          // whether others may overtake it
  std::vector<int32_t> after;          // units that wait and that it depends on
  std::vector<int32_t> loosely_after;  // and those that it comes after because of what both use
};

// A function of the program that uses the engine, called by host_call steps. Fills `out`, whose dtypes are what is
// expected, or returns an error code and a message from malloc.
using HostFunction = int32_t (*)(void* arg, const char* name, int64_t name_size, const Tensor* const* in,
                                 int32_t in_count, Tensor* const* out, int32_t out_count, char** message);

// When a step ran, in nanoseconds since 1970, and the size of what it made.
struct StepTrace {
  int64_t start_nanos;
  int64_t end_nanos;
  int64_t output_bytes;
};

struct RunOptions {
  Interrupt interrupt;    // polled between steps and between chunks of a kernel
  int64_t timeout_nanos;  // 0: none
  HostFunction host;      // called with the argument of `interrupt`
  StepTrace* trace;       // an entry for each step, or null
};

struct RunResult {
  Status status;
  int32_t step = -1;  // the step that failed
};

// Immutable once built; any number of threads may run it at the same time.
//
// A program with branches has cells, one for each thing that may or may not hold in a run. All are dead when a run
// begins; steps that decide about branches bring them to life (see state_kernels/control_flow/control_flow.cc), and
// steps and fetches that are guarded by a dead cell have no value. In such a program steps may also say where the run
// goes on: loops are steps that go back.
class Program {
 public:
  // `session` outlives the program.
  Program(Session* session, int32_t slot_count);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // The slot holds `value` in every run; takes over the caller's reference.
  void AddConstant(int32_t slot, const Tensor& value);
  // The slot refers to `variable` in every run.
  void AddReference(int32_t slot, Variable* variable);
  Status AddStep(StepSpec spec);
  // More than 0 for a program with branches or loops.
  void SetCellCount(int32_t count) { cell_count_ = count; }
  // A run in which not all of `cells` are live at the end fails; `label` is the fetch's number for the message.
  void AddFetchGuard(int32_t label, std::vector<int32_t> cells) {
    fetch_guards_.push_back({label, std::move(cells)});
  }
  // All steps, in order; only of programs with steps that may be overtaken.
  void AddUnit(Unit unit);
  void SetFeeds(std::vector<int32_t> slots) { feeds_ = std::move(slots); }
  void SetFetches(std::vector<int32_t> slots) { fetches_ = std::move(slots); }

  int32_t step_count() const { return static_cast<int32_t>(steps_.size()); }
  int32_t feed_count() const { return static_cast<int32_t>(feeds_.size()); }
  int32_t fetch_count() const { return static_cast<int32_t>(fetches_.size()); }

  // Runs every step. `feeds` are borrowed for the call; each of `results` gets a reference of its own, or no
  // buffer when the run failed.
  RunResult Run(const Tensor* feeds, Tensor* results, const RunOptions& options);

  // The same for the body of a function, in a run that is under way; `run->states` has been made by MakeStates.
  RunResult RunBody(RunContext* run, const Tensor* const* feeds, Tensor* const* results);

  // A number that no other program of the process has.
  int64_t number() const { return number_; }
  // Of a function's body: whether there are states, those of the steps from a table, null for steps without, and the
  // name of a node; null if there is none.
  bool has_states() const { return has_states_; }
  Status MakeStates(StateTable* table, std::vector<void*>* states) const;
  const std::string* PartName(int32_t step, int32_t part) const;
  // See Function::HandsOn.
  bool HandsOn(const std::set<std::string>& kernels, const std::set<std::string>& callers) const;

 private:
  friend class Lanes;
  struct Step {
    const KernelDef* kernel;
    const Attr* attrs;
    void* prepared;
    void* state;
    uint64_t dying;
    uint64_t unread;
    int32_t first_argument;
    int32_t in_count;
    int32_t out_count;
    int32_t first_release;
    int32_t release_count;
    bool is_in_loop;  // of a unit that is a loop, but not where it begins or ends
  };
  // The slots of one run, with the constants in place; reused by later runs.
  struct Frame {
    std::vector<Tensor> slots;
    std::vector<Tensor*> arguments;
    std::vector<uint8_t> cells;
  };
  // The cells in [first, first + count) of `guard_cells_`.
  struct Guard {
    int32_t first;
    int32_t count;
  };

  std::unique_ptr<Frame> TakeFrame();
  void ReturnFrame(std::unique_ptr<Frame> frame);
  void ReleaseUnread(const Step& step, Frame* frame);
  void ReleaseTransients(Frame* frame);
  // Programs without cells, which are nearly all, pay nothing for those of others.
  template <bool kHasCells>
  RunResult RunSteps(Frame* frame, RunContext* run, int32_t first, int32_t end, bool is_in_order);
  // Runs the steps [first, end). Where others were overtaken these still need what nobody behind them reads.
  RunResult RunRange(Frame* frame, RunContext* run, int32_t first, int32_t end, bool is_in_order);
  RunResult RunFrame(Frame* frame, RunContext* run);
  bool IsLive(const Guard& guard, const uint8_t* cells) const;
  Status CheckFetches(const uint8_t* cells) const;
  // Gives each of `results` a reference of its own to what was fetched.
  Status TakeFetches(const Frame& frame, Tensor* results) const;

  Session* const session_;
  const int64_t number_;
  const int32_t slot_count_;
  std::vector<Step> steps_;
  std::vector<StateSpec> state_specs_;
  std::vector<std::vector<std::string>> parts_;
  bool has_states_ = false;
  std::vector<AttrList> attrs_;
  std::vector<int32_t> arguments_;
  std::vector<int32_t> releases_;
  std::vector<std::pair<int32_t, Tensor>> permanents_;
  std::vector<bool> is_permanent_;
  std::vector<int32_t> feeds_;
  std::vector<int32_t> fetches_;
  int32_t cell_count_ = 0;
  std::vector<Guard> guards_;  // of the steps
  std::vector<int32_t> guard_cells_;
  std::vector<std::pair<int32_t, std::vector<int32_t>>> fetch_guards_;
  std::vector<Unit> units_;

  std::mutex frames_mutex_;
  std::vector<std::unique_ptr<Frame>> frames_;
};

}  // namespace stillflow
