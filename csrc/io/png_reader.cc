#include "io/png_reader.h"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace stillflow::io {
namespace {

constexpr size_t kSignatureBytes = 8;
constexpr char kSignature[] = "\x89PNG\r\n\x1a\n";
constexpr int64_t kMostInflation = 1032;  // deflate cannot make more bytes of one

uint32_t BigEndian(const char* data) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(data);
  return static_cast<uint32_t>(bytes[0]) << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

enum ColorType { kGray = 0, kRgb = 2, kPalette = 3, kGrayAlpha = 4, kRgba = 6 };

// What a file says before its pixels.
struct Header {
  int64_t width = 0;
  int64_t height = 0;
  int depth = 0;
  int color = 0;
  bool is_interlaced = false;

  int SampleCount() const {
    constexpr int kCounts[] = {1, 0, 3, 1, 2, 0, 4};
    return kCounts[color];
  }
  bool has_alpha() const { return color == kGrayAlpha || color == kRgba; }
  bool is_gray() const { return color == kGray || color == kGrayAlpha; }
};

struct File {
  Header header;
  uint8_t palette[256][4] = {};
  int palette_size = 0;
  bool has_transparent = false;  // a palette with alpha, or one color that is transparent
  uint16_t transparent[3] = {};
  std::vector<Bytes> data;
  int64_t data_bytes = 0;
};

bool ReadHeader(Bytes chunk, Header* header) {
  if (chunk.size != 13) return false;
  header->width = BigEndian(chunk.data);
  header->height = BigEndian(chunk.data + 4);
  const auto* rest = reinterpret_cast<const uint8_t*>(chunk.data + 8);
  header->depth = rest[0];
  header->color = rest[1];
  header->is_interlaced = rest[4] == 1;
  const int depth = header->depth;
  const bool is_small = depth == 1 || depth == 2 || depth == 4;
  const bool is_depth = depth == 8 || (depth == 16 && header->color != kPalette) ||
                        (is_small && (header->color == kGray || header->color == kPalette));
  const bool is_color = header->color <= kRgba && header->color != 1 && header->color != 5;
  return header->width > 0 && header->height > 0 && header->width < int64_t{1} << 31 &&
         header->height < int64_t{1} << 31 && is_depth && is_color && rest[2] == 0 && rest[3] == 0 && rest[4] <= 1;
}

void ReadTransparency(Bytes chunk, File* file) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(chunk.data);
  if (file->header.color == kPalette) {
    for (size_t i = 0; i < std::min<size_t>(chunk.size, 256); ++i) file->palette[i][3] = bytes[i];
    file->has_transparent = true;
  } else if (!file->header.has_alpha() && chunk.size >= 2u * file->header.SampleCount()) {
    for (int i = 0; i < file->header.SampleCount(); ++i) {
      file->transparent[i] = static_cast<uint16_t>(bytes[2 * i] << 8 | bytes[2 * i + 1]);
    }
    file->has_transparent = true;
  }
}

bool ReadPalette(Bytes chunk, File* file) {
  if (chunk.size % 3 != 0 || chunk.size == 0 || chunk.size > 768) return false;
  file->palette_size = static_cast<int>(chunk.size / 3);
  for (int i = 0; i < file->palette_size; ++i) {
    std::memcpy(file->palette[i], chunk.data + 3 * i, 3);
    file->palette[i][3] = 255;
  }
  return true;
}

// Finds the parts of a file. Damaged chunks that an image can do without are passed over.
bool ReadChunks(Bytes bytes, File* file) {
  const char* next = bytes.data + kSignatureBytes;
  const char* const end = bytes.data + bytes.size;
  bool has_header = false;
  while (end - next >= 12) {
    const uint32_t size = BigEndian(next);
    if (size > static_cast<uint64_t>(end - next - 12)) break;
    const char* const type = next + 4;
    const Bytes chunk = {next + 8, size};
    const auto* checked = reinterpret_cast<const Bytef*>(type);
    const bool is_good = crc32(0, checked, size + 4) == BigEndian(next + 8 + size);
    const bool is_critical = (type[0] & 32) == 0;
    next += 12 + static_cast<size_t>(size);
    if (!is_good && is_critical) return false;
    if (!is_good) continue;
    if (!has_header) {
      if (std::memcmp(type, "IHDR", 4) != 0 || !ReadHeader(chunk, &file->header)) return false;
      has_header = true;
    } else if (std::memcmp(type, "PLTE", 4) == 0) {
      if (!ReadPalette(chunk, file)) return false;
    } else if (std::memcmp(type, "tRNS", 4) == 0) {
      ReadTransparency(chunk, file);
    } else if (std::memcmp(type, "IDAT", 4) == 0) {
      file->data.push_back(chunk);
      file->data_bytes += size;
    } else if (std::memcmp(type, "IEND", 4) == 0) {
      break;
    } else if (is_critical) {
      return false;
    }
  }
  return has_header && !file->data.empty() && (file->header.color != kPalette || file->palette_size > 0);
}

// ---- Rows ---------------------------------------------------------------------------------------------------------

class Inflater {
 public:
  explicit Inflater(const std::vector<Bytes>& parts) : parts_(parts) {
    std::memset(&stream_, 0, sizeof stream_);
    is_open_ = inflateInit(&stream_) == Z_OK;
  }
  ~Inflater() {
    if (is_open_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  bool Read(uint8_t* out, size_t size) {
    stream_.next_out = out;
    stream_.avail_out = static_cast<uInt>(size);
    while (is_open_ && stream_.avail_out > 0) {
      if (stream_.avail_in == 0) {
        if (next_ == parts_.size()) return false;
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(parts_[next_].data));
        stream_.avail_in = static_cast<uInt>(parts_[next_++].size);
        continue;
      }
      const int result = inflate(&stream_, Z_NO_FLUSH);
      if (result == Z_STREAM_END) return stream_.avail_out == 0;
      if (result != Z_OK) return false;
    }
    return is_open_;
  }

 private:
  const std::vector<Bytes>& parts_;
  size_t next_ = 0;
  z_stream stream_;
  bool is_open_ = false;
};

// Puts back what a row's filter took away. `row` and `above` are without the filter's number.
bool Unfilter(int filter, size_t size, size_t distance, const uint8_t* above, uint8_t* row) {
  if (filter > 4) return false;
  for (size_t i = 0; i < size; ++i) {
    const int left = i >= distance ? row[i - distance] : 0;
    const int corner = i >= distance ? above[i - distance] : 0;
    int predicted = 0;
    if (filter == 1) predicted = left;
    if (filter == 2) predicted = above[i];
    if (filter == 3) predicted = (left + above[i]) / 2;
    if (filter == 4) {
      const int to_left = std::abs(above[i] - corner);
      const int to_above = std::abs(left - corner);
      const int to_corner = std::abs(left + above[i] - 2 * corner);
      predicted = to_left <= to_above && to_left <= to_corner ? left : to_above <= to_corner ? above[i] : corner;
    }
    row[i] = static_cast<uint8_t>(row[i] + predicted);
  }
  return true;
}

// ---- Pixels -------------------------------------------------------------------------------------------------------

// A pixel of the file: up to four samples, of the file's depth but at least 8 bits.
class PixelReader {
 public:
  explicit PixelReader(const File& file)
      : file_(file), depth_(file.header.depth), samples_(file.header.SampleCount()) {}

  // Red, green, blue and alpha; gray is in all three. False for a color that the palette does not have.
  bool Read(const uint8_t* row, int64_t x, uint16_t* pixel) const {
    uint16_t raw[4] = {};
    for (int i = 0; i < samples_; ++i) raw[i] = Sample(row, x * samples_ + i);
    const uint16_t opaque = depth_ == 16 ? 65535 : 255;
    pixel[3] = opaque;
    if (file_.header.color == kPalette) {
      if (raw[0] >= file_.palette_size) return false;
      for (int i = 0; i < 4; ++i) pixel[i] = file_.palette[raw[0]][i];
      return true;
    }
    if (file_.header.has_alpha()) {
      pixel[3] = raw[samples_ - 1];
    } else if (file_.has_transparent && std::equal(raw, raw + samples_, file_.transparent)) {
      pixel[3] = 0;
    }
    const int scale = depth_ < 8 ? 255 / ((1 << depth_) - 1) : 1;
    for (int i = 0; i < 3; ++i) pixel[i] = static_cast<uint16_t>(raw[file_.header.is_gray() ? 0 : i] * scale);
    return true;
  }

 private:
  uint16_t Sample(const uint8_t* row, int64_t index) const {
    if (depth_ == 8) return row[index];
    if (depth_ == 16) return static_cast<uint16_t>(row[2 * index] << 8 | row[2 * index + 1]);
    const int64_t bit = index * depth_;
    return static_cast<uint16_t>(row[bit / 8] >> (8 - depth_ - bit % 8) & ((1 << depth_) - 1));
  }

  const File& file_;
  const int depth_;
  const int samples_;
};

// The luma that libpng computes: rounded for 16 bits, cut off for 8.
uint16_t Luma(const uint16_t* rgb, bool is_deep) {
  constexpr uint32_t kRed = 9797, kGreen = 19234, kBlue = 32768 - kRed - kGreen;
  return static_cast<uint16_t>((kRed * rgb[0] + kGreen * rgb[1] + kBlue * rgb[2] + (is_deep ? 16384 : 0)) >> 15);
}

struct Output {
  PngImage* image;
  int channels;
  int bit_depth;
  bool is_deep;  // whether the pixels have 16 bits
  bool is_gray;  // whether red, green and blue are the same

  void Set(int64_t x, int64_t y, const uint16_t* pixel) const {
    uint16_t samples[4] = {pixel[0], pixel[1], pixel[2], pixel[3]};
    if (channels < 3) {
      samples[0] = is_gray ? pixel[0] : Luma(pixel, is_deep);
      samples[1] = pixel[3];
    }
    const int64_t at = (y * image->width + x) * channels;
    for (int i = 0; i < channels; ++i) {
      if (bit_depth == 8) {
        image->bytes[at + i] = static_cast<uint8_t>(is_deep ? samples[i] >> 8 : samples[i]);
      } else {
        image->words[at + i] = static_cast<uint16_t>(is_deep ? samples[i] : samples[i] * 257);
      }
    }
  }
};

// Where the pixels of a pass lie.
struct Pass {
  int x, y, step_x, step_y;
};
constexpr Pass kWhole = {0, 0, 1, 1};
constexpr Pass kInterlaced[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};

bool ReadPass(const File& file, const Pass& pass, Inflater* inflater, const Output& output) {
  const Header& header = file.header;
  const int64_t width = (header.width - pass.x + pass.step_x - 1) / pass.step_x;
  const int64_t height = (header.height - pass.y + pass.step_y - 1) / pass.step_y;
  if (width <= 0 || height <= 0) return true;
  const int64_t bits = static_cast<int64_t>(header.depth) * header.SampleCount();
  const size_t row_bytes = (width * bits + 7) / 8;
  const size_t distance = std::max<int64_t>(1, bits / 8);
  std::vector<uint8_t> row(row_bytes + 1), above(row_bytes + 1);
  const PixelReader reader(file);
  uint16_t pixel[4];
  for (int64_t y = 0; y < height; ++y) {
    if (!inflater->Read(row.data(), row.size())) return false;
    if (!Unfilter(row[0], row_bytes, distance, above.data() + 1, row.data() + 1)) return false;
    for (int64_t x = 0; x < width; ++x) {
      if (!reader.Read(row.data() + 1, x, pixel)) return false;
      output.Set(pass.x + x * pass.step_x, pass.y + y * pass.step_y, pixel);
    }
    row.swap(above);
  }
  return true;
}

}  // namespace

bool IsPng(Bytes file) {
  return file.size >= kSignatureBytes && std::memcmp(file.data, kSignature, kSignatureBytes) == 0;
}

PngStatus ReadPng(Bytes bytes, int channels, int bit_depth, PngImage* image) {
  File file;
  if (!IsPng(bytes) || !ReadChunks(bytes, &file)) return PngStatus::kInvalid;
  const Header& header = file.header;
  image->width = header.width;
  image->height = header.height;
  const bool is_palette = header.color == kPalette;
  if (channels == 0) channels = is_palette ? (file.has_transparent ? 4 : 3) : header.SampleCount();
  image->channels = channels;
  constexpr int64_t kMostPixels = int64_t{1} << 29;
  if (header.width >= 1 << 27 || header.height >= 1 << 27 || header.width * header.height >= kMostPixels) {
    return PngStatus::kTooLarge;
  }
  const int64_t bits = static_cast<int64_t>(header.depth) * header.SampleCount();
  if ((header.width * bits + 7) / 8 * header.height > kMostInflation * (file.data_bytes + 64)) {
    return PngStatus::kInvalid;
  }
  const size_t count = static_cast<size_t>(header.width * header.height * channels);
  if (bit_depth == 8) {
    image->bytes.resize(count);
  } else {
    image->words.resize(count);
  }
  Inflater inflater(file.data);
  const Output output = {image, channels, bit_depth, header.depth == 16, header.is_gray()};
  bool is_whole = true;
  if (header.is_interlaced) {
    for (const Pass& pass : kInterlaced) is_whole = is_whole && ReadPass(file, pass, &inflater, output);
  } else {
    is_whole = ReadPass(file, kWhole, &inflater, output);
  }
  return is_whole ? PngStatus::kOk : PngStatus::kInvalid;
}

}  // namespace stillflow::io
