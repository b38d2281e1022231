// character_classes.cc: the sets of characters that have names.
#include "regex/character_classes.h"

#include <array>
#include <cstring>

#include "regex/unicode_categories.h"
#include "regex/unicode_scripts.h"

namespace stillflow::regex {
namespace {

const std::array<ClassName, 14>& NamedClasses() {
  static const std::array<ClassName, 14> kClasses = {{
      {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
      {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
      {"ascii", {{0, 127}}},
      {"blank", {{'\t', '\t'}, {' ', ' '}}},
      {"cntrl", {{0, 31}, {127, 127}}},
      {"digit", {{'0', '9'}}},
      {"graph", {{'!', '~'}}},
      {"lower", {{'a', 'z'}}},
      {"print", {{' ', '~'}}},
      {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
      {"space", {{'\t', '\r'}, {' ', ' '}}},
      {"upper", {{'A', 'Z'}}},
      {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
      {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}},
  }};
  return kClasses;
}

template <typename Classes>
bool FindIn(const Classes& classes, const std::string& name, RuneSet* runes) {
  for (const auto& each : classes) {
    if (name == each.name) {
      runes->assign(each.ranges, each.ranges + each.count);
      return true;
    }
  }
  return false;
}

}  // namespace

bool IsWordByte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

const ClassName* FindNamedClass(const std::string& name) {
  for (const ClassName& each : NamedClasses()) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

const ClassName* FindPerlClass(char letter) {
  // Unlike [:space:], \s has no vertical tab.
  static const ClassName kSpace = {"s", {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}}};
  switch (letter) {
    case 'd':
    case 'D':
      return FindNamedClass("digit");
    case 's':
    case 'S':
      return &kSpace;
    case 'w':
    case 'W':
      return FindNamedClass("word");
    default:
      return nullptr;
  }
}

bool FindUnicodeClass(const std::string& name, RuneSet* runes) {
  if (name == "Any") {
    *runes = {{0, kMaxRune}};
    return true;
  }
  if (name.size() != 1)
    return FindIn(unicode_categories::kAll, name, runes) || FindIn(unicode_scripts::kAll, name, runes);
  // One letter stands for all categories that begin with it.
  for (const auto& each : unicode_categories::kAll) {
    if (each.name[0] == name[0]) runes->insert(runes->end(), each.ranges, each.ranges + each.count);
  }
  return !runes->empty();
}

}  // namespace stillflow::regex
