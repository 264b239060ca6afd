"""The commands: arguments in, exit code out."""

import functools
import inspect
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from .reports import Format, render

if TYPE_CHECKING:
    from .config import Settings
    from .project import Outcome, Project

FINDINGS, FAILED, INTERRUPTED, NO_READER = 1, 2, 130, 141

app = typer.Typer(
    name="graphlift",
    help="Lift eager TensorFlow 2 code to graph code, and prove it by running both.",
    epilog="Exit codes: 0 all well, 1 findings remain or something is not proved, "
    "2 a file could not be processed or the call was wrong.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line that the process was called with."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except OSError as error:
        _let_output_go()
        sys.exit(_fail(_reason(error)))


@dataclass(frozen=True)
class Shared:
    """The options that all commands on files have."""

    select: Annotated[
        list[str] | None,
        typer.Option(metavar="RULES", help="Only these rules (codes or names)."),
    ] = None
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="RULES", help="Not these rules.")
    ] = None
    unsafe: Annotated[
        bool,
        typer.Option("--unsafe", help="Lift what needs an assumption, too."),
    ] = False
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Read [tool.graphlift] there, not in the nearest pyproject.toml.",
        ),
    ] = None
    profile: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What `record` wrote; .graphlift/profile.json if there.",
        ),
    ] = None
    format: Annotated[Format, typer.Option(help="How findings are told.")] = Format.text
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Processes; one a processor."),
    ] = None
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Look at unchanged files again.")
    ] = False
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Findings and errors only.")
    ] = False

    @property
    def loud(self) -> bool:
        """Whether people are told more than findings and errors."""
        return self.format is Format.text and not self.quiet

    @property
    def stdin(self) -> Path:
        """The file that the text on standard input is of."""
        return Path("-")

    def settings(self, paths: Iterable[Path]) -> "Settings":
        """The settings of a call under these options; ConfigError."""
        from . import config
        from .project import STDIN

        places = [self.stdin if path == STDIN else path for path in paths]
        return config.load(places, self.config).chosen(
            self.select or (), self.ignore or (), self.unsafe
        )

    def project(
        self, paths: Iterable[Path], settings: "Settings | None" = None
    ) -> "Project":
        """The files of a call under these options; ConfigError."""
        from . import config
        from .progress import bar
        from .project import Project, silent

        settings = settings or self.settings(paths)
        return Project(
            settings,
            config.profile_path(settings, self.profile),
            self.jobs,
            not self.no_cache,
            silent if self.quiet else bar,
            self.stdin,
        )


@dataclass(frozen=True)
class OnText(Shared):
    """The options of commands that take a text on standard input, too."""

    stdin_filename: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With -: the file whose text it is."),
    ] = None

    @property
    def stdin(self) -> Path:
        """The file that the text on standard input is of."""
        return self.stdin_filename or super().stdin


Python = Annotated[
    str | None,
    typer.Option(metavar="PYTHON", help="The interpreter that runs your code."),
]
Device = Annotated[
    str | None,
    typer.Option(metavar="cpu|gpu", help="Where to run it; a GPU if there is one."),
]
Paths = Annotated[
    list[Path],
    typer.Argument(metavar="PATH", readable=False, help="Files and folders."),
]
HERE = [Path()]


def command(function: Callable[..., int], **context: Any) -> Callable[..., int]:
    """Make a command of a function that returns an exit code.

    Its keyword-only parameter `shared`, if it has one, stands for the options of its class;
    `context` has settings of typer's context.
    """
    own = dict(inspect.signature(function).parameters)
    group = own.pop("shared").annotation if "shared" in own else None
    shared = inspect.signature(group).parameters if group else {}
    options = [
        option.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for option in (*own.values(), *shared.values())
    ]

    @functools.wraps(function)
    def run(**given: Any) -> None:
        if group:
            given["shared"] = group(**{name: given.pop(name) for name in shared})
        raise typer.Exit(_guarded(function, given))

    vars(run)["__signature__"] = inspect.Signature(options)
    run.__annotations__ = {option.name: option.annotation for option in options}
    app.command(context_settings=context)(run)
    return function


def _guarded(function: Callable[..., int], given: dict[str, Any]) -> int:
    from . import CallError

    try:
        code = function(**given)
        sys.stdout.flush()
        return code
    except CallError as error:
        return _fail(error)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _let_output_go()
        return NO_READER


def _let_output_go() -> None:
    """Leave what is still to be written to a standard output that doesn't take it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _reason(error: OSError) -> str:
    reason = (error.strerror or str(error)).lower()
    return f"{error.filename}: {reason}" if error.filename else reason


def _tell_aside(line: str) -> None:
    print(f"graphlift: {line}", file=sys.stderr)


def _fail(error: object) -> int:
    print(f"error: {error}", file=sys.stderr)
    return FAILED


@command
def check(
    paths: Paths = HERE,
    write_baseline: Annotated[
        bool,
        typer.Option(
            "--write-baseline", help="Write what is found to the configured baseline."
        ),
    ] = False,
    *,
    shared: OnText,
) -> int:
    """Find what keeps code from running as a graph."""
    from .reports import text

    if write_baseline:
        return _write_baseline(paths, shared)
    outcomes = list(shared.project(paths).check(paths))
    _tell(outcomes, shared, sys.stdout)
    if shared.loud:
        print(text.summary(outcomes))
    return _code(outcomes)


def _write_baseline(paths: list[Path], shared: Shared) -> int:
    from . import baseline
    from .reports import text

    settings = shared.settings(paths)
    if settings.baseline is None:
        return _fail("which file? set baseline in [tool.graphlift] of pyproject.toml")
    fresh = replace(settings, baseline=None)
    outcomes = list(shared.project(paths, fresh).check(paths))
    baseline.write(settings.baseline, outcomes)
    failed = [outcome for outcome in outcomes if outcome.problem]
    sys.stderr.write(render(Format.text, failed))
    if shared.loud:
        print(f"kept in {settings.baseline}: {text.summary(outcomes)}")
    return _code(failed)


@command
def diff(
    paths: Paths = HERE,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit 1 where there is a difference.")
    ] = False,
    *,
    shared: OnText,
) -> int:
    """Show what `rewrite` would do, as a diff.

    `git apply` takes it. What remains to be done by hand goes to standard error.
    """
    from .diff import show

    if shared.format is not Format.text:
        return _fail(f"a diff is told as text, not as {shared.format}")
    outcomes = list(shared.project(paths).rewrite(paths))
    for outcome in outcomes:
        if outcome.source and outcome.text is not None:
            show(outcome.target, outcome.source, outcome.text)
    _tell(outcomes, shared, sys.stderr)
    changed = any(outcome.text is not None for outcome in outcomes)
    return max(_code(outcomes), FINDINGS if exit_code and changed else 0)


@command
def rewrite(
    paths: Paths,
    verify: Annotated[
        bool, typer.Option("--verify", help="Write only what was proved.")
    ] = False,
    python: Python = None,
    device: Device = None,
    *,
    shared: OnText,
) -> int:
    """Lift the code in place.

    `-` lifts standard input to standard output.
    """
    from .project import STDIN
    from .reports import text
    from .saving import saved

    if STDIN in paths:
        if verify or len(paths) > 1:
            return _fail("- stands for standard input: it goes alone and unproved")
        return _filter(paths, shared)
    project = shared.project(paths)
    lifts: Iterable[Outcome] = project.rewrite(paths)
    if verify:
        from .proving import Run, proved

        run = Run(project.profile_path, None, python, device, timing=False)
        lifts = proved(lifts, run)
    outcomes: list[Outcome] = []
    try:
        outcomes.extend(saved(lifts))
    finally:  # also what was written when it was interrupted
        if shared.loud:
            print(text.rewritten(outcomes), end="")
        _tell(outcomes, shared, sys.stdout)
        sys.stderr.write(text.unproved(outcomes))
        if shared.loud:
            print(text.rewritten_summary(outcomes))
    return _code(outcomes)


def _filter(paths: list[Path], shared: Shared) -> int:
    [outcome] = shared.project(paths).rewrite(paths)
    if outcome.source and not outcome.problem:
        sys.stdout.buffer.write(outcome.source.encode(outcome.new_text))
    _tell([outcome], shared, sys.stderr)
    return _code([outcome])


@functools.partial(command, allow_interspersed_args=False)
def record(
    command: Annotated[
        list[str], typer.Argument(metavar="-- CMD", help="What to run.")
    ],
    profile: Annotated[
        Path, typer.Option(metavar="FILE", help="Where to write what was seen.")
    ] = Path(".graphlift/profile.json"),
    python: Python = None,
) -> int:
    """Run a program and keep what its functions did.

    The program is a script, a module or pytest, with its interpreter or without.
    """
    from .record import RecordError
    from .record import record as run

    try:
        return run(command, Path.cwd(), profile, python, _tell_aside)
    except RecordError as error:
        return _fail(error)


@command
def verify(
    paths: Paths = HERE,
    against: Annotated[
        Path | None,
        typer.Option(metavar="LIFTED", help="A hand-made lift: a file or a folder."),
    ] = None,
    python: Python = None,
    device: Device = None,
    *,
    shared: Shared,
) -> int:
    """Prove the lift by running both.

    The code is lifted into a scratch copy; original and lift are run on the same calls,
    compared and timed. Nothing is written back.
    """
    from .progress import status
    from .project import STDIN
    from .proving import Run, prove, show

    if STDIN in paths:
        return _fail("- stands for standard input, which can't be proved")
    if shared.format not in (Format.text, Format.json):
        return _fail(f"a proof is told as text or json, not as {shared.format}")
    project = shared.project(paths)
    outcomes = list(project.read(paths) if against else project.rewrite(paths))
    sys.stderr.write(render(Format.text, [o for o in outcomes if o.problem]))
    run = Run(project.profile_path, against, python, device)
    with status(shared.quiet) as progress:
        proof = prove(outcomes, replace(run, progress=progress))
    if shared.format is Format.json:
        print(json.dumps(proof.to_json(), indent=1))
    else:
        show(proof)
    return max(proof.exit_status, _code([o for o in outcomes if o.problem]))


@command
def explain(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="WHAT", help="A rule, or what TensorFlow says; - reads that."
        ),
    ],
) -> int:
    """Explain a rule or a TensorFlow error.

    `-` reads the error from standard input, where a shell leaves its quotes alone.
    """
    from ..transforms.codes import NAMES
    from ..transforms.rules import find_code, find_rule, rules_for_error
    from .config import meant

    words = sys.stdin.read().strip() if what == ["-"] else " ".join(what)
    if not words:
        return _fail("nothing to explain: give a rule, or what TensorFlow says")
    named = list(filter(None, map(find_rule, what)))
    rules = named if len(named) == len(what) else rules_for_error(words)
    code = find_code(words)
    if code is not None and not rules:
        print(f"{code} {NAMES[code]}\n")
        print("There is no such rule yet: nothing is found or changed.")
        return 0
    if not rules:
        said = words if len(words) < 200 else f"{words[:200]}…"
        reason = f"neither a rule nor an error message that a rule cures: {said}"
        return _fail(reason + (meant(words) if len(what) == 1 else ""))
    for rule in rules:
        print(f"{rule.code} {rule.name} ({rule.applicability} where it is lifted)\n")
        print(rule.documentation(), end="\n\n")
    return 0


@command
def rules() -> int:
    """List all rules, one a line."""
    from ..transforms.rules import RULES

    for rule in RULES:
        print(f"{rule.code}  {rule.name:20}  {rule.applicability}")
    return 0


def _version(wanted: bool) -> None:
    if wanted:
        from . import version

        print(f"graphlift {version()}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Say which."),
    ] = False,
) -> None:
    pass


def _tell(outcomes: "Sequence[Outcome]", shared: Shared, stream: TextIO) -> None:
    from .reports import text

    stream.write(render(shared.format, outcomes))
    stream.flush()
    if not shared.quiet:
        sys.stderr.write(text.notes(outcomes))


def _code(outcomes: "Sequence[Outcome]") -> int:
    if any(outcome.problem for outcome in outcomes):
        return FAILED
    left = any(outcome.findings or outcome.unproved for outcome in outcomes)
    return FINDINGS if left else 0
