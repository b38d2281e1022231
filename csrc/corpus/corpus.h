// corpus.h: a text as a vocabulary and a sequence of word numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stillflow {

// Words are runs of letters, digits, underscores and non-ASCII characters, with ASCII letters in lower case;
// everything else separates words. Words are numbered by falling frequency, equally frequent ones by their
// first place in the text. Rare words are left out of the sequence as if they were not there.
class Corpus {
 public:
  // Marks the end of a paragraph, an empty line, in the sequence: no window reaches across it.
  static constexpr int32_t kBreak = -1;

  // Keeps words that occur at least `min_count` times, at most `most_words` of them (0: any number).
  Corpus(const char* text, int64_t size, int64_t min_count, int64_t most_words);

  const std::vector<std::string>& words() const { return words_; }
  const std::vector<int64_t>& counts() const { return counts_; }
  const std::vector<int32_t>& sequence() const { return sequence_; }
  // All words of the text, those left out included.
  int64_t text_word_count() const { return text_word_count_; }
  // All words of the text that are in the vocabulary.
  int64_t kept_word_count() const { return kept_word_count_; }

 private:
  std::vector<std::string> words_;
  std::vector<int64_t> counts_;
  std::vector<int32_t> sequence_;
  int64_t text_word_count_ = 0;
  int64_t kept_word_count_ = 0;
};

// The offset of the first byte that is no text: a zero byte, or one that is not part of a UTF-8 character.
// -1 if there is none.
int64_t FindNonText(const char* text, int64_t size);

}  // namespace stillflow
