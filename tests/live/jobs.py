"""Jobs of small programs for live tests: how they are submitted, and what they wrote down themselves."""

import shutil
from pathlib import Path
from typing import Any

from tests.live.api import TERMINAL
from tests.live.platform import Platform, wait_until

PROGRAMS = Path(__file__).resolve().parent / "programs"
TEMPLATE: dict[str, Any] = {
    "name": "program",
    "kind": "training",
    "command": ["{python}", "{source}"],
    "resources": {"nodes": 1, "devices_per_node": 1, "ranks_per_node": 1},
    "recovery": {"retries": 3, "grace_s": 5},
}
GANG = {"nodes": 2}


class Work:
    """One job of a program in `programs/`, with the folder that its ranks write to."""

    def __init__(self, platform: Platform, program: str, by: str | None = None, **submission: Any) -> None:
        """`by`: the token of who submits it, if not the administrator."""
        self.platform, self.api = platform, platform.api
        self._by = {"Authorization": f"Bearer {by}"} if by else {}
        number = len(list(platform.home.glob("work-*")))
        self.folder = platform.home / f"work-{number}"
        self.folder.mkdir()
        self.folder.chmod(0o777)
        source = shutil.copy(PROGRAMS / f"{program}.py", self.folder)
        env = {"LIVE_DIR": str(self.folder)} | submission.pop("env", {})
        self.name = f"{program}-{number}"
        self.body = {"name": self.name, "project": "nlp", "template": "program", "env": env}
        self.body |= {"source": str(source)} | submission
        self.id = ""

    def submit(self) -> "Work":
        """Submit it, once, however often the server dies of it."""
        headers = {"Idempotency-Key": self.name} | self._by
        self.id = self.api.call("POST", "jobs", json=self.body, headers=headers)["id"]
        return self

    def finish(self) -> None:
        """Tell the ranks to come to their end."""
        (self.folder / "finish").touch()

    def has(self, name: str) -> bool:
        """Whether the ranks have made this file."""
        return (self.folder / name).exists()

    def lines(self, kind: str, rank: int = 0, attempt: int = 1) -> list[str]:
        """What a rank noted down under this heading."""
        path = self.folder / f"{self.id}.{attempt}.rank{rank}.{kind}"
        return path.read_text().splitlines() if path.exists() else []

    def mirror(self, rank: int, attempt: int = 1) -> bytes:
        """What a rank printed, as it kept it itself."""
        return (self.folder / f"{self.id}.{attempt}.rank{rank}.mirror").read_bytes()

    def wait_for_step(self, step: int, attempt: int = 1) -> None:
        def is_there() -> bool:
            shown = self.api.job(self.id)
            tried = shown["attempt"]
            assert shown["job"]["state"] not in TERMINAL, self.story()
            return tried is not None and tried["number"] >= attempt and (tried["step"] or 0) >= step

        wait_until(is_there, f"{self.name} at step {step} of attempt {attempt}", self.story)

    def wait_for_state(self, *states: str) -> str:
        wait_until(lambda: self.api.state(self.id) in states, f"{self.name} is {' or '.join(states)}", self.story)
        return self.api.state(self.id)

    def end(self) -> str:
        """Wait until it has ended; how."""
        return self.wait_for_state(*TERMINAL)

    def story(self) -> str:
        """Everything recorded of it, for a failing test."""
        facts = self.api.facts(self.id)
        told = [f"{fact['seq']} {fact['at']} {fact['kind']} {fact['data']}" for fact in facts if _tells(fact)]
        return "\n".join([str(self.api.job(self.id)), *told, self.platform.log_tail()])


def _tells(fact: dict[str, Any]) -> bool:
    return fact["kind"] not in ("checkpoint-saved", "checkpoint-verified", "progress-seen")
