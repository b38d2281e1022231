#include "runtime/executor/program.h"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

#include "runtime/executor/buffer.h"
#include "runtime/executor/cpu.h"
#include "runtime/executor/function.h"
#include "runtime/executor/lanes.h"
#include "runtime/executor/run_context.h"

namespace stillflow {

namespace {

constexpr int64_t kPollNanos = 50'000'000;
constexpr int64_t kClockNanos = 10'000'000;          // the coarse clock is late by up to so much
constexpr int64_t kPatienceNanos = 10'000'000;       // how long others wait with a step that waits
constexpr int64_t kLatePatienceNanos = 200'000'000;  // also those that use the same things
constexpr int kStepsPerClock = 16;                   // reading the clock costs as much as a small step's bookkeeping

std::atomic<int64_t> next_number{0};

int64_t NowNanos() {
#ifdef CLOCK_MONOTONIC_COARSE
  constexpr clockid_t kClock = CLOCK_MONOTONIC_COARSE;
#else
  constexpr clockid_t kClock = CLOCK_MONOTONIC;
#endif
  timespec now;
  clock_gettime(kClock, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

bool IsRunToStop(void* arg) { return ShouldStop(static_cast<RunContext*>(arg)); }

Status ParallelForService(RunContext* run, int64_t count, Status (*body)(void*, int64_t), void* arg) {
  return ParallelFor(run->session->threads(), count, body, arg, Interrupt{IsRunToStop, run});
}

int ThreadCountService(RunContext* run) { return run->session->threads(); }

constexpr Services kServices = {AllocateBuffer, AllocateStrings,    AllocateVariants,
                                NewString,      ParallelForService, ThreadCountService};

void Clear(Tensor* tensor) {
  if (tensor->buffer == nullptr) return;
  Release(tensor->buffer);
  tensor->buffer = nullptr;
}

// Makes `slot` another holder of a value; a variable has no buffer.
void Feed(const Tensor& value, Tensor* slot) {
  *slot = value;
  if (value.buffer != nullptr) Retain(value.buffer);
}

// Holds the session open for a run, also when the run throws.
class RunScope {
 public:
  explicit RunScope(Session* session) : session_(session), is_open_(session->BeginRun()) {}
  ~RunScope() {
    if (is_open_) session_->EndRun();
  }
  RunScope(const RunScope&) = delete;
  RunScope& operator=(const RunScope&) = delete;
  bool is_open() const { return is_open_; }

 private:
  Session* session_;
  bool is_open_;
};

int64_t WallNanos() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

Status TracedStep(const KernelDef& kernel, const KernelCall& call, StepTrace* trace) {
  trace->start_nanos = WallNanos();
  Status status = kernel.run(call);
  trace->end_nanos = WallNanos();
  trace->output_bytes = 0;
  for (int i = 0; i < call.out_count; ++i) {
    if (call.out[i]->buffer != nullptr) trace->output_bytes += call.out[i]->buffer->capacity_bytes;
  }
  return status;
}

// The outputs that are released as soon as they are made; none if all are, for then the step runs for its own sake.
uint64_t Unread(const StepSpec& spec) {
  uint64_t unread = 0;
  for (size_t i = 0; i < spec.out.size() && i < 64; ++i) {
    const bool is_released =
        std::find(spec.releases.begin(), spec.releases.end(), spec.out[i]) != spec.releases.end();
    unread |= static_cast<uint64_t>(is_released) << i;
  }
  const bool is_any_read = __builtin_popcountll(unread) < static_cast<int>(spec.out.size());
  return is_any_read ? unread : 0;
}

}  // namespace

Status Stopped(const RunContext& run) {
  if (run.stop == Code::kDeadlineExceeded) {
    return Status(run.stop, strdup("Timed out waiting for notification"));
  }
  return Status(Code::kCancelled, strdup("The run was cancelled"));
}

bool ShouldStop(RunContext* run) {
  if (run->stop != Code::kOk) return true;
  if (run->lane != nullptr && Lanes::HasFailed(run->lane)) return true;
  if (run->session->is_closed()) {
    run->stop = Code::kCancelled;
    return true;
  }
  const int64_t now = NowNanos();
  if (run->deadline_nanos != 0 && now > run->deadline_nanos) {
    run->stop = Code::kDeadlineExceeded;
  } else if (now > run->next_poll_nanos) {
    run->next_poll_nanos = now + kPollNanos;
    const Interrupt& interrupt = run->options->interrupt;
    if (interrupt.is_due != nullptr && interrupt.is_due(interrupt.arg)) run->stop = Code::kCancelled;
  }
  return run->stop != Code::kOk;
}

bool WaitFor(RunContext* run, Event* event) {
  const Session::WaitScope scope(run->session, event);
  const Lanes::WaitScope lane_scope(run->lane, event);
  for (int round = 0;; ++round) {
    // What nobody polls for and has no deadline sleeps until it is woken.
    int64_t nanos = run->options->interrupt.is_due != nullptr ? kPollNanos : -1;
    if (run->deadline_nanos != 0) {
      const int64_t left = std::max<int64_t>(run->deadline_nanos - NowNanos(), 0) + kClockNanos;
      nanos = nanos < 0 ? left : std::min(nanos, left);
    }
    if (run->lane != nullptr) {
      const int64_t patience = round == 0 ? kPatienceNanos : kLatePatienceNanos;
      nanos = nanos < 0 ? patience : std::min(nanos, patience);
    }
    const Event::State state = event->Wait(nanos);
    if (state == Event::State::kDone) return true;
    if (ShouldStop(run)) return false;
    if (run->lane != nullptr) Lanes::Overtake(run->lane, round > 0);
  }
}

namespace {

// What lies between the marks of a text, in their order.
std::vector<std::string> Split(const std::string& text, char mark) {
  std::vector<std::string> parts;
  for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(mark, begin);
    parts.push_back(text.substr(begin, end - begin));
  }
  return parts;
}

std::string TextOf(const Attr& attr) {
  return attr.data == nullptr ? std::to_string(attr.i) : std::string(static_cast<const char*>(attr.data), attr.size);
}

}  // namespace

Status AttrList::NumberNames(const KernelDef& kernel) {
  const char* const bar = std::strchr(kernel.parameters, '|');
  if (bar == nullptr || std::strchr(bar, ':') == nullptr) return Status();
  const std::vector<std::string> texts = Split(bar + 1, ',');
  for (size_t i = 0; i < std::min(attrs_.size(), texts.size()); ++i) {
    const size_t colon = texts[i].find(": ");
    if (colon == std::string::npos) continue;
    const std::vector<std::string> names = Split(texts[i].substr(colon + 2), ' ');
    const std::string name = TextOf(attrs_[i]);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      const std::string message = std::string(kernel.name) + " takes" + texts[i] + ", not '" + name + "'";
      return Status(Code::kInternal, strdup(message.c_str()));
    }
    attrs_[i].i = found - names.begin();
  }
  return Status();
}

void AttrList::AddBytes(const void* data, int64_t bytes, int64_t size) {
  owned_.emplace_back(new char[bytes + 1]);
  if (bytes > 0) std::memcpy(owned_.back().get(), data, bytes);
  owned_.back()[bytes] = 0;
  attrs_.push_back({0, 0.0, owned_.back().get(), size});
}

void AttrList::AddFunction(std::shared_ptr<const Function> function) {
  attrs_.push_back({0, 0.0, function.get(), 0});
  functions_.push_back(std::move(function));
}

Program::Program(Session* session, int32_t slot_count)
    : session_(session),
      number_(next_number.fetch_add(1)),
      slot_count_(slot_count),
      is_permanent_(slot_count, false) {}

Program::~Program() {
  for (Step& step : steps_) {
    if (step.kernel->release_prepared != nullptr) step.kernel->release_prepared(step.prepared);
  }
  for (auto& permanent : permanents_) {
    if (permanent.second.dtype != DType::kRef) Clear(&permanent.second);
  }
}

void Program::AddConstant(int32_t slot, const Tensor& value) {
  permanents_.emplace_back(slot, value);
  is_permanent_[slot] = true;
}

void Program::AddReference(int32_t slot, Variable* variable) {
  Tensor reference;
  reference.data = variable;
  reference.buffer = nullptr;
  reference.count = 1;
  reference.dtype = DType::kRef;
  reference.rank = 0;
  permanents_.emplace_back(slot, reference);
  is_permanent_[slot] = true;
}

Status Program::AddStep(StepSpec spec) {
  Step step;
  step.kernel = spec.kernel;
  step.attrs = spec.attrs.data();
  step.prepared = nullptr;
  step.state = spec.state;
  step.dying = spec.dying;
  step.unread = Unread(spec);
  step.first_argument = static_cast<int32_t>(arguments_.size());
  step.in_count = static_cast<int32_t>(spec.in.size());
  step.out_count = static_cast<int32_t>(spec.out.size());
  step.first_release = static_cast<int32_t>(releases_.size());
  step.release_count = static_cast<int32_t>(spec.releases.size());
  step.is_in_loop = false;
  if (spec.kernel->prepare != nullptr) {
    Status status = spec.kernel->prepare(step.attrs, &step.prepared);
    if (!status.ok()) return status;
  }
  arguments_.insert(arguments_.end(), spec.in.begin(), spec.in.end());
  arguments_.insert(arguments_.end(), spec.out.begin(), spec.out.end());
  releases_.insert(releases_.end(), spec.releases.begin(), spec.releases.end());
  guards_.push_back({static_cast<int32_t>(guard_cells_.size()), static_cast<int32_t>(spec.guard.size())});
  guard_cells_.insert(guard_cells_.end(), spec.guard.begin(), spec.guard.end());
  attrs_.push_back(std::move(spec.attrs));
  has_states_ = has_states_ || spec.state_spec.kind != StateSpec::Kind::kNone;
  state_specs_.push_back(std::move(spec.state_spec));
  parts_.push_back(std::move(spec.parts));
  steps_.push_back(step);
  return Status();
}

void Program::AddUnit(Unit unit) {
  for (int32_t i = unit.first + 1; unit.is_loop && i + 1 < unit.end; ++i) steps_[i].is_in_loop = true;
  units_.push_back(std::move(unit));
}

Status Program::MakeStates(StateTable* table, std::vector<void*>* states) const {
  for (size_t i = 0; i < steps_.size(); ++i) {
    const StateSpec& spec = state_specs_[i];
    void* state = nullptr;
    if (spec.kind == StateSpec::Kind::kRandom) {
      state = table->GetRandom(spec.name, spec.seed, spec.seed2);
    } else if (spec.kind == StateSpec::Kind::kOp) {
      Status status;
      state = table->GetOp(spec.name, *steps_[i].kernel, steps_[i].attrs, &status);
      if (!status.ok()) return status;
    }
    states->push_back(state);
  }
  return Status();
}

const std::string* Program::PartName(int32_t step, int32_t part) const {
  const std::vector<std::string>& names = parts_[step];
  if (names.empty()) return nullptr;
  return &names[part < static_cast<int32_t>(names.size()) ? part : 0];
}

bool Program::HandsOn(const std::set<std::string>& kernels, const std::set<std::string>& callers) const {
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    if (feeds_.empty() || step.in_count == 0) continue;
    if (kernels.count(step.kernel->name) != 0 && arguments_[step.first_argument] == feeds_[0]) return true;
    if (callers.count(step.kernel->name) == 0) continue;
    for (const auto& function : attrs_[i].functions()) {
      if (function->HandsOn(kernels, callers)) return true;
    }
  }
  return false;
}

std::unique_ptr<Program::Frame> Program::TakeFrame() {
  {
    std::lock_guard<std::mutex> guard(frames_mutex_);
    if (!frames_.empty()) {
      std::unique_ptr<Frame> frame = std::move(frames_.back());
      frames_.pop_back();
      return frame;
    }
  }
  auto frame = std::make_unique<Frame>();
  frame->slots.resize(slot_count_);
  for (Tensor& slot : frame->slots) slot.buffer = nullptr;
  for (const auto& permanent : permanents_) frame->slots[permanent.first] = permanent.second;
  frame->arguments.reserve(arguments_.size());
  for (int32_t slot : arguments_) frame->arguments.push_back(&frame->slots[slot]);
  frame->cells.resize(cell_count_);
  return frame;
}

void Program::ReturnFrame(std::unique_ptr<Frame> frame) {
  std::lock_guard<std::mutex> guard(frames_mutex_);
  frames_.push_back(std::move(frame));
}

inline void Program::ReleaseUnread(const Step& step, Frame* frame) {
  for (int32_t i = 0; i < step.release_count; ++i) Clear(&frame->slots[releases_[step.first_release + i]]);
}

void Program::ReleaseTransients(Frame* frame) {
  for (int32_t i = 0; i < slot_count_; ++i) {
    if (!is_permanent_[i]) Clear(&frame->slots[i]);
  }
}

bool Program::IsLive(const Guard& guard, const uint8_t* cells) const {
  for (int32_t i = 0; i < guard.count; ++i) {
    if (!cells[guard_cells_[guard.first + i]]) return false;
  }
  return true;
}

// In TensorFlow's words.
Status Program::CheckFetches(const uint8_t* cells) const {
  for (const auto& guard : fetch_guards_) {
    if (std::all_of(guard.second.begin(), guard.second.end(), [&](int32_t cell) { return cells[cell] != 0; }))
      continue;
    const std::string text = "Retval[" + std::to_string(guard.first) + "] does not have value";
    return Status(Code::kInvalidArgument, strdup(text.c_str()));
  }
  return Status();
}

Status Program::TakeFetches(const Frame& frame, Tensor* results) const {
  for (int32_t slot : fetches_) {
    // A plan that leaves a fetch without a value is wrong; that must not take the process down.
    if (frame.slots[slot].buffer == nullptr) return Status(Code::kInternal, strdup("A fetch has no value"));
  }
  for (size_t i = 0; i < fetches_.size(); ++i) Feed(frame.slots[fetches_[i]], &results[i]);
  return Status();
}

template <bool kHasCells>
RunResult Program::RunSteps(Frame* frame, RunContext* run, int32_t first, int32_t end, bool is_in_order) {
  Tensor** const arguments = frame->arguments.data();
  int until_clock = kStepsPerClock;
  for (int32_t i = first; i < end; i = kHasCells ? run->next_step : i + 1) {
    const Step& step = steps_[i];
    const bool releases = is_in_order || step.is_in_loop;
    if constexpr (kHasCells) {
      run->next_step = i + 1;
      if (!IsLive(guards_[i], run->cells)) {
        if (releases) ReleaseUnread(step, frame);
        continue;
      }
    }
    KernelCall call;
    call.in = arguments + step.first_argument;
    call.out = arguments + step.first_argument + step.in_count;
    call.in_count = step.in_count;
    call.out_count = step.out_count;
    call.dying = releases ? step.dying : 0;
    call.unread = step.unread;
    call.attrs = step.attrs;
    call.prepared = step.prepared;
    call.state = run->states == nullptr ? step.state : run->states[i];
    call.run = run;
    call.services = &kServices;
    StepTrace* const trace = run->options->trace;
    Status status = trace == nullptr ? step.kernel->run(call) : TracedStep(*step.kernel, call, &trace[i]);
    if (!status.ok()) {
      // A step that was waiting says in its own words that it was cancelled.
      if (run->stop != Code::kOk && (status.code() != run->stop || *status.message() == 0)) status = Stopped(*run);
      return {std::move(status), i};
    }
    if (releases) ReleaseUnread(step, frame);
    if (--until_clock == 0) {
      until_clock = kStepsPerClock;
      if (ShouldStop(run)) return {Stopped(*run), i};
    }
  }
  return {};
}

RunResult Program::RunRange(Frame* frame, RunContext* run, int32_t first, int32_t end, bool is_in_order) {
  if (cell_count_ == 0) return RunSteps<false>(frame, run, first, end, is_in_order);
  return RunSteps<true>(frame, run, first, end, is_in_order);
}

RunResult Program::RunFrame(Frame* frame, RunContext* run) {
  if (cell_count_ > 0) {
    std::fill(frame->cells.begin(), frame->cells.end(), 0);
    run->cells = frame->cells.data();
  }
  RunResult result = units_.empty() ? RunRange(frame, run, 0, step_count(), true) : Lanes(this, frame, run).Run();
  if (result.status.ok() && !fetch_guards_.empty()) result.status = CheckFetches(run->cells);
  return result;
}

RunResult Program::Run(const Tensor* feeds, Tensor* results, const RunOptions& options) {
  for (int32_t i = 0; i < fetch_count(); ++i) results[i].buffer = nullptr;
  const RunScope scope(session_);
  if (!scope.is_open()) return {Status(Code::kCancelled, strdup("Session has been closed.")), -1};
  RunContext run;
  run.session = session_;
  run.options = &options;
  const int64_t now = NowNanos();
  run.next_poll_nanos = now + kPollNanos;
  run.deadline_nanos = options.timeout_nanos > 0 ? now + options.timeout_nanos : 0;

  std::unique_ptr<Frame> frame = TakeFrame();
  for (size_t i = 0; i < feeds_.size(); ++i) Feed(feeds[i], &frame->slots[feeds_[i]]);
  RunResult result;
  {
    const FloatMode float_mode;
    result = RunFrame(frame.get(), &run);
  }
  if (result.status.ok()) result.status = TakeFetches(*frame, results);
  ReleaseTransients(frame.get());
  ReturnFrame(std::move(frame));
  return result;
}

RunResult Program::RunBody(RunContext* run, const Tensor* const* feeds, Tensor* const* results) {
  std::unique_ptr<Frame> frame = TakeFrame();
  for (size_t i = 0; i < feeds_.size(); ++i) Feed(*feeds[i], &frame->slots[feeds_[i]]);
  RunResult result = RunFrame(frame.get(), run);
  if (result.status.ok()) {
    for (size_t i = 0; i < fetches_.size(); ++i) Feed(frame->slots[fetches_[i]], results[i]);
  }
  ReleaseTransients(frame.get());
  ReturnFrame(std::move(frame));
  return result;
}

}  // namespace stillflow
