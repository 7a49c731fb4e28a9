"""Makes Envoy serve given routes, in the order that loses no request.

Add clusters, wait until Envoy has them and has checked their endpoints; then switch the routes, wait; drop the clusters
nobody routes to once nothing is in flight on them. What Envoy refuses is taken back, and it serves on as before.
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from headway.domain.errors import PlatformError, say
from headway.gateway import envoy, files
from headway.gateway.admin import Admin
from headway.gateway.envoy import Config
from headway.gateway.routes import Routes

ACK_S = 10.0
ACK_POLL_S = 0.01
# A request that was given its cluster just before the switch shows as in flight within this time.
SETTLE_S = 1.0
LONGEST_DRAIN_S = 300.0
LOG_TAIL_BYTES = 65536
NOTHING = Routes(0, ())

_COUNTERS = {
    "lds": "listener_manager.lds",
    "rds": f"http.{envoy.ROUTE_CONFIG}.rds.{envoy.ROUTE_CONFIG}",
    "cds": "cluster_manager.cds",
}
_WARMING = "cluster_manager.warming_clusters"


class Discovery:
    """The discovery files of one Envoy, one folder each, and its answers to them."""

    def __init__(self, directory: Path, admin: Admin, is_alive: Callable[[], bool]) -> None:
        self._directory = directory
        self._admin = admin
        self._is_alive = is_alive
        self._version = 0
        self._written: dict[str, tuple[str, list[Config]]] = {}
        for kind in _COUNTERS:
            (directory / kind).mkdir(exist_ok=True)

    def write(self, kind: str, resources: Iterable[Config]) -> None:
        """Move a new file into place, whatever Envoy makes of it."""
        self._version += 1
        version, listed = str(self._version), list(resources)
        files.write_json(self._directory / kind / f"{kind}.json", envoy.discovery(kind, version, listed))
        self._written[kind] = (version, listed)

    def put(self, kind: str, resources: Iterable[Config]) -> None:
        """Write and wait for Envoy's yes; raises `envoy-refused` after putting the former file back."""
        _, former = self._written[kind]
        refusals = self._refusals(kind)
        self.write(kind, resources)
        try:
            self.wait(kind, refusals)
        except PlatformError:
            self.write(kind, former)
            with suppress(PlatformError):
                self.wait(kind, self._refusals(kind))
            raise

    def wait(self, kind: str, refusals: int = 0) -> None:
        """Wait until Envoy serves the file last written; raises `envoy-refused` on a no, its end, or silence."""
        wanted = self._written[kind][0]
        deadline = time.monotonic() + ACK_S
        while time.monotonic() < deadline and self._is_alive():
            answer = self._answer(kind)
            if answer.get(f"{_COUNTERS[kind]}.version_text") == wanted and not answer.get(_WARMING):
                return
            if _refused(answer) > refusals:
                raise PlatformError("envoy-refused", what=kind, detail=self._last_complaint())
            time.sleep(ACK_POLL_S)
        why = (
            say("no-answer-within", seconds=f"{ACK_S:g}")
            if self._is_alive()
            else say("it-ended", words=self._last_complaint())
        )
        raise PlatformError("envoy-refused", what=kind, detail=why)

    def _answer(self, kind: str) -> dict[str, str | int]:
        names = (
            rf"^{re.escape(_COUNTERS[kind])}\.(version_text|update_rejected|update_failure)$|^{re.escape(_WARMING)}$"
        )
        with suppress(OSError):
            return self._admin.values(names)
        return {}

    def _refusals(self, kind: str) -> int:
        return _refused(self._answer(kind))

    def _last_complaint(self) -> str:
        path = self._directory / files.ENVOY_LOG
        with suppress(OSError), open(path, "rb") as log:
            log.seek(max(0, files.size(path) - LOG_TAIL_BYTES))
            lines = log.read().decode(errors="replace").splitlines()
            complaints = [line for line in lines if "[config]" in line or "[critical]" in line]
            return re.sub(r"^(\[[^]]*\] ?)+", "", complaints[-1])[:300] if complaints else ""
        return ""


class Serving:
    """What Envoy serves now, and which clusters only finish what they began."""

    def __init__(self, discovery: Discovery) -> None:
        self._discovery = discovery
        self._clusters: dict[str, Config] = {}
        self._retired: dict[str, float] = {}
        self.routes = NOTHING

    @property
    def cluster_names(self) -> list[str]:
        """Every cluster Envoy has, the draining ones last."""
        return [*(name for name in self._clusters if name not in self._retired), *self._retired]

    def is_draining(self, cluster: str) -> bool:
        """Whether a cluster only finishes what is in flight on it."""
        return cluster in self._retired

    def prepare(self, listener: Config) -> None:
        """Write all files for an Envoy about to start."""
        self._clusters = envoy.clusters(self.routes)
        self._retired = {}
        self._discovery.write("cds", self._clusters.values())
        self._discovery.write("rds", [envoy.route_table(self.routes)])
        self._discovery.write("lds", [listener])

    def await_start(self) -> None:
        """Wait until a started Envoy serves what was prepared; raises `envoy-refused`."""
        for kind in ("cds", "lds", "rds"):
            self._discovery.wait(kind)

    def change(self, routes: Routes) -> None:
        """Serve other routes; raises `envoy-refused`, and the former ones are served on."""
        wanted = envoy.clusters(routes)
        former = self._clusters
        self._put_clusters({**former, **wanted})
        if envoy.route_table(routes) != envoy.route_table(self.routes):
            try:
                self._discovery.put("rds", [envoy.route_table(routes)])
            except PlatformError:
                self._put_clusters(former)
                raise
        now = time.monotonic()
        self._retired = {name: self._retired.get(name, now) for name in former if name not in wanted}
        self.routes = routes

    def drop_drained(self, in_flight: Mapping[str, int]) -> None:
        """Take away the retired clusters that have nothing in flight, or have had their time."""
        now = time.monotonic()
        done = {
            name
            for name, since in self._retired.items()
            if (now - since > SETTLE_S and not in_flight.get(name)) or now - since > LONGEST_DRAIN_S
        }
        if done:
            self._put_clusters({name: each for name, each in self._clusters.items() if name not in done})
            self._retired = {name: since for name, since in self._retired.items() if name not in done}

    def _put_clusters(self, clusters: dict[str, Config]) -> None:
        if clusters != self._clusters:
            self._discovery.put("cds", clusters.values())
            self._clusters = clusters


def _refused(answer: Mapping[str, str | int]) -> int:
    return sum(int(count) for name, count in answer.items() if name.endswith((".update_rejected", ".update_failure")))
