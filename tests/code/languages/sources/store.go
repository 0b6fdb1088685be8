// Package store keeps orders.
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
