// Summaries of weighted numbers: merged, compressed, and asked for quantiles.
#include "state_kernels/boosted_trees/quantiles.h"

#include <algorithm>
#include <limits>

namespace stillflow::boosted_trees {

// NaN comes after all numbers, so that what is sorted has an order.
static bool ComesBefore(const WeightedValue& a, const WeightedValue& b) {
  return a.value < b.value || (std::isnan(b.value) && !std::isnan(a.value));
}

QuantileSummary QuantileSummary::Of(const std::vector<WeightedValue>& values) {
  QuantileSummary summary;
  float rank = 0;
  for (const WeightedValue& each : values) {
    summary.entries_.push_back({each.value, each.weight, rank, rank + each.weight});
    rank += each.weight;
  }
  return summary;
}

void QuantileSummary::Merge(const QuantileSummary& other) {
  if (other.entries_.empty()) return;
  if (entries_.empty()) {
    entries_ = other.entries_;
    return;
  }
  const std::vector<QuantileEntry>& a = entries_;
  const std::vector<QuantileEntry>& b = other.entries_;
  std::vector<QuantileEntry> merged;
  merged.reserve(a.size() + b.size());
  // The weight below what comes next, as far as each of both knows.
  float below_a = 0, below_b = 0;
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const bool has_both = i < a.size() && j < b.size();
    if (j == b.size() || (has_both && a[i].value < b[j].value)) {
      const float above = j == b.size() ? b.back().max_rank : b[j].PreviousMaxRank();
      merged.push_back({a[i].value, a[i].weight, a[i].min_rank + below_b, a[i].max_rank + above});
      below_a = a[i++].NextMinRank();
    } else if (i == a.size() || b[j].value < a[i].value) {
      const float above = i == a.size() ? a.back().max_rank : a[i].PreviousMaxRank();
      merged.push_back({b[j].value, b[j].weight, b[j].min_rank + below_a, b[j].max_rank + above});
      below_b = b[j++].NextMinRank();
    } else {
      merged.push_back(
          {a[i].value, a[i].weight + b[j].weight, a[i].min_rank + b[j].min_rank, a[i].max_rank + b[j].max_rank});
      below_a = a[i++].NextMinRank();
      below_b = b[j++].NextMinRank();
    }
  }
  entries_ = std::move(merged);
}

void QuantileSummary::Compress(int64_t size_hint, double epsilon) {
  size_hint = std::max<int64_t>(size_hint, 2);
  const int64_t count = size();
  if (count <= size_hint) return;
  const double slack = TotalWeight() * std::max(1.0 / static_cast<double>(size_hint), epsilon);
  // Of count entries, each step may skip count / size_hint on average.
  int64_t credit = 0, written = 1, last = 1;
  for (int64_t read = 0; read + 1 < count;) {
    int64_t next = read + 1;
    while (next < count && credit < count &&
           entries_[next].PreviousMaxRank() - entries_[read].NextMinRank() <= slack) {
      credit += size_hint;
      ++next;
    }
    read = read == next - 1 ? read + 1 : next - 1;
    entries_[written++] = entries_[read];
    last = read;
    credit -= count;
  }
  if (last + 1 != count) entries_[written++] = entries_.back();
  entries_.resize(written);
}

double QuantileSummary::Error() const {
  if (entries_.empty()) return 0;
  float gap = 0;
  for (size_t i = 1; i < entries_.size(); ++i) {
    const QuantileEntry& entry = entries_[i];
    gap = std::max(gap, std::max(entry.max_rank - entry.min_rank - entry.weight,
                                 entry.PreviousMaxRank() - entries_[i - 1].NextMinRank()));
  }
  return static_cast<double>(gap) / TotalWeight();
}

std::vector<float> QuantileSummary::Boundaries(int64_t count) const {
  std::vector<float> values;
  if (entries_.empty()) return values;
  QuantileSummary compressed(entries_);
  compressed.Compress(count, static_cast<float>(Error() + 1.0 / static_cast<double>(count)));
  for (const QuantileEntry& entry : compressed.entries_) values.push_back(entry.value);
  return values;
}

std::vector<float> QuantileSummary::Quantiles(int64_t count) const {
  std::vector<float> values;
  if (entries_.empty()) return values;
  count = std::max<int64_t>(count, 2);
  size_t at = 0;
  for (int64_t rank = 0; rank <= count; ++rank) {
    const float twice = 2 * (static_cast<float>(rank) * entries_.back().max_rank / static_cast<float>(count));
    size_t next = at + 1;
    while (next < entries_.size() && twice >= entries_[next].min_rank + entries_[next].max_rank) ++next;
    at = next - 1;
    const bool is_at =
        next == entries_.size() || twice < entries_[at].NextMinRank() + entries_[next].PreviousMaxRank();
    values.push_back(entries_[is_at ? at : next].value);
  }
  return values;
}

QuantileStream::QuantileStream(double epsilon, int64_t most) : epsilon_(epsilon) {
  if (epsilon <= std::numeric_limits<double>::epsilon()) {
    block_size_ = std::max<int64_t>(most, 2);
  } else {
    // The fewest levels whose blocks have room for all: 2^levels blocks.
    for (int64_t levels = 1; levels < 62 && block_size_ < (most + (int64_t{1} << levels) - 1) >> levels; ++levels) {
      block_size_ = static_cast<int64_t>(std::ceil(static_cast<double>(levels) / epsilon)) + 1;
    }
  }
  block_size_ = std::max<int64_t>(block_size_, 2);
  buffer_size_ = static_cast<size_t>(std::min(block_size_ << 1, most));
}

void QuantileStream::Push(float value, float weight) {
  if (!(weight <= 0)) buffer_.push_back({value, weight});
  if (buffer_.size() >= buffer_size_) FlushBuffer();
}

void QuantileStream::Push(const QuantileSummary& summary) {
  summary_ = summary;
  summary_.Compress(block_size_, epsilon_);
  Carry();
}

void QuantileStream::FlushBuffer() {
  std::sort(buffer_.begin(), buffer_.end(), ComesBefore);
  size_t kept = 0;
  for (size_t i = 1; i < buffer_.size(); ++i) {
    if (buffer_[i].value != buffer_[i - 1].value) {
      buffer_[++kept] = buffer_[i];
    } else {
      buffer_[kept].weight += buffer_[i].weight;
    }
  }
  if (!buffer_.empty()) buffer_.resize(kept + 1);
  summary_ = QuantileSummary::Of(buffer_);
  buffer_.clear();
  summary_.Compress(block_size_, epsilon_);
  Carry();
}

void QuantileStream::Carry() {
  if (summary_.size() == 0) return;
  for (size_t level = 0;; ++level) {
    if (levels_.size() <= level) levels_.emplace_back();
    QuantileSummary& current = levels_[level];
    summary_.Merge(current);
    if (current.size() == 0 || summary_.size() <= block_size_ + 1) {
      current = std::move(summary_);
      summary_.Clear();
      return;
    }
    summary_.Compress(block_size_, epsilon_);
    current.Clear();
  }
}

const QuantileSummary& QuantileStream::Finish() {
  FlushBuffer();
  summary_.Clear();
  for (const QuantileSummary& level : levels_) summary_.Merge(level);
  levels_.clear();
  return summary_;
}

}  // namespace stillflow::boosted_trees
