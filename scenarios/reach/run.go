package reach

import (
	"slices"
	"strings"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/sim/history"
)

// Of is what a run reached.
func Of(r *Run) Set {
	l := &look{Run: r, steps: map[string]bool{}, calls: map[int]*call{}, open: map[asking]int{}, extends: map[int]int{}, quarantined: map[string]bool{}}
	l.read()
	set := newSet()
	for i, e := range Table() {
		if e.reached(l) {
			set.add(i)
		}
	}
	return set
}

// look is a run, read once.
type look struct {
	*Run
	// steps are the library's steps by name, the answers of nodes by what they answer, and combinations of several events by
	// names of several words.
	steps map[string]bool

	calls       map[int]*call   // by their Ops
	open        map[asking]int  // how many acquires are under way
	extends     map[int]int     // how often a grant was extended
	quarantined map[string]bool // nodes that have refused a vote for being in quarantine
}

// asking is a client that asks for a resource.
type asking struct{ client, resource string }

// call is an operation under way.
type call struct {
	fn       history.Func
	asks     asking
	isBehind bool // another acquire of its client was under way when it began
	votes    int  // for the attempt under way
	isLost   bool // an attempt lost its quorum
	isDenied bool // nodes are now asked to release
	isLate   bool // an attempt was too late
}

func (l *look) note(is bool, name string) {
	if is {
		l.steps[name] = true
	}
}

func (l *look) read() {
	for i := range l.History {
		switch e := &l.History[i]; e.Kind {
		case history.Call:
			c := &call{fn: e.Func, asks: asking{e.Process, e.Resource}}
			l.calls[e.Op] = c
			if e.Func == history.Acquire {
				c.isBehind = l.open[c.asks] > 0
				l.open[c.asks]++
			}
		case history.Step:
			c := l.calls[e.Op]
			if c == nil {
				c = &call{} // it is over, or was none
			}
			l.readStep(e, c)
		case history.Return:
			l.readReturn(e)
			if e.Outcome == history.OK {
				l.note(e.Func == history.Acquire && e.Token > 0, "token granted")
				if e.Func == history.Extend {
					l.extends[e.Grant]++
					l.note(l.extends[e.Grant] > 1, "extended again")
				}
			}
		case history.Effect:
			l.note(e.Outcome == history.Failed && e.Token > 0, "effect refused")
		}
	}
}

// readReturn notes what a call returned.
func (l *look) readReturn(e *history.Event) {
	if c := l.calls[e.Op]; c != nil && e.Func == history.Acquire {
		l.open[c.asks]--
		l.note(c.isBehind && e.Outcome == history.OK, "served in turn")
	}
	for _, ends := range []struct {
		err  error
		name string
	}{{redlock.ErrClosed, "ended: closed"}, {redlock.ErrReleased, "ended: released"}} {
		l.note(strings.Contains(e.Detail, ends.err.Error()), ends.name)
	}
}

// The words of the library in a step's Detail.
var (
	tooLate    = redlock.ErrTooLate.Error()
	another    = driver.Declined.Of(driver.OpAcquire)
	voted      = driver.Accepted.Of(driver.OpAcquire)
	quarantine = driver.Quarantined.String()
	ended      = []string{"context canceled", "context deadline exceeded"}
)

func (l *look) readStep(e *history.Event, c *call) {
	l.note(true, e.Name)
	switch e.Name {
	case observe.AttemptStarted.String():
		c.votes, c.isDenied = 0, false
	case observe.NodeAnswered.String():
		l.readAnswer(e, c)
	case observe.QuorumLost.String():
		c.isLost = true
		l.note(c.fn == history.Acquire && c.votes > 0 && strings.Contains(e.Detail, another), "split votes")
		l.note(slices.ContainsFunc(ended, func(word string) bool { return strings.Contains(e.Detail, word) }), "gave up in flight")
	case observe.Granted.String():
		l.note(c.isLost, "granted again")
		l.note(c.isLate, "granted after too late")
		l.note(strings.Contains(e.Resource, ", "), "several granted")
	case observe.Denied.String():
		c.isDenied = true
		isLate := strings.Contains(e.Detail, tooLate)
		c.isLate = c.isLate || isLate
		l.note(isLate, "too late")
	case observe.NotExtended.String():
		l.note(len(l.extends) > 0, "not extended again")
	case observe.Released.String():
		l.note(e.Detail != "", "release not confirmed")
	}
}

// readAnswer notes what a node answered, by what it was asked for.
func (l *look) readAnswer(e *history.Event, c *call) {
	asked := "late"
	switch {
	case c.fn == history.Acquire && !c.isDenied:
		asked = "vote"
	case c.fn == history.Extend:
		asked = "extend"
	case c.fn != "":
		asked = "release"
	}
	l.note(asked == "late", "late")
	if !l.steps[asked+": "+e.Detail] { // which makes no string of them
		l.note(true, asked+": "+e.Detail)
	}
	switch {
	case e.Detail == quarantine:
		l.quarantined[e.Node] = true
	case e.Detail == voted && asked == "vote":
		c.votes++
		l.note(l.quarantined[e.Node], "quarantine over")
	}
}

// Premises is how often each rule of the checker had something to judge in a run, by its name in the table: a rule that had
// nothing to judge finds nothing, whatever the lock does.
func Premises(r *checker.Report) map[string]int {
	all := map[string]int{}
	for _, e := range Table() {
		if e.Kind == Rule {
			all[e.Name] = e.judged(r)
		}
	}
	return all
}
