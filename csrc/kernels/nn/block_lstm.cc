// block_lstm, block_lstm_grad: an LSTM layer along a sequence as one kernel, see lstm_step.h.
//
//   block_lstm       in seq_len_max, int64; x [time, batch, input], cs_prev, h_prev [batch, cell], w [input + cell, 4
//                    cell], wci, wcf, wco [cell], b [4 cell], half or float; out i, cs, f, o, ci, co, h [time, batch,
//                    cell], 0 from step seq_len_max on
//   block_lstm_grad  in the same, then i, cs, f, o, ci, co, h, cs_grad, h_grad [time, batch, cell]; out the gradients
//   of
//                    x, cs_prev, h_prev, w, wci, wcf, wco, b
//   attrs            whether blocks of w are i, f, c, o instead of i, c, f, o
//
// Gradients of weights are added up from the last step to the first, each by the rule of gemm.h.
#include <memory>

#include "kernels/nn/lstm_step.h"

namespace stillflow {
namespace {

using lstm::Options;
using lstm::Sizes;

struct Sequence {
  Sizes sizes;
  int64_t steps;   // of the tensors
  int64_t length;  // so many of them are computed
};

Status ReadSequence(const KernelCall& call, bool has_peepholes, Sequence* sequence) {
  STILLFLOW_RETURN_IF_ERROR(lstm::ReadSizes(call, 1, 3, &sequence->sizes));
  if (has_peepholes) STILLFLOW_RETURN_IF_ERROR(lstm::CheckPeepholes(call, 5, sequence->sizes));
  sequence->steps = call.in[1]->dims[0];
  if (call.in[0]->count != 1) {
    return STILLFLOW_INVALID_ARGUMENT("seq_len_max must be a scalar, saw shape: %s", ShapeText(*call.in[0]).c_str());
  }
  sequence->length = Data<int64_t>(*call.in[0])[0];
  if (sequence->length > sequence->steps) {
    return STILLFLOW_INVALID_ARGUMENT("seq_len_max = %lld is more than the %lld steps of x",
                                      static_cast<long long>(sequence->length),
                                      static_cast<long long>(sequence->steps));
  }
  sequence->length = std::max<int64_t>(sequence->length, 0);
  return Status();
}

// ---- Forward --------------------------------------------------------------------------------------------------

template <typename T>
Status RunForward(const KernelCall& call, const Options& options, const Sequence& sequence) {
  lstm::Forward<T>* made = nullptr;
  Status status = lstm::Forward<T>::Make(options, &made);
  const std::unique_ptr<lstm::Forward<T>> forward(made);
  STILLFLOW_RETURN_IF_ERROR(static_cast<Status&&>(status));
  const Sizes& sizes = sequence.sizes;
  const int64_t matrix = sizes.batch * sizes.cell;
  const Scratch gates(call, matrix * 4 * static_cast<int64_t>(sizeof(T)));
  if (!gates.ok()) return OutOfScratch();
  T* out[7];
  for (int i = 0; i < 7; ++i) {
    out[i] = MutableData<T>(*call.out[i]);
    std::memset(out[i] + sequence.length * matrix, 0, (sequence.steps - sequence.length) * matrix * sizeof(T));
  }
  const lstm::Weights<T> weights = lstm::ReadWeights<T>(call, 4);
  const T* cs_prev = Data<T>(*call.in[2]);
  const T* h_prev = Data<T>(*call.in[3]);
  for (int64_t step = 0; step < sequence.length; ++step) {
    const int64_t at = step * matrix;
    const lstm::Activations<T> to = {out[0] + at, out[1] + at, out[2] + at, out[3] + at,
                                     out[4] + at, out[5] + at, out[6] + at};
    const T* const x = Data<T>(*call.in[1]) + step * sizes.batch * sizes.input;
    STILLFLOW_RETURN_IF_ERROR(forward->Run(call, sizes, weights, x, cs_prev, h_prev, gates.data<T>(), to));
    cs_prev = to.cs;
    h_prev = to.h;
  }
  return Status();
}

Status BlockLstm(const KernelCall& call) {
  Options options;
  options.forget_bias = call.attrs[0].f;
  options.cell_clip = call.attrs[1].f;
  options.has_peepholes = call.attrs[2].i != 0;
  options.is_ifco = call.attrs[3].i != 0;
  Sequence sequence{};
  STILLFLOW_RETURN_IF_ERROR(ReadSequence(call, options.has_peepholes, &sequence));
  Shape shape(*call.in[1]);
  shape.dims[2] = sequence.sizes.cell;
  const DType type = call.in[1]->dtype;
  for (int out = 0; out < 7; ++out) STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out, type, shape));
  return ForType<float, Half>(
      "BlockLSTM", type, [&](auto tag) { return RunForward<typename decltype(tag)::type>(call, options, sequence); });
}

// ---- Backward -------------------------------------------------------------------------------------------------

// Inputs and outputs of the gradient by their numbers.
enum In { kX = 1, kCsPrev, kHPrev, kW, kI = 9, kCs, kF, kO, kCi, kCo, kH, kCsGrad, kHGrad };
enum Out { kXGrad, kCsPrevGrad, kHPrevGrad, kWGrad, kWciGrad, kWcfGrad, kWcoGrad, kBGrad };

template <typename T>
class BackwardRun {
 public:
  BackwardRun(const KernelCall& call, const lstm::Backward<T>& backward, bool has_peepholes, const Sequence& sequence,
              T* scratch)
      : call_(call),
        backward_(backward),
        has_peepholes_(has_peepholes),
        sequence_(sequence),
        sizes_(sequence.sizes),
        matrix_(sizes_.batch * sizes_.cell),
        weights_(lstm::ReadWeights<T>(call, kW)),
        cs_grad_(scratch),
        h_grad_(scratch + matrix_),
        dgates_(scratch + 2 * matrix_) {}
  static int64_t ScratchCount(const Sizes& sizes) { return 6 * sizes.batch * sizes.cell; }

  Status Run() {
    const int64_t first_unused = sequence_.length * sizes_.batch * sizes_.input;
    std::memset(out(kXGrad) + first_unused, 0, (call_.in[kX]->count - first_unused) * sizeof(T));
    for (const int grad : {kCsPrevGrad, kHPrevGrad, kWGrad, kWciGrad, kWcfGrad, kWcoGrad, kBGrad}) {
      std::memset(out(grad), 0, call_.out[grad]->count * sizeof(T));
    }
    for (int64_t step = sequence_.length - 1; step >= 0; --step) STILLFLOW_RETURN_IF_ERROR(RunStep(step));
    return Status();
  }

 private:
  const T* in(int number) const { return Data<T>(*call_.in[number]); }
  T* out(int number) const { return MutableData<T>(*call_.out[number]); }

  // The gradients of cs and h of a step: what is given, and what the step after it says.
  Status AddUp(const T* given, const T* later, T* sum) {
    return ForEachChunk(call_, matrix_, 16384, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) sum[i] = Narrow<T>(Widen(given[i]) + Widen(later[i]));
    });
  }

  Status RunStep(int64_t step) {
    const int64_t at = step * matrix_;
    const T* const cs_prev = step == 0 ? in(kCsPrev) : in(kCs) + at - matrix_;
    const T* const h_prev = step == 0 ? in(kHPrev) : in(kH) + at - matrix_;
    STILLFLOW_RETURN_IF_ERROR(AddUp(in(kCsGrad) + at, out(kCsPrevGrad), cs_grad_));
    STILLFLOW_RETURN_IF_ERROR(AddUp(in(kHGrad) + at, out(kHPrevGrad), h_grad_));
    const lstm::StepState<T> state = {cs_prev,     in(kI) + at,  in(kCs) + at, in(kF) + at,
                                      in(kO) + at, in(kCi) + at, in(kCo) + at};
    STILLFLOW_RETURN_IF_ERROR(
        backward_.Run(call_, sizes_, weights_, state, cs_grad_, h_grad_, dgates_, out(kCsPrevGrad)));
    STILLFLOW_RETURN_IF_ERROR(MultiplyBack(step));
    STILLFLOW_RETURN_IF_ERROR(AddToWeights(step, h_prev));
    if (!has_peepholes_) return Status();
    return backward_.AddPeepholes(call_, sizes_, state, dgates_, out(kWciGrad), out(kWcfGrad), out(kWcoGrad));
  }

  // The gradients of x and h_prev: dgates times the rows of w that belong to each.
  Status MultiplyBack(int64_t step) {
    const int64_t width = 4 * sizes_.cell;
    STILLFLOW_RETURN_IF_ERROR(Gemm<T>(call_, sizes_.batch, sizes_.input, width, {dgates_, width, 1},
                                      {weights_.w, 1, width}, out(kXGrad) + step * sizes_.batch * sizes_.input,
                                      sizes_.input));
    return Gemm<T>(call_, sizes_.batch, sizes_.cell, width, {dgates_, width, 1},
                   {weights_.w + sizes_.input * width, 1, width}, out(kHPrevGrad), sizes_.cell);
  }

  Status AddToWeights(int64_t step, const T* h_prev) {
    const int64_t width = 4 * sizes_.cell;
    const T* const x = in(kX) + step * sizes_.batch * sizes_.input;
    STILLFLOW_RETURN_IF_ERROR(Gemm<T>(call_, sizes_.input, width, sizes_.batch, {x, 1, sizes_.input},
                                      {dgates_, width, 1}, out(kWGrad), width, true));
    STILLFLOW_RETURN_IF_ERROR(Gemm<T>(call_, sizes_.cell, width, sizes_.batch, {h_prev, 1, sizes_.cell},
                                      {dgates_, width, 1}, out(kWGrad) + sizes_.input * width, width, true));
    return lstm::AddRowSums<T>(call_, dgates_, width, nullptr, 0, sizes_.batch, width, out(kBGrad));
  }

  const KernelCall& call_;
  const lstm::Backward<T>& backward_;
  const bool has_peepholes_;
  const Sequence& sequence_;
  const Sizes& sizes_;
  const int64_t matrix_;
  const lstm::Weights<T> weights_;
  T* const cs_grad_;
  T* const h_grad_;
  T* const dgates_;
};

template <typename T>
Status RunBackward(const KernelCall& call, const Options& options, const Sequence& sequence) {
  lstm::Backward<T>* made = nullptr;
  Status status = lstm::Backward<T>::Make(options, &made);
  const std::unique_ptr<lstm::Backward<T>> backward(made);
  STILLFLOW_RETURN_IF_ERROR(static_cast<Status&&>(status));
  const Scratch scratch(call, BackwardRun<T>::ScratchCount(sequence.sizes) * static_cast<int64_t>(sizeof(T)));
  if (!scratch.ok()) return OutOfScratch();
  return BackwardRun<T>(call, *backward, options.has_peepholes, sequence, scratch.data<T>()).Run();
}

Status BlockLstmGrad(const KernelCall& call) {
  Options options;
  options.has_peepholes = call.attrs[0].i != 0;
  options.is_ifco = call.attrs[1].i != 0;
  Sequence sequence{};
  STILLFLOW_RETURN_IF_ERROR(ReadSequence(call, true, &sequence));
  Shape shape(*call.in[kX]);
  shape.dims[2] = sequence.sizes.cell;
  for (int i = kI; i <= kHGrad; ++i) {
    if (!(Shape(*call.in[i]) == shape)) {
      return STILLFLOW_INVALID_ARGUMENT("in[%d] must have shape %s, not %s", i, ShapeText(shape).c_str(),
                                        ShapeText(*call.in[i]).c_str());
    }
  }
  const DType type = call.in[kX]->dtype;
  for (int out = 0; out < 8; ++out) {
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out, type, Shape(*call.in[kX + out])));
  }
  return ForType<float, Half>("BlockLSTMGrad", type, [&](auto tag) {
    return RunBackward<typename decltype(tag)::type>(call, options, sequence);
  });
}

}  // namespace

STILLFLOW_KERNELS(nn, block_lstm){
    {"block_lstm",
     "seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b | forget_bias, cell_clip, use_peephole, is_ifco",
     BlockLstm},
    {"block_lstm_grad",
     "seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, h, cs_grad, h_grad | use_peephole, "
     "is_ifco",
     BlockLstmGrad},
    {}};

}  // namespace stillflow
