#include "io/data.h"

#include <algorithm>
#include <vector>

#include "io/crc32c.h"
#include "kernel_api/kernel.h"

namespace stillflow::io {
namespace {

// What a thread does at a time: several huge pages, so that two threads seldom bring up the same one.
constexpr int64_t kChunkBytes = int64_t{8} << 20;
// What is read or written at a time: still in the cache when its checksum is taken.
constexpr int64_t kPieceBytes = int64_t{512} << 10;
constexpr int64_t kSmallBytes = 64 << 10;  // what is gathered with its neighbours

Status RunInOrder(void*, int64_t count, Status (*body)(void* arg, int64_t chunk), void* arg) {
  for (int64_t chunk = 0; chunk < count; ++chunk) STILLFLOW_RETURN_IF_ERROR(body(arg, chunk));
  return Status();
}

Status CheckCrc(uint32_t masked_crc, uint32_t actual) {
  const uint32_t stored = UnmaskCrc(masked_crc);
  if (stored == actual) return Status();
  return Error(Code::kDataLoss, "Checksum does not match: stored %u vs. calculated on the restored bytes %u", stored,
               actual);
}

Status CheckRange(const InputFile& file, int64_t offset, int64_t size) {
  if (offset <= file.size() && size <= file.size() - offset) return Status();
  return Error(Code::kOutOfRange, "Read less bytes than requested");
}

// Runs body(begin, size, &crc), which extends the checksum, for the pieces of [start, end) of a file, and joins the
// checksums. Pieces end where pages and runs of pages do, so that each of those is one thread's.
template <typename Body>
Status ForEachPiece(int64_t start, int64_t end, const Parallel& parallel, const Body& body, uint32_t* crc) {
  struct Work {
    const Body& body;
    int64_t start, end;
    int64_t first_chunk;
    std::vector<uint32_t> crcs;
    int64_t ChunkBegin(int64_t chunk) const { return std::max(start, (first_chunk + chunk) * kChunkBytes); }
    int64_t ChunkEnd(int64_t chunk) const { return std::min(end, (first_chunk + chunk + 1) * kChunkBytes); }
    static Status Run(void* self, int64_t chunk) {
      auto* work = static_cast<Work*>(self);
      const int64_t end = work->ChunkEnd(chunk);
      for (int64_t begin = work->ChunkBegin(chunk), next; begin < end; begin = next) {
        next = std::min(end, (begin / kPieceBytes + 1) * kPieceBytes);
        STILLFLOW_RETURN_IF_ERROR(work->body(begin, next - begin, &work->crcs[chunk]));
      }
      return Status();
    }
  };
  const int64_t first_chunk = start / kChunkBytes;
  const int64_t count = (end + kChunkBytes - 1) / kChunkBytes - first_chunk;
  Work work{body, start, end, first_chunk, std::vector<uint32_t>(count)};
  const Parallel& runner = count > 1 ? parallel : kSerial;
  STILLFLOW_RETURN_IF_ERROR(runner.run(runner.context, count, Work::Run, &work));
  *crc = 0;
  for (int64_t chunk = 0; chunk < count; ++chunk) {
    *crc = JoinCrc32c(*crc, work.crcs[chunk], work.ChunkEnd(chunk) - work.ChunkBegin(chunk));
  }
  return Status();
}

}  // namespace

const Parallel kSerial = {RunInOrder, nullptr};

// ---- Numbers ------------------------------------------------------------------------------------------------------

Status ReadData(const InputFile& file, int64_t offset, int64_t size, uint32_t masked_crc, void* to,
                const Parallel& parallel) {
  STILLFLOW_RETURN_IF_ERROR(CheckRange(file, offset, size));
  auto* bytes = static_cast<char*>(to);
  uint32_t actual = 0;
  const auto read = [&](int64_t begin, int64_t count, uint32_t* crc) {
    char* const to_piece = bytes + (begin - offset);
    Status status = file.Read(begin, to_piece, count);
    if (status.ok()) *crc = ExtendCrc32c(*crc, to_piece, count);
    return status;
  };
  STILLFLOW_RETURN_IF_ERROR(ForEachPiece(offset, offset + size, parallel, read, &actual));
  return CheckCrc(masked_crc, actual);
}

Status WriteData(OutputFile* file, const void* data, int64_t size, const Parallel& parallel, int64_t* offset,
                 uint32_t* masked_crc) {
  const auto* bytes = static_cast<const char*>(data);
  if (size < kSmallBytes) {
    *offset = file->size();
    *masked_crc = MaskCrc(Crc32c(data, size));
    return file->Append(Bytes(bytes, size));
  }
  STILLFLOW_RETURN_IF_ERROR(file->Reserve(size, offset));
  const int64_t start = *offset;
  uint32_t actual = 0;
  const auto write = [&](int64_t begin, int64_t count, uint32_t* crc) {
    const char* const piece = bytes + (begin - start);
    *crc = ExtendCrc32c(*crc, piece, count);
    return file->WritePiece(begin, piece, count);
  };
  STILLFLOW_RETURN_IF_ERROR(ForEachPiece(start, start + size, parallel, write, &actual));
  *masked_crc = MaskCrc(actual);
  return Status();
}

Status VisitData(const InputFile& file, int64_t offset, int64_t size, uint32_t masked_crc,
                 const std::function<void(int64_t, char*, int64_t)>& visit) {
  STILLFLOW_RETURN_IF_ERROR(CheckRange(file, offset, size));
  std::string piece;
  uint32_t actual = 0;
  for (int64_t begin = 0; begin < size; begin += kPieceBytes) {
    piece.resize(std::min(kPieceBytes, size - begin));
    STILLFLOW_RETURN_IF_ERROR(file.Read(offset + begin, &piece[0], static_cast<int64_t>(piece.size())));
    actual = ExtendCrc32c(actual, piece.data(), piece.size());
    visit(begin, &piece[0], static_cast<int64_t>(piece.size()));
  }
  return CheckCrc(masked_crc, actual);
}

int64_t MemoryBytes(DType dtype, int64_t count) { return count * ElementBytes(dtype); }

void SwapBytes(DType dtype, void* data, int64_t bytes) {
  int64_t unit = ElementBytes(dtype);
  if (dtype == DType::kComplex64 || dtype == DType::kComplex128) unit /= 2;
  if (unit < 2) return;
  auto* at = static_cast<char*>(data);
  for (char* const end = at + bytes; at + unit <= end; at += unit) std::reverse(at, at + unit);
}

// ---- Strings ------------------------------------------------------------------------------------------------------
//
// varint lengths; the masked checksum of the lengths, each as 4 or 8 bytes; the strings. The checksum of the whole
// goes on from that of the lengths.

namespace {

uint32_t ExtendByLength(uint32_t crc, uint64_t length, bool is_big_endian) {
  uint32_t half = static_cast<uint32_t>(length);
  if (length > UINT32_MAX) {
    if (is_big_endian) length = __builtin_bswap64(length);
    return ExtendCrc32c(crc, &length, sizeof length);
  }
  if (is_big_endian) half = __builtin_bswap32(half);
  return ExtendCrc32c(crc, &half, sizeof half);
}

// Takes bytes off the front of a range of a file.
class RangeReader {
 public:
  RangeReader(const InputFile& file, int64_t offset, int64_t size) : file_(file), offset_(offset), left_(size) {}

  Status Read(void* to, int64_t size) {
    auto* next = static_cast<char*>(to);
    if (size > left_) return Error(Code::kDataLoss, "The strings are longer than the space that they are stored in");
    left_ -= size;
    while (size > 0) {
      if (at_ == piece_.size()) STILLFLOW_RETURN_IF_ERROR(Fill(size + left_));
      const int64_t count = std::min<int64_t>(size, piece_.size() - at_);
      std::memcpy(next, piece_.data() + at_, count);
      at_ += count;
      next += count;
      size -= count;
    }
    return Status();
  }

  Status ReadVarint(uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      uint8_t byte = 0;
      STILLFLOW_RETURN_IF_ERROR(Read(&byte, 1));
      *value |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128) return Status();
    }
    return Error(Code::kDataLoss, "A string's length is no number");
  }

  int64_t left() const { return left_; }

 private:
  Status Fill(int64_t available) {
    piece_.resize(std::min(available, kPieceBytes));
    at_ = 0;
    STILLFLOW_RETURN_IF_ERROR(file_.Read(offset_, &piece_[0], static_cast<int64_t>(piece_.size())));
    offset_ += static_cast<int64_t>(piece_.size());
    return Status();
  }

  const InputFile& file_;
  int64_t offset_;
  int64_t left_;
  std::string piece_;
  size_t at_ = 0;
};

}  // namespace

Status WriteStrings(OutputFile* file, int64_t count, const StringSource& source, int64_t* offset, int64_t* size,
                    uint32_t* masked_crc) {
  *offset = file->size();
  std::string lengths;
  uint32_t crc = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t length = source(i).size;
    AppendVarint(length, &lengths);
    crc = ExtendByLength(crc, length, false);
  }
  std::string length_crc;
  AppendFixed32(MaskCrc(crc), &length_crc);
  crc = ExtendCrc32c(crc, length_crc.data(), length_crc.size());
  STILLFLOW_RETURN_IF_ERROR(file->Append(Bytes(lengths + length_crc)));
  for (int64_t i = 0; i < count; ++i) {
    const Bytes value = source(i);
    crc = ExtendCrc32c(crc, value.data, value.size);
    STILLFLOW_RETURN_IF_ERROR(file->Append(value));
  }
  *size = file->size() - *offset;
  *masked_crc = MaskCrc(crc);
  return Status();
}

Status ReadStrings(const InputFile& file, int64_t offset, int64_t size, uint32_t masked_crc, bool is_big_endian,
                   int64_t count, const StringSink& sink) {
  STILLFLOW_RETURN_IF_ERROR(CheckRange(file, offset, size));
  if (count > size)
    return Error(Code::kDataLoss, "The entry is too small for %lld strings", static_cast<long long>(count));
  RangeReader reader(file, offset, size);
  std::vector<uint64_t> lengths(count);
  uint32_t crc = 0;
  for (uint64_t& length : lengths) {
    STILLFLOW_RETURN_IF_ERROR(reader.ReadVarint(&length));
    crc = ExtendByLength(crc, length, is_big_endian);
  }
  uint32_t stored = 0;
  STILLFLOW_RETURN_IF_ERROR(reader.Read(&stored, sizeof stored));
  const uint32_t expected = UnmaskCrc(is_big_endian ? __builtin_bswap32(stored) : stored);
  if (expected != crc) {
    return Error(Code::kDataLoss, "The length checksum does not match: expected %u but actual is %u", expected, crc);
  }
  crc = ExtendCrc32c(crc, &stored, sizeof stored);
  std::string value;
  for (int64_t i = 0; i < count; ++i) {
    if (lengths[i] > static_cast<uint64_t>(reader.left())) {
      return Error(Code::kDataLoss, "The strings are longer than the space that they are stored in");
    }
    value.resize(lengths[i]);
    STILLFLOW_RETURN_IF_ERROR(reader.Read(&value[0], static_cast<int64_t>(value.size())));
    crc = ExtendCrc32c(crc, value.data(), value.size());
    if (!sink(i, Bytes(value))) return Error(Code::kResourceExhausted, "OOM when restoring strings");
  }
  return CheckCrc(masked_crc, crc);
}

// ---- Slices -------------------------------------------------------------------------------------------------------

SliceCopy::SliceCopy(const TensorSlice& stored, const TensorSlice& wanted, int64_t element_bytes, void* to)
    : run_bytes_(element_bytes), to_(static_cast<char*>(to)) {
  TensorSlice common;
  is_done_ = !Intersect(stored, wanted, &common);
  if (is_done_) return;
  int64_t stride_from = element_bytes, stride_to = element_bytes;
  bool lies_together = true;
  for (size_t i = stored.rank(); i-- > 0;) {
    const Extent &from = stored.extents[i], &into = wanted.extents[i], &both = common.extents[i];
    from_ += (both.start - from.start) * stride_from;
    to_ += (both.start - into.start) * stride_to;
    if (lies_together) {
      run_bytes_ *= both.length;
    } else {
      axes_.push_back({both.length, stride_from, stride_to});
    }
    lies_together = lies_together && both.length == from.length && both.length == into.length;
    stride_from *= from.length;
    stride_to *= into.length;
  }
}

void SliceCopy::NextRun() {
  for (Axis& axis : axes_) {  // the innermost one first
    from_ += axis.stride_from;
    to_ += axis.stride_to;
    if (++axis.index < axis.length) return;
    from_ -= axis.length * axis.stride_from;
    to_ -= axis.length * axis.stride_to;
    axis.index = 0;
  }
  is_done_ = true;
}

void SliceCopy::Take(int64_t offset, const char* bytes, int64_t size) {
  while (!is_done_ && from_ < offset + size) {
    const int64_t begin = std::max(from_, offset);
    const int64_t end = std::min(from_ + run_bytes_, offset + size);
    if (begin < end) std::memcpy(to_ + (begin - from_), bytes + (begin - offset), end - begin);
    if (from_ + run_bytes_ > offset + size) return;  // the rest of this run comes later
    NextRun();
  }
}

}  // namespace stillflow::io
