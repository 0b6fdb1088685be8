"""A tool: a function over a bank, with strict input, a quoted answer, and plain errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_type_hints

from anyio import from_thread, to_thread
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata, func_metadata
from mcp_types import CallToolResult, ContentBlock, TextContent, Tool, ToolAnnotations
from pydantic import ValidationError

from memory_bank import actions
from memory_bank.agents import agent_name
from memory_bank.errors import MemoryBankError
from memory_bank.frontends.mcp.fencing import Quotes, clean, one_line
from memory_bank.frontends.mcp.hints import HINTS
from memory_bank.frontends.mcp.path_redaction import without_paths
from memory_bank.frontends.mcp.structure import NOTICE, structured, structured_schema
from memory_bank.frontends.rendering import document, failure
from memory_bank.serving.progress import reporting_to
from memory_bank.serving.shared_bank import SharedBank

if TYPE_CHECKING:
    from memory_bank.bank import Bank

_CALL = "call"
"""The parameter of a tool's function that is no argument of the tool."""
_MOST_WRONG = 5
_SHOWN = 60
_UNSAID = frozenset(["title", "anyOf", "maxLength", "maxItems"])
_LONGEST_MESSAGE = 600

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool: its bank, and who calls."""

    shared: SharedBank
    agent: str
    """What the client calls itself; empty if it does not say."""

    @property
    def bank(self) -> Bank:
        """The bank; raises NoBank where there is none."""
        return self.shared.bank()


@dataclass(frozen=True, slots=True)
class _Spec:
    title: str
    text: Callable[[Any, Quotes], str]
    reads: bool
    destroys: bool
    repeatable: bool
    without: tuple[str, ...]
    depth: int


def tool(
    title: str,
    text: Callable[[Any, Quotes], str],
    *,
    reads: bool = False,
    destroys: bool = False,
    repeatable: bool = False,
    without: tuple[str, ...] = (),
    depth: int = 1,
) -> Callable[[Function], Function]:
    """Make a tool of a function: `call` first, then the tool's arguments; its docstring is shown.

    What it returns is a record, of which `text` makes the answer; programs that ask for it get
    the fields of the command's JSON too, `without` some. A tool that neither reads only nor
    destroys adds something; a `repeatable` one changes nothing more when it is called again.
    `depth` is how deep the output schema names fields, each of which costs some seven tokens.
    """

    def mark(function: Function) -> Function:
        spec = _Spec(title, text, reads, destroys, repeatable or reads, without, depth)
        function.__dict__["spec"] = spec
        return function

    return mark


def tools_of(module: ModuleType, *, structured: bool = False) -> list[BankTool]:
    """Return the tools that a module defines, in their order."""
    marked = [value for value in vars(module).values() if hasattr(value, "spec")]
    return [BankTool(function, structure=structured) for function in marked]


class BankTool:
    """A tool of a bank; unknown and wrong arguments are refused with a word on the right ones."""

    def __init__(self, function: Callable[..., Any], *, structure: bool = False) -> None:
        """Wrap a marked function, whose answers have a structure as well if that is asked for."""
        self._function = function
        self._structure = structure
        self._spec = cast("_Spec", function.__dict__["spec"])
        self.name: str = function.__name__
        self.reads = self._spec.reads

    @cached_property
    def listed(self) -> Tool:
        """What clients are told of the tool."""
        return Tool(
            name=self.name,
            title=self._spec.title,
            description=" ".join((self._function.__doc__ or "").split()),
            input_schema=_compact(self._metadata.arg_model.model_json_schema()),
            output_schema=self._output if self._structure else None,
            annotations=ToolAnnotations(
                read_only_hint=self._spec.reads,
                destructive_hint=self._spec.destroys,
                idempotent_hint=self._spec.repeatable,
            ),
        )

    async def run(
        self,
        shared: SharedBank,
        arguments: Mapping[str, Any],
        context: Context[Any, Any],
        hide: Callable[[str], str],
    ) -> CallToolResult:
        """Check the arguments, do the work in a thread, and return what it comes to.

        Raises ToolError with what the agent can do about it. What we say goes through `hide`.
        """
        given = self._checked(arguments)
        params = context.session.client_params
        agent = agent_name(params.client_info.name) if params else ""
        call = Call(shared, agent)
        with reporting_to(partial(_report, context)):  # the thread inherits it
            return await to_thread.run_sync(self._answer, call, given, hide)

    @property
    def _output(self) -> dict[str, Any]:
        kind = get_type_hints(self._function)["return"]
        return structured_schema(kind, depth=self._spec.depth, without=self._spec.without)

    @cached_property
    def _metadata(self) -> FuncMetadata:
        return func_metadata(self._function, skip_names=[_CALL], structured_output=False)

    def _checked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        known = self.listed.input_schema["properties"]
        unknown = [name for name in arguments if name not in known]
        if unknown:
            shown = ", ".join(_cut(name) for name in unknown[:_MOST_WRONG])
            quotes = Quotes()
            has = f"it has: {', '.join(known)}. {quotes.notice}"
            raise ToolError(f"{self.name} has no argument {quotes.inside(shown)}; {has}")
        try:
            return self._metadata.validate_arguments(dict(arguments))
        except ValidationError as error:
            problems = error.errors(include_url=False, include_context=False)[:_MOST_WRONG]
            wrong = "; ".join(_told(problem) for problem in problems)
            quotes = Quotes()
            said = f"{quotes.inside(wrong)}. {quotes.notice}"
            raise ToolError(f"{self.name} can't take this: {said}") from error

    def _answer(
        self, call: Call, given: Mapping[str, Any], hide: Callable[[str], str]
    ) -> CallToolResult:
        quotes = Quotes()
        try:
            value = self._function(call, **given)
        except MemoryBankError as error:
            raise ToolError(failed(error, hide)) from error
        value = without_paths(value, hide)
        repaired = [*getattr(value, "repaired", ()), *call.shared.take_repaired()]
        text = self._spec.text(value, quotes)
        if repaired:
            text += f"\nRepaired: {actions.maintenance.described(repaired)}."
        notices = call.shared.take_notices()
        text += "".join(f"\nNotice: {notice}." for notice in notices)
        content: list[ContentBlock] = [TextContent(type="text", text=text)]
        if not self._structure:
            return CallToolResult(content=content)
        structure = structured(quotes, value, self._spec.without)
        if repaired:
            structure["repaired"] = structure["healed"] = repaired  # its former name, this version
        if notices:
            structure["notices"] = notices
        return CallToolResult(content=content, structured_content=structure)


def _report(context: Context[Any, Any], what: str, done: int, total: int) -> None:
    """Tell the client of a call how far it is; raise where the client has cancelled it."""
    from_thread.check_cancelled()
    from_thread.run(context.report_progress, done, total, what)


def failed(error: MemoryBankError, hide: Callable[[str], str]) -> str:
    """Return what an agent is told of an error, as JSON: what may be a note's words is quoted.

    A message may name anything that came out of a file, and so may a hint.
    """
    quotes = Quotes()
    message = quotes.inside(one_line(_short(hide(error.message))))
    hint = error.hint_in(HINTS)
    if not error.hint_is_ours:
        hint = quotes.inside(one_line(_short(hide(hint))))
    told: dict[str, Any] = failure(error.code, message, hint)
    told["error"][NOTICE] = quotes.notice
    return document(told, indent=None)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[:_LONGEST_MESSAGE]}…"


def _told(problem: Mapping[str, Any]) -> str:
    name = ".".join(str(part) for part in problem["loc"]) or "arguments"
    if problem["type"] == "missing":
        return f"{name} is missing"
    return f"{name}: {problem['msg'].lower()}, not {_cut(problem['input'])}"


def _cut(value: object) -> str:
    """Return a client's value so that it can be shown: short, on one line."""
    if isinstance(value, str):
        value = value[: _SHOWN + 1]
    text = clean(document(value, indent=None))
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _compact(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema of arguments, closed to others, without what says nothing to an agent."""
    properties = {name: _lean(item) for name, item in found.get("properties", {}).items()}
    lean = {"type": "object", "properties": properties, "additionalProperties": False}
    return lean | ({"required": found["required"]} if "required" in found else {})


def _lean(found: Mapping[str, Any]) -> dict[str, Any]:
    """Drop titles, bounds that no agent meets, and what only says what may be left out."""
    item = {key: value for key, value in found.items() if key not in _UNSAID}
    if "items" in item:
        item["items"] = _lean(item["items"])
    choices = [choice for choice in found.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) > 1:
        item["anyOf"] = [_lean(choice) for choice in choices]
    elif choices:
        item |= choices[0]
    if not item.get("default", True):
        del item["default"]
    return item
