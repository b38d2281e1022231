// lstm_step.h: one step of a whole LSTM layer, forward and backward; what LSTMBlockCell and BlockLSTM are made of.
//
// With gates = [x, h_prev] w + b, blocks of i, c, f, o (or i, f, c, o):
//   i = sigmoid(i + cs_prev wci), ci = tanh(c), f = sigmoid(f + forget_bias + cs_prev wcf),
//   cs = clip(i ci + f cs_prev), o = sigmoid(o + cs wco), co = tanh(cs), h = o co;
// the products with wci, wcf and wco, the peepholes, only if there are any, and the clip only for a positive bound.
// Sums of a gradient over rows go through these in ascending order.
#pragma once

#include <string>

#include "arithmetic/elementwise/program_text.h"
#include "arithmetic/gemm/gemm.h"
#include "arithmetic/math/scalar.h"

namespace stillflow {
namespace lstm {

struct Sizes {
  int64_t batch;
  int64_t input;
  int64_t cell;
};

struct Options {
  bool has_peepholes = false;
  bool is_ifco = false;  // order of the blocks; else i, c, f, o
  double forget_bias = 0;
  double cell_clip = 0;
};

enum Gate { kI, kC, kF, kO };
inline int BlockOf(Gate gate, bool is_ifco) {
  if (gate == kC) return is_ifco ? 2 : 1;
  if (gate == kF) return is_ifco ? 1 : 2;
  return gate == kI ? 0 : 3;
}

template <typename T>
constexpr const char* kTypeName = std::is_same_v<T, Half> ? "half" : "float";

// Weights, as matrices [input + cell, 4 cell] and rows.
template <typename T>
struct Weights {
  const T* w;
  const T* wci;
  const T* wcf;
  const T* wco;
  const T* b;
};

// Matrices [batch, cell] of one step.
template <typename T>
struct Activations {
  T* i;
  T* cs;
  T* f;
  T* o;
  T* ci;
  T* co;
  T* h;
};

template <typename T>
class Forward {
 public:
  static Status Make(const Options& options, Forward** made) {
    auto* forward = new Forward(options);
    *made = forward;
    return ElementwiseProgram::Parse(forward->Text().c_str(), kInputs, &forward->program_);
  }
  Forward(const Forward&) = delete;
  Forward& operator=(const Forward&) = delete;
  ~Forward() { delete program_; }

  // Computes a step; `gates` has room for [batch, 4 cell].
  Status Run(const KernelCall& call, const Sizes& sizes, const Weights<T>& weights, const T* x, const T* cs_prev,
             const T* h_prev, T* gates, const Activations<T>& to) const {
    const int64_t width = 4 * sizes.cell;
    STILLFLOW_RETURN_IF_ERROR(
        Gemm<T>(call, sizes.batch, width, sizes.input, {x, sizes.input, 1}, {weights.w, width, 1}, gates, width));
    STILLFLOW_RETURN_IF_ERROR(Gemm<T>(call, sizes.batch, width, sizes.cell, {h_prev, sizes.cell, 1},
                                      {weights.w + sizes.input * width, width, 1}, gates, width, true));
    RowOperand operands[kInputs + kOutputs];
    for (const Gate gate : {kI, kC, kF, kO}) {
      const int64_t offset = BlockOf(gate, options_.is_ifco) * sizes.cell;
      operands[gate] = Rows(gates + offset, width);
      operands[kBias + gate] = Row(weights.b + offset);
    }
    operands[kCsPrev] = Rows(cs_prev, sizes.cell);
    operands[kForgetBias] = Single(&forget_bias_);
    operands[kMost] = Single(&most_);
    operands[kLeast] = Single(&least_);
    operands[kWci] = Row(weights.wci);
    operands[kWcf] = Row(weights.wcf);
    operands[kWco] = Row(weights.wco);
    int at = kInputs;
    for (T* output : {to.i, to.ci, to.f, to.cs, to.co, to.o, to.h}) operands[at++] = Rows(output, sizes.cell);
    return RunRows(call, *program_, operands, sizes.batch, sizes.cell);
  }

 private:
  enum Input { kBias = 4, kCsPrev = 8, kForgetBias, kMost, kLeast, kWci, kWcf, kWco, kInputs };
  static constexpr int kOutputs = 7;

  explicit Forward(const Options& options)
      : options_(options),
        forget_bias_(Narrow<T>(static_cast<float>(options.forget_bias))),
        most_(Narrow<T>(static_cast<float>(options.cell_clip))),
        least_(Narrow<T>(static_cast<float>(-options.cell_clip))) {}

  std::string Text() const {
    ProgramText text(kTypeName<T>, kInputs);
    const bool has_peepholes = options_.has_peepholes;
    int i = text.Add("add", kI, kBias + kI);
    if (has_peepholes) i = text.Add("add", i, text.Add("mul", kCsPrev, kWci));
    i = text.Add("sigmoid", i);
    const int ci = text.Add("tanh", text.Add("add", kC, kBias + kC));
    int f = text.Add("add", text.Add("add", kF, kBias + kF), kForgetBias);
    if (has_peepholes) f = text.Add("add", f, text.Add("mul", kCsPrev, kWcf));
    f = text.Add("sigmoid", f);
    const int new_part = text.Add("mul", i, ci);
    int cs = text.Add("add", new_part, text.Add("mul", f, kCsPrev));
    if (options_.cell_clip > 0) cs = text.Add("clip", cs, kMost, kLeast);
    const int co = text.Add("tanh", cs);
    int o = text.Add("add", kO, kBias + kO);
    if (has_peepholes) o = text.Add("add", o, text.Add("mul", cs, kWco));
    o = text.Add("sigmoid", o);
    const int h = text.Add("mul", o, co);
    return text.With({i, ci, f, cs, co, o, h});
  }

  const Options options_;
  const T forget_bias_;
  const T most_;
  const T least_;
  ElementwiseProgram* program_ = nullptr;
};

// Adds to to[j] the sum over rows of a[row][j], or of a[row][j] b[row][j]; rows of a are `width` elements apart.
template <typename T>
Status AddRowSums(const KernelCall& call, const T* a, int64_t width, const T* b, int64_t b_width, int64_t rows,
                  int64_t columns, T* to) {
  constexpr int64_t kColumns = 64;
  return ForEachChunk(call, columns, kColumns, [&](Range range) {
    float sums[kColumns] = {};
    for (int64_t row = 0; row < rows; ++row) {
      const T* const x = a + row * width;
      const T* const y = b == nullptr ? nullptr : b + row * b_width;
      for (int64_t j = range.begin; j < range.end; ++j) {
        const float value = Widen(x[j]);
        sums[j - range.begin] += y == nullptr ? value : value * Widen(y[j]);
      }
    }
    for (int64_t j = range.begin; j < range.end; ++j) {
      to[j] = Narrow<T>(static_cast<float>(Widen(to[j])) + sums[j - range.begin]);
    }
  });
}

// The activations of a step, for its gradient.
template <typename T>
struct StepState {
  const T* cs_prev;
  const T* i;
  const T* cs;
  const T* f;
  const T* o;
  const T* ci;
  const T* co;
};

template <typename T>
class Backward {
 public:
  static Status Make(const Options& options, Backward** made) {
    auto* backward = new Backward(options);
    *made = backward;
    return ElementwiseProgram::Parse(backward->Text().c_str(), kInputs, &backward->program_);
  }
  Backward(const Backward&) = delete;
  Backward& operator=(const Backward&) = delete;
  ~Backward() { delete program_; }

  // Computes the gradient of the gates, dgates [batch, 4 cell], and of cs_prev.
  Status Run(const KernelCall& call, const Sizes& sizes, const Weights<T>& weights, const StepState<T>& step,
             const T* cs_grad, const T* h_grad, T* dgates, T* cs_prev_grad) const {
    RowOperand operands[kInputs + kOutputs];
    const T* const matrices[] = {step.i, step.f, step.o, step.ci, step.co, step.cs_prev, cs_grad, h_grad};
    for (int i = 0; i < kOne; ++i) operands[i] = Rows(matrices[i], sizes.cell);
    operands[kOne] = Single(&one_);
    operands[kWci] = Row(weights.wci);
    operands[kWcf] = Row(weights.wcf);
    operands[kWco] = Row(weights.wco);
    for (const Gate gate : {kGateO, kGateC, kGateF, kGateI}) {
      operands[kInputs + OutputOf(gate)] = Rows(Block(dgates, sizes, gate), 4 * sizes.cell);
    }
    operands[kInputs + 4] = Rows(cs_prev_grad, sizes.cell);
    return RunRows(call, *program_, operands, sizes.batch, sizes.cell);
  }

  // Adds a step's part to the gradients of the peepholes.
  Status AddPeepholes(const KernelCall& call, const Sizes& sizes, const StepState<T>& step, const T* dgates,
                      T* wci_grad, T* wcf_grad, T* wco_grad) const {
    STILLFLOW_RETURN_IF_ERROR(AddPeephole(call, sizes, Block(dgates, sizes, kGateI), step.cs_prev, wci_grad));
    STILLFLOW_RETURN_IF_ERROR(AddPeephole(call, sizes, Block(dgates, sizes, kGateF), step.cs_prev, wcf_grad));
    return AddPeephole(call, sizes, Block(dgates, sizes, kGateO), step.cs, wco_grad);
  }

 private:
  enum Input { kI, kF, kO, kCi, kCo, kCsPrev, kCsGrad, kHGrad, kOne, kWci, kWcf, kWco, kInputs };
  static constexpr int kOutputs = 5;
  static constexpr Gate kGateI = lstm::kI, kGateC = lstm::kC, kGateF = lstm::kF, kGateO = lstm::kO;

  explicit Backward(const Options& options) : options_(options), one_(Narrow<T>(1.0F)) {}

  static int OutputOf(Gate gate) { return gate == kGateO ? 0 : gate == kGateC ? 1 : gate == kGateF ? 2 : 3; }
  template <typename U>
  U* Block(U* dgates, const Sizes& sizes, Gate gate) const {
    return dgates + BlockOf(gate, options_.is_ifco) * sizes.cell;
  }
  static Status AddPeephole(const KernelCall& call, const Sizes& sizes, const T* gate, const T* state, T* to) {
    return AddRowSums(call, gate, 4 * sizes.cell, state, sizes.cell, sizes.batch, sizes.cell, to);
  }

  std::string Text() const {
    ProgramText text(kTypeName<T>, kInputs);
    const auto slope_of_sigmoid = [&](int y) { return text.Add("mul", y, text.Add("sub", kOne, y)); };
    const auto slope_of_tanh = [&](int y) { return text.Add("sub", kOne, text.Add("mul", y, y)); };
    const int d_o = text.Add("mul", text.Add("mul", slope_of_sigmoid(kO), kHGrad), kCo);
    int dcs = text.Add("add", text.Add("mul", text.Add("mul", slope_of_tanh(kCo), kHGrad), kO), kCsGrad);
    if (options_.has_peepholes) dcs = text.Add("add", dcs, text.Add("mul", d_o, kWco));
    const int dci = text.Add("mul", text.Add("mul", slope_of_tanh(kCi), dcs), kI);
    const int df = text.Add("mul", text.Add("mul", slope_of_sigmoid(kF), dcs), kCsPrev);
    const int di = text.Add("mul", text.Add("mul", slope_of_sigmoid(kI), dcs), kCi);
    int before = text.Add("mul", dcs, kF);
    if (options_.has_peepholes) {
      before = text.Add("add", before, text.Add("mul", di, kWci));
      before = text.Add("add", before, text.Add("mul", df, kWcf));
    }
    return text.With({d_o, dci, df, di, before});
  }

  const Options options_;
  const T one_;
  ElementwiseProgram* program_ = nullptr;
};

// ---- Inputs ---------------------------------------------------------------------------------------------------

inline Status CheckSize(const char* what, const Tensor& tensor, int axis, const char* size_name, int64_t size) {
  if (tensor.dims[axis] == size) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s(%d) != %s: %lld vs. %lld", what, axis, size_name,
                                    static_cast<long long>(tensor.dims[axis]), static_cast<long long>(size));
}

inline Status CheckRank(const char* name, const Tensor& tensor, int rank) {
  if (tensor.rank == rank) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s must be %dD", name, rank);
}

// The sizes of what begins with in[first] = x, of rank `x_rank`: x, cs_prev, h_prev, w, wci, wcf, wco, b.
inline Status ReadSizes(const KernelCall& call, int first, int x_rank, Sizes* sizes) {
  const Tensor& x = *call.in[first];
  const Tensor& cs_prev = *call.in[first + 1];
  const Tensor& h_prev = *call.in[first + 2];
  const Tensor& w = *call.in[first + 3];
  const Tensor& b = *call.in[first + 7];
  STILLFLOW_RETURN_IF_ERROR(CheckRank("x", x, x_rank));
  STILLFLOW_RETURN_IF_ERROR(CheckRank("cs_prev", cs_prev, 2));
  STILLFLOW_RETURN_IF_ERROR(CheckRank("h_prev", h_prev, 2));
  STILLFLOW_RETURN_IF_ERROR(CheckRank("w", w, 2));
  STILLFLOW_RETURN_IF_ERROR(CheckRank("b", b, 1));
  *sizes = {x.dims[x_rank - 2], x.dims[x_rank - 1], cs_prev.dims[1]};
  STILLFLOW_RETURN_IF_ERROR(CheckSize("cs_prev.dims", cs_prev, 0, "batch_size", sizes->batch));
  STILLFLOW_RETURN_IF_ERROR(CheckSize("h_prev.dims", h_prev, 0, "batch_size", sizes->batch));
  STILLFLOW_RETURN_IF_ERROR(CheckSize("h_prev.dims", h_prev, 1, "cell_size", sizes->cell));
  STILLFLOW_RETURN_IF_ERROR(CheckSize("w.dim_size", w, 0, "input_size + cell_size", sizes->input + sizes->cell));
  STILLFLOW_RETURN_IF_ERROR(CheckSize("w.dim_size", w, 1, "cell_size * 4", sizes->cell * 4));
  return CheckSize("b.dim_size", b, 0, "cell_size * 4", sizes->cell * 4);
}

// Where there are peepholes they must be read: in[first] = wci, wcf, wco.
inline Status CheckPeepholes(const KernelCall& call, int first, const Sizes& sizes) {
  const char* const names[] = {"wci", "wcf", "wco"};
  for (int i = 0; i < 3; ++i) {
    const Tensor& tensor = *call.in[first + i];
    STILLFLOW_RETURN_IF_ERROR(CheckRank(names[i], tensor, 1));
    if (tensor.dims[0] != sizes.cell) {
      return STILLFLOW_INVALID_ARGUMENT("%s.dim_size(0) != cell_size: %lld vs. %lld", names[i],
                                        static_cast<long long>(tensor.dims[0]), static_cast<long long>(sizes.cell));
    }
  }
  return Status();
}

template <typename T>
Weights<T> ReadWeights(const KernelCall& call, int first) {
  return {Data<T>(*call.in[first]), Data<T>(*call.in[first + 1]), Data<T>(*call.in[first + 2]),
          Data<T>(*call.in[first + 3]), Data<T>(*call.in[first + 4])};
}

}  // namespace lstm
}  // namespace stillflow
