// Settings of Algorithm 2, the continuous relaxation. The defaults are the paper authors'.
#pragma once

#include <vector>

namespace clipperplus::inline v0 {

enum class Optimiser { gradient, lbfgs };

struct RelaxationOptions {
  double tol_u = 1e-8;       // an inner loop ends when |du| falls below this
  double tol_f = 1e-9;       // or |dF| below this
  int max_inner = 200;       // gradient steps for one d
  int max_outer = 1000;      // values of d
  double epsilon = 1e-9;     // what counts as zero in u and in its sums over non-neighbours
  int max_line_search = 20;  // tries for one step
  double sigma = 0.01;       // Armijo: share of the linear prediction that a step must gain
  double beta = 0.5;         // step size factor after a failed try; grows by 1/sqrt(beta) after a good one
  double min_alpha = 1e-9;   // step size limits
  double max_alpha = 2.0;
  Optimiser optimiser = Optimiser::gradient;
  std::vector<double> start = {};  // one nonnegative entry per vertex of the graph; empty: ones outside the greedy
                                   // clique
};

}  // namespace clipperplus::inline v0
