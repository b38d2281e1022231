// channels_last.h: images as kernels take them, with channels last, whatever their format is.
//
// Of images with channels first there is a copy for as long as the kernel runs. So that both formats have the same
// bits is true by construction.
#pragma once

#include "arithmetic/window/axis.h"
#include "memory/strided_copy.h"

namespace stillflow {

// to[b, column, row] = from[b, row, column].
inline Status TransposeEach(const KernelCall& call, int64_t batch, int64_t rows, int64_t columns,
                            int64_t element_bytes, const void* from, void* to) {
  StridedCopy copy;
  copy.Add(batch, rows * columns, rows * columns);
  copy.Add(columns, 1, rows);
  copy.Add(rows, columns, 1);
  return copy.Count() == 0 ? Status() : CopyStrided(call, copy, element_bytes, from, to);
}

// Images that are read.
class ChannelsLast {
 public:
  ChannelsLast() = default;
  ~ChannelsLast() {
    if (copy_ != nullptr) Release(copy_);
  }
  ChannelsLast(const ChannelsLast&) = delete;
  ChannelsLast& operator=(const ChannelsLast&) = delete;

  Status Read(const KernelCall& call, const Tensor& images, const ImageFormat& format) {
    data_ = images.data;
    if (!format.is_channels_first) return Status();
    copy_ = call.services->allocate(images.count * ElementBytes(images.dtype));
    if (copy_ == nullptr) return OutOfScratch();
    data_ = copy_->data;
    const int64_t pixels = Shape(images).Count(2, images.rank);
    return TransposeEach(call, images.dims[0], images.dims[1], pixels, ElementBytes(images.dtype), images.data,
                         copy_->data);
  }

  template <typename T>
  const T* data() const {
    return static_cast<const T*>(data_);
  }

 private:
  Buffer* copy_ = nullptr;
  const void* data_ = nullptr;
};

// Images that are written: memory for them with channels last, and then, by Finish, an output of the call.
class ChannelsLastOutput {
 public:
  ChannelsLastOutput() = default;
  ~ChannelsLastOutput() {
    if (memory_ != nullptr) Release(memory_);
  }
  ChannelsLastOutput(const ChannelsLastOutput&) = delete;
  ChannelsLastOutput& operator=(const ChannelsLastOutput&) = delete;

  // For an output that is allocated already.
  Status Begin(const KernelCall& call, Tensor* output, const ImageFormat& format) {
    output_ = output;
    data_ = output->data;
    if (!format.is_channels_first) return Status();
    memory_ = call.services->allocate(output->count * ElementBytes(output->dtype));
    if (memory_ == nullptr) return OutOfScratch();
    data_ = memory_->data;
    return Status();
  }

  template <typename T>
  T* data() const {
    return static_cast<T*>(data_);
  }

  Status Finish(const KernelCall& call) {
    if (memory_ == nullptr) return Status();
    const int64_t pixels = Shape(*output_).Count(2, output_->rank);
    return TransposeEach(call, output_->dims[0], pixels, output_->dims[1], ElementBytes(output_->dtype),
                         memory_->data, output_->data);
  }

 private:
  Tensor* output_ = nullptr;
  Buffer* memory_ = nullptr;
  void* data_ = nullptr;
};

}  // namespace stillflow
