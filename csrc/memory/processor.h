// processor.h: in what processors differ when they do the same. No bit of a result depends on it.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace stillflow {

struct Processor {
  static constexpr int kMostPlacesInTurn = 3;

  // Places in memory that the tiles of a large array are taken from in turns. Several keep more of memory's banks
  // busy; processors that foresee what is read get lost in them (Zen 4: sums of two arrays took 1.5 times as long).
  int places_in_turn = kMostPlacesInTurn;
  // Whether one stream that is only read is read faster where its lines are asked for beforehand (Zen 3 and Zen 4:
  // slower).
  bool asks_for_lines = true;
  // The same of some rows that are read side by side (Zen 5 foresees them: sums over axis 0 took 1.3 times as long).
  bool asks_for_rows = true;
  // Whether what is only read is read faster at two places side by side, line by line (Zen 1 and Zen 3: 1.25 times).
  bool reads_in_pairs = false;
  // Whether what comes from the last-level cache or memory is read faster half a line at a time than in registers
  // that hold a line (Zen 4: sums of it 1.05 times, of two arrays of doubles 1.2 times).
  bool reads_by_half_lines = false;
  // Whether rows at random places are asked for into the first-level cache instead of the second, and how far ahead.
  // What is on its way to the first occupies one of its line buffers for as long as memory takes: where these are
  // few, gathers and updates take 1.3 times as long (Xeons, Zen 4); where they are many, 0.75 of the time (Zen 5).
  bool fetches_to_first_cache = false;
  int64_t random_bytes_ahead = 32 << 10;
  // Arrays of up to so many bytes have their rows read at random places as fast without asking: what a second-level
  // cache holds, or more where many instructions wait side by side (Zen 5: rows of 16 bytes take half the time).
  int64_t near_bytes = 1 << 20;
};

#if defined(__x86_64__)
// As `cpuid` tells it: compilers know no processors that are younger than they.
inline int ProcessorFamily() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  __get_cpuid(1, &eax, &ebx, &ecx, &edx);
  const int family = eax >> 8 & 15;
  return family == 15 ? family + static_cast<int>(eax >> 20 & 255) : family;
}

inline Processor ProcessorOfAmd() {
  constexpr int kZen5 = 0x1A;
  const bool has_avx512 = __builtin_cpu_supports("avx512f");
  Processor processor;
  processor.places_in_turn = 1;
  processor.asks_for_lines = false;
  if (ProcessorFamily() >= kZen5) {
    processor.asks_for_rows = false;
    processor.fetches_to_first_cache = true;
    processor.random_bytes_ahead = 8 << 10;
    processor.near_bytes = 4 << 20;
  } else if (has_avx512) {
    processor.reads_by_half_lines = true;
  } else {
    processor.reads_in_pairs = __builtin_cpu_is("znver1") || __builtin_cpu_is("znver3");
  }
  return processor;
}
#endif

inline Processor ThisProcessor() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_is("amd")) return ProcessorOfAmd();
#endif
  return Processor();
}

// Found out when the kernels are loaded.
inline const Processor kProcessor = ThisProcessor();

}  // namespace stillflow
