// pick_rows.h: gathers rows of a table into contiguous memory.
#pragma once

#include "memory/run_writer.h"

namespace stillflow {

struct Table {
  const char* data;
  int64_t bytes;  // of all rows
  int64_t row_bytes;
};

// Copies rows places[0], ..., places[count - 1] to `to`, one after another.
void PickRows(const Table& table, const int64_t* places, int64_t count, char* to);
// Appends them to what the writer has written.
void PickRows(const Table& table, const int64_t* places, int64_t count, RunWriter* writer);

}  // namespace stillflow
