"""The API's routes about nodes and cards: who has them, how suspect they are, closing, retesting.

Decides nothing; a part of `Client`.
"""

from typing import Any

from headway.sdk.client.calls import Calls, Row, Rows, given, part


class Machines(Calls):
    """Methods of a client, one a route. Moments are ISO 8601 with a zone."""

    def nodes(self) -> Rows:
        return self.all("/nodes")

    def cards(self, state: str | None = None, project: str | None = None, node: str | None = None) -> Rows:
        """Every card with its holder; `state` `idle`: held and doing nothing since `idle_since`."""
        return self.all("/cards", state=state, project=project, node=node)

    def cordon(self, node: str, reason: str, *, until: str | None = None, needs_retest: bool = False) -> Row:
        """Keep a node from new attempts: `{"node", "kind", "reason"}`."""
        body = given({"reason": reason, "until": until, "needs_retest": needs_retest or None})
        return dict(self.put(f"/nodes/{part(node)}/cordon", body))

    def uncordon(self, node: str, *, force: bool = False) -> Row:
        """Take Headway's own cordon back: `{"node", "state", "reason"}`, as its engine shows the node now."""
        where = f"/nodes/{part(node)}/cordon"
        return dict(self._transport.json("DELETE", where, params={"force": force}))

    def cases(self, days: int = 90) -> Rows:
        """Every node with its faults beside the pool's norm, the most suspect first."""
        return self.all("/cases", days=days)

    def case(self, node: str, days: int = 90) -> Row:
        """Everything known of one node."""
        return dict(self.get(f"/nodes/{part(node)}/case", days=days))

    def retest(self, nodes: list[str], project: str, **wish: Any) -> Row:
        """Close nodes and test them once they are idle; `devices_per_node`, `as_reference`."""
        return dict(self.post("/retests", {"nodes": nodes, "project": project} | given(wish)))

    def retests(self) -> Rows:
        return self.all("/retests")

    def beside(self, job: str, attempt: int | None = None) -> Row:
        """What stood beside an attempt: neighbours, words of its nodes, links and mounts."""
        return dict(self.get(f"/jobs/{part(job)}/beside", attempt=attempt))

    def incidents(self, days: int = 7) -> Rows:
        """What failed together, the dearest first."""
        return self.all("/incidents", days=days)
