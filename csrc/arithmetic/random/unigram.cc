#include "arithmetic/random/unigram.h"

#include <cmath>
#include <cstdio>
#include <new>
#include <random>
#include <vector>

#include "arithmetic/math/power.h"
#include "arithmetic/random/box_muller.h"

namespace stillflow {

namespace {

constexpr int64_t kMostClasses = INT32_MAX;

template <typename T>
std::unique_ptr<T[]> NewArray(int64_t count) {
  return std::unique_ptr<T[]>(new (std::nothrow) T[count]);
}

Status OutOfMemory(int64_t range) {
  return Error(Code::kResourceExhausted, "OOM when allocating the weights of %lld classes",
               static_cast<long long>(range));
}

Status CheckRange(int64_t range) {
  if (range >= 1 && range <= kMostClasses) return Status();
  return STILLFLOW_INVALID_ARGUMENT("range_max must be in [1, %lld], got %lld", static_cast<long long>(kMostClasses),
                                    static_cast<long long>(range));
}

// How many of the numbers [begin, end) a shard has.
int64_t CountOfShard(const FixedUnigram::Options& options, int64_t begin, int64_t end) {
  const int64_t skipped = (options.shard - begin % options.shard_count + options.shard_count) % options.shard_count;
  return end - begin <= skipped ? 0 : (end - begin - skipped - 1) / options.shard_count + 1;
}

bool IsBlank(const char* text) { return text[std::strspn(text, " \t\n\v\f\r")] == 0; }

// The weight at the end of a line "word,...,weight"; false if there is none.
bool ReadWeight(const char* line, float* weight) {
  const char* comma = std::strrchr(line, ',');
  const char* field = comma == nullptr ? line : comma + 1;
  char* end = nullptr;
  *weight = std::strtof(field, &end);
  return end != field && IsBlank(end);
}

Status ReadWeights(const char* path, std::vector<float>* weights) {
  std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path, "r"), std::fclose);
  if (file == nullptr) return Error(Code::kNotFound, "%s; No such file or directory", path);
  char* line = nullptr;
  size_t capacity = 0;
  Status status;
  while (status.ok() && getline(&line, &capacity, file.get()) != -1) {
    if (IsBlank(line)) continue;
    float weight = 0;
    if (!ReadWeight(line, &weight)) {
      status = STILLFLOW_INVALID_ARGUMENT("Wrong vocabulary format at line: %.*s",
                                          static_cast<int>(std::strcspn(line, "\r\n")), line);
    }
    weights->push_back(weight);
  }
  std::free(line);
  return status;
}

Status CheckOptions(const FixedUnigram::Options& options) {
  const bool has_file = options.vocab_file[0] != 0;
  if (!has_file && options.unigram_count == 0) {
    return STILLFLOW_INVALID_ARGUMENT("Must provide either vocab_file or unigrams.");
  }
  if (has_file && options.unigram_count != 0) {
    return STILLFLOW_INVALID_ARGUMENT("Must only provide one of vocab_file and unigrams.");
  }
  if (options.shard_count < 1 || options.shard < 0 || options.shard >= options.shard_count) {
    return STILLFLOW_INVALID_ARGUMENT("Shard %lld must be in [0, %lld)", static_cast<long long>(options.shard),
                                      static_cast<long long>(options.shard_count));
  }
  return CheckRange(options.range);
}

}  // namespace

// ---- FixedUnigram -------------------------------------------------------------------------------------------

Status FixedUnigram::Make(const Options& options, FixedUnigram** unigrams) {
  STILLFLOW_RETURN_IF_ERROR(CheckOptions(options));
  std::vector<float> given;
  if (options.unigram_count == 0) {
    STILLFLOW_RETURN_IF_ERROR(ReadWeights(options.vocab_file, &given));
  } else {
    for (int64_t i = 0; i < options.unigram_count; ++i) given.push_back(static_cast<float>(options.unigrams[i]));
  }
  const auto given_count = static_cast<int64_t>(given.size());
  // Given weights are numbered on from the zeros of this shard alone.
  const int64_t zeros = CountOfShard(options, 0, options.reserved_count);
  const int64_t count = zeros + CountOfShard(options, zeros, zeros + given_count);
  if (count != options.range) {
    return STILLFLOW_INVALID_ARGUMENT("range_max is %lld, but there are %lld unigrams",
                                      static_cast<long long>(options.range), static_cast<long long>(count));
  }
  std::unique_ptr<FixedUnigram> made(new FixedUnigram(count));
  STILLFLOW_RETURN_IF_ERROR(made->SetWeights(options, given.data(), given_count, zeros));
  STILLFLOW_RETURN_IF_ERROR(made->BuildTable());
  *unigrams = made.release();
  return Status();
}

Status FixedUnigram::SetWeights(const Options& options, const float* given, int64_t given_count, int64_t zeros) {
  weights_ = NewArray<float>(range_);
  if (weights_ == nullptr) return OutOfMemory(range_);
  int64_t next = 0;
  while (next < zeros) weights_[next++] = 0;
  for (int64_t i = 0; i < given_count; ++i) {
    if (!(given[i] >= 0) || std::isinf(given[i])) {
      return STILLFLOW_INVALID_ARGUMENT("Unigrams must be finite and not negative, got %g", given[i]);
    }
    if ((zeros + i) % options.shard_count != options.shard) continue;
    weights_[next++] =
        static_cast<float>(Pow(static_cast<double>(given[i]), static_cast<double>(options.distortion)));
  }
  for (int64_t i = 0; i < range_; ++i) total_ += weights_[i];
  if (!(total_ > 0) || std::isinf(total_)) {
    return STILLFLOW_INVALID_ARGUMENT("The sum of the unigrams must be positive and finite, got %g", total_);
  }
  return Status();
}

// Slots with less than their share take the rest from slots with more. (M. D. Vose, "A linear algorithm for
// generating random numbers with a given distribution", IEEE Trans. Software Engineering 17, 1991.)
Status FixedUnigram::BuildTable() {
  probabilities_ = NewArray<float>(range_);
  aliases_ = NewArray<int32_t>(range_);
  const auto shares = NewArray<double>(range_);
  const auto low = NewArray<int32_t>(range_);
  const auto high = NewArray<int32_t>(range_);
  if (!probabilities_ || !aliases_ || !shares || !low || !high) return OutOfMemory(range_);
  double sum = 0;
  for (int64_t i = 0; i < range_; ++i) sum += weights_[i];
  int64_t low_count = 0;
  int64_t high_count = 0;
  const auto push = [&](int32_t slot) {
    if (shares[slot] < 1.0) {
      low[low_count++] = slot;
    } else {
      high[high_count++] = slot;
    }
  };
  for (int64_t i = 0; i < range_; ++i) {
    shares[i] = static_cast<double>(weights_[i] * static_cast<float>(range_)) / sum;
    push(static_cast<int32_t>(i));
    probabilities_[i] = 1;
    aliases_[i] = static_cast<int32_t>(i);
  }
  while (low_count > 0 && high_count > 0) {
    const int32_t small = low[--low_count];
    const int32_t large = high[--high_count];
    probabilities_[small] = static_cast<float>(shares[small]);
    aliases_[small] = large;
    shares[large] -= 1.0 - shares[small];
    push(large);
  }
  int32_t* const is_reachable = low.get();
  for (int64_t i = 0; i < range_; ++i) is_reachable[i] = probabilities_[i] > 0;
  for (int64_t i = 0; i < range_; ++i) {
    if (probabilities_[i] < 1) is_reachable[aliases_[i]] = 1;
  }
  for (int64_t i = 0; i < range_; ++i) reachable_ += is_reachable[i];
  return Status();
}

int64_t FixedUnigram::Draw(WordReader* words) const {
  const float r = UniformFloat(words->Next());
  const uint32_t slot = below_range_.Draw(words);
  return r < probabilities_[slot] ? static_cast<int64_t>(slot) : aliases_[slot];
}

// ---- LearnedUnigram -----------------------------------------------------------------------------------------

Status LearnedUnigram::Make(int64_t range, int64_t seed, int64_t seed2, LearnedUnigram** unigrams) {
  STILLFLOW_RETURN_IF_ERROR(CheckRange(range));
  std::unique_ptr<LearnedUnigram> made(new LearnedUnigram);
  made->weights_ = NewArray<int32_t>(range);
  made->sums_ = NewArray<int32_t>(range + 1);
  if (!made->weights_ || !made->sums_) return OutOfMemory(range);
  if (seed == 0 && seed2 == 0) {
    std::random_device entropy;
    seed = static_cast<int64_t>(uint64_t{entropy()} << 32 | entropy());
    seed2 = static_cast<int64_t>(uint64_t{entropy()} << 32 | entropy());
  }
  made->position_ = {static_cast<uint64_t>(seed), 0, static_cast<uint64_t>(seed2)};
  made->range_ = range;
  made->total_ = static_cast<uint32_t>(range);
  for (int64_t i = 0; i < range; ++i) made->weights_[i] = 1;
  made->SumWeights();
  *unigrams = made.release();
  return Status();
}

void LearnedUnigram::SumWeights() {
  for (int64_t i = 1; i <= range_; ++i) sums_[i] = weights_[i - 1];
  for (int64_t i = 1; i <= range_; ++i) {
    const int64_t above = i + (i & -i);
    if (above <= range_) sums_[above] += sums_[i];
  }
}

int64_t LearnedUnigram::Save(void* bytes) const {
  const auto weight_bytes = range_ * static_cast<int64_t>(sizeof(int32_t));
  if (bytes != nullptr) {
    std::memcpy(bytes, &position_, sizeof position_);
    std::memcpy(static_cast<char*>(bytes) + sizeof position_, weights_.get(), weight_bytes);
  }
  return static_cast<int64_t>(sizeof position_) + weight_bytes;
}

bool LearnedUnigram::Restore(const void* bytes, int64_t size) {
  if (size != Save(nullptr)) return false;
  const char* const weights = static_cast<const char*>(bytes) + sizeof position_;
  int64_t total = 0;
  for (int64_t i = 0; i < range_; ++i) {
    int32_t weight;
    std::memcpy(&weight, weights + i * sizeof weight, sizeof weight);
    if (weight < 1) return false;
    total += weight;
  }
  if (total > kMostClasses) return false;
  std::memcpy(&position_, bytes, sizeof position_);
  std::memcpy(weights_.get(), weights, range_ * sizeof(int32_t));
  total_ = static_cast<uint32_t>(total);
  SumWeights();
  return true;
}

sf_philox LearnedUnigram::TakeBlocks(uint64_t blocks) {
  const sf_philox begin = position_;
  position_ = sf_philox_skip(position_, blocks);
  return begin;
}

int64_t LearnedUnigram::Pick(uint32_t rank) const {
  int64_t step = 1;
  while (step * 2 <= range_) step *= 2;
  int64_t at = 0;
  auto rest = static_cast<int64_t>(rank);
  for (; step > 0; step /= 2) {
    if (at + step <= range_ && sums_[at + step] <= rest) {
      at += step;
      rest -= sums_[at];
    }
  }
  return at;
}

void LearnedUnigram::Increment(int64_t value) {
  if (total_ == static_cast<uint32_t>(kMostClasses)) return;  // as many as 31 bits count
  ++total_;
  ++weights_[value];
  for (int64_t i = value + 1; i <= range_; i += i & -i) ++sums_[i];
}

}  // namespace stillflow
