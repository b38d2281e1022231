// ensemble_message.h: what the messages of both kinds of ensembles have in common: trees of nodes, their weights,
// what is known of each tree, and how the ensemble grows.
#pragma once

#include <string>

#include "state_kernels/boosted_trees/message_fields.h"

namespace stillflow::boosted_trees {

template <typename Tree, typename ParseNode>
bool ParseTreeOf(io::Bytes bytes, ParseNode parse_node, Tree* tree) {
  io::WireReader reader(bytes);
  while (reader.NextField()) {
    if (!reader.Is(1, io::WireType::kBytes)) {
      reader.Skip();
    } else if (!parse_node(reader.LengthDelimited(), &tree->nodes.emplace_back())) {
      return false;
    }
  }
  return reader.ok();
}

template <typename Ensemble, typename ParseNode, typename ParseMetadata, typename ParseGrowing>
bool ParseEnsemble(io::Bytes bytes, ParseNode parse_node, ParseMetadata parse_metadata, ParseGrowing parse_growing,
                   Ensemble* ensemble) {
  *ensemble = Ensemble();
  io::WireReader reader(bytes);
  while (reader.NextField()) {
    bool is_parsed = true;
    if (reader.Is(1, io::WireType::kBytes)) {
      is_parsed = ParseTreeOf(reader.LengthDelimited(), parse_node, &ensemble->trees.emplace_back());
    } else if (reader.field == 2) {
      is_parsed = ReadFloats(&reader, &ensemble->weights);
    } else if (reader.Is(3, io::WireType::kBytes)) {
      is_parsed = parse_metadata(reader.LengthDelimited(), &ensemble->metadata.emplace_back());
    } else if (reader.Is(4, io::WireType::kBytes)) {
      is_parsed = parse_growing(reader.LengthDelimited(), &ensemble->growing);
    } else {
      reader.Skip();
    }
    if (!is_parsed) return false;
  }
  return reader.ok();
}

// `message` makes the bytes of a node, of a tree's metadata and of the growing metadata.
template <typename Ensemble, typename MessageOf>
std::string EnsembleMessage(const Ensemble& ensemble, MessageOf message) {
  std::string bytes;
  io::MessageWriter writer(&bytes);
  for (const auto& tree : ensemble.trees) {
    std::string nodes;
    io::MessageWriter inner(&nodes);
    for (const auto& node : tree.nodes) inner.Field(1, message(node));
    writer.Field(1, nodes);
  }
  WriteFloats(2, ensemble.weights, &writer);
  for (const auto& each : ensemble.metadata) writer.Field(3, message(each));
  if (ensemble.growing.is_set) writer.Field(4, message(ensemble.growing));
  return bytes;
}

}  // namespace stillflow::boosted_trees
