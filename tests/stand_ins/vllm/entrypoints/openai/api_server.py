"""In place of vLLM's own server: the few options that say where it listens, and the misbehaving server behind them."""

from __future__ import annotations

import argparse
import os
import signal
import sys

from tests.misbehaving import serving

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--host")
    parser.add_argument("--port", type=int)
    given, _ = parser.parse_known_args()
    if given.host != "127.0.0.1":
        sys.exit("listens where everybody can reach it")
    with serving(port=given.port):
        print(f"Application startup complete in process {os.getpid()}", file=sys.stderr, flush=True)
        signal.pause()
