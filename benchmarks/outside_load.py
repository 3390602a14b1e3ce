"""The load of other programs during a run, which makes times less accurate."""

import os
import resource
import time
from pathlib import Path

STAT = Path("/proc/stat")


class OutsideLoad:
    """Measures the number of cores that other programs use, from its creation on."""

    def __init__(self):
        self._start = _readings()

    def cores(self):
        """Return the average number of cores so far, or None if the system does not report it."""
        now = _readings()
        wall, own, everyone = (b - a for a, b in zip(self._start, now, strict=True))
        return max(0.0, everyone - own) / wall if STAT.exists() else None


def _readings():
    """Return the wall time, and the processor times of this program and of all programs."""
    parts = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    own = sum(part.ru_utime + part.ru_stime for part in parts)
    return time.perf_counter(), own, _busy_seconds() if STAT.exists() else own


def _busy_seconds():
    fields = [int(field) for field in STAT.read_text().partition("\n")[0].split()[1:9]]
    idle = fields[3] + fields[4]  # including waiting for a disk
    return (sum(fields) - idle) / os.sysconf("SC_CLK_TCK")
