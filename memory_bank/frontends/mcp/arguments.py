"""Derive the arguments of a tool from the parameters of a declared operation."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata, func_metadata
from pydantic import BeforeValidator, Field

from memory_bank.base.operation import Operation, Param, Parameter, Tool, parameters

GIVEN = frozenset(
    ["bank", "code", "codebase", "agent", "source_agent", "progress", "sample", "quote"]
)
"""Parameters that the server gives."""


def taken(operation: Operation, tool: Tool) -> dict[str, Parameter]:
    """Return the parameters of a tool's operation, by the names of its arguments, in order."""
    known = {one.name: one for one in parameters(operation.run)}
    known |= {one.name: one for one in parameters(tool.run)} if tool.run else {}
    if not tool.takes:
        return {name: one for name, one in known.items() if name not in GIVEN}
    named = tool.takes if isinstance(tool.takes, Mapping) else {one: one for one in tool.takes}
    return {argument: known[name] for argument, name in named.items()}


def metadata(operation: Operation, tool: Tool) -> FuncMetadata:
    """Return the schema of a tool's arguments, and what checks them."""

    def called(**given: object) -> None:
        """Stand in for the operation, whose parameters have other names and types."""

    made = []
    for name, one in taken(operation, tool).items():
        default = tool.defaults.get(name, one.default)
        many = isinstance(default, tuple)
        about = "" if name in tool.bare else one.param.about
        made.append(
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=list(default) if many else default,
                annotation=_annotated(one.type, one.param, about),
            )
        )
    called.__dict__["__signature__"] = inspect.Signature(made)
    called.__name__ = tool.name or operation.run.__name__
    return func_metadata(called, structured_output=False)


def _annotated(kind: Any, param: Param, about: str) -> Any:  # noqa: ANN401  (a type)
    """Return the type of an argument, with its bounds and its description."""
    found = _type(kind, param)
    bounds: dict[str, Any] = {"description": about} if about else {}
    if {int, float} & {kind, *get_args(kind)}:
        bounds |= {"ge": param.least, "le": param.most}
    marks: list[Any] = [Field(**bounds)] if any(one is not None for one in bounds.values()) else []
    if param.accept or _is_list(kind):
        marks.append(BeforeValidator(param.accept or _as_list))
    return Annotated[(found, *marks)] if marks else found


def _is_list(kind: Any) -> bool:  # noqa: ANN401
    """Tell whether an argument is a list, or nothing."""
    kinds = get_args(kind) if get_origin(kind) in {Union, UnionType} else (kind,)
    return {get_origin(one) for one in kinds if one is not type(None)} <= {Sequence, tuple, list}


def _as_list(given: object) -> object:
    """Take one text for a list of it, since agents often give one where a list is wanted."""
    if isinstance(given, str):
        return [given] if given.strip() else []
    return given


def _type(kind: Any, param: Param) -> Any:  # noqa: ANN401
    if kind is str:
        longest = param.longest
        return Annotated[str, Field(max_length=longest)] if longest else str
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _annotated(inner[0], param, inner[1].about)
    if origin in {None, Literal, dict}:
        return kind
    if origin in {Sequence, tuple, list}:
        item: Any = list.__class_getitem__(_type(inner[0], param))
        if (param.least, param.most) == (None, None):
            return item
        least, most = (None if one is None else int(one) for one in (param.least, param.most))
        return Annotated[item, Field(min_length=least, max_length=most)]
    union = _type(inner[0], param)
    for one in inner[1:]:
        union = union | (None if one is type(None) else _type(one, param))
    return union
