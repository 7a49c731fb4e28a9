"""Checkpoints that a framework writes itself, published and verified like our own: HF Trainer, Lightning, accelerate.

The framework knows best what its state is and how it goes on; here its files are linked into a checkpoint, hashed, made
durable, published whole, and the newest that verifies is handed back as the path to resume from. Nothing of a framework
is imported before it is asked for.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, Optional

from headway.sdk.job.run import Run

WRITTEN = "framework"


class Published:
    """What a framework writes, as checkpoints of a run. Every rank calls everything."""

    def __init__(self, run: Run, **options: Any) -> None:
        """`options` are those of `run.checkpoints`; saving is in the background unless they say otherwise."""
        self.run = run
        self.checkpoints = run.checkpoints(**{"background": True, **options})

    def publish(self, step: int, written: Path) -> None:
        """Publish the file or folder that the framework has just written; its own copy may go afterwards."""
        self.checkpoints.save(step, files=lambda folder: _link(written, folder / WRITTEN))

    def resume_from(self) -> Optional[Path]:
        """What the framework goes on from: the newest that verifies, the same on every rank; None: from the start."""
        chosen = self.checkpoints.newest()
        return chosen.path / WRITTEN if chosen is not None else None


def hf_callback(run: Run, **options: Any) -> Any:
    """A `TrainerCallback`: what the Trainer saves is published, and a stop saves and ends the training on all ranks.

    `trainer.train(resume_from_checkpoint=callback.published.resume_from())` goes on, data order included.
    """
    from transformers import TrainerCallback

    class HeadwayCallback(TrainerCallback):  # type: ignore[misc]
        def __init__(self) -> None:
            self.published = Published(run, **options)

        def on_step_end(self, _args: Any, state: Any, control: Any, **_: Any) -> Any:
            run.progress(state.global_step, state.max_steps)
            if self.published.checkpoints.should_stop():
                control.should_save = control.should_training_stop = True
            return control

        def on_log(self, _args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> Any:
            run.progress(state.global_step, state.max_steps, **(logs or {}))
            return control

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
            self.published.publish(state.global_step, Path(args.output_dir) / f"checkpoint-{state.global_step}")
            return control

        def on_train_end(self, _args: Any, _state: Any, control: Any, **_: Any) -> Any:
            self.published.checkpoints.wait()
            return control

    return HeadwayCallback()


def lightning_callback(run: Run, every: int, **options: Any) -> Any:
    """A Lightning `Callback` that saves every so many steps, and on a stop saves and ends the training on all ranks.

    `trainer.fit(model, ckpt_path=callback.published.resume_from())` goes on at the same step; within an epoch Lightning
    by itself begins the data anew, and it does not keep random numbers.
    """
    from lightning.pytorch.callbacks import Callback

    class HeadwayCallback(Callback):  # type: ignore[misc]
        def __init__(self) -> None:
            self.published = Published(run, **options)

        def on_train_batch_end(self, trainer: Any, *_: Any, **__: Any) -> None:
            step, stop = trainer.global_step, self.published.checkpoints.should_stop()
            run.progress(step, trainer.max_steps if trainer.max_steps > 0 else None)
            if step % every == 0 or stop:
                written = self.published.checkpoints.directory / f".tmp-lightning-{step}"
                trainer.save_checkpoint(written)
                self.published.publish(step, written)
                if trainer.is_global_zero:
                    _remove(written)
            if stop:
                trainer.should_stop = True

        def on_train_end(self, *_: Any) -> None:
            self.published.checkpoints.wait()

    return HeadwayCallback()


class Accelerated(Published):
    """Saves and restores what an `Accelerator` has prepared and registered."""

    def __init__(self, run: Run, accelerator: Any, **options: Any) -> None:
        super().__init__(run, **options)
        self._accelerator = accelerator

    def save(self, step: int) -> None:
        """Have the accelerator write its state, and publish it."""
        written = self.checkpoints.directory / f".tmp-accelerate-{step}"
        self._accelerator.save_state(str(written))
        self.publish(step, written)
        if self._accelerator.is_main_process:
            _remove(written)

    def restore(self) -> int:
        """Put back the newest state that verifies and return its step, 0 where there is none."""
        chosen = self.checkpoints.newest()
        if chosen is None:
            return 0
        self._accelerator.load_state(str(chosen.path / WRITTEN))
        return chosen.step


def _link(written: Path, target: Path) -> None:
    """The same files under another name where the file system can, which costs nothing; else copies."""
    if written.is_dir():
        shutil.copytree(written, target, copy_function=_link_file)
    else:
        _link_file(str(written), str(target))


def _link_file(source: str, target: str) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copyfile(source, target)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
