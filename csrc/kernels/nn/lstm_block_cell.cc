// lstm_block_cell, lstm_block_cell_grad: one step of an LSTM layer as one kernel, see lstm_step.h.
//
//   lstm_block_cell       in x [batch, input], cs_prev, h_prev [batch, cell], w [input + cell, 4 cell], wci, wcf, wco
//                         [cell], b [4 cell], half or float; out i, cs, f, o, ci, co, h [batch, cell]
//   lstm_block_cell_grad  in the same, then i, cs, f, o, ci, co, cs_grad, h_grad; out cs_prev_grad, dicfo [batch, 4
//                         cell], wci_grad, wcf_grad, wco_grad
#include "kernels/nn/lstm_step.h"

namespace stillflow {
namespace {

using lstm::Options;
using lstm::Sizes;

// What is prepared for a step: the programs for one type of elements.
template <template <typename> class Step>
struct Prepared {
  Step<float>* floats = nullptr;
  Step<Half>* halves = nullptr;
  bool has_peepholes = false;

  ~Prepared() {
    delete floats;
    delete halves;
  }
  template <typename T>
  const Step<T>& step() const {
    if constexpr (std::is_same_v<T, Half>) {
      return *halves;
    } else {
      return *floats;
    }
  }
};

template <template <typename> class Step>
Status PrepareStep(const Options& options, void** prepared) {
  auto* made = new Prepared<Step>;
  made->has_peepholes = options.has_peepholes;
  *prepared = made;
  STILLFLOW_RETURN_IF_ERROR(Step<float>::Make(options, &made->floats));
  return Step<Half>::Make(options, &made->halves);
}

template <template <typename> class Step>
void ReleaseStep(void* prepared) {
  delete static_cast<Prepared<Step>*>(prepared);
}

Status PrepareForward(const Attr* attrs, void** prepared) {
  Options options;
  options.forget_bias = attrs[0].f;
  options.cell_clip = attrs[1].f;
  options.has_peepholes = attrs[2].i != 0;
  return PrepareStep<lstm::Forward>(options, prepared);
}

Status PrepareBackward(const Attr* attrs, void** prepared) {
  Options options;
  options.has_peepholes = attrs[0].i != 0;
  return PrepareStep<lstm::Backward>(options, prepared);
}

Shape MatrixShape(int64_t rows, int64_t columns) {
  Shape shape;
  shape.Add(rows);
  shape.Add(columns);
  return shape;
}

Status LstmBlockCell(const KernelCall& call) {
  const auto& prepared = *static_cast<const Prepared<lstm::Forward>*>(call.prepared);
  Sizes sizes{};
  STILLFLOW_RETURN_IF_ERROR(lstm::ReadSizes(call, 0, 2, &sizes));
  if (prepared.has_peepholes) STILLFLOW_RETURN_IF_ERROR(lstm::CheckPeepholes(call, 4, sizes));
  const DType type = call.in[0]->dtype;
  for (int out = 0; out < 7; ++out) {
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out, type, MatrixShape(sizes.batch, sizes.cell)));
  }
  const Scratch gates(call, sizes.batch * 4 * sizes.cell * ElementBytes(type));
  if (!gates.ok()) return OutOfScratch();
  return ForType<float, Half>("LSTMBlockCell", type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* out[7];
    for (int i = 0; i < 7; ++i) out[i] = MutableData<T>(*call.out[i]);
    return prepared.step<T>().Run(call, sizes, lstm::ReadWeights<T>(call, 3), Data<T>(*call.in[0]),
                                  Data<T>(*call.in[1]), Data<T>(*call.in[2]), gates.data<T>(),
                                  {out[0], out[1], out[2], out[3], out[4], out[5], out[6]});
  });
}

Status CheckGradInputs(const KernelCall& call, const Sizes& sizes) {
  const char* const names[] = {"i", "cs", "f", "o", "ci", "co", "cs_grad", "h_grad"};
  for (int i = 0; i < 8; ++i) {
    const Tensor& tensor = *call.in[8 + i];
    STILLFLOW_RETURN_IF_ERROR(lstm::CheckRank(names[i], tensor, 2));
    char what[24];
    std::snprintf(what, sizeof what, "%s.dim_size", names[i]);
    STILLFLOW_RETURN_IF_ERROR(lstm::CheckSize(what, tensor, 0, "batch_size", sizes.batch));
    STILLFLOW_RETURN_IF_ERROR(lstm::CheckSize(what, tensor, 1, "cell_size", sizes.cell));
  }
  return Status();
}

Status LstmBlockCellGrad(const KernelCall& call) {
  const auto& prepared = *static_cast<const Prepared<lstm::Backward>*>(call.prepared);
  Sizes sizes{};
  STILLFLOW_RETURN_IF_ERROR(lstm::ReadSizes(call, 0, 2, &sizes));
  STILLFLOW_RETURN_IF_ERROR(lstm::CheckPeepholes(call, 4, sizes));
  STILLFLOW_RETURN_IF_ERROR(CheckGradInputs(call, sizes));
  const DType type = call.in[0]->dtype;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, type, MatrixShape(sizes.batch, sizes.cell)));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, type, MatrixShape(sizes.batch, 4 * sizes.cell)));
  for (int out = 2; out < 5; ++out) {
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out, type, Shape(*call.in[4])));
    std::memset(call.out[out]->data, 0, sizes.cell * ElementBytes(type));
  }
  return ForType<float, Half>("LSTMBlockCellGrad", type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto in = [&](int i) { return Data<T>(*call.in[i]); };
    T* const dgates = MutableData<T>(*call.out[1]);
    const lstm::StepState<T> step = {in(1), in(8), in(9), in(10), in(11), in(12), in(13)};
    STILLFLOW_RETURN_IF_ERROR(prepared.step<T>().Run(call, sizes, lstm::ReadWeights<T>(call, 3), step, in(14), in(15),
                                                     dgates, MutableData<T>(*call.out[0])));
    if (!prepared.has_peepholes) return Status();
    return prepared.step<T>().AddPeepholes(call, sizes, step, dgates, MutableData<T>(*call.out[2]),
                                           MutableData<T>(*call.out[3]), MutableData<T>(*call.out[4]));
  });
}

}  // namespace

STILLFLOW_KERNELS(nn, lstm_block_cell){
    {"lstm_block_cell", "x, cs_prev, h_prev, w, wci, wcf, wco, b | forget_bias, cell_clip, use_peephole",
     LstmBlockCell, PrepareForward, ReleaseStep<lstm::Forward>, nullptr, nullptr},
    {"lstm_block_cell_grad",
     "x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, cs_grad, h_grad | use_peephole",
     LstmBlockCellGrad, PrepareBackward, ReleaseStep<lstm::Backward>, nullptr, nullptr},
    {}};

}  // namespace stillflow
