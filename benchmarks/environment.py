"""Install the peers, one by one, into the environment that runs this; what cannot be had is noted with the reason.

Only the standard library is used: the environment may hold nothing else yet.
"""

import json
import subprocess
import sys
from pathlib import Path

# distribution → what pip needs beside its name. lightning's build imports NumPy and Cython without asking for them.
PEERS: dict[str, tuple[str, ...]] = {
    "numba": (),
    "liblinear-official": (),
    "cyanure": (),
    "snapml": (),
    "scikit-learn-intelex": (),
    "skglm": (),
    "sklearn-contrib-lightning": ("--no-build-isolation", "--no-deps"),
    "benchopt": (),
}
BUILD_TOOLS = ("numpy", "cython", "setuptools", "wheel")


def install(*arguments: str) -> str | None:
    """None, or pip's last word on what went wrong."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    errors = [line.strip() for line in done.stderr.splitlines() if "error" in line.lower()]
    return errors[-1][:200] if errors else f"pip ended with {done.returncode}"


def main() -> None:
    install(*BUILD_TOOLS)
    failures = {}
    for number, (name, options) in enumerate(PEERS.items(), 1):
        print(f"[{number}/{len(PEERS)}] {name}", flush=True)
        reason = install(*options, name)
        if reason is not None:
            failures[name] = reason
            print(f"    not installed: {reason}", flush=True)
    Path(sys.prefix, "peers-not-installed.json").write_text(json.dumps(failures, indent=1))


if __name__ == "__main__":
    main()
