"""A tool: a function on a bank, with validated arguments and quoted answers."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Container, Mapping
from contextlib import ExitStack
from functools import cached_property, partial
from typing import Any, get_args

from anyio import fail_after, from_thread, to_thread
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp_types import (
    CallToolResult,
    ContentBlock,
    SamplingMessage,
    TextContent,
    Tool,
    ToolAnnotations,
)
from pydantic import ValidationError

from memory_bank.bank.bank import Bank
from memory_bank.base import lazy_pattern, repairs, shorten
from memory_bank.base import operation as operations
from memory_bank.base.errors import BadInput, Busy, Hint, MemoryBankError
from memory_bank.base.operation import Operation
from memory_bank.base.rendering import render_document, render_failure
from memory_bank.base.text import Quotes, agent_name, escape_text, one_line
from memory_bank.base.view import write_agent
from memory_bank.frontends import declared
from memory_bank.frontends.hints import choose_hints, drop_unserved
from memory_bank.frontends.mcp.arguments import (
    NOTICE,
    build_metadata,
    describe_structure,
    list_parameters,
    structure_record,
    unquote_argument,
)
from memory_bank.frontends.serving.path_redaction import redact_paths
from memory_bank.frontends.serving.shared_bank import SharedBank, reporting_to, tell

_WHO = ("agent", "source_agent")
"""Parameters of an operation that get the client's name."""

_MOST_WRONG = 5
"""Unknown arguments that an error names."""

_SHOWN = 60
"""Characters of a wrong value that an error quotes."""

_OMITTED = frozenset([
    "title", "default", "additionalProperties", "anyOf",
    "maxLength", "maxItems", "minItems", "minimum", "maximum",
])  # fmt: skip

_LONGEST_MESSAGE = 600

_TEXT_ALONE = lazy_pattern(
    "claude|codex|copilot|cursor|gemini|opencode|visual studio code|vscode|windsurf|zed",
    re.IGNORECASE,
)
"""Names of agents' programs, of which some hand their model the structure instead of the text."""

_CAPITAL = lazy_pattern("[A-Z]")

_SPELLINGS = {
    "tags_filter": ("tags",),
    "filter_tags": ("tags",),
    "filter_type": ("type",),
    "since": ("date_start",),
    "before": ("date_end",),
    "date_start": ("since",),
    "date_end": ("before",),
}
"""Other spellings of arguments, also accepted in camel case."""


class BankTool:
    """A tool of a bank; the error for a wrong argument names the right ones."""

    def __init__(
        self,
        operation: Operation,
        tool: operations.Tool,
        served: Callable[[], Container[str]],
        *,
        structure: bool = False,
    ) -> None:
        """Wrap an operation; with `structure`, answers have a schema and are structured for all.

        Otherwise agents' programs get text alone, and other programs structured content, too.
        `served` returns the names of all tools of the server.
        """
        self._operation, self._tool = operation, tool
        self._served = served
        self._structure = structure
        self._function = tool.run or operation.run
        self.name: str = tool.name or operation.run.__name__
        self.reads = self._tool.reads

    @cached_property
    def listed(self) -> Tool:
        """The tool's description for clients."""
        return Tool(
            name=self.name,
            description=drop_unserved(" ".join(self._tool.about.split()), self._served()).replace(
                "`", ""
            ),
            input_schema=_build_input_schema(self._metadata.arg_model.model_json_schema()),
            output_schema=self._output_schema if self._structure else None,
            annotations=self._annotations,
            _meta=self._loading_hints if self._tool.sought_by else None,
        )

    @property
    def _loading_hints(self) -> dict[str, Any]:
        """What makes Claude Code load it before its first request, else find it by a search."""
        return {"anthropic/alwaysLoad": True, "anthropic/searchHint": self._tool.sought_by}

    @property
    def _annotations(self) -> ToolAnnotations:
        """The hints that differ from the protocol's defaults, which would cost tokens.

        By default, a tool changes things, destroys some, and does more when it is called again.
        """
        if self._tool.reads:
            return ToolAnnotations(read_only_hint=True)
        return ToolAnnotations(
            destructive_hint=None if self._tool.destroys else False,
            idempotent_hint=True if self._tool.repeatable else None,
        )

    async def run(
        self,
        shared: SharedBank,
        arguments: Mapping[str, Any],
        context: Context[Any, Any],
        hide: Callable[[str], str],
    ) -> CallToolResult:
        """Check the arguments, run the function in a thread, and return the answer.

        Raises ToolError with a hint for the agent. Our own messages go through `hide`.
        """
        fields = self._check_arguments(arguments)
        params = context.session.client_params
        agent = agent_name(params.client_info.name) if params else ""
        structure = self._structure or not _TEXT_ALONE.search(agent)
        run = partial(self._run_operation, shared, agent, make_sampler(context), fields)
        with reporting_to(partial(_report, context)):  # the thread inherits it
            return await to_thread.run_sync(self._answer, run, shared, hide, structure)

    @property
    def _output_schema(self) -> dict[str, Any]:
        try:
            kind = _return_type_of(self._function)
        except NameError:  # it is that of the operation, which names this function
            kind = _return_type_of(self._operation.run)
        kinds = get_args(kind) or (kind,)
        schemas = [
            describe_structure(kind, depth=self._tool.depth, without=self._tool.without)
            for kind in kinds
        ]
        schema = schemas[0]
        for alternative in schemas[1:]:
            schema["properties"] |= alternative["properties"]
        return schema

    @cached_property
    def _metadata(self) -> FuncMetadata:
        return build_metadata(self._operation, self._tool)

    def _check_arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        input_schema = self.listed.input_schema["properties"]
        arguments = {
            _find_argument(name, input_schema, arguments): arguments[name] for name in arguments
        }
        unknown = [name for name in arguments if name not in input_schema]
        if unknown:
            names = ", ".join(_shorten_value(name) for name in unknown[:_MOST_WRONG])
            message = f"{self.name} has no argument {names}"
            hint = f"it has: {', '.join(input_schema)}"  # our own names, which are not quoted
            raise ToolError(report_failure(BadInput(message, hint), str, {}))
        required = self.listed.input_schema.get("required", ())
        arguments = {  # many clients send null for what they leave out
            name: unquote_argument(value)
            for name, value in arguments.items()
            if value is not None or name in required
        }
        try:
            return self._metadata.validate_arguments(dict(arguments))
        except ValidationError as error:
            problems = error.errors(include_url=False, include_context=False)[:_MOST_WRONG]
            faults = "; ".join(_describe_problem(problem) for problem in problems)
            problem = BadInput(f"{self.name}: {faults}", "call it again with valid arguments")
            raise ToolError(report_failure(problem, str, {})) from error

    def _run_operation(
        self,
        shared: SharedBank,
        agent: str,
        sample: Callable[[str, int], str] | None,
        fields: Mapping[str, Any],
    ) -> Any:  # noqa: ANN401  (any record)
        """Run the operation with an agent's arguments and what the server knows.

        `agent` is the client's name, empty if it gave none; `sample` asks the client's model.
        """
        parameters = list_parameters(self._operation, self._tool)
        values = {parameters[name].name: value for name, value in fields.items()}
        values |= self._tool.fixed
        with ExitStack() as exit_stack:

            def bank() -> Bank:
                if self._tool.aside:
                    return exit_stack.enter_context(shared.another())
                return shared.bank()

            sources: dict[str, Callable[[], Any]] = {
                "bank": bank,
                "code": shared.codebase,
                "codebase": shared.codebase,
                "agent": lambda: agent,
                "source_agent": lambda: agent,
                "progress": lambda: tell,
                "sample": lambda: sample,
                "quote": lambda: Quotes().introduced,
            }
            sources = {name: source for name, source in sources.items() if name not in values}
            values |= declared.fill_parameters(
                self._operation.run, {name: sources[name] for name in _WHO}
            )
            for name in values:
                sources.pop(name, None)
            return self._function(**declared.fill_parameters(self._function, sources), **values)

    def _answer(
        self,
        run: Callable[[], Any],
        shared: SharedBank,
        hide: Callable[[str], str],
        structured: bool,  # noqa: FBT001  (as threads call it)
    ) -> CallToolResult:
        quotes = Quotes()
        try:
            answer = run()
        except MemoryBankError as error:
            raise ToolError(report_failure(error, hide, choose_hints(self._served()))) from error
        answer = redact_paths(answer, hide)
        repaired = [*getattr(answer, "repaired", ()), *shared.repairs.take()]
        text = self._write_answer(answer, quotes)
        if repaired:
            text += f"\nRepaired: {repairs.describe_repairs(repaired)}."
        notices = shared.notices.take()
        text += "".join(f"\nNotice: {notice}." for notice in notices)
        content: list[ContentBlock] = [TextContent(type="text", text=text)]
        if not structured:
            return CallToolResult(content=content)
        structure = structure_record(quotes, answer, self._tool.without)
        notices = [*structure.pop("notices", ()), *notices]
        if repaired:
            structure["repaired"] = repaired
        if notices:
            structure["notices"] = notices
        return CallToolResult(content=content, structured_content=structure)

    def _write_answer(self, value: Any, quotes: Quotes) -> str:  # noqa: ANN401  (any record)
        if make_view := self._tool.view or self._operation.view:
            view = make_view(value)
            then = view.then and drop_unserved(view.then, self._served())
            return write_agent(view._replace(then=then), quotes)
        return quotes.introduced(render_document(value))


def _return_type_of(function: Callable[..., Any]) -> Any:  # noqa: ANN401  (any type)
    """Return the type that a function returns; raise NameError for one that it does not import."""
    kind = function.__annotations__["return"]
    # a plug-in's module may leave annotations as they are
    return eval(kind, function.__globals__) if isinstance(kind, str) else kind  # noqa: S307


def _report(context: Context[Any, Any], text: str, number: int, total: int) -> None:
    """Report the progress of a call to the client; raise if the client has cancelled it."""
    from_thread.check_cancelled()
    from_thread.run(context.report_progress, number, total, text)


def report_failure(
    error: MemoryBankError, hide: Callable[[str], str], words: Mapping[Hint, str]
) -> str:
    """Return an error as JSON for an agent.

    The message is quoted, and what a hint quotes from a note or a file: both may say anything.
    """
    quotes = Quotes()

    def quote(text: str) -> str:
        return quotes.inside(one_line(shorten(hide(text), _LONGEST_MESSAGE)))

    answer: dict[str, Any] = render_failure(
        error.code, quote(error.message), error.hint_in(words, quote)
    )
    answer["error"][NOTICE] = quotes.notice
    return render_document(answer, indent=None)


def _find_argument(name: str, names: Collection[str], arguments: Collection[str]) -> str:
    """Return the argument that a spelling means, unless it is among `arguments` by its own name."""
    if name in names:
        return name
    snake = _CAPITAL.sub(lambda match: f"_{match[0].lower()}", name)
    spelling = next(
        (form for form in (snake, *_SPELLINGS.get(snake, ())) if form in names),
        name,
    )
    return name if spelling in arguments else spelling


def _describe_problem(problem: Mapping[str, Any]) -> str:
    name = ".".join(str(part) for part in problem["loc"]) or "arguments"
    if problem["type"] == "missing":
        return f"{name} is missing"
    if problem["type"] == "value_error":  # our own words, which name the value
        return f"{name}: {problem['msg'].removeprefix('Value error, ')}"
    return f"{name}: {problem['msg'].lower()}, not {_shorten_value(problem['input'])}"


def _shorten_value(value: object) -> str:
    """Return a client's value as short JSON on one line."""
    if isinstance(value, str):
        value = value[: _SHOWN + 1]
    return shorten(escape_text(render_document(value, indent=None)), _SHOWN)


def _build_input_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema of arguments without redundant fields.

    It allows other arguments, as other spellings are accepted; `_check_arguments` refuses unknown
    ones.
    """
    properties = {name: _reduce_schema(item) for name, item in schema.get("properties", {}).items()}
    input_schema: dict[str, Any] = {"type": "object", "properties": properties}
    return input_schema | ({"required": schema["required"]} if "required" in schema else {})


def _reduce_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Drop titles, defaults, bounds (an error names them), fields of objects, and null choices."""
    reduced = {key: value for key, value in schema.items() if key not in _OMITTED}
    if "items" in reduced:
        reduced["items"] = _reduce_schema(reduced["items"])
    choices = [choice for choice in schema.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) > 1:
        reduced["anyOf"] = [_reduce_schema(choice) for choice in choices]
    elif choices:
        reduced |= _reduce_schema(choices[0])
    return reduced


SECONDS = 120.0
"""Time limit of an answer, for which a person may be asked."""

_MOST_REASON = 200


def make_sampler(context: Context[Any, Any]) -> Callable[[str, int], str] | None:
    """Return a function that asks the client's model from a tool's thread; None without a model.

    It takes a prompt and the most tokens of the answer. It raises Busy if the client refuses, or
    doesn't answer in time.
    """
    params = context.session.client_params
    if params is None or params.capabilities.sampling is None:
        return None

    async def ask(prompt: str, most: int) -> str:
        message = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
        with fail_after(SECONDS), warnings.catch_warnings():
            # the protocol of 2026-07-28 advises against it, but has nothing in its place
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            answer = await context.session.create_message(
                [message], max_tokens=most, related_request_id=context.request_id
            )
        if answer.content.type != "text":
            raise Busy("the client's model gave no text")
        return str(answer.content.text)

    def sample(prompt: str, most: int) -> str:
        try:
            return from_thread.run(ask, prompt, most)
        except TimeoutError:
            raise Busy(f"the client's model took longer than {SECONDS:g} s") from None
        except MCPError as error:
            line = one_line(str(error))[:_MOST_REASON]
            raise Busy(f"the client's model gave no answer: {line}") from error

    return sample
