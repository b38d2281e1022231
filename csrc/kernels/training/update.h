// update.h: the frame of optimizer kernels. A kernel is a formula for one element:
//
//   template <typename W>
//   struct Momentum {
//     W lr, momentum;
//     Momentum(const W* scalars, const Attr*) : lr(scalars[0]), momentum(scalars[1]) {}
//     void operator()(W grad, W& var, W& accum) const { ... }
//   };
//   const UpdateSignature kMomentum = {2, {"var", "accum"}, "grad", {"lr", "grad", "momentum"}};
//
// Its inputs are variables, then in any order the gradient, for sparse updates the "indices" of its rows, and
// scalars. All variables are read and written in one pass over memory. Each element is computed from its own place
// alone, and rows that occur several times are updated in the order of their indices, so neither chunks nor threads
// change a bit. Formulas are compiled for float and double; 16-bit floats are widened, and rounded once, at the end.
#pragma once

#include <new>
#include <utility>

#include "arithmetic/math/scalar.h"

namespace stillflow {

constexpr int kMostVariables = 4;
constexpr int kMostScalars = 8;

struct UpdateSignature {
  int variable_count;
  const char* variables[kMostVariables];
  const char* gradient;
  const char* arguments[kMostScalars + 2];  // the inputs after the variables; null after the last
};

// A formula for a run of elements of its variables.
using UpdateRun = void (*)(const void* formula, const void* grad, int64_t count, void* const* variables);

// Makes a formula of the scalars, in `memory` of kMostFormulaBytes.
constexpr int64_t kMostFormulaBytes = 128;
using MakeFormula = void (*)(const void* scalars, const Attr* attrs, void* memory);

struct Formulas {
  MakeFormula make[2];  // of floats, of doubles
  UpdateRun run[2];
};

Status ApplyUpdate(const KernelCall& call, const UpdateSignature& signature, const Formulas& formulas);

namespace update {

template <typename Formula, typename W>
void Make(const void* scalars, const Attr* attrs, void* memory) {
  static_assert(sizeof(Formula) <= kMostFormulaBytes && std::is_trivially_destructible_v<Formula>);
  new (memory) Formula(static_cast<const W*>(scalars), attrs);
}

template <typename Formula, typename W, size_t... kIndex>
STILLFLOW_INLINE void Run(const Formula& formula, const W* grad, int64_t count, void* const* variables,
                          std::index_sequence<kIndex...>) {
  W* const pointers[] = {static_cast<W*>(variables[kIndex])...};
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    W values[] = {pointers[kIndex][i]...};
    formula(grad[i], values[kIndex]...);
    ((pointers[kIndex][i] = values[kIndex]), ...);
  }
}
template <typename Formula, typename W, int kVariables>
void Run(const void* formula, const void* grad, int64_t count, void* const* variables) {
  const Formula copy = *static_cast<const Formula*>(formula);
  Run(copy, static_cast<const W*>(grad), count, variables, std::make_index_sequence<kVariables>());
}

}  // namespace update

// Runs a formula on in[0], in[1], ..., the variables of `signature`.
template <template <typename> class Formula, int kVariables>
Status ApplyUpdate(const KernelCall& call, const UpdateSignature& signature) {
  static constexpr Formulas kFormulas = {
      {update::Make<Formula<float>, float>, update::Make<Formula<double>, double>},
      {update::Run<Formula<float>, float, kVariables>, update::Run<Formula<double>, double, kVariables>}};
  return ApplyUpdate(call, signature, kFormulas);
}

}  // namespace stillflow
