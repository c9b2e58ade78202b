"""The trainer of the shipped model: resumable, seeded, with its own validation.

State (model, optimizer, step, seconds spent) is written every ten minutes and at the end, and read
again by the next run in the same folder: a run that was killed loses ten minutes at most. What
ships is only the model with its tokenizer, its card and the chart of its losses.
"""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

from models.crscore.encoder import fast_bfloat16
from models.generators.line_edits import EditCodec
from models.training.batches import (
    MAX_ANSWER,
    MAX_SOURCE,
    Batch,
    stream,
)
from models.training.card import write_card
from models.training.copying import games, start_copying
from models.training.dropout import set_dropout
from models.training.grow import grown, widened
from models.training.mixture import MIXTURES, TASKS_OF
from models.training.progress import History, Progress, Show, position, write_chart
from models.training.records import records
from models.training.start import load_start
from models.training.tokenizer import train_tokenizer
from models.training.validation import Validation

SAVE_SECONDS = 600.0
"""Between two writings of the state."""
LINE_SECONDS = 60.0
"""Between two lines of the report, each of which is a point of the chart."""
TOKENIZER_ROWS = 6000
"""Records of each file that the vocabulary is learnt from, at most."""
SHORT = (112, 40)
"""Most tokens of source and answer in the stage of short windows."""


Source = tuple[float, Callable[[random.Random], Any]]
"""A source of examples with its weight."""


@dataclass(frozen=True, slots=True)
class TrainOptions:
    """How to train.

    ``minutes`` bounds the time spent in steps, over all resumed runs together; the learning
    rate falls to zero over the last 30 % of it. ``steps`` bounds them by number instead, and
    rate and stages follow their number, each step taken for its share of ``minutes``: two such
    runs with equal options and threads on one machine give weights that are equal to the last
    bit, where neither was interrupted (a resumed one draws other examples). ``tokens`` is the
    number of padded source tokens a batch. ``rate`` is relative: each parameter moves by
    ``rate`` times its own root mean square (see ``scale_rates``). ``dropout`` is the share of
    activations set to zero in training. Longer examples than
    ``longest_source`` and ``longest_answer`` (tokens) are left out. ``grow`` enlarges what the run
    starts from: blocks to add to encoder and decoder, and hidden units of each feed-forward layer
    (``grow.grown``); ``widen`` doubles its width before that (``grow.widened``). A fresh
    model starts from a rough copying circuit and spends its first ``game_minutes`` on copying
    games (``copying``), then the time up to ``short_minutes`` on short windows (``SHORT`` tokens),
    of which it sees three times as many. ``mixture`` is one of ``MIXTURES``. ``checked`` is the
    size of a validation set; the state is written every ``save_seconds``.
    """

    data: Path
    folder: Path
    start_from: str | None = None
    grow: tuple[int, int] | None = None
    widen: bool = False
    minutes: float = 120.0
    seed: int = 1
    vocabulary: int = 8192
    width: int = 256
    heads: int = 4
    feed_forward: int = 1024
    encoder_layers: int = 4
    decoder_layers: int = 3
    rate: float = 1.5e-2
    dropout: float = 0.0
    tokens: int = 8192
    longest_source: int = MAX_SOURCE
    longest_answer: int = MAX_ANSWER
    mixture: str = "default"
    game_minutes: float = 4.0
    short_minutes: float = 30.0
    threads: int | None = None
    limit: int | None = None
    steps: int | None = None
    checked: int = 240
    save_seconds: float = SAVE_SECONDS

    def share(self, progress: Progress) -> float:
        """How much of the run is done, 0 to 1 (or a little more)."""
        if self.steps is not None:
            return progress.step / self.steps
        return progress.seconds / (self.minutes * 60)


def tokenizer_texts(data: Path, per_file: int = TOKENIZER_ROWS) -> list[str]:
    """A sample of code and prose lines to learn the vocabulary from."""
    texts: list[str] = []
    for path in sorted((data / "edits").glob("*.jsonl.gz")):
        if path.name.startswith("gumtree"):
            continue
        for index, row in enumerate(records(path)):
            if index >= per_file:
                break
            texts += row["after"].split("\n")
            texts.append(row["message"].split("\n", 1)[0])
    for index, row in enumerate(records(data / "trans_review" / "train.jsonl.gz")):
        if index >= per_file:
            break
        texts += [row["code"], row["comment"]]
    for row in records(data / "pr_reviews" / "python.jsonl.gz"):
        texts.append(row["comment"])
    return texts


def build(options: TrainOptions) -> tuple[Tokenizer, T5ForConditionalGeneration]:
    """The tokenizer and a fresh model, or those of ``start_from`` (a folder or Hub id)."""
    if options.start_from is not None:
        tokenizer, model = load_start(options.start_from)
        if options.widen:
            model = widened(model, options.seed)
        if options.grow is not None:
            model = grown(model, *options.grow, seed=options.seed)
        return tokenizer, model
    if options.grow is not None or options.widen:
        raise ValueError("only a checkpoint can be grown: name one to start from")
    rows = min(TOKENIZER_ROWS, options.limit or TOKENIZER_ROWS)
    tokenizer = train_tokenizer(tokenizer_texts(options.data, rows), options.vocabulary)
    torch.manual_seed(options.seed)
    config = T5Config(
        vocab_size=tokenizer.get_vocab_size(),
        d_model=options.width,
        d_kv=options.width // options.heads,
        num_heads=options.heads,
        d_ff=options.feed_forward,
        num_layers=options.encoder_layers,
        num_decoder_layers=options.decoder_layers,
        feed_forward_proj="relu",
        dropout_rate=0.0,
        tie_word_embeddings=True,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
    )
    model = T5ForConditionalGeneration(config)
    start_copying(model, options.seed)
    return tokenizer, model


def rate_at(progress: float, peak: float) -> float:
    """The learning rate at a fraction of the run: 3 % warm-up, level, the last 30 % to zero."""
    return peak * max(0.0, min(1.0, progress / 0.03 + 0.02, (1.0 - progress) / 0.3))


def scale_rates(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Set each parameter's step to ``rate`` times its root mean square (0.001 at least).

    T5's initial values differ a hundredfold between embeddings (1) and queries (0.008), so one
    absolute rate is too small for the first and too large for the second; Adafactor, with which
    T5 was made, scales in the same way (Shazeer and Stern 2018, section 8).
    """
    for group in optimizer.param_groups:
        (parameter,) = group["params"]
        size = float(parameter.detach().pow(2).mean().sqrt())
        group["lr"] = rate * max(1e-3, size)


def save_model(
    folder: Path, tokenizer: Tokenizer, model: T5ForConditionalGeneration, card: Mapping[str, Any]
) -> None:
    """Write a folder that transformers loads and the generator knows by its task card."""
    folder.mkdir(parents=True, exist_ok=True)
    half = T5ForConditionalGeneration(model.config)
    half.load_state_dict(model.state_dict())
    half.to(torch.bfloat16).save_pretrained(folder)
    names = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)
    wrapped.save_pretrained(folder)
    write_card(folder, card)


_FREE = frozenset({"minutes", "threads", "steps", "save_seconds"})
"""Options that a resumed run may change."""


def train(
    options: TrainOptions, report: Callable[[str], None] = print, show: Show | None = None
) -> dict[str, float]:
    """Train (or go on training) in ``options.folder``; the best model is in its ``best`` folder.

    Args:
        options: how.
        report: gets a line a minute and at each validation.
        show: gets the position after every step.

    Returns:
        The last validation's numbers.

    Raises:
        FileNotFoundError: the data folder lacks a data set.
        ValueError: the folder holds the state of a run with other options.
    """
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    state_file = options.folder / "state.pt"
    described = {k: str(v) for k, v in asdict(options).items() if k not in _FREE}
    progress, history = Progress(), History()
    options.folder.mkdir(parents=True, exist_ok=True)
    saved: dict[str, Any] | None = None
    if state_file.exists():
        saved = torch.load(state_file, weights_only=True)
        # options that a state does not name are younger than it
        if {**described, **saved["options"]} != described:
            raise ValueError(
                f"{options.folder} holds a run with other options; "
                "name another folder to start anew"
            )
        progress = Progress(**saved["progress"])
        history = History.read(saved.get("history", {}))
    best, fresh = options.folder / "best", options.folder / "best.new"
    if fresh.exists() and not best.exists():  # killed between taking the old away and this
        fresh.rename(best)
    token_file = options.folder / "tokenizer.json"
    if saved is not None:
        tokenizer = Tokenizer.from_file(str(token_file))
        model = T5ForConditionalGeneration(T5Config(**saved["config"]))
        model.load_state_dict(saved["model"])
    else:
        tokenizer, model = build(options)
        tokenizer.save(str(token_file))
    set_dropout(model, options.dropout, options.seed)
    codec = EditCodec(tokenizer)
    optimizer = torch.optim.AdamW(
        [{"params": [parameter]} for parameter in model.parameters()],
        lr=options.rate,
        betas=(0.9, 0.98),
        weight_decay=0.0,
        fused=True,
    )
    if saved is not None:
        optimizer.load_state_dict(saved["optimizer"])
        del saved
    validation = Validation(codec, options.data, options.checked, options.limit, options.mixture)
    sources = MIXTURES[options.mixture](options.data, options.limit)
    puzzles = [(1.0, games(codec))]
    stage = _stage(options, progress)
    batches = _batches(codec, options, progress, puzzles if stage == "games" else sources)
    fast = fast_bfloat16()
    report(
        f"{sum(p.numel() for p in model.parameters()) / 1e6:.1f}M parameters, vocabulary "
        f"{tokenizer.get_vocab_size()}, {'bfloat16' if fast else 'float32'} products, "
        f"from step {progress.step}"
    )
    numbers: dict[str, float] = {}
    last_save = time.monotonic()
    last_line = time.monotonic()
    losses: list[float] = []

    def checkpoint() -> None:
        nonlocal numbers
        numbers = validation.measure(model)
        history.validation.append((progress.seconds / 60, numbers["loss"]))
        report(
            f"step {progress.step} after {progress.seconds / 60:.0f} min, {progress.examples} "
            "examples: " + ", ".join(f"{k} {v:.3f}" for k, v in numbers.items())
        )
        if numbers["loss"] < progress.best:
            progress.best = numbers["loss"]
            card = {
                "format": "line-edits-1",
                "tasks": TASKS_OF.get(options.mixture, ["crb", "cra", "rcg"]),
                "parameters": sum(p.numel() for p in model.parameters()),
                "options": _told(options, described),
                "progress": asdict(progress),
                "validation": numbers,
            }
            save_model(fresh, tokenizer, model, card)
            if best.exists():
                shutil.rmtree(best)
            fresh.rename(best)
        temporary = state_file.with_suffix(".new")
        torch.save(
            {
                "options": described,
                "progress": asdict(progress),
                "history": asdict(history),
                "config": model.config.to_dict(),
                "model": model.state_dict(),
                "optimizer": optimizer.state_dict(),
            },
            temporary,
        )
        temporary.replace(state_file)

    model.train()
    while options.share(progress) < 1:
        if stage != (stage := _stage(options, progress)):
            report(f"stage: {stage}")
            batches = _batches(codec, options, progress, puzzles if stage == "games" else sources)
        started = time.monotonic()
        batch = next(batches)
        rate = rate_at(options.share(progress), options.rate)
        scale_rates(optimizer, rate)
        losses.append(_step(model, optimizer, batch, fast))
        progress.step += 1
        progress.examples += len(batch.source)
        progress.tokens += int(batch.mask.sum()) + int(batch.labels.ne(-100).sum())
        progress.seconds += time.monotonic() - started
        here = position(progress, options.share(progress), losses[-1], history, stage)
        if show is not None:
            show(here)
        if time.monotonic() - last_line > LINE_SECONDS or here.share >= 1:
            history.training.append((progress.seconds / 60, sum(losses) / len(losses)))
            report(
                f"step {progress.step}, {progress.seconds / 60:.1f} min, {progress.examples} "
                f"examples, {progress.tokens / progress.seconds:.0f} tokens/s, loss "
                f"{history.training[-1][1]:.3f}, rate {rate:.2e}, "
                f"{here.seconds_left / 60:.0f} min left"
            )
            losses.clear()
            last_line = time.monotonic()
        if time.monotonic() - last_save > options.save_seconds:
            checkpoint()
            last_save = time.monotonic()
    checkpoint()
    write_chart(options.folder, history)
    return numbers


def _told(options: TrainOptions, described: Mapping[str, str]) -> dict[str, str]:
    """The options for the card; the shape of a model that was started from is its own."""
    left_out = {"data", "folder"}
    if options.start_from is not None:
        left_out |= {"vocabulary", "width", "heads", "feed_forward", "encoder_layers"}
        left_out |= {"decoder_layers", "game_minutes"}
    return {name: value for name, value in described.items() if name not in left_out}


def _stage(options: TrainOptions, progress: Progress) -> str:
    if options.mixture == "claims":
        return "full"  # hardly a change with its claims is short
    minutes = options.share(progress) * options.minutes
    if options.start_from is None and minutes < options.game_minutes:
        return "games"
    return "short" if minutes < options.short_minutes else "full"


def _batches(
    codec: EditCodec, options: TrainOptions, progress: Progress, sources: Sequence[Source]
) -> Iterator[Batch]:
    longest = (options.longest_source, options.longest_answer)
    if _stage(options, progress) == "short":
        longest = (min(longest[0], SHORT[0]), min(longest[1], SHORT[1]))
    # a resumed run draws new examples: its stream's seed counts the steps already made
    return stream(
        codec, sources, options.seed + progress.step, tokens=options.tokens, longest=longest
    )


def _step(
    model: T5ForConditionalGeneration, optimizer: torch.optim.Optimizer, batch: Batch, fast: bool
) -> float:
    with torch.autocast("cpu", torch.bfloat16, enabled=fast):
        loss = model(input_ids=batch.source, attention_mask=batch.mask, labels=batch.labels).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return float(loss.detach())
