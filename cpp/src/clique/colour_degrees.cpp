#include "clique/colour_degrees.h"

#include <algorithm>
#include <bit>

namespace clipperplus::inline v0 {

namespace {

class ColourDegrees {
 public:
  ColourDegrees(const Graph& graph, std::span<const Vertex> colours)
      : graph_(graph),
        colours_(colours),
        present_(row_words(graph.num_vertices()), 0),
        seen_(colours.empty()
                  ? 1
                  : static_cast<std::size_t>(*std::max_element(colours.begin(), colours.end())) / kWordBits + 1) {
    set_prefix(present_.data(), graph.num_vertices());
  }

  bool present(std::size_t v) const { return test_bit(present_.data(), v); }
  void drop(std::size_t v) { clear_bit(present_.data(), v); }

  // Whether the neighbours of v that are present have at least so many colours. Stops as soon as they do.
  bool reaches(std::size_t v, std::size_t wanted) {
    std::fill(seen_.begin(), seen_.end(), 0);
    std::size_t count = 0;
    const auto see = [&](std::size_t u) {
      const auto colour = static_cast<std::size_t>(colours_[u]);
      count += test_bit(seen_.data(), colour) ? 0 : 1;
      set_bit(seen_.data(), colour);
    };
    if (graph_.has_bits()) {
      const Word* row = graph_.row(v);
      for (std::size_t w = 0; w < graph_.stride() && count < wanted; ++w) {
        for (Word rest = row[w] & present_[w]; rest != 0; rest &= rest - 1) {
          see(w * kWordBits + static_cast<std::size_t>(std::countr_zero(rest)));
        }
      }
    } else {
      for (const Vertex u : graph_.neighbours(v)) {
        if (count >= wanted) break;
        if (present(static_cast<std::size_t>(u))) see(static_cast<std::size_t>(u));
      }
    }
    return count >= wanted;
  }

 private:
  const Graph& graph_;
  std::span<const Vertex> colours_;
  std::vector<Word> present_, seen_;
};

}  // namespace

std::vector<Vertex> keep_by_colours(const Graph& graph, std::span<const Vertex> colours, std::size_t size,
                                    Control& control) {
  constexpr std::size_t kVerticesPerPoll = 16;
  const std::size_t n = graph.num_vertices();
  ColourDegrees degrees(graph, colours);
  std::size_t left = n;
  for (bool again = n > 0; again;) {
    std::size_t dropped = 0;
    for (std::size_t v = n; v-- > 0;) {
      if (v % kVerticesPerPoll == 0 && control.expired()) break;
      if (!degrees.present(v) || degrees.reaches(v, size)) continue;
      degrees.drop(v);
      ++dropped;
    }
    left -= dropped;
    again = dropped * 50 > left && !control.stopped();
  }
  std::vector<Vertex> kept;
  kept.reserve(left);
  for (std::size_t v = 0; v < n; ++v) {
    if (degrees.present(v)) kept.push_back(static_cast<Vertex>(v));
  }
  return kept;
}

}  // namespace clipperplus::inline v0
