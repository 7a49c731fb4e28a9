"""A tiny training in a framework, published through its callback: `KIND DIRECTORY OUTPUT STEPS` prints what it came to.

KIND: hf, accelerate or lightning. Run again with more steps it goes on from what was published.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

import headway
from headway.sdk.job.frameworks import Accelerated, hf_callback, lightning_callback

EVERY = 4  # as many steps as an epoch has batches


class Points(Dataset[Any]):
    def __len__(self) -> int:
        return 32

    def __getitem__(self, at: int) -> dict[str, torch.Tensor]:
        x = torch.randn(4, generator=torch.Generator().manual_seed(at))
        return {"x": x, "labels": x.sum().reshape(1)}


class Line(nn.Module):
    def __init__(self, dropout: float = 0.1) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.layer = nn.Sequential(nn.Dropout(dropout), nn.Linear(4, 1))

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"loss": (self.layer(x) - labels).square().mean()}


def hf(directory: Path, output: Path, steps: int) -> nn.Module:
    from transformers import Trainer, TrainingArguments

    callback = hf_callback(headway.attach(), directory=directory)
    options = TrainingArguments(
        str(output), max_steps=steps, save_steps=EVERY, per_device_train_batch_size=8, use_cpu=True, report_to=[],
        disable_tqdm=True, lr_scheduler_type="constant", dataloader_pin_memory=False,
    )  # fmt: skip
    model = Line()
    path = callback.published.resume_from()
    trainer = Trainer(model, options, train_dataset=Points(), callbacks=[callback])
    trainer.train(resume_from_checkpoint=str(path) if path is not None else None)
    return model


def accelerate(directory: Path, _output: Path, steps: int) -> nn.Module:
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    model = Line()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    model, optimizer = accelerator.prepare(model, optimizer)
    saved = Accelerated(headway.attach(), accelerator, directory=directory)
    points = Points()
    for step in range(saved.restore() + 1, steps + 1):
        loss = model(**{name: value[None] for name, value in points[step].items()})["loss"]
        optimizer.zero_grad()
        accelerator.backward(loss)
        optimizer.step()
        if step % EVERY == 0:
            saved.save(step)
    saved.checkpoints.wait()
    return accelerator.unwrap_model(model)  # type: ignore[no-any-return]


def lightning(directory: Path, output: Path, steps: int) -> nn.Module:
    from lightning.pytorch import LightningModule, Trainer

    class Module(LightningModule):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.line = Line(dropout=0.0)  # Lightning keeps no random numbers

        def training_step(self, batch: Any) -> Any:
            return self.line(**batch)["loss"]

        def configure_optimizers(self) -> Any:
            return torch.optim.AdamW(self.parameters(), lr=0.01)

    callback = lightning_callback(headway.attach(), EVERY, directory=directory)
    trainer = Trainer(
        max_steps=steps, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
        callbacks=[callback], default_root_dir=output,
    )  # fmt: skip
    module = Module()
    path = callback.published.resume_from()
    trainer.fit(module, DataLoader(Points(), batch_size=8), ckpt_path=path, weights_only=False)
    return module.line


def main() -> None:
    kind, directory, output, steps = sys.argv[1:]
    torch.set_num_threads(1)
    model = {"hf": hf, "accelerate": accelerate, "lightning": lightning}[kind](
        Path(directory), Path(output), int(steps)
    )
    print("\n" + json.dumps([value.flatten().tolist() for value in model.state_dict().values()]))


if __name__ == "__main__":
    main()
