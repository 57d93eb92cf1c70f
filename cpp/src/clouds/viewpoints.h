// What a surface looks like from a place: whether a sensor can have stood there.
//
// Four numbers. Of neighbouring, nearly parallel normals, the share that turning each towards the place turns apart: a
// sensor sees a surface from one side. The shares of the surface that is hidden behind other parts of it, and that is
// seen at a grazing angle. And how well the points of a single scan thin out with the distance, as rays do: the
// correlation between the logarithms of how many raw points there are to a voxel and of r / √cos, negative; merged or
// thinned clouds have none, from wherever one looks.
//
// A sample of the points stands for the surface. A look at 1000 of them and 3000 pairs takes about 28 µs: 80 000
// operations, two at a time in loops that are compiled for every processor, and 1000 logarithms of 8 ns; the floor is
// half of that. What is hidden takes as much again: an image of directions, 2.8° each, keeps the least range in each,
// and a point is hidden by another that is nearer by more than a margin and than that one's slope explains.
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
    std::size_t first, second;  // numbers of the points
    bool turned;                // the second normal, to be on the side of the first
  };
  // Vectors, coordinates apart: loops over many of them are left to the compiler.
  struct Vectors {
    std::vector<double> x, y, z;

    void push_back(const Vector3& v) { x.push_back(v[0]), y.push_back(v[1]), z.push_back(v[2]); }
    std::size_t size() const { return x.size(); }
  };
  // A plane through a point: how far a place is in front of it is normal · place - offset.
  struct Planes {
    Vectors normals;
    std::vector<double> offsets;

    void push_back(const Vector3& point, const Vector3& normal) {
      normals.push_back(normal);
      offsets.push_back(dot(point, normal));
    }
  };

  Vector3 origin_{};  // of the frame of all that follows: a point of the surface
  Vectors points_, normals_;
  std::vector<double> densities_;  // logarithms, less their mean
  std::vector<Pair> pairs_;        // of neighbours …
  Planes first_, second_;          // … and planes at the points of each, the normals on one side
  double margin_;
  std::size_t size_;
};

}  // namespace clipperplus
