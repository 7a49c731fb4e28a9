"""The API's routes about what nodes measure, and about the credentials of their daemons.

Decides nothing; a part of `Client`.
"""

from typing import Any

from headway.sdk.client.calls import Calls, Row, Rows, part


class Watching(Calls):
    """Methods of a client, one a route. Moments are ISO 8601 with a zone."""

    def node_latest(self, node: str) -> Row:
        """The newest reading of everything a node measures, and what it is made of."""
        return dict(self.get(f"/nodes/{part(node)}/latest"))

    def node_readings(self, node: str, name: str, **query: Any) -> Rows:
        """One measurement of a node and of each of its cards over time; `since`, `until`, `points`."""
        return list(self.get(f"/nodes/{part(node)}/readings", name=name, **query))

    def metric(self, name: str, **query: Any) -> Rows:
        """One measurement across all nodes over time; `since`, `until`, `points`."""
        return self.all("/readings", name=name, **query)

    def issue_node_credential(self, node: str) -> Row:
        """A new credential for a node's daemon: `{"node", "token"}`; the earlier one ends."""
        return dict(self.post(f"/nodes/{part(node)}/credential", {}))

    def revoke_node_credential(self, node: str) -> None:
        """From now on nothing is taken from the node's daemon."""
        self.delete(f"/nodes/{part(node)}/credential")
