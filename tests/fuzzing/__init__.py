"""A fuzzer for every kind of file that the library reads. `make fuzz` runs it.

An input is a small valid file (`seeds`) that is damaged at random (`mutations`). A seed and a
number determine it. It is read in a separate process (`hunt`). The result must be valid, or the
documented error in one line (`judging`). Anything else is a fault: another error, a crash, a hang,
too much memory, an executed pickle, or a file that was written.
"""
