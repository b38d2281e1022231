#include "state_kernels/forest/tree.h"

#include <cstdlib>

#include "io/message_writer.h"

namespace stillflow::forest {
namespace {

using io::Bytes;
using io::MessageWriter;
using io::WireReader;
using io::WireType;

constexpr char kMatchingValuesUrl[] = "type.googleapis.com/tensorflow.decision_trees.MatchingValuesTest";

std::string Int32Value(int64_t value) {
  std::string bytes;
  MessageWriter(&bytes).VarintUnlessZero(1, static_cast<uint64_t>(value));
  return bytes;
}

std::string FloatValue(const Leaf::Value& value) {
  std::string bytes;
  if (value.is_set) MessageWriter(&bytes).Float(1, value.number);
  return bytes;
}

std::string FeatureId(int64_t feature) {
  std::string text, id;
  MessageWriter(&text).Field(1, std::to_string(feature));
  MessageWriter(&id).Field(1, text);
  return id;
}

std::string LeafBytes(const Leaf& leaf) {
  std::string values, bytes;
  if (leaf.is_vector) {
    for (const Leaf::Value& value : leaf.vector) MessageWriter(&values).Field(1, FloatValue(value));
    MessageWriter(&bytes).Field(1, values);
  } else if (leaf.is_sparse) {
    for (const auto& [key, value] : leaf.sparse) {
      std::string entry;
      MessageWriter(&entry).Varint(1, static_cast<uint64_t>(key));
      MessageWriter(&entry).Field(2, FloatValue(value));
      MessageWriter(&values).Field(1, entry);
    }
    MessageWriter(&bytes).Field(2, values);
  }
  return bytes;
}

// ---- Reading ------------------------------------------------------------------------------------------------------

// The fields of a message, each with `take(&reader)`, which returns false for what it cannot read.
template <typename Take>
bool ForFields(Bytes bytes, const Take& take) {
  WireReader reader(bytes);
  while (reader.NextField()) {
    if (!take(&reader)) return false;
  }
  return reader.ok();
}

bool ParseInt32Value(Bytes bytes, int64_t* value) {
  *value = 0;
  return ForFields(bytes, [&](WireReader* reader) {
    if (reader->Is(1, WireType::kVarint)) {
      *value = static_cast<int32_t>(reader->Varint());
    } else {
      reader->Skip();
    }
    return true;
  });
}

bool ParseValue(Bytes bytes, Leaf::Value* value) {
  return ForFields(bytes, [&](WireReader* reader) {
    if (reader->Is(1, WireType::kFixed32)) {
      value->number = DepthParam::FloatOf(reader->Fixed32());
      value->is_set = true;
    } else {
      reader->Skip();
    }
    return true;
  });
}

bool ParseFeatureId(Bytes bytes, int64_t* feature) {
  return ForFields(bytes, [&](WireReader* reader) {
    if (!reader->Is(1, WireType::kBytes)) {
      reader->Skip();
      return true;
    }
    return ForFields(reader->LengthDelimited(), [&](WireReader* text) {
      if (text->Is(1, WireType::kBytes)) {
        *feature = std::strtoll(text->LengthDelimited().ToString().c_str(), nullptr, 10);
      } else {
        text->Skip();
      }
      return *feature >= 0;
    });
  });
}

bool ParseInequality(Bytes bytes, Split* split) {
  return ForFields(bytes, [&](WireReader* reader) {
    Leaf::Value value;
    if (reader->Is(1, WireType::kBytes)) return ParseFeatureId(reader->LengthDelimited(), &split->feature);
    if (reader->Is(4, WireType::kBytes)) return false;  // sums of features are not made here
    if (reader->Is(2, WireType::kVarint)) {
      const uint64_t kind = reader->Varint();
      split->kind = static_cast<int>(kind);
      return kind <= Split::kGreater;
    }
    if (reader->Is(3, WireType::kBytes)) {
      const bool is_parsed = ParseValue(reader->LengthDelimited(), &value);
      split->threshold = value.number;
      return is_parsed;
    }
    reader->Skip();
    return true;
  });
}

bool ParseMatchingValues(Bytes any, Split* split) {
  split->kind = Split::kMatches;
  return ForFields(any, [&](WireReader* reader) {
    if (reader->Is(1, WireType::kBytes)) return reader->LengthDelimited() == Bytes(std::string(kMatchingValuesUrl));
    if (!reader->Is(2, WireType::kBytes)) {
      reader->Skip();
      return true;
    }
    return ForFields(reader->LengthDelimited(), [&](WireReader* test) {
      Leaf::Value value;
      if (test->Is(1, WireType::kBytes)) return ParseFeatureId(test->LengthDelimited(), &split->feature);
      if (test->Is(2, WireType::kBytes)) {
        const bool is_parsed = ParseValue(test->LengthDelimited(), &value);
        split->threshold = value.number;
        return is_parsed;
      }
      test->Skip();
      return true;
    });
  });
}

bool ParseSparseEntry(Bytes bytes, Leaf* leaf) {
  int64_t key = 0;
  Leaf::Value value;
  const bool is_parsed = ForFields(bytes, [&](WireReader* reader) {
    if (reader->Is(1, WireType::kVarint)) {
      key = static_cast<int64_t>(reader->Varint());
    } else if (reader->Is(2, WireType::kBytes)) {
      return ParseValue(reader->LengthDelimited(), &value);
    } else {
      reader->Skip();
    }
    return true;
  });
  leaf->sparse[key] = value;
  return is_parsed;
}

bool ParseLeaf(Bytes bytes, Leaf* leaf) {
  return ForFields(bytes, [&](WireReader* reader) {
    if (reader->type != WireType::kBytes || reader->field > 2) {
      reader->Skip();
      return true;
    }
    const bool is_vector = reader->field == 1;
    leaf->is_vector = is_vector;
    leaf->is_sparse = !is_vector;
    return ForFields(reader->LengthDelimited(), [&](WireReader* values) {
      if (!values->Is(1, WireType::kBytes)) {
        values->Skip();
        return true;
      }
      if (!is_vector) return ParseSparseEntry(values->LengthDelimited(), leaf);
      leaf->vector.emplace_back();
      return ParseValue(values->LengthDelimited(), &leaf->vector.back());
    });
  });
}

bool ParseNode(Bytes bytes, TreeNode* node) {
  return ForFields(bytes, [&](WireReader* reader) {
    int64_t unused = 0;
    if (reader->type != WireType::kBytes) {
      reader->Skip();
      return true;
    }
    const uint32_t field = reader->field;
    const Bytes value = reader->LengthDelimited();
    switch (field) {
      case 1:
        node->has_id = true;
        return ParseInt32Value(value, &unused);
      case 4:
        node->is_leaf = false;
        return ParseSplit(value, &node->split, &node->left, &node->right);
      case 5:
        return ParseLeaf(value, &node->leaf);
      default:
        return field != 6;  // nodes of other kinds are not made here
    }
  });
}

}  // namespace

std::string SplitBytes(const Split& split, bool has_children, int64_t left, int64_t right) {
  std::string bytes, test;
  MessageWriter writer(&bytes);
  if (has_children) {
    writer.Field(1, Int32Value(left));
    writer.Field(2, Int32Value(right));
  }
  const std::string threshold = FloatValue({split.threshold, true});
  if (split.kind == Split::kMatches) {
    std::string any;
    MessageWriter(&test).Field(1, FeatureId(split.feature));
    MessageWriter(&test).Field(2, threshold);
    MessageWriter(&any).Field(1, std::string(kMatchingValuesUrl));
    MessageWriter(&any).Field(2, test);
    writer.Field(5, any);
    return bytes;
  }
  MessageWriter(&test).Field(1, FeatureId(split.feature));
  MessageWriter(&test).VarintUnlessZero(2, split.kind);
  MessageWriter(&test).Field(3, threshold);
  writer.Field(4, test);
  return bytes;
}

bool ParseSplit(Bytes bytes, Split* split, int64_t* left, int64_t* right) {
  return ForFields(bytes, [&](WireReader* reader) {
    if (reader->Is(1, WireType::kBytes)) return ParseInt32Value(reader->LengthDelimited(), left);
    if (reader->Is(2, WireType::kBytes)) return ParseInt32Value(reader->LengthDelimited(), right);
    if (reader->Is(4, WireType::kBytes)) return ParseInequality(reader->LengthDelimited(), split);
    if (reader->Is(5, WireType::kBytes)) return ParseMatchingValues(reader->LengthDelimited(), split);
    reader->Skip();
    return true;
  });
}

std::string NodeBytes(const TreeNode& node, int64_t id) {
  std::string bytes;
  MessageWriter writer(&bytes);
  if (node.has_id) writer.Field(1, Int32Value(id));
  if (node.is_leaf) {
    writer.Field(5, LeafBytes(node.leaf));
  } else {
    writer.Field(4, SplitBytes(node.split, true, node.left, node.right));
  }
  return bytes;
}

std::string ModelBytes(const std::vector<TreeNode>& nodes) {
  std::string tree, model;
  for (size_t i = 0; i < nodes.size(); ++i) {
    MessageWriter(&tree).Field(1, NodeBytes(nodes[i], static_cast<int64_t>(i)));
  }
  MessageWriter(&model).Field(1, tree);
  return model;
}

bool ParseModel(Bytes bytes, std::vector<TreeNode>* nodes) {
  const bool is_parsed = ForFields(bytes, [&](WireReader* reader) {
    if (!reader->Is(1, WireType::kBytes)) {
      reader->Skip();
      return true;
    }
    return ForFields(reader->LengthDelimited(), [&](WireReader* tree) {
      if (!tree->Is(1, WireType::kBytes)) {
        tree->Skip();
        return true;
      }
      nodes->emplace_back();
      return ParseNode(tree->LengthDelimited(), &nodes->back());
    });
  });
  const auto count = static_cast<int64_t>(nodes->size());
  for (int64_t i = 0; i < count; ++i) {
    const TreeNode& node = (*nodes)[i];
    const bool has_children = node.left > i && node.right > i && node.left < count && node.right < count;
    if (!node.is_leaf && !has_children) return false;
  }
  return is_parsed;
}

}  // namespace stillflow::forest
