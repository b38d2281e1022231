// character_classes.h: the sets of characters that have names: \d, [:alpha:], \p{Greek}.
#pragma once

#include <string>

#include "regex/syntax.h"

namespace stillflow::regex {

struct ClassName {
  std::string name;
  RuneSet runes;
};

// A letter, digit or "_" of ASCII.
bool IsWordByte(char c);

// \d, \s, \w for these letters, in either case; null for others.
const ClassName* FindPerlClass(char letter);

// The class [:name:], or null.
const ClassName* FindNamedClass(const std::string& name);

// The general category or script of Unicode that a name such as "Lu" or "Greek" is for; "Any" is all of it.
bool FindUnicodeClass(const std::string& name, RuneSet* runes);

}  // namespace stillflow::regex
