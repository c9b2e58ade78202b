"""``marginalia score``: grade reviews, and check the grades."""

from __future__ import annotations

import math
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from bot.errors import FULL, FatalError

if TYPE_CHECKING:
    from models.crscore import CRScore
    from models.crscore.encoder import Variant
    from models.crscore.file_smells import FileSmells
    from models.crscore.judge import Judge
    from models.crscore.rows import Reader
    from models.crscore.threshold import Rule as ThresholdRule
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
Thresholds = Annotated[
    Path | None,
    typer.Option(help="Read it from this file of `marginalia calibrate threshold --out`."),
]
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


@app.callback()
def _group() -> None:
    """Grade reviews by CRScore and the judge: JSON lines in, JSON lines out."""


@app.command("rows")
def rows(
    source: Source = "-",
    out: Out = "-",
    encoder: EncoderName = "all-MiniLM-L6-v2",
    precision: Precision = "auto",
    variant: VariantName = "paper",
    threshold: Tau = None,
    thresholds: Thresholds = None,
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

    may_write(out, source)
    reader = claims_reader(claims, claims_model, claims_endpoint, claims_cache, claims_generator)
    linted = file_smells(smells) if smells else None
    scorer, judge = load(encoder, variant, threshold, rule, not no_judge, precision, thresholds)
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
        if error.errno in FULL:  # that is the output, whose error names no file
            raise
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

    records = graded_rows(source)
    must_be_there(records, {"--system": system}, ("system",))
    sys.stdout.write(f"{system_table(records, system)}\n\n{signatures(records)}\n")


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

    may_load(bertscore_encoder)
    fields = Fields(human, group, system, language, reference_system)
    records = [
        row if is_number(row.get(human)) else {**row, human: None} for row in graded_rows(source)
    ]
    named = {"--group": group, "--system": system, "--language": language}
    must_be_there(records, named, ("system", "lang"))
    judged = [row for row in records if row[human] is not None]
    unjudged = sum(row.get("judge") is None for row in judged)
    if 0 < unjudged < len(judged):
        sys.stderr.write(
            f"marginalia: {unjudged} of {len(judged)} rows have no judge, so its row is left out; "
            "grade them without --no-judge\n"
        )
    try:
        text = agreement_table(records, fields, samples, bertscore_encoder)
    except (TableError, EncoderError) as error:
        raise FatalError(str(error)) from error
    sys.stdout.write(f"{text}\n\n{signatures(judged)}\n")


def check_choices(variant: str, rule: str) -> None:
    """Raise ``FatalError`` for a variant or a rule that there is not."""
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
    thresholds: Path | None = None,
) -> tuple[CRScore, Judge | None]:
    """The scorer and the judge of a command's options; faults in one line."""
    from models.crscore import CRScore
    from models.crscore.encoder import EncoderError, SentenceEncoder, named_dtype
    from models.crscore.judge import Judge, JudgeError
    from models.crscore.threshold import ThresholdError, find_threshold

    if threshold is not None and thresholds is not None:
        raise FatalError("--threshold and --thresholds exclude each other: give one of them")
    check_choices(variant, rule)
    may_load(encoder)
    side: Variant = "reference" if variant == "reference" else "paper"
    by: ThresholdRule = "sigma" if rule == "sigma" else "reference"
    try:
        loaded = SentenceEncoder(encoder, named_dtype(precision))
        if thresholds is not None:
            threshold = find_threshold(loaded, side, by, thresholds)
        scorer = CRScore(loaded, side, threshold, by)
        return scorer, Judge(scorer.encoder) if with_judge else None
    except (EncoderError, JudgeError, ThresholdError, ValueError) as error:
        raise FatalError(str(error)) from error
    except OSError as error:
        raise FatalError(f"{error.filename}: {error.strerror or error}") from error


def claims_reader(
    claims: str, model: str, endpoint: str, cache: Path | None, generator: str = ""
) -> Reader:
    """How the pseudo-references of a change are made, by the command's options."""
    from bot.review.claims import KEY_NAME, ClaimChoice, load_writer
    from models.crscore.claims.by_model import ClaimsError
    from models.crscore.rows import read_each

    key = os.environ.get(KEY_NAME, "")
    choice = ClaimChoice(claims, model, endpoint, generator, cache, key)
    problem = choice.problem(lambda name: f"--{name.replace('_', '-')}")
    if problem:
        raise FatalError(problem)
    try:
        written = [load_writer(source, choice) for source in choice.written]
    except ClaimsError as error:
        raise FatalError(str(error)) from error
    if not written:
        return read_each

    def read(changes: Sequence[tuple[str, str]]) -> list[tuple[PseudoReference, ...]]:
        diffs = [diff for diff, _ in changes]
        sources = [one.of_all(diffs) for one in written]
        if choice.reads_off:
            sources.append(read_each(changes))
        # each source has one entry a change
        return [tuple(chain.from_iterable(said)) for said in zip(*sources, strict=True)]

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


def graded_rows(source: str) -> list[dict[str, Any]]:
    """The rows of a file; those without scores of ours are graded by the default scorer."""
    from models.crscore.rows import RowError, open_lines, read_rows, score_rows

    name = "standard input" if source == "-" else source
    try:
        with open_lines(source, "rb", sys.stdin.buffer) as lines:
            records = list(read_rows(lines, name))
    except RowError as error:
        raise FatalError(str(error)) from error
    except OSError as error:
        raise FatalError(f"{error.filename or name}: {error.strerror or error}") from error
    if not records:
        raise FatalError(f"{name}: no rows")
    waiting = [place for place, row in enumerate(records) if not is_graded(row)]
    if waiting:
        scorer, judge = load("all-MiniLM-L6-v2", "paper", None, "reference", True)
        fresh = score_rows([records[place] for place in waiting], scorer, judge)
        for place, row in zip(waiting, progress(fresh, "reviews"), strict=True):
            records[place] = row
    return records


def is_number(value: Any) -> bool:
    """Whether a field of a row is a number: ``NaN`` stands for none, ``true`` is no score."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def is_graded(row: dict[str, Any]) -> bool:
    """Whether a row has scores with their signature."""
    return (
        isinstance(row.get("signature"), str)
        and all(is_number(row.get(key)) for key in ("con", "comp", "rel"))
        and (row.get("judge") is None or is_number(row["judge"]))
    )


def must_be_there(
    rows: Sequence[dict[str, Any]], named: Mapping[str, str], defaults: Sequence[str]
) -> None:
    """Raise ``FatalError`` for a field that an option names and that no row has."""
    for option, field in named.items():
        if field and field not in defaults and all(row.get(field) is None for row in rows):
            raise FatalError(f"{option} {field}: no row has that field")


def signatures(rows: Sequence[dict[str, Any]]) -> str:
    """How the rows were graded, and how many of them in each way."""
    counts = Counter(row["signature"] for row in rows)
    return "\n".join(f"{count} rows: {name}" for name, count in counts.most_common())


def may_write(out: str, source: str) -> None:
    """Raise ``FatalError`` where the output cannot be written, or is the input itself."""
    path = Path(out)
    if out == "-":
        return
    if path.is_dir() or not path.absolute().parent.is_dir():
        what = "is a folder" if path.is_dir() else "its folder does not exist"
        raise FatalError(f"{out}: cannot be written ({what})")
    if source != "-" and path.exists() and Path(source).exists() and path.samefile(source):
        raise FatalError(f"{out}: is read and would be written over; name another file by --out")


def may_load(encoder: str) -> None:
    """Raise ``FatalError`` where an encoder is named by a path and there is no folder."""
    if encoder.startswith(("/", ".", "~")) and not Path(encoder).is_dir():
        raise FatalError(f"encoder {encoder}: no such folder; give a folder or a Hub id")


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
