"""Which of ruff's rules speak in a review, how loudly, and in which words.

Kept: defects, security holes and simplifications that hold on sight. Left out: layout and naming
(a formatter's work), rules that need the whole program, and rules that are right but say the same
thing of every second file.
"""

from __future__ import annotations

from models.review_types import Severity


def _codes(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


DEFECTS = _codes(
    "E711,E713,E714,E721,E722,F402,F404,F407,F5,F601,F602,F621,F622,F63,F70,F722,F811,F821,F822,"
    "F823,W605,"
    "B002,B003,B004,B005,B006,B011,B012,B014,B015,B016,B017,B018,B019,B020,B021,B022,B023,B025,"
    "B026,B029,B030,B031,B032,B033,B034,B035,B039,"
    "ASYNC100,ASYNC105,ASYNC210,ASYNC212,ASYNC220,ASYNC221,ASYNC222,ASYNC251,"
    "PIE794,PIE796,PLE,PLR0124,PLR0133,PLW0127,PLW0128,PLW0129,PLW0131,PLW0133,PLW0211,PLW0245,"
    "PLW0406,PLW0711,PLW1501,PLW1507,PLW1508,PLW1509,PLW2101,"
    "RUF006,RUF008,RUF009,RUF016,RUF018,RUF024,RUF026,RUF030,RUF032,RUF033,RUF034,RUF040,RUF049,"
    "RUF060,RUF064,RUF068,"
    "PT010,PT015,PT020,PT025,PT031,PGH005,DTZ003,DTZ004,DJ007,DJ013,FAST003,G010,G201,G202,INT,"
    "LOG001,LOG007,LOG009,SIM107,SIM115,T100,YTT"
)

SECURITY = _codes(
    "S102,S103,S110,S112,S113,S201,S202,S302,S304,S305,S306,S307,S323,S324,S501,S502,S503,S504,"
    "S505,S506,S507,S508,S509,S601,S602,S604,S605,S608,S609,S611,S612,S701,S702"
)

SIMPLIFICATIONS = _codes(
    "F401,F841,B007,B013,B904,"
    "C400,C401,C402,C403,C404,C405,C406,C409,C410,C411,C413,C414,C415,C416,C418,C419,C420,"
    "PIE790,PIE800,PIE804,PIE807,PIE810,PERF101,PERF102,PLC0208,PLR1711,PLR1722,PLR1730,PLR1733,"
    "PLR1736,PLR5501,PLW0120,PLW3301,RET501,RET502,RUF013,RUF015,RUF017,RUF019,RUF046,RUF051,"
    "RUF057,"
    "SIM101,SIM103,SIM109,SIM113,SIM118,SIM201,SIM202,SIM208,SIM210,SIM211,SIM212,SIM220,SIM221,"
    "SIM222,SIM223,SIM401,SIM910,SIM911,TRY201,TRY203,TRY400,TRY401,FURB129,FURB136,FURB168,"
    "FURB169,FURB187"
)

OFF_BY_DEFAULT = (
    "T201",
    "B007",
    "RET503",
    "BLE001",
    "RUF012",
    "B008",
    "PLW2901",
    "SIM102",
    "S301",
    "S311",
    # it does not see a file that another function closes; python-open-not-closed does
    "SIM115",
    # another way to write the same: whoever wants these has them in a linter already
    *_codes(
        "C400,C401,C402,C403,C404,C405,C406,C409,C410,C418,C420,FURB136,PERF102,PIE790,PIE800,"
        "PIE807,PIE810,PLC0208,PLR1711,PLR1730,PLR5501,RET501,RET502,SIM101,SIM103,SIM109,SIM113,"
        "SIM118,SIM212,SIM910,TRY201,TRY400"
    ),
)
"""Often right and often beside the point: only where a person asks for them."""

IN_TESTS_OFF = (*_codes("S,B015,B017,B018,DTZ,E721,F841,PLE25,PLR0124,PLR0133,SIM115"),)
"""Tests compare a thing with itself, open files loosely and hold odd characters, on purpose."""

TEST_PATTERNS = ("**/tests/**", "**/test/**", "**/test_*.py", "**/*_test.py", "**/conftest.py")

_ERRORS = _codes(
    "F402,F5,F601,F621,F622,F63,F70,F82,B002,B003,B006,B012,B015,B016,B020,B022,B023,B029,B030,"
    "B031,B032,B035,PLE,PLW0129,PLW0133,PLW1501,RUF006,RUF008,RUF016,RUF018,RUF024,RUF030,RUF033,"
    "ASYNC251,ASYNC210,PT015,PGH005,S102,S307,S501,S506,S507,S602,S604,S605,S608,T100"
)


def severity(code: str) -> Severity:
    """How bad a rule's finding is."""
    if code == "F541":
        return Severity.INFO  # of the family F5 the one that changes nothing
    if code.startswith(tuple(_ERRORS)):
        return Severity.ERROR
    if code in SIMPLIFICATIONS and code not in ("B904", "F841", "F401"):
        return Severity.INFO
    return Severity.WARNING


MESSAGES = {
    "ASYNC210": "This HTTP call blocks the event loop; use an async client or a thread.",
    "ASYNC220": "This blocks the event loop; use `asyncio.create_subprocess_exec`.",
    "ASYNC221": "This blocks the event loop; use `asyncio.create_subprocess_exec`.",
    "ASYNC222": "Waiting for the process blocks the event loop; await it instead.",
    "ASYNC251": "`time.sleep` blocks the event loop; use `await asyncio.sleep(...)`.",
    "B002": "`++` does nothing in Python; use `+= 1`.",
    "B003": "Assigning to `os.environ` does not change the environment; update it in place.",
    "B004": 'Use `callable(x)`: `hasattr(x, "__call__")` does not tell whether it can be called.',
    "B005": "`{0}` strips any of these characters, not the whole text; "
    "use `removeprefix` or `removesuffix`.",
    "B006": "This mutable default is shared by all calls; use `None` and create it in the body.",
    "B007": "The loop variable `{0}` is not used; name it `_{0}` or drop it.",
    "B011": "`assert False` vanishes under `python -O`; raise `AssertionError` instead.",
    "B012": "`{0}` in `finally` swallows any exception in flight; move it out.",
    "B013": "A tuple of one exception is not needed here; name the exception itself.",
    "B014": "The handler names `{0}` more than once; keep one.",
    "B015": "This comparison has no effect; assert it, assign it or remove it.",
    "B016": "A literal can't be raised; raise an exception or return the value.",
    "B017": "`{0}` passes for any error, a typo too; name the exception that is expected.",
    "B018": "This expression has no effect; assign it, call it or remove it.",
    "B019": "A cache on a method keeps every instance alive; cache a function or the value.",
    "B020": "The loop variable `{0}` overwrites what the loop iterates over; rename it.",
    "B023": "The function reads `{0}` only when it is called, after the loop has moved on; "
    "bind it as a default argument.",
    "B025": "`{0}` is handled twice in this `try`; the second handler never runs.",
    "B031": "The group can be read only once; make a list of it before the second use.",
    "B033": "The set holds `{0}` twice; remove one.",
    "B035": "Every item of this comprehension has the same key, so only the last one stays.",
    "B904": "Raise with `from err` (or `from None`): without it the traceback reads as if handling "
    "the error had failed.",
    "C400": "Write a list comprehension instead of `list()` around a generator.",
    "C401": "Write a set comprehension instead of `set()` around a generator.",
    "C402": "Write a dict comprehension instead of `dict()` around a generator.",
    "C403": "Write a set comprehension: the list in between is not needed.",
    "C404": "Write a dict comprehension: the list in between is not needed.",
    "C405": "Write a set literal instead of `set()` around a literal.",
    "C414": "The inner call is not needed: the outer one does its work.",
    "C416": "The comprehension only copies; call the constructor on the iterable.",
    "C419": "Drop the brackets: a generator lets the call stop at the first answer.",
    "DTZ003": "`utcnow()` gives a time without a zone; use `datetime.now(timezone.utc)`.",
    "DTZ004": "This gives a time without a zone; use `fromtimestamp(..., timezone.utc)`.",
    "E711": "Compare with `None` by `is` or `is not`.",
    "E713": "Write `x not in y` instead of `not x in y`.",
    "E714": "Write `x is not y` instead of `not x is y`.",
    "E721": "Compare types by `is`, or use `isinstance()`.",
    "E722": "A bare `except` catches `KeyboardInterrupt` and `SystemExit` too; "
    "name the exceptions that you expect.",
    "F401": "`{0}` is imported but not used; remove the import.",
    "F541": "This f-string has no placeholder; drop the `f` or put the value in.",
    "F601": "The key `{0}` is in this dict twice; the later value wins.",
    "F631": "This assertion is always true: a tuple that is not empty is true. "
    "Remove the parentheses.",
    "F632": "`is` compares identity, not value; use `==` with a literal.",
    "F634": "This condition is always true: a tuple that is not empty is true.",
    "F811": "`{0}` is defined again before it was used; remove or rename one of the two.",
    "F821": "`{0}` is not defined here; import it or mend the name.",
    "F822": "`__all__` names `{0}`, which this module does not define.",
    "F823": "`{0}` is read before it is assigned in this function.",
    "F841": "`{0}` is assigned but never used; remove it or use it.",
    "FURB129": "Iterate over the file itself; `readlines()` reads it all into memory.",
    "G010": "`warn` is deprecated; call `warning`.",
    "G201": "Call `exception(...)` instead of `error(..., exc_info=True)`.",
    "PERF101": "The list copy is not needed: iterate over the original.",
    "PERF102": "Only one half of each pair is used: iterate over `.{0}`.",
    "PIE790": "This `pass` is not needed: the block has other content.",
    "PIE794": "The class defines the field `{0}` twice; the first one is lost.",
    "PIE796": "The enum has the value of `{0}` twice, so the two are one member.",
    "PIE810": "Pass a tuple to `{0}` instead of several calls.",
    "PLR0124": "This compares a name with itself; one of the two should be another.",
    "PLR1711": "The `return` at the end of the function is not needed.",
    "PLR1722": "`{1}()` is meant for the interactive prompt; use `sys.exit()`.",
    "PLR5501": "Use `elif` instead of `else` with an `if` in it.",
    "PLW0120": "`else` on a loop without `break` always runs; dedent its body.",
    "PLW0127": "`{0}` is assigned to itself; that has no effect.",
    "PLW0129": "This assertion tests a string, so it never fails; put the condition first.",
    "PLW0133": "The exception is made but not raised; put `raise` in front.",
    "PLW1508": "The default of an environment variable should be a string or `None`.",
    "PT015": "This assertion always fails; use `pytest.fail()` with a reason.",
    "RET501": "Write a plain `return`: the function returns nothing else.",
    "RET502": "The function returns a value elsewhere; write `return None` here.",
    "RUF006": "Keep a reference to this task: the event loop holds only a weak one, "
    "so it may be collected before it is done.",
    "RUF008": "This mutable default is shared by all instances; use `field(default_factory=...)`.",
    "RUF009": "The call in this default runs once, for all instances; "
    "use `field(default_factory=...)`.",
    "RUF013": "The default is `None`, so the type should say `| None`.",
    "RUF015": "Use `next(iter(...))`: the list is built only for its first element.",
    "RUF018": "The assignment in this `assert` is skipped under `python -O`; move it out.",
    "RUF032": "A `Decimal` from a float keeps the float's error; pass a string.",
    "RUF034": "Both branches of this conditional give the same value.",
    "S102": "`exec` runs whatever is in the text; find a way without it.",
    "S110": "The exception is swallowed silently; log it, or catch only what may be ignored.",
    "S112": "The exception is swallowed silently; log it before `continue`.",
    "S113": "This request has no timeout and may hang for ever; pass `timeout=`.",
    "S201": "`debug=True` lets anybody run code through the debugger; turn it off.",
    "S202": "`extractall` may write outside the folder; pass `filter='data'`.",
    "S306": "`mktemp` leaves a gap for another process; use `mkstemp` or `NamedTemporaryFile`.",
    "S307": "`eval` runs whatever is in the text; use `ast.literal_eval`.",
    "S324": "This hash is broken; use SHA-256, or pass `usedforsecurity=False`.",
    "S501": "`verify=False` turns certificate checks off; anybody may answer.",
    "S506": "`yaml.load` may build any object; use `yaml.safe_load`.",
    "S602": "`shell=True` lets the shell read the command's text; pass a list without a shell.",
    "S605": "A shell reads this command's text; use `subprocess.run` with a list.",
    "S608": "The query is put together from text; pass the values as parameters.",
    "S701": "Autoescape is off, so input can carry scripts; turn it on.",
    "SIM101": "Merge these `isinstance` calls: the second argument can be a tuple.",
    "SIM103": "Return the condition itself instead of `True` and `False`.",
    "SIM107": "`return` in `finally` overrides the one in `try` and swallows exceptions.",
    "SIM113": "Count with `enumerate()` instead of `{1}`.",
    "SIM115": "The file stays open when an exception comes; open it in a `with` statement.",
    "SIM118": "`.keys()` is not needed: `in` looks at a dict's keys.",
    "SIM401": "Use `.get()` with a default instead of this `if`.",
    "SIM910": "`.get()` returns `None` by default; drop the second argument.",
    "T100": "A debugger call was left in; remove it.",
    "T201": "This print looks like a leftover; remove it or use the logger.",
    "TRY201": "A plain `raise` re-raises the same exception.",
    "TRY203": "The handler only re-raises; remove the `try`.",
    "TRY400": "Use `exception(...)` here: it keeps the traceback.",
    "TRY401": "`exception(...)` already adds the exception; leave it out of the message.",
    "W605": "`{0}` is not an escape sequence; use a raw string or double the backslash.",
}
"""Our sentence for a rule; ``{n}`` is the n-th text in back quotes of ruff's own message."""
