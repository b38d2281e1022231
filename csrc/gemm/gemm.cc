#include "gemm/gemm.h"

#include "gemm/blocking.h"
#include "gemm/packing.h"
#include "gemm/tile.h"
#include "gemm/transposed_tile.h"

namespace stillflow {
namespace gemm {
namespace {

// ---- The tile for a size ------------------------------------------------------------------------------------

template <typename T>
struct TileTable {
  TileFunction<T> of[kMostTileRows + 1][kFewRowsVectors + 1][2][2];  // [rows][vectors][unit stride][partial loads]
};

template <typename T, int kRows, int kVectors>
constexpr void AddTiles(TileTable<T>* table) {
  auto& of = table->of[kRows][kVectors];
  of[0][1] = ComputeTile<T, kRows, kVectors, false, true>;
  of[1][1] = ComputeTile<T, kRows, kVectors, true, true>;
  of[0][0] = ComputeTile<T, kRows, kVectors, false, kPartialLoadsAreFree>;
  of[1][0] = ComputeTile<T, kRows, kVectors, true, kPartialLoadsAreFree>;
}

template <typename T, int kRows>
constexpr void AddTilesUpTo(TileTable<T>* table) {
  if constexpr (kRows > 0) {
    AddTiles<T, kRows, 1>(table);
    AddTiles<T, kRows, 2>(table);
    if constexpr (kRows <= kFewRows) {
      if constexpr (kFewRowsVectors >= 4) AddTiles<T, kRows, 4>(table);
      if constexpr (kFewRowsVectors >= 8) AddTiles<T, kRows, 8>(table);
    }
    AddTilesUpTo<T, kRows - 1>(table);
  }
}

template <typename T>
constexpr TileTable<T> MakeTileTable() {
  TileTable<T> table{};
  AddTilesUpTo<T, kMostTileRows>(&table);
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
        plan_(ChoosePlan<T>(m, n, k, a.row_stride, a.column_stride, b.row_stride, b.column_stride)) {}

  Status Compute() {
    const int64_t a_bytes = plan_.packs_a ? plan_.block_rows * plan_.block_k * kBytes : 0;
    const int64_t b_bytes = plan_.packs_b ? plan_.block_columns * plan_.block_k * kBytes : 0;
    if (a_bytes + b_bytes == 0) return ComputeBlock({0, m_, 0, n_, 0, k_}, nullptr, nullptr);
    const int64_t a_room = (a_bytes + 63) / 64 * 64;
    const Scratch scratch(call_, a_room + b_bytes);
    if (!scratch.ok()) return OutOfScratch();
    T* packed_a = scratch.data<T>();
    T* packed_b = packed_a + a_room / kBytes;
    for (int64_t column = 0; column < n_; column += plan_.block_columns) {
      for (int64_t l = 0; l < k_; l += plan_.block_k) {
        for (int64_t row = 0; row < m_; row += plan_.block_rows) {
          const Block block{row, Min(row + plan_.block_rows, m_), column, Min(column + plan_.block_columns, n_),
                            l,   Min(l + plan_.block_k, k_)};
          STILLFLOW_RETURN_IF_ERROR(PackBlock(block, row == 0, packed_a, packed_b));
          STILLFLOW_RETURN_IF_ERROR(ComputeBlock(block, packed_a, packed_b));
        }
      }
    }
    return Status();
  }

 private:
  static constexpr int64_t kBytes = sizeof(T);
  static constexpr int64_t kColumns = kPanelColumns<T>;

  struct Block {
    int64_t row, row_end, column, column_end, k, k_end;
  };

  // Where a block's tiles find their operands.
  struct Operands {
    const T* a;
    int64_t a_tile_stride, a_row_stride, a_k_stride;
    const T* b;
    int64_t b_panel_stride, b_k_stride;
  };

  Status PackBlock(const Block& block, bool is_new_b, T* packed_a, T* packed_b) {
    const int64_t k = block.k_end - block.k;
    const int64_t rows = block.row_end - block.row;
    const int64_t columns = block.column_end - block.column;
    const int64_t tiles = plan_.packs_a ? CeilDiv(rows, plan_.tile_rows) : 0;
    const int64_t panels = plan_.packs_b && is_new_b ? CeilDiv(columns, kColumns) : 0;
    const int64_t strips = Min(tiles + panels, CeilDiv(kPackedPerChunk, k * kColumns));
    return ForEachChunk(call_, tiles + panels, strips > 0 ? strips : 1, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        if (i < tiles) {
          const int64_t row = i * plan_.tile_rows;
          Pack<T>({a_.data + (block.row + row) * a_.row_stride + block.k * a_.column_stride, a_.row_stride,
                   a_.column_stride, Min(plan_.tile_rows, rows - row), k},
                  packed_a + row * k, plan_.tile_rows);
        } else {
          const int64_t column = (i - tiles) * kColumns;
          Pack<T>({b_.data + block.k * b_.row_stride + (block.column + column) * b_.column_stride, b_.column_stride,
                   b_.row_stride, Min(kColumns, columns - column), k},
                  packed_b + column * k, kColumns);
        }
      }
    });
  }

  Status ComputeBlock(const Block& block, const T* packed_a, const T* packed_b) {
    const int64_t k = block.k_end - block.k;
    Operands from;
    if (plan_.packs_a) {
      from.a = packed_a;
      from.a_tile_stride = plan_.tile_rows * k;
      from.a_row_stride = 1;
      from.a_k_stride = plan_.tile_rows;
    } else {
      from.a = a_.data + block.row * a_.row_stride + block.k * a_.column_stride;
      from.a_tile_stride = plan_.tile_rows * a_.row_stride;
      from.a_row_stride = a_.row_stride;
      from.a_k_stride = a_.column_stride;
    }
    if (plan_.packs_b) {
      from.b = packed_b;
      from.b_panel_stride = kColumns * k;
      from.b_k_stride = kColumns;
    } else {
      from.b = b_.data + block.k * b_.row_stride + block.column * b_.column_stride;
      from.b_panel_stride = kColumns * b_.column_stride;
      from.b_k_stride = b_.row_stride;
    }
    const int64_t tiles = CeilDiv(block.row_end - block.row, plan_.tile_rows);
    const int64_t panels = CeilDiv(block.column_end - block.column, kColumns);
    const int64_t tile_chunks = CeilDiv(tiles, plan_.chunk_tiles);
    const int64_t panel_chunks = CeilDiv(panels, plan_.chunk_panels);
    return ForEachChunk(call_, tile_chunks * panel_chunks, 1, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        const int64_t tile = i % tile_chunks * plan_.chunk_tiles;
        const int64_t panel = i / tile_chunks * plan_.chunk_panels;
        ComputeChunk(block, from, {tile, Min(tile + plan_.chunk_tiles, tiles)},
                     {panel, Min(panel + plan_.chunk_panels, panels)});
      }
    });
  }

  void ComputeChunk(const Block& block, const Operands& from, Range tiles, Range panels) {
    if constexpr (kTransposesInTiles) {
      if (plan_.transposes_b) return ComputeTransposedChunk(block, from, panels);
    }
    const int64_t k = block.k_end - block.k;
    const int64_t vectors = CeilDiv(Min(panels.end * kColumns, block.column_end - block.column), kLanes<T>);
    const bool is_low = block.row_end - block.row <= kFewRows;
    alignas(64) T local[kLocalBytes / kBytes];
    for (int64_t l = 0; l < k; l += plan_.depth) {
      TileCall<T> tile;
      tile.k = Min(plan_.depth, k - l);
      tile.a_row_stride = from.a_row_stride;
      tile.a_k_stride = from.a_k_stride;
      tile.ldc = ldc_;
      tile.loads_c = accumulate_ || block.k + l > 0;
      for (int64_t vector = panels.begin * kPanelVectors; vector < vectors;) {
        int width = kPanelVectors;
        if (vectors - vector < kPanelVectors) {
          width = 1;
        } else if (is_low) {
          while (width * 2 <= kFewRowsVectors && vector + width * 2 <= vectors) width *= 2;
        }
        const int64_t column = block.column + vector * kLanes<T>;
        const int64_t end = Min(column + width * kLanes<T>, block.column_end);
        tile.last_lanes = static_cast<int>(end - column - (width - 1) * kLanes<T>);
        tile.b_k_stride = from.b_k_stride;
        tile.b_panel_stride = from.b_panel_stride;
        tile.b = from.b + vector / kPanelVectors * from.b_panel_stride + l * from.b_k_stride;
        if (plan_.packs_b_locally) PackLocally(end - column, local, &tile);
        ComputeColumn(block, from, tiles, l, column, width, &tile);
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
    for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
      const int64_t column = block.column + panel * kColumns;
      const int columns = static_cast<int>(Min(kColumns, block.column_end - column));
      tile.b = from.b + panel * from.b_panel_stride;
      tile.c = c_ + block.row * ldc_ + column;
      compute(tile, columns);
    }
  }

  // Packs the columns of b that `tile` names, and names the copy instead.
  void PackLocally(int64_t columns, T* local, TileCall<T>* tile) {
    const int64_t panel_elements = tile->k * kColumns;
    for (int64_t column = 0; column < columns; column += kColumns) {
      Pack<T>({tile->b + column * b_.column_stride, b_.column_stride, b_.row_stride, Min(kColumns, columns - column),
               tile->k},
              local + column * tile->k, kColumns);
    }
    tile->b = local;
    tile->b_k_stride = kColumns;
    tile->b_panel_stride = panel_elements;
  }

  void ComputeColumn(const Block& block, const Operands& from, Range tiles, int64_t l, int64_t column, int width,
                     TileCall<T>* tile) {
    const bool is_partial = tile->last_lanes < kLanes<T> && !plan_.packs_b && !plan_.packs_b_locally;
    for (int64_t i = tiles.begin; i < tiles.end; ++i) {
      const int64_t row = block.row + i * plan_.tile_rows;
      const int64_t rows = Min(plan_.tile_rows, block.row_end - row);
      tile->a = from.a + i * from.a_tile_stride + l * from.a_k_stride;
      tile->c = c_ + row * ldc_ + column;
      kTiles<T>.of[rows][width][from.a_row_stride == 1][is_partial](*tile);
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
