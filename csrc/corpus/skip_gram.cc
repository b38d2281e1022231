#include "corpus/skip_gram.h"

#include <algorithm>
#include <cmath>

#include "arithmetic/random/philox.h"

namespace stillflow {
namespace {

constexpr size_t kBatchesAhead = 64;
// Only when there are so few left does the thread go on: each of its wakings disturbs those that train.
constexpr size_t kFewBatches = 16;
constexpr int64_t kWordsTogether = 1024;  // draws that are made at once
constexpr int64_t kWordsPerReader = 256;  // at least: the ends of a reader's piece have few neighbours
constexpr int64_t kAllKept = int64_t{1} << 32;

// The share of a word's places that are kept (Mikolov et al., "Distributed Representations of Words and
// Phrases and their Compositionality", 2013, in the form of the authors' program).
double KeepShare(int64_t count, int64_t total, double subsample) {
  if (subsample <= 0) return 1;
  const double threshold = subsample * static_cast<double>(total);
  return (std::sqrt(static_cast<double>(count) / threshold) + 1) * threshold / static_cast<double>(count);
}

}  // namespace

SkipGramStream::SkipGramStream(const Corpus* corpus, const SkipGramOptions& options)
    : corpus_(corpus), options_(options), ready_(kBatchesAhead) {
  for (const int64_t count : corpus->counts()) {
    const double share = std::min(KeepShare(count, corpus->kept_word_count(), options.subsample), 1.0);
    keep_limits_.push_back(static_cast<int64_t>(share * static_cast<double>(kAllKept)));
  }
  thread_ = std::thread([this] { Run(); });
}

SkipGramStream::~SkipGramStream() {
  {
    std::lock_guard<std::mutex> guard(mutex_);
    is_stopped_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool SkipGramStream::Next(PairBatch* batch) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return ready_count_ > 0 || is_finished_; });
  if (ready_count_ == 0) return false;
  std::swap(*batch, ready_[first_ready_]);
  first_ready_ = (first_ready_ + 1) % kBatchesAhead;
  const bool are_few = --ready_count_ == kFewBatches;
  lock.unlock();
  if (are_few) changed_.notify_all();
  return true;
}

bool SkipGramStream::Publish(PairBatch* batch) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (ready_count_ == kBatchesAhead) {
    changed_.wait(lock, [this] { return ready_count_ <= kFewBatches || is_stopped_; });
  }
  if (is_stopped_) return false;
  std::swap(*batch, ready_[(first_ready_ + ready_count_) % kBatchesAhead]);
  const bool was_empty = ready_count_++ == 0;
  lock.unlock();
  if (was_empty) changed_.notify_all();
  batch->inputs.clear();
  batch->labels.clear();
  return true;
}

void SkipGramStream::Run() {
  PairBatch batch;
  for (int64_t epoch = 0; epoch < options_.epochs; ++epoch) {
    KeepWords(epoch);
    if (!RunEpoch(epoch, &batch)) return;
  }
  {
    std::lock_guard<std::mutex> guard(mutex_);
    is_finished_ = true;
  }
  changed_.notify_all();
}

void SkipGramStream::KeepWords(int64_t epoch) {
  const std::vector<int32_t>& sequence = corpus_->sequence();
  const auto size = static_cast<int64_t>(sequence.size());
  kept_.clear();
  reaches_.clear();
  uint32_t draws[kWordsTogether * SF_PHILOX_WORDS];
  for (int64_t begin = 0; begin < size; begin += kWordsTogether) {
    const int64_t count = std::min(kWordsTogether, size - begin);
    const sf_philox position = {options_.seed, static_cast<uint64_t>(begin), static_cast<uint64_t>(epoch)};
    sf_philox_fill(position, static_cast<size_t>(count), draws);
    for (int64_t i = 0; i < count; ++i) {
      const int32_t word = sequence[begin + i];
      const uint32_t* draw = draws + i * SF_PHILOX_WORDS;
      if (word != Corpus::kBreak && draw[0] >= keep_limits_[word]) continue;
      kept_.push_back(word);
      reaches_.push_back(static_cast<uint8_t>(1 + draw[1] % static_cast<uint32_t>(options_.window)));
    }
  }
}

std::vector<SkipGramStream::Reader> SkipGramStream::StartReaders() const {
  const auto count = static_cast<int64_t>(kept_.size());
  const int64_t readers = std::clamp<int64_t>(count / kWordsPerReader, 1, options_.readers);
  std::vector<Reader> all;
  for (int64_t i = 0; i < readers; ++i) all.push_back({count * i / readers, count * (i + 1) / readers});
  return all;
}

bool SkipGramStream::AddPairs(int64_t place, PairBatch* batch) {
  const int32_t word = kept_[place];
  if (word == Corpus::kBreak) return true;
  const auto count = static_cast<int64_t>(kept_.size());
  const int64_t reach = reaches_[place];
  const auto add = [&](int64_t neighbour) {
    batch->inputs.push_back(word);
    batch->labels.push_back(kept_[neighbour]);
    if (static_cast<int64_t>(batch->inputs.size()) < options_.batch_size) return true;
    batch->progress = progress_;
    return Publish(batch);
  };
  int64_t first = place;
  while (first > 0 && place - first < reach && kept_[first - 1] != Corpus::kBreak) --first;
  for (int64_t neighbour = first; neighbour < place; ++neighbour) {
    if (!add(neighbour)) return false;
  }
  for (int64_t neighbour = place + 1; neighbour < count && neighbour <= place + reach; ++neighbour) {
    if (kept_[neighbour] == Corpus::kBreak) break;
    if (!add(neighbour)) return false;
  }
  return true;
}

bool SkipGramStream::RunEpoch(int64_t epoch, PairBatch* batch) {
  std::vector<Reader> readers = StartReaders();
  const double total = static_cast<double>(kept_.size()) * static_cast<double>(options_.epochs);
  const double before = static_cast<double>(epoch) / static_cast<double>(options_.epochs);
  int64_t done = 0;
  for (bool is_reading = true; is_reading;) {
    is_reading = false;
    for (Reader& reader : readers) {
      if (reader.next == reader.end) continue;
      is_reading = true;
      progress_ = before + static_cast<double>(++done) / total;
      if (!AddPairs(reader.next++, batch)) return false;
    }
  }
  return true;
}

}  // namespace stillflow
