"""Java8G and CodeGPT: GPT-2 on code, completing lines, and revising where it is fitted to.

Java8G is GPT-2 small trained for one epoch on 1.4 million Java files, with special tokens for the
bounds of a file and the end of a line; a completion is two sequences of 16 tokens. As reviewers
both are fitted to continue ``source <msg> answer``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import torch
from transformers import AutoModelForCausalLM, GPT2Config, GPT2LMHeadModel

from models.systems.base import (
    FitReport,
    Progress,
    System,
    SystemFault,
    answer_where_possible,
)
from models.systems.completion_cases import Case
from models.systems.fitting import fit_model
from models.systems.pretrained import IGNORED, open_model, open_tokenizer, quiet
from models.systems.recipes import CODEGPT, JAVA8G, Recipe
from models.systems.tokenizers import roberta_tokenizer
from models.tasks import Example, Prediction, Task, target_of

FILE_START, FILE_END, LINE_END, ANSWER = "<s>", "</s>", "<EOL>", "<msg>"
"""Bounds of a file, the end of a line, and what stands between a source and its answer."""

_SPECIALS = (FILE_START, "<pad>", FILE_END, "<unk>", LINE_END, ANSWER)
_BATCH = 16


@dataclass(frozen=True, slots=True)
class _Row:
    ids: tuple[int, ...]
    prompt: int  # so many ids at the start carry no loss


@dataclass(frozen=True, slots=True)
class Completion:
    """The sequences generated for one case, best first, and the probability of the first."""

    texts: tuple[str, ...]
    confidence: float


class Causal(System):
    """A left-to-right model of code."""

    tasks = frozenset(Task)
    paper: ClassVar[Recipe]
    line_token: ClassVar[bool]
    """Whether the end of a line is a token of its own."""

    def __init__(self, recipe: Recipe | None = None) -> None:
        super().__init__()
        self.recipe = recipe or self.paper
        self.tokenizer: Any = None
        self.model: Any = None

    @classmethod
    def start_from(cls, name: str, recipe: Recipe | None = None) -> Causal:
        """Published weights (a folder or a Hub id): they complete code as they are.

        Tokens of ours that the checkpoint lacks are added with fresh embeddings. Raises
        UnusableCheckpoint where the checkpoint cannot be had.
        """
        system = cls(recipe)
        system.tokenizer = open_tokenizer(name)
        system.model = open_model(AutoModelForCausalLM, name)
        system._complete_vocabulary()
        return system

    def _complete_vocabulary(self) -> None:
        tokenizer = self.tokenizer
        known = tokenizer.get_vocab()
        missing = [token for token in (LINE_END, ANSWER) if token not in known]
        if missing:
            tokenizer.add_tokens(missing, special_tokens=True)
        if tokenizer.pad_token is None:
            tokenizer.pad_token = tokenizer.eos_token
        if len(tokenizer) > self.model.get_input_embeddings().num_embeddings:
            torch.manual_seed(self.recipe.schedule.seed)
            self.model.resize_token_embeddings(len(tokenizer), mean_resizing=False)

    def build(self, texts: Sequence[str]) -> None:
        """A byte-level BPE with the special tokens, and a fresh GPT-2, by the recipe."""
        shape = self.recipe.shape
        self.tokenizer = roberta_tokenizer(texts, shape.vocabulary, (*_SPECIALS, "<mask>"))
        self.tokenizer.add_tokens([LINE_END, ANSWER], special_tokens=True)
        self.model = GPT2LMHeadModel(
            GPT2Config(
                vocab_size=len(self.tokenizer),
                n_positions=shape.source_tokens + 2 * shape.target_tokens,
                n_embd=shape.width,
                n_layer=shape.decoder_layers,
                n_head=shape.heads,
                n_inner=shape.feed_forward,
                resid_pdrop=shape.dropout,
                embd_pdrop=shape.dropout,
                attn_pdrop=shape.attention_dropout,
                bos_token_id=self.tokenizer.bos_token_id,
                eos_token_id=self.tokenizer.eos_token_id,
                pad_token_id=self.tokenizer.pad_token_id,
                loss_type="ForCausalLM",
            )
        )

    def _id(self, token: str) -> int:
        return int(self.tokenizer.convert_tokens_to_ids(token))

    def _ids(self, text: str) -> list[int]:
        """Ids of code; with ``line_token`` a line feed is its token."""
        if not self.line_token:
            ids: list[int] = self.tokenizer(text, add_special_tokens=False).input_ids
            return ids
        lines = self.tokenizer(text.split("\n"), add_special_tokens=False).input_ids
        mark = self._id(LINE_END)
        joined: list[int] = []
        for number, line in enumerate(lines):
            joined += [mark, *line] if number else line
        return joined

    def _text(self, ids: Sequence[int]) -> str:
        """Code of ids; special tokens but the line's end are left out."""
        mark, dropped = self._id(LINE_END), set(self.tokenizer.all_special_ids)
        runs: list[list[int]] = [[]]
        for number in ids:
            if number == mark:
                runs.append([])
            elif number not in dropped:
                runs[-1].append(number)
        decode = self.tokenizer.decode
        return "\n".join(decode(run, clean_up_tokenization_spaces=False) for run in runs)

    def train_on_files(
        self,
        files: Sequence[str],
        valid: Sequence[str] = (),
        progress: Progress | None = None,
        state: Path | None = None,
    ) -> FitReport:
        """Learn to continue code from whole files, cut into windows of the recipe's length."""
        torch.manual_seed(self.recipe.schedule.seed)
        if self.model is None:
            self.build(files)
        return self._fit(
            [row for text in files for row in self._windows(text)],
            [row for text in valid for row in self._windows(text)],
            progress,
            state,
        )

    def _windows(self, text: str) -> list[_Row]:
        ids = [self._id(FILE_START), *self._ids(text), self._id(FILE_END)]
        size = self.recipe.shape.source_tokens
        return [
            _Row(tuple(ids[start : start + size]), 0)
            for start in range(0, len(ids), size)
            if len(ids) - start > 1
        ]

    def fit(
        self,
        task: Task,
        train: Sequence[Example],
        valid: Sequence[Example] = (),
        progress: Progress | None = None,
        state: Path | None = None,
    ) -> FitReport:
        """See ``System.fit``: learns the answer after ``source <msg>``."""
        usable = self.usable(task, train)
        torch.manual_seed(self.recipe.schedule.seed)
        if self.model is None:
            texts = [(example.asked(task), target_of(task, example) or "") for example in usable]
            self.build([text for pair in texts for text in pair])
        rows = [self._row(task, example) for example in usable]
        checked = [self._row(task, row) for row in (self.usable(task, valid) if valid else ())]
        self.report = self._fit(rows, checked, progress, state)
        self.task = task
        return self.report

    def _fit(
        self,
        rows: Sequence[_Row],
        valid: Sequence[_Row],
        progress: Progress | None,
        state: Path | None,
    ) -> FitReport:
        return fit_model(
            self.model,
            rows,
            valid,
            self._loss,
            lambda row: len(row.ids),
            self.recipe.schedule,
            self.recipe.shape.width,
            progress,
            state,
        )

    def _prompt(self, task: Task, example: Example) -> list[int]:
        text = example.asked(task)
        if task is Task.CRA:
            text = f"{example.comment}\n{text}"
        half = self.recipe.shape.source_tokens // 2
        return [self._id(FILE_START), *self._ids(text)[: half - 2], self._id(ANSWER)]

    def _row(self, task: Task, example: Example) -> _Row:
        prompt = self._prompt(task, example)
        answer = [*self._ids(target_of(task, example) or ""), self._id(FILE_END)]
        size = self.recipe.shape.source_tokens
        return _Row(tuple([*prompt, *answer][:size]), len(prompt))

    def _loss(self, rows: Sequence[_Row]) -> torch.Tensor:
        longest = max(len(row.ids) for row in rows)
        pad = self.tokenizer.pad_token_id
        ids = torch.tensor([[*row.ids, *[pad] * (longest - len(row.ids))] for row in rows])
        labels = ids.clone()
        mask = torch.zeros_like(ids)
        for number, row in enumerate(rows):
            labels[number, : row.prompt] = IGNORED
            labels[number, len(row.ids) :] = IGNORED
            mask[number, : len(row.ids)] = 1
        loss: torch.Tensor = self.model(input_ids=ids, attention_mask=mask, labels=labels).loss
        return loss

    def predict(self, examples: Sequence[Example], beams: int = 1) -> list[Prediction]:
        """See ``System.predict``."""
        task = self.ready()

        def answer(some: list[Example]) -> list[Prediction]:
            prompts = [self._prompt(task, example) for example in some]
            limit = self.recipe.shape.source_tokens // 2
            found = self._continue(prompts, beams, limit, self._id(FILE_END))
            return [Prediction(one.texts[0], one.texts, one.confidence) for one in found]

        return answer_where_possible(task, examples, answer)

    def complete(self, cases: Sequence[Case], sequences: int = 2) -> list[Completion]:
        """Continue each case's context: ``sequences`` beams of the recipe's 16 tokens.

        Needs weights, not a task. Raises SystemFault without weights.
        """
        if self.model is None:
            raise SystemFault(f"{self.kind} has no weights; give a checkpoint with --model")
        room = self.recipe.shape.source_tokens - self.recipe.shape.target_tokens - 1
        prompts = [[self._id(FILE_START), *self._ids(case.context)[-room:]] for case in cases]
        tokens = self.recipe.shape.target_tokens
        return self._continue(prompts, sequences, tokens, self._id(FILE_END))

    @torch.inference_mode()
    def _continue(
        self, prompts: Sequence[Sequence[int]], beams: int, tokens: int, end: int
    ) -> list[Completion]:
        self.model.eval()
        order = sorted(range(len(prompts)), key=lambda index: len(prompts[index]))
        found = [Completion(("",), 0.0)] * len(prompts)
        pad = self.tokenizer.pad_token_id
        for start in range(0, len(order), _BATCH):
            part = order[start : start + _BATCH]
            longest = max(len(prompts[index]) for index in part)
            # Left padding: every prompt's last id is where its answer begins.
            lead = [longest - len(prompts[index]) for index in part]
            ids = torch.tensor(
                [[*[pad] * lead[n], *prompts[index]] for n, index in enumerate(part)]
            )
            mask = torch.tensor([[0] * n + [1] * (longest - n) for n in lead])
            made = self.model.generate(
                input_ids=ids, attention_mask=mask, num_beams=beams, do_sample=False,
                num_return_sequences=beams, max_new_tokens=tokens,
                pad_token_id=pad, eos_token_id=end,
            )  # fmt: skip
            probabilities = self._probabilities(made, mask.repeat_interleave(beams, 0), end)
            for number, index in enumerate(part):
                rows = range(number * beams, (number + 1) * beams)
                texts = tuple(self._answer_text(made[row, longest:].tolist(), end) for row in rows)
                found[index] = Completion(texts, probabilities[rows[0]])
        return found

    def _answer_text(self, ids: list[int], end: int) -> str:
        return self._text(ids[: ids.index(end)] if end in ids else ids)

    def _probabilities(self, made: torch.Tensor, mask: torch.Tensor, end: int) -> list[float]:
        """The geometric mean of each answer's token probabilities, its end included."""
        lead = mask.shape[1]
        answer = made[:, lead:]
        # Everything up to the first end token counts.
        counted = ((answer == end).cumsum(1) - (answer == end).long() == 0).long()
        whole = torch.cat([mask, counted], 1)
        places = (whole.cumsum(1) - 1).clamp(min=0)
        logits = self.model(input_ids=made, attention_mask=whole, position_ids=places).logits
        logs = logits[:, lead - 1 : -1].log_softmax(-1)
        chosen = logs.gather(2, answer[:, :, None])[:, :, 0]
        means = (chosen * counted).sum(1) / counted.sum(1).clamp(min=1)
        return [float(value) for value in means.exp()]

    def save_weights(self, folder: Path) -> None:
        """Weights and tokenizer in transformers' layout, without a task card (for completion)."""
        with quiet():
            self.model.save_pretrained(folder)
            self.tokenizer.save_pretrained(folder)

    def write(self, folder: Path) -> Mapping[str, Any]:
        """See ``System.write``."""
        self.save_weights(folder)
        shape = self.recipe.shape
        return {
            "recipe": self.recipe.name,
            "source_tokens": shape.source_tokens,
            "target_tokens": shape.target_tokens,
        }

    @classmethod
    def read(cls, folder: Path, details: Mapping[str, Any]) -> Causal:
        """See ``System.read``."""
        shape = replace(
            cls.paper.shape,
            source_tokens=details["source_tokens"],
            target_tokens=details["target_tokens"],
        )
        return cls.start_from(str(folder), Recipe(details["recipe"], shape, cls.paper.schedule))


class Java8G(Causal):
    """GPT-2 small on Java files, with tokens for the ends of lines and files."""

    kind = "java8g"
    paper = JAVA8G
    line_token = True


class CodeGpt(Causal):
    """CodeGPT (Lu et al., 2021): GPT-2 small on code; line feeds are text."""

    kind = "codegpt"
    paper = CODEGPT
    line_token = False
