"""``marginalia score`` and ``marginalia calibrate``: grade reviews, and check the grades."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from bot.errors import FatalError

if TYPE_CHECKING:
    from models.crscore import CRScore
    from models.crscore.encoder import Variant
    from models.crscore.file_smells import FileSmells
    from models.crscore.judge import Judge
    from models.crscore.rows import Reader
    from models.review_types import PseudoReference


class _RowsFirst(TyperGroup):
    """``marginalia score [FILE]`` without a subcommand's name means ``score rows``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args != ["--help"] and (not args or args[0] not in self.commands):
            args = ["rows", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    name="score",
    cls=_RowsFirst,
    help="Grade reviews by CRScore and the judge: JSON lines in, JSON lines out.",
    add_completion=False,
)
calibrate_app = typer.Typer(
    name="calibrate",
    help="Derive and store thresholds.",
    no_args_is_help=True,
    add_completion=False,
)

Source = Annotated[
    str, typer.Argument(help="JSON lines; .gz by name; - is the standard input.", metavar="[FILE]")
]
Out = Annotated[str, typer.Option("--out", "-o", help="Where to; .gz by name; - is stdout.")]
EncoderName = Annotated[str, typer.Option("--encoder", help="A folder or a Hub id.")]
Precision = Annotated[
    str,
    typer.Option(
        help="auto (bfloat16 where this CPU has it, else float32), float32, bfloat16, or int8: "
        "the fastest, and scores move in the second digit."
    ),
]
VariantName = Annotated[str, typer.Option("--variant", help="paper or reference.")]
Tau = Annotated[float | None, typer.Option("--threshold", help="Cosine above which texts match.")]
Rule = Annotated[str, typer.Option("--rule", help="Which stored threshold: reference or sigma.")]
NoJudge = Annotated[bool, typer.Option("--no-judge", help="CRScore only; judge is null.")]
Claims = Annotated[
    str,
    typer.Option(
        help="Where claims come from: syntax (read off the change), model, generator (a small "
        "trained one), or some joined by +."
    ),
]
ClaimsModel = Annotated[
    str, typer.Option(help="A causal model's folder or Hub id; with an endpoint, its name there.")
]
ClaimsEndpoint = Annotated[
    str, typer.Option(help="http://HOST:PORT/v1 of a chat server on this machine or network.")
]
ClaimsGenerator = Annotated[
    str, typer.Option(help="Folder or Hub id of a checkpoint trained with --mixture claims.")
]
ClaimsCache = Annotated[
    Path | None, typer.Option(help="Folder that keeps a model's claims, by content.")
]
Smells = Annotated[
    str,
    typer.Option(
        help="Linters whose smells count as well: some of pmd,jshint,pylint,radon, or all that "
        'are installed. A row then brings its new files: "files": {path: text}.'
    ),
]
CLAIMS_KEY = "MARGINALIA_CLAIMS_KEY"
"""Environment variable with the endpoint's bearer token, where it wants one."""


@app.callback()
def _group() -> None:
    """Grade reviews by CRScore and the judge: JSON lines in, JSON lines out."""


@calibrate_app.callback()
def _calibrate() -> None:
    """Derive and store thresholds."""


@app.command("rows")
def rows(
    source: Source = "-",
    out: Out = "-",
    encoder: EncoderName = "all-MiniLM-L6-v2",
    precision: Precision = "auto",
    variant: VariantName = "paper",
    threshold: Tau = None,
    rule: Rule = "reference",
    no_judge: NoJudge = False,
    claims: Claims = "syntax",
    claims_model: ClaimsModel = "",
    claims_endpoint: ClaimsEndpoint = "",
    claims_generator: ClaimsGenerator = "",
    claims_cache: ClaimsCache = None,
    smells: Smells = "",
) -> None:
    """Grade rows of {"diff", "review"[, "claims"]}: adds con, comp, rel, judge, signature.

    A line that is no row is named on standard error and left out; all others are graded. Exit
    codes: 0 every line was graded, 2 some were not (or a file or an option is wrong).
    """
    from models.crscore.claims.by_model import ClaimsError
    from models.crscore.rows import RowError, open_lines, read_rows, score_rows, write_row

    reader = claims_reader(claims, claims_model, claims_endpoint, claims_cache, claims_generator)
    linted = file_smells(smells) if smells else None
    scorer, judge = load(encoder, variant, threshold, rule, not no_judge, precision)
    name = "standard input" if source == "-" else source
    faults = graded = 0

    def broken(error: RowError) -> None:
        nonlocal faults
        faults += 1
        sys.stderr.write(f"marginalia: {error}\n")

    try:
        with (
            open_lines(source, "rb", sys.stdin.buffer) as lines,
            open_lines(out, "wb", sys.stdout.buffer) as sink,
        ):
            read = read_rows(lines, name, broken, files=linted is not None)
            for row in progress(score_rows(read, scorer, judge, reader, linted), "reviews"):
                write_row(sink, row)
                graded += 1
            sink.flush()
    except ClaimsError as error:
        raise FatalError(str(error)) from error
    except BrokenPipeError:
        raise
    except OSError as error:
        raise FatalError(f"{error.filename or name}: {error.strerror or error}") from error
    if linted is not None and linted.without:
        sys.stderr.write(f"marginalia: rows without 'files', so without smells: {linted.without}\n")
    if faults:
        raise FatalError(
            f"{name}: {graded} rows graded, {faults} broken (named above); mend those lines and "
            "grade them again"
        )


@app.command("table")
def table(
    source: Source = "-",
    system: Annotated[str, typer.Option(help="Field that names the system.")] = "system",
) -> None:
    """Print systems with their mean scores; rows without scores are graded first."""
    from models.crscore.tables import system_table

    sys.stdout.write(system_table(list(progress(graded_rows(source), "reviews")), system) + "\n")


@app.command("agreement")
def agreement(
    source: Source = "-",
    human: Annotated[str, typer.Option(help="Field with people's scores.")] = "human",
    group: Annotated[str, typer.Option(help="Field that names the diff (default: its text).")] = "",
    system: Annotated[str, typer.Option(help="Field that names the system.")] = "system",
    language: Annotated[str, typer.Option(help="Field that names the language.")] = "lang",
    reference_system: Annotated[
        str, typer.Option(help="The system whose reviews are the reference ones.")
    ] = "msg",
    bertscore_encoder: Annotated[
        str, typer.Option("--bertscore-encoder", help="A folder: BERTScore is computed too.")
    ] = "",
    samples: Annotated[int, typer.Option(min=10, help="Bootstrap samples.")] = 1000,
) -> None:
    """Print how the scores and simple baselines agree with people, with bootstrap intervals."""
    from models.crscore.encoder import EncoderError
    from models.crscore.tables import Fields, TableError, agreement_table

    fields = Fields(human, group, system, language, reference_system)
    records = list(progress(graded_rows(source), "reviews"))
    try:
        text = agreement_table(records, fields, samples, bertscore_encoder)
    except (TableError, EncoderError) as error:
        raise FatalError(str(error)) from error
    sys.stdout.write(text + "\n")


@calibrate_app.command("threshold")
def threshold(
    source: Annotated[str, typer.Argument(help='JSON lines of {"diff", "review"[, "claims"]}.')],
    out: Annotated[Path, typer.Option("--out", help="Thresholds file to write into.")],
    encoder: EncoderName = "all-MiniLM-L6-v2",
    variant: VariantName = "paper",
    rule: Annotated[str, typer.Option(help="reference or sigma.")] = "reference",
    seed: Annotated[int, typer.Option(help="Seed of the random pairs (sigma).")] = 0,
) -> None:
    """Derive an encoder's threshold from real reviews, and store it with its data's hash."""
    from models.crscore.encoder import EncoderError, SentenceEncoder
    from models.crscore.rows import RowError, open_lines, read_rows
    from models.crscore.score import read_references
    from models.crscore.threshold import (
        ThresholdError,
        derive_reference,
        derive_sigma,
        store_threshold,
    )

    _check(variant, rule)
    side: Variant = "reference" if variant == "reference" else "paper"
    name = "standard input" if source == "-" else source
    try:
        with open_lines(source, "rb", sys.stdin.buffer) as lines:
            records = list(read_rows(lines, name))
        model = SentenceEncoder(encoder)
        if rule == "sigma":
            found = derive_sigma(model, [row["review"] for row in records], name, side, seed)
        else:
            pairs = [
                (
                    row["review"],
                    row.get("claims") or [claim.text for claim in read_references(row["diff"])],
                )
                for row in records
            ]
            found = derive_reference(model, pairs, name, side)
        store_threshold(out, found)
    except (RowError, EncoderError, ThresholdError) as error:
        raise FatalError(str(error)) from error
    except OSError as error:
        raise FatalError(f"{error.filename or name}: {error.strerror or error}") from error
    sys.stdout.write(f"{found.value:.4f} ({rule}, {found.pairs} pairs) -> {out}\n")


def _check(variant: str, rule: str) -> None:
    if variant not in ("paper", "reference"):
        raise FatalError(f"--variant {variant}: use paper or reference")
    if rule not in ("reference", "sigma"):
        raise FatalError(f"--rule {rule}: use reference or sigma")


def load(
    encoder: str,
    variant: str,
    threshold: float | None,
    rule: str,
    with_judge: bool,
    precision: str = "auto",
) -> tuple[CRScore, Judge | None]:
    """The scorer and the judge of a command's options; faults in one line."""
    from models.crscore import CRScore
    from models.crscore.encoder import EncoderError, SentenceEncoder, named_dtype
    from models.crscore.judge import Judge, JudgeError
    from models.crscore.threshold import ThresholdError

    _check(variant, rule)
    try:
        scorer = CRScore(
            SentenceEncoder(encoder, named_dtype(precision)),
            "reference" if variant == "reference" else "paper",
            threshold,
            "sigma" if rule == "sigma" else "reference",
        )
        return scorer, Judge(scorer.encoder) if with_judge else None
    except (EncoderError, JudgeError, ThresholdError, ValueError) as error:
        raise FatalError(str(error)) from error


def claims_reader(
    claims: str, model: str, endpoint: str, cache: Path | None, generator: str = ""
) -> Reader:
    """How the pseudo-references of a change are made, by the command's options."""
    from models.crscore.claims.by_model import CausalModel, ClaimsError, Endpoint, ModelClaims
    from models.crscore.score import read_references

    sources = claims.split("+")
    if len(set(sources)) < len(sources) or not set(sources) <= {"syntax", "model", "generator"}:
        raise FatalError(f"--claims {claims}: use syntax, model, generator, or some joined by +")
    if (model or endpoint) and "model" not in sources:
        raise FatalError("a model is named but not asked: add --claims model (or syntax+model)")
    if generator and "generator" not in sources:
        raise FatalError("a generator is named but not asked: add --claims syntax+generator")
    if "model" in sources and not model:
        raise FatalError(f"--claims {claims}: name the model by --claims-model")
    written: list[ModelClaims] = []
    try:
        if "model" in sources and endpoint:
            at = Endpoint(endpoint, model, os.environ.get(CLAIMS_KEY, ""))
            at.check()
            written.append(ModelClaims(at, cache))
        elif "model" in sources:
            written.append(ModelClaims(CausalModel(model), cache))
        if "generator" in sources:
            from models.crscore.claims.by_generator import generated_claims

            written.append(generated_claims(generator, cache))
    except ClaimsError as error:
        raise FatalError(str(error)) from error
    if not written:
        return read_references

    def read(diff: str, language: str) -> tuple[PseudoReference, ...]:
        own = read_references(diff, language) if "syntax" in sources else ()
        return (*(claim for one in written for claim in one.of(diff)), *own)

    return read


def file_smells(names: str) -> FileSmells:
    """The whole-file linters of ``--smells``; an unknown or absent one in one line."""
    from models.crscore.file_smells import FileSmells, SmellsError, chosen_analyzers

    try:
        return FileSmells(
            chosen_analyzers(names), lambda note: print(f"marginalia: {note}", file=sys.stderr)
        )
    except SmellsError as error:
        raise FatalError(f"--{error}") from error


def graded_rows(source: str) -> Iterator[dict[str, Any]]:
    """The rows of a file; those without a score of ours are graded by the default scorer."""
    from models.crscore.rows import RowError, open_lines, read_rows, score_rows

    name = "standard input" if source == "-" else source
    scorer: CRScore | None = None
    judge: Judge | None = None
    try:
        with open_lines(source, "rb", sys.stdin.buffer) as lines:
            waiting: list[dict[str, Any]] = []
            for row in read_rows(lines, name):
                if "signature" in row and not waiting:
                    yield row
                    continue
                waiting.append(row)
            if waiting:
                scorer, judge = load("all-MiniLM-L6-v2", "paper", None, "reference", True)
                yield from score_rows(waiting, scorer, judge)
    except RowError as error:
        raise FatalError(str(error)) from error
    except OSError as error:
        raise FatalError(f"{error.filename or name}: {error.strerror or error}") from error


def progress(items: Iterable[dict[str, Any]], what: str) -> Iterator[dict[str, Any]]:
    """Count what goes by on stderr, where a person looks at it."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.completed} " + what), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        for item in items:
            yield item
            bar.advance(task)
