"""Writes checkpoints with the frameworks themselves: `python writers.py FRAMEWORK FOLDER`, a few CPU steps each."""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ.setdefault("HF_HUB_OFFLINE", "1")
import torch

STEPS = 4


class Rows(torch.utils.data.Dataset):
    """A few rows that a linear layer can be fitted to."""

    def __len__(self) -> int:
        return 16

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        x = torch.full((4,), float(index))
        return {"x": x, "labels": x.sum().reshape(1)}


class Model(torch.nn.Module):
    """Returns its loss first, as Trainer wants it."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        out = self.layer(x)
        return torch.nn.functional.mse_loss(out, labels), out


def trainer(folder: Path) -> None:
    """`checkpoint-2`, `checkpoint-4`."""
    from transformers import Trainer, TrainingArguments

    given = TrainingArguments(
        output_dir=str(folder), max_steps=STEPS, save_steps=2, use_cpu=True, report_to=[], disable_tqdm=True
    )
    Trainer(Model(), given, train_dataset=Rows()).train()


def accelerate(folder: Path) -> None:
    """`checkpoints/checkpoint_0`, `checkpoints/checkpoint_1`."""
    from accelerate import Accelerator
    from accelerate.utils import ProjectConfiguration

    helper = Accelerator(
        cpu=True, project_config=ProjectConfiguration(project_dir=str(folder), automatic_checkpoint_naming=True)
    )
    model = Model()
    model, optimizer, rows = helper.prepare(
        model, torch.optim.AdamW(model.parameters()), torch.utils.data.DataLoader(Rows(), batch_size=4)
    )
    for _ in range(2):
        for batch in rows:
            helper.backward(model(**batch)[0])
            optimizer.step()
        helper.save_state()


def lightning(folder: Path) -> None:
    """`*.ckpt` of steps 2 and 4."""
    import lightning as pl
    from lightning.pytorch.callbacks import ModelCheckpoint

    class Lit(pl.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.model = Model()

        def training_step(self, batch: dict[str, torch.Tensor], _index: int) -> torch.Tensor:
            return self.model(**batch)[0]

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.AdamW(self.parameters())

    saver = ModelCheckpoint(dirpath=folder, every_n_train_steps=2, save_top_k=-1)
    fitter = pl.Trainer(accelerator="cpu", max_steps=STEPS, callbacks=[saver], logger=False, enable_progress_bar=False)
    fitter.fit(Lit(), torch.utils.data.DataLoader(Rows(), batch_size=4))


def deepspeed(folder: Path) -> None:
    """`global_step2`, `global_step4`, ZeRO stage 1."""
    os.environ.update(RANK="0", LOCAL_RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", DS_ACCELERATOR="cpu")
    os.environ.setdefault("MASTER_PORT", "29517")
    import deepspeed as ds

    model = Model()
    settings = {"train_batch_size": 4, "zero_optimization": {"stage": 1}, "bf16": {"enabled": True}}
    ds.init_distributed(dist_backend="gloo", verbose=False)
    optimizer = torch.optim.AdamW(model.parameters())
    engine, *_ = ds.initialize(model=model, optimizer=optimizer, config=settings)
    for step in range(1, STEPS + 1):
        row = Rows()[step]
        engine.backward(engine(row["x"].bfloat16(), row["labels"].bfloat16())[0])
        engine.step()
        if step % 2 == 0:
            engine.save_checkpoint(str(folder))


def dcp(folder: Path) -> None:
    """`step-2`, as torchtitan names it."""
    import torch.distributed.checkpoint as checkpoint

    model = Model()
    checkpoint.save({"model": model.state_dict(), "step": 2}, checkpoint_id=str(folder / "step-2"), no_dist=True)


def megatron(folder: Path) -> None:
    """`iter_0000002`, `iter_0000004` by Megatron's own distributed writer, the tracker as its training loop writes it.

    It asks CUDA which device it is on and to come to rest, whatever the tensors lie on: both are answered for it.
    """
    os.environ.update(RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29518")
    torch.cuda.synchronize = lambda *_: None
    torch.cuda.current_device = lambda: "cpu"
    from megatron.core import dist_checkpointing

    torch.distributed.init_process_group("gloo")
    for step in (2, 4):
        place = folder / f"iter_{step:07d}"
        place.mkdir(parents=True)
        weights = dist_checkpointing.ShardedTensor.from_rank_offsets("layer", torch.randn(8, 4), (0, 0, 1))
        dist_checkpointing.save({"model": {"layer": weights}, "iteration": step}, str(place))
        (folder / "latest_checkpointed_iteration.txt").write_text(str(step))


class Kept:
    """State that torchtitan is handed: all of it is in a dictionary."""

    def __init__(self, kept: dict[str, object]) -> None:
        self.kept = kept

    def state_dict(self) -> dict[str, object]:
        return self.kept

    def load_state_dict(self, kept: dict[str, object]) -> None:
        self.kept = kept


def torchtitan(folder: Path) -> None:
    """`checkpoint/step-2`, `checkpoint/step-4` by torchtitan's own manager."""
    os.environ.update(RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29519")
    from torchtitan.components.checkpoint import CheckpointManager

    torch.distributed.init_process_group("gloo")
    manager = CheckpointManager(
        CheckpointManager.Config(enable=True, folder="checkpoint", interval=2, keep_latest_k=0),
        dataloader=Kept({"at": 1}),
        model_parts=[Model()],
        optimizers=Kept({"moments": torch.zeros(4)}),
        lr_schedulers=Kept({"last_epoch": 0}),
        states={"train_state": Kept({"step": torch.tensor(0)})},
        sd_adapter=None,
        base_folder=str(folder),
    )
    for step in range(1, STEPS + 1):
        manager.save(step)
    manager.close()


def plain(folder: Path) -> None:
    """`ckpt_2.pt`, `ckpt_4.pt`."""
    folder.mkdir(exist_ok=True)
    for step in (2, 4):
        torch.save({"model": Model().state_dict(), "step": step}, folder / f"ckpt_{step}.pt")


WRITERS = {
    each.__name__: each for each in (trainer, accelerate, lightning, deepspeed, megatron, torchtitan, dcp, plain)
}

if __name__ == "__main__":
    WRITERS[sys.argv[1]](Path(sys.argv[2]))
