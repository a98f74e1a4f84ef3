package batch_test

import (
	"testing"

	"redlocksim/internal/batch"
	"redlocksim/redlock/driver"
)

const (
	delIfEq, delEx, setIfEq = 1, 2, 4
	only                    = 8 // a lock must do with them
)

// What carries out a command depends on what its node has and on what its client promises.
func TestWays(t *testing.T) {
	release, extend := driver.Command{Op: driver.OpRelease, Keys: []string{"r"}}, driver.Command{Op: driver.OpExtend, Keys: []string{"r"}, OneTTL: true}
	change := func(c driver.Command, f func(*driver.Command)) driver.Command {
		f(&c)
		return c
	}
	several := func(c *driver.Command) { c.Keys = []string{"r", "s"} }
	wakes := func(c *driver.Command) { c.Wake = true }
	for _, x := range []struct {
		name  string
		found int64
		c     driver.Command
		want  batch.Script
	}{
		{"an old server", 0, release, batch.Release},
		{"Valkey 9", delIfEq | setIfEq, release, batch.DelIfEq},
		{"Redis 8.4", delEx | setIfEq, release, batch.DelEx},
		{"Valkey 8.1", setIfEq, release, batch.Release},
		{"several keys", delIfEq | setIfEq, change(release, several), batch.Release},
		{"a release that wakes", delIfEq | setIfEq, change(release, wakes), batch.Release},
		{"and may not be a script", delIfEq | setIfEq | only, change(release, wakes), batch.DelIfEq},
		{"an old server, extend", 0, extend, batch.Extend},
		{"Valkey 8.1, extend", setIfEq, extend, batch.SetIfEq},
		{"an extend of several TTLs", delIfEq | setIfEq, change(extend, func(c *driver.Command) { c.OneTTL = false }), batch.Extend},
		{"an extend of several keys", setIfEq, change(extend, several), batch.Extend},
		{"an acquire", delIfEq | setIfEq, driver.Command{Op: driver.OpAcquire, Keys: []string{"r"}, OneTTL: true}, batch.None},
	} {
		var known batch.Known
		known.Learn(x.found)
		m := batch.Arrange([]*driver.Command{&x.c}, known.Scripts())
		if got := m.Requests()[0].Script; got != x.want {
			t.Errorf("%s: way %d, want %d", x.name, got, x.want)
		}
		if m.Looks() != (x.found&only != 0 && !batch.SuitsPlain(&x.c) && x.c.Op == driver.OpAcquire) {
			t.Errorf("%s: acquires look again", x.name)
		}
		known.Doubt()
		if m := batch.Arrange([]*driver.Command{&x.c}, known.Scripts()); !m.Looks() || m.Requests()[0].Script.IsPlain() && x.want != batch.None {
			t.Errorf("%s: what is in doubt is relied on", x.name)
		}
	}
}

// A node that forbids scripts is asked once in a batch for what does instead. If that is not enough, what plain commands could
// have carried out fails, and the rest is sent again.
func TestTrial(t *testing.T) {
	acquire := &driver.Command{Op: driver.OpAcquire, Keys: []string{"r"}, OneTTL: true}
	release := &driver.Command{Op: driver.OpRelease, Keys: []string{"r"}}
	joint := &driver.Command{Op: driver.OpRelease, Keys: []string{"r", "s"}}
	for _, enough := range []bool{true, false} {
		var known batch.Known
		var trial batch.Trial
		if trial.Bars(joint, known.Scripts()) || !trial.Bars(acquire, known.Scripts()) || !trial.Bars(release, known.Scripts()) {
			t.Fatal("only what has one key can do without a script")
		}
		if as, asks := trial.Again(&known); as != 0 || !asks {
			t.Errorf("asks %v, as %b", asks, as)
		}
		failed, found := 0, int64(setIfEq)
		if enough {
			found |= delIfEq
		}
		as, others := trial.Asked(&known, batch.Tried{Found: found, Heard: true}, []*driver.Command{joint, acquire, release}, func(*driver.Command) { failed++ })
		if enough != as.Has(batch.SetIfEq) || enough != (failed == 0) || enough != (len(others) == 3) || others[0] != joint {
			t.Errorf("enough %v: as %b, %d failed, %d are sent again", enough, as, failed, len(others))
		}
		if _, asks := trial.Again(&known); asks || trial.Bars(acquire, known.Scripts()) {
			t.Error("it is asked twice in a batch")
		}
		known.Forbade(true)
		var next batch.Trial
		if !enough && (next.Bars(release, known.Scripts()) || !next.Bars(acquire, known.Scripts())) {
			t.Error("of a node that has neither, acquires alone find out again")
		}
	}
}

// A node whose answer to the trial is lost may have plain commands all the same: the next release asks again.
func TestTrialWithoutAnswer(t *testing.T) {
	release := &driver.Command{Op: driver.OpRelease, Keys: []string{"r"}}
	var known batch.Known
	var trial, next batch.Trial
	trial.Bars(release, known.Scripts())
	trial.Again(&known)
	failed := false
	_, others := trial.Asked(&known, batch.Tried{Found: setIfEq}, []*driver.Command{release}, func(*driver.Command) { failed = true })
	if !failed || len(others) != 0 {
		t.Error("it is sent again, without knowing as what")
	}
	if !next.Bars(release, known.Scripts()) {
		t.Error("the node is taken for one that has nothing instead")
	}
}
