#include "arithmetic/elementwise/program.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

namespace stillflow {
namespace {

const TileOp* const kTables[] = {kArithmeticTiles,    kIntegerTiles, kExponentialTiles,
                                 kTrigonometricTiles, kSpecialTiles, kActivationTiles,
                                 kComparisonTiles,    kCastTiles,    kComplexTiles};

template <typename IsIt>
const TileOp* Find(const char* name, const IsIt& is_it) {
  for (const TileOp* table : kTables) {
    for (const TileOp* op = table; op->name != nullptr; ++op) {
      if (std::strcmp(name, op->name) == 0 && is_it(*op)) return op;
    }
  }
  return nullptr;
}

const TileOp* FindByNames(const std::string& name, const std::string& type, const std::string& result) {
  return Find(name.c_str(), [&](const TileOp& op) { return type == Name(op.type) && result == Name(op.result); });
}

// Splits on blanks; ";" and "|" are words of their own.
std::vector<std::string> Words(const char* text) {
  std::vector<std::string> words;
  std::string word;
  for (const char* c = text;; ++c) {
    const bool is_mark = *c == ';' || *c == '|';
    if (*c != ' ' && *c != 0 && !is_mark) {
      word += *c;
      continue;
    }
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
    if (is_mark) words.emplace_back(1, *c);
    if (*c == 0) return words;
  }
}

template <typename T>
void FillWithFirst(void* elements, int64_t count) {
  auto* first = static_cast<T*>(elements);
  std::fill_n(first + 1, count - 1, *first);
}

__attribute__((noinline)) void RunOnSingles(const TileOp& op, const TileCall& call) {
  TileCall single = call;
  single.count = 1;
  RunTileOp(op, single);
  switch (ElementBytes(op.result)) {
    case 16:
      return FillWithFirst<Complex128>(call.out, call.count);
    case 8:
      return FillWithFirst<uint64_t>(call.out, call.count);
    case 4:
      return FillWithFirst<uint32_t>(call.out, call.count);
    case 2:
      return FillWithFirst<uint16_t>(call.out, call.count);
    default:
      return FillWithFirst<uint8_t>(call.out, call.count);
  }
}

inline void Run(const TileOp& op, const TileCall& call) {
  if (call.scalars + 1 == uint32_t{1} << op.arity) return RunOnSingles(op, call);
  RunTileOp(op, call);
}

Status Malformed(const char* text) { return Error(Code::kInternal, "Malformed elementwise program: %.200s", text); }

}  // namespace

const TileOp* FindTileOp(const char* name, DType type, DType result) {
  return Find(name, [&](const TileOp& op) { return op.type == type && op.result == result; });
}

Status ElementwiseProgram::Parse(const char* text, int input_count, ElementwiseProgram** program) {
  auto* parsed = new ElementwiseProgram;
  parsed->input_count_ = input_count;
  parsed->types_.assign(input_count, DType::kInvalid);
  parsed->set_by_.assign(input_count, -1);
  parsed->last_read_.assign(input_count, -1);
  Status status = parsed->ParseInstructions(text);
  if (!status.ok()) {
    delete parsed;
    return status;
  }
  parsed->AssignScratch();
  parsed->ChooseChunk();
  *program = parsed;
  return Status();
}

Status ElementwiseProgram::ParseInstructions(const char* text) {
  const std::vector<std::string> words = Words(text);
  size_t at = 0;
  const auto next_register = [&](int32_t* number) {
    if (at >= words.size()) return false;
    *number = std::atoi(words[at++].c_str());
    return *number >= 0 && *number <= static_cast<int32_t>(types_.size());
  };
  while (at + 4 < words.size()) {
    Instruction instruction = {FindByNames(words[at], words[at + 1], words[at + 2]), 0, {0, 0, 0}};
    if (instruction.op == nullptr) {
      return STILLFLOW_INVALID_ARGUMENT("No OpKernel was registered to support '%s' with type %s", words[at].c_str(),
                                        words[at + 1].c_str());
    }
    at += 3;
    const auto index = static_cast<int32_t>(instructions_.size());
    if (!next_register(&instruction.out) || instruction.out != static_cast<int32_t>(types_.size()))
      return Malformed(text);
    for (int i = 0; i < instruction.op->arity; ++i) {
      if (!next_register(&instruction.in[i]) || instruction.in[i] == instruction.out) return Malformed(text);
      last_read_[instruction.in[i]] = index;
    }
    types_.push_back(instruction.op->result);
    set_by_.push_back(index);
    last_read_.push_back(-1);
    instructions_.push_back(instruction);
    if (at >= words.size()) return Malformed(text);
    if (words[at++] == "|") break;
  }
  output_of_.assign(types_.size(), -1);
  int32_t output = 0;
  while (at < words.size()) {
    if (!next_register(&output) || output < input_count_ || output >= static_cast<int32_t>(types_.size())) {
      return Malformed(text);
    }
    output_of_[output] = static_cast<int32_t>(outputs_.size());
    outputs_.push_back(output);
  }
  for (const Instruction& instruction : instructions_) {
    widest_bytes_ =
        std::max({widest_bytes_, ElementBytes(instruction.op->type), ElementBytes(instruction.op->result)});
  }
  const bool is_empty = instructions_.empty() || outputs_.empty();
  return is_empty || instructions_.size() > kMostInstructions ? Malformed(text) : Status();
}

// By the bytes that simple instructions go through; a costly one takes as long as one on twice or four times as many.
void ElementwiseProgram::ChooseChunk() {
  constexpr int64_t kBytesPerChunk = 128 << 10;
  constexpr int64_t kCostlyBytes = 8;
  int64_t bytes = 0;
  for (const Instruction& instruction : instructions_) {
    const int64_t simple = std::max(ElementBytes(instruction.op->type), ElementBytes(instruction.op->result));
    bytes += instruction.op->is_costly ? std::max(simple, kCostlyBytes) : simple;
  }
  elements_per_chunk_ = std::max<int64_t>(kBytesPerChunk / bytes, 8192);
}

// Registers that are not outputs take turns in as few scratch tiles as their lives allow.
void ElementwiseProgram::AssignScratch() {
  scratch_of_.assign(types_.size(), -1);
  std::vector<int32_t> free_tiles;
  for (size_t i = 0; i < instructions_.size(); ++i) {
    const Instruction& instruction = instructions_[i];
    // An operand that is read here for the last time may make room for the result: tile by tile, an
    // operation may overwrite what it reads, if both are of one size.
    for (int k = 0; k < instruction.op->arity; ++k) {
      const int32_t in = instruction.in[k];
      const bool is_free = scratch_of_[in] >= 0 && last_read_[in] == static_cast<int32_t>(i);
      if (is_free && ElementBytes(types_[in]) == ElementBytes(types_[instruction.out]) &&
          std::find(free_tiles.begin(), free_tiles.end(), scratch_of_[in]) == free_tiles.end()) {
        free_tiles.push_back(scratch_of_[in]);
      }
    }
    if (output_of_[instruction.out] < 0) {
      if (free_tiles.empty()) free_tiles.push_back(scratch_count_++);
      scratch_of_[instruction.out] = free_tiles.back();
      free_tiles.pop_back();
    }
    for (int k = 0; k < instruction.op->arity; ++k) {
      const int32_t in = instruction.in[k];
      const bool is_free = scratch_of_[in] >= 0 && last_read_[in] == static_cast<int32_t>(i);
      if (is_free && scratch_of_[in] != scratch_of_[instruction.out] &&
          std::find(free_tiles.begin(), free_tiles.end(), scratch_of_[in]) == free_tiles.end()) {
        free_tiles.push_back(scratch_of_[in]);
      }
    }
  }
}

void ElementwiseProgram::PlaceScratch(char* scratch, int64_t count, Place* places) const {
  for (size_t number = input_count_; number < types_.size(); ++number) {
    if (output_of_[number] < 0) places[number] = {scratch + scratch_of_[number] * count * widest_bytes_, 0, false, 0};
  }
}

bool ElementwiseProgram::TakesRuns(uint64_t columns, uint64_t scalars) const {
  return std::all_of(instructions_.begin(), instructions_.end(), [&](const Instruction& instruction) {
    bool reads_column = false;
    bool reads_only_singles = true;
    for (int k = 0; k < instruction.op->arity; ++k) {
      const int32_t in = instruction.in[k];
      reads_column |= in < input_count_ && (columns >> in & 1) != 0;
      reads_only_singles &= in < input_count_ && ((columns | scalars) >> in & 1) != 0;
    }
    return !reads_column || (instruction.op->takes_runs && !reads_only_singles);
  });
}

Status ElementwiseProgram::RunTile(const Place* places, int64_t begin, int64_t count) const {
  uint32_t faults = 0;
  TileCall call;
  call.count = count;
  call.faults = &faults;
  for (size_t i = 0; i < instructions_.size(); ++i) {
    const Instruction& instruction = instructions_[i];
    call.scalars = 0;
    call.run = 0;
    for (int k = 0; k < instruction.op->arity; ++k) {
      const Place& place = places[instruction.in[k]];
      call.in[k] = place.base + begin * place.step;
      call.scalars |= uint32_t{place.is_single} << k;
      call.run |= place.run;
    }
    call.out = places[instruction.out].base + begin * places[instruction.out].step;
    Run(*instruction.op, call);
    if (faults & kDivisionByZero) {
      return STILLFLOW_INVALID_ARGUMENT("Integer division by zero").InPart(static_cast<int32_t>(i));
    }
    if (faults & kNegativePower) {
      return STILLFLOW_INVALID_ARGUMENT("Integers to negative integer powers are not allowed")
          .InPart(static_cast<int32_t>(i));
    }
  }
  return Status();
}

}  // namespace stillflow
