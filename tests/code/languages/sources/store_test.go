package store

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
