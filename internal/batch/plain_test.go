package batch_test

import (
	"testing"
	"time"

	"redlocksim/internal/batch"
	"redlocksim/redlock/driver"
)

const delIfEq, delEx = 1, 2 // as in Known.Learn

// What carries out a command depends on what its node has.
func TestWays(t *testing.T) {
	release := driver.Command{Op: driver.OpRelease, Keys: []string{"r"}}
	change := func(f func(*driver.Command)) driver.Command {
		c := release
		f(&c)
		return c
	}
	for _, x := range []struct {
		name  string
		found int64
		c     driver.Command
		want  batch.Script
	}{
		{"an old server", 0, release, batch.Release},
		{"Valkey 9", delIfEq, release, batch.DelIfEq},
		{"Redis 8.4", delEx, release, batch.DelEx},
		{"several keys", delIfEq, change(func(c *driver.Command) { c.Keys = []string{"r", "s"} }), batch.Release},
		{"a release that calls the next", delIfEq, change(func(c *driver.Command) { c.Line = &driver.Line{Turn: time.Second} }), batch.Release},
		{"an acquire from the line", delIfEq, driver.Command{Op: driver.OpAcquire, Keys: []string{"r"}, Line: &driver.Line{Waiter: "w"}}, batch.Acquire},
		{"an extend", delIfEq, driver.Command{Op: driver.OpExtend, Keys: []string{"r"}}, batch.Extend},
		{"an acquire", delIfEq, driver.Command{Op: driver.OpAcquire, Keys: []string{"r"}}, batch.None},
	} {
		var known batch.Known
		known.Learn(x.found)
		m := batch.Arrange([]*driver.Command{&x.c}, known.Scripts())
		if got := m.Requests()[0].Script; got != x.want || m.Looks() {
			t.Errorf("%s: way %d, want %d; acquires look again: %v", x.name, got, x.want, m.Looks())
		}
		known.Doubt()
		if m := batch.Arrange([]*driver.Command{&x.c}, known.Scripts()); !m.Looks() || m.Requests()[0].Script.IsPlain() && x.want != batch.None {
			t.Errorf("%s: what is in doubt is relied on", x.name)
		}
	}
}
