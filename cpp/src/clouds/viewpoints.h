// What a surface looks like from a place: whether a sensor can have stood there.
//
// Four numbers. Of neighbouring, nearly parallel normals, the share that turning each towards the place turns apart: a
// sensor sees a surface from one side. The shares of the surface that is hidden behind other parts of it, and that is
// seen at a grazing angle. And how well the points of a single scan thin out with the distance, as rays do: the
// correlation between the logarithms of how many raw points there are to a voxel and of r / √cos, negative; merged or
// thinned clouds have none, from wherever one looks.
//
// A sample of the points stands for the surface. A look at 1000 of them takes about 25 µs, and as much again for what
// is hidden: an image of directions, 2.8° each, keeps the least range in each, and a point is hidden by another that is
// nearer by more than a margin and than that one's slope explains.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "clouds/neighbours.h"
#include "geometry/rigid.h"

namespace clipperplus {

struct View {
  double torn, hidden, grazing, thinning;
};

class ViewedSurface {
 public:
  // Points, unit normals whose signs do not matter, and how many raw points each stands for; `neighbours` within at
  // least `radius` are those whose normals are compared. At most about `most` points are kept.
  ViewedSurface(std::span<const double> points, std::span<const double> normals, std::span<const std::int32_t> counts,
                const Neighbours& neighbours, double radius, double margin, std::size_t most);

  // What is hidden only if it is asked for; else 0.
  View from(const Vector3& place, bool with_hidden) const;

  // The share torn by sides that were chosen otherwise: 1 for the side of a point's normal, -1 for the other one, 0 for
  // a point that has none. 1 where fewer than half of the neighbours have sides.
  double torn_by(std::span<const std::int8_t> sides) const;

  std::size_t size() const { return size_; }  // points that there were, and sides that there must be

 private:
  struct Pair {
    Vector3 first, first_normal, second, second_normal;  // the normals on one side
    std::size_t first_number, second_number;
    bool turned;  // the second normal, to be on that side
  };

  std::vector<Vector3> points_, normals_;
  std::vector<double> densities_;  // logarithms, less their mean
  std::vector<Pair> pairs_;
  double margin_;
  std::size_t size_;
};

}  // namespace clipperplus
