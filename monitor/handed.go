package monitor

import (
	"slices"

	"redlocksim/checker"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
)

// handed judges what becomes of that which callers hand to a call: their list of resources is left as it is, the context of a
// lease has the values of theirs, and nothing hangs on their context any more when the call returns, which may be that of a
// whole program.
type handed struct {
	run   *Run
	lists map[*protocols.Call][]string
	works []*protocols.Work // that have not returned
}

func watchHanded(r *Run) {
	if !r.isLibrary() {
		return
	}
	x := &handed{run: r, lists: map[*protocols.Call][]string{}}
	r.onCall = append(r.onCall, func(c *protocols.Call) {
		if len(c.Resources) > 1 {
			x.lists[c] = slices.Clone(c.Resources)
		}
	})
	r.onReturn = append(r.onReturn, x.returned)
	r.onWork = append(r.onWork, func(w *protocols.Work) { x.works = append(x.works, w) })
	r.onWorked = append(r.onWorked, x.worked)
}

func (x *handed) returned(c *protocols.Call, _ error) {
	before, several := x.lists[c]
	delete(x.lists, c)
	switch {
	case several && !slices.Equal(before, c.Resources):
		x.run.broken(checker.Contract, c.Resources[0], "%s asks for the lock on %s, and finds its list of resources changed, to %s", c.Client,
			and(quoted(before)), and(quoted(c.Resources)))
	case c.Lease != nil && c.Bare:
		x.run.broken(checker.Contract, c.Resources[0], "the context of the lease that %s is granted has not the values of the context of its call", c.Client)
	case c.Func == protocols.AcquireCall && c.Lease != nil: // it may go on, with work
	case c.Permit != nil: // in the context of a call that goes on
	case c.Context != nil && !x.isShared(c):
		x.run.Judged[checker.JudgeHanded]++
		if n := kernel.Derived(c.Context); n > 0 {
			x.run.broken(checker.Contract, x.run.subjectOf(c), "%s's %s has returned, and leaves contexts behind that hang on its own: %d", c.Client, callNames[c.Func], n)
		}
	}
}

// isShared says whether work goes on in the context of a call, or in one below it.
func (x *handed) isShared(c *protocols.Call) bool {
	return slices.ContainsFunc(x.works, func(w *protocols.Work) bool { return w.Context == c.Context || w.Lease == c.Lease })
}

func (x *handed) worked(done *protocols.Work, _ error) {
	x.works = slices.DeleteFunc(x.works, func(w *protocols.Work) bool { return w == done })
	if done.Context == nil || slices.ContainsFunc(x.works, func(w *protocols.Work) bool { return w.Context == done.Context }) {
		return
	}
	x.run.Judged[checker.JudgeHanded]++
	if n := kernel.Derived(done.Context); n > 0 {
		x.run.broken(checker.Contract, done.Resource, "%s has done work under the lock, and the call leaves contexts behind that hang on its own: %d", done.Client, n)
	}
}
