#include "runtime/executor/buffer.h"

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace stillflow {
namespace {

constexpr int64_t kHeaderBytes = 64;
constexpr int64_t kSmallestBlock = 256;
constexpr int kClassesPerDoubling = 4;  // blocks are at most a quarter larger than asked for
constexpr int kClassCount = 4 * 39 + 1;
// Under AddressSanitizer every block has its exact size and is freed at once, so that it sees each overrun.
#ifdef __SANITIZE_ADDRESS__
constexpr int64_t kCacheLimitBytes = 0;
constexpr int64_t kPageBytes = 64;
#else
constexpr int64_t kCacheLimitBytes = int64_t{512} << 20;
constexpr int64_t kPageBytes = 4096;
#endif
// Tables are read at random: with 4 KiB pages most rows of a large one would miss the TLB.
constexpr int64_t kHugePageBytes = int64_t{2} << 20;
// Processors take a load for one of what a store before it writes if both have the same place in a page, and wait.
// Blocks that all begin where pages do keep what is read a whole page from what has just been written for it; the
// allocator would lay out two of them so that it follows by a line.
constexpr int64_t kLeastOnPages = 32 << 10;

class SpinLock {
 public:
  void lock() {
    while (flag_.test_and_set(std::memory_order_acquire)) {
    }
  }
  void unlock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_ = ATOMIC_FLAG_INIT;
};

// What is before the data. The rest is for blocks that wait for their next use.
struct Header {
  Buffer buffer;
  Header* next;
  int64_t cached_at;  // by new_bytes
};
static_assert(sizeof(Header) <= kHeaderBytes, "the header and the data share a block");

struct FreeList {
  SpinLock lock;
  Header* first = nullptr;  // the last one that was returned
};

FreeList free_lists[kClassCount];
std::atomic<int64_t> used_bytes{0};
std::atomic<int64_t> peak_bytes{0};  // the most that used_bytes has been
std::atomic<int64_t> cached_bytes{0};
std::atomic<int64_t> new_bytes{0};  // that have come from the system, ever

struct SizeClass {
  int index;
  int64_t bytes;
};

SizeClass ClassOf(int64_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  return {0, (bytes + 63) / 64 * 64};  // next to nothing beyond the end, so that what reads there is seen
#endif
  if (bytes <= kSmallestBlock) return {0, kSmallestBlock};
  const int doubling = 63 - __builtin_clzll(static_cast<uint64_t>(bytes - 1)) - 8;
  const int64_t base = kSmallestBlock << doubling;
  const int64_t quarter = base / kClassesPerDoubling;
  const int64_t quarters = (bytes - base + quarter - 1) / quarter;
  return {doubling * kClassesPerDoubling + static_cast<int>(quarters), base + quarters * quarter};
}

void* NewBlock(int64_t bytes) {
  if (bytes < 2 * kHugePageBytes) return std::aligned_alloc(bytes < kLeastOnPages ? 64 : kPageBytes, bytes);
  bytes = (bytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  void* block = std::aligned_alloc(kHugePageBytes, bytes);
#ifdef MADV_HUGEPAGE
  if (block != nullptr) madvise(block, bytes, MADV_HUGEPAGE);
#endif
  return block;
}

void CountUse(int64_t bytes) {
  const int64_t used = used_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  int64_t peak = peak_bytes.load(std::memory_order_relaxed);
  while (used > peak && !peak_bytes.compare_exchange_weak(peak, used, std::memory_order_relaxed)) {
  }
}

int64_t BlockBytes(const Buffer& buffer) { return buffer.capacity_bytes + kHeaderBytes; }

// Frees the blocks that no step needs any more: since they were returned, a whole cache of others has come from the
// system. What each step uses again is younger, even where one step uses more than the cache holds.
void FreeOldBlocks() {
  const int64_t oldest = new_bytes.load(std::memory_order_relaxed) - kCacheLimitBytes;
  for (FreeList& list : free_lists) {
    list.lock.lock();
    Header** end = &list.first;
    while (*end != nullptr && (*end)->cached_at >= oldest) end = &(*end)->next;
    Header* old = std::exchange(*end, nullptr);
    list.lock.unlock();
    while (old != nullptr) {
      Header* const next = old->next;
      cached_bytes.fetch_sub(BlockBytes(old->buffer), std::memory_order_relaxed);
      std::free(old);
      old = next;
    }
  }
}

// Whether the cache has room for a block, which it counts from then on.
bool TakeRoom(int64_t block_bytes) {
  if (cached_bytes.fetch_add(block_bytes, std::memory_order_relaxed) + block_bytes <= kCacheLimitBytes) return true;
  if (block_bytes >= kHugePageBytes) {
    FreeOldBlocks();
    if (cached_bytes.load(std::memory_order_relaxed) <= kCacheLimitBytes) return true;
  }
  cached_bytes.fetch_sub(block_bytes, std::memory_order_relaxed);
  return false;
}

void ReturnBuffer(Buffer* buffer) {
  const int64_t block_bytes = BlockBytes(*buffer);
  used_bytes.fetch_sub(block_bytes, std::memory_order_relaxed);
  if (!TakeRoom(block_bytes)) {
    std::free(buffer);
    return;
  }
  auto* header = reinterpret_cast<Header*>(buffer);
  header->cached_at = new_bytes.load(std::memory_order_relaxed);
  FreeList& list = free_lists[ClassOf(block_bytes).index];
  list.lock.lock();
  header->next = list.first;
  list.first = header;
  list.lock.unlock();
}

void Nothing(Buffer*) {}

void ReleaseStrings(Buffer* buffer) {
  auto** cells = static_cast<StringCell**>(buffer->data);
  const int64_t count = buffer->capacity_bytes / static_cast<int64_t>(sizeof(StringCell*));
  for (int64_t i = 0; i < count; ++i) {
    if (cells[i] != nullptr && cells[i]->references.fetch_sub(1, std::memory_order_acq_rel) == 1) std::free(cells[i]);
  }
  ReturnBuffer(buffer);
}

void ReleaseVariants(Buffer* buffer) {
  auto** cells = static_cast<Variant**>(buffer->data);
  const int64_t count = buffer->capacity_bytes / static_cast<int64_t>(sizeof(Variant*));
  for (int64_t i = 0; i < count; ++i) {
    Variant* const cell = cells[i];
    if (cell != nullptr && cell->references.fetch_sub(1, std::memory_order_acq_rel) == 1) cell->destroy(cell);
  }
  ReturnBuffer(buffer);
}

Buffer* AllocateCells(int64_t count, void (*destroy)(Buffer*)) {
  static_assert(sizeof(StringCell*) == sizeof(Variant*), "cells are pointers");
  if (count < 0 || count > (int64_t{1} << 40)) return nullptr;
  Buffer* buffer = AllocateBuffer(count * static_cast<int64_t>(sizeof(StringCell*)));
  if (buffer == nullptr) return nullptr;
  std::memset(buffer->data, 0, buffer->capacity_bytes);
  buffer->destroy = destroy;
  return buffer;
}

}  // namespace

Buffer* AllocateBuffer(int64_t bytes) {
  if (bytes < 0 || bytes > (int64_t{1} << 46)) return nullptr;
  const SizeClass size_class = ClassOf(bytes + kHeaderBytes);
  FreeList& list = free_lists[size_class.index];
  list.lock.lock();
  Header* header = list.first;
  if (header != nullptr) list.first = header->next;
  list.lock.unlock();
  if (header != nullptr) {
    cached_bytes.fetch_sub(size_class.bytes, std::memory_order_relaxed);
  } else {
    void* const block = NewBlock(size_class.bytes);
    if (block == nullptr) return nullptr;
    new_bytes.fetch_add(size_class.bytes, std::memory_order_relaxed);
    header = new (block) Header;
    header->buffer.is_borrowed = false;
    header->buffer.capacity_bytes = size_class.bytes - kHeaderBytes;
  }
  Buffer* const buffer = &header->buffer;
  CountUse(size_class.bytes);
  buffer->destroy = ReturnBuffer;
  buffer->data = reinterpret_cast<char*>(buffer) + kHeaderBytes;
  buffer->references.store(1, std::memory_order_relaxed);
  return buffer;
}

void BorrowBuffer(Buffer* buffer, const void* data, int64_t bytes) {
  buffer->references.store(1, std::memory_order_relaxed);
  buffer->is_borrowed = true;
  buffer->capacity_bytes = bytes;
  buffer->data = const_cast<void*>(data);
  buffer->destroy = Nothing;
}

Buffer* AllocateStrings(int64_t count) { return AllocateCells(count, ReleaseStrings); }

Buffer* AllocateVariants(int64_t count) { return AllocateCells(count, ReleaseVariants); }

StringCell* NewString(const char* bytes, int64_t size) {
  auto* cell = static_cast<StringCell*>(std::malloc(offsetof(StringCell, bytes) + size + 1));
  if (cell == nullptr) return nullptr;
  new (&cell->references) std::atomic<int32_t>(1);
  cell->size = size;
  std::memcpy(cell->bytes, bytes, size);
  cell->bytes[size] = 0;
  return cell;
}

AllocatorStatistics GetAllocatorStatistics() {
  return {used_bytes.load(std::memory_order_relaxed), cached_bytes.load(std::memory_order_relaxed),
          peak_bytes.load(std::memory_order_relaxed)};
}

}  // namespace stillflow
