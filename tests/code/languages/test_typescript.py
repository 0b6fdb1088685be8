"""What is found in TypeScript and TSX."""

from __future__ import annotations

import pytest

from memory_bank.code.parse import parsing
from memory_bank.code.parse.parsed_file import ParsedFile

ORDERS = """import type { Order } from './order';
import legacy = require("legacy");
export type { Order } from './order';

/** Keep orders. */
@Injectable()
export class Orders<T> implements Store {
  static readonly MOST = 3;
  private handler = (): void => { this.log!.write(); };
  constructor(private readonly log: Log) { super(); }
  /** Read one. */
  @Get('/:id')
  async read(id: number): Promise<T> { return new Reader<T>(id).all(); }
  /** Write one. */
  @Post() write(id: number): void {}
}

export abstract class Base { protected abstract id(): string; }
export interface Reader extends Base { all(): Order[]; readonly size: number }
export const enum State { Open, Closed }
export type Id = string | number;
namespace Shop.Money { export const RATE = 1; export function round(a: number) {} }
declare function external(a: number): string;

function parse(a: string): number;
function parse(a: any) { return <number>a; }
export const identity = <T>(a: T): T => a;
"""
VIEW = """export default function View({ name }: Props) {
  return <Panel<string> title={name} />;
}

export const useName = (a: string) => read<string>(a);
"""


def parsed(text: str, language: str = "typescript") -> ParsedFile:
    return parsing.parse(text.encode(), language)


def test_definitions_of_typescript() -> None:
    file = parsed(ORDERS)
    found = {one.qualified: one for one in file.symbols}
    assert file.problem == ""
    assert [(one.kind, name) for name, one in found.items()] == [
        ("class", "Orders"), ("constant", "Orders.MOST"), ("method", "Orders.handler"),
        ("method", "Orders.constructor"), ("method", "Orders.read"), ("method", "Orders.write"),
        ("class", "Base"), ("method", "Base.id"), ("interface", "Reader"),
        ("method", "Reader.all"), ("enum", "State"), ("type", "Id"), ("module", "Shop.Money"),
        ("constant", "Shop.Money.RATE"), ("function", "Shop.Money.round"),
        ("function", "external"), ("function", "parse"), ("function", "identity"),
    ]  # fmt: skip
    orders, read = found["Orders"], found["Orders.read"]
    assert orders.signature == "class Orders<T> implements Store"
    assert (orders.doc, orders.line, orders.end_line) == ("Keep orders.", 5, 17)
    assert read.signature == "async read(id: number): Promise<T>"
    assert (read.doc, read.line, read.end_line) == ("Read one.", 11, 14)
    assert (found["Orders.write"].doc, found["Orders.write"].line) == ("Write one.", 14)
    assert read.calls == ("Reader().all", "Reader")
    assert found["Orders.handler"].calls == ("this.log!.write",)


def test_imports_of_typescript() -> None:
    assert [(one.target, one.names, one.line) for one in parsed(ORDERS).imports] == [
        ("./order", ("Order",), 1), ("legacy", (), 2), ("./order", ("Order",), 3),
    ]  # fmt: skip


def test_components_of_tsx() -> None:
    file = parsed(VIEW, "tsx")
    view, use = file.symbols
    assert (file.language, file.problem) == ("tsx", "")
    assert (view.qualified, view.calls) == ("View", ("Panel",))
    assert (use.qualified, use.signature, use.calls) == (
        "useName", "const useName = (a: string)", ("read",),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("path", "language"), [("a.ts", "typescript"), ("a.mts", "typescript"), ("a.tsx", "tsx")]
)
def test_typescript_is_told_by_the_suffix(path: str, language: str) -> None:
    assert parsing.language_of(path) == language
