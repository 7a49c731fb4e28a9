"""The reader of guides is strict: what differs from what is shown is noticed, what the guide leaves open is not."""

from pathlib import Path

import pytest

from tests.docs.markdown import Command, SavedFile, sections

GUIDE = """\
# A guide

## 1. Begin

```toml
# job.toml
steps = 3
```

```console
$ first --option
a  …  c
$ second
```

```sh
not run
```

## 2. End

```console
$ third
…
last
```
"""


def test_commands_and_files_are_read_in_order_under_their_headings(tmp_path: Path) -> None:
    guide = tmp_path / "guide.md"
    guide.write_text(GUIDE, encoding="utf-8")
    assert sections(guide) == {
        "1. Begin": [
            SavedFile("job.toml", "# job.toml\nsteps = 3\n"),
            Command(11, "first --option", ("a  …  c",)),
            Command(13, "second", ()),
        ],
        "2. End": [Command(23, "third", ("…", "last"))],
    }


@pytest.mark.parametrize(
    ("printed", "output", "fits"),
    [
        (("a  …  c",), "a b c\n", True),
        (("a  …  c",), "a c\n", True),
        (("a  c",), "a     c\n", True),
        (("a",), "a\nb\n", False),
        (("a", "…"), "a\nb\nc\n", True),
        (("…", "b"), "a\nb\n", True),
        (("…", "b"), "a\nb\nc\n", False),
        ((), "", True),
        ((), "a\n", False),
        (("price: 1.5",), "price: 1x5\n", False),
        (("… c",), "a\nb c\n", False),
    ],
)
def test_what_is_printed_fits_only_what_is_shown(printed: tuple[str, ...], output: str, fits: bool) -> None:
    assert Command(1, "x", printed).fits(output) is fits
