#include "dip.hpp"

#include <algorithm>

namespace modeclust {
namespace {

struct Point {
  double x, y;
};

double on_line(double x, Point a, Point b) { return a.y + (b.y - a.y) * ((x - a.x) / (b.x - a.x)); }

/// Finds the corner before point i on the lower convex hull of the points up to i, for each i.
template <class PointAt>
void find_corners(int n, PointAt point_at, std::vector<int>& hull, std::vector<int>& before) {
  hull.clear();
  before.resize(static_cast<std::size_t>(n));
  for (int i = 0; i < n; i++) {
    const Point c = point_at(i);
    while (hull.size() > 1) {
      const Point a = point_at(hull[hull.size() - 2]), b = point_at(hull.back());
      if ((b.y - a.y) * (c.x - b.x) < (c.y - b.y) * (b.x - a.x)) break;  // it turns upwards at b
      hull.pop_back();
    }
    before[i] = hull.empty() ? i : hull.back();
    hull.push_back(i);
  }
}

}  // namespace

double Dip::of(std::span<const WeightedValue> values) {
  if (values.empty()) return 0.0;
  set_jumps(values);
  set_links();
  // Twice the dip, times the weight of all values. A continuous function differs from F by at least
  // half of each jump.
  double distance = second_largest_jump();
  Range range{0, static_cast<int>(jumps_.size()) - 1};  // the mode is here
  while (range.first < range.last) {
    set_hulls(range);
    const Gap gap = largest_gap();
    if (gap.size <= distance || gap.corners == range) break;
    distance = std::max({distance, distance_to_minorant(gap.corners.first),
                         distance_to_majorant(gap.corners.last)});
    range = gap.corners;
  }
  return 0.5 * distance / jumps_.back().up_to;
}

void Dip::set_jumps(std::span<const WeightedValue> values) {
  jumps_.clear();
  double total = 0.0;
  for (const WeightedValue& next : values) {
    if (jumps_.empty() || next.value > jumps_.back().x) {
      jumps_.push_back({next.value, total, total});
    }
    total += next.weight;
    jumps_.back().up_to = total;
  }
}

double Dip::second_largest_jump() const {
  double largest = 0.0, second = 0.0;
  for (const Jump& jump : jumps_) {
    const double size = jump.up_to - jump.below;
    second = std::max(second, std::min(size, largest));
    largest = std::max(largest, size);
  }
  return second;
}

void Dip::set_links() {
  const int n = static_cast<int>(jumps_.size());
  find_corners(n, [&](int i) { return Point{jumps_[i].x, jumps_[i].below}; }, minorant_, before_);
  // The majorant is the lower hull of the values turned round, from the last to the first.
  find_corners(
      n, [&](int i) { return Point{-jumps_[n - 1 - i].x, -jumps_[n - 1 - i].up_to}; }, majorant_,
      after_);
  std::reverse(after_.begin(), after_.end());
  for (int& i : after_) i = n - 1 - i;
}

/// The corners of the hulls in a range, by the links.
///
/// The hulls of a range are parts of those of all values before its end, and after its start: each
/// range starts at a corner of the minorant of the last one, and ends at one of the majorant.
void Dip::set_hulls(Range range) {
  minorant_.assign(1, range.last);
  while (minorant_.back() > range.first) minorant_.push_back(before_[minorant_.back()]);
  std::reverse(minorant_.begin(), minorant_.end());
  majorant_.assign(1, range.first);
  while (majorant_.back() < range.last) majorant_.push_back(after_[majorant_.back()]);
}

Dip::Gap Dip::largest_gap() const {
  Gap largest;
  std::size_t g = 0, l = 0;  // the next corners, in order of x; both hulls end at the same x
  while (l < majorant_.size()) {
    Gap gap;
    if (g < minorant_.size() && minorant_[g] <= majorant_[l]) {
      const Jump& corner = jumps_[minorant_[g]];
      gap = {majorant_at(corner.x, l) - corner.below, {minorant_[g], majorant_[l]}};
      g++;
    } else {
      const Jump& corner = jumps_[majorant_[l]];
      gap = {corner.up_to - minorant_at(corner.x, g), {minorant_[g - 1], majorant_[l]}};
      l++;
    }
    if (gap.size > largest.size) largest = gap;
  }
  return largest;
}

/// The minorant at x, which is at the corner before this one or between the two.
double Dip::minorant_at(double x, std::size_t corner) const {
  const Jump& a = jumps_[minorant_[corner - 1]];
  if (x == a.x) return a.below;
  const Jump& b = jumps_[minorant_[corner]];
  return on_line(x, {a.x, a.below}, {b.x, b.below});
}

/// The majorant at x, which is at this corner or between it and the one before.
double Dip::majorant_at(double x, std::size_t corner) const {
  const Jump& b = jumps_[majorant_[corner]];
  if (x == b.x) return b.up_to;
  const Jump& a = jumps_[majorant_[corner - 1]];
  return on_line(x, {a.x, a.up_to}, {b.x, b.up_to});
}

/// The largest distance of F to the minorant before a corner of it.
double Dip::distance_to_minorant(int last) const {
  double distance = 0.0;
  for (std::size_t g = 1; g < minorant_.size() && minorant_[g] <= last; g++) {
    for (int i = minorant_[g - 1]; i < minorant_[g]; i++) {
      distance = std::max(distance, jumps_[i].up_to - minorant_at(jumps_[i].x, g));
    }
  }
  return distance;
}

/// The largest distance of F to the majorant after a corner of it.
double Dip::distance_to_majorant(int first) const {
  double distance = 0.0;
  for (std::size_t l = majorant_.size() - 1; l > 0 && majorant_[l - 1] >= first; l--) {
    for (int i = majorant_[l - 1] + 1; i <= majorant_[l]; i++) {
      distance = std::max(distance, majorant_at(jumps_[i].x, l) - jumps_[i].below);
    }
  }
  return distance;
}

}  // namespace modeclust
