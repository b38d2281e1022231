// ctc_loss: what it costs that scores of classes over time spell a label sequence (Graves, Fernandez, Gomez and
// Schmidhuber, "Connectionist temporal classification", ICML 2006), and the gradient by the scores.
//
//   in[0]  inputs            float or double [time, batch, classes]: scores; the last class is the blank
//   in[1]  labels_indices    int64 [n, 2], in order; in[2] labels_values: int32 [n]
//   in[3]  sequence_length   int32 [batch]: how much of the time counts
//   out[0] loss              [batch]: minus the logarithm of the probability of all paths
//   out[1] gradient          like inputs
//   attrs  preprocess_collapse_repeated: whether equal labels in a row are one; ctc_merge_repeated: whether equal
//          classes in a row are one; ignore_longer_outputs_than_inputs: whether sequences of more labels than time
//          cost nothing, and are no error
//
// Probabilities are softmaxes in the type of the scores, sums over classes in ascending order; logarithms and their
// sums over paths are doubles.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "arithmetic/math/exponential.h"
#include "arithmetic/math/logarithm.h"
#include "kernel_api/sparse_tensor.h"

namespace stillflow {
namespace {

constexpr double kLogZero = -std::numeric_limits<double>::infinity();

double LogSum(double a, double b) {
  const double larger = std::max(a, b), smaller = std::min(a, b);
  return smaller == kLogZero ? larger : larger + Log1p(Exp(smaller - larger));
}

struct Options {
  bool collapses_labels;
  bool merges_classes;
  bool ignores_longer;
};

// The labels of one sequence.
struct Labels {
  const int32_t* values;
  int64_t count;
};

std::string Joined(const int32_t* values, int64_t count) {
  std::string text;
  for (int64_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + std::to_string(values[i]);
  return text;
}

// Writes the labels that are to be spelled: no blanks at the end, none twice if they collapse.
Status ReadLabels(const Labels& labels, bool collapses, int64_t batch, int64_t classes, int32_t* to, int64_t* count) {
  bool is_finished = false;
  int64_t found = 0;
  for (int64_t i = 0; i < labels.count; ++i) {
    const int32_t label = labels.values[i];
    if (collapses && i > 0 && label == labels.values[i - 1]) continue;
    if (label >= classes - 1) {
      is_finished = true;
    } else if (is_finished) {
      return STILLFLOW_INVALID_ARGUMENT(
          "Saw a non-null label (index >= num_classes - 1) following a null label, batch: %lld num_classes: %lld "
          "labels: %s labels seen so far: %s",
          static_cast<long long>(batch), static_cast<long long>(classes), Joined(labels.values, labels.count).c_str(),
          Joined(to, found).c_str());
    } else {
      to[found++] = label;
    }
  }
  if (std::any_of(to, to + found, [](int32_t label) { return label < 0; })) {
    return STILLFLOW_INVALID_ARGUMENT("All labels must be nonnegative integers, batch: %lld labels: %s",
                                      static_cast<long long>(batch), Joined(to, found).c_str());
  }
  *count = found;
  return Status();
}

// One sequence of the batch. The states of a path are the labels with blanks before, between and behind them.
template <typename T>
class Alignment {
 public:
  // Scores, probabilities and gradients of a time lie `stride` elements apart.
  Alignment(const T* scores, int64_t stride, int64_t steps, int64_t classes)
      : scores_(scores), stride_(stride), steps_(steps), classes_(classes) {}

  static int64_t StateCount(int64_t labels) { return 2 * labels + 1; }
  // Doubles of memory for sequences of `labels`; -1 if there is no such amount.
  static int64_t MemorySize(int64_t labels, int64_t steps, int64_t classes) {
    int64_t cells = 0;
    if (__builtin_mul_overflow(3 * StateCount(labels), steps, &cells)) return -1;
    return cells > INT64_MAX / 16 ? -1 : cells + classes;
  }

  // Sets the loss, and the gradient, which lies as the scores do.
  void Compute(const int32_t* labels, int64_t count, bool merges, double* memory, T* loss, T* gradient) {
    labels_ = labels;
    states_ = StateCount(count);
    merges_ = merges;
    logs_ = memory;
    alpha_ = logs_ + states_ * steps_;
    beta_ = alpha_ + states_ * steps_;
    double* const occupied = beta_ + states_ * steps_;
    Softmax(gradient);
    for (int64_t t = 0; t < steps_; ++t) ReadLogs(gradient + t * stride_, logs_ + t * states_);
    Forward();
    Backward();
    double log = kLogZero;
    for (int64_t u = 0; u < states_; ++u) log = LogSum(log, alpha_[u] + beta_[u]);
    *loss = static_cast<T>(-log);
    if (log == kLogZero) return;  // there is no path: the probabilities stand, as in TensorFlow
    std::fill_n(occupied, classes_, 0.0);
    for (int64_t t = 0; t < steps_; ++t) SubtractOccupied(t, log, occupied, gradient + t * stride_);
  }

 private:
  bool IsBlank(int64_t u) const { return u % 2 == 0; }
  int64_t ClassOf(int64_t u) const { return IsBlank(u) ? classes_ - 1 : labels_[u / 2]; }
  // Whether a path may go from state u - 2 to u: there is another label between, or they do not become one.
  bool MaySkipTo(int64_t u) const {
    return u > 1 && !IsBlank(u) && !(merges_ && labels_[u / 2] == labels_[u / 2 - 1]);
  }
  bool MayStay(int64_t u) const { return merges_ || IsBlank(u); }
  // The states that a path can be in at a time, from which the rest can still be spelled.
  Range StatesAt(int64_t t) const {
    return {std::max<int64_t>(0, states_ - 2 * (steps_ - t)), std::min(states_, 2 * (t + 1))};
  }

  void Softmax(T* probabilities) const {
    for (int64_t t = 0; t < steps_; ++t) {
      const T* const from = scores_ + t * stride_;
      T* const to = probabilities + t * stride_;
      const T largest = *std::max_element(from, from + classes_);
      T sum = 0;
      for (int64_t c = 0; c < classes_; ++c) sum += to[c] = Exp(from[c] - largest);
      for (int64_t c = 0; c < classes_; ++c) to[c] /= sum;
    }
  }

  void ReadLogs(const T* probabilities, double* to) const {
    const double blank = Log(static_cast<double>(probabilities[classes_ - 1]));
    for (int64_t u = 0; u < states_; ++u) {
      to[u] = IsBlank(u) ? blank : Log(static_cast<double>(probabilities[ClassOf(u)]));
    }
  }

  // alpha: the logarithms of the probabilities of all paths up to a state at a time.
  void Forward() {
    std::fill_n(alpha_, states_ * steps_, kLogZero);
    for (int64_t u = 0; u < std::min<int64_t>(states_, 2); ++u) alpha_[u] = logs_[u];
    for (int64_t t = 1; t < steps_; ++t) {
      const double* const before = alpha_ + (t - 1) * states_;
      const Range range = StatesAt(t);
      for (int64_t u = range.begin; u < range.end; ++u) {
        double sum = MayStay(u) ? before[u] : kLogZero;
        if (u > 0) sum = LogSum(sum, before[u - 1]);
        if (MaySkipTo(u)) sum = LogSum(sum, before[u - 2]);
        alpha_[t * states_ + u] = logs_[t * states_ + u] + sum;
      }
    }
  }

  // beta: of all paths from a state at a time on.
  void Backward() {
    std::fill_n(beta_, states_ * steps_, kLogZero);
    for (int64_t u = std::max<int64_t>(states_ - 2, 0); u < states_; ++u) beta_[(steps_ - 1) * states_ + u] = 0;
    for (int64_t t = steps_ - 2; t >= 0; --t) {
      const double* const after = beta_ + (t + 1) * states_;
      const double* const logs = logs_ + (t + 1) * states_;
      const Range range = StatesAt(t);
      for (int64_t u = range.begin; u < range.end; ++u) {
        double sum = MayStay(u) ? after[u] + logs[u] : kLogZero;
        if (u + 1 < states_) sum = LogSum(sum, after[u + 1] + logs[u + 1]);
        if (u + 2 < states_ && MaySkipTo(u + 2)) sum = LogSum(sum, after[u + 2] + logs[u + 2]);
        beta_[t * states_ + u] = sum;
      }
    }
  }

  // Subtracts from probabilities what part of the paths is in each class at a time. `occupied` stays zeros.
  void SubtractOccupied(int64_t t, double log, double* occupied, T* probabilities) const {
    const double* const alpha = alpha_ + t * states_;
    const double* const beta = beta_ + t * states_;
    for (int64_t u = 0; u < states_; ++u) occupied[ClassOf(u)] += Exp(alpha[u] + beta[u] - log);
    for (int64_t u = 0; u < states_; ++u) {
      double& part = occupied[ClassOf(u)];
      if (part != 0) probabilities[ClassOf(u)] -= static_cast<T>(part);
      part = 0;
    }
  }

  const T* const scores_;
  const int64_t stride_, steps_, classes_;
  const int32_t* labels_ = nullptr;
  int64_t states_ = 0;
  bool merges_ = false;
  double* logs_ = nullptr;  // of the probability of each state's class
  double* alpha_ = nullptr;
  double* beta_ = nullptr;
};

// ---- The batch ------------------------------------------------------------------------------------------------

Status CheckLabelIndices(const Entries& entries, int64_t batch) {
  Shape shape;
  shape.Add(batch);
  shape.Add(0);
  for (int64_t i = 0; i < entries.count; ++i) {
    shape.dims[1] = std::max(shape.dims[1], std::min(entries[i][1], INT64_MAX - 1) + 1);
  }
  for (int64_t i = 0; i < entries.count; ++i) {
    const char* problem = nullptr;
    std::string bounds;
    const int order = i == 0 ? -1 : CompareRows(entries[i - 1], entries[i], 2);
    if (entries[i][0] < 0 || entries[i][0] >= batch || entries[i][1] < 0) {
      bounds = std::string("out of bounds: need 0 <= index < ") + ShapeText(shape).c_str();
      problem = bounds.c_str();
    } else if (order > 0) {
      problem =
          "out of order. Many sparse ops require sorted indices.\n    Use `tf.sparse.reorder` to create a correctly "
          "ordered copy.\n\n";
    } else if (order == 0) {
      problem = "repeated";
    }
    if (problem != nullptr) {
      return STILLFLOW_INVALID_ARGUMENT("label SparseTensor is not valid: indices[%lld] = %s is %s",
                                        static_cast<long long>(i), RowText(entries[i], 2).c_str(), problem);
    }
  }
  return Status();
}

Status CheckShapes(const KernelCall& call) {
  const Tensor& inputs = *call.in[0];
  const Tensor& indices = *call.in[1];
  const Tensor& values = *call.in[2];
  const Tensor& lengths = *call.in[3];
  if (inputs.rank != 3) return STILLFLOW_INVALID_ARGUMENT("inputs is not a 3-Tensor");
  if (lengths.rank != 1) return STILLFLOW_INVALID_ARGUMENT("sequence_length is not a vector");
  if (indices.rank != 2) return STILLFLOW_INVALID_ARGUMENT("labels_indices is not a matrix");
  if (values.rank != 1) return STILLFLOW_INVALID_ARGUMENT("labels_values is not a vector");
  if (inputs.dims[2] > INT32_MAX) return STILLFLOW_INVALID_ARGUMENT("num_classes cannot exceed max int");
  const auto batch = static_cast<long long>(inputs.dims[1]);
  if (lengths.count != batch) {
    return STILLFLOW_INVALID_ARGUMENT(
        "len(sequence_length) != batch_size.  len(sequence_length):  %lld batch_size: %lld",
        static_cast<long long>(lengths.count), batch);
  }
  if (indices.dims[0] != values.count) {
    return STILLFLOW_INVALID_ARGUMENT(
        "labels_indices and labels_values must contain the same number of rows, but saw shapes: %s vs. %s",
        ShapeText(indices).c_str(), ShapeText(values).c_str());
  }
  if (batch == 0) return STILLFLOW_INVALID_ARGUMENT("batch_size must not be 0");
  if (inputs.dims[2] == 0) return STILLFLOW_INVALID_ARGUMENT("num_classes must not be 0");
  if (indices.dims[1] != 2) {
    return STILLFLOW_INVALID_ARGUMENT("labels_indices must have 2 columns, but got shape %s",
                                      ShapeText(indices).c_str());
  }
  return Status();
}

// The labels of each sequence, in `all`: those of sequence b end at ends[b].
Labels LabelsOf(const KernelCall& call, const int64_t* ends, int64_t b) {
  const int64_t begin = b == 0 ? 0 : ends[b - 1];
  return {Data<int32_t>(*call.in[2]) + begin, ends[b] - begin};
}

void FindEnds(const Entries& entries, int64_t batch, int64_t* ends) {
  int64_t i = 0;
  for (int64_t b = 0; b < batch; ++b) {
    while (i < entries.count && entries[i][0] == b) ++i;
    ends[b] = i;
  }
}

Status CheckSequences(const KernelCall& call, const Options& options, const int64_t* ends) {
  const Tensor& inputs = *call.in[0];
  const int32_t* const lengths = Data<int32_t>(*call.in[3]);
  const int64_t time = inputs.dims[0], batch = inputs.dims[1];
  for (int64_t b = 0; b < batch; ++b) {
    const auto number = static_cast<long long>(b);
    if (lengths[b] > time) {
      return STILLFLOW_INVALID_ARGUMENT("sequence_length(%lld) <= %lld", number, static_cast<long long>(time));
    }
  }
  for (int64_t b = 0; b < batch; ++b) {
    if (lengths[b] < 0) return STILLFLOW_INVALID_ARGUMENT("seq_len(%lld) < 0", static_cast<long long>(b));
  }
  const Scratch scratch(call, std::max<int64_t>(call.in[2]->count, 1) * static_cast<int64_t>(sizeof(int32_t)));
  if (!scratch.ok()) return OutOfScratch();
  for (int64_t b = 0; b < batch; ++b) {
    const Labels labels = LabelsOf(call, ends, b);
    const auto number = static_cast<long long>(b);
    if (labels.count == 0) return STILLFLOW_INVALID_ARGUMENT("Labels length is zero in batch %lld", number);
    int64_t count = 0;
    STILLFLOW_RETURN_IF_ERROR(
        ReadLabels(labels, options.collapses_labels, b, inputs.dims[2], scratch.data<int32_t>(), &count));
    if (!options.ignores_longer && labels.count > lengths[b]) {
      return STILLFLOW_INVALID_ARGUMENT(
          "Not enough time for target transition sequence (required: %lld, available: %d)%lldYou can turn this error "
          "into a warning by using the flag ignore_longer_outputs_than_inputs",
          static_cast<long long>(labels.count), lengths[b], number);
    }
  }
  return Status();
}

template <typename T>
Status ComputeSequence(const KernelCall& call, const Options& options, const Labels& labels, int64_t b) {
  const Tensor& inputs = *call.in[0];
  const int64_t batch = inputs.dims[1], classes = inputs.dims[2];
  const int64_t steps = Data<int32_t>(*call.in[3])[b];
  T* const loss = MutableData<T>(*call.out[0]) + b;
  *loss = 0;
  if (steps == 0 || labels.count > steps) return Status();
  const int64_t doubles = Alignment<T>::MemorySize(labels.count, steps, classes);
  if (doubles < 0) return OutOfScratch();
  const Scratch scratch(
      call, doubles * static_cast<int64_t>(sizeof(double)) + labels.count * static_cast<int64_t>(sizeof(int32_t)));
  if (!scratch.ok()) return OutOfScratch();
  double* const memory = scratch.data<double>();
  auto* const spelled = reinterpret_cast<int32_t*>(memory + doubles);
  int64_t count = 0;
  STILLFLOW_RETURN_IF_ERROR(ReadLabels(labels, options.collapses_labels, b, classes, spelled, &count));
  Alignment<T> alignment(Data<T>(inputs) + b * classes, batch * classes, steps, classes);
  alignment.Compute(spelled, count, options.merges_classes, memory, loss, MutableData<T>(*call.out[1]) + b * classes);
  return Status();
}

Status CtcLoss(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckShapes(call));
  const Tensor& inputs = *call.in[0];
  const Options options = {call.attrs[0].i != 0, call.attrs[1].i != 0, call.attrs[2].i != 0};
  const int64_t batch = inputs.dims[1];
  const Entries entries(*call.in[1]);
  STILLFLOW_RETURN_IF_ERROR(CheckLabelIndices(entries, batch));
  const Scratch scratch(call, batch * static_cast<int64_t>(sizeof(int64_t)));
  if (!scratch.ok()) return OutOfScratch();
  int64_t* const ends = scratch.data<int64_t>();
  FindEnds(entries, batch, ends);
  STILLFLOW_RETURN_IF_ERROR(CheckSequences(call, options, ends));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, inputs.dtype, Shape(*call.in[3])));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, inputs.dtype, Shape(inputs)));
  return ForType<float, double>("CTCLoss", inputs.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::fill_n(MutableData<T>(*call.out[1]), inputs.count, T{0});
    return ForEachChunk(call, batch, 1, [&](Range range) {
      for (int64_t b = range.begin; b < range.end; ++b) {
        STILLFLOW_RETURN_IF_ERROR(ComputeSequence<T>(call, options, LabelsOf(call, ends, b), b));
      }
      return Status();
    });
  });
}

}  // namespace

STILLFLOW_KERNELS(nn, ctc_loss){
    {"ctc_loss",
     "inputs, labels_indices, labels_values, sequence_length | preprocess_collapse_repeated, ctc_merge_repeated, "
     "ignore_longer_outputs_than_inputs",
     CtcLoss},
    {}};

}  // namespace stillflow
