"""Compare the times of modeclust and its peers in one run.

    python benchmarks/run.py [--only NAME ...] [--repeats 5] [--quick] [--add] [--out DIR]

writes results.json, results.md and pictures to out/bench after every workload. With --add, the
other results of an earlier run stay.
"""

import argparse
import json
import sys
import traceback
import warnings
from functools import partial
from pathlib import Path

import environment
from bounds import measure_bounds
from choosing_k import measure_choosing
from chunks import measure_chunks, measure_scale
from confidence import measure_confidence
from cosine_text import measure_text
from defaults_outliers import measure_outliers
from defaults_quality import measure_defaults, missing_battery
from defaults_time import measure_time
from effort import Effort
from fits import measure_kmeans, measure_whole_fit
from growth import CURVES, measure_growth
from installation import measure_installation
from iteration import measure_iteration
from labelled import missing_sets
from laplacian import measure_authors, measure_bound, measure_quality, missing_reference
from mean_shift import measure_shift_growth
from memory import measure_memory
from neighbors import measure_neighbors
from others import OTHERS
from outside_load import OutsideLoad
from peers import missing_peers
from report import write_report
from start import measure_start
from timing import seconds
from workloads import WORKLOADS

PARTS = {
    "iteration": measure_iteration,
    "kmeans": measure_kmeans,
    "whole_fit": measure_whole_fit,
    "memory": measure_memory,
}
SINGLE = {
    "mean-shift-growth": measure_shift_growth,
    "laplacian-quality": measure_quality,
    "laplacian-bound": measure_bound,
    "laplacian-authors": measure_authors,
    "neighbors": measure_neighbors,
    "chunks": measure_chunks,
    "scale": measure_scale,
    "bounds": measure_bounds,
    "start": measure_start,
    "installation": measure_installation,
    "defaults-quality": measure_defaults,
    "defaults-outliers": measure_outliers,
    "defaults-time": measure_time,
    "choosing-k": measure_choosing,
    "confidence": measure_confidence,
    "cosine-text": measure_text,
}
NAMES = (*WORKLOADS, *CURVES, *OTHERS, *SINGLE)


def main():
    arguments = parse()
    warnings.simplefilter("ignore")
    effort = Effort(arguments.repeats or (1 if arguments.quick else 5), arguments.quick)
    results = {
        "environment": environment.describe_environment(),
        "repeats": effort.repeats,
        "quick": effort.quick,
        "left_out": [
            *missing_peers(),
            *missing_reference(),
            *missing_sets(),
            *missing_battery(),
        ],
        "failed": [],
        "outside_cores": {},
        "workloads": {},
        "growth": {},
        "others": {},
    }
    if arguments.add:
        earlier = json.loads((arguments.out / "results.json").read_text(encoding="utf-8"))
        results = earlier | {"environment": results["environment"]}
    for line in results["left_out"]:
        print(line)
    for name in arguments.only or NAMES:
        _run(name, arguments, effort, results)
        write_report(results, arguments.out)
    print(f"results: {arguments.out / 'results.md'}")
    return 1 if results["failed"] else 0


def parse():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    parser.add_argument(
        "--parts", nargs="+", choices=PARTS, default=tuple(PARTS), help="what to measure"
    )
    parser.add_argument(
        "--whole-fits", action="store_true", help="time the whole fit on every workload"
    )
    parser.add_argument("--repeats", type=int, help="number of turns; 5 by default, 1 with --quick")
    parser.add_argument("--quick", action="store_true", help="small data, as a quick check")
    parser.add_argument("--add", action="store_true", help="keep other results of an earlier run")
    parser.add_argument("--out", type=Path, default=Path("out/bench"), metavar="DIR")
    arguments = parser.parse_args()
    if arguments.repeats is not None and arguments.repeats < 1:
        parser.error(f"--repeats must be 1 or more, got {arguments.repeats}.")
    return arguments


def _run(name, arguments, effort, results):
    """Run the benchmark of this name, and add its results."""
    keep = partial(_keep, results)
    if name in WORKLOADS:
        data = WORKLOADS[name].load(effort.quick)
        own = results["workloads"].setdefault(name, {})
        own["data"] = data.describe()
        for part in arguments.parts:
            if part != "whole_fit" or WORKLOADS[name].whole_fit or arguments.whole_fits:
                keep(own, part, partial(PARTS[part], data, effort), f"{name} {part}")
    elif name in CURVES:
        keep(results["growth"], name, partial(measure_growth, CURVES[name], effort), name)
    elif name in OTHERS:
        keep(results["others"], name, partial(OTHERS[name], effort), name)
    else:
        keep(results, name, partial(SINGLE[name], effort), name)


def _keep(results, place, key, measure, label):
    """Store the result of `measure`; record an error, so that the rest can run."""
    load = OutsideLoad()
    try:
        took, found = seconds(measure)
    except Exception as error:
        traceback.print_exc()
        first_line = str(error).partition("\n")[0]
        results["failed"].append(f"{label}: {type(error).__name__}: {first_line}")
        return
    if found is None:
        return
    place[key] = found
    results["outside_cores"][label] = cores = load.cores()
    others = "" if cores is None else f", other programs on {cores:.1f} cores"
    print(f"{label}: {took:.0f} s{others}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
