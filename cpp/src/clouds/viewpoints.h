// What a surface looks like from a place: whether a sensor can have stood there.
//
// Four numbers. Of neighbouring, nearly parallel normals, the share that turning each towards the place turns apart: a
// sensor sees a surface from one side. The shares of the surface that is hidden behind other parts of it, and that is
// seen at a grazing angle. And how well the points of a single scan thin out with the distance, as rays do: the
// correlation between the logarithms of how many raw points there are to a voxel and of r / √cos, negative; merged or
// thinned clouds have none, from wherever one looks.
//
// A sample of the points stands for the surface. A look at 1000 of them and 3000 pairs takes about 10 µs with AVX2: it
// reads 240 kB, 3 µs from the second cache, and takes 100 000 operations, 4 µs at two operations on four numbers a
// cycle; roots and quotients take longer. What is hidden takes 12 µs more: an image of directions, 2.8° each, keeps the
// least range in each, and a point is hidden by another that is nearer by more than a margin and than that one's slope
// explains.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "clipperplus/bits.h"
#include "clouds/neighbours.h"
#include "clouds/oriented_points.h"
#include "geometry/rigid.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

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
  View from(const Vector3& place, bool with_hidden, const simd::Kernels& kernels) const;

  // The share torn by sides that were chosen otherwise: 1 for the side of a point's normal, -1 for the other one, 0 for
  // a point that has none. 1 where fewer than half of the neighbours have sides.
  double torn_by(std::span<const std::int8_t> sides) const;

  std::size_t size() const { return size_; }  // points that there were, and sides that there must be

 private:
  struct Pair {
    std::size_t first, second;  // numbers of the points
    bool turned;                // the second normal, to be on the side of the first
  };
  // Planes through points, numbers apart: how far a place is in front of one is normal · place - offset.
  struct Planes {
    std::vector<double> x, y, z, offsets;

    void push_back(const Vector3& point, const Vector3& normal) {
      x.push_back(normal[0]), y.push_back(normal[1]), z.push_back(normal[2]);
      offsets.push_back(dot(point, normal));
    }
  };

  Vector3 origin_{};         // of the frame of all that follows: a point of the surface
  OrientedPoints points_;    // what counts is the logarithm of the density, less the mean of these
  std::vector<Pair> pairs_;  // of neighbours …
  Planes first_, second_;    // … and planes at the points of each, the normals on one side
  double margin_;
  std::size_t size_;
};

}  // namespace clipperplus::inline v0
