// syntax.h: regular expressions in RE2's syntax, as trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace stillflow::regex {

constexpr int32_t kMaxRune = 0x10FFFF;

// Characters from `low` to `high`.
struct RuneRange {
  int32_t low, high;
};

// Sorted, without overlaps.
using RuneSet = std::vector<RuneRange>;

// The sets of a RuneSet that is being made.
RuneSet Normalized(RuneSet ranges);
RuneSet Negated(const RuneSet& normalized);
// The set with the characters that differ from its own in case alone.
RuneSet WithOtherCases(const RuneSet& ranges);

enum class NodeKind {
  kEmpty,
  kRunes,      // one of `runes`
  kSequence,   // all children, one after the other
  kChoice,     // one child; earlier ones are preferred
  kRepeat,     // its child, `least` to `most` times (most = -1: any number); more are preferred if `is_greedy`
  kGroup,      // its child, as group `number`
  kAssertion,  // nothing, where `assertion` holds
};

enum class Assertion : uint8_t { kTextBegin, kTextEnd, kLineBegin, kLineEnd, kWordEdge, kNoWordEdge };

struct Node {
  NodeKind kind = NodeKind::kEmpty;
  RuneSet runes;
  std::vector<std::unique_ptr<Node>> children;
  int least = 0, most = 0, number = 0;
  bool is_greedy = true;
  Assertion assertion = Assertion::kTextBegin;
};

struct Syntax {
  std::unique_ptr<Node> root;
  int group_count = 0;
};

// Reads a pattern. False if it is wrong, with RE2's words for it in `error`.
bool Parse(const char* pattern, size_t size, Syntax* syntax, std::string* error);

// The bytes of the character that begins at `text`, of which `size` > 0 are there: its number in `rune`, or -1 for
// one byte that begins none.
size_t DecodeRune(const char* text, size_t size, int32_t* rune);

}  // namespace stillflow::regex
