import json
from typing import Any

from headway.gateway import envoy
from headway.gateway.routes import Routes, ServiceRoute, Share


def a_route(*shares: Share, name: str = "chat", prefix: str | None = None) -> ServiceRoute:
    return ServiceRoute("nlp", name, prefix or f"/s/nlp/{name}/", shares)


V1 = Share("v1", 90, ("127.0.0.1:1001",))
V2 = Share("v2", 10, ("127.0.0.1:1002", "[::1]:1003"))
IDLE = Share("v0", 0, ("127.0.0.1:1000",))


def entries(*services: ServiceRoute) -> list[dict[str, Any]]:
    table = envoy.route_table(Routes(1, services))
    return list(table["virtual_hosts"][0]["routes"])


def weights_of(entry: dict[str, Any]) -> dict[str, int]:
    return {each["name"]: each["weight"] for each in entry["route"]["weighted_clusters"]["clusters"]}


def test_every_listed_version_keeps_a_cluster_even_without_weight() -> None:
    assert list(envoy.clusters(Routes(1, (a_route(V1, V2, IDLE),)))) == ["nlp/chat/v1", "nlp/chat/v2", "nlp/chat/v0"]


def test_the_split_names_only_versions_with_weight() -> None:
    split = entries(a_route(V1, V2, IDLE))[-2]
    assert weights_of(split) == {"nlp/chat/v1": 90, "nlp/chat/v2": 10}


def test_the_test_entry_comes_before_the_split_and_an_unknown_version_is_told_so() -> None:
    *tests, unknown, split, last = entries(a_route(V1, IDLE))
    assert [weights_of(entry) for entry in tests] == [{"nlp/chat/v1": 1}, {"nlp/chat/v0": 1}]
    assert unknown["match"]["headers"] == [{"name": "x-headway-version", "present_match": True}]
    assert "headers" not in split["match"]
    assert last["direct_response"]["status"] == 404


def test_a_longer_prefix_is_tried_first() -> None:
    found = entries(a_route(V1, prefix="/a/"), a_route(V1, name="deep", prefix="/a/b/"))
    prefixes = [entry["match"]["prefix"] for entry in found]
    assert prefixes == sorted(prefixes, key=len, reverse=True)


def test_streams_have_no_time_limit_and_only_unbegun_requests_are_tried_again() -> None:
    route = entries(a_route(V1))[-2]["route"]
    assert (route["timeout"], route["idle_timeout"], route["prefix_rewrite"]) == ("0s", "300s", "/")
    assert route["retry_policy"]["retry_on"] == "connect-failure,refused-stream,reset-before-request"
    assert route["retry_policy"]["num_retries"] == 2


def test_the_same_routes_give_the_same_bytes() -> None:
    routes = Routes(1, (a_route(V1, V2), a_route(V1, name="other")))
    assert json.dumps(envoy.route_table(routes)) == json.dumps(envoy.route_table(routes))
    reordered = Routes(2, routes.services[::-1])
    assert envoy.route_table(reordered) == envoy.route_table(routes)


def test_admin_is_private_unless_a_port_is_given() -> None:
    assert envoy.bootstrap(None)["admin"]["address"] == {"pipe": {"path": "admin.sock", "mode": 0o600}}
    assert envoy.bootstrap(9901)["admin"]["address"]["socket_address"]["address"] == "127.0.0.1"


def test_the_access_log_can_be_off() -> None:
    [filters] = envoy.listener("127.0.0.1", 0, None)["filter_chains"]
    assert filters["filters"][0]["typed_config"]["access_log"] == []
