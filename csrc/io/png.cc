#include "io/png.h"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace stillflow::io {
namespace {

constexpr size_t kChunkBytes = 8192;  // libpng's
enum Filter { kNone, kSub, kUp, kAverage, kPaeth, kFilterCount };

void AppendBigEndian(uint32_t value, std::string* out) {
  for (int shift = 24; shift >= 0; shift -= 8) out->push_back(static_cast<char>(value >> shift));
}

void AppendChunk(const char* type, const char* data, size_t size, std::string* out) {
  AppendBigEndian(static_cast<uint32_t>(size), out);
  const size_t begin = out->size();
  out->append(type, 4);
  out->append(data, size);
  const auto* bytes = reinterpret_cast<const Bytef*>(out->data() + begin);
  AppendBigEndian(static_cast<uint32_t>(crc32(0, bytes, static_cast<uInt>(size + 4))), out);
}

uint8_t Paeth(int left, int above, int corner) {
  const int to_left = std::abs(above - corner);
  const int to_above = std::abs(left - corner);
  const int to_corner = std::abs(left + above - 2 * corner);
  if (to_left <= to_above && to_left <= to_corner) return static_cast<uint8_t>(left);
  return static_cast<uint8_t>(to_above <= to_corner ? above : corner);
}

// A filtered row: its filter's number, then the differences from what the filter predicts. Returns how far from zero
// the differences are in sum: libpng takes the filter where that is least.
size_t FilterRow(Filter filter, const uint8_t* row, const uint8_t* above, size_t size, size_t pixel_bytes,
                 uint8_t* out) {
  size_t sum = 0;
  out[0] = filter;
  for (size_t i = 0; i < size; ++i) {
    const int left = i >= pixel_bytes ? row[i - pixel_bytes] : 0;
    const int corner = i >= pixel_bytes ? above[i - pixel_bytes] : 0;
    int predicted = 0;
    if (filter == kSub) predicted = left;
    if (filter == kUp) predicted = above[i];
    if (filter == kAverage) predicted = (left + above[i]) / 2;
    if (filter == kPaeth) predicted = Paeth(left, above[i], corner);
    const auto difference = static_cast<uint8_t>(row[i] - predicted);
    out[i + 1] = difference;
    sum += difference < 128 ? difference : 256 - difference;
  }
  return sum;
}

// The smallest window of zlib's that holds all of the image.
int WindowBits(uint64_t image_bytes) {
  int bits = 15;
  if (image_bytes <= 16384) {
    uint64_t half = uint64_t{1} << (bits - 1);
    while (image_bytes + 262 <= half) {
      half >>= 1;
      --bits;
    }
  }
  return bits < 8 ? 8 : bits;
}

// Says in the stream's header how small a window is enough to read it.
void ShrinkWindow(uint64_t image_bytes, std::string* stream) {
  auto* header = reinterpret_cast<uint8_t*>(stream->data());
  unsigned method = header[0];
  if (image_bytes > 16384 || (method & 0x0F) != 8 || (method & 0xF0) > 0x70) return;
  unsigned info = method >> 4;
  uint64_t half = uint64_t{1} << (info + 7);
  if (image_bytes > half) return;
  do {
    half >>= 1;
    --info;
  } while (info > 0 && image_bytes <= half);
  method = (method & 0x0F) | info << 4;
  const unsigned flags = header[1] & 0xE0;
  header[0] = static_cast<uint8_t>(method);
  header[1] = static_cast<uint8_t>(flags + 0x1F - ((method << 8) + flags) % 0x1F);
}

// One deflate stream that grows with what is put in.
class Deflater {
 public:
  Deflater(int level, int window_bits, int strategy) {
    std::memset(&stream_, 0, sizeof stream_);
    is_open_ = deflateInit2(&stream_, level, Z_DEFLATED, window_bits, 8, strategy) == Z_OK;
  }
  ~Deflater() {
    if (is_open_) deflateEnd(&stream_);
  }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  bool Add(const uint8_t* data, size_t size, int flush, std::string* out) {
    if (!is_open_) return false;
    stream_.next_in = const_cast<Bytef*>(data);
    stream_.avail_in = static_cast<uInt>(size);
    char buffer[kChunkBytes];
    int result = Z_OK;
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(buffer);
      stream_.avail_out = sizeof buffer;
      result = deflate(&stream_, flush);
      if (result == Z_STREAM_ERROR) return false;
      out->append(buffer, sizeof buffer - stream_.avail_out);
    } while (stream_.avail_out == 0);
    return flush != Z_FINISH || result == Z_STREAM_END;
  }

 private:
  z_stream stream_;
  bool is_open_;
};

void AppendHeader(int64_t width, int64_t height, int channels, int bit_depth, std::string* out) {
  constexpr char kColorTypes[] = {0, 4, 2, 6};
  out->append("\x89PNG\r\n\x1a\n", 8);
  std::string header;
  AppendBigEndian(static_cast<uint32_t>(width), &header);
  AppendBigEndian(static_cast<uint32_t>(height), &header);
  header.push_back(static_cast<char>(bit_depth));
  header.push_back(kColorTypes[channels - 1]);
  header.append(3, '\0');
  AppendChunk("IHDR", header.data(), header.size(), out);
}

}  // namespace

bool AppendPng(const void* pixels, int64_t width, int64_t height, int channels, int bit_depth, int compression,
               std::string* out) {
  const size_t pixel_bytes = static_cast<size_t>(channels) * bit_depth / 8;
  const size_t row_bytes = pixel_bytes * width;
  const uint64_t image_bytes = (row_bytes + 1) * static_cast<uint64_t>(height);
  // Filters that look at the row above or the pixel to the left are not tried where there are none.
  bool is_tried[kFilterCount] = {true, width > 1, height > 1, width > 1 && height > 1, width > 1 && height > 1};
  const bool is_filtered = width > 1 || height > 1;
  Deflater deflater(compression, WindowBits(image_bytes), is_filtered ? Z_FILTERED : Z_DEFAULT_STRATEGY);
  std::vector<uint8_t> current(row_bytes), above(row_bytes), best(row_bytes + 1), candidate(row_bytes + 1);
  std::string stream;
  for (int64_t y = 0; y < height; ++y) {
    const auto* row = static_cast<const uint8_t*>(pixels) + y * row_bytes;
    for (size_t i = 0; i < row_bytes; ++i) current[i] = bit_depth == 16 ? row[i ^ 1] : row[i];
    size_t least = FilterRow(kNone, current.data(), above.data(), row_bytes, pixel_bytes, best.data());
    for (int filter = kSub; filter < kFilterCount; ++filter) {
      if (!is_tried[filter]) continue;
      const size_t sum = FilterRow(static_cast<Filter>(filter), current.data(), above.data(), row_bytes, pixel_bytes,
                                   candidate.data());
      if (sum < least) {
        least = sum;
        best.swap(candidate);
      }
    }
    if (!deflater.Add(best.data(), best.size(), y + 1 == height ? Z_FINISH : Z_NO_FLUSH, &stream)) return false;
    current.swap(above);
  }
  ShrinkWindow(image_bytes, &stream);
  AppendHeader(width, height, channels, bit_depth, out);
  for (size_t begin = 0; begin < stream.size(); begin += kChunkBytes) {
    AppendChunk("IDAT", stream.data() + begin, std::min(kChunkBytes, stream.size() - begin), out);
  }
  AppendChunk("IEND", nullptr, 0, out);
  return true;
}

}  // namespace stillflow::io
