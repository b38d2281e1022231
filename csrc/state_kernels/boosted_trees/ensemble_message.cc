// An ensemble as bytes of a boosted_trees.TreeEnsemble, written as protocol buffers write it.
#include "state_kernels/boosted_trees/ensemble_message.h"

#include "state_kernels/boosted_trees/ensemble.h"

namespace stillflow::boosted_trees {
namespace {

using io::Bytes;
using io::MessageWriter;
using io::WireReader;
using io::WireType;

// ---- Writing ------------------------------------------------------------------------------------------------------

std::string Message(const Leaf& leaf) {
  std::string bytes;
  MessageWriter writer(&bytes);
  if (leaf.is_vector) {
    std::string vector;
    MessageWriter inner(&vector);
    WriteFloats(1, leaf.vector, &inner);
    writer.Field(1, vector);
  }
  WriteFloat(3, leaf.scalar, &writer);
  return bytes;
}

std::string Message(const Node& node) {
  std::string content, bytes;
  MessageWriter inner(&content), writer(&bytes);
  const Split& split = node.split;
  if (node.kind == Node::kLeaf) content = Message(node.leaf);
  if (node.kind != Node::kLeaf && node.kind != Node::kEmpty) {
    WriteInt(1, split.feature, &inner);
    if (node.kind == Node::kDense) {
      WriteFloat(2, node.dense_threshold, &inner);
    } else {
      WriteInt(2, split.threshold, &inner);
    }
    WriteInt(3, split.left, &inner);
    WriteInt(4, split.right, &inner);
    WriteInt(5, split.dimension, &inner);
    WriteInt(6, split.default_direction, &inner);
  }
  if (node.kind != Node::kEmpty) writer.Field(node.kind, content);
  if (node.has_metadata) {
    std::string metadata;
    MessageWriter about(&metadata);
    WriteFloat(1, node.gain, &about);
    if (node.has_original_leaf) about.Field(2, Message(node.original_leaf));
    writer.Field(777, metadata);
  }
  return bytes;
}

std::string Message(const TreeMetadata& metadata) {
  std::string bytes;
  MessageWriter writer(&bytes);
  WriteInt(2, metadata.layers_grown, &writer);
  WriteInt(3, metadata.is_finalized, &writer);
  for (const PrunedNode& each : metadata.pruned) {
    std::string update;
    MessageWriter inner(&update);
    WriteInt(1, each.new_node, &inner);
    WriteFloats(2, each.change, &inner);
    writer.Field(4, update);
  }
  return bytes;
}

std::string Message(const GrowingMetadata& growing) {
  std::string bytes;
  MessageWriter writer(&bytes);
  WriteInt(1, growing.trees_attempted, &writer);
  WriteInt(2, growing.layers_attempted, &writer);
  WriteInt(3, growing.last_layer_begin, &writer);
  WriteInt(4, growing.last_layer_end, &writer);
  return bytes;
}

// ---- Reading ------------------------------------------------------------------------------------------------------

bool ParseLeaf(Bytes bytes, Leaf* leaf) {
  WireReader reader(bytes);
  while (reader.NextField()) {
    if (reader.Is(3, WireType::kFixed32)) {
      leaf->scalar = ReadFloat(&reader);
    } else if (reader.Is(1, WireType::kBytes)) {
      leaf->is_vector = true;
      WireReader vector(reader.LengthDelimited());
      while (vector.NextField()) {
        if (vector.field != 1) {
          vector.Skip();
        } else if (!ReadFloats(&vector, &leaf->vector)) {
          return false;
        }
      }
      if (!vector.ok()) return false;
    } else {
      reader.Skip();
    }
  }
  return reader.ok();
}

bool ParseSplit(Bytes bytes, Node* node) {
  Split& split = node->split;
  int32_t* const numbers[] = {&split.feature, &split.threshold, &split.left,
                              &split.right,   &split.dimension, &split.default_direction};
  WireReader reader(bytes);
  while (reader.NextField()) {
    if (reader.type == WireType::kVarint && reader.field <= 6) {
      *numbers[reader.field - 1] = ReadInt(&reader);
    } else if (reader.Is(2, WireType::kFixed32)) {
      node->dense_threshold = ReadFloat(&reader);
    } else {
      reader.Skip();
    }
  }
  return reader.ok();
}

bool ParseMetadata(Bytes bytes, Node* node) {
  node->has_metadata = true;
  WireReader reader(bytes);
  while (reader.NextField()) {
    if (reader.Is(1, WireType::kFixed32)) {
      node->gain = ReadFloat(&reader);
    } else if (reader.Is(2, WireType::kBytes)) {
      node->has_original_leaf = true;
      if (!ParseLeaf(reader.LengthDelimited(), &node->original_leaf)) return false;
    } else {
      reader.Skip();
    }
  }
  return reader.ok();
}

bool ParseNode(Bytes bytes, Node* node) {
  WireReader reader(bytes);
  while (reader.NextField()) {
    bool is_parsed = true;
    if (reader.Is(777, WireType::kBytes)) {
      is_parsed = ParseMetadata(reader.LengthDelimited(), node);
    } else if (reader.type == WireType::kBytes && reader.field <= Node::kDense) {
      node->kind = static_cast<Node::Kind>(reader.field);
      const Bytes content = reader.LengthDelimited();
      is_parsed = node->kind == Node::kLeaf ? ParseLeaf(content, &node->leaf) : ParseSplit(content, node);
    } else {
      reader.Skip();
    }
    if (!is_parsed) return false;
  }
  return reader.ok();
}

bool ParsePrunedNode(Bytes bytes, PrunedNode* pruned) {
  WireReader reader(bytes);
  while (reader.NextField()) {
    if (reader.Is(1, WireType::kVarint)) {
      pruned->new_node = ReadInt(&reader);
    } else if (reader.field != 2) {
      reader.Skip();
    } else if (!ReadFloats(&reader, &pruned->change)) {
      return false;
    }
  }
  return reader.ok();
}

bool ParseTreeMetadata(Bytes bytes, TreeMetadata* metadata) {
  WireReader reader(bytes);
  while (reader.NextField()) {
    if (reader.Is(2, WireType::kVarint)) {
      metadata->layers_grown = ReadInt(&reader);
    } else if (reader.Is(3, WireType::kVarint)) {
      metadata->is_finalized = reader.Varint() != 0;
    } else if (!reader.Is(4, WireType::kBytes)) {
      reader.Skip();
    } else if (!ParsePrunedNode(reader.LengthDelimited(), &metadata->pruned.emplace_back())) {
      return false;
    }
  }
  return reader.ok();
}

bool ParseGrowing(Bytes bytes, GrowingMetadata* growing) {
  growing->is_set = true;
  WireReader reader(bytes);
  while (reader.NextField()) {
    if (reader.type != WireType::kVarint || reader.field > 4) {
      reader.Skip();
      continue;
    }
    const auto value = static_cast<int64_t>(reader.Varint());
    if (reader.field == 1) growing->trees_attempted = value;
    if (reader.field == 2) growing->layers_attempted = value;
    if (reader.field == 3) growing->last_layer_begin = static_cast<int32_t>(value);
    if (reader.field == 4) growing->last_layer_end = static_cast<int32_t>(value);
  }
  return reader.ok();
}

}  // namespace

bool Ensemble::Parse(Bytes bytes) { return ParseEnsemble(bytes, ParseNode, ParseTreeMetadata, ParseGrowing, this); }

std::string Ensemble::Serialize() const {
  return EnsembleMessage(*this, [](const auto& part) { return Message(part); });
}

}  // namespace stillflow::boosted_trees
