// skip_gram.h: batches of (word, neighbour) pairs from a corpus, made ahead of their use by a thread.
//
// What is dropped and how far a window reaches is drawn from a Philox stream at the place of the word, so the
// batches depend on the corpus and the options alone.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "corpus/corpus.h"

namespace stillflow {

struct SkipGramOptions {
  int64_t batch_size;
  int64_t window;    // words on each side, at most; each place draws its own reach from 1 to this
  double subsample;  // words more frequent than this share of the text are dropped at random; 0: none
  int64_t epochs;
  int64_t readers;  // how many places of the text are read in turn; neighbours in a text make poor batches
  uint64_t seed;
};

// Pairs of one place follow each other: its word is the input of them all.
struct PairBatch {
  std::vector<int32_t> inputs;
  std::vector<int64_t> labels;
  double progress;  // the share of all epochs that has been passed
};

class SkipGramStream {
 public:
  // `corpus` outlives the stream.
  SkipGramStream(const Corpus* corpus, const SkipGramOptions& options);
  ~SkipGramStream();
  SkipGramStream(const SkipGramStream&) = delete;
  SkipGramStream& operator=(const SkipGramStream&) = delete;

  // Takes the next batch; false after the last. All batches are full: pairs that are left over are dropped.
  bool Next(PairBatch* batch);

 private:
  struct Reader {
    int64_t next;
    int64_t end;
  };

  void Run();
  void KeepWords(int64_t epoch);
  std::vector<Reader> StartReaders() const;
  bool RunEpoch(int64_t epoch, PairBatch* batch);
  bool AddPairs(int64_t place, PairBatch* batch);
  bool Publish(PairBatch* batch);

  const Corpus* const corpus_;
  const SkipGramOptions options_;
  std::vector<int64_t> keep_limits_;  // a word is kept if its 32-bit draw is below this
  std::vector<int32_t> kept_;         // this epoch's words and paragraph ends
  std::vector<uint8_t> reaches_;
  double progress_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<PairBatch> ready_;  // a ring
  size_t first_ready_ = 0;
  size_t ready_count_ = 0;
  bool is_finished_ = false;
  bool is_stopped_ = false;
  std::thread thread_;
};

}  // namespace stillflow
