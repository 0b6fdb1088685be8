"""What is found in Go."""

from __future__ import annotations

from memory_bank.code.parse import parsing
from memory_bank.code.parse.parsed_file import ParsedFile

STORE = """// Package store keeps orders.
package store

import "fmt"
import (
	db "example.org/sql/db"
	. "strings"
)

// MaxOrders is the most that are kept.
const MaxOrders = 3

const (
	// First is the oldest.
	First = iota
	Last
)

// Store keeps orders
// in memory.
type Store[K comparable] struct {
	orders map[K]int
}

type Reader interface {
	// Read one order.
	Read(id int) (int, error)
}

type ID = string

// Add an order.
func (s *Store[K]) Add(key K) error {
	fmt.Println(key)
	return s.db.Open(key).Put(clone[K](key))
}

func New() *Store[int] { return &Store[int]{} }
"""
TESTS = """package store

func TestAddKeepsOrders(t *testing.T) {
	for _, row := range []struct{ name string; n int }{
		{name: "no order", n: 0},
		{name: "many orders", n: 9},
	} {
		t.Run(row.name, func(t *testing.T) { check(row.n) })
	}
	t.Run("twice the same", func(t *testing.T) {
		New().Add(1)
	})
}

func TestMain(m *testing.M) {}

func Testify() {}
"""


def go(text: str) -> ParsedFile:
    return parsing.parse(text.encode(), "go")


def test_definitions_of_go() -> None:
    found = {one.qualified: one for one in go(STORE).symbols}
    assert [(one.kind, name) for name, one in found.items()] == [
        ("constant", "MaxOrders"), ("constant", "First"), ("constant", "Last"),
        ("type", "Store"), ("interface", "Reader"), ("method", "Reader.Read"), ("type", "ID"),
        ("method", "Store.Add"), ("function", "New"),
    ]  # fmt: skip
    assert found["Store"].signature == "type Store[K comparable] struct"
    assert found["Store"].doc == "Store keeps orders\nin memory."
    assert (found["Store"].line, found["Store"].end_line) == (19, 24)
    assert found["Reader"].signature == "type Reader interface"
    assert found["Reader.Read"].doc == "Read one order."
    assert found["First"].doc == "First is the oldest."
    assert found["MaxOrders"].signature == "const MaxOrders = 3"
    assert found["Store.Add"].signature == "func (s *Store[K]) Add(key K) error"
    assert found["Store.Add"].calls == ("fmt.Println", "s.db.Open().Put", "s.db.Open", "clone")
    assert go(STORE).doc == "Package store keeps orders."


def test_imports_of_go() -> None:
    found = [(one.target, one.line) for one in go(STORE).imports]
    assert found == [("fmt", 4), ("example.org/sql/db", 6), ("strings", 7)]


def test_tests_of_go() -> None:
    found = go(TESTS).tests
    assert [(one.title, one.line) for one in found] == [
        ("add keeps orders", 3), ("add keeps orders > no order", 5),
        ("add keeps orders > many orders", 6), ("add keeps orders > twice the same", 10),
    ]  # fmt: skip
    assert found[0].symbol == "TestAddKeepsOrders"
    assert found[-1].calls == ("New().Add", "New")
    assert (found[-1].end_line, found[-1].framework) == (13, "go")
    assert not parsing.may_hold_tests("store/store.go", "go")


def test_a_reformat_leaves_the_fingerprints_of_go() -> None:
    other = STORE.replace("\t", "    ").replace("// Add an order.", "// Add.\n// More.")
    assert [one.fingerprint for one in go(other).symbols] == [
        one.fingerprint for one in go(STORE).symbols
    ]
    changed = {
        one.qualified
        for one, old in zip(
            go(STORE.replace("Put(", "Post(")).symbols, go(STORE).symbols, strict=True
        )
        if one.fingerprint != old.fingerprint
    }
    assert changed == {"Store.Add"}
