"""Runs an engine's script so that it reports to the Dagster step that started it.

    python pipes_child.py SCRIPT

Run by the engine's own interpreter, which needs `dagster-pipes` for it and nothing else of ours; without it the engine runs unreported.
"""

import importlib.util
import sys


def main() -> None:
    found = importlib.util.spec_from_file_location("engine_script", sys.argv[1])
    assert found is not None
    assert found.loader is not None
    script = importlib.util.module_from_spec(found)
    found.loader.exec_module(script)
    try:
        from dagster_pipes import open_dagster_pipes
    except ImportError:
        print("dagster-pipes is not installed here: nothing is reported to Dagster", file=sys.stderr)
        script.main()
        return
    with open_dagster_pipes() as pipes:
        script.main(say=pipes.log.info, tell=pipes.report_custom_message)


if __name__ == "__main__":
    main()
