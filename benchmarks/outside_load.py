"""How busy other programs keep the machine meanwhile: they blur all times."""

import os
import resource
import time
from pathlib import Path

STAT = Path("/proc/stat")


class OutsideLoad:
    """Counts the cores that other programs use, from when it is made."""

    def __init__(self):
        self._start = _readings()

    def cores(self):
        """Return their average number until now, or None where the system does not say."""
        now = _readings()
        wall, own, everyone = (b - a for a, b in zip(self._start, now, strict=True))
        return max(0.0, everyone - own) / wall if STAT.exists() else None


def _readings():
    """Return the time, and the processor time so far of this program and of all."""
    parts = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    own = sum(part.ru_utime + part.ru_stime for part in parts)
    return time.perf_counter(), own, _busy_seconds() if STAT.exists() else own


def _busy_seconds():
    fields = [int(field) for field in STAT.read_text().partition("\n")[0].split()[1:9]]
    idle = fields[3] + fields[4]  # and waiting for a disk
    return (sum(fields) - idle) / os.sysconf("SC_CLK_TCK")
