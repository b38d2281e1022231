#include "memory/row_partition.h"

#include <algorithm>

#include "memory/cache.h"

namespace stillflow {
namespace {

constexpr int64_t kMostParts = 256;

// Which part a row belongs to. Rows that share a cache line mostly share a part; neighbours do not, because low row
// numbers are often the frequent ones.
struct Partition {
  int shift;      // log2 of the rows that go to one part together
  int64_t parts;  // a power of two

  int64_t PartOf(int64_t row) const { return row >> shift & (parts - 1); }
};

// The changes of each part in their order, as lists for each block of `per_block` changes.
class PartLists {
 public:
  PartLists(const KernelCall& call, const Partition& partition, int64_t count, int64_t per_block)
      : partition_(partition),
        count_(count),
        per_block_(per_block),
        blocks_((count + per_block - 1) / per_block),
        begins_(call, blocks_ * (partition.parts + 1) * static_cast<int64_t>(sizeof(int64_t))),
        list_(call, count * static_cast<int64_t>(sizeof(int64_t))) {}
  bool ok() const { return begins_.ok() && list_.ok(); }
  int64_t blocks() const { return blocks_; }

  Status Fill(const KernelCall& call, const int64_t* rows) {
    return ForEachChunk(call, blocks_, 1, [&](Range blocks) {
      for (int64_t block = blocks.begin; block < blocks.end; ++block) FillBlock(block, rows);
    });
  }

  const int64_t* List(int64_t block, int64_t part) const { return list_.data<int64_t>() + BeginsOf(block)[part]; }
  int64_t Count(int64_t block, int64_t part) const { return BeginsOf(block)[part + 1] - BeginsOf(block)[part]; }

 private:
  int64_t* BeginsOf(int64_t block) const { return begins_.data<int64_t>() + block * (partition_.parts + 1); }

  void FillBlock(int64_t block, const int64_t* rows) {
    const int64_t first = block * per_block_;
    const int64_t end = std::min(first + per_block_, count_);
    int64_t* begins = BeginsOf(block);
    std::fill_n(begins, partition_.parts + 1, 0);
    for (int64_t i = first; i < end; ++i) begins[partition_.PartOf(rows[i]) + 1] += rows[i] >= 0;
    begins[0] = first;
    for (int64_t part = 0; part < partition_.parts; ++part) begins[part + 1] += begins[part];
    int64_t ends[kMostParts];
    std::copy_n(begins, partition_.parts, ends);
    int64_t* list = list_.data<int64_t>();
    for (int64_t i = first; i < end; ++i) {
      if (rows[i] >= 0) list[ends[partition_.PartOf(rows[i])]++] = i;
    }
  }

  const Partition partition_;
  const int64_t count_;
  const int64_t per_block_;
  const int64_t blocks_;
  const Scratch begins_;
  const Scratch list_;
};

}  // namespace

Status ForRowPartition(const KernelCall& call, const int64_t* rows, int64_t count, int64_t row_bytes,
                       MakeChanges make, const void* changes) {
  constexpr int64_t kBytesPerPart = 128 << 10;    // moving fewer bytes to another core costs more than changing them
  constexpr int64_t kBytesPerThread = 512 << 10;  // of a block of changes
  // Frequent rows make few parts unequal; with many parts, each reads the updates in strides that defeat prefetchers.
  constexpr int64_t kPartsPerThread = 2;
  if (row_bytes == 0 || count == 0) return Status();
  Partition partition{row_bytes < kLineBytes ? 63 - __builtin_clzll(kLineBytes / row_bytes) : 0, 1};
  const int64_t threads = call.services->thread_count(call.run);
  const int64_t most = threads > 1 ? std::min(threads * kPartsPerThread, kMostParts) : 1;
  const int64_t wanted = std::min(most, count * row_bytes / kBytesPerPart);
  while (partition.parts * 2 <= wanted) partition.parts *= 2;
  if (partition.parts == 1) {
    make(changes, count, nullptr);
    return Status();
  }
  const int64_t per_block = std::max<int64_t>(threads * kBytesPerThread / row_bytes, 1024);
  PartLists lists(call, partition, count, per_block);
  if (!lists.ok()) return OutOfScratch();
  STILLFLOW_RETURN_IF_ERROR(lists.Fill(call, rows));
  // Block by block: every thread passes over what the rows are changed by, which it should find in a cache.
  for (int64_t block = 0; block < lists.blocks(); ++block) {
    STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, partition.parts, 1, [&](Range parts) {
      for (int64_t part = parts.begin; part < parts.end; ++part) {
        make(changes, lists.Count(block, part), lists.List(block, part));
      }
    }));
  }
  return Status();
}

}  // namespace stillflow
