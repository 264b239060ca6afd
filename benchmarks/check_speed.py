"""How many lines a second `graphlift check` reads.

python benchmarks/check_speed.py DIR [--jobs N]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from graphlift.codemods.files import find


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    texts = [path.read_bytes() for path in find([options.folder])]
    looked_at = [text for text in texts if b"tensorflow" in text or b"keras" in text]
    run = "from graphlift.codemods.cli import main; main()"
    command = [sys.executable, "-c", run, "check", "--quiet"]
    command += ["--no-cache", "--jobs", str(options.jobs), str(options.folder)]
    start = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    taken = time.perf_counter() - start
    for name, found in (("all", texts), ("with TensorFlow", looked_at)):
        lines = sum(text.count(b"\n") for text in found) / 1e3
        print(
            f"{name:16}{len(found):6} files {lines:9.1f} KLOC {lines / taken:8.1f} KLOC/s"
        )
    print(f"{taken:.1f} s with {options.jobs} processes; exit status {done.returncode}")
    return 0 if done.returncode in (0, 1) else done.returncode


if __name__ == "__main__":
    sys.exit(main())
