"""What is written to a pipe is whole; what is wrong in a profile is said in a line."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest

from scholarlake.console import _Console
from scholarlake.profile import ProfileError, load
from scholarlake.typeset import counted, table


def test_nothing_is_cut_or_wrapped_where_no_terminal_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    target = StringIO()
    shown = table("id", numbers=["papers"])
    shown.add_row("x" * 400, "1,000")
    _Console(file=target).print(shown)
    assert target.getvalue().splitlines()[1].split() == ["x" * 400, "1,000"]


def test_on_a_narrow_terminal_a_long_id_goes_on_in_the_next_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    target = StringIO()
    shown = table("id", numbers=["papers"])
    shown.add_row("x" * 100, "1,000")
    _Console(file=target).print(shown)
    assert target.getvalue().count("x") == 100
    assert max(map(len, target.getvalue().splitlines())) <= 30


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("shard: 4", "shard: there is no such setting; did you mean shards?"),
        ("core: {min_totl: 4}", "core.min_totl: there is no such setting; did you mean min_total?"),
        ("retention: {zzz: 4}", "retention.zzz: there is no such setting; there are: keep_releases, keep_days, spool_days"),
    ],
)
def test_a_misspelt_setting_is_told_with_the_nearest_there_is(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "p.yaml").write_text(text)
    with pytest.raises(ProfileError, match=said.replace(".", r"\.").replace("?", r"\?")):
        load("p", tmp_path)


def test_one_of_something_is_told_in_the_singular() -> None:
    assert [counted(0, "part"), counted(1, "part"), counted(2_000, "part")] == ["0 parts", "1 part", "2,000 parts"]
