"""What the documents point at is there: files, folders, names in files; and every document can be found."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.repository import PACKAGE, REPOSITORY, kept_files, shown

DOCUMENTS = sorted(path for path in kept_files() if path.suffix == ".md" and path.parent != REPOSITORY / "changelog.d")
LINK = re.compile(r"\]\((?P<target>[^)#\s]+)(?:#[^)]*)?\)")
CODE = re.compile(r"(?<!`)`(?P<text>[^`\n]+)`(?!`)")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
TOP = ("src/", "tests/", "docs/", "examples/", "benchmarks/", "deploy/", "changelog.d/", ".ci/")
PLACEHOLDER = re.compile(r"[<>{}…]|NNNN|\bX\b")
WHERE_TO_CHANGE = REPOSITORY / "docs/where-to-change.md"
SYMBOL = re.compile(r"`(?P<path>[\w./-]+\.\w+): (?P<name>[\w.-]+)`")
# This machine's own folders, in pieces so that this file does not hold them.
MACHINE = tuple("/" + name + "/" for name in ("work", "root", "tmp/h"))


def pointers(document: Path) -> Iterator[tuple[str, Path]]:
    """What a document points at: link targets, and paths from the top of the repository in code spans."""
    text = FENCED.sub("", document.read_text(encoding="utf-8"))
    for found in LINK.finditer(text):
        if "://" not in found["target"]:
            yield found["target"], document.parent / found["target"]
    for found in CODE.finditer(text):
        for word in re.split(r"[\s,:]+", found["text"]):
            if word.startswith(TOP) and not PLACEHOLDER.search(word):
                yield word, REPOSITORY / word


def is_there(path: Path) -> bool:
    if "*" in path.name:
        return any(path.parent.glob(path.name))
    return path.exists()


@pytest.mark.parametrize("document", DOCUMENTS, ids=shown)
def test_what_a_document_points_at_is_there(document: Path) -> None:
    assert [said for said, path in pointers(document) if not is_there(path)] == []


def test_what_a_table_names_in_a_file_is_in_that_file() -> None:
    named = [(found["path"], found["name"]) for found in SYMBOL.finditer(WHERE_TO_CHANGE.read_text(encoding="utf-8"))]
    assert len(named) > 10
    absent = [(path, name) for path, name in named if name not in (REPOSITORY / path).read_text(encoding="utf-8")]
    assert absent == []


def test_where_to_change_names_every_room() -> None:
    text = WHERE_TO_CHANGE.read_text(encoding="utf-8")
    rooms = [folder.name for folder in PACKAGE.iterdir() if (folder / "README.md").exists()]
    assert [room for room in rooms if f"src/headway/{room}/" not in text] == []


def test_every_document_can_be_reached_from_the_index() -> None:
    reached: set[Path] = set()
    ahead = [REPOSITORY / "README.md", REPOSITORY / "docs/README.md"]
    while ahead:
        document = ahead.pop().resolve()
        if document.suffix == ".md" and document.exists() and document not in reached:
            reached.add(document)
            ahead += [path for _, path in pointers(document)]
    lost = [shown(path) for path in DOCUMENTS if path.is_relative_to(REPOSITORY / "docs") and path not in reached]
    assert lost == []


def test_every_decision_has_its_own_number_and_stands_in_the_list() -> None:
    folder = REPOSITORY / "docs/decisions"
    records = sorted(path.name for path in folder.glob("[0-9]*.md"))
    listed = re.findall(r"^\| \[(\d{4}-[\w-]+\.md)\]", (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == records
    assert len({name[:4] for name in records}) == len(records)


def test_nothing_in_the_repository_names_a_folder_of_the_machine_it_was_written_on() -> None:
    found = []
    for path in kept_files():
        text = path.read_bytes().decode("utf-8", errors="replace")
        found += [f"{shown(path)}: {folder}" for folder in MACHINE if re.search(rf"(?<![\w.]){folder}", text)]
    assert found == []
