import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.domain.errors import PlatformError
from headway.gateway.routes import Share, address, parse


def a_service(**changes: Any) -> dict[str, Any]:
    return {
        "name": "chat",
        "project": "nlp",
        "splits": [
            {"version": "v1", "weight": 90, "endpoints": ["127.0.0.1:1001"]},
            {"version": "v2", "weight": 10, "endpoints": ["127.0.0.1:1002", "[::1]:1003"]},
        ],
        **changes,
    }


def a_share(**changes: Any) -> dict[str, Any]:
    return {"version": "v1", "weight": 100, "endpoints": ["127.0.0.1:1001"], **changes}


def routes_of(*services: Any, **changes: Any) -> str:
    return json.dumps({"generation": 3, "services": list(services), **changes})


def refusal(text: str) -> PlatformError:
    with pytest.raises(PlatformError) as caught:
        parse(text)
    return caught.value


def test_a_service_is_reached_under_its_project_and_name() -> None:
    routes = parse(routes_of(a_service()))
    assert routes.generation == 3
    [service] = routes.services
    assert service.prefix == "/s/nlp/chat/"
    assert service.shares[1] == Share("v2", 10, ("127.0.0.1:1002", "[::1]:1003"))


def test_no_service_at_all_is_a_legal_wish() -> None:
    assert parse(routes_of()).services == ()


def test_a_prefix_may_be_chosen_and_a_null_rewrite_is_accepted() -> None:
    [service] = parse(routes_of(a_service(prefix="/chat/", rewrite_model=None))).services
    assert service.prefix == "/chat/"


@pytest.mark.parametrize("text", ["", "{", "\udcff", "[1,]", '{"generation": 1'])
def test_what_is_not_json_is_refused(text: str) -> None:
    assert refusal(text).code == "routes-unreadable"


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("[]", "routes"),
        (routes_of(extra=1), "routes.extra"),
        (routes_of(generation="3"), "generation"),
        (routes_of(generation=-1), "generation"),
        (routes_of(generation=True), "generation"),
        (routes_of(services={}), "services"),
        (json.dumps({"services": []}), "generation"),
        (routes_of(7), "services[0]"),
        (routes_of(a_service(color="red")), "services[0].color"),
        (routes_of(a_service(), a_service()), "services"),
        (routes_of(a_service(prefix="/x/"), a_service(name="other", prefix="/x/")), "services.prefix"),
        (routes_of(a_service(name=None)), "services[0].name"),
        (routes_of(a_service(prefix="/")), "services[0].prefix"),
        (routes_of(a_service(prefix="x/")), "services[0].prefix"),
        (routes_of(a_service(prefix="/x")), "services[0].prefix"),
        (routes_of(a_service(rewrite_model="llama")), "services[0].rewrite_model"),
        (routes_of(a_service(splits=[])), "services[0].splits"),
        (routes_of(a_service(splits=[a_share(weight=90)])), "services[0].splits"),
        (routes_of(a_service(splits=[a_share(weight=99.5)])), "services[0].splits[0].weight"),
        (routes_of(a_service(splits=[a_share(weight=-1)])), "services[0].splits[0].weight"),
        (routes_of(a_service(splits=[a_share(endpoints=[])])), "services[0].splits[0].endpoints"),
        (routes_of(a_service(splits=[a_share(endpoints=["a:1"])])), "services[0].splits[0].endpoints"),
        (routes_of(a_service(splits=[a_share(endpoints=["127.0.0.1:1"] * 2)])), "services[0].splits[0].endpoints"),
        (routes_of(a_service(splits=[a_share(weight=50), a_share(weight=50)])), "services[0].splits.version"),
    ],
)
def test_a_refusal_names_the_field(text: str, field: str) -> None:
    error = refusal(text)
    assert (error.code, error.params["field"]) == ("routes-refused", field)
    assert field in error.text("en")
    assert field in error.text("zh")


@pytest.mark.parametrize("name", ["a b", "../x", "a/b", "", "x" * 100, "a..b"])
def test_names_that_could_escape_the_path_are_refused(name: str) -> None:
    assert refusal(routes_of(a_service(name=name))).code == "invalid-name"


@pytest.mark.parametrize(
    "endpoint", ["", ":1", "1.2.3.4", "1.2.3.4:0", "1.2.3.4:65536", "1.2.3.4:+5", "::1:5", "[1.2.3.4]:5"]
)
def test_an_endpoint_is_an_address_and_a_port(endpoint: str) -> None:
    error = refusal(routes_of(a_service(splits=[a_share(endpoints=[endpoint])])))
    assert error.params["field"] == "services[0].splits[0].endpoints"


def test_addresses_of_both_families_are_split() -> None:
    assert address("10.0.0.1:80") == ("10.0.0.1", 80)
    assert address("[fe80::1]:65535") == ("fe80::1", 65535)


@given(st.lists(st.integers(0, 100), min_size=1, max_size=6))
def test_weights_are_accepted_exactly_when_they_sum_to_a_hundred(weights: list[int]) -> None:
    text = routes_of(a_service(splits=[a_share(version=f"v{at}", weight=w) for at, w in enumerate(weights)]))
    if sum(weights) == 100:
        assert [share.weight for share in parse(text).services[0].shares] == weights
    else:
        assert refusal(text).params["field"] == "services[0].splits"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(json_values, st.sampled_from(["generation", "services", "name", "project", "prefix", "splits", "endpoints"]))
def test_any_value_anywhere_is_accepted_or_refused_by_name(value: Any, place: str) -> None:
    if place in ("generation", "services"):
        text = routes_of(**{place: value})
    elif place == "endpoints":
        text = routes_of(a_service(splits=[a_share(endpoints=value)]))
    else:
        text = routes_of(a_service(**{place: value}))
    code = "accepted"
    try:
        parse(text)
    except PlatformError as error:
        code = error.code
    assert code in ("accepted", "routes-refused", "invalid-name")
