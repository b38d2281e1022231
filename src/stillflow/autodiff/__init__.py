"""Gradients: reverse mode over the graph, second derivatives, gradients that programs define."""
