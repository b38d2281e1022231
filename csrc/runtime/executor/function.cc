#include "runtime/executor/function.h"

#include <cstring>
#include <utility>

namespace stillflow {
namespace {

// ---- States as bytes ----------------------------------------------------------------------------------------------
//
// Numbers are of 8 bytes; a text is its length and its bytes. First the random streams: how many there are, and of
// each name, key, counter; then the states of kernels: how many, and of each name and bytes.

void AddNumber(uint64_t number, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(&number), sizeof number);
}

void AddText(const std::string& text, std::string* bytes) {
  AddNumber(text.size(), bytes);
  bytes->append(text);
}

class Bytes {
 public:
  explicit Bytes(const std::string& bytes) : next_(bytes.data()), left_(bytes.size()) {}

  bool Number(uint64_t* number) {
    if (left_ < sizeof *number) return false;
    std::memcpy(number, next_, sizeof *number);
    Skip(sizeof *number);
    return true;
  }
  bool Text(std::string* text) {
    uint64_t size = 0;
    if (!Number(&size) || size > left_) return false;
    text->assign(next_, size);
    Skip(size);
    return true;
  }
  bool is_at_end() const { return left_ == 0; }

 private:
  void Skip(size_t size) {
    next_ += size;
    left_ -= size;
  }

  const char* next_;
  size_t left_;
};

struct Stream {
  std::string name;
  uint64_t key;
  uint64_t counter_low;
  uint64_t counter_high;
};

bool Parse(const std::string& text, std::vector<Stream>* streams, std::map<std::string, std::string>* states) {
  Bytes bytes(text);
  uint64_t count = 0;
  if (!bytes.Number(&count)) return false;
  for (; count > 0; --count) {
    Stream stream;
    if (!bytes.Text(&stream.name) || !bytes.Number(&stream.key) || !bytes.Number(&stream.counter_low) ||
        !bytes.Number(&stream.counter_high)) {
      return false;
    }
    streams->push_back(std::move(stream));
  }
  if (!bytes.Number(&count)) return false;
  for (; count > 0; --count) {
    std::string name;
    if (!bytes.Text(&name) || !bytes.Text(&(*states)[name])) return false;
  }
  return bytes.is_at_end();
}

// In the words in which TensorFlow says where in a function something failed.
Status Located(Status status, const std::string& function, const std::string& node) {
  const std::string text =
      "{{function_node " + function + "}} " + status.message() + "\n\t [[{{node " + node + "}}]]";
  return Status(status.code(), strdup(text.c_str()));
}

Status Mismatch(const std::string& function, const char* what, const std::string& expected,
                const std::string& found) {
  const std::string text =
      "Function " + function + " has the " + what + " [" + expected + "] where [" + found + "] are expected";
  return Status(Code::kInvalidArgument, strdup(text.c_str()));
}

std::string TextOf(const std::vector<DType>& types) {
  std::string text;
  for (DType type : types) text += (text.empty() ? "" : ", ") + std::to_string(static_cast<int>(type));
  return text;
}

}  // namespace

Status FunctionState::Bind(const Program& body, void* const** states) {
  *states = nullptr;
  if (!body.has_states()) return Status();
  const std::lock_guard<std::mutex> guard(mutex_);
  const auto found = bound_.find(body.number());
  if (found == bound_.end()) {
    std::vector<void*> made;
    Status status = body.MakeStates(&table_, &made);
    if (!status.ok()) return status;
    *states = bound_.emplace(body.number(), std::move(made)).first->second.data();
  } else {
    *states = found->second.data();
  }
  return Status();
}

std::string FunctionState::Save() {
  std::string streams;
  uint64_t count = 0;
  table_.VisitRandom([&](const std::string& name, RandomState* state) {
    const MutexLock guard(state->mutex);
    AddText(name, &streams);
    AddNumber(state->key, &streams);
    AddNumber(state->counter_low, &streams);
    AddNumber(state->counter_high, &streams);
    ++count;
  });
  std::string bytes;
  AddNumber(count, &bytes);
  bytes += streams;
  const std::map<std::string, std::string> states = table_.SaveOps();
  AddNumber(states.size(), &bytes);
  for (const auto& entry : states) {
    AddText(entry.first, &bytes);
    AddText(entry.second, &bytes);
  }
  return bytes;
}

bool FunctionState::IsEmpty() {
  bool is_empty = true;
  table_.VisitRandom([&](const std::string&, RandomState*) { is_empty = false; });
  return is_empty && table_.SaveOps().empty();
}

bool FunctionState::Restore(const std::string& bytes) {
  std::vector<Stream> streams;
  std::map<std::string, std::string> states;
  if (!Parse(bytes, &streams, &states)) return false;
  for (auto& entry : states) {
    if (!table_.RestoreOp(entry.first, std::move(entry.second))) return false;
  }
  for (const Stream& stream : streams) {
    table_.SetRandom(stream.name, stream.key, stream.counter_low, stream.counter_high);
  }
  return true;
}

bool Function::HandsOn(const std::set<std::string>& kernels, const std::set<std::string>& callers) const {
  return body_->HandsOn(kernels, callers);
}

Status Function::CheckOutputs(const std::vector<DType>& expected) const {
  if (expected == output_types()) return Status();
  return Mismatch(name(), "result types", TextOf(output_types()), TextOf(expected));
}

Status Function::CheckInputs(const Tensor* const* in, int32_t in_count) const {
  bool fits = in_count == static_cast<int32_t>(input_types().size());
  for (int32_t i = 0; i < in_count && fits; ++i) fits = in[i]->dtype == input_types()[i];
  if (fits) return Status();
  std::vector<DType> found;
  for (int32_t i = 0; i < in_count; ++i) found.push_back(in[i]->dtype);
  return Mismatch(name(), "argument types", TextOf(input_types()), TextOf(found));
}

Status Function::Call(RunContext* caller, FunctionState* state, const Tensor* const* in, int32_t in_count,
                      Tensor* const* out) const {
  for (size_t i = 0; i < output_types().size(); ++i) out[i]->buffer = nullptr;
  Status status = CheckInputs(in, in_count);
  if (!status.ok()) return status;
  RunOptions options = *caller->options;
  options.trace = nullptr;
  RunContext run = *caller;
  run.options = &options;
  run.cells = nullptr;
  run.next_step = 0;
  run.states = nullptr;
  if (state != nullptr) {
    status = state->Bind(*body_, &run.states);
    if (!status.ok()) return status;
  }
  RunResult result = body_->RunBody(&run, in, out);
  caller->stop = run.stop;
  caller->next_poll_nanos = run.next_poll_nanos;
  const bool is_named = run.stop == Code::kOk && result.step >= 0;
  if (result.status.ok() || !is_named) return std::move(result.status);
  const std::string* node = body_->PartName(result.step, result.status.part());
  return node == nullptr ? std::move(result.status) : Located(std::move(result.status), name(), *node);
}

}  // namespace stillflow
