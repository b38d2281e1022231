// fingerprint: a hash of each row of a tensor.
//
//   in[0]   any numbers or strings, of rank 1 or more
//   in[1]   string: the kind, "farmhash64"
//   out[0]  uint8 of shape [rows, 8]: FarmHash's Fingerprint64, its lowest byte first. Rows of several strings: of
//           the fingerprints of the strings.
#include "io/fingerprint.h"

#include <algorithm>
#include <string>

#include "kernels/guarded.h"

namespace stillflow {
namespace {

constexpr int64_t kBytes = sizeof(uint64_t);

void Write(uint64_t fingerprint, uint8_t* out) {
  for (int64_t i = 0; i < kBytes; ++i) out[i] = static_cast<uint8_t>(fingerprint >> (8 * i));
}

uint64_t OfStrings(const Tensor& data, int64_t first, int64_t count) {
  if (count == 1) return io::Fingerprint64(StringAt(data, first));
  std::string row(static_cast<size_t>(count * kBytes), 0);
  for (int64_t i = 0; i < count; ++i) {
    Write(io::Fingerprint64(StringAt(data, first + i)), reinterpret_cast<uint8_t*>(row.data()) + i * kBytes);
  }
  return io::Fingerprint64(io::Bytes(row));
}

Status Fingerprint(const KernelCall& call) {
  constexpr int64_t kElementsPerChunk = 4096;
  const Tensor& data = *call.in[0];
  const Tensor& method = *call.in[1];
  const bool is_text = data.dtype == DType::kString;
  if (!is_text && (HasCells(data.dtype) || data.dtype == DType::kResource)) {
    return STILLFLOW_INVALID_ARGUMENT("Data type not supported: %s", Name(data.dtype));
  }
  if (method.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("`method` should be a scalar string: %s", ShapeText(method).c_str());
  }
  const std::string name = StringAt(method, 0).ToString();
  if (name != "farmhash64") return STILLFLOW_INVALID_ARGUMENT("Unsupported fingerprint method: %s", name.c_str());
  if (data.rank == 0) {
    return STILLFLOW_INVALID_ARGUMENT("`data` should have at least one dimension: %s", ShapeText(data).c_str());
  }
  const int64_t rows = data.dims[0];
  const int64_t row_size = rows == 0 ? 0 : data.count / rows;
  Shape shape;
  shape.Add(rows);
  shape.Add(kBytes);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kUInt8, shape));
  auto* out = MutableData<uint8_t>(*call.out[0]);
  const int64_t row_bytes = is_text ? 0 : row_size * ElementBytes(data.dtype);
  const int64_t rows_per_chunk = std::max<int64_t>(1, kElementsPerChunk / std::max<int64_t>(1, row_size));
  return ForEachChunk(call, rows, rows_per_chunk, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const char* const row = static_cast<const char*>(data.data) + i * row_bytes;
      Write(is_text ? OfStrings(data, i * row_size, row_size)
                    : io::Fingerprint64({row, static_cast<size_t>(row_bytes)}),
            out + i * kBytes);
    }
  });
}

}  // namespace

STILLFLOW_KERNELS(strings, fingerprint){{"fingerprint", "data, method", Guarded<Fingerprint>}, {}};

}  // namespace stillflow
