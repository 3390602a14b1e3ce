"""Hunt for files that bring a reader down: ``PYTHONPATH=tests python -m fuzzing --help``."""

import argparse
import itertools
import random
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fuzzing.hunt import MOST_ALIKE, Judge, hunt, input_of, keep
from fuzzing.seeds import KINDS, seeds_of

N_PROCESSES = 2


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzzing", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument(
        "--inputs", type=int, help="of each kind and process; by default any number"
    )
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--keep", type=Path, default=Path("out/fuzz"), help="folder for faults")
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
    alike: Counter[tuple[str, str]] = Counter()
    until = time.monotonic() + 60 * options.minutes

    def work(first: int) -> None:
        numbers = itertools.count(first, N_PROCESSES)
        numbers = itertools.islice(numbers, options.inputs)
        for fault in hunt(options.kinds, options.seed, numbers, until, outcomes):
            alike[fault.signature] += 1
            if alike[fault.signature] <= MOST_ALIKE:
                folder = keep(fault, options.seed, options.keep)
                print(f"{folder}: {fault.what.partition(chr(10))[0]}", flush=True)

    with ThreadPoolExecutor(N_PROCESSES) as pool:
        list(pool.map(work, range(N_PROCESSES)))
    for kind in options.kinds:
        told = [
            f"{outcomes[kind, outcome]:6} {outcome}"
            for outcome in ("read", "refused", "abort", "fault")
        ]
        print(f"{kind:12}", *told)
    print(f"{outcomes.total()} inputs")
    return min(1, sum(alike.values()))


if __name__ == "__main__":
    sys.exit(main())
