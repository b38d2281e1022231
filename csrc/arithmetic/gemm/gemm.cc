#include "arithmetic/gemm/gemm.h"

#include "arithmetic/gemm/blocking.h"
#include "arithmetic/gemm/packing.h"
#include "arithmetic/gemm/tile.h"
#include "arithmetic/gemm/transposed_tile.h"

namespace stillflow {
namespace gemm {
namespace {

// ---- The tile for a size ------------------------------------------------------------------------------------

template <typename T>
struct TileTable {
  // [rows][vectors][unit stride][partial loads]
  TileFunction<T> of[kMostNarrowTileRows + 1][kFewRowsVectors + 1][2][2];
};

template <typename T, int kRows, int kVectors>
constexpr void AddTiles(TileTable<T>* table) {
  // Products of integers are rare: they make do with tiles that load partially.
  constexpr bool kAlwaysLoadsPartially = std::is_integral_v<T>;
  auto& of = table->of[kRows][kVectors];
  of[0][0] = ComputeTile<T, kRows, kVectors, false, kAlwaysLoadsPartially>;
  of[0][1] = ComputeTile<T, kRows, kVectors, false, true>;
  of[1][0] = ComputeTile<T, kRows, kVectors, true, kAlwaysLoadsPartially>;
  of[1][1] = ComputeTile<T, kRows, kVectors, true, true>;
}

template <typename T, int kRows>
constexpr void AddTilesUpTo(TileTable<T>* table) {
  if constexpr (kRows > 0) {
    constexpr int kMostVectors = kRows <= kFewRows ? kFewRowsVectors : kRows <= kMostTileRows ? kPanelVectors : 1;
    AddTiles<T, kRows, 1>(table);
    if constexpr (kMostVectors >= 2) AddTiles<T, kRows, 2>(table);
    if constexpr (kMostVectors >= 4) AddTiles<T, kRows, 4>(table);
    if constexpr (kMostVectors >= 8) AddTiles<T, kRows, 8>(table);
    AddTilesUpTo<T, kRows - 1>(table);
  }
}

template <typename T>
constexpr TileTable<T> MakeTileTable() {
  TileTable<T> table{};
  AddTilesUpTo<T, kMostNarrowTileRows>(&table);
  return table;
}

template <typename T>
constexpr TileTable<T> kTiles = MakeTileTable<T>();

// ---- One product --------------------------------------------------------------------------------------------

template <typename T>
class Product {
 public:
  Product(const KernelCall& call, int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c,
          int64_t ldc, bool accumulate)
      : call_(call),
        m_(m),
        n_(n),
        k_(k),
        a_(a),
        b_(b),
        c_(c),
        ldc_(ldc),
        accumulate_(accumulate),
        plan_(ChoosePlan<T>(m, n, k, a.row_stride, a.column_stride, b.row_stride, b.column_stride,
                            call.services->thread_count(call.run))) {}

  Status Compute() {
    if (!plan_.packs_a) return ComputeBlock({0, m_, 0, k_}, nullptr);
    const Scratch scratch(call_, plan_.block_rows * plan_.block_k * kBytes);
    if (!scratch.ok()) return OutOfScratch();
    T* packed_a = scratch.data<T>();
    for (int64_t l = 0; l < k_; l += plan_.block_k) {
      for (int64_t row = 0; row < m_; row += plan_.block_rows) {
        const Block block{row, Min(row + plan_.block_rows, m_), l, Min(l + plan_.block_k, k_)};
        STILLFLOW_RETURN_IF_ERROR(PackA(block, packed_a));
        STILLFLOW_RETURN_IF_ERROR(ComputeBlock(block, packed_a));
      }
    }
    return Status();
  }

 private:
  static constexpr int64_t kBytes = sizeof(T);
  static constexpr int64_t kColumns = kPanelColumns<T>;

  // The rows of c, and the part of k, that are computed at once.
  struct Block {
    int64_t row, row_end, k, k_end;
  };

  // Where tiles find their operands.
  struct Operands {
    const T* a;
    int64_t a_tile_stride, a_row_stride, a_k_stride;
    const T* b;
    int64_t b_panel_stride, b_k_stride;
  };

  Status PackA(const Block& block, T* packed) {
    const int64_t k = block.k_end - block.k;
    const int64_t rows = block.row_end - block.row;
    const int64_t tiles = CeilDiv(rows, plan_.tile_rows);
    const int64_t tiles_at_once = CeilDiv(kPackedPerChunk, k * plan_.tile_rows);
    return ForEachChunk(call_, tiles, tiles_at_once, [&](Range range) {
      const int64_t row = range.begin * plan_.tile_rows;
      Pack<T>({a_.data + (block.row + row) * a_.row_stride + block.k * a_.column_stride, a_.row_stride,
               a_.column_stride, Min(range.end * plan_.tile_rows, rows) - row, k},
              packed + row * k, plan_.tile_rows);
    });
  }

  Status ComputeBlock(const Block& block, const T* packed_a) {
    Operands from;
    if (plan_.packs_a) {
      from.a = packed_a;
      from.a_tile_stride = plan_.tile_rows * (block.k_end - block.k);
      from.a_row_stride = 1;
      from.a_k_stride = plan_.tile_rows;
    } else {
      from.a = a_.data;
      from.a_tile_stride = plan_.tile_rows * a_.row_stride;
      from.a_row_stride = a_.row_stride;
      from.a_k_stride = a_.column_stride;
    }
    from.b = b_.data + block.k * b_.row_stride;
    from.b_panel_stride = kColumns * b_.column_stride;
    from.b_k_stride = b_.row_stride;
    const int64_t tiles = CeilDiv(block.row_end - block.row, plan_.tile_rows);
    const int64_t panels = CeilDiv(n_, kColumns);
    const int64_t tile_chunks = CeilDiv(tiles, plan_.chunk_tiles);
    const int64_t panel_chunks = CeilDiv(panels, plan_.chunk_panels);
    return ForEachChunk(call_, tile_chunks * panel_chunks, 1, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        const int64_t tile = i % tile_chunks * plan_.chunk_tiles;
        const int64_t panel = i / tile_chunks * plan_.chunk_panels;
        STILLFLOW_RETURN_IF_ERROR(ComputeChunk(block, from, {tile, Min(tile + plan_.chunk_tiles, tiles)},
                                               {panel, Min(panel + plan_.chunk_panels, panels)}));
      }
      return Status();
    });
  }

  Status ComputeChunk(const Block& block, const Operands& from, Range tiles, Range panels) {
    if constexpr (kTransposesInTiles) {
      if (plan_.transposes_b) {
        ComputeTransposedChunk(block, from, panels);
        return Status();
      }
    }
    if (plan_.packs_b) return ComputePackedChunk(block, from, tiles, panels);
    for (Block part = block; part.k < block.k_end; part.k += plan_.depth) {
      part.k_end = Min(part.k + plan_.depth, block.k_end);
      ComputeTiles(part, Advance(from, part.k - block.k), tiles, panels);
    }
    return Status();
  }

  Operands Advance(Operands from, int64_t k) {
    from.a += k * from.a_k_stride;
    from.b += k * from.b_k_stride;
    return from;
  }

  Status ComputePackedChunk(const Block& block, const Operands& from, Range tiles, Range panels) {
    const int64_t columns = Min(panels.end * kColumns, n_) - panels.begin * kColumns;
    const int64_t width = Min(kColumns, CeilDiv(columns, kLanes<T>) * kLanes<T>);
    const Scratch scratch(call_, CeilDiv(columns, width) * width * plan_.depth * kBytes);
    if (!scratch.ok()) return OutOfScratch();
    T* const packed_b = scratch.data<T>();
    for (Block part = block; part.k < block.k_end; part.k += plan_.depth) {
      part.k_end = Min(part.k + plan_.depth, block.k_end);
      const int64_t k = part.k_end - part.k;
      Operands packed = Advance(from, part.k - block.k);
      Pack<T>({packed.b + panels.begin * from.b_panel_stride, b_.column_stride, b_.row_stride, columns, k}, packed_b,
              width);
      packed.b = packed_b - panels.begin * width * k;
      packed.b_panel_stride = width * k;
      packed.b_k_stride = width;
      ComputeTiles(part, packed, tiles, panels);
    }
    return Status();
  }

  void ComputeTiles(const Block& block, const Operands& from, Range tiles, Range panels) {
    const int64_t vectors = CeilDiv(Min(panels.end * kColumns, n_), kLanes<T>);
    const int most_vectors = block.row_end - block.row <= kFewRows ? kFewRowsVectors : kPanelVectors;
    TileCall<T> tile;
    tile.k = block.k_end - block.k;
    tile.a_row_stride = from.a_row_stride;
    tile.a_k_stride = from.a_k_stride;
    tile.b_k_stride = from.b_k_stride;
    tile.b_panel_stride = from.b_panel_stride;
    tile.ldc = ldc_;
    tile.loads_c = accumulate_ || block.k > 0;
    for (int64_t i = tiles.begin; i < tiles.end; ++i) {
      const int64_t row = block.row + i * plan_.tile_rows;
      const int64_t rows = Min(plan_.tile_rows, block.row_end - row);
      tile.a = from.a + i * from.a_tile_stride;
      for (int64_t vector = panels.begin * kPanelVectors; vector < vectors;) {
        int width = most_vectors;
        while (width > vectors - vector) width /= 2;
        const int64_t column = vector * kLanes<T>;
        tile.last_lanes = static_cast<int>(Min(kLanes<T>, n_ - column - (width - 1) * kLanes<T>));
        tile.b = from.b + vector / kPanelVectors * from.b_panel_stride + vector % kPanelVectors * kLanes<T>;
        tile.c = c_ + row * ldc_ + column;
        const bool is_partial = tile.last_lanes < kLanes<T> && !plan_.packs_b;
        kTiles<T>.of[rows][width][from.a_row_stride == 1][is_partial](tile);
        vector += width;
      }
    }
  }

  void ComputeTransposedChunk(const Block& block, const Operands& from, Range panels) {
    static_assert(kFewRows == 3);
    const auto compute = m_ == 1   ? ComputeTransposedTile<T, 1>
                         : m_ == 2 ? ComputeTransposedTile<T, 2>
                                   : ComputeTransposedTile<T, 3>;
    TileCall<T> tile;
    tile.k = block.k_end - block.k;
    tile.a = from.a;
    tile.a_row_stride = from.a_row_stride;
    tile.a_k_stride = from.a_k_stride;
    tile.b_panel_stride = b_.column_stride;
    tile.ldc = ldc_;
    tile.loads_c = accumulate_ || block.k > 0;
    const int64_t end = Min(panels.end * kColumns, n_);
    for (int64_t column = panels.begin * kColumns; column < end; column += kTransposedColumns<T>) {
      tile.b = from.b + column * b_.column_stride;
      tile.c = c_ + block.row * ldc_ + column;
      compute(tile, static_cast<int>(Min(kTransposedColumns<T>, end - column)));
    }
  }

  const KernelCall& call_;
  const int64_t m_, n_, k_;
  const MatrixView<T> a_, b_;
  T* const c_;
  const int64_t ldc_;
  const bool accumulate_;
  const Plan plan_;
};

// ---- Few columns --------------------------------------------------------------------------------------------

constexpr int64_t kElementsPerChunk = 65536;

template <typename T>
bool IsBetterTransposed(int64_t m, int64_t n, int64_t k) {
  return n * kLanesForEachColumn <= kLanes<T> && m >= kLeastRowsToTranspose && k >= kLeastDepthToTranspose;
}

// The same product computed as c^T = b^T a^T, whose columns fill the vectors.
template <typename T>
Status MultiplyTransposed(const KernelCall& call, int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b,
                          T* c, int64_t ldc, bool accumulate) {
  const Scratch scratch(call, m * n * static_cast<int64_t>(sizeof(T)));
  if (!scratch.ok()) return OutOfScratch();
  T* transposed = scratch.data<T>();
  const int64_t chunk = CeilDiv(kElementsPerChunk, n);
  if (accumulate) {
    STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, m, chunk, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        for (int64_t j = 0; j < n; ++j) transposed[j * m + i] = c[i * ldc + j];
      }
    }));
  }
  STILLFLOW_RETURN_IF_ERROR(Gemm<T>(call, n, m, k, {b.data, b.column_stride, b.row_stride},
                                    {a.data, a.column_stride, a.row_stride}, transposed, m, accumulate));
  return ForEachChunk(call, m, chunk, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      for (int64_t j = 0; j < n; ++j) c[i * ldc + j] = transposed[j * m + i];
    }
  });
}

// ---- 16-bit floats ------------------------------------------------------------------------------------------

// A copy of `from` in floats, its rows contiguous, with rows and columns in the order of their strides.
template <typename T>
Status WidenMatrix(const KernelCall& call, int64_t rows, int64_t columns, MatrixView<T> from, float* to,
                   MatrixView<float>* widened) {
  if (from.column_stride != 1 && from.row_stride == 1) {
    MatrixView<float> transposed;
    STILLFLOW_RETURN_IF_ERROR(
        WidenMatrix<T>(call, columns, rows, {from.data, from.column_stride, 1}, to, &transposed));
    *widened = {to, 1, rows};
    return Status();
  }
  *widened = {to, columns, 1};
  return ForEachChunk(call, rows, CeilDiv(kElementsPerChunk, columns), [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const T* row = from.data + i * from.row_stride;
      if (from.column_stride == 1) {
        for (int64_t j = 0; j < columns; ++j) to[i * columns + j] = Widen(row[j]);
      } else {
        for (int64_t j = 0; j < columns; ++j) to[i * columns + j] = Widen(row[j * from.column_stride]);
      }
    }
  });
}

template <typename T>
Status MultiplyWidened(const KernelCall& call, int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b,
                       T* c, int64_t ldc, bool accumulate) {
  const Scratch scratch(call, (m * k + k * n + m * n) * static_cast<int64_t>(sizeof(float)));
  if (!scratch.ok()) return OutOfScratch();
  float* wide_a = scratch.data<float>();
  float* wide_b = wide_a + m * k;
  float* wide_c = wide_b + k * n;
  MatrixView<float> from_a, from_b, from_c;
  STILLFLOW_RETURN_IF_ERROR(WidenMatrix(call, m, k, a, wide_a, &from_a));
  STILLFLOW_RETURN_IF_ERROR(WidenMatrix(call, k, n, b, wide_b, &from_b));
  if (accumulate) STILLFLOW_RETURN_IF_ERROR(WidenMatrix(call, m, n, MatrixView<T>{c, ldc, 1}, wide_c, &from_c));
  STILLFLOW_RETURN_IF_ERROR(Gemm<float>(call, m, n, k, from_a, from_b, wide_c, n, accumulate));
  return ForEachChunk(call, m, CeilDiv(kElementsPerChunk, n), [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      for (int64_t j = 0; j < n; ++j) c[i * ldc + j] = Narrow<T>(wide_c[i * n + j]);
    }
  });
}

}  // namespace
}  // namespace gemm

template <typename T>
Status Gemm(const KernelCall& call, int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c,
            int64_t ldc, bool accumulate) {
  if (m == 0 || n == 0) return Status();
  if (k == 0) {
    if (accumulate) return Status();
    for (int64_t i = 0; i < m; ++i) std::memset(c + i * ldc, 0, n * sizeof(T));
    return Status();
  }
  if constexpr (sizeof(T) == 2) {
    return gemm::MultiplyWidened(call, m, n, k, a, b, c, ldc, accumulate);
  } else {
    if (n == 1 && m > 1 && ldc == 1) {  // a row times a matrix, which fills the vectors
      return Gemm<T>(call, 1, m, k, {b.data, 1, b.row_stride}, {a.data, a.column_stride, a.row_stride}, c, m,
                     accumulate);
    }
    if (gemm::IsBetterTransposed<T>(m, n, k)) {
      return gemm::MultiplyTransposed<T>(call, m, n, k, a, b, c, ldc, accumulate);
    }
    if (n == 1) b.column_stride = 1;
    if (m == 1) a.row_stride = 1;
    return gemm::Product<T>(call, m, n, k, a, b, c, ldc, accumulate).Compute();
  }
}

#define STILLFLOW_GEMM(T)                                                                                          \
  template Status Gemm<T>(const KernelCall&, int64_t, int64_t, int64_t, MatrixView<T>, MatrixView<T>, T*, int64_t, \
                          bool);
STILLFLOW_GEMM(float)
STILLFLOW_GEMM(double)
STILLFLOW_GEMM(Half)
STILLFLOW_GEMM(BFloat16)
STILLFLOW_GEMM(int32_t)
STILLFLOW_GEMM(int64_t)
#undef STILLFLOW_GEMM

}  // namespace stillflow
