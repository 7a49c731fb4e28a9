"""The cards a batch system has given, by the numbers of the node and by those under which they are seen."""

import pytest

from headway.agent.granted import granted
from headway.agent.order import Order
from tests.agent.test_environment import GOOD


@pytest.mark.parametrize(
    ("environment", "cards"),
    [
        ({}, {0: 0, 1: 1}),
        ({"HEADWAY_CARDS": "3,4", "HEADWAY_VISIBLE": "0,1"}, {0: 3, 1: 4}),
        ({"HEADWAY_CARDS": "3,4", "HEADWAY_VISIBLE": "3,4"}, {3: 3, 4: 4}),
        ({"HEADWAY_CARDS": "3,4", "HEADWAY_VISIBLE": ""}, {3: 3, 4: 4}),
        ({"HEADWAY_CARDS": "3,4", "HEADWAY_VISIBLE": "GPU-8f2a,GPU-11c0"}, {3: 3, 4: 4}),
        ({"HEADWAY_CARDS": "", "HEADWAY_VISIBLE": "0,1"}, {0: 0, 1: 1}),
    ],
)
def test_cards_are_those_the_batch_system_gave_else_those_of_the_order(
    environment: dict[str, str], cards: dict[int, int]
) -> None:
    assert granted(Order({**GOOD, "devices": [0, 1]}), environment) == cards
