"""What a site needs before the first job, tried one by one; each finding names what is missing. Starts one small job.

Every finding is `check-slurm-<what>` with `detail`; `ok` None: it could not be found out, because something before it
is missing. Changes nothing on the site.
"""

import json
import os
import pwd
import re
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path

from headway.domain.errors import PlatformError, say
from headway.engines.become import hand_over, needs_sudo, sudoers_line, try_to_become
from headway.engines.protocol import Finding, UnixUser
from headway.engines.slurm.commands import Commands, said
from headway.engines.slurm.look import Look
from headway.engines.slurm.settings import SlurmSettings

OLDEST = (21, 8)
PATIENCE_S = 20
PROBE = """
import json, os, socket, sys, urllib.parse
marker, url = sys.argv[1:]
found = {"node": os.environ.get("SLURMD_NODENAME"), "python": "%d.%d" % sys.version_info[:2]}
found["share"] = os.path.isdir(os.path.dirname(marker)) and open(marker).read() if os.path.exists(marker) else None
parts = urllib.parse.urlsplit(url)
try:
    socket.create_connection((parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)), 5).close()
    found["server"] = ""
except OSError as error:
    found["server"] = str(error)
print(json.dumps(found))
"""


class SiteCheck:
    """The preflight of one site."""

    def __init__(self, settings: SlurmSettings, commands: Commands, look: Look) -> None:
        self._settings, self._commands, self._look = settings, commands, look

    def run(self, server_url: str, users: Sequence[UnixUser] = ()) -> tuple[Finding, ...]:
        """Every finding, in the order in which to mend them. `users`: as whom jobs will be submitted."""
        parts: tuple[Callable[[], list[Finding]], ...] = (
            self._version,
            self._nodes,
            self._accounting,
            self._account,
            self._qos,
            self._share,
            self._devices,
            self._cordons,
            lambda: self._sudo(users),
            lambda: self._users(users),
            lambda: self._private(users),
            lambda: self._from_a_node(self._settings.server_url or server_url),
        )
        return tuple(finding for part in parts for finding in part())

    def _version(self) -> list[Finding]:
        answer = self._ask("sinfo", "--version")
        ping = self._ask("scontrol", "ping")
        version = tuple(int(number) for number in re.findall(r"\d+", answer or "")[:2])
        up = ping is not None and " is UP" in ping
        return [
            _finding("version", None if not version else version >= OLDEST, (answer or "").strip()),
            _finding("controller", up, " ".join((ping or say("ping-failed")).split())),
        ]

    def _nodes(self) -> list[Finding]:
        try:
            nodes = self._look.nodes()
        except PlatformError as error:
            return [_finding("nodes", None, str(error))]
        counts: dict[str, int] = {}
        for node in nodes.values():
            counts[node.device_type] = counts.get(node.device_type, 0) + node.devices
        detail = ", ".join(f"{kind}: {count}" for kind, count in sorted(counts.items()))
        return [_finding("nodes", bool(nodes), detail or f"partition {self._settings.partition or 'any'}")]

    def _accounting(self) -> list[Finding]:
        try:
            self._commands.ask("sacct", "--noheader", "--allocations", "--starttime=now")
        except PlatformError as error:
            return [_finding("accounting", False, str(error.params["detail"]))]
        return [_finding("accounting", True, "sacct")]

    def _account(self) -> list[Finding]:
        wanted = {self._settings.account, *self._settings.accounts.values()} - {None}
        return [self._kept("accounts", wanted, "association", "format=account")]

    def _qos(self) -> list[Finding]:
        """Nothing is said where no QOS is named: Slurm takes an association's own."""
        wanted = {self._settings.qos, *self._settings.qoses.values()} - {None}
        return [self._kept("qoses", wanted, "qos", "format=name")] if wanted else []

    def _kept(self, what: str, wanted: set[str | None], *table: str) -> Finding:
        """Whether Slurm's database has every name that is set here; those that it has not are named."""
        text = self._ask("sacctmgr", "--noheader", "--parsable2", "show", *table)
        if text is None:
            return _finding(what, None, "sacctmgr")
        missing = sorted(str(name) for name in wanted - set(text.split()))
        return _finding(what, not missing, ", ".join(missing or sorted(map(str, wanted))))

    def _share(self) -> list[Finding]:
        share = self._settings.share
        return [_finding("share", share.is_dir() and os.access(share, os.W_OK | os.X_OK), str(share))]

    def _devices(self) -> list[Finding]:
        config = self._ask("scontrol", "show", "config")
        found = re.search(r"(?m)^ConstrainDevices\s*=\s*(\w+)", config or "")
        return [_finding("devices", found[1] == "yes" if found else None, found[1] if found else "ConstrainDevices")]

    def _cordons(self) -> list[Finding]:
        """How a node is kept from new jobs depends on our level: a drain, a reservation, or by Headway alone."""
        level = self._admin_level()
        what = {"Administrator": "cordons", "Operator": "cordons-reserve"}.get(level, "cordons-exclude")
        return [_finding(what, level == "Administrator", level)]

    def _admin_level(self) -> str:
        own = pwd.getpwuid(os.geteuid()).pw_name
        text = self._ask("sacctmgr", "--noheader", "--parsable2", "show", "user", f"user={own}", "format=adminlevel")
        return "Administrator" if not os.geteuid() else (text or "").strip() or "None"

    def _sudo(self, users: Sequence[UnixUser]) -> list[Finding]:
        """A server that is not root tries to act as each mapped user; the sudoers line that is missing is named."""
        others = [user for user in users if needs_sudo(user)]
        if not others or not self._settings.become:
            return []
        refused = {user.name: why for user in others if (why := try_to_become(user))}
        line = sudoers_line(pwd.getpwuid(os.geteuid()).pw_name, list(refused) or [user.name for user in others])
        told = "; ".join(f"{name}: {why}" for name, why in refused.items())
        return [_finding("sudo", not refused, told or ", ".join(user.name for user in others), line=line)]

    def _private(self, users: Sequence[UnixUser]) -> list[Finding]:
        """Where a site shows everybody their own jobs only, others' jobs are seen by Slurm's operators alone."""
        if not any(needs_sudo(user) for user in users):
            return []
        found = re.search(r"(?m)^PrivateData\s*=\s*(\S+)", self._ask("scontrol", "show", "config") or "")
        hidden = {"jobs", "all"} & set(found[1].split(",")) if found else set()
        return [_finding("private", not hidden or self._admin_level() != "None", found[1] if found else "?")]

    def _users(self, users: Sequence[UnixUser]) -> list[Finding]:
        """Slurm is asked, as each of them, whether it would take a job; nothing is said where nobody is mapped."""
        refused = {user.name: why for user in users if (why := self._refusal(user))}
        if not users:
            return []
        told = [f"{name}: {why}" for name, why in refused.items()] or [user.name for user in users]
        return [_finding("users", not refused, ", ".join(told))]

    def _refusal(self, user: UnixUser) -> str | None:
        """Why a user's jobs would be refused; None: under one account at least they would not."""
        if needs_sudo(user):
            if not self._settings.become:
                return say("needs-become")
            try:
                self._try_folder(user)
            except (OSError, PlatformError) as error:
                return str(error)
        words = self._chosen(account=False)
        named = [name for name in (self._settings.account, *self._settings.accounts.values()) if name]
        under = [[f"--account={name}"] for name in dict.fromkeys(named)] or [[]]
        asked = ("sbatch", "--test-only", "--ntasks=1", "--time=1", *words, "--wrap=true")
        try:
            answers = [self._commands.run(*asked, *account, user=user) for account in under]
        except PlatformError as error:
            return str(error)
        return None if any(answer.code == 0 for answer in answers) else said(answers[0])

    def _try_folder(self, user: UnixUser) -> None:
        """Make and remove a folder of the user's on the share, as for an attempt. Raises OSError, `cannot-become`."""
        name = f".check-{secrets.token_hex(4)}"
        hand_over(user, self._settings.share, [name])
        folder = self._settings.share / name
        (folder / "try").touch()
        (folder / "try").unlink()
        folder.rmdir()

    def _from_a_node(self, server_url: str) -> list[Finding]:
        """One small job looks from a node: interpreter, share, server."""
        marker = self._settings.share / f".check-{secrets.token_hex(4)}"
        word = secrets.token_hex(8)
        try:
            marker.write_text(word)
            marker.chmod(0o644)
            found, detail = self._probe(marker, server_url)
        except (OSError, PlatformError) as error:
            found, detail = {}, str(error)
        finally:
            marker.unlink(missing_ok=True)
        python = str(found.get("python", ""))
        return [
            _finding("job", bool(found), str(found.get("node")) if found else detail),
            _finding("python", _is_enough(python) if python else None, f"{self._settings.python} {python}".strip()),
            _finding("node-share", found.get("share") == word if found else None, str(self._settings.share)),
            _finding(
                "server", not found["server"] if found else None, f"{server_url} {found.get('server', '')}".strip()
            ),
        ]

    def _probe(self, marker: Path, server_url: str) -> tuple[dict[str, str], str]:
        words = self._chosen()
        argv = ["srun", "--nodes=1", "--ntasks=1", "--time=1", f"--immediate={PATIENCE_S}", "--job-name=headway-check"]
        answer = self._commands.run(*argv, *words, self._settings.python, "-I", "-c", PROBE, str(marker), server_url)
        lines = answer.out.strip().splitlines()
        try:
            return json.loads(lines[-1]), ""
        except (IndexError, ValueError):
            return {}, said(answer)

    def _chosen(self, *, account: bool = True) -> list[str]:
        """The words that confine a job as Headway's are."""
        chosen = {"partition": self._settings.partition, "qos": self._settings.qos}
        chosen |= {"account": self._settings.account} if account else {}
        return [f"--{name}={value}" for name, value in chosen.items() if value]

    def _ask(self, *argv: str) -> str | None:
        try:
            return self._commands.ask(*argv)
        except PlatformError:
            return None


def _is_enough(python: str) -> bool:
    major, _, minor = python.partition(".")
    return (int(major), int(minor)) >= (3, 9)


def _finding(what: str, ok: bool | None, detail: str, **more: str) -> Finding:
    return Finding(f"check-slurm-{what}", ok, {"detail": detail, **more})
