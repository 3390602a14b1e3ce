"""exp for a whole run of numbers, in a form that the compiler vectorises."""

from typing import Any

from modeclust.compiled import compiled_in_order

# exp(y) = 2^n 2^f, with n the integer nearest to y log2(e) and |f| <= 1/2.
LOG2_E = 1.4426950408889634
LN2_HIGH = 6.93147180369123816490e-01  # ln 2, with zeros at the end
LN2_LOW = 1.90821492927058770002e-10  # and the rest of it
# Adding it rounds to an integer, which is then in the low bits.
ROUND = 6755399441055744.0  # 1.5 * 2^52


@compiled_in_order
def exp_of_minus_half(values: Any, n: int, bits: Any, bits_as_floats: Any, out: Any) -> None:
    """Write exp(-v / 2) of the first `n` values, each from -700 to 700, to `out`.

    The error is below 2 units in the last place. `bits` is room for n integers, and
    `bits_as_floats` the same memory seen as floats.
    """
    for m in range(n):
        y = -0.5 * values[m]
        rounded = y * LOG2_E + ROUND
        bits_as_floats[m] = rounded
        whole = rounded - ROUND
        r = (y - whole * LN2_HIGH) - whole * LN2_LOW
        # Taylor's series to r^13 / 13!; |r| <= ln(2) / 2
        p = 1.6059043836821613e-10
        p = p * r + 2.08767569878681e-09
        p = p * r + 2.505210838544172e-08
        p = p * r + 2.755731922398589e-07
        p = p * r + 2.7557319223985893e-06
        p = p * r + 2.48015873015873e-05
        p = p * r + 0.0001984126984126984
        p = p * r + 0.001388888888888889
        p = p * r + 0.008333333333333333
        p = p * r + 0.041666666666666664
        p = p * r + 0.16666666666666666
        p = p * r + 0.5
        p = p * r + 1.0
        out[m] = p * r + 1.0
    for m in range(n):
        bits[m] = (bits[m] + 1023) << 52
    for m in range(n):
        out[m] *= bits_as_floats[m]
