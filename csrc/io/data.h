// data.h: the bytes of tensors between memory and data files, with their checksums, in chunks that threads share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "io/file.h"
#include "io/tensor_slice.h"
#include "kernel_api/abi.h"

namespace stillflow::io {

// How to run body(arg, chunk) for all chunks, possibly by several threads.
struct Parallel {
  Status (*run)(void* context, int64_t count, Status (*body)(void* arg, int64_t chunk), void* arg);
  void* context;
};
extern const Parallel kSerial;

// Reads a range of the file into memory and checks it. DataLoss if it is not what was stored.
Status ReadData(const InputFile& file, int64_t offset, int64_t size, uint32_t masked_crc, void* to,
                const Parallel& parallel);

// Writes to the end of the file, and says where, and with which checksum.
Status WriteData(OutputFile* file, const void* data, int64_t size, const Parallel& parallel, int64_t* offset,
                 uint32_t* masked_crc);

// Gives out the elements of a string tensor, and takes them; false if there is no memory.
using StringSource = std::function<Bytes(int64_t index)>;
using StringSink = std::function<bool(int64_t index, Bytes value)>;

Status WriteStrings(OutputFile* file, int64_t count, const StringSource& source, int64_t* offset, int64_t* size,
                    uint32_t* masked_crc);
Status ReadStrings(const InputFile& file, int64_t offset, int64_t size, uint32_t masked_crc, bool is_big_endian,
                   int64_t count, const StringSink& sink);

// The bytes of so many elements in memory.
int64_t MemoryBytes(DType dtype, int64_t count);

// Turns the bytes of each element around; of complex numbers those of each half.
void SwapBytes(DType dtype, void* data, int64_t bytes);

// Copies what a stored slice has of a wanted one, of the stored bytes as they come along. Both are resolved, and have
// something in common.
class SliceCopy {
 public:
  SliceCopy(const TensorSlice& stored, const TensorSlice& wanted, int64_t element_bytes, void* to);
  // Brings the stored bytes [offset, offset + size); `offset` only ever grows.
  void Take(int64_t offset, const char* bytes, int64_t size);

 private:
  void NextRun();

  struct Axis {
    int64_t length;
    int64_t stride_from;
    int64_t stride_to;
    int64_t index = 0;
  };
  std::vector<Axis> axes_;  // those outside of what lies together in both
  int64_t run_bytes_;
  int64_t from_ = 0;
  char* to_;
  bool is_done_ = false;
};

// Like ReadData, but gives the bytes to `visit(offset, bytes, size)` piece by piece. What the visitor has done of
// damaged data has to be forgotten.
Status VisitData(const InputFile& file, int64_t offset, int64_t size, uint32_t masked_crc,
                 const std::function<void(int64_t, char*, int64_t)>& visit);

}  // namespace stillflow::io
