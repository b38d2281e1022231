// functional.h: the kinds of data sets that call functions. Arguments, and types of results, have been checked by
// then.
#pragma once

#include "datasets/captured_function.h"
#include "datasets/datasets.h"

namespace stillflow {

// ---- map.cc -----------------------------------------------------------------------------------------------------

struct MapOptions {
  int64_t parallel_calls = 1;          // the most elements that are at work at a time
  bool preserves_cardinality = false;  // whether a function that runs out of something has failed
  bool is_parallel = false;            // what it was made as; there may be one call at a time all the same
};

DatasetPtr MakeMapDataset(TupleSpec spec, DatasetPtr input, CapturedFunctionPtr function, MapOptions options);
DatasetPtr MakeFilterDataset(TupleSpec spec, DatasetPtr input, CapturedFunctionPtr predicate);
// Null for data sets that are no maps; the other two take only maps.
const MapOptions* MapOptionsOf(const Dataset& dataset);
DatasetPtr WithMapOptions(const Dataset& map, const MapOptions& options);
bool IsStatefulMap(const Dataset& map);
// The same map with calls side by side; null where that could be told, and for data sets of other kinds.
DatasetPtr ParallelizeMap(const Dataset& dataset, int64_t parallel_calls);
// Of a map of what a map brings, one map; null for data sets of other kinds.
DatasetPtr FuseMaps(const Dataset& dataset, const Dataset& input);
// Of a filter of what a filter leaves, one filter; null for data sets of other kinds.
DatasetPtr FuseFilters(const Dataset& dataset, const Dataset& input);

// What TensorFlow makes of a function that runs out of something: the end of the data set, which goes on behind it,
// or an error if it has to bring an element for each that comes.
Status EndedBy(Status status, bool preserves_cardinality, bool* is_end);

// What TensorFlow makes of a function that runs out of something where that does not end the data set.
Status NotTheEnd(Status status, const char* type);

// ---- interleave.cc ----------------------------------------------------------------------------------------------

// `function` makes a data set of each element. Their elements come one data set after the other.
DatasetPtr MakeFlatMapDataset(TupleSpec spec, DatasetPtr input, CapturedFunctionPtr function);
// They come in turns: `block_length` elements of each of `cycle_length` data sets. The order is the same if it
// `is_parallel`, but then no two data sets are in one place.
DatasetPtr MakeInterleaveDataset(TupleSpec spec, DatasetPtr input, CapturedFunctionPtr function, int64_t cycle_length,
                                 int64_t block_length, bool is_parallel);

// The function that makes the data sets; null for data sets of other kinds.
const CapturedFunction* InnerFunctionOf(const Dataset& dataset);
// One whose data sets are rewritten, too, before they are read; null for data sets of other kinds.
DatasetPtr WithInnerRewrites(const Dataset& dataset, RewritesPtr rewrites);

// ---- grouping.cc ------------------------------------------------------------------------------------------------

// Elements with the same key, `window_size(key)` of them or those that are left, are what `reduce` makes a data set
// of, whose elements it brings.
DatasetPtr MakeGroupByWindowDataset(TupleSpec spec, DatasetPtr input, CapturedFunctionPtr key,
                                    CapturedFunctionPtr reduce, CapturedFunctionPtr window_size);

// ---- reducer.cc -------------------------------------------------------------------------------------------------

// Of elements with the same key: `init(key)`, then `reduce(state, element)` for each, then `finalize(state)`, which
// is the element. They come in the order of keys.
struct ReducerFunctions {
  CapturedFunctionPtr key;
  CapturedFunctionPtr init;
  CapturedFunctionPtr reduce;
  CapturedFunctionPtr finalize;
};
DatasetPtr MakeGroupByReducerDataset(TupleSpec spec, DatasetPtr input, ReducerFunctions functions);

// ---- take_while.cc ----------------------------------------------------------------------------------------------

DatasetPtr MakeTakeWhileDataset(TupleSpec spec, DatasetPtr input, CapturedFunctionPtr predicate);

// ---- scan.cc ----------------------------------------------------------------------------------------------------

// `function` makes the next state and an element of a state and an element.
DatasetPtr MakeScanDataset(TupleSpec spec, DatasetPtr input, CapturedFunctionPtr function, Tuple initial_state,
                           bool preserves_cardinality);

// ---- generator.cc -----------------------------------------------------------------------------------------------

// `init` gives what `next` makes an element of, until it runs out, and `finalize` is called with at the end.
DatasetPtr MakeGeneratorDataset(TupleSpec spec, CapturedFunctionPtr init, CapturedFunctionPtr next,
                                CapturedFunctionPtr finalize);

}  // namespace stillflow
