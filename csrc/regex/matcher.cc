// matcher.cc: follows all ways through a program at once, character by character, each instruction at most once per
// character: the time is at most the text's length times the program's. No match begins inside of a character, where
// RE2 finds \B.
#include <algorithm>

#include "regex/character_classes.h"
#include "regex/program.h"

namespace stillflow::regex {
namespace {

bool Holds(Assertion assertion, const char* text, size_t size, size_t position) {
  const auto is_word = [text, size](size_t i) { return i < size && IsWordByte(text[i]); };
  switch (assertion) {
    case Assertion::kTextBegin:
      return position == 0;
    case Assertion::kTextEnd:
      return position == size;
    case Assertion::kLineBegin:
      return position == 0 || text[position - 1] == '\n';
    case Assertion::kLineEnd:
      return position == size || text[position] == '\n';
    case Assertion::kWordEdge:
    case Assertion::kNoWordEdge: {
      const bool is_edge = (position > 0 && is_word(position - 1)) != is_word(position);
      return is_edge == (assertion == Assertion::kWordEdge);
    }
  }
  return false;
}

}  // namespace

bool Matcher::States::Has(int32_t instruction) const {
  const auto at = static_cast<size_t>(place[instruction]);
  return at < instructions.size() && instructions[at] == instruction;
}

Matcher::Matcher(const Program& program, int group_count)
    : program_(program), slot_count_(2 * group_count), slots_(slot_count_, -1), best_(slot_count_, -1) {
  for (States* states : {&current_, &next_}) {
    states->place.assign(program.instructions.size(), 0);
    states->slots.resize(program.instructions.size() * slot_count_);
  }
}

// Adds the states that an instruction leads to without reading a character. `slots_` are its groups' positions.
void Matcher::Follow(States* states, int32_t instruction, const char* text, size_t size, size_t position) {
  pending_.push_back({instruction, 0, 0});
  while (!pending_.empty()) {
    const Pending item = pending_.back();
    pending_.pop_back();
    if (item.instruction < 0) {
      slots_[item.slot] = item.old_value;
      continue;
    }
    if (states->Has(item.instruction)) continue;
    const auto place = static_cast<int32_t>(states->instructions.size());
    states->place[item.instruction] = place;
    states->instructions.push_back(item.instruction);
    const Instruction& found = program_.instructions[item.instruction];
    switch (found.opcode) {
      case Opcode::kSplit:
        pending_.push_back({found.other, 0, 0});
        pending_.push_back({found.next, 0, 0});
        break;
      case Opcode::kSave:
        if (found.argument < slot_count_) {
          pending_.push_back({-1, found.argument, slots_[found.argument]});
          slots_[found.argument] = static_cast<int64_t>(position);
        }
        pending_.push_back({found.next, 0, 0});
        break;
      case Opcode::kAssert:
        if (Holds(static_cast<Assertion>(found.argument), text, size, position)) {
          pending_.push_back({found.next, 0, 0});
        }
        break;
      case Opcode::kRune:
      case Opcode::kMatch:
        std::copy(slots_.begin(), slots_.end(), states->slots.begin() + int64_t{place} * slot_count_);
        break;
    }
  }
}

bool Matcher::Run(const char* text, size_t size, size_t begin, bool is_whole) {
  const bool is_anchored = is_whole || program_.is_anchored;
  if (program_.is_anchored && begin > 0) return false;
  bool has_match = false;
  current_.Clear();
  size_t position = begin;
  for (;;) {
    if (!has_match && (position == begin || !is_anchored)) {
      if (current_.instructions.empty() && !is_anchored) {
        while (position < size && !program_.can_begin[static_cast<unsigned char>(text[position])]) ++position;
      }
      std::fill(slots_.begin(), slots_.end(), -1);
      if (slot_count_ > 0) slots_[0] = static_cast<int64_t>(position);
      Follow(&current_, program_.start, text, size, position);
    }
    if (current_.instructions.empty()) return has_match;
    int32_t rune = -1;
    const size_t length = position < size ? DecodeRune(text + position, size - position, &rune) : 0;
    next_.Clear();
    for (size_t i = 0; i < current_.instructions.size(); ++i) {
      const Instruction& instruction = program_.instructions[current_.instructions[i]];
      const auto slots = current_.slots.begin() + static_cast<int64_t>(i) * slot_count_;
      if (instruction.opcode == Opcode::kMatch) {
        if (is_whole && position != size) continue;
        std::copy_n(slots, slot_count_, best_.begin());
        if (slot_count_ > 0) best_[1] = static_cast<int64_t>(position);
        has_match = true;
        break;  // what follows is preferred less
      }
      if (instruction.opcode != Opcode::kRune || !program_.sets[instruction.argument].Has(rune)) continue;
      std::copy_n(slots, slot_count_, slots_.begin());
      Follow(&next_, instruction.next, text, size, position + length);
    }
    std::swap(current_, next_);
    if (position >= size) return has_match;
    position += length;
  }
}

bool Matcher::Search(const char* text, size_t size, size_t begin) { return Run(text, size, begin, false); }

bool Matcher::MatchesAll(const char* text, size_t size) { return Run(text, size, 0, true); }

}  // namespace stillflow::regex
