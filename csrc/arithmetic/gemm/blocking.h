// blocking.h: how a product is cut into blocks, which follows from its sizes, its strides and the number of threads.
//
// c is cut into tiles (tile.h): `tile_rows` rows by one panel of columns. Chunks of tiles are what threads take.
// A chunk of a high product packs its part of b; a is packed beforehand, in blocks, where its rows are not
// contiguous. What a source has is asked for in the chunk, panel by panel. Between two parts of k the accumulators
// rest in c, which changes no bit.
#pragma once

#include "arithmetic/gemm/gemm.h"
#include "arithmetic/gemm/tile.h"

namespace stillflow::gemm {

inline int64_t CeilDiv(int64_t x, int64_t y) { return (x + y - 1) / y; }
inline int64_t Min(int64_t x, int64_t y) { return x < y ? x : y; }
// The size of the parts when `total` is cut evenly into as few as possible of at most `most`.
inline int64_t EvenPart(int64_t total, int64_t most) { return CeilDiv(total, CeilDiv(total, most)); }

// A packed block of a has at most this many rows.
constexpr int64_t kMostBlockRows = 2048;
// Bytes of k that a chunk goes through before it takes the next tile: deep, since every pass brings the tile's
// part of c, whose rows compete for the same lines of cache, there and back.
constexpr int64_t kDepthBytes = 4096;
// A chunk has at most so many rows and columns: at this depth its part of b stays in L2, and its part of a too where
// b is read from where it lies. A chunk that packs b is high, so that the copy is used often.
constexpr int64_t kMostChunkColumns = 128;
constexpr int64_t kMostChunkRows = 84;
constexpr int64_t kMostPackedChunkRows = 2048;
// A chunk whose a comes from a source has as many columns as there are, if L2 holds that much of b: each column more
// uses the same panel of a. So it goes through less of k at once.
constexpr int64_t kSourcedDepthBytes = 1024;
constexpr int64_t kMostSourcedChunkColumns = 512;
constexpr int64_t kPanelLines = 84;  // of a, a multiple of most heights of tiles
static_assert(kPanelLines <= PanelSource<float>::kMostPanelLines);
// For several threads chunks are made smaller until each has so many, but not below so many multiply-adds (2 us), nor
// below so many rows that pack b.
constexpr int64_t kChunksPerThread = 4;
constexpr double kLeastChunkWork = 1 << 16;
constexpr int64_t kLeastPackedChunkRows = 512;
// A copy of a whose columns are contiguous pays when c has more columns than this: fewer where they lie a multiple of
// 2 KiB apart and compete for the same lines of cache.
constexpr int64_t kColumnsToPackA = 512;
constexpr int64_t kColumnsToPackCompetingA = 64;
constexpr int64_t kCompetingBytes = 2048;
// A copy of b pays when c is higher than so many tiles: fewer where L2 does not hold b, and two where its rows
// compete and L2 does not hold even as many as a chunk goes through.
constexpr int64_t kTilesToPackB = 48;
constexpr int64_t kTilesToPackLargeB = 15;
constexpr int64_t kTilesToPackCompetingB = 1;
constexpr int64_t kL2Bytes = 1 << 20;
// With fewer columns than this part of a vector, the transposed product is computed, whose rows they are; not for
// a few rows, nor for so few multiply-adds for each element of c that copying c takes its share.
constexpr int kLanesForEachColumn = 4;
constexpr int64_t kLeastRowsToTranspose = 32;
constexpr int64_t kLeastDepthToTranspose = 16;
// Elements of a copy that one chunk makes.
constexpr int64_t kPackedPerChunk = 16384;

struct Plan {
  int64_t tile_rows;
  bool packs_a;        // beforehand, in blocks
  bool has_panels_a;   // of a source, in the chunk
  bool packs_b;        // on the way, in the chunk
  bool transposes_b;   // on the way, in the tile
  int64_t block_rows;  // multiple of tile_rows
  int64_t block_k;
  int64_t depth;         // of k between a tile's load and store
  int64_t chunk_tiles;   // rows of a chunk, in tiles
  int64_t chunk_panels;  // columns of a chunk, in panels
};

// Higher than so many tiles, c makes a copy of b pay.
inline int64_t TilesToPackB(int64_t n, int64_t k, int64_t depth, int64_t row_bytes, int64_t element_bytes) {
  if (row_bytes % kCompetingBytes == 0 && depth * row_bytes > kL2Bytes) return kTilesToPackCompetingB;
  return n * k * element_bytes > kL2Bytes ? kTilesToPackLargeB : kTilesToPackB;
}

template <typename T>
void ChooseChunks(int64_t m, int64_t n, int64_t k, int threads, Plan* plan) {
  const int64_t tiles = CeilDiv(Min(m, plan->block_rows), plan->tile_rows);
  const int64_t panels = CeilDiv(n, kPanelColumns<T>);
  const int64_t most_tiles = (plan->packs_b ? kMostPackedChunkRows : kMostChunkRows) / plan->tile_rows;
  const int64_t most_panels = (plan->has_panels_a ? kMostSourcedChunkColumns : kMostChunkColumns) / kPanelColumns<T>;
  const int64_t least_tiles = plan->packs_b ? CeilDiv(kLeastPackedChunkRows, plan->tile_rows) : 1;
  plan->chunk_tiles = EvenPart(tiles, most_tiles > 0 ? most_tiles : 1);
  plan->chunk_panels = EvenPart(panels, most_panels > 0 ? most_panels : 1);
  const double tile_work = static_cast<double>(plan->tile_rows) * kPanelColumns<T> * static_cast<double>(k);
  const int64_t least_panels = m <= kFewRows ? kFewRowsVectors / kPanelVectors : 1;
  const int64_t wanted = threads > 1 ? threads * kChunksPerThread : 1;
  for (;;) {
    const int64_t chunks = CeilDiv(tiles, plan->chunk_tiles) * CeilDiv(panels, plan->chunk_panels);
    if (chunks >= wanted) break;
    const bool is_high = CeilDiv(plan->chunk_tiles, 2) >= least_tiles || chunks < threads;
    const bool can_halve_tiles = plan->chunk_tiles > 1 && is_high;
    const double work = tile_work * static_cast<double>(plan->chunk_tiles * plan->chunk_panels);
    if (work < 2 * kLeastChunkWork) break;
    if (plan->chunk_panels <= least_panels && !can_halve_tiles) break;
    if (can_halve_tiles && (plan->chunk_tiles * plan->tile_rows > plan->chunk_panels * kPanelColumns<T> ||
                            plan->chunk_panels <= least_panels)) {
      plan->chunk_tiles = CeilDiv(plan->chunk_tiles, 2);
    } else {
      plan->chunk_panels = CeilDiv(plan->chunk_panels, 2);
    }
  }
}

template <typename T>
Plan ChoosePlan(int64_t m, int64_t n, int64_t k, int64_t k_block, const Lines<T>& a, const Lines<T>& b, int threads) {
  constexpr int64_t kBytes = sizeof(T);
  Plan plan;
  plan.tile_rows = EvenPart(m, n <= kLanes<T> ? kMostNarrowTileRows : kMostTileRows);
  const int64_t tiles = CeilDiv(m, plan.tile_rows);
  const bool competes = a.k_stride * kBytes % kCompetingBytes == 0;
  plan.has_panels_a = a.source != nullptr;
  // Such tiles read a in place.
  plan.transposes_b = kTransposesInTiles && m <= kFewRows && a.source == nullptr && b.source == nullptr &&
                      b.k_stride == 1 && b.stride != 1;
  plan.packs_a = !plan.has_panels_a && a.k_stride != 1 &&
                 (a.stride != 1 || (m > kFewRows && n > (competes ? kColumnsToPackCompetingA : kColumnsToPackA)));
  plan.depth = EvenPart(k, (plan.has_panels_a ? kSourcedDepthBytes : kDepthBytes) / kBytes);
  if (k_block != 0) plan.depth = Min(k_block, k);
  plan.packs_b =
      b.source != nullptr ||
      (!plan.transposes_b && (b.stride != 1 || tiles > TilesToPackB(n, k, plan.depth, b.k_stride * kBytes, kBytes)));
  plan.block_rows = plan.packs_a ? CeilDiv(EvenPart(m, kMostBlockRows), plan.tile_rows) * plan.tile_rows : m;
  plan.block_k = plan.packs_a ? plan.depth : k;
  ChooseChunks<T>(m, n, plan.block_k, threads, &plan);
  return plan;
}

}  // namespace stillflow::gemm
