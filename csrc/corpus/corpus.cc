#include "corpus/corpus.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string_view>

namespace stillflow {
namespace {

bool IsWordByte(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c >= 0x80;
}

// Numbers distinct words in the order in which they come; open addressing, so that a lookup is one cache
// miss and not several.
class WordTable {
 public:
  WordTable() : slots_(1 << 16, kEmpty) {}

  // The word's number, new if it has not come before.
  int32_t Number(std::string_view word) {
    const uint64_t hash = Hash(word);
    size_t at = hash & (slots_.size() - 1);
    while (slots_[at] != kEmpty) {
      if (hashes_[slots_[at]] == hash && words_[slots_[at]] == word) return slots_[at];
      at = (at + 1) & (slots_.size() - 1);
    }
    const auto number = static_cast<int32_t>(words_.size());
    slots_[at] = number;
    words_.emplace_back(word);
    hashes_.push_back(hash);
    if (words_.size() * 2 > slots_.size()) Grow();
    return number;
  }

  const std::vector<std::string>& words() const { return words_; }

 private:
  static constexpr int32_t kEmpty = -1;

  static uint64_t Hash(std::string_view word) {  // FNV-1a
    uint64_t hash = 0xCBF29CE484222325u;
    for (const char c : word) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
    return hash ^ hash >> 32;
  }

  void Grow() {
    slots_.assign(slots_.size() * 2, kEmpty);
    for (size_t number = 0; number < words_.size(); ++number) {
      size_t at = hashes_[number] & (slots_.size() - 1);
      while (slots_[at] != kEmpty) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = static_cast<int32_t>(number);
    }
  }

  std::vector<int32_t> slots_;
  std::vector<std::string> words_;
  std::vector<uint64_t> hashes_;
};

// Calls on_word(word) and on_break() in the order of the text.
template <typename OnWord, typename OnBreak>
void Tokenize(const char* text, int64_t size, const OnWord& on_word, const OnBreak& on_break) {
  std::string word;
  int line_ends = 0;  // since the last word
  for (int64_t i = 0; i < size;) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (!IsWordByte(c)) {
      if (c == '\n' && ++line_ends == 2) on_break();
      ++i;
      continue;
    }
    word.clear();
    for (; i < size && IsWordByte(static_cast<unsigned char>(text[i])); ++i) {
      const char letter = text[i];
      word += letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + ('a' - 'A')) : letter;
    }
    line_ends = 0;
    on_word(word);
  }
}

}  // namespace

Corpus::Corpus(const char* text, int64_t size, int64_t min_count, int64_t most_words) {
  WordTable table;
  std::vector<int64_t> counts;
  std::vector<int32_t> numbers;  // in order of first appearance
  numbers.reserve(size / 6);
  Tokenize(
      text, size,
      [&](const std::string& word) {
        const int32_t number = table.Number(word);
        if (number == static_cast<int32_t>(counts.size())) counts.push_back(0);
        ++counts[number];
        ++text_word_count_;
        numbers.push_back(number);
      },
      [&] {
        if (!numbers.empty() && numbers.back() != kBreak) numbers.push_back(kBreak);
      });

  std::vector<int32_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return counts[a] > counts[b]; });
  std::vector<int32_t> rank_of(counts.size(), kBreak - 1);
  for (const int32_t number : order) {
    if (counts[number] < min_count) break;
    if (most_words > 0 && static_cast<int64_t>(words_.size()) == most_words) break;
    rank_of[number] = static_cast<int32_t>(words_.size());
    words_.push_back(table.words()[number]);
    counts_.push_back(counts[number]);
    kept_word_count_ += counts[number];
  }
  sequence_.reserve(kept_word_count_);
  for (const int32_t number : numbers) {
    if (number == kBreak) {
      sequence_.push_back(kBreak);
    } else if (rank_of[number] >= 0) {
      sequence_.push_back(rank_of[number]);
    }
  }
}

int64_t FindNonText(const char* text, int64_t size) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text);
  for (int64_t i = 0; i < size;) {
    const unsigned char c = bytes[i];
    if (c == 0) return i;
    if (c < 0x80) {
      ++i;
      continue;
    }
    const int following = c >= 0xF0 ? 3 : (c >= 0xE0 ? 2 : 1);
    if (c < 0xC2 || c > 0xF4 || i + following >= size) return i;
    for (int k = 1; k <= following; ++k) {
      if ((bytes[i + k] & 0xC0) != 0x80) return i;
    }
    const unsigned char second = bytes[i + 1];
    // No overlong forms, surrogates, or characters beyond U+10FFFF.
    if ((c == 0xE0 && second < 0xA0) || (c == 0xED && second > 0x9F) || (c == 0xF0 && second < 0x90) ||
        (c == 0xF4 && second > 0x8F)) {
      return i;
    }
    i += following + 1;
  }
  return -1;
}

}  // namespace stillflow
