// The arrays that the core takes from Python. Other types of numbers, strides and unaligned memory
// are copied where an array is read, and refused where it is written.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace modeclust {

namespace nb = nanobind;

/// An array whose numbers are aligned: its elements are read and written as what they are.
template <class Array>
struct Aligned : Array {
  Aligned() = default;
  explicit Aligned(Array array) : Array(std::move(array)) {}

  bool is_aligned() const {
    const auto address = reinterpret_cast<std::uintptr_t>(this->data());
    return !this->is_valid() || address % this->itemsize() == 0;
  }
};

template <class T, class... Shape>
using AlignedArray = Aligned<nb::ndarray<T, Shape..., nb::c_contig, nb::device::cpu>>;

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;  // dense rows, in any layout
using AnyVector = Aligned<AnyArray>;                    // a part of a CSR matrix
using Vector = AlignedArray<const double, nb::ndim<1>>;
using Matrix = AlignedArray<const double, nb::ndim<2>>;
using Labels = AlignedArray<const std::int32_t, nb::ndim<1>>;
using Pairs = AlignedArray<const std::int64_t, nb::shape<-1, 2>>;
using OutVector = AlignedArray<double, nb::ndim<1>>;
using OutMatrix = AlignedArray<double, nb::ndim<2>>;

/// Throws a ValueError unless an argument is right.
inline void check(bool holds, const char* message) {
  if (!holds) throw nb::value_error(message);
}
inline void check(bool holds, const std::string& message) { check(holds, message.c_str()); }

/// The owner of the memory of a new array.
template <class T>
nb::capsule owner_of(T* data) {
  return nb::capsule(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
}

}  // namespace modeclust

namespace nanobind::detail {

template <class Array>
struct type_caster<modeclust::Aligned<Array>> {
  using Inner = make_caster<Array>;
  NB_TYPE_CASTER(modeclust::Aligned<Array>, Inner::Name)

  template <class Flags>
  bool from_python(handle source, Flags flags, cleanup_list* cleanup) noexcept {
    // What is written to a copy would be lost.
    constexpr bool may_copy = std::is_const_v<typename Array::Scalar>;
    if constexpr (!may_copy) flags = flags & ~static_cast<Flags>(cast_flags::convert);
    if (!load(source, flags, cleanup)) return false;
    if (value.is_aligned()) return true;
    if constexpr (may_copy) {
      try {
        return load(source.attr("copy")(), flags, cleanup);
      } catch (const python_error&) {
        return false;
      }
    }
    return false;
  }

 private:
  template <class Flags>
  bool load(handle source, Flags flags, cleanup_list* cleanup) noexcept {
    Inner caster;
    if (!caster.from_python(source, flags, cleanup)) return false;
    value = modeclust::Aligned<Array>(std::move(caster.value));
    return true;
  }
};

}  // namespace nanobind::detail
