"""Following jobs and the channels it goes through: one's own stay one's own, secrets stay where they are."""

from fastapi.testclient import TestClient

from headway.server.access import Role
from tests.server.conftest import People, Placed

URL = "json://user:hidden-word@127.0.0.1:1/"


def test_a_job_is_followed_until_it_is_left_or_its_channel_is_gone(
    http: TestClient, placed: Placed, admin: dict[str, str], people: People
) -> None:
    bob = people.headers(people.token("bob", Role.MEMBER, "nlp"))
    http.put("channels/duty", json={"url": URL}, headers=admin)
    address = f"jobs/{placed.job}/following"
    assert http.get(address, headers=bob).json() is None
    http.put(address, json={"channel": "duty"}, headers=bob)
    followed = http.get(address, headers=bob).json()
    assert (followed["user"], followed["job"], followed["channel"]) == ("bob", placed.job, "duty")
    assert http.get(address, headers=admin).json() is None
    http.delete(address, headers=bob)
    assert http.get(address, headers=bob).json() is None
    http.put(address, json={"channel": "duty"}, headers=bob)
    http.delete("channels/duty", headers=admin)
    assert http.get(address, headers=bob).json() is None


def test_a_job_of_another_project_is_not_followed(http: TestClient, placed: Placed, people: People) -> None:
    eve = people.headers(people.token("eve", Role.MEMBER, "vision"))
    assert http.get(f"jobs/{placed.job}/following", headers=eve).status_code == 403


def test_a_channel_never_shows_its_secret(http: TestClient, admin: dict[str, str]) -> None:
    told = http.put("channels/duty", json={"url": URL}, headers=admin)
    listed = http.get("channels", headers=admin)
    assert [view["kind"] for view in listed.json()] == ["json://…"]
    assert "hidden-word" not in told.text + listed.text
    wrong = http.put("channels/duty", json={"url": "nonsense://user:hidden-word@x"}, headers=admin)
    assert (wrong.status_code, wrong.json()["params"]["field"]) == (422, "url")
    assert "hidden-word" not in wrong.text


def test_a_channel_of_ones_own_is_nobody_elses(http: TestClient, people: People, placed: Placed) -> None:
    bob = people.headers(people.token("bob", Role.MEMBER, "nlp"))
    ann = people.headers(people.token("ann", Role.MEMBER, "nlp"))
    http.put("channels/mine", json={"url": URL, "personal": True}, headers=bob)
    assert http.get("channels", headers=ann).json() == []
    assert http.put("channels/mine", json={"url": URL, "personal": True}, headers=ann).status_code == 404
    refused = http.put(f"jobs/{placed.job}/following", json={"channel": "mine"}, headers=ann)
    assert (refused.status_code, refused.json()["params"]["what"]) == (404, "channel")
    assert http.put("channels/all", json={"url": URL}, headers=bob).status_code == 403
