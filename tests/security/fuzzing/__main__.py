"""``python tests/security/fuzzing [--count N] [--seed S] [--target NAME]``: fuzz, print a table.

The status is 1 where something was found. ``--target NAME --first I --count 1`` does one input
again.
"""

from __future__ import annotations

import argparse
import sys

import running
from targets import TARGETS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000, help="inputs of all targets")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="index of the first input")
    parser.add_argument("--target", action="append", help="only this one; may be repeated")
    given = parser.parse_args()
    chosen = [t for t in TARGETS if not given.target or t.name in given.target]
    print("| input | inputs | read | refused | findings |\n| --- | --- | --- | --- | --- |")
    found = []
    for target, count in zip(chosen, running.shares(given.count, chosen).values(), strict=True):
        report = running.run(target, count, given.seed, given.first)
        bad = sum(map(len, report.findings.values()))
        print(f"| {target.name} | {count} | {report.read} | {report.refused} | {bad} |", flush=True)
        found += [(target.name, what, where) for what, where in report.findings.items()]
    for name, what, where in found:
        print(f"{name}: {what}: {len(where)} inputs, such as {where[:3]}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
