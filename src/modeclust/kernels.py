"""Kernels: their names for users, and their numbers in the core.

A kernel is given by its profile G(t) at the squared distance t in bandwidths, with
G(0) = 1. The weight of a row in a mode step is g(t) = -G'(t), scaled so that g(0) = 1. All
profiles are convex and non-increasing, so that no step lowers the objective. The formulas are in
`core/kernel_functions.hpp`.

============== ================= ===================
name           G(t)              g(t)
============== ================= ===================
gaussian       exp(-t/2)         exp(-t/2)
epanechnikov   max(0, 1-t)       1 where t < 1
biweight       max(0, 1-t)^2     max(0, 1-t)
cauchy         1/(1+t)           1/(1+t)^2
============== ================= ===================
"""

GAUSSIAN, EPANECHNIKOV, BIWEIGHT, CAUCHY = range(4)

KERNELS = {
    "gaussian": GAUSSIAN,
    "epanechnikov": EPANECHNIKOV,
    "biweight": BIWEIGHT,
    "cauchy": CAUCHY,
}
