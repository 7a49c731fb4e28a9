"""Compares two registered versions by what they are and where they came from. Reads no file: digests speak."""

from collections.abc import Iterator
from dataclasses import dataclass

from headway.domain.version import ModelVersion

Fact = str | int | None


@dataclass(frozen=True, slots=True)
class Difference:
    """One named thing that differs; None: that version has no such thing. Parameters are named `parameters.lr`."""

    name: str
    before: Fact
    after: Fact


def differences(a: ModelVersion, b: ModelVersion) -> tuple[Difference, ...]:
    """What differs between two versions, weights first, then their lineage; where they lie and who registered them are
    not compared.
    """
    before, after = dict(_facts(a)), dict(_facts(b))
    names = [*before, *(name for name in after if name not in before)]
    each = (Difference(name, before.get(name), after.get(name)) for name in names)
    return tuple(difference for difference in each if difference.before != difference.after)


def _facts(version: ModelVersion) -> Iterator[tuple[str, Fact]]:
    lineage = version.lineage
    yield "digest", version.digest
    yield "bytes", version.bytes
    yield "job", lineage.job
    yield "attempt", lineage.attempt
    yield "step", lineage.step
    yield "checkpoint_digest", lineage.checkpoint_digest
    yield "template", lineage.template
    for name, value in sorted(lineage.parameters.items()):
        yield f"parameters.{name}", value
    yield "dataset", lineage.dataset
    yield "dataset_digest", lineage.dataset_digest
    yield "commit", lineage.commit
    for name, value in sorted(lineage.environment.items()):
        yield f"environment.{name}", value
