// unicode_script: the script that each character belongs to.
//
//   in[0]   int32 code points
//   out[0]  int32 of the same shape: ICU's numbers of scripts, -1 for what is no code point
#include <algorithm>
#include <iterator>

#include "kernels/guarded.h"
#include "state_kernels/strings/unicode_script_runs.h"

namespace stillflow {
namespace {

int32_t ScriptOf(int32_t rune) {
  constexpr int32_t kLastRune = 0x10FFFF;
  if (rune < 0 || rune > kLastRune) return -1;
  const auto* const after =
      std::upper_bound(std::begin(kScriptRuns), std::end(kScriptRuns), static_cast<uint32_t>(rune),
                       [](uint32_t value, const ScriptRun& run) { return value < run.first; });
  return static_cast<int32_t>((after - 1)->script);
}

Status UnicodeScript(const KernelCall& call) {
  constexpr int64_t kRunesPerChunk = 4096;
  const Tensor& runes = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt32, Shape(runes)));
  auto* out = MutableData<int32_t>(*call.out[0]);
  return ForEachChunk(call, runes.count, kRunesPerChunk, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) out[i] = ScriptOf(Data<int32_t>(runes)[i]);
  });
}

}  // namespace

STILLFLOW_KERNELS(strings, unicode_script){{"unicode_script", "input", UnicodeScript}, {}};

}  // namespace stillflow
