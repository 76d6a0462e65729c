"""A picture is drawn again where enough of what it shows has changed, and never forgotten otherwise."""

from __future__ import annotations

from pathlib import Path

from assets import gallery
from scholarlake.lake.home import Lake


def test_few_changes_add_up_until_a_picture_is_drawn_again(tmp_path: Path) -> None:
    lake, times = Lake.create(tmp_path / "lake", 2), []

    def shown(changed: int | None, code: str = "1", partition: str | None = "00") -> bytes:
        def draw() -> bytes:
            times.append(changed)
            return f"picture {len(times)}".encode()

        return gallery.drawn(lake, "papers", partition, code, {"map": draw}, 1_000, changed)["map"]

    assert [shown(1_000), shown(0), shown(3), shown(2)] == [b"picture 1"] * 4
    assert shown(1) == b"picture 2", "six of a thousand"
    assert shown(5) == b"picture 2"
    assert shown(0, code="2") == b"picture 3"
    assert shown(0, partition="01") == b"picture 4"
    assert shown(None) == b"picture 5", "who does not know what changed is shown what is"
    lake.spool("pictures", "papers", "=01.json").write_bytes(b"{")
    assert shown(0, partition="01") == b"picture 6"
