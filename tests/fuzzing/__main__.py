"""Search for files that break a reader: ``PYTHONPATH=tests python -m fuzzing --help``."""

import argparse
import itertools
import random
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fuzzing.hunt import MAX_KEPT_PER_SIGNATURE, Judge, hunt, input_of, keep
from fuzzing.seeds import KINDS, seeds_of

N_PROCESSES = 2


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzzing", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument(
        "--inputs", type=int, help="number of inputs per kind and process (default: no limit)"
    )
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument(
        "--keep", type=Path, default=Path("out/fuzz"), help="folder for inputs with faults"
    )
    parser.add_argument("--replay", nargs=2, metavar=("KIND", "NUMBER"))
    options = parser.parse_args()
    if options.replay:
        kind, number = options.replay
        files = input_of(kind, options.seed, int(number))
        print(*Judge([])(*KINDS[kind][:2], files))
        return 0
    print(f"seed {options.seed}, {options.minutes:g} minutes", flush=True)
    for kind in options.kinds:
        seeds_of(kind)
    outcomes: Counter[tuple[str, str]] = Counter()
    signatures: Counter[tuple[str, str]] = Counter()
    deadline = time.monotonic() + 60 * options.minutes

    def work(first: int) -> None:
        numbers = itertools.count(first, N_PROCESSES)
        numbers = itertools.islice(numbers, options.inputs)
        for fault in hunt(options.kinds, options.seed, numbers, deadline, outcomes):
            signatures[fault.signature] += 1
            if signatures[fault.signature] <= MAX_KEPT_PER_SIGNATURE:
                folder = keep(fault, options.seed, options.keep)
                print(f"{folder}: {fault.description.partition(chr(10))[0]}", flush=True)

    with ThreadPoolExecutor(N_PROCESSES) as pool:
        list(pool.map(work, range(N_PROCESSES)))
    for kind in options.kinds:
        counts = [
            f"{outcomes[kind, outcome]:6} {outcome}"
            for outcome in ("read", "refused", "abort", "fault")
        ]
        print(f"{kind:12}", *counts)
    print(f"{outcomes.total()} inputs")
    return min(1, sum(signatures.values()))


if __name__ == "__main__":
    sys.exit(main())
