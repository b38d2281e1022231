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
  auto& of = table->of[kRows][kVectors];
  of[0][0] = ComputeTile<T, kRows, kVectors, false, false>;
  of[0][1] = ComputeTile<T, kRows, kVectors, false, true>;
  of[1][0] = ComputeTile<T, kRows, kVectors, true, false>;
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

// ---- Panels of a source as packed strips -------------------------------------------------------------------------

// Packs up to `to_width` lines. `panel` is memory for `to_width` lines, `panel_stride` apart.
template <typename T>
void PackPanel(const PanelSource<T>& source, Range lines, Range k, T* panel, int64_t panel_stride, T* to,
               int64_t to_width) {
  const int64_t count = lines.end - lines.begin;
  if (source.order() == PanelSource<T>::Order::kAlongK) {
    source.Copy(lines, k, panel, panel_stride);
    return PackTransposed<T>({panel, panel_stride, 1, count, k.end - k.begin}, to, to_width);
  }
  source.Copy(lines, k, to, to_width);
  for (int64_t l = 0; count < to_width && l < k.end - k.begin; ++l) {
    std::memset(to + l * to_width + count, 0, (to_width - count) * sizeof(T));
  }
}

// ---- One product --------------------------------------------------------------------------------------------

template <typename T>
class Product {
 public:
  Product(const KernelCall& call, int64_t m, int64_t n, int64_t k, const Lines<T>& a, const Lines<T>& b, T* c,
          int64_t ldc, bool accumulate, int64_t k_block)
      : call_(call),
        m_(m),
        n_(n),
        k_(k),
        a_(a),
        b_(b),
        c_(c),
        ldc_(ldc),
        accumulate_(accumulate),
        k_block_(k_block),
        plan_(ChoosePlan<T>(m, n, k, k_block, a, b, call.services->thread_count(call.run))) {}

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
      Pack<T>({a_.data + (block.row + row) * a_.stride + block.k * a_.k_stride, a_.stride, a_.k_stride,
               Min(range.end * plan_.tile_rows, rows) - row, k},
              packed + row * k, plan_.tile_rows);
    });
  }

  Status ComputeBlock(const Block& block, const T* packed_a) {
    const int64_t tiles = CeilDiv(block.row_end - block.row, plan_.tile_rows);
    const int64_t panels = CeilDiv(n_, kColumns);
    const int64_t tile_chunks = CeilDiv(tiles, plan_.chunk_tiles);
    const int64_t panel_chunks = CeilDiv(panels, plan_.chunk_panels);
    return ForEachChunk(call_, tile_chunks * panel_chunks, 1, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        const int64_t tile = i % tile_chunks * plan_.chunk_tiles;
        const int64_t panel = i / tile_chunks * plan_.chunk_panels;
        STILLFLOW_RETURN_IF_ERROR(ComputeChunk(block, packed_a, {tile, Min(tile + plan_.chunk_tiles, tiles)},
                                               {panel, Min(panel + plan_.chunk_panels, panels)}));
      }
      return Status();
    });
  }

  Status ComputeChunk(const Block& block, const T* packed_a, Range tiles, Range panels) {
    if constexpr (kTransposesInTiles) {
      if (plan_.transposes_b) {
        ComputeTransposedChunk(block, InPlace(block, block, packed_a), panels);
        return Status();
      }
    }
    const Range columns = {panels.begin * kColumns, Min(panels.end * kColumns, n_)};
    const int64_t packed_b = plan_.packs_b ? PackedCount(columns) : 0;
    const int64_t panel_a = plan_.has_panels_a ? kPanelLines * PanelStride() : 0;
    const int64_t panel_b = b_.source != nullptr ? kColumns * PanelStride() : 0;
    if (packed_b + panel_a == 0) {
      ComputeParts(block, packed_a, tiles, panels, nullptr, nullptr, nullptr);
      return Status();
    }
    const Scratch scratch(call_, (packed_b + panel_a + panel_b) * kBytes);
    if (!scratch.ok()) return OutOfScratch();
    T* const copies = scratch.data<T>();
    ComputeParts(block, packed_a, tiles, panels, copies, copies + packed_b, copies + packed_b + panel_a);
    return Status();
  }

  // One part of k after the other. The last three are memory for copies, for what the plan says is copied.
  void ComputeParts(const Block& block, const T* packed_a, Range tiles, Range panels, T* packed_b, T* panel_a,
                    T* panel_b) {
    for (Block part = block; part.k < block.k_end; part.k += plan_.depth) {
      part.k_end = Min(part.k + plan_.depth, block.k_end);
      Operands from = InPlace(block, part, packed_a);
      if (plan_.packs_b) PackB(part, panels, packed_b, panel_b, &from);
      if (plan_.has_panels_a) {
        ComputeWithPanels(part, from, tiles, panels, panel_a);
      } else {
        ComputeTiles(part, from, tiles, panels);
      }
    }
  }

  // Where the operands lie for a part of k in a block, if they are not copied in the chunk.
  Operands InPlace(const Block& block, const Block& part, const T* packed_a) {
    Operands from{};
    if (plan_.packs_a) {
      from.a_row_stride = 1;
      from.a_k_stride = plan_.tile_rows;
      from.a_tile_stride = plan_.tile_rows * (block.k_end - block.k);
      from.a = packed_a + (part.k - block.k) * from.a_k_stride;
    } else if (!plan_.has_panels_a) {
      from.a_row_stride = a_.stride;
      from.a_k_stride = a_.k_stride;
      from.a_tile_stride = plan_.tile_rows * a_.stride;
      from.a = a_.data + part.k * a_.k_stride;
    }
    if (!plan_.packs_b) {
      from.b = b_.data + part.k * b_.k_stride;
      from.b_panel_stride = kColumns * b_.stride;
      from.b_k_stride = b_.k_stride;
    }
    return from;
  }

  // Lines of a panel along k do not lie a power of two apart, where they would compete for the same lines of cache.
  int64_t PanelStride() const { return plan_.depth + kLanes<T>; }

  int64_t PackedWidth(Range columns) const {
    return Min(kColumns, CeilDiv(columns.end - columns.begin, kLanes<T>) * kLanes<T>);
  }
  int64_t PackedCount(Range columns) const {
    const int64_t width = PackedWidth(columns);
    return CeilDiv(columns.end - columns.begin, width) * width * plan_.depth;
  }

  void PackB(const Block& part, Range panels, T* packed, T* panel, Operands* from) {
    const Range columns = {panels.begin * kColumns, Min(panels.end * kColumns, n_)};
    const int64_t width = PackedWidth(columns);
    const int64_t k = part.k_end - part.k;
    if (b_.source == nullptr) {
      Pack<T>({b_.data + columns.begin * b_.stride + part.k * b_.k_stride, b_.stride, b_.k_stride,
               columns.end - columns.begin, k},
              packed, width);
    } else {
      for (int64_t first = columns.begin; first < columns.end; first += width) {
        PackPanel<T>(*b_.source, {first, Min(first + width, columns.end)}, {part.k, part.k_end}, panel, PanelStride(),
                     packed + (first - columns.begin) * k, width);
      }
    }
    from->b = packed - panels.begin * width * k;
    from->b_panel_stride = width * k;
    from->b_k_stride = width;
  }

  // Tiles read panels of a as the source writes them, in either order.
  void ComputeWithPanels(const Block& part, Operands from, Range tiles, Range panels, T* panel) {
    const bool is_along_k = a_.source->order() == PanelSource<T>::Order::kAlongK;
    const int64_t stride = is_along_k ? PanelStride() : kPanelLines;
    from.a_row_stride = is_along_k ? stride : 1;
    from.a_k_stride = is_along_k ? 1 : stride;
    from.a_tile_stride = plan_.tile_rows * from.a_row_stride;
    const int64_t most_tiles = kPanelLines / plan_.tile_rows;
    for (Range group = tiles; group.begin < tiles.end; group.begin += most_tiles) {
      group.end = Min(group.begin + most_tiles, tiles.end);
      const Range lines = {part.row + group.begin * plan_.tile_rows,
                           Min(part.row + group.end * plan_.tile_rows, part.row_end)};
      a_.source->Copy(lines, {part.k, part.k_end}, panel, stride);
      from.a = panel - group.begin * from.a_tile_stride;
      ComputeTiles(part, from, group, panels);
    }
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
    tile.adds_c = k_block_ != 0 && (accumulate_ || block.k > 0);
    tile.loads_c = k_block_ == 0 && (accumulate_ || block.k > 0);
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
    tile.b_panel_stride = b_.stride;
    tile.ldc = ldc_;
    tile.adds_c = k_block_ != 0 && (accumulate_ || block.k > 0);
    tile.loads_c = k_block_ == 0 && (accumulate_ || block.k > 0);
    const int64_t end = Min(panels.end * kColumns, n_);
    for (int64_t column = panels.begin * kColumns; column < end; column += kTransposedColumns<T>) {
      tile.b = from.b + column * b_.stride;
      tile.c = c_ + block.row * ldc_ + column;
      compute(tile, static_cast<int>(Min(kTransposedColumns<T>, end - column)));
    }
  }

  const KernelCall& call_;
  const int64_t m_, n_, k_;
  const Lines<T> a_, b_;
  T* const c_;
  const int64_t ldc_;
  const bool accumulate_;
  const int64_t k_block_;
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
Status MultiplyTransposed(const KernelCall& call, int64_t m, int64_t n, int64_t k, const Lines<T>& a,
                          const Lines<T>& b, T* c, int64_t ldc, bool accumulate, int64_t k_block) {
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
  STILLFLOW_RETURN_IF_ERROR(Multiply<T>(call, n, m, k, b, a, transposed, m, accumulate, k_block));
  return ForEachChunk(call, m, chunk, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      for (int64_t j = 0; j < n; ++j) c[i * ldc + j] = transposed[j * m + i];
    }
  });
}

// ---- Integers -----------------------------------------------------------------------------------------------

// Their products are rare, and wrap around in any order: plain loops.
template <typename T>
Status MultiplyIntegers(const KernelCall& call, int64_t m, int64_t n, int64_t k, const Lines<T>& a, const Lines<T>& b,
                        T* c, int64_t ldc, bool accumulate) {
  using Word = std::make_unsigned_t<T>;
  return ForEachChunk(call, m, CeilDiv(kElementsPerChunk, n * k), [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      Word* const to = reinterpret_cast<Word*>(c) + i * ldc;
      if (!accumulate) std::memset(to, 0, n * sizeof(T));
      for (int64_t l = 0; l < k; ++l) {
        const auto factor = static_cast<Word>(a.data[i * a.stride + l * a.k_stride]);
        const T* const row = b.data + l * b.k_stride;
        if (b.stride == 1) {
          for (int64_t j = 0; j < n; ++j) to[j] += factor * static_cast<Word>(row[j]);
        } else {
          for (int64_t j = 0; j < n; ++j) to[j] += factor * static_cast<Word>(row[j * b.stride]);
        }
      }
    }
  });
}

// ---- 16-bit floats ------------------------------------------------------------------------------------------

// Lines of a 16-bit type, widened panel by panel.
template <typename T>
class WidenedSource final : public PanelSource<float> {
 public:
  explicit WidenedSource(const Lines<T>& from) : PanelSource<float>(OrderOf(from)), from_(from) {}

  void Copy(Range lines, Range k, float* to, int64_t stride) const override {
    const bool is_along_k = order() == Order::kAlongK;
    const Range outer = is_along_k ? lines : k, inner = is_along_k ? k : lines;
    for (int64_t i = outer.begin; i < outer.end; ++i) {
      for (int64_t j = inner.begin; j < inner.end; j += kPiece) {
        const int64_t count = Min(kPiece, inner.end - j);
        Widened(i, {j, j + count}, to + (i - outer.begin) * stride + (j - inner.begin));
      }
    }
  }

 private:
  static constexpr int64_t kPiece = 1024;

  static Order OrderOf(const Lines<T>& from) {
    if (from.source == nullptr) return from.k_stride == 1 ? Order::kAlongK : Order::kAlongLines;
    return from.source->order() == PanelSource<T>::Order::kAlongK ? Order::kAlongK : Order::kAlongLines;
  }

  // Some neighbouring elements of a line, or of one place of lines.
  void Widened(int64_t i, Range range, float* to) const {
    const bool is_along_k = order() == Order::kAlongK;
    T copied[kPiece];
    const T* from = copied;
    int64_t stride = 1;
    if (from_.source == nullptr) {
      stride = is_along_k ? from_.k_stride : from_.stride;
      from = from_.data + i * (is_along_k ? from_.stride : from_.k_stride) + range.begin * stride;
    } else if (is_along_k) {
      from_.source->Copy({i, i + 1}, range, copied, kPiece);
    } else {
      from_.source->Copy(range, {i, i + 1}, copied, kPiece);
    }
    const int64_t count = range.end - range.begin;
    if (stride == 1) {
      for (int64_t j = 0; j < count; ++j) to[j] = Widen(from[j]);
    } else {
      for (int64_t j = 0; j < count; ++j) to[j] = Widen(from[j * stride]);
    }
  }

  const Lines<T> from_;
};

template <typename T>
Status MultiplyWidened(const KernelCall& call, int64_t m, int64_t n, int64_t k, const Lines<T>& a, const Lines<T>& b,
                       T* c, int64_t ldc, bool accumulate, int64_t k_block) {
  const Scratch scratch(call, m * n * static_cast<int64_t>(sizeof(float)));
  if (!scratch.ok()) return OutOfScratch();
  float* wide_c = scratch.data<float>();
  const int64_t chunk = CeilDiv(kElementsPerChunk, n);
  if (accumulate) {
    STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, m, chunk, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        for (int64_t j = 0; j < n; ++j) wide_c[i * n + j] = Widen(c[i * ldc + j]);
      }
    }));
  }
  const WidenedSource<T> wide_a(a), wide_b(b);
  STILLFLOW_RETURN_IF_ERROR(
      Multiply<float>(call, m, n, k, LinesOf<float>(wide_a), LinesOf<float>(wide_b), wide_c, n, accumulate, k_block));
  return ForEachChunk(call, m, chunk, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      for (int64_t j = 0; j < n; ++j) c[i * ldc + j] = Narrow<T>(wide_c[i * n + j]);
    }
  });
}

}  // namespace

template <typename T>
Status Multiply(const KernelCall& call, int64_t m, int64_t n, int64_t k, Lines<T> a, Lines<T> b, T* c, int64_t ldc,
                bool accumulate, int64_t k_block) {
  if (m == 0 || n == 0) return Status();
  if (k == 0) {
    if (accumulate) return Status();
    for (int64_t i = 0; i < m; ++i) std::memset(c + i * ldc, 0, n * sizeof(T));
    return Status();
  }
  if constexpr (sizeof(T) == 2) {
    return MultiplyWidened(call, m, n, k, a, b, c, ldc, accumulate, k_block);
  } else if constexpr (std::is_integral_v<T>) {
    return MultiplyIntegers(call, m, n, k, a, b, c, ldc, accumulate);
  } else {
    if (n == 1 && m > 1 && ldc == 1) {  // a row times a matrix, which fills the vectors
      b.stride = 1;
      return Multiply<T>(call, 1, m, k, b, a, c, m, accumulate, k_block);
    }
    if (IsBetterTransposed<T>(m, n, k))
      return MultiplyTransposed<T>(call, m, n, k, a, b, c, ldc, accumulate, k_block);
    if (n == 1) b.stride = 1;
    if (m == 1) a.stride = 1;
    return Product<T>(call, m, n, k, a, b, c, ldc, accumulate, k_block).Compute();
  }
}

#define STILLFLOW_GEMM(T)                                                                                          \
  template Status Multiply<T>(const KernelCall&, int64_t, int64_t, int64_t, Lines<T>, Lines<T>, T*, int64_t, bool, \
                              int64_t);
STILLFLOW_GEMM(float)
STILLFLOW_GEMM(double)
STILLFLOW_GEMM(Half)
STILLFLOW_GEMM(BFloat16)
STILLFLOW_GEMM(int32_t)
STILLFLOW_GEMM(int64_t)
#undef STILLFLOW_GEMM

}  // namespace gemm
}  // namespace stillflow
