// pick_rows.h: rows of a table at any places, copied one after another.
#pragma once

#include "memory/run_writer.h"

namespace stillflow {

struct Table {
  const char* data;
  int64_t bytes;  // of all rows
  int64_t row_bytes;
};

// Copies rows places[0], ..., places[count - 1] to `to`.
void PickRows(const Table& table, const int64_t* places, int64_t count, char* to);
// Appends them to what the writer has written.
void PickRows(const Table& table, const int64_t* places, int64_t count, RunWriter* writer);

}  // namespace stillflow
