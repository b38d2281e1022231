// leaf_weight.h: the weight that a leaf should have, and what it gains, by gradients and hessians of its examples.
#pragma once

#include <cstdint>
#include <vector>

namespace stillflow::boosted_trees {

// Gains that differ by less are equal.
inline bool GainIsLarger(float a, float b) { return a - b >= 1e-15F; }

// Minimizes (h + l2) w^2 / 2 + g w + l1 |w| of one logit.
inline void Weigh(float gradient, float hessian, float l1, float l2, float* weight, float* gain) {
  *weight = 0;
  *gain = 0;
  if (l1 > 0) {
    if (gradient > l1) {
      gradient -= l1;
    } else if (gradient < -l1) {
      gradient += l1;
    } else {
      return;
    }
  }
  if (hessian + l2 <= 1e-15F) return;
  *weight = -gradient / (hessian + l2);
  *gain = -gradient * *weight;
}

// The same of several logits, whose hessian is a diagonal or a matrix.
class LeafWeigher {
 public:
  LeafWeigher(int64_t logits, int64_t hessians, float l1, float l2)
      : logits_(logits), hessians_(hessians), l1_(l1), l2_(l2), weight_(logits) {}

  // Returns the gain; the weight is weight() until the next call.
  float Weigh(const float* gradient, const float* hessian);
  const std::vector<float>& weight() const { return weight_; }

 private:
  float Solve(const float* gradient, std::vector<float> matrix);

  int64_t logits_;
  int64_t hessians_;
  float l1_;
  float l2_;
  std::vector<float> weight_;
};

}  // namespace stillflow::boosted_trees
