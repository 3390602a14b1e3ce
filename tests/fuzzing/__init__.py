"""Damaged files of every kind that the library reads: each is read, or refused in one line.

`make fuzz` runs it. An input is made from a seed and its number alone: real small files
(`seeds`), damaged at random (`mutations`), are read in a process of their own (`hunt`). That may
end with a valid result or with the documented error in one line (`judging`), and in no other way:
another error, a crash, a hang, much memory, an executed pickle or a file written is a fault.
"""
