"""Serves a GGUF file by llama.cpp on the loopback address. Run as a script, by an interpreter that has xllamacpp and needs nothing else.

The first line on its input is its configuration: gguf, model, context_tokens, slots, threads, gpu_layers, port. It answers with
{"ready": address} and serves until its input ends or its parent is gone.
"""

import json
import os
import sys
import threading
import time


def main() -> None:
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the library prints is log
    watch_parent()
    config = json.loads(sys.stdin.readline())
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = config["gguf"]
    params.model_alias = {config["model"]}
    params.hostnames = ["127.0.0.1"]
    params.port = config["port"]
    params.n_parallel = config["slots"]
    params.n_ctx = config["context_tokens"] * config["slots"]
    params.n_gpu_layers = config["gpu_layers"]
    if config["threads"]:
        params.cpuparams.n_threads = config["threads"]
    params.ui = False
    try:
        server = xllamacpp.Server(params)
    except Exception as fault:
        print(json.dumps({"error": f"llama.cpp can't serve {config['gguf']} ({fault})"}), file=replies, flush=True)
        return
    print(json.dumps({"ready": server.listening_address}), file=replies, flush=True)
    sys.stdin.read()
    del server


def watch_parent() -> None:
    """End with the parent, even where others hold its end of the pipe."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    main()
