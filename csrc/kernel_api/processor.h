// processor.h: in what processors differ when they do the same. No bit of a result depends on it.
#pragma once

namespace stillflow {

struct Processor {
  static constexpr int kMostPlacesInTurn = 3;

  // Places in memory that the tiles of a large array are taken from in turns. Several keep more of memory's banks
  // busy; processors that foresee what is read get lost in them (Zen 4: sums of two arrays took 1.5 times as long).
  int places_in_turn = kMostPlacesInTurn;
  // Whether one stream that is only read is read faster where its lines are asked for beforehand (Zen 3 and Zen 4:
  // slower).
  bool asks_for_lines = true;
  // Whether what is only read is read faster at two places side by side, line by line (Zen 1 and Zen 3: 1.25 times).
  bool reads_in_pairs = false;
  // Whether what comes from the last-level cache or memory is read faster half a line at a time than in registers
  // that hold a line (Zen 4: sums of it 1.05 times, of two arrays of doubles 1.2 times).
  bool reads_by_half_lines = false;
};

inline Processor ThisProcessor() {
  Processor processor;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool has_avx512 = __builtin_cpu_supports("avx512f");
  // Some compilers take Zen 4 for Zen 3, which has no AVX-512.
  const bool is_zen3 = __builtin_cpu_is("znver3") && !has_avx512;
  if (__builtin_cpu_is("amd")) processor = {1, false, is_zen3 || __builtin_cpu_is("znver1"), has_avx512};
#endif
  return processor;
}

// Found out when the kernels are loaded.
inline const Processor kProcessor = ThisProcessor();

}  // namespace stillflow
