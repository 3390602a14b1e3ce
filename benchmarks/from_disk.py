"""Fit a dataset on disk that is much larger than the allowed memory.

    python benchmarks/from_disk.py [--gigabytes 20] [--memory 4] [--folder DIR]

writes a folder of Parquet files, fits it with `modeclust fit` in a process with limited memory,
counts how often each pass reads the files, checks that the modes are near the true centers, and
removes the files.
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import environment  # noqa: F401  before modules that read its variables
import numpy as np
import polars as pl
from chunks import Blobs

N_FEATURES, N_CLUSTERS, PART_BYTES = 64, 10, 2**28
GB = 10**9
# The command line, which also writes to reads.json how many rows were read in how many passes. All
# chunks are read in threads of this process.
COUNTED = """
import json
from modeclust.__main__ import main
from modeclust.cli.readers import parquet_files
from modeclust.data.dask.dataset import DaskDataset

rows_read, passes = [], []  # appending is safe in threads
read, run = parquet_files._read_matrix, DaskDataset.run

def counted_read(ranges, *arguments):
    rows_read.append(sum(rows.n_rows for rows in ranges))
    return read(ranges, *arguments)

def counted_run(dataset, pass_):
    passes.append(type(pass_).__name__)
    return run(dataset, pass_)

parquet_files._read_matrix, DaskDataset.run = counted_read, counted_run
try:
    main()
finally:
    with open("reads.json", "w") as file:
        json.dump({"rows": sum(rows_read), "passes": len(passes)}, file)
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--gigabytes", type=float, default=20, help="size of the data on disk")
    parser.add_argument("--memory", type=float, default=4, help="memory limit in gigabytes")
    parser.add_argument("--folder", type=Path, help="folder for temporary files")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="modeclust-", dir=arguments.folder))
    try:
        return _run(folder, arguments.gigabytes, arguments.memory)
    finally:
        shutil.rmtree(folder)


def _run(folder, gigabytes, memory):
    n_rows = int(gigabytes * GB / (4 * N_FEATURES))
    blobs = Blobs(n_rows, N_FEATURES, N_CLUSTERS, PART_BYTES // (4 * N_FEATURES))
    rows = folder / "rows.parquet"
    rows.mkdir()
    for number in range(blobs.n_chunks):
        part = pl.DataFrame(blobs.chunk(number), schema=[f"x{j}" for j in range(N_FEATURES)])
        part.write_parquet(rows / f"part.{number}.parquet", compression="uncompressed")
    on_disk = sum(file.stat().st_size for file in rows.iterdir())
    print(f"{blobs.describe()}: {on_disk / GB:.1f} GB on the disk", flush=True)

    begun = time.perf_counter()
    command = ["fit", str(rows), "-k", str(N_CLUSTERS), "--bandwidth", "20"]
    fit = subprocess.Popen(
        [sys.executable, "-c", COUNTED, *command, "--n-init", "1", "--stream", "--json"],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (int(memory * GB),) * 2),
    )
    output = fit.communicate()[0]
    took = time.perf_counter() - begun
    if fit.returncode:
        print(f"the fit failed with {fit.returncode}")
        return 1
    peak = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    found = json.loads(output)
    counts = json.loads((folder / "reads.json").read_text())
    reads = counts["rows"] / n_rows
    modes = pl.read_csv(folder / "rows.modes" / "modes.csv").to_numpy()[:, 3:]
    gaps = np.linalg.norm(modes[:, None] - blobs.centers()[None], axis=2)
    print(
        f"fitted in {took:.0f} s with {found['n_iter']} iterations; {counts['passes']} passes read "
        f"the files {reads:.1f} times, {reads / counts['passes']:.2f} times each; peak memory "
        f"{peak / GB:.2f} GB, limit {memory:g} GB; each true center has a mode within "
        f"{gaps.min(axis=0).max():.3g}; rows are about {3 * N_FEATURES**0.5:.0f} from their centers"
    )
    return 0 if peak <= memory * GB else 1


if __name__ == "__main__":
    sys.exit(main())
