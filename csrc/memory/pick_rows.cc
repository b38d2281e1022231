#include "memory/pick_rows.h"

#include "memory/prefetch.h"

namespace stillflow {
namespace {

struct Bytes12 {
  uint32_t words[3];
};
struct Bytes16 {
  uint64_t words[2];
};

template <typename T>
void PickWords(const char* from, const int64_t* places, int64_t count, char* to) {
#pragma GCC unroll 8
  for (int64_t i = 0; i < count; ++i) {
    T word;
    std::memcpy(&word, from + places[i] * static_cast<int64_t>(sizeof(T)), sizeof(T));
    std::memcpy(to + i * static_cast<int64_t>(sizeof(T)), &word, sizeof(T));
  }
}

// Calls copy(row, i) for each row, which is prefetched unless the table is near.
template <typename Copy>
STILLFLOW_INLINE void ForRows(const Table& table, const int64_t* places, int64_t count, const Copy& copy) {
  const int64_t row_bytes = table.row_bytes;
  const auto fetch = [&](int64_t i) __attribute__((always_inline)) {
    PrefetchRow(table.data + places[i] * row_bytes, row_bytes);
  };
  const bool is_near = table.bytes <= kNearBytes;
  FetchAhead ahead(0, is_near ? 0 : count, RowsAhead(row_bytes, kRandomBytesAhead), fetch);
  for (int64_t i = 0; i < count; ++i) {
    ahead.Before(i);
    copy(table.data + places[i] * row_bytes, i);
  }
}

}  // namespace

void PickRows(const Table& table, const int64_t* places, int64_t count, char* to) {
  switch (table.row_bytes) {
    case 1:
      return PickWords<uint8_t>(table.data, places, count, to);
    case 2:
      return PickWords<uint16_t>(table.data, places, count, to);
    case 4:
      return PickWords<uint32_t>(table.data, places, count, to);
    case 8:
      return PickWords<uint64_t>(table.data, places, count, to);
    case 12:
      return PickWords<Bytes12>(table.data, places, count, to);
    case 16:
      return PickWords<Bytes16>(table.data, places, count, to);
    default:
      return ForRows(
          table, places, count, [&](const char* row, int64_t i) __attribute__((always_inline)) {
            CopyBytes(to + i * table.row_bytes, row, table.row_bytes);
          });
  }
}

void PickRows(const Table& table, const int64_t* places, int64_t count, RunWriter* writer) {
  ForRows(
      table, places,
      count, [&](const char* row, int64_t) __attribute__((always_inline)) { writer->Append(row, table.row_bytes); });
}

}  // namespace stillflow
