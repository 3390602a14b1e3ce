"""How much memory a fit takes beyond the data, seen from outside the process."""

import json
import subprocess
import sys

import pytest

MEASURE = """
import ctypes, gc, json, resource, sys, threading, time
import numpy as np
from modeclust import KModes

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

n_rows, n_features, n_clusters, options = json.loads(sys.argv[1])
rng = np.random.default_rng(0)
centers = rng.normal(size=(n_clusters, n_features)).astype(np.float32) * 5
X = np.empty((n_rows, n_features), dtype=np.float32)
for first in range(0, n_rows, 10_000):
    part = X[first:first + 10_000]
    part[:] = centers[rng.integers(0, n_clusters, size=len(part))]
    part += rng.standard_normal(part.shape, dtype=np.float32)
KModes(n_clusters, n_init=1, random_state=0).fit(X[:1000])  # code is loaded
gc.collect()
ctypes.CDLL(None).malloc_trim(0)  # what is free must not hide what the fit takes
before, peak, done = resident(), 0, False

def watch():
    global peak
    while not done:
        peak = max(peak, resident())
        time.sleep(0.001)

watcher = threading.Thread(target=watch)
watcher.start()
KModes(n_clusters, random_state=0, **options).fit(X)
done = True
watcher.join()
print(json.dumps([peak - before, X.nbytes]))
"""


def extra_memory(n_rows, n_features, n_clusters, **options):
    """Return the bytes that a fit takes beyond X, and those of X."""
    if not sys.platform.startswith("linux"):
        pytest.skip("left out: memory is read from /proc, which is Linux's")
    argument = json.dumps([n_rows, n_features, n_clusters, options])
    run = [sys.executable, "-c", MEASURE, argument]
    return json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout)


def test_a_million_points_in_the_plane_take_less_than_100_megabytes():
    extra, _ = extra_memory(1_000_000, 2, 20, n_init=1, max_iter=20, tol=0.1, n_bandwidths=5)
    assert extra < 100e6


@pytest.mark.slow
def test_images_take_a_fifth_of_their_size_in_memory():
    extra, images = extra_memory(60_000, 784, 10, n_init=2)
    assert extra < 0.2 * images
