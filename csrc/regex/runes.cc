// runes.cc: characters in UTF-8, and sets of them.
#include <algorithm>

#include "regex/case_folding.h"
#include "regex/syntax.h"

namespace stillflow::regex {

size_t DecodeRune(const char* text, size_t size, int32_t* rune) {
  const auto byte = [text](size_t i) { return static_cast<int32_t>(static_cast<unsigned char>(text[i])); };
  const int32_t first = byte(0);
  *rune = first;
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  constexpr int32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  *rune = -1;
  if (first < 0xC2 || first > 0xF4 || size < length) return 1;
  int32_t value = first & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 1;
    value = value << 6 | (byte(i) & 0x3F);
  }
  if (value < kLeast[length] || value > kMaxRune) return 1;
  *rune = value;
  return length;
}

RuneSet Normalized(RuneSet ranges) {
  std::sort(ranges.begin(), ranges.end(), [](RuneRange a, RuneRange b) { return a.low < b.low; });
  RuneSet result;
  for (const RuneRange range : ranges) {
    if (!result.empty() && range.low <= result.back().high + 1) {
      result.back().high = std::max(result.back().high, range.high);
    } else {
      result.push_back(range);
    }
  }
  return result;
}

RuneSet Negated(const RuneSet& normalized) {
  RuneSet result;
  int32_t next = 0;
  for (const RuneRange range : normalized) {
    if (range.low > next) result.push_back({next, range.low - 1});
    next = range.high + 1;
  }
  if (next <= kMaxRune) result.push_back({next, kMaxRune});
  return result;
}

RuneSet WithOtherCases(const RuneSet& ranges) {
  RuneSet result = Normalized(ranges);
  // A character has at most three others that differ in case alone; each round adds one more.
  for (int round = 0; round < 3; ++round) {
    RuneSet added;
    for (const RuneRange range : result) {
      for (size_t i = 0; i < kCaseRunCount; ++i) {
        const CaseRun& run = kCaseRuns[i];
        if (run.low > range.high) break;
        const int32_t begin = run.low + (std::max(range.low - run.low, 0) + run.step - 1) / run.step * run.step;
        const int32_t end = std::min(run.high, range.high);
        for (int32_t rune = begin; rune <= end; rune += run.step)
          added.push_back({rune + run.delta, rune + run.delta});
      }
    }
    const size_t before = result.size();
    result.insert(result.end(), added.begin(), added.end());
    int64_t old_count = 0, new_count = 0;
    for (size_t i = 0; i < before; ++i) old_count += result[i].high - result[i].low + 1;
    result = Normalized(std::move(result));
    for (const RuneRange range : result) new_count += range.high - range.low + 1;
    if (new_count == old_count) break;
  }
  return result;
}

}  // namespace stillflow::regex
