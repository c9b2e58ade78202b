"""CodeBERT and GraphCodeBERT: a pre-trained encoder and a fresh decoder.

Feng et al. (2020), Guo et al. (2021); for review, Zhou et al. (2023) put a fresh 12-layer decoder
on the 12-layer encoder. GraphCodeBERT reads the variables of the data-flow graph after the code,
and its attention is guided by the graph (section 4.2): code sees code; a variable sees its own
occurrence in the code, and the variables that its value comes from.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoModel,
    EncoderDecoderConfig,
    EncoderDecoderModel,
    RobertaConfig,
    RobertaForCausalLM,
    RobertaModel,
)
from transformers.modeling_outputs import BaseModelOutput

from models.preprocess.dataflow import LANGUAGES, data_flow
from models.systems.card import UnusableCheckpoint
from models.systems.pretrained import Pretrained, Row, open_model, open_tokenizer
from models.systems.recipes import CODEBERT, GRAPHCODEBERT
from models.systems.tokenizers import ROBERTA_SPECIALS, roberta_tokenizer
from models.tasks import END_MARK, START_MARK, Example, Task

_ROBERTA_OFFSET = 2
"""RoBERTa's positions begin after its padding id, 1."""


class CodeBert(Pretrained):
    """RoBERTa's encoder on code, a decoder of the recipe's depth that learns from nothing."""

    kind = "codebert"
    tasks = frozenset(Task)
    paper = CODEBERT

    def build(self, texts: Sequence[str]) -> None:
        """A tokenizer in CodeBERT's layout, a fresh encoder and a fresh decoder."""
        shape = self.recipe.shape
        self.tokenizer = roberta_tokenizer(texts, shape.vocabulary, ROBERTA_SPECIALS)
        config = self._config(shape.encoder_layers, decoder=False)
        self._join(RobertaModel(config, add_pooling_layer=False))

    def open_weights(self, name: str) -> None:
        """A published encoder; the decoder is made fresh."""
        self.tokenizer = open_tokenizer(name)
        encoder = open_model(AutoModel, name, add_pooling_layer=False)
        if not isinstance(encoder, RobertaModel):
            raise UnusableCheckpoint(
                f"{name}: a {encoder.config.model_type} model, not a RoBERTa encoder; "
                "give another checkpoint"
            )
        self._join(encoder)

    def read_weights(self, folder: Path) -> None:
        """Encoder and decoder as ``write`` left them."""
        self.tokenizer = open_tokenizer(str(folder))
        self.model = open_model(EncoderDecoderModel, str(folder))

    def _config(self, layers: int, decoder: bool) -> RobertaConfig:
        shape, tokenizer = self.recipe.shape, self.tokenizer
        return RobertaConfig(
            vocab_size=len(tokenizer),
            hidden_size=shape.width,
            num_hidden_layers=layers,
            num_attention_heads=shape.heads,
            intermediate_size=shape.feed_forward,
            hidden_dropout_prob=shape.dropout,
            attention_probs_dropout_prob=shape.attention_dropout,
            max_position_embeddings=_ROBERTA_OFFSET + max(shape.source_tokens, shape.target_tokens),
            type_vocab_size=1,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            is_decoder=decoder,
            add_cross_attention=decoder,
        )

    def _join(self, encoder: RobertaModel) -> None:
        size = encoder.config
        config = self._config(self.recipe.shape.decoder_layers, decoder=True)
        config.hidden_size, config.vocab_size = size.hidden_size, size.vocab_size
        config.num_attention_heads = size.num_attention_heads
        config.intermediate_size = size.intermediate_size
        decoder = RobertaForCausalLM(config)
        # The decoder learns from nothing but the words, whose embeddings it takes over.
        with torch.no_grad():
            decoder.get_input_embeddings().weight.copy_(encoder.get_input_embeddings().weight)
        joined = EncoderDecoderConfig.from_encoder_decoder_configs(encoder.config, config)
        model = EncoderDecoderModel(config=joined, encoder=encoder, decoder=decoder)
        tokenizer = self.tokenizer
        for settings in (model.config, model.generation_config):
            settings.decoder_start_token_id = tokenizer.cls_token_id
            settings.pad_token_id = tokenizer.pad_token_id
            settings.eos_token_id = tokenizer.sep_token_id
        self.model = model

    def _loss(self, rows: Sequence[Row]) -> torch.Tensor:
        with warnings.catch_warnings():
            # transformers warns of models fitted by its 2021 releases, which none here is.
            warnings.simplefilter("ignore", FutureWarning)
            return super()._loss(rows)

    def _confidences(self, rows: Sequence[Row], made: torch.Tensor, beams: int) -> list[float]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            return super()._confidences(rows, made, beams)

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer(text, add_special_tokens=False).input_ids
        return ids

    def encode(self, task: Task, example: Example) -> Row:
        """``<s>``, the comment and a separator (CRA), the code, ``</s>``."""
        start, end = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        ids = self._ids(example.asked(task))
        if task is Task.CRA:
            ids = [*self._ids(example.comment or ""), end, *ids]
        return Row((start, *ids[: self.recipe.shape.source_tokens - 2], end), ())

    def encode_target(self, task: Task, example: Example, text: str) -> tuple[int, ...]:
        """The answer, ``</s>``; the model puts ``<s>`` before it."""
        limit = self.recipe.shape.target_tokens - 2
        return (*self._ids(text)[:limit], self.tokenizer.sep_token_id)

    def decode(self, task: Task, example: Example, ids: Sequence[int]) -> str:
        """See ``Pretrained.decode``."""
        return str(
            self.tokenizer.decode(
                list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        )


@dataclass(frozen=True, slots=True)
class Graph:
    """The variables behind a row's code ids.

    ``spans`` are each variable's first and last-plus-one place among the ids, ``parents`` the
    numbers of the variables that its value comes from.
    """

    spans: tuple[tuple[int, int], ...]
    parents: tuple[tuple[int, ...], ...]


class GraphCodeBert(CodeBert):
    """CodeBERT's shape, with the data-flow graph in the encoder (Java and Python)."""

    kind = "graphcodebert"
    paper = GRAPHCODEBERT

    def encode(self, task: Task, example: Example) -> Row:
        """``<s>``, the comment and a separator (CRA), the code's tokens, ``</s>``, variables."""
        start, end = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        shown = example.asked(task)
        ids = [start]
        if task is Task.CRA:
            ids += [*self._ids(example.comment or ""), end]
        language = example.language if example.language in LANGUAGES else "java"
        pieces, variables = self._read(shown, language)
        limit = self.recipe.shape.source_tokens - 1
        spans: dict[int, tuple[int, int]] = {}
        for number, piece in enumerate(pieces):
            if len(ids) + len(piece) > limit:
                break
            spans[number] = (len(ids), len(ids) + len(piece))
            ids += piece
        ids = [*ids[:limit], end]
        room = self.recipe.shape.source_tokens - len(ids)
        kept = [node for node in variables if node[0] in spans][: max(0, room)]
        numbers = {token: number for number, (token, _) in enumerate(kept)}
        graph = Graph(
            tuple(spans[token] for token, _ in kept),
            tuple(tuple(numbers[p] for p in parents if p in numbers) for _, parents in kept),
        )
        return Row(tuple(ids), (), graph)

    def _read(
        self, shown: str, language: str
    ) -> tuple[list[list[int]], list[tuple[int, tuple[int, ...]]]]:
        """Each token's ids, and the variables as (token, parents' tokens); marks are tokens."""
        code, marks = _split_marks(shown)
        flow = data_flow(code, language)
        pieces: list[list[int]] = []
        moved: dict[int, int] = {}
        for number, token in enumerate(flow.tokens):
            while marks and marks[0][0] <= token.start:
                pieces.append(self._ids(" " + marks.pop(0)[1]))
            moved[number] = len(pieces)
            pieces.append(self._ids(token.text if not pieces else " " + token.text))
        pieces += [self._ids(" " + mark) for _, mark in marks]
        variables = [
            (moved[node.token], tuple(moved[parent] for parent in node.parents))
            for node in flow.nodes
        ]
        return pieces, variables

    def inputs(self, rows: Sequence[Row]) -> dict[str, Any]:
        """The encoder's output under the graph-guided mask, and the mask for the decoder."""
        tokenizer, encoder = self.tokenizer, self.model.get_encoder()
        graphs: list[Graph] = [row.extra for row in rows]
        lengths = [
            len(row.source) + len(graph.spans) for row, graph in zip(rows, graphs, strict=True)
        ]
        longest = max(lengths)
        ids = torch.full((len(rows), longest), tokenizer.pad_token_id)
        places = torch.full((len(rows), longest), tokenizer.pad_token_id)
        seen = torch.zeros(len(rows), longest, longest, dtype=torch.bool)
        means = torch.zeros(len(rows), longest, longest)
        for number, (row, graph) in enumerate(zip(rows, graphs, strict=True)):
            code, whole = len(row.source), lengths[number]
            ids[number, :code] = torch.tensor(row.source)
            ids[number, code:whole] = tokenizer.unk_token_id
            places[number, :code] = torch.arange(_ROBERTA_OFFSET, _ROBERTA_OFFSET + code)
            places[number, code:whole] = 0
            seen[number, :code, :code] = True
            for place, token in enumerate(row.source):
                if token in (tokenizer.cls_token_id, tokenizer.sep_token_id):
                    seen[number, place, :whole] = True
            for variable, (low, high) in enumerate(graph.spans):
                here = code + variable
                seen[number, here, low:high] = True
                seen[number, low:high, here] = True
                seen[number, here, here] = True
                for parent in graph.parents[variable]:
                    seen[number, here, code + parent] = True
                means[number, here, low:high] = 1 / max(1, high - low)
            # Padding sees itself: a row of the mask without a key gives no numbers.
            seen[number, range(whole, longest), range(whole, longest)] = True
        words = encoder.get_input_embeddings()(ids)
        # A variable's embedding is the mean of its code tokens' (position 0 marks it as one).
        variables = (places == 0)[:, :, None]
        words = torch.where(variables, means @ words, words)
        out = encoder(
            inputs_embeds=words, position_ids=places, attention_mask=seen[:, None]
        ).last_hidden_state
        present = torch.arange(longest)[None] < torch.tensor(lengths)[:, None]
        return {
            "encoder_outputs": BaseModelOutput(last_hidden_state=out),
            "attention_mask": present.long(),
        }


def _split_marks(shown: str) -> tuple[str, list[tuple[int, str]]]:
    """The code without marks, and each mark with the character that it stood before."""
    marks: list[tuple[int, str]] = []
    for mark in (START_MARK, END_MARK):
        at = shown.find(mark)
        if at >= 0:
            marks.append((at, mark))
            shown = shown[:at] + shown[at + len(mark) :]
    return shown, sorted(marks)
