// The clique of a pipeline in the style of TEASER: from matches, most of them wrong, to the largest set that agrees.
//
// Such a pipeline measures the distances between matched points, which no rotation or translation changes, joins the
// matches whose distances agree, and gives the maximum clique of that graph to the estimate of the rotation. These are
// the ten lines that do so with clipperplus; the rest of the pipeline stays as it is. Unlike a heuristic, the answer
// says whether it is proven to be the largest.
#include <clipperplus/clipperplus.h>

#include <cstdio>
#include <random>
#include <vector>

struct PointXYZ {
  float x, y, z;
};

// ---- the ten lines ----
std::vector<int> find_max_clique(const std::vector<PointXYZ>& source, const std::vector<PointXYZ>& target,
                                 double noise_bound) {
  const auto graph = clipperplus::consistency_graph(source, target, {.epsilon = 2.0 * noise_bound});
  const auto clique = clipperplus::find_clique(graph, {.time_limit = 1.0});
  if (!clique.optimal()) {
    std::fprintf(stderr, "%zu matches agree, at most %zu do\n", clique.size(), clique.upper_bound);
  }
  return {clique.vertices.begin(), clique.vertices.end()};
}
// -----------------------

int main() {
  std::mt19937 random(0);
  std::uniform_real_distribution<float> coordinate(-10.0F, 10.0F), noise(-0.01F, 0.01F);
  constexpr int kMatches = 1000, kRight = 50;  // 95 % of the matches are wrong
  std::vector<PointXYZ> source, target;
  for (int k = 0; k < kMatches; ++k) {
    source.push_back({coordinate(random), coordinate(random), coordinate(random)});
    const PointXYZ& p = source.back();
    if (k < kRight) {
      target.push_back({3.0F - p.y + noise(random), p.x + noise(random), p.z - 1.0F + noise(random)});
    } else {
      target.push_back({coordinate(random), coordinate(random), coordinate(random)});
    }
  }
  const std::vector<int> inliers = find_max_clique(source, target, 0.03);
  int right = 0;
  for (const int k : inliers) right += k < kRight ? 1 : 0;
  std::printf("%zu of %d matches agree; %d of the %d right ones are among them\n", inliers.size(), kMatches, right,
              kRight);
  return right == kRight ? 0 : 1;
}
