"""Derive the arguments of a tool from an operation, and the fields of its answer."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata, func_metadata
from pydantic import BeforeValidator, Field

from memory_bank.base import lazy_pattern
from memory_bank.base.operation import REQUIRED, Operation, Param, Parameter, Tool, parameters
from memory_bank.base.rendering import build_schema, read_fields, to_plain, yield_fields
from memory_bank.base.text import Quotes, escape_text

GIVEN = frozenset(
    ["bank", "code", "codebase", "agent", "source_agent", "progress", "sample", "quote"]
)
"""Parameters that the server gives."""


def list_parameters(operation: Operation, tool: Tool) -> dict[str, Parameter]:
    """Return the parameters of a tool's operation, by the names of its arguments, in order."""
    by_name = {parameter.name: parameter for parameter in parameters(operation.run)}
    if tool.run:
        by_name |= {parameter.name: parameter for parameter in parameters(tool.run)}
    if not tool.takes:
        return {name: parameter for name, parameter in by_name.items() if name not in GIVEN}
    takes = tool.takes if isinstance(tool.takes, Mapping) else {name: name for name in tool.takes}
    return {argument: by_name[name] for argument, name in takes.items()}


def build_metadata(operation: Operation, tool: Tool) -> FuncMetadata:
    """Return the schema of a tool's arguments, and what checks them."""

    def stand_in(**arguments: object) -> None:
        """Stand in for the operation, whose parameters have other names and types."""

    arguments = []
    for name, parameter in list_parameters(operation, tool).items():
        default = tool.defaults.get(name, parameter.default)
        if default is REQUIRED:
            default = inspect.Parameter.empty
        many = isinstance(default, tuple)
        about = "" if name in tool.bare else parameter.param.about
        arguments.append(
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=list(default) if many else default,
                annotation=_annotate_type(parameter.type, parameter.param, about),
            )
        )
    stand_in.__dict__["__signature__"] = inspect.Signature(arguments)
    stand_in.__name__ = tool.name or operation.run.__name__
    return func_metadata(stand_in, structured_output=False)


def _annotate_type(kind: Any, param: Param, about: str) -> Any:  # noqa: ANN401  (a type)
    """Return the type of an argument, with its bounds and its description."""
    annotation = _convert_type(kind, param)
    bounds: dict[str, Any] = {"description": about} if about else {}
    if {int, float} & {kind, *get_args(kind)}:
        bounds |= {"ge": param.least, "le": param.most}
    marks: list[Any] = (
        [Field(**bounds)] if any(bound is not None for bound in bounds.values()) else []
    )
    if param.accept or _is_list(kind):
        marks.append(BeforeValidator(param.accept or _wrap_text))
    return Annotated[(annotation, *marks)] if marks else annotation


def _is_list(kind: Any) -> bool:  # noqa: ANN401
    """Return whether an argument is a list, or a list or None."""
    kinds = get_args(kind) if get_origin(kind) in {Union, UnionType} else (kind,)
    return {get_origin(kind) for kind in kinds if kind is not type(None)} <= {Sequence, tuple, list}


def _wrap_text(argument: object) -> object:
    """Take one text for a list of it, since agents often give one where a list is wanted."""
    if isinstance(argument, str):
        return [argument] if argument.strip() else []
    return argument


def _convert_type(kind: Any, param: Param) -> Any:  # noqa: ANN401
    if kind is str:
        longest = param.longest
        return Annotated[str, Field(max_length=longest)] if longest else str
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _annotate_type(inner[0], param, inner[1].about)
    if origin in {None, Literal, dict}:
        return kind
    if origin in {Sequence, tuple, list}:
        list_type: Any = list.__class_getitem__(_convert_type(inner[0], param))
        if (param.least, param.most) == (None, None):
            return list_type
        least, most = (None if bound is None else int(bound) for bound in (param.least, param.most))
        return Annotated[list_type, Field(min_length=least, max_length=most)]
    union = _convert_type(inner[0], param)
    for member in inner[1:]:
        union = union | (None if member is type(None) else _convert_type(member, param))
    return union


_PLAIN = frozenset(
    {
        *("schema_version", "action", "etag", "content_hash", "repaired", "total_size"),
        *("created_at", "updated_at", "started_at", "ended_at", "last_accessed_at"),
        *("mode_used", "fallback_reason", "rule", "severity", "version", "commit"),
        *("committed_at", "deleted_at", "state", "status", "verdict", "coupling_type"),
        *("id", "ids", "note_id", "anchor_id", "session_id", "observation_id", "summary_id"),
        *("kind", "type", "obs_type", "source_type", "project", "missing", "sessions"),
        *("path", "paths", "old_path", "file", "files", "test_file", "file_refs", "symbol_refs"),
        *("files_read", "files_modified", "files_edited", "same_as", "similar_to", "may_amend"),
        *("superseded_by", "newer", "promoted_to", "merged", "relinked"),
    }
)
"""Fields of ids, kinds, places and times, which are words. Any other text is quoted."""

_ASKED = frozenset({"query", "linked_to"})
"""Fields that repeat an argument: the agent's own words."""

_WORD = lazy_pattern(r"[\w.:+/#@$~-]{0,200}")
"""What a word is made of; a text with any other character is quoted, whatever its field."""

NOTICE = "notice"
"""The field that explains the quotes."""


def structure_record(
    quotes: Quotes, value: object, without: Collection[str] = ()
) -> dict[str, Any]:
    """Return the fields of a record as JSON values, without those in `without`.

    Ids, kinds, places and numbers are plain, all other text is quoted. Fields that are None are
    omitted. A record's property `quoted` names fields whose text has quotes around note text.
    """
    fields = {NOTICE: quotes.notice, **_convert_value(quotes, value)}
    return {name: content for name, content in fields.items() if name not in without}


def describe_structure(
    kind: Any,  # noqa: ANN401  (any type)
    *,
    depth: int,
    without: Collection[str] = (),
) -> dict[str, Any]:
    """Return the JSON schema of `structure_record` for records of a type."""
    schema = build_schema(kind, depth=depth, without=without)
    schema["properties"] = {NOTICE: {"type": "string"}, **schema["properties"]}
    return schema


def _convert_value(quotes: Quotes, value: object, field: str = "") -> Any:  # noqa: ANN401  (any JSON)
    names = read_fields(type(value))
    if names is not None:
        quoted: Collection[str] = getattr(value, "quoted", ())
        return {
            name: item if name in quoted else _convert_value(quotes, item, name)
            for name, item in yield_fields(value, names)
        }
    if isinstance(value, Mapping):
        return {
            _quote_unless_word(quotes, str(key)): _convert_value(quotes, item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple | set | frozenset):
        items = [_convert_value(quotes, item, field) for item in value]
        return items if isinstance(value, list | tuple) else sorted(items)
    if value is None or isinstance(value, bool | int | float):
        return value
    text = str(to_plain(value))
    if field in _ASKED:
        return escape_text(text)
    return _quote_unless_word(quotes, text) if field in _PLAIN else quotes.inside(text)


def _quote_unless_word(quotes: Quotes, text: str) -> str:
    """Return an id, a kind or a place as it is; quoted if it is more than a word."""
    return text if _WORD.fullmatch(text) else quotes.inside(text)


_QUOTED = lazy_pattern(r"<(q-[0-9a-f]{6})>(.*)</\1>", re.DOTALL)


def unquote_argument(value: Any) -> Any:  # noqa: ANN401  (of an agent)
    """Return an argument without the quotes that our answers put around an id, a path or a text."""
    if isinstance(value, str):
        quote = _QUOTED.fullmatch(value.strip())
        return quote[2] if quote else value
    return [unquote_argument(item) for item in value] if isinstance(value, list) else value
