// parser.cc: reads patterns in RE2's syntax: Perl's, without references back and looks around.
#include <algorithm>
#include <cstring>

#include "regex/character_classes.h"
#include "regex/scanner.h"
#include "regex/syntax.h"

namespace stillflow::regex {
namespace {

constexpr int kMostRepetitions = 1000;
constexpr int kDeepestNesting = 1000;

struct Flags {
  bool folds_case = false;      // (?i)
  bool is_multiline = false;    // (?m): ^ and $ match at lines
  bool dot_is_newline = false;  // (?s)
  bool is_ungreedy = false;     // (?U): x* and x*? change roles
};

std::unique_ptr<Node> NewNode(NodeKind kind) {
  auto node = std::make_unique<Node>();
  node->kind = kind;
  return node;
}

// How often the innermost of nested repetitions is written out, up to more than is allowed.
int Repetitions(const Node& node) {
  int inner = 1;
  for (const auto& child : node.children) inner = std::max(inner, Repetitions(*child));
  if (node.kind != NodeKind::kRepeat) return inner;
  const int own = node.most > 0 ? node.most : std::max(node.least, 1);
  return std::min(inner * own, kMostRepetitions + 1);
}

class Parser : private Scanner {
 public:
  using Scanner::Scanner;

  bool Run(Syntax* syntax) {
    if (!IsUtf8()) return false;
    auto root = Choice(0);
    if (root == nullptr) return false;
    if (at_ != end_) return Fail("missing )", begin_, end_);
    syntax->root = std::move(root);
    syntax->group_count = group_count_;
    return true;
  }

 private:
  std::unique_ptr<Node> FailNode(const char* what, const char* from, const char* to) {
    Fail(what, from, to);
    return nullptr;
  }

  std::unique_ptr<Node> Runes(RuneSet runes) const {
    auto node = NewNode(NodeKind::kRunes);
    node->runes = flags_.folds_case ? WithOtherCases(runes) : Normalized(std::move(runes));
    return node;
  }

  // ---- Choices and sequences -------------------------------------------------------------------------------------

  // Up to a ")" or the end.
  std::unique_ptr<Node> Choice(int depth) {
    if (depth > kDeepestNesting) return FailNode("expression nests too deeply", begin_, end_);
    const Flags outer = flags_;
    auto choice = NewNode(NodeKind::kChoice);
    for (;;) {
      auto sequence = Sequence(depth);
      if (sequence == nullptr) return nullptr;
      choice->children.push_back(std::move(sequence));
      if (at_ == end_ || *at_ != '|') break;
      ++at_;
    }
    flags_ = outer;
    return choice->children.size() == 1 ? std::move(choice->children[0]) : std::move(choice);
  }

  std::unique_ptr<Node> Sequence(int depth) {
    auto sequence = NewNode(NodeKind::kSequence);
    const char* last_repetition = nullptr;  // where the operator before `at_` begins
    while (at_ < end_ && *at_ != '|' && *at_ != ')') {
      const char* before = at_;
      int least, most;
      if (ReadRepetition(&least, &most)) {
        if (!Repeat(sequence.get(), before, last_repetition, least, most)) return nullptr;
        last_repetition = last_repetition == nullptr ? before : last_repetition;
        continue;
      }
      last_repetition = nullptr;
      if (!Item(sequence.get(), depth)) return nullptr;
    }
    return sequence;
  }

  // *, +, ? or {m,n}, without the ? that may follow. False, and nothing read, if there is none.
  bool ReadRepetition(int* least, int* most) {
    switch (*at_) {
      case '*':
        *least = 0, *most = -1;
        break;
      case '+':
        *least = 1, *most = -1;
        break;
      case '?':
        *least = 0, *most = 1;
        break;
      case '{':
        return ReadBounds(least, most);
      default:
        return false;
    }
    ++at_;
    return true;
  }

  bool ReadBounds(int* least, int* most) {
    const char* start = at_;
    ++at_;
    if (ReadCount(least)) {
      *most = *least;
      if (at_ < end_ && *at_ == ',') {
        ++at_;
        if (at_ < end_ && *at_ == '}') *most = -1;
        if (*most >= 0 && !ReadCount(most)) at_ = end_;
      }
      if (at_ < end_ && *at_ == '}') {
        ++at_;
        return true;
      }
    }
    at_ = start;  // no bounds: "{" stands for itself
    return false;
  }

  bool Repeat(Node* sequence, const char* start, const char* last_repetition, int least, int most) {
    bool is_greedy = !flags_.is_ungreedy;
    const char* after_operator = at_;
    if (at_ < end_ && *at_ == '?') {
      is_greedy = !is_greedy;
      ++at_;
    }
    if (last_repetition != nullptr) return Fail("bad repetition operator", last_repetition, at_);
    if (sequence->children.empty()) return Fail("no argument for repetition operator", start, after_operator);
    const bool is_too_many = least > kMostRepetitions || most > kMostRepetitions || (most >= 0 && most < least);
    if (is_too_many) return Fail("invalid repetition size", start, after_operator);
    auto repeat = NewNode(NodeKind::kRepeat);
    repeat->least = least;
    repeat->most = most;
    repeat->is_greedy = is_greedy;
    repeat->children.push_back(std::move(sequence->children.back()));
    if (*start == '{' && Repetitions(*repeat) > kMostRepetitions) {
      return Fail("invalid repetition size", start, after_operator);
    }
    sequence->children.back() = std::move(repeat);
    return true;
  }

  // ---- Items -----------------------------------------------------------------------------------------------------

  bool Add(Node* sequence, std::unique_ptr<Node> node) {
    if (node == nullptr) return false;
    sequence->children.push_back(std::move(node));
    return true;
  }

  bool AddAssertion(Node* sequence, Assertion assertion) {
    auto node = NewNode(NodeKind::kAssertion);
    node->assertion = assertion;
    return Add(sequence, std::move(node));
  }

  bool Item(Node* sequence, int depth) {
    switch (*at_) {
      case '(':
        return StartsWith("(?") ? Extension(sequence, depth) : Group(sequence, depth);
      case '[':
        return Class(sequence);
      case '.':
        ++at_;
        return Add(sequence, Runes(flags_.dot_is_newline ? RuneSet{{0, kMaxRune}}
                                                         : RuneSet{{0, '\n' - 1}, {'\n' + 1, kMaxRune}}));
      case '^':
        ++at_;
        return AddAssertion(sequence, flags_.is_multiline ? Assertion::kLineBegin : Assertion::kTextBegin);
      case '$':
        ++at_;
        return AddAssertion(sequence, flags_.is_multiline ? Assertion::kLineEnd : Assertion::kTextEnd);
      case '\\':
        return Backslash(sequence);
      default: {
        const int32_t rune = NextRune();
        return Add(sequence, Runes({{rune, rune}}));
      }
    }
  }

  bool Group(Node* sequence, int depth) {
    ++at_;
    auto group = NewNode(NodeKind::kGroup);
    group->number = ++group_count_;
    return CloseGroup(sequence, std::move(group), depth);
  }

  // Reads what is in the group, and ")".
  bool CloseGroup(Node* sequence, std::unique_ptr<Node> group, int depth) {
    auto inner = Choice(depth + 1);
    if (inner == nullptr) return false;
    if (at_ == end_) return Fail("missing )", begin_, end_);
    ++at_;
    group->children.push_back(std::move(inner));
    return Add(sequence, std::move(group));
  }

  // (?P<name>...), (?flags), (?flags:...), (?:...)
  bool Extension(Node* sequence, int depth) {
    const char* start = at_;
    if (StartsWith("(?P<")) {
      const char* close = std::find(at_, end_, '>');
      if (close == end_) return Fail("invalid named capture group", start, end_);
      const char* name = at_ + 4;
      const bool is_name = name < close && std::all_of(name, close, IsWordByte);
      if (!is_name) return Fail("invalid named capture group", start, close + 1);
      at_ = close;
      return Group(sequence, depth);
    }
    at_ += 2;
    Flags flags = flags_;
    bool is_negated = false;
    for (;;) {
      if (at_ == end_) return Fail("invalid perl operator", start, end_);
      const char c = *at_++;
      if (c == ':' || c == ')') return EndFlags(sequence, depth, flags, c == ':');
      if (c == '-' && !is_negated) {
        is_negated = true;
        if (at_ < end_ && (*at_ == ':' || *at_ == ')')) return Fail("invalid perl operator", start, at_ + 1);
        continue;
      }
      bool* flag = c == 'i'   ? &flags.folds_case
                   : c == 'm' ? &flags.is_multiline
                   : c == 's' ? &flags.dot_is_newline
                   : c == 'U' ? &flags.is_ungreedy
                              : nullptr;
      if (flag == nullptr) {
        --at_;
        NextRune();
        return Fail("invalid perl operator", start, at_);
      }
      *flag = !is_negated;
    }
  }

  bool EndFlags(Node* sequence, int depth, const Flags& flags, bool is_group) {
    const Flags outer = flags_;
    flags_ = flags;
    if (!is_group) return true;  // Choice sets those before the group again
    auto group = NewNode(NodeKind::kSequence);
    if (!CloseGroup(sequence, std::move(group), depth)) return false;
    flags_ = outer;
    return true;
  }

  // ---- Escapes ---------------------------------------------------------------------------------------------------

  bool Backslash(Node* sequence) {
    const char next = at_ + 1 < end_ ? at_[1] : '\0';
    const auto assertion = [&](Assertion which) {
      at_ += 2;
      return AddAssertion(sequence, which);
    };
    switch (next) {
      case 'A':
        return assertion(Assertion::kTextBegin);
      case 'z':
        return assertion(Assertion::kTextEnd);
      case 'b':
        return assertion(Assertion::kWordEdge);
      case 'B':
        return assertion(Assertion::kNoWordEdge);
      case 'Q':
        return Quoted(sequence);
      default:
        break;
    }
    RuneSet runes;
    bool is_class = false;
    if (!ReadClassEscape(&runes, &is_class)) return false;
    if (is_class) return Add(sequence, Runes(std::move(runes)));
    int32_t rune;
    if (!ReadEscape(&rune)) return false;
    return Add(sequence, Runes({{rune, rune}}));
  }

  bool Quoted(Node* sequence) {
    at_ += 2;
    while (at_ < end_) {
      if (StartsWith("\\E")) {
        at_ += 2;
        break;
      }
      const int32_t rune = NextRune();
      Add(sequence, Runes({{rune, rune}}));
    }
    return true;
  }

  // \d and its kin, and \pN; `is_class` says whether there is one.
  bool ReadClassEscape(RuneSet* runes, bool* is_class) {
    if (at_ + 1 >= end_) return true;
    if (const ClassName* found = FindPerlClass(at_[1])) {
      const bool is_negated = at_[1] < 'a';
      at_ += 2;
      *is_class = true;
      AddClass(found->runes, is_negated, runes);
      return true;
    }
    if (at_[1] != 'p' && at_[1] != 'P') return true;
    *is_class = true;
    const char* start = at_;
    bool is_negated = at_[1] == 'P';
    at_ += 2;
    const char* name = at_;
    const char* name_end;
    if (at_ < end_ && *at_ == '{') {
      const char* close = std::find(at_, end_, '}');
      if (close == end_) return Fail("invalid character class range", start, end_);
      name = at_ + 1;
      name_end = close;
      at_ = close + 1;
    } else {
      if (at_ < end_) NextRune();
      name_end = at_;
    }
    if (name < name_end && *name == '^') {
      is_negated = !is_negated;
      ++name;
    }
    RuneSet found;
    if (!FindUnicodeClass(std::string(name, name_end), &found)) {
      return Fail("invalid character class range", start, at_);
    }
    AddClass(found, is_negated, runes);
    return true;
  }

  // Adds a set to another, after its other cases and before it is negated, if these are wanted.
  void AddClass(const RuneSet& found, bool is_negated, RuneSet* runes) const {
    RuneSet set = flags_.folds_case ? WithOtherCases(found) : found;
    if (is_negated) set = Negated(Normalized(std::move(set)));
    runes->insert(runes->end(), set.begin(), set.end());
  }

  // ---- Sets in brackets ------------------------------------------------------------------------------------------

  bool Class(Node* sequence) {
    const char* start = at_++;
    const bool is_negated = at_ < end_ && *at_ == '^';
    if (is_negated) ++at_;
    RuneSet runes;
    for (bool is_first = true; at_ == end_ || *at_ != ']' || is_first; is_first = false) {
      if (at_ == end_) return Fail("missing ]", start, end_);
      bool is_class = false;
      if (StartsWith("[:") && !ReadNamedClass(&runes, &is_class)) return false;
      if (is_class) continue;
      if (*at_ == '\\' && !ReadClassEscape(&runes, &is_class)) return false;
      if (is_class) continue;
      if (!ReadRange(start, &runes)) return false;
    }
    ++at_;
    if (flags_.folds_case) runes = WithOtherCases(runes);
    runes = Normalized(std::move(runes));
    auto node = NewNode(NodeKind::kRunes);
    node->runes = is_negated ? Negated(runes) : std::move(runes);
    return Add(sequence, std::move(node));
  }

  // [:alpha:] and its kin. Without ":]" later on, "[" stands for itself.
  bool ReadNamedClass(RuneSet* runes, bool* is_class) {
    const char kClose[] = {':', ']'};
    const char* close = std::search(at_ + 2, end_, kClose, kClose + 2);
    if (close == end_) return true;
    const char* name = at_ + 2;
    const bool is_negated = name < close && *name == '^';
    const ClassName* found = FindNamedClass(std::string(name + is_negated, close));
    if (found == nullptr) return Fail("invalid character class range", at_, close + 2);
    AddClass(found->runes, is_negated, runes);
    at_ = close + 2;
    *is_class = true;
    return true;
  }

  bool ReadRange(const char* class_start, RuneSet* runes) {
    const char* start = at_;
    int32_t low, high;
    if (!ReadClassRune(class_start, &low)) return false;
    high = low;
    if (at_ + 1 < end_ && at_[0] == '-' && at_[1] != ']') {
      ++at_;
      if (!ReadClassRune(class_start, &high)) return false;
      if (high < low) return Fail("invalid character class range", start, at_);
    }
    runes->push_back({low, high});
    return true;
  }

  bool ReadClassRune(const char* class_start, int32_t* rune) {
    if (at_ == end_) return Fail("missing ]", class_start, end_);
    if (*at_ == '\\') return ReadEscape(rune);
    *rune = NextRune();
    return true;
  }

  Flags flags_;
  int group_count_ = 0;
};

}  // namespace

bool Parse(const char* pattern, size_t size, Syntax* syntax, std::string* error) {
  return Parser(pattern, size, error).Run(syntax);
}

}  // namespace stillflow::regex
