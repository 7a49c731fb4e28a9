"""What there is to say about one job: where it stands, why it waits, what broke and what that cost."""

from typing import Any

from headway.cli import quantities
from headway.cli.language import language, say, word
from headway.cli.quantities import UNKNOWN
from headway.cli.screen import state
from headway.domain.errors import PlatformError, codes

Row = dict[str, Any]


def headline(view: Row) -> str:
    """One line: the job, its state, its step."""
    job = view["job"]
    return f"{state(job['state'])}  {job['spec']['name']} ({job['id']}){at_step(job)}"


def at_step(job: Row) -> str:
    """` at step 120/200`; nothing where no step was seen."""
    return "" if job["step"] is None else say("why.at-step", steps=quantities.steps(job["step"], job["total"]))


def waiting(waits: Row) -> list[str]:
    """Its place, who is ahead, the reason with numbers, and when it may start."""
    ahead = waits["ahead"]
    lines = [
        say("why.position", position=waits["position"], reason=word("reason", waits["reason"])),
        waits["sentence"],
    ]
    if ahead:
        beyond = max(waits.get("ahead_count", 0), len(ahead)) - 5
        more = say("why.more", count=beyond) if beyond > 0 else ""
        lines.append(say("why.ahead", jobs=", ".join(ahead[:5]) + more))
    if waits.get("order"):
        lines.append(say("why.order", order=waits["order"]))
    return [*lines, start_range(waits)]


def start_range(waits: Row) -> str:
    """When it is expected to start; why that is not known, where it is not."""
    forecast = waits.get("forecast") or {}
    if forecast.get("p50"):
        first, last = quantities.moment(forecast["p50"]), quantities.moment(forecast["p90"])
        return say("why.start", first=first, last=last, at=quantities.clock(forecast["as_of"]))
    if forecast.get("not_before"):
        return say("why.not-before", first=quantities.moment(forecast["not_before"]))
    if forecast.get("unknown"):
        code = f"start-unknown-{forecast['unknown']}"
        return PlatformError(code if code in codes(language()) else "start-unknown-blocked").text(language())
    return say("why.start-unknown")


def standing_before(view: Row) -> str:
    """One job that is ahead in line: whose, how wide, and from when to when it is expected to run."""
    expected = [quantities.clock(view[name]) if view[name] else UNKNOWN for name in ("starts", "ends")]
    devices = quantities.whole(view["devices"])
    names = {name: view[name] for name in ("job", "owner", "project")}
    return say("why.before", **names, devices=devices, starts=expected[0], ends=expected[1])


def advice_on_waiting(waits: Row) -> str:
    """What would start it sooner."""
    untimed = waits["reason"] == "order" and not waits["numbers"].get("promised_at")
    code = f"waits-{waits['reason']}" + ("-untimed" if untimed else "")
    return PlatformError(code, **waits["numbers"]).hint(language())


def verdict(found: Row, text: str | None) -> list[str]:
    """What stopped, where it was seen, who went along, and the lines that show it."""
    seen = [
        say("why.place", rank=found["rank"], node=found["node"] or UNKNOWN) if found["rank"] is not None else "",
        found["signal_name"] or (say("why.code", code=found["code"]) if found["code"] is not None else ""),
        quantities.moment(found["at"]) if found["at"] else "",
        say("why.confidence", share=quantities.share(found["confidence"])),
    ]
    lines = [text or found["fault"], " · ".join(part for part in seen if part)]
    if found["followers"]:
        lines.append(say("why.followers", ranks=", ".join(map(str, found["followers"]))))
    return lines + [f"{line['rank']:>4} │ {line['text']}" for line in found["lines"][:8]]


def loss(view: Row) -> str:
    """What one failure cost, in a sentence; what is still being measured is said to be."""
    if view["kill_to_first_step_s"] is None:
        return say("why.bill-open", steps=quantities.whole(view["lost_steps"]))
    return say(
        "why.bill",
        steps=quantities.whole(view["lost_steps"]),
        device_seconds=quantities.device_seconds(view["bill"]["device_seconds_lost"]),
        seconds=quantities.duration(view["kill_to_first_step_s"]),
    )


def trade_of(trade: list[Row]) -> list[str]:
    """What saving as advised, as now, and at the widest of the intervals shown costs and risks, in one line."""
    shown = [choice for choice in trade if choice["advised"] or choice["in_use"] or choice is trade[-1]]
    told = [
        say(
            "why.trade-one",
            every=quantities.duration(choice["interval_s"]),
            mark=_mark(choice),
            share=f"{choice['save_share'] * 100:.2g}",
            lost=quantities.duration(choice["lost_per_fault_s"]),
        )
        for choice in shown
    ]
    return [say("why.trade", choices=" · ".join(told))] if told else []


def _mark(choice: Row) -> str:
    named = [say("cadence.advised") if choice["advised"] else "", say("cadence.in-use") if choice["in_use"] else ""]
    words = ", ".join(word for word in named if word)
    return f" ({words})" if words else ""


def spent(view: Row) -> str:
    """Where the seconds of one recovery went; the phases that are known, in order."""
    known = {name: seconds for name, seconds in view["phases"].items() if seconds is not None}
    return " · ".join(f"{word('recovery', name)} {quantities.duration(seconds)}" for name, seconds in known.items())


def way(view: Row) -> str:
    """How the job went on, at once where it was or through the queue and why; nothing where that is not decided."""
    return word("way", view["way"]) if view["way"] else ""


def choice(view: Row) -> str:
    """Whose checkpoint it went on from, where both run.checkpoints and a framework had written some."""
    chosen = view["choice"]
    if not chosen:
        return ""
    is_newer = chosen["step"] > chosen["other_step"]
    return say("why.choice", **chosen) if is_newer else say("why.choice-same", **chosen)


def passing(view: Row) -> str:
    """Whether it has come past the step at which it broke."""
    step = quantities.whole(view["bill"]["last_step"])
    if view["passing"] == "passed":
        return say("why.passed", step=step)
    if view["passing"] == "watched":
        return say("why.not-passed-yet", step=step)
    return say("why.never-passed", step=step)
