"""Saving again into an image that holds the last save: only the numbers are copied, where everything else is the same.

torch writes a tensor as a small archive in which nothing but the tensor's own bytes depends on their values. What is
not surely the same is written anew by torch.
"""

from __future__ import annotations

import ctypes
import io
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import torch

from headway.sdk.job.image import Image

ARCHIVED = "data/0"


class Place(NamedTuple):
    """Where the bytes of one item lie in the image; `like` is the tensor's type and shape, None for a Python object."""

    item: Any
    offset: int
    bytes: int
    like: Optional[Tuple[Any, ...]]


class Refill:
    """What the last save into an image wrote, and where."""

    def __init__(self, image: Image, planner: Any, items: List[Any], written: Dict[Any, Any]) -> None:
        """`planner` gives the items' values; `written` says for each item's index where torch put it in its file."""
        self._image = image
        self._planner = planner
        self._keys = _keys(planner)
        self._parts = len(image.parts)
        starts = {part.path.rpartition("/")[2]: part.offset for part in image.parts}
        self._places = [self._place(item, written[item.index], starts) for item in items]

    def values(self, shares: Dict[str, Any]) -> Optional[List[Any]]:
        """The values to be saved now, if they fit where the last ones are; None where torch has to write anew."""
        self._planner.set_up_planner(shares, is_coordinator=self._planner.is_coordinator)
        if _keys(self._planner) != self._keys:
            return None
        values = [self._planner.resolve_data(place.item) for place in self._places]
        fits = all(_fits(value, place) for value, place in zip(values, self._places))  # noqa: B905 not in Python 3.9
        return values if fits else None

    def write(self, values: List[Any]) -> None:
        """Put them there; what was written behind them is forgotten."""
        self._image.rewind(self._parts)
        view = self._image.view()
        for value, place in zip(values, self._places):  # noqa: B905 not in Python 3.9
            if place.like is None:
                view[place.offset : place.offset + place.bytes] = value.getbuffer()
            elif value.numel():
                target = torch.frombuffer(view, dtype=value.dtype, count=value.numel(), offset=place.offset)
                _copy(value.detach(), target)

    def _place(self, item: Any, info: Any, starts: Dict[str, int]) -> Place:
        value = self._planner.resolve_data(item)
        offset = starts[info.relative_path] + info.offset
        if not isinstance(value, torch.Tensor):
            return Place(item, offset, info.length, None)
        archive = torch._C.PyTorchFileReader(io.BytesIO(self._image.view()[offset : offset + info.length]))
        return Place(item, offset + archive.get_record_offset(ARCHIVED), value.nbytes, _like(value))


def _copy(value: Any, target: Any) -> None:
    """The bytes of a contiguous tensor. torch's own loop takes a third longer to places that are not aligned, as those
    in its archives are not; it wins where it may use several threads, or comes from a device.
    """
    if value.device.type == "cpu" and torch.get_num_threads() == 1:
        ctypes.memmove(target.data_ptr(), value.data_ptr(), value.nbytes)
    else:
        target.copy_(value.reshape(-1))


def _keys(planner: Any) -> Tuple[List[str], Any]:
    return list(planner.state_dict), planner.mappings


def _fits(value: Any, place: Place) -> bool:
    if isinstance(value, torch.Tensor):
        return value.is_contiguous() and place.like == _like(value)
    return place.like is None and len(value.getbuffer()) == place.bytes


def _like(tensor: Any) -> Tuple[Any, ...]:
    """What torch writes of a tensor besides its bytes."""
    return (tensor.dtype, tensor.shape, tensor.stride(), tensor.requires_grad, type(tensor), tensor.device.type)
