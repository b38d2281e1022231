// ctc_greedy_decoder, ctc_beam_search_decoder: the sequences of classes that scores over time spell most likely
// (Graves, Fernandez, Gomez and Schmidhuber, "Connectionist temporal classification", ICML 2006).
//
//   in[0]  inputs            float or double [time, batch, classes]: scores; the last class is the blank
//   in[1]  sequence_length   int32 [batch]: how much of the time counts
//   out    a sparse tensor [batch, length] for each path: int64 indices of all, int64 values of all, int64 shapes of
//          all; then, of the type of the scores, [batch, paths]: the sum of the largest scores, negated (greedy), or
//          the logarithms of the paths' probabilities (beam search)
//   attrs  merge_repeated: whether equal classes in a row are one; of the beam search beam_width and top_paths, too
//
// Sequences are decoded each by itself. Sums over classes run in ascending order; logarithms are doubles.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "arithmetic/math/exponential.h"
#include "arithmetic/math/logarithm.h"
#include "kernel_api/kernel.h"

namespace stillflow {
namespace {

constexpr double kLogZero = -std::numeric_limits<double>::infinity();

double LogSum(double a, double b) {
  const double larger = std::max(a, b), smaller = std::min(a, b);
  return smaller == kLogZero ? larger : larger + Log1p(Exp(smaller - larger));
}

using Classes = std::vector<int64_t>;

Status CheckInputs(const KernelCall& call) {
  const Tensor& inputs = *call.in[0];
  const Tensor& lengths = *call.in[1];
  if (inputs.rank != 3) return STILLFLOW_INVALID_ARGUMENT("inputs is not a 3-Tensor");
  const int64_t time = inputs.dims[0], batch = inputs.dims[1];
  if (time == 0) return STILLFLOW_INVALID_ARGUMENT("max_time is 0");
  if (lengths.rank != 1) return STILLFLOW_INVALID_ARGUMENT("sequence_length is not a vector");
  if (lengths.count != batch) {
    return Error(Code::kFailedPrecondition,
                 "len(sequence_length) != batch_size.  len(sequence_length):  %lld batch_size: %lld",
                 static_cast<long long>(lengths.count), static_cast<long long>(batch));
  }
  for (int64_t b = 0; b < batch; ++b) {
    if (Data<int32_t>(lengths)[b] > time) {
      return Error(Code::kFailedPrecondition, "sequence_length(%lld) <= %lld", static_cast<long long>(b),
                   static_cast<long long>(time));
    }
  }
  if (inputs.dims[2] > INT32_MAX) return STILLFLOW_INVALID_ARGUMENT("num_classes cannot exceed max int");
  if (inputs.dims[2] == 0) return STILLFLOW_INVALID_ARGUMENT("num_classes must not be 0");
  return Status();
}

// Writes one path of each sequence of the batch as a sparse tensor: outputs p, p + paths and p + 2 paths.
Status WritePath(const KernelCall& call, const std::vector<std::vector<Classes>>& decoded, int p, int paths) {
  int64_t count = 0, longest = 0;
  for (const auto& of_sequence : decoded) {
    const auto length = static_cast<int64_t>(of_sequence[p].size());
    count += length;
    longest = std::max(longest, length);
  }
  Shape shape;
  shape.Add(count);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, p + paths, DType::kInt64, shape));
  shape.Add(2);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, p, DType::kInt64, shape));
  Shape pair;
  pair.Add(2);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, p + 2 * paths, DType::kInt64, pair));
  auto* indices = MutableData<int64_t>(*call.out[p]);
  auto* values = MutableData<int64_t>(*call.out[p + paths]);
  auto* const dense = MutableData<int64_t>(*call.out[p + 2 * paths]);
  dense[0] = static_cast<int64_t>(decoded.size());
  dense[1] = longest;
  for (size_t b = 0; b < decoded.size(); ++b) {
    const Classes& classes = decoded[b][p];
    for (size_t t = 0; t < classes.size(); ++t) {
      *indices++ = static_cast<int64_t>(b);
      *indices++ = static_cast<int64_t>(t);
      *values++ = classes[t];
    }
  }
  return Status();
}

Status AllocateScores(const KernelCall& call, int64_t paths) {
  Shape shape;
  shape.Add(call.in[0]->dims[1]);
  shape.Add(paths);
  return AllocateOutput(call, static_cast<int>(3 * paths), call.in[0]->dtype, shape);
}

// ---- The best class at each time ----------------------------------------------------------------------------

template <typename T>
T DecodeGreedily(const T* scores, int64_t stride, int64_t steps, int64_t classes, bool merges, Classes* decoded) {
  T sum = 0;
  int64_t previous = -1;
  for (int64_t t = 0; t < steps; ++t, scores += stride) {
    int64_t best = 0;
    for (int64_t c = 1; c < classes; ++c) {
      if (scores[c] > scores[best]) best = c;
    }
    sum += -scores[best];
    if (best != classes - 1 && !(merges && best == previous)) decoded->push_back(best);
    previous = best;
  }
  return sum;
}

Status CtcGreedyDecoder(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckInputs(call));
  STILLFLOW_RETURN_IF_ERROR(AllocateScores(call, 1));
  const Tensor& inputs = *call.in[0];
  const int64_t batch = inputs.dims[1], classes = inputs.dims[2];
  std::vector<std::vector<Classes>> decoded(batch, std::vector<Classes>(1));
  STILLFLOW_RETURN_IF_ERROR((ForType<float, double>("CTCGreedyDecoder", inputs.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return ForEachChunk(call, batch, 1, [&](Range range) {
      for (int64_t b = range.begin; b < range.end; ++b) {
        MutableData<T>(*call.out[3])[b] =
            DecodeGreedily(Data<T>(inputs) + b * classes, batch * classes, Data<int32_t>(*call.in[1])[b], classes,
                           call.attrs[0].i != 0, &decoded[b][0]);
      }
    });
  })));
  return WritePath(call, decoded, 0, 1);
}

// ---- Beam search --------------------------------------------------------------------------------------------

// The logarithms of the probabilities that the paths up to a time spell a prefix: those that end in a blank, those
// that end in its last class, and both.
struct Probabilities {
  double total = kLogZero;
  double blank = kLogZero;
  double label = kLogZero;
};

// A sequence of classes: that of the parent and one more.
struct Prefix {
  Prefix* parent = nullptr;
  int64_t label = -1;
  Probabilities before;  // at the time before, if it was in the beam then
  Probabilities now;     // if it is in the beam
  std::unordered_map<int64_t, Prefix*> children;

  bool IsInBeam() const { return now.total != kLogZero; }
};

// The prefixes of the largest probabilities; of equal ones those that came first.
class Beam {
 public:
  explicit Beam(int64_t width) : width_(width) {}

  int64_t count() const { return static_cast<int64_t>(heap_.size()); }
  bool HasRoomFor(double total) const {
    return total > kLogZero && (count() < width_ || total > heap_.front().prefix->now.total);
  }
  // The prefix that has to go for another one; its probabilities are zeros from now on.
  void Push(Prefix* prefix) {
    if (count() == width_) {
      heap_.front().prefix->now = Probabilities();
      std::pop_heap(heap_.begin(), heap_.end(), ComesBefore);
      heap_.pop_back();
    }
    heap_.push_back({prefix->now.total, pushed_++, prefix});
    std::push_heap(heap_.begin(), heap_.end(), ComesBefore);
  }
  // Leaves nothing in the beam.
  std::vector<Prefix*> TakeOrdered() {
    std::sort_heap(heap_.begin(), heap_.end(), ComesBefore);
    std::vector<Prefix*> ordered;
    ordered.reserve(heap_.size());
    for (const Entry& entry : heap_) ordered.push_back(entry.prefix);
    heap_.clear();
    pushed_ = 0;
    return ordered;
  }

 private:
  struct Entry {
    double total;
    int64_t number;
    Prefix* prefix;
  };
  static bool ComesBefore(const Entry& a, const Entry& b) {
    return a.total != b.total ? a.total > b.total : a.number < b.number;
  }

  const int64_t width_;
  int64_t pushed_ = 0;
  std::vector<Entry> heap_;  // the smallest is in front
};

class Search {
 public:
  Search(int64_t classes, int64_t width) : classes_(classes), beam_(width) {
    prefixes_.emplace_back();
    prefixes_.back().now.total = prefixes_.back().now.blank = 0;
    beam_.Push(&prefixes_.back());
  }

  template <typename T>
  void Step(const T* scores) {
    ReadLogs(scores);
    const std::vector<Prefix*> ordered = beam_.TakeOrdered();
    for (Prefix* prefix : ordered) prefix->before = prefix->now;
    for (Prefix* prefix : ordered) Stay(prefix);
    for (Prefix* prefix : ordered) Extend(prefix);
  }

  Status TakeBest(int64_t paths, bool merges, std::vector<Classes>* decoded, double* logs) {
    if (paths > beam_.count()) {
      return STILLFLOW_INVALID_ARGUMENT("Less leaves in the beam search than requested.");
    }
    const std::vector<Prefix*> ordered = beam_.TakeOrdered();
    for (int64_t p = 0; p < paths; ++p) {
      (*decoded)[p] = Spelled(*ordered[p], merges);
      logs[p] = ordered[p]->now.total;
    }
    return Status();
  }

 private:
  template <typename T>
  void ReadLogs(const T* scores) {
    const auto largest = static_cast<double>(*std::max_element(scores, scores + classes_));
    double sum = 0;
    for (int64_t c = 0; c < classes_; ++c) sum += Exp(static_cast<double>(scores[c]) - largest);
    const double offset = largest + Log(sum);
    logs_.resize(classes_);
    for (int64_t c = 0; c < classes_; ++c) logs_[c] = static_cast<double>(scores[c]) - offset;
  }

  // A path goes on with the last class, with a blank, or comes from the prefix that is one class shorter.
  void Stay(Prefix* prefix) {
    Probabilities& now = prefix->now;
    if (const Prefix* const parent = prefix->parent; parent != nullptr) {
      if (parent->IsInBeam()) {
        now.label = LogSum(now.label, prefix->label == parent->label ? parent->before.blank : parent->before.total);
      }
      now.label += logs_[prefix->label];
    }
    now.blank = prefix->before.total + logs_[classes_ - 1];
    now.total = LogSum(now.blank, now.label);
    beam_.Push(prefix);
  }

  // One more class, where that is not in the beam already. Two equal classes have a blank between them.
  void Extend(Prefix* prefix) {
    if (!beam_.HasRoomFor(prefix->before.total)) return;
    for (int64_t c = 0; c < classes_ - 1; ++c) {
      const auto found = prefix->children.find(c);
      Prefix* child = found == prefix->children.end() ? nullptr : found->second;
      if (child != nullptr && child->IsInBeam()) continue;
      const double log = logs_[c] + (c == prefix->label ? prefix->before.blank : prefix->before.total);
      if (!beam_.HasRoomFor(log)) {
        if (child != nullptr) child->before = Probabilities();
        continue;
      }
      if (child == nullptr) {
        child = &prefixes_.emplace_back();
        child->parent = prefix;
        child->label = c;
        prefix->children.emplace(c, child);
      }
      child->now = {log, kLogZero, log};
      beam_.Push(child);
    }
  }

  static Classes Spelled(const Prefix& prefix, bool merges) {
    Classes spelled;
    int64_t next = -1;
    for (const Prefix* at = &prefix; at->parent != nullptr; at = at->parent) {
      if (!merges || at->label != next) spelled.push_back(at->label);
      next = at->label;
    }
    std::reverse(spelled.begin(), spelled.end());
    return spelled;
  }

  const int64_t classes_;
  Beam beam_;
  std::deque<Prefix> prefixes_;  // all that ever were in the beam
  std::vector<double> logs_;     // of the classes' probabilities at a time
};

Status CtcBeamSearchDecoder(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckInputs(call));
  const Tensor& inputs = *call.in[0];
  const int64_t batch = inputs.dims[1], classes = inputs.dims[2];
  const bool merges = call.attrs[0].i != 0;
  const int64_t width = call.attrs[1].i;
  const auto paths = static_cast<int>(call.attrs[2].i);
  if (paths > width) return STILLFLOW_INVALID_ARGUMENT("requested more paths than the beam width.");
  STILLFLOW_RETURN_IF_ERROR(AllocateScores(call, paths));
  std::vector<std::vector<Classes>> decoded(batch, std::vector<Classes>(paths));
  STILLFLOW_RETURN_IF_ERROR((ForType<float, double>("CTCBeamSearchDecoder", inputs.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return ForEachChunk(call, batch, 1, [&](Range range) {
      std::vector<double> logs(paths);
      for (int64_t b = range.begin; b < range.end; ++b) {
        Search search(classes, width);
        const T* scores = Data<T>(inputs) + b * classes;
        for (int32_t t = 0; t < Data<int32_t>(*call.in[1])[b]; ++t, scores += batch * classes) search.Step(scores);
        STILLFLOW_RETURN_IF_ERROR(search.TakeBest(paths, merges, &decoded[b], logs.data()));
        for (int p = 0; p < paths; ++p) {
          MutableData<T>(*call.out[3 * paths])[b * paths + p] = static_cast<T>(logs[p]);
        }
      }
      return Status();
    });
  })));
  for (int p = 0; p < paths; ++p) STILLFLOW_RETURN_IF_ERROR(WritePath(call, decoded, p, paths));
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(nn, ctc_decoder){
    {"ctc_greedy_decoder", "inputs, sequence_length | merge_repeated", CtcGreedyDecoder},
    {"ctc_beam_search_decoder", "inputs, sequence_length | merge_repeated, beam_width, top_paths",
     CtcBeamSearchDecoder},
    {}};

}  // namespace stillflow
