// Hartigan's dip: how far a distribution is from having one hump.
#pragma once

#include <span>
#include <vector>

namespace modeclust {

/// A number that counts as often as its weight says.
struct WeightedValue {
  double value, weight;
};

/// Computes dips, and keeps its memory from one to the next.
class Dip {
 public:
  /// The dip of values in ascending order, whose weights are positive.
  ///
  /// It is the largest difference between their distribution function F and the unimodal one that
  /// is nearest to it: one that is convex up to its mode and concave from there on. The mode alone
  /// may have a jump (Hartigan & Hartigan, 1985).
  double of(std::span<const WeightedValue> values);

 private:
  /// A distinct value x, with the weight of all values below it and of all up to it.
  struct Jump {
    double x, below, up_to;
  };
  /// A range of distinct values, both ends included.
  struct Range {
    int first, last;
    bool operator==(const Range&) const = default;
  };
  /// Where the majorant is farthest above the minorant, and by how much.
  struct Gap {
    double size = -1.0;
    Range corners{0, 0};  // the corner of the minorant before it, that of the majorant after it
  };

  void set_jumps(std::span<const WeightedValue> values);
  void set_links();
  double second_largest_jump() const;
  void set_hulls(Range range);
  Gap largest_gap() const;
  double minorant_at(double x, std::size_t corner) const;
  double majorant_at(double x, std::size_t corner) const;
  double distance_to_minorant(int last) const;
  double distance_to_majorant(int first) const;

  std::vector<Jump> jumps_;
  // Of the hulls of the values up to each value, and from it on: the corner next to it.
  std::vector<int> before_, after_;
  // In the current range, the corners of the greatest convex function below F and of the least
  // concave one above it.
  std::vector<int> minorant_, majorant_;
};

}  // namespace modeclust
