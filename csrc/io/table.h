// table.h: sorted tables of keys and values, in the format that TensorFlow has from LevelDB.
//
//   file  := data blocks, empty block, index block, footer
//   block := entries, u32 restarts[], u32 count; then the block's type and the masked checksum of both
//   entry := varint shared, varint unshared, varint value size, key suffix, value
//
// Keys of a block share their beginnings, but for one in sixteen, where reading may start.
#pragma once

#include <memory>
#include <string>

#include "io/file.h"
#include "io/wire.h"

namespace stillflow::io {

class TableWriter {
 public:
  // Appends to `file`, which outlives the writer.
  explicit TableWriter(OutputFile* file) : file_(file), data_(16), index_(1) {}

  // Keys come in ascending order.
  Status Add(const std::string& key, Bytes value);
  Status Finish();

 private:
  class Block {
   public:
    explicit Block(int keys_per_restart) : keys_per_restart_(keys_per_restart) {}
    void Add(Bytes key, Bytes value);
    size_t size() const { return bytes_.size() + sizeof(uint32_t) * (restarts_.size() / sizeof(uint32_t) + 1); }
    bool empty() const { return bytes_.empty(); }
    std::string Finish();  // empties it, too

   private:
    int keys_per_restart_;
    int keys_since_restart_ = 0;
    std::string bytes_;
    std::string restarts_ = std::string(4, '\0');
    std::string last_key_;
  };

  Status Write(Block* block, std::string* handle);
  Status FinishDataBlock();

  OutputFile* const file_;
  Block data_;
  Block index_;
  std::string last_key_;
  std::string pending_handle_;  // of a finished block that is not in the index yet
  bool has_entries_ = false;
};

class TableReader {
 public:
  static Status Open(const std::string& path, std::unique_ptr<TableReader>* reader);

  const std::string& path() const { return file_.path(); }

  // Calls visit(key, value) for all entries in order; `visit` returns whether it is content.
  template <typename Visitor>
  Status ForEach(Visitor visit) const;

  // The value of `key`; `*is_found` says whether there is one.
  Status Get(Bytes key, std::string* value, bool* is_found) const;

 private:
  struct Handle {
    uint64_t offset = 0;
    uint64_t size = 0;
  };

  // Walks through the entries of a block.
  class Cursor {
   public:
    Status Start(Bytes block);
    bool done() const { return entries_.done(); }
    Status Next();
    const std::string& key() const { return key_; }
    Bytes value() const { return value_; }

   private:
    WireReader entries_{Bytes()};
    std::string key_;
    Bytes value_;
  };

  static bool ParseHandle(WireReader* reader, Handle* handle);
  Status ReadBlock(const Handle& handle, std::string* block) const;
  Status ReadBlockOf(Bytes handle, std::string* block) const;

  InputFile file_;
  std::string index_;
};

Status BadBlock(const char* what);

template <typename Visitor>
Status TableReader::ForEach(Visitor visit) const {
  Cursor index;
  Status status = index.Start(Bytes(index_));
  std::string block;
  std::string last_key;
  bool is_first = true;
  while (status.ok() && !index.done()) {
    status = index.Next();
    if (status.ok()) status = ReadBlockOf(index.value(), &block);
    Cursor entries;
    if (status.ok()) status = entries.Start(Bytes(block));
    while (status.ok() && !entries.done()) {
      status = entries.Next();
      if (!status.ok()) return status;
      if (!is_first && !(Bytes(last_key) < Bytes(entries.key()))) return BadBlock("keys out of order");
      is_first = false;
      last_key = entries.key();
      if (!visit(entries.key(), entries.value())) return BadBlock("bad entry in block");
    }
  }
  return status;
}

}  // namespace stillflow::io
