// Trees and splits as messages.
#include "state_kernels/gradient_trees/tree_config.h"

#include "state_kernels/boosted_trees/ensemble_message.h"

namespace stillflow::gradient_trees {
namespace {

using namespace boosted_trees;  // NOLINT: the fields of messages
using io::Bytes;
using io::MessageWriter;
using io::WireReader;
using io::WireType;

// ---- Writing ------------------------------------------------------------------------------------------------------

std::string Message(const Leaf& leaf) {
  std::string bytes, content;
  MessageWriter writer(&bytes), inner(&content);
  if (leaf.kind == Leaf::kNone) return bytes;
  if (leaf.kind == Leaf::kSparse) WriteInts(1, leaf.index, &inner);
  WriteFloats(leaf.kind == Leaf::kSparse ? 2 : 1, leaf.value, &inner);
  writer.Field(leaf.kind, content);
  return bytes;
}

std::string DenseSplit(const Node& node) {
  std::string bytes;
  MessageWriter writer(&bytes);
  WriteInt(1, node.column, &writer);
  WriteFloat(2, node.threshold, &writer);
  WriteInt(3, node.left, &writer);
  WriteInt(4, node.right, &writer);
  WriteInt(5, node.dimension, &writer);
  return bytes;
}

std::string CategoricalSplit(const Node& node) {
  std::string bytes;
  MessageWriter writer(&bytes);
  WriteInt(1, node.column, &writer);
  if (node.kind == Node::kCategoricalSet) {
    WriteInts(2, node.ids, &writer);
  } else {
    WriteInt(2, node.ids.empty() ? 0 : node.ids[0], &writer);
  }
  WriteInt(3, node.left, &writer);
  WriteInt(4, node.right, &writer);
  return bytes;
}

std::string Content(const Node& node) {
  std::string bytes;
  MessageWriter writer(&bytes);
  switch (node.kind) {
    case Node::kNone:
      break;
    case Node::kLeaf:
      return Message(node.leaf);
    case Node::kDense:
    case Node::kObliviousDense:
      return DenseSplit(node);
    case Node::kSparseDefaultLeft:
    case Node::kSparseDefaultRight:
      writer.Field(1, DenseSplit(node));
      break;
    case Node::kCategorical:
    case Node::kCategoricalSet:
    case Node::kObliviousCategorical:
      return CategoricalSplit(node);
  }
  return bytes;
}

std::string Message(const Node& node) {
  std::string bytes;
  MessageWriter writer(&bytes);
  if (node.kind != Node::kNone) writer.Field(node.kind, Content(node));
  if (node.has_metadata) {
    std::string metadata;
    MessageWriter about(&metadata);
    WriteFloat(1, node.gain, &about);
    if (node.has_original_leaf) about.Field(2, Message(node.original_leaf));
    for (const Leaf& each : node.original_oblivious_leaves) about.Field(3, Message(each));
    writer.Field(777, metadata);
  }
  return bytes;
}

std::string Message(const TreeMetadata& metadata) {
  std::string bytes;
  MessageWriter writer(&bytes);
  WriteInt(1, metadata.weight_updates, &writer);
  WriteInt(2, metadata.layers_grown, &writer);
  WriteInt(3, metadata.is_finalized, &writer);
  return bytes;
}

std::string Message(const GrowingMetadata& growing) {
  std::string bytes;
  MessageWriter writer(&bytes);
  WriteInt(1, growing.trees_attempted, &writer);
  WriteInt(2, growing.layers_attempted, &writer);
  WriteInts(3, growing.used_handlers, &writer);
  return bytes;
}

// ---- Reading ------------------------------------------------------------------------------------------------------

bool ParseValues(Bytes bytes, bool is_sparse, Leaf* leaf) {
  WireReader reader(bytes);
  while (reader.NextField()) {
    bool is_parsed = true;
    if (is_sparse && reader.field == 1) {
      is_parsed = ReadInts(&reader, &leaf->index);
    } else if (reader.field == (is_sparse ? 2U : 1U)) {
      is_parsed = ReadFloats(&reader, &leaf->value);
    } else {
      reader.Skip();
    }
    if (!is_parsed) return false;
  }
  return reader.ok() && (!is_sparse || leaf->index.size() == leaf->value.size());
}

bool ParseLeaf(Bytes bytes, Leaf* leaf) {
  WireReader reader(bytes);
  while (reader.NextField()) {
    if (reader.type != WireType::kBytes || reader.field > Leaf::kSparse) {
      reader.Skip();
      continue;
    }
    *leaf = Leaf();
    leaf->kind = static_cast<Leaf::Kind>(reader.field);
    if (!ParseValues(reader.LengthDelimited(), leaf->kind == Leaf::kSparse, leaf)) return false;
  }
  return reader.ok();
}

bool ParseDenseSplit(Bytes bytes, Node* node) {
  int32_t* const numbers[] = {&node->column, nullptr, &node->left, &node->right, &node->dimension};
  WireReader reader(bytes);
  while (reader.NextField()) {
    if (reader.Is(2, WireType::kFixed32)) {
      node->threshold = ReadFloat(&reader);
    } else if (reader.type == WireType::kVarint && reader.field <= 5 && reader.field != 2) {
      *numbers[reader.field - 1] = ReadInt(&reader);
    } else {
      reader.Skip();
    }
  }
  return reader.ok();
}

bool ParseSparseSplit(Bytes bytes, Node* node) {
  WireReader reader(bytes);
  while (reader.NextField()) {
    if (!reader.Is(1, WireType::kBytes)) {
      reader.Skip();
    } else if (!ParseDenseSplit(reader.LengthDelimited(), node)) {
      return false;
    }
  }
  return reader.ok();
}

bool ParseCategoricalSplit(Bytes bytes, Node* node) {
  int32_t* const numbers[] = {&node->column, nullptr, &node->left, &node->right};
  if (node->kind != Node::kCategoricalSet) node->ids.assign(1, 0);
  WireReader reader(bytes);
  while (reader.NextField()) {
    if (reader.field == 2 && node->kind == Node::kCategoricalSet) {
      if (!ReadInts(&reader, &node->ids)) return false;
    } else if (reader.Is(2, WireType::kVarint)) {
      node->ids[0] = static_cast<int64_t>(reader.Varint());
    } else if (reader.type == WireType::kVarint && reader.field <= 4) {
      *numbers[reader.field - 1] = ReadInt(&reader);
    } else {
      reader.Skip();
    }
  }
  return reader.ok();
}

bool ParseContent(Bytes bytes, Node* node) {
  switch (node->kind) {
    case Node::kNone:
      return false;
    case Node::kLeaf:
      return ParseLeaf(bytes, &node->leaf);
    case Node::kDense:
    case Node::kObliviousDense:
      return ParseDenseSplit(bytes, node);
    case Node::kSparseDefaultLeft:
    case Node::kSparseDefaultRight:
      return ParseSparseSplit(bytes, node);
    case Node::kCategorical:
    case Node::kCategoricalSet:
    case Node::kObliviousCategorical:
      return ParseCategoricalSplit(bytes, node);
  }
  return false;
}

bool ParseNodeMetadata(Bytes bytes, Node* node) {
  node->has_metadata = true;
  WireReader reader(bytes);
  while (reader.NextField()) {
    bool is_parsed = true;
    if (reader.Is(1, WireType::kFixed32)) {
      node->gain = ReadFloat(&reader);
    } else if (reader.Is(2, WireType::kBytes)) {
      node->has_original_leaf = true;
      is_parsed = ParseLeaf(reader.LengthDelimited(), &node->original_leaf);
    } else if (reader.Is(3, WireType::kBytes)) {
      is_parsed = ParseLeaf(reader.LengthDelimited(), &node->original_oblivious_leaves.emplace_back());
    } else {
      reader.Skip();
    }
    if (!is_parsed) return false;
  }
  return reader.ok();
}

bool ParseNode(Bytes bytes, Node* node) {
  WireReader reader(bytes);
  while (reader.NextField()) {
    bool is_parsed = true;
    if (reader.Is(777, WireType::kBytes)) {
      is_parsed = ParseNodeMetadata(reader.LengthDelimited(), node);
    } else if (reader.type == WireType::kBytes && reader.field <= Node::kObliviousCategorical) {
      node->kind = static_cast<Node::Kind>(reader.field);
      is_parsed = ParseContent(reader.LengthDelimited(), node);
    } else {
      reader.Skip();
    }
    if (!is_parsed) return false;
  }
  return reader.ok();
}

bool ParseTreeMetadata(Bytes bytes, TreeMetadata* metadata) {
  WireReader reader(bytes);
  while (reader.NextField()) {
    if (reader.type != WireType::kVarint || reader.field > 3) {
      reader.Skip();
      continue;
    }
    const int32_t value = ReadInt(&reader);
    if (reader.field == 1) metadata->weight_updates = value;
    if (reader.field == 2) metadata->layers_grown = value;
    if (reader.field == 3) metadata->is_finalized = value != 0;
  }
  return reader.ok();
}

bool ParseGrowing(Bytes bytes, GrowingMetadata* growing) {
  growing->is_set = true;
  WireReader reader(bytes);
  while (reader.NextField()) {
    if (reader.Is(1, WireType::kVarint)) {
      growing->trees_attempted = static_cast<int64_t>(reader.Varint());
    } else if (reader.Is(2, WireType::kVarint)) {
      growing->layers_attempted = static_cast<int64_t>(reader.Varint());
    } else if (reader.field != 3) {
      reader.Skip();
    } else if (!ReadInts(&reader, &growing->used_handlers)) {
      return false;
    }
  }
  return reader.ok();
}

}  // namespace

bool ParseTree(Bytes bytes, Tree* tree) { return ParseTreeOf(bytes, ParseNode, tree); }

bool Ensemble::Parse(Bytes bytes) { return ParseEnsemble(bytes, ParseNode, ParseTreeMetadata, ParseGrowing, this); }

std::string Ensemble::Serialize() const {
  return EnsembleMessage(*this, [](const auto& part) { return Message(part); });
}

void Ensemble::CountAttempt() {
  growing.is_set = true;
  ++growing.layers_attempted;
  if (trees.empty() || is_last_finalized()) ++growing.trees_attempted;
}

Tree* Ensemble::AddTree(float weight) {
  weights.push_back(weight);
  metadata.emplace_back().layers_grown = 1;
  return &trees.emplace_back();
}

void Ensemble::RemoveLastTree() {
  trees.pop_back();
  weights.pop_back();
  metadata.pop_back();
}

bool SplitInfo::Parse(Bytes bytes) {
  WireReader reader(bytes);
  while (reader.NextField()) {
    if (reader.type != WireType::kBytes || reader.field > 3) {
      reader.Skip();
      continue;
    }
    const Bytes content = reader.LengthDelimited();
    const bool is_parsed =
        reader.field == 1 ? ParseNode(content, &node) : ParseLeaf(content, reader.field == 2 ? &left : &right);
    if (!is_parsed) return false;
  }
  return reader.ok();
}

std::string SplitInfo::Serialize() const {
  std::string bytes;
  MessageWriter writer(&bytes);
  writer.Field(1, Message(node));
  writer.Field(2, Message(left));
  writer.Field(3, Message(right));
  return bytes;
}

bool ObliviousSplitInfo::Parse(Bytes bytes) {
  WireReader reader(bytes);
  while (reader.NextField()) {
    bool is_parsed = true;
    if (reader.Is(1, WireType::kBytes)) {
      is_parsed = ParseNode(reader.LengthDelimited(), &node);
    } else if (reader.Is(2, WireType::kBytes)) {
      is_parsed = ParseLeaf(reader.LengthDelimited(), &children.emplace_back());
    } else if (reader.field == 3) {
      is_parsed = ReadInts(&reader, &parents);
    } else {
      reader.Skip();
    }
    if (!is_parsed) return false;
  }
  return reader.ok();
}

std::string ObliviousSplitInfo::Serialize() const {
  std::string bytes;
  MessageWriter writer(&bytes);
  writer.Field(1, Message(node));
  for (const Leaf& child : children) writer.Field(2, Message(child));
  WriteInts(3, parents, &writer);
  return bytes;
}

}  // namespace stillflow::gradient_trees
