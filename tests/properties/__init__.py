"""What must hold for whatever users may pass, over everything public.

A property is a function under `@holds_for`, with a table of the public names that it calls and of
what is drawn for each of their parameters, and with strategies for what else it is given
(`drawing`). Either there is an error that the documentation gives a reason for, or all that is
fitted fits together (`checking`). `fits` asks that of each estimator and function, `ways` that
one fit is the same in whatever way it is asked for, `shown` that pictures and pages tell of a model
what it is, and `typed` that commands do what Python does.

Each is tried on a few fixed examples by `make test`, and on many random ones by `make test-slow`.
A new parameter that no table has fails `test_properties.py`.
"""
