// Weights of leaves with several logits.
#include "state_kernels/boosted_trees/leaf_weight.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stillflow::boosted_trees {
namespace {

// Solves a x = b of a square matrix, by columns, which need not have full rank: Householder reflections of columns in
// the order of their norms (Businger and Golub 1965).
class PivotedSolver {
 public:
  PivotedSolver(int64_t size, std::vector<float>* matrix) : n_(size), a_(*matrix), norms_(size), order_(size) {}

  void Solve(std::vector<float>* b, std::vector<float>* x) {
    for (int64_t j = 0; j < n_; ++j) {
      order_[j] = j;
      norms_[j] = TailNorm(j, 0);
    }
    const float largest = n_ == 0 ? 0 : *std::max_element(norms_.begin(), norms_.end());
    const float scaled = largest * std::numeric_limits<float>::epsilon();
    const float threshold = scaled * scaled / static_cast<float>(n_);
    int64_t rank = n_;
    for (int64_t k = 0; k < n_; ++k) {
      const int64_t pivot = std::max_element(norms_.begin() + k, norms_.end()) - norms_.begin();
      const float square = norms_[pivot] * norms_[pivot];
      if (rank == n_ && square < threshold * static_cast<float>(n_ - k)) rank = k;
      Swap(k, pivot);
      Reflect(k, b);
      for (int64_t j = k + 1; j < n_; ++j) norms_[j] = TailNorm(j, k + 1);
    }
    std::fill(x->begin(), x->end(), 0.0F);
    for (int64_t i = rank - 1; i >= 0; --i) {
      float value = (*b)[i];
      for (int64_t j = i + 1; j < rank; ++j) value -= At(i, j) * (*x)[order_[j]];
      (*x)[order_[i]] = value == 0 ? 0 : value / At(i, i);  // 0 also of a column of zeros
    }
  }

 private:
  float& At(int64_t row, int64_t column) { return a_[column * n_ + row]; }

  float TailNorm(int64_t column, int64_t first) {
    float sum = 0;
    for (int64_t i = first; i < n_; ++i) sum += At(i, column) * At(i, column);
    return std::sqrt(sum);
  }

  void Swap(int64_t k, int64_t pivot) {
    if (k == pivot) return;
    for (int64_t i = 0; i < n_; ++i) std::swap(At(i, k), At(i, pivot));
    std::swap(norms_[k], norms_[pivot]);
    std::swap(order_[k], order_[pivot]);
  }

  // Makes zeros below the diagonal in column k, and does the same to what is right of it and to b.
  void Reflect(int64_t k, std::vector<float>* b) {
    float tail = 0;
    for (int64_t i = k + 1; i < n_; ++i) tail += At(i, k) * At(i, k);
    const float head = At(k, k);
    if (tail <= std::numeric_limits<float>::min()) return;
    const float beta = head >= 0 ? -std::sqrt(head * head + tail) : std::sqrt(head * head + tail);
    const float tau = (beta - head) / beta;
    std::vector<float> v(n_ - k, 1.0F);
    for (int64_t i = k + 1; i < n_; ++i) v[i - k] = At(i, k) / (head - beta);
    const auto reflect = [&](float* column) {
      float dot = 0;
      for (int64_t i = k; i < n_; ++i) dot += v[i - k] * column[i];
      for (int64_t i = k; i < n_; ++i) column[i] -= tau * dot * v[i - k];
    };
    for (int64_t j = k + 1; j < n_; ++j) reflect(&At(0, j));
    reflect(b->data());
    At(k, k) = beta;
  }

  int64_t n_;
  std::vector<float>& a_;
  std::vector<float> norms_;
  std::vector<int64_t> order_;
};

}  // namespace

float LeafWeigher::Weigh(const float* gradient, const float* hessian) {
  float gain = 0;
  if (logits_ == 1) {
    boosted_trees::Weigh(gradient[0], hessian[0], l1_, l2_, weight_.data(), &gain);
    return gain;
  }
  std::vector<float> matrix(logits_ * logits_);
  bool is_invertible = hessians_ == logits_;
  for (int64_t i = 0; i < logits_; ++i) {
    for (int64_t j = 0; j < logits_ && hessians_ != logits_; ++j) {
      matrix[i * logits_ + j] = hessian[i * logits_ + j] + (i == j ? l2_ : 0.0F);
    }
    if (hessians_ == logits_) {
      const float diagonal = matrix[i * logits_ + i] = hessian[i] + l2_;
      is_invertible = is_invertible && diagonal != 0;
    }
  }
  if (!is_invertible) return Solve(gradient, std::move(matrix));
  for (int64_t i = 0; i < logits_; ++i) {
    weight_[i] = -(1 / matrix[i * logits_ + i]) * gradient[i];
    gain += -gradient[i] * weight_[i];
  }
  return gain;
}

float LeafWeigher::Solve(const float* gradient, std::vector<float> matrix) {
  std::vector<float> right(gradient, gradient + logits_);
  PivotedSolver(logits_, &matrix).Solve(&right, &weight_);
  float gain = 0;
  for (int64_t i = 0; i < logits_; ++i) {
    weight_[i] = -weight_[i];
    gain += -gradient[i] * weight_[i];
  }
  return gain;
}

}  // namespace stillflow::boosted_trees
