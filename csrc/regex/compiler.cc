// compiler.cc: turns trees into programs.
#include <algorithm>
#include <cstring>

#include "regex/program.h"

namespace stillflow::regex {
namespace {

// What RE2 allows with its default of 8 MB.
constexpr size_t kMostInstructions = 87000;

class Compiler {
 public:
  explicit Compiler(Program* program) : program_(program) {}

  // The first of the instructions of a node that is followed by instruction `next`; -1 if there are too many.
  int32_t Emit(const Node& node, int32_t next) {
    switch (node.kind) {
      case NodeKind::kEmpty:
        return next;
      case NodeKind::kRunes:
        return Add({Opcode::kRune, SetOf(node), next, -1});
      case NodeKind::kAssertion:
        return Add({Opcode::kAssert, static_cast<int32_t>(node.assertion), next, -1});
      case NodeKind::kGroup: {
        const int32_t after = Add({Opcode::kSave, 2 * node.number + 1, next, -1});
        const int32_t inner = after < 0 ? -1 : Emit(*node.children[0], after);
        return inner < 0 ? -1 : Add({Opcode::kSave, 2 * node.number, inner, -1});
      }
      case NodeKind::kSequence:
        for (size_t i = node.children.size(); i-- > 0 && next >= 0;) next = Emit(*node.children[i], next);
        return next;
      case NodeKind::kChoice: {
        int32_t first = Emit(*node.children.back(), next);
        for (size_t i = node.children.size() - 1; i-- > 0 && first >= 0;) {
          const int32_t child = Emit(*node.children[i], next);
          first = child < 0 ? -1 : Add({Opcode::kSplit, 0, child, first});
        }
        return first;
      }
      case NodeKind::kRepeat:
        return EmitRepeat(node, next);
    }
    return -1;
  }

  int32_t Add(Instruction instruction) {
    if (program_->instructions.size() >= kMostInstructions) return -1;
    program_->instructions.push_back(instruction);
    return static_cast<int32_t>(program_->instructions.size() - 1);
  }

 private:
  int32_t Split(const Node& node, int32_t more, int32_t enough) {
    return node.is_greedy ? Add({Opcode::kSplit, 0, more, enough}) : Add({Opcode::kSplit, 0, enough, more});
  }

  int32_t EmitRepeat(const Node& node, int32_t next) {
    const Node& child = *node.children[0];
    int required = node.least;
    if (node.most < 0) {
      // x{2,} is x, then x and a way back before it: the loop's split comes after the last x that is needed.
      const int32_t loop = Split(node, -1, next);
      if (loop < 0) return -1;
      const int32_t body = Emit(child, loop);
      if (body < 0) return -1;
      Instruction& split = program_->instructions[loop];
      (node.is_greedy ? split.next : split.other) = body;
      next = required > 0 ? body : loop;
      required = std::max(required - 1, 0);
    } else {
      // x{0,2} is (x(x)?)?, in which each ? leads to what follows all.
      const int32_t after = next;
      for (int i = node.least; i < node.most && next >= 0; ++i) {
        const int32_t body = Emit(child, next);
        next = body < 0 ? -1 : Split(node, body, after);
      }
    }
    for (int i = 0; i < required && next >= 0; ++i) next = Emit(child, next);
    return next;
  }

  int32_t SetOf(const Node& node) {
    const auto is_same = [&node](const RuneSet& other) {
      return other.size() == node.runes.size() &&
             std::equal(other.begin(), other.end(), node.runes.begin(),
                        [](RuneRange a, RuneRange b) { return a.low == b.low && a.high == b.high; });
    };
    // The sets of a repeated node come again and again; a look at the last few finds them.
    for (size_t i = sources_.size(); i-- > 0 && sources_.size() - i <= 8;) {
      if (is_same(*sources_[i])) return static_cast<int32_t>(i);
    }
    RuneTable table;
    std::memset(table.is_member, 0, sizeof table.is_member);
    for (const RuneRange range : node.runes) {
      for (int32_t rune = range.low; rune <= std::min(range.high, 127); ++rune) table.is_member[rune] = true;
      if (range.high >= 128) table.others.push_back({std::max(range.low, 128), range.high});
    }
    program_->sets.push_back(std::move(table));
    sources_.push_back(&node.runes);
    return static_cast<int32_t>(sources_.size() - 1);
  }

  Program* program_;
  std::vector<const RuneSet*> sources_;
};

// Finds out what matches begin with, from the instructions that can be reached without reading a character.
void FindBeginnings(Program* program) {
  std::vector<bool> is_seen(program->instructions.size());
  std::vector<std::pair<int32_t, bool>> pending = {{program->start, false}};
  std::memset(program->can_begin, 0, sizeof program->can_begin);
  program->is_anchored = true;
  while (!pending.empty()) {
    const auto [index, is_at_begin] = pending.back();
    pending.pop_back();
    if (is_seen[index]) {
      // Reached by several ways, of which one may not be anchored.
      program->is_anchored = program->is_anchored && is_at_begin;
      continue;
    }
    is_seen[index] = true;
    const Instruction& instruction = program->instructions[index];
    switch (instruction.opcode) {
      case Opcode::kSplit:
        pending.push_back({instruction.other, is_at_begin});
        pending.push_back({instruction.next, is_at_begin});
        break;
      case Opcode::kSave:
        pending.push_back({instruction.next, is_at_begin});
        break;
      case Opcode::kAssert: {
        const bool is_begin = static_cast<Assertion>(instruction.argument) == Assertion::kTextBegin;
        pending.push_back({instruction.next, is_at_begin || is_begin});
        break;
      }
      case Opcode::kMatch:
        std::memset(program->can_begin, 1, sizeof program->can_begin);
        program->is_anchored = program->is_anchored && is_at_begin;
        break;
      case Opcode::kRune: {
        const RuneTable& set = program->sets[instruction.argument];
        for (int i = 0; i < 128; ++i) program->can_begin[i] |= set.is_member[i];
        for (int i = 128; i < 256 && !set.others.empty(); ++i) program->can_begin[i] = true;
        program->is_anchored = program->is_anchored && is_at_begin;
        break;
      }
    }
  }
}

}  // namespace

bool RuneTable::Has(int32_t rune) const {
  if (rune < 0) return false;
  if (rune < 128) return is_member[rune];
  const auto found =
      std::partition_point(others.begin(), others.end(), [rune](RuneRange r) { return r.high < rune; });
  return found != others.end() && found->low <= rune;
}

bool Compile(const char* pattern, size_t size, Program* program, std::string* error) {
  Syntax syntax;
  if (!Parse(pattern, size, &syntax, error)) return false;
  Compiler compiler(program);
  const int32_t match = compiler.Add({Opcode::kMatch});
  program->start = compiler.Emit(*syntax.root, match);
  if (program->start < 0) {
    *error = "pattern too large - compile failed";
    return false;
  }
  program->group_count = syntax.group_count;
  FindBeginnings(program);
  return true;
}

}  // namespace stillflow::regex
