"""What is found in Rust."""

from __future__ import annotations

from memory_bank.code.parse import parsing
from memory_bank.code.parse.parsed_file import ParsedFile

SHAPES = """//! Shapes and
//! their areas.
use std::{fmt as f, io::{self, Read}};
use crate::units::*;
mod colors;

/// The most sides
/// of a shape.
pub const MOST: usize = 9;

/// A square.
#[derive(Debug, Clone)]
pub struct Square<T> {
    side: T,
}

pub enum Color { Red, Green(u8) }

/** What has an area. */
pub trait Shape {
    const SIDES: usize;
    fn area(&self) -> f64;
}

impl<T> Shape for shapes::Square<T> {
    const SIDES: usize = 4;
    fn area(&self) -> f64 {
        let rounded = round::<f64>(self.side.value());
        println!("{}", units::show(rounded));
        Square::new(rounded).cost()
    }
}

macro_rules! square { ($a:expr) => { $a * $a }; }

type Side = u8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "zero")]
    fn an_area_is_positive() {
        assert_eq!(make().area(2), other(1));
    }

    mod colors {
        #[tokio::test(flavor = "x")]
        async fn red_is_first() {}
    }

    fn helper() {}
}
"""


def rust(text: str) -> ParsedFile:
    return parsing.parse(text.encode(), "rust")


def test_definitions_of_rust() -> None:
    found = {one.qualified: one for one in rust(SHAPES).symbols}
    assert [(one.kind, name) for name, one in found.items()] == [
        ("constant", "MOST"), ("type", "Square"), ("enum", "Color"), ("interface", "Shape"),
        ("constant", "Shape.SIDES"), ("method", "Shape.area"), ("constant", "Square.SIDES"),
        ("method", "Square.area"), ("function", "square"), ("type", "Side"), ("module", "tests"),
        ("function", "tests.an_area_is_positive"), ("module", "tests.colors"),
        ("function", "tests.colors.red_is_first"), ("function", "tests.helper"),
    ]  # fmt: skip
    assert found["MOST"].doc == "The most sides\nof a shape."
    assert found["MOST"].signature == "pub const MOST: usize = 9"
    assert found["Square"].signature == "pub struct Square<T>"
    assert (found["Square"].doc, found["Square"].line, found["Square"].end_line) == (
        "A square.",
        11,
        16,
    )
    assert found["Shape"].doc == "What has an area."
    assert found["square"].signature == "macro_rules! square"
    assert found["Square.area"].calls == (
        "round", "self.side.value", "println!", "units::show", "Square::new().cost", "Square::new",
    )  # fmt: skip
    assert rust(SHAPES).doc == "Shapes and\ntheir areas."


def test_imports_of_rust() -> None:
    found = [(one.target, one.names, one.line) for one in rust(SHAPES).imports]
    assert found == [
        ("std", ("fmt", "io"), 3), ("std::io", ("Read",), 3), ("crate::units", (), 4),
        ("./colors", (), 5), ("self", (), 40),
    ]  # fmt: skip


def test_uses_in_a_module_with_a_body_are_of_its_file() -> None:
    text = (
        "use super::a::B;\nmod m {\n  use super::{c, super::d};\n  use self::e;\n"
        "  mod n { use super::super::f; use crate::g; }\n}\n"
    )
    found = [(one.target, one.names) for one in rust(text).imports]
    assert found == [
        ("super::a", ("B",)), ("self", ("c",)), ("super", ("d",)), ("self::m", ("e",)),
        ("self", ("f",)), ("crate", ("g",)),
    ]  # fmt: skip


def test_tests_of_rust() -> None:
    panics, red = rust(SHAPES).tests
    assert (panics.title, panics.symbol) == ("an area is positive", "tests.an_area_is_positive")
    assert (panics.line, panics.end_line, panics.framework) == (44, 47, "rust")
    assert set(panics.calls) == {"assert_eq!", "make", "area", "other"}
    assert red.title == "colors > red is first"


def test_a_reformat_leaves_the_fingerprints_of_rust_but_an_attribute_does_not() -> None:
    def fingerprints(text: str) -> list[str]:
        return [one.fingerprint for one in rust(text).symbols]

    assert (
        fingerprints(SHAPES.replace("    ", "  ").replace("/// A", "// One more\n/// A"))[1:]
        == (fingerprints(SHAPES)[1:])
    )
    assert fingerprints(SHAPES.replace("Clone", "Copy"))[1] != fingerprints(SHAPES)[1]
