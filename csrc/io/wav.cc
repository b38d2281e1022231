#include "io/wav.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stillflow::io {
namespace {

constexpr int kSampleBytes = 2;
constexpr int kPcm = 1;

void AppendLittleEndian(uint64_t value, int bytes, std::string* out) {
  for (int i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

// Takes values off the front of a file; the first thing that is wrong with it is kept, and nothing read after it.
class WavReader {
 public:
  explicit WavReader(Bytes file) : file_(file) {}

  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  bool done() const { return at_ >= file_.size; }
  const char* at() const { return file_.data + at_; }

  // Moves on, maybe beyond the end: which is an error only where something is read from there.
  void Skip(size_t size) { at_ += size; }

  bool Has(size_t size) {
    if (!ok()) return false;
    if (at_ > file_.size) {
      error_ = "Initial offset is outside data range: " + std::to_string(at_);
    } else if (size > file_.size - at_) {
      error_ = "Data too short when trying to read string";
    }
    return ok();
  }

  std::string Text(size_t size) {
    if (!Has(size)) return std::string();
    at_ += size;
    return std::string(file_.data + at_ - size, size);
  }

  void Expect(const std::string& text) {
    const std::string found = Text(text.size());
    if (ok() && found != text) Fail("Header mismatch: Expected " + text + " but found " + found);
  }

  uint32_t Number(int bytes) {
    if (!Has(bytes)) return 0;
    uint32_t value = 0;
    for (int i = 0; i < bytes; ++i) value |= static_cast<uint32_t>(static_cast<uint8_t>(at()[i])) << (8 * i);
    at_ += bytes;
    return value;
  }

  void Fail(const std::string& error) {
    if (ok()) error_ = error;
  }

 private:
  Bytes file_;
  size_t at_ = 0;
  std::string error_;
};

void ReadFormat(WavReader* reader, WavSamples* samples) {
  reader->Expect("fmt ");
  const uint32_t size = reader->Number(4);
  if (size != 16 && size != 18) {
    reader->Fail("Bad file size for WAV: Expected 16 or 18, but got" + std::to_string(size));
  }
  const uint32_t format = reader->Number(2);
  if (format != kPcm) {
    reader->Fail("Bad audio format for WAV: Expected 1 (PCM), but got" + std::to_string(format));
  }
  const uint32_t channels = reader->Number(2);
  if (channels < 1) {
    reader->Fail("Bad number of channels for WAV: Expected at least 1, but got " + std::to_string(channels));
  }
  const uint32_t rate = reader->Number(4);
  const uint32_t bytes_per_second = reader->Number(4);
  const uint32_t bytes_per_frame = reader->Number(2);
  const uint32_t bits = reader->Number(2);
  if (bits != 8 * kSampleBytes) {
    reader->Fail("Can only read 16-bit WAV files, but received " + std::to_string(bits));
  }
  if (bytes_per_frame != kSampleBytes * channels) {
    reader->Fail("Bad bytes per sample in WAV header: Expected " + std::to_string(kSampleBytes * channels) +
                 " but got " + std::to_string(bytes_per_frame));
  }
  if (bytes_per_second != bytes_per_frame * rate) {
    reader->Fail("Bad bytes per second in WAV header: Expected " + std::to_string(bytes_per_frame * rate) +
                 " but got " + std::to_string(bytes_per_second) + " (sample_rate=" + std::to_string(rate) +
                 ", bytes_per_sample=" + std::to_string(bytes_per_frame) + ")");
  }
  if (size == 18) reader->Skip(2);
  samples->channels = static_cast<int>(channels);
  samples->rate = rate;
}

}  // namespace

float WavSamples::At(int64_t frame, int channel) const {
  const auto* sample = reinterpret_cast<const uint8_t*>(data) + (frame * channels + channel) * kSampleBytes;
  return static_cast<float>(static_cast<int16_t>(sample[0] | sample[1] << 8)) * (1.0f / 32768);
}

std::string FindWavSamples(Bytes file, WavSamples* samples) {
  WavReader reader(file);
  reader.Expect("RIFF");
  reader.Number(4);
  reader.Expect("WAVE");
  ReadFormat(&reader, samples);
  while (reader.ok() && !reader.done()) {
    const std::string chunk = reader.Text(4);
    const uint32_t size = reader.Number(4);
    if (!reader.ok()) break;
    if (size > static_cast<uint32_t>(std::numeric_limits<int32_t>::max())) {
      reader.Fail("WAV data chunk '" + chunk + "' is too large: " + std::to_string(size) +
                  " bytes, but the limit is 2147483647");
    } else if (chunk != "data") {
      reader.Skip(size);
    } else if (samples->data != nullptr) {
      reader.Fail("More than one data chunk found in WAV");
    } else {
      const int64_t frame_bytes = samples->channels * kSampleBytes;
      samples->frames = size / frame_bytes;
      if (reader.Has(samples->frames * frame_bytes)) samples->data = reader.at();
      reader.Skip(samples->frames * frame_bytes);
    }
  }
  if (samples->data == nullptr) reader.Fail("No data chunk found in WAV");
  return reader.error();
}

std::string WavFile(const float* samples, int64_t frames, int64_t channels, uint32_t rate) {
  const int64_t data_bytes = frames * channels * kSampleBytes;
  std::string wav = "RIFF";
  AppendLittleEndian(36 + data_bytes, 4, &wav);
  wav += "WAVEfmt ";
  AppendLittleEndian(16, 4, &wav);
  AppendLittleEndian(kPcm, 2, &wav);
  AppendLittleEndian(channels, 2, &wav);
  AppendLittleEndian(rate, 4, &wav);
  AppendLittleEndian(static_cast<uint64_t>(rate) * channels * kSampleBytes, 4, &wav);
  AppendLittleEndian(channels * kSampleBytes, 2, &wav);
  AppendLittleEndian(8 * kSampleBytes, 2, &wav);
  wav += "data";
  AppendLittleEndian(data_bytes, 4, &wav);
  for (int64_t i = 0; i < frames * channels; ++i) {
    const float sample = samples[i] * 32768.0f;
    const float rounded = sample != sample ? 0.0f : std::round(std::clamp(sample, -32768.0f, 32767.0f));
    AppendLittleEndian(static_cast<uint16_t>(static_cast<int16_t>(rounded)), 2, &wav);
  }
  return wav;
}

}  // namespace stillflow::io
