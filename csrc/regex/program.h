// program.h: regular expressions as programs, and a machine that runs them over a text in linear time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "regex/syntax.h"

namespace stillflow::regex {

enum class Opcode : uint8_t {
  kRune,    // a character of set `argument`, then `next`
  kSplit,   // `next`, or else `other`
  kSave,    // the position in slot `argument`, then `next`
  kAssert,  // `next` where assertion `argument` holds
  kMatch,
};

struct Instruction {
  Opcode opcode;
  int32_t argument = 0;
  int32_t next = -1;
  int32_t other = -1;
};

// A set of characters with a table for those of ASCII.
struct RuneTable {
  bool is_member[128];
  RuneSet others;
  bool Has(int32_t rune) const;
};

struct Program {
  std::vector<Instruction> instructions;
  std::vector<RuneTable> sets;
  int32_t start = 0;
  int group_count = 0;
  // Whether a match can only begin at the beginning of the text.
  bool is_anchored = false;
  // Which bytes a match can begin with; all if it may be empty.
  bool can_begin[256];
};

// False for a pattern that is wrong, with RE2's words for it in `error`.
bool Compile(const char* pattern, size_t size, Program* program, std::string* error);

// Runs one program over many texts; keeps its memory between runs. Not for several threads at once.
class Matcher {
 public:
  // Groups from 0, the whole match, to `group_count` - 1 are kept.
  Matcher(const Program& program, int group_count);

  // The leftmost match at `begin` or later, of which preferences in the pattern choose one. Positions of group i are
  // then group_begin(i) and group_end(i), -1 for a group that has no part in it.
  bool Search(const char* text, size_t size, size_t begin);

  // Whether the whole text is a match.
  bool MatchesAll(const char* text, size_t size);

  int64_t group_begin(int group) const { return best_[2 * group]; }
  int64_t group_end(int group) const { return best_[2 * group + 1]; }

 private:
  // The states that the machine is in, in order of preference, each with its groups' positions.
  struct States {
    std::vector<int32_t> instructions;
    std::vector<int64_t> slots;
    std::vector<int32_t> place;  // of each instruction in `instructions`, if it is there
    void Clear() { instructions.clear(); }
    bool Has(int32_t instruction) const;
  };
  struct Pending {
    int32_t instruction;  // to follow, or -1: to put a slot back
    int32_t slot;
    int64_t old_value;
  };

  bool Run(const char* text, size_t size, size_t begin, bool is_whole);
  void Follow(States* states, int32_t instruction, const char* text, size_t size, size_t position);

  const Program& program_;
  int slot_count_;
  States current_, next_;
  std::vector<Pending> pending_;
  std::vector<int64_t> slots_, best_;
};

}  // namespace stillflow::regex
