#include "io/table.h"

#include <algorithm>
#include <utility>

#include "io/crc32c.h"
#include "io/snappy.h"
#include "kernel_api/kernel.h"

namespace stillflow::io {
namespace {

constexpr size_t kBlockBytes = 262144;
constexpr size_t kTrailerBytes = 5;  // the type and the checksum
constexpr int64_t kFooterBytes = 48;
constexpr char kMagic[] = "\x57\xFB\x80\x8B\x24\x75\x47\xDB";
constexpr size_t kMagicBytes = sizeof kMagic - 1;
constexpr char kRaw = 0;
constexpr char kSnappy = 1;
constexpr uint64_t kMostDecompressed = uint64_t{1} << 32;

// A short key at or after `last`, and before `next`.
std::string Separator(const std::string& last, const std::string& next) {
  const size_t shorter = std::min(last.size(), next.size());
  size_t common = 0;
  while (common < shorter && last[common] == next[common]) ++common;
  if (common == shorter) return last;
  const auto byte = static_cast<uint8_t>(last[common]);
  if (byte == 255 || byte + 1 >= static_cast<uint8_t>(next[common])) return last;
  std::string separator = last.substr(0, common + 1);
  ++separator.back();
  return separator;
}

// A short key at or after `last`.
std::string Successor(const std::string& last) {
  for (size_t i = 0; i < last.size(); ++i) {
    if (static_cast<uint8_t>(last[i]) == 255) continue;
    std::string successor = last.substr(0, i + 1);
    ++successor.back();
    return successor;
  }
  return last;
}

uint32_t LoadFixed32(const char* bytes) {
  uint32_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

}  // namespace

Status BadBlock(const char* what) { return Error(Code::kDataLoss, "%s", what); }

// ---- Writing ------------------------------------------------------------------------------------------------------

void TableWriter::Block::Add(Bytes key, Bytes value) {
  size_t shared = 0;
  if (keys_since_restart_ == keys_per_restart_) {
    keys_since_restart_ = 0;
    AppendFixed32(static_cast<uint32_t>(bytes_.size()), &restarts_);
  } else {
    const size_t shorter = std::min(last_key_.size(), key.size);
    while (shared < shorter && last_key_[shared] == key.data[shared]) ++shared;
  }
  AppendVarint(shared, &bytes_);
  AppendVarint(key.size - shared, &bytes_);
  AppendVarint(value.size, &bytes_);
  bytes_.append(key.data + shared, key.size - shared);
  bytes_.append(value.data, value.size);
  last_key_.assign(key.data, key.size);
  ++keys_since_restart_;
}

std::string TableWriter::Block::Finish() {
  std::string block = std::move(bytes_) + restarts_;
  AppendFixed32(static_cast<uint32_t>(restarts_.size() / sizeof(uint32_t)), &block);
  *this = Block(keys_per_restart_);
  return block;
}

Status TableWriter::Write(Block* block, std::string* handle) {
  std::string bytes = block->Finish();
  AppendVarint(static_cast<uint64_t>(file_->size()), handle);
  AppendVarint(bytes.size(), handle);
  bytes.push_back(kRaw);
  AppendFixed32(MaskCrc(Crc32c(bytes.data(), bytes.size())), &bytes);
  return file_->Append(Bytes(bytes));
}

Status TableWriter::FinishDataBlock() { return data_.empty() ? Status() : Write(&data_, &pending_handle_); }

Status TableWriter::Add(const std::string& key, Bytes value) {
  if (has_entries_ && key.size() + value.size >= 2 * kBlockBytes) STILLFLOW_RETURN_IF_ERROR(FinishDataBlock());
  if (!pending_handle_.empty()) {
    index_.Add(Bytes(Separator(last_key_, key)), Bytes(pending_handle_));
    pending_handle_.clear();
  }
  has_entries_ = true;
  last_key_ = key;
  data_.Add(Bytes(key), value);
  return data_.size() >= kBlockBytes ? FinishDataBlock() : Status();
}

Status TableWriter::Finish() {
  STILLFLOW_RETURN_IF_ERROR(FinishDataBlock());
  std::string footer;
  Block nothing(1);
  STILLFLOW_RETURN_IF_ERROR(Write(&nothing, &footer));
  if (!pending_handle_.empty()) index_.Add(Bytes(Successor(last_key_)), Bytes(pending_handle_));
  STILLFLOW_RETURN_IF_ERROR(Write(&index_, &footer));
  footer.resize(kFooterBytes - kMagicBytes);
  footer.append(kMagic, kMagicBytes);
  return file_->Append(Bytes(footer));
}

// ---- Reading ------------------------------------------------------------------------------------------------------

bool TableReader::ParseHandle(WireReader* reader, Handle* handle) {
  handle->offset = reader->Varint();
  handle->size = reader->Varint();
  return reader->ok();
}

Status TableReader::Open(const std::string& path, std::unique_ptr<TableReader>* reader) {
  auto table = std::make_unique<TableReader>();
  STILLFLOW_RETURN_IF_ERROR(table->file_.Open(path));
  if (table->file_.size() < kFooterBytes) return BadBlock("file is too short to be an sstable");
  char footer[kFooterBytes];
  STILLFLOW_RETURN_IF_ERROR(table->file_.Read(table->file_.size() - kFooterBytes, footer, kFooterBytes));
  if (std::memcmp(footer + kFooterBytes - kMagicBytes, kMagic, kMagicBytes) != 0) {
    return BadBlock("not an sstable (bad magic number)");
  }
  WireReader handles(Bytes(footer, kFooterBytes - kMagicBytes));
  Handle meta, index;
  if (!ParseHandle(&handles, &meta) || !ParseHandle(&handles, &index)) return BadBlock("bad block handle");
  STILLFLOW_RETURN_IF_ERROR(table->ReadBlock(index, &table->index_));
  *reader = std::move(table);
  return Status();
}

Status TableReader::ReadBlock(const Handle& handle, std::string* block) const {
  const uint64_t file_bytes = static_cast<uint64_t>(file_.size());
  if (handle.offset > file_bytes || handle.size > file_bytes - handle.offset ||
      kTrailerBytes > file_bytes - handle.offset - handle.size) {
    return BadBlock("truncated block read");
  }
  block->resize(handle.size + kTrailerBytes);
  STILLFLOW_RETURN_IF_ERROR(
      file_.Read(static_cast<int64_t>(handle.offset), &(*block)[0], static_cast<int64_t>(block->size())));
  const size_t checked = handle.size + 1;
  if (UnmaskCrc(LoadFixed32(block->data() + checked)) != Crc32c(block->data(), checked)) {
    return BadBlock("block checksum mismatch");
  }
  const char type = (*block)[handle.size];
  block->resize(handle.size);
  if (type == kRaw) return Status();
  std::string raw;
  if (type != kSnappy) return BadBlock("bad block type");
  if (!DecompressSnappy(Bytes(*block), kMostDecompressed, &raw)) {
    return BadBlock("corrupted compressed block contents");
  }
  *block = std::move(raw);
  return Status();
}

Status TableReader::ReadBlockOf(Bytes handle_bytes, std::string* block) const {
  WireReader reader(handle_bytes);
  Handle handle;
  return ParseHandle(&reader, &handle) ? ReadBlock(handle, block) : BadBlock("bad block handle");
}

Status TableReader::Cursor::Start(Bytes block) {
  if (block.size < sizeof(uint32_t)) return BadBlock("bad block contents");
  const uint64_t restarts = LoadFixed32(block.data + block.size - sizeof(uint32_t));
  const uint64_t bytes = (restarts + 1) * sizeof(uint32_t);
  if (bytes > block.size) return BadBlock("bad block contents");
  entries_ = WireReader(Bytes(block.data, block.size - bytes));
  key_.clear();
  return Status();
}

Status TableReader::Cursor::Next() {
  const uint64_t shared = entries_.Varint();
  const uint64_t unshared = entries_.Varint();
  const uint64_t size = entries_.Varint();
  const Bytes suffix = entries_.Take(unshared);
  value_ = entries_.Take(size);
  if (!entries_.ok() || shared > key_.size()) return BadBlock("bad entry in block");
  key_.resize(shared);
  key_.append(suffix.data, suffix.size);
  return Status();
}

Status TableReader::Get(Bytes key, std::string* value, bool* is_found) const {
  *is_found = false;
  Cursor index;
  STILLFLOW_RETURN_IF_ERROR(index.Start(Bytes(index_)));
  do {
    if (index.done()) return Status();
    STILLFLOW_RETURN_IF_ERROR(index.Next());
  } while (Bytes(index.key()) < key);  // the key of a block is at or after its last one
  std::string block;
  STILLFLOW_RETURN_IF_ERROR(ReadBlockOf(index.value(), &block));
  Cursor entries;
  STILLFLOW_RETURN_IF_ERROR(entries.Start(Bytes(block)));
  while (!entries.done()) {
    STILLFLOW_RETURN_IF_ERROR(entries.Next());
    if (!(Bytes(entries.key()) == key)) continue;
    value->assign(entries.value().data, entries.value().size);
    *is_found = true;
    return Status();
  }
  return Status();
}

}  // namespace stillflow::io
