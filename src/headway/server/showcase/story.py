"""What happens in the two weeks, told in hours before the present. Each act is one thing that a person does."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from headway.domain.errors import Language
from headway.domain.ids import JobId
from headway.domain.quota_table import read_tree
from headway.server.operations.alerts.alert_rules import acknowledge
from headway.server.operations.assets import serving
from headway.server.operations.assets.assets import register_model
from headway.server.operations.jobs.drill import Order, drill
from headway.server.operations.jobs.stopping import stop
from headway.server.operations.jobs.submit import Submission, submit
from headway.server.operations.nodes import cordoning
from headway.server.operations.people.directory import Change
from headway.server.operations.queue.granting import Wish, decide, request
from headway.server.operations.queue.quota import propose
from headway.server.showcase.furnish import ADMIN, LEAD, NEXT_QUOTAS, OPERATOR, watch
from headway.server.showcase.roles import Fault, How, Role
from headway.server.showcase.stage import Stage
from headway.server.showcase.words import said
from headway.store import alerts, jobs, services
from headway.store.nodes import Cordon

HOUR = 3600.0
DAYS = 14
MOMENT = timedelta(seconds=5)
Act = tuple[float, Callable[[], object]]


class Story:
    """The acts, and the jobs they made by name."""

    def __init__(self, stage: Stage, language: Language) -> None:
        self._stage, self._language = stage, language
        self._jobs: dict[str, JobId] = {}

    def play(self) -> None:
        """Everything, in its order, up to the present."""
        for before, act in sorted(self._acts(), key=lambda act: -act[0]):
            self._stage.until(self._ago(before))
            act()
            self._stage.settle()
            self._stage.foresee()
            self._stage.until(self._stage.now + MOMENT)
        self._stage.until(self._stage.ends)
        self._stage.foresee()

    def _acts(self) -> list[Act]:
        return [*self._long_runs(), *self._daily_work(), *self._queue(), *self._site(), *self._serving()]

    def _long_runs(self) -> list[Act]:
        seven = Role(48_000, 9.0, 500, last_loss=2.05, faults=(Fault(13_420, How.LOST), Fault(30_870, How.NETWORK, 9)))
        hangs_at = self._ago(15.5 / 60)
        thirteen = Role(120_000, 11.6, 500, first_loss=11.2, last_loss=1.72, hangs_at=hangs_at)
        return [
            (333.0, lambda: self._submit("llm-pretrain-7b", "zhao", seven, nodes=6, data="web-mix@1")),
            (
                50.0,
                lambda: self._submit("llm-pretrain-13b", "zhao", thirteen, nodes=8, data="web-mix@1", commit="9f2c4e1"),
            ),
        ]

    def _daily_work(self) -> list[Act]:
        """Fine-tunes and evaluations of every working day; some break, and one cannot be helped."""
        ends: dict[int, tuple[Fault | None, ...]] = {
            3: (Fault(410, How.CODE),),
            8: (Fault(620, How.NETWORK, 3), None),
            11: (Fault(80, How.MEMORY),),
            16: (Fault(900, How.LOST), None),
            21: (Fault(333, How.CODE),),
        }
        acts: list[Act] = []
        for number in range(26):
            name, owner = (("sft-chat", "sun"), ("vision-det", "li"), ("speech-asr", "wang"))[number % 3]
            role = Role(1800, 5.0 + number % 5, 200, first_loss=2.6, last_loss=0.9, faults=ends.get(number, ()))
            before = 326.0 - number * 11.7
            acts.append((before, self._job(f"{name}-{number + 1:02}", owner, role, "finetune")))
            score = Role(200, 6.0, first_loss=0.5, last_loss=0.2, use=71.0)
            acts.append((before - 5.6, self._job(f"eval-{number + 1:02}", owner, score, "evaluate")))
        return acts

    def _queue(self) -> list[Act]:
        """What runs now, and what waits for it."""
        tune = Role(3000, 4.1, 200, first_loss=2.4, last_loss=0.8)
        wide = Role(9000, 6.0, 500)
        asr = Role(
            6000, 7.0, 500, first_loss=4.0, last_loss=0.6, use=88.0, faults=(Fault(2_260, How.NETWORK, 11), None)
        )
        waste = Role(100_000, 60.0, use=0.6)
        return [
            (9.0, self._job("asr-large-910b", "wang", asr, "pretrain", nodes=2, types=["ascend910b"])),
            (7.2, self._job("probe-li", "li", waste, "evaluate", types=["h800"])),
            (4.1, self._job("ablation-cfg-b", "sun", wide, "pretrain", nodes=4, priority="high")),
            (2.4, self._job("sft-finance-12", "sun", tune, "finetune", limit_s=6 * HOUR)),
            (1.9, self._job("vision-seg-xl", "li", wide, "pretrain", nodes=2)),
            (1.2, self._job("sft-law-07", "zhao", tune, "finetune")),
            (0.9, self._job("asr-distill-03", "wang", tune, "finetune", nodes=2)),
            (0.6, self._job("rm-reward-02", "sun", tune, "finetune", limit_s=4 * HOUR)),
            (0.3, self._job("vision-pose-02", "li", tune, "finetune", after=["vision-seg-xl"])),
        ]

    def _site(self) -> list[Act]:
        """What operators and leads do."""
        return [
            (120.0, lambda: self._grant("speech", "h800", 8, (120.0, 20.0), "grant-release", "grant-ok")),
            (76.0, lambda: self._grant("vision", "h800", 16, (76.0, 28.0), "grant-sweep", "grant-no", approved=False)),
            (3.1, lambda: self._grant("llm", "h800", 32, (0.0, -96.0), "grant-rlhf")),
            (1.4, lambda: self._grant("vision", "ascend910b", 8, (0.0, -48.0), "grant-demo")),
            *((before, self._faults_of_h07) for before in (139.0, 132.5, 124.0, 117.0)),
            (116.0, lambda: self._cordon("h07", "cordon")),
            (27.0, lambda: self._cordon("h12", "fan", hours=60)),
            (26.0, self._propose),
            (46.0, lambda: watch(self._stage)),
            (30.2, lambda: self._drill("llm-pretrain-13b", 5)),
            (207.8, lambda: self._stop("vision-det-11", "li")),
            (17 / 60, self._stage.restart),
            (0.12, lambda: self._acknowledge("stalled")),
        ]

    def _serving(self) -> list[Act]:
        return [
            (230.0, lambda: self._register("llm-pretrain-7b", "chat-7b")),
            (180.0, lambda: self._register("llm-pretrain-7b", "chat-7b")),
            (178.0, lambda: self._deploy("chat-7b@1")),
            (52.0, lambda: self._deploy("chat-7b@2")),
            (49.0, lambda: self._shift(5, "canary")),
            (25.0, lambda: self._shift(25, "widen")),
            (2.2, lambda: self._shift(50, "widen")),
        ]

    def _ago(self, hours: float) -> datetime:
        return self._stage.ends - timedelta(hours=hours)

    def _change(self, by: str) -> Change:
        return Change(by, self._stage.now)

    def _job(self, name: str, owner: str, role: Role, template: str, **more: Any) -> Callable[[], object]:
        return lambda: self._submit(name, owner, role, template=template, **more)

    def _submit(  # noqa: PLR0913
        self,
        name: str,
        owner: str,
        role: Role,
        *,
        template: str = "pretrain",
        nodes: int = 1,
        types: list[str] | None = None,
        data: str = "web-mix@1",
        after: tuple[str, ...] | list[str] = (),
        **more: Any,
    ) -> None:
        self._stage.roles[name] = role
        project = {"zhao": "llm", "sun": "llm", "li": "vision", "wang": "speech"}[owner]
        blanks = {"config": f"configs/{name}.yaml"} | ({"data": data} if template == "pretrain" else {})
        wanted = Submission(
            name,
            project,
            template,
            parameters={} if template == "evaluate" else blanks,
            resources={"nodes": nodes, "device_types": types or ["h800"]},
            after=[self._jobs[other] for other in after],
            **more,
        )
        with self._stage.platform.database.write() as c:
            self._jobs[name] = submit(self._stage.platform, c, wanted, owner).id

    def _stop(self, name: str, by: str) -> None:
        with self._stage.platform.database.write() as c:
            job = jobs.get(c, self._jobs[name])
            if job is not None and not job.state.is_terminal:
                stop(c, job, at=self._stage.now, by=by)

    def _drill(self, name: str, rank: int) -> None:
        with self._stage.platform.database.write() as c:
            job = jobs.get(c, self._jobs[name])
            assert job is not None
            drill(c, job, Order(rank=rank), at=self._stage.now, by=OPERATOR)

    def _grant(  # noqa: PLR0913
        self,
        project: str,
        kind: str,
        devices: int,
        span: tuple[float, float],
        reason: str,
        note: str = "",
        approved: bool = True,
    ) -> None:
        begins, ends = (self._ago(hours) for hours in span)
        wish = Wish(project, kind, devices, begins, ends, said(reason, self._language))
        asker = {"llm": LEAD, "vision": "zheng", "speech": "wang"}[project]
        with self._stage.platform.database.write() as c:
            asked = request(c, self._change(asker), wish)
            if note:
                decide(c, self._change(OPERATOR), asked.id, approved, said(note, self._language))

    def _propose(self) -> None:
        with self._stage.platform.database.write() as c:
            propose(c, self._change(OPERATOR), read_tree(NEXT_QUOTAS), said("quota-next", self._language))

    def _faults_of_h07(self) -> None:
        text = "NVRM: Xid (PCI:0000:41:00): 79, pid=5017, GPU has fallen off the bus."
        self._stage.daemons.says("h07", self._stage.now, "xid", text, code=79, card=3, device="0000:41:00")

    def _cordon(self, node: str, why: str, hours: float | None = None) -> None:
        until = None if hours is None else self._stage.now + timedelta(hours=hours)
        reason = said(why, self._language)
        cordoning.close(self._stage.platform, node, Cordon(reason, until, needs_retest=hours is None), OPERATOR)

    def _register(self, job: str, name: str) -> None:
        with self._stage.platform.database.read() as c:
            found = jobs.get(c, self._jobs[job])
        assert found is not None
        register_model(self._stage.platform, self._change(LEAD), name, found, None)

    def _deploy(self, version: str) -> None:
        wanted = serving.Deployment("chat", "llm", version, "chat-serve")
        with self._stage.platform.database.write() as c:
            serving.deploy(self._stage.platform, c, self._change(LEAD), wanted)

    def _shift(self, share: int, why: str) -> None:
        with self._stage.platform.database.write() as c:
            service = services.get(c, "chat", "llm")
            assert service is not None
            shares = {"chat-7b@1": 100 - share, "chat-7b@2": share}
            serving.shift(c, self._change(LEAD), service, shares, said(why, self._language))

    def _acknowledge(self, rule: str) -> None:
        with self._stage.platform.database.write() as c:
            for record in alerts.fired(c, self._stage.now - timedelta(days=1)):
                if record.rule == rule:
                    acknowledge(c, self._change(ADMIN), record.id, said("seen", self._language))
