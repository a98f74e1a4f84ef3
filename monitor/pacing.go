package monitor

import (
	"errors"
	"maps"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
)

// pacing judges when the calls of a client that wait for the same resources leave other processes their turn: after so many
// grants in a row, for what is left of a retry delay whose caller has given up, and after two attempts in a row that their
// callers cut short. They give way then, and for nothing else. How long a retry itself waits is for retries to judge.
type pacing struct {
	run   *Run
	lock  protocols.RedlockSettings
	open  []*protocols.Call // acquires that have not returned
	lines map[line]*paced
	waits map[string]membership // of calls, by their name
}

// line is the queue of a client's calls that wait for the same resources.
type line struct{ client, name string }

// localGrants is how many grants in a row the calls of a client get, as the documentation of Lock says.
const localGrants = 16

// paced is what has come to pass in a line.
type paced struct {
	// grants are those in a row, and cuts the attempts in a row that ended with their callers.
	grants, cuts bounds
	cutAt        time.Time // when the last of these ended
	rest         time.Time // the end of the last delay that was told
}

// bounds are those of a count of attempts, of some of which nobody knows whether they were made by a call of the line.
type bounds struct{ least, most int }

// membership says whether a call waits in a line.
type membership uint8

const (
	unknownMember membership = iota
	isMember
	noMember
)

// add counts an attempt of a call.
func (b *bounds) add(m membership) {
	if m == isMember {
		b.least++
	}
	if m != noMember {
		b.most++
	}
}

// end ends the row, if the attempt that does so was one of the line's.
func (b *bounds) end(m membership) {
	if m != noMember {
		b.least = 0
	}
	if m == isMember {
		b.most = 0
	}
}

func watchPacing(r *Run) {
	if !r.isLibrary() || r.StepTime > 0 {
		return
	}
	x := &pacing{run: r, lock: protocols.Of[protocols.RedlockSettings](r.Lock), lines: map[line]*paced{}, waits: map[string]membership{}}
	r.onStep(x.stepped, observe.AttemptStarted, observe.Granted, observe.Denied, observe.Retrying, observe.Queued, observe.Yielding)
	r.onCall = append(r.onCall, x.called)
	r.onReturn = append(r.onReturn, x.returned)
	r.onCrash = append(r.onCrash, x.forget)
}

// forget begins anew with a client.
func (x *pacing) forget(client string) {
	maps.DeleteFunc(x.lines, func(l line, _ *paced) bool { return l.client == client })
	x.open = slices.DeleteFunc(x.open, func(c *protocols.Call) bool { return c.Client == client })
}

func (x *pacing) line(client, name string) *paced {
	of := line{client, name}
	if x.lines[of] == nil {
		x.lines[of] = &paced{}
	}
	return x.lines[of]
}

func (x *pacing) called(c *protocols.Call) {
	if c.Func == protocols.AcquireCall {
		x.open = append(x.open, c)
	}
}

// returned ends a call. A line that nobody stands in may be gone, and what was counted in it with it. A call can also fail in
// an attempt that nobody is told of, because nothing was sent.
func (x *pacing) returned(c *protocols.Call, err error) {
	i := slices.Index(x.open, c)
	if i < 0 {
		return
	}
	x.open = slices.Delete(x.open, i, i+1)
	l := x.line(c.Client, nameOf(c))
	if told := (*redlock.Error)(nil); c.Waits && errors.As(err, &told) && told.Cause != nil {
		l.cuts.most++
	}
	if !slices.ContainsFunc(x.open, func(o *protocols.Call) bool { return o.Waits && o.Client == c.Client && nameOf(o) == nameOf(c) }) {
		l.grants.least, l.cuts.least = 0, 0
	}
}

// membership says whether the call of a step waits in its line: TryLock does not.
func (x *pacing) membership(client string, e *observe.Event) membership {
	if m, known := x.waits[e.Call]; known {
		return m
	}
	var waiting, others bool
	for _, c := range x.open {
		if c.Client == client && nameOf(c) == e.Resource {
			waiting, others = waiting || c.Waits, others || !c.Waits
		}
	}
	m := unknownMember
	switch {
	case !others:
		m = isMember
	case !waiting:
		m = noMember
	}
	x.waits[e.Call] = m
	return m
}

func (x *pacing) stepped(client string, e *observe.Event) {
	if x.run.clients.number(client) > 0 {
		return
	}
	switch e.Step {
	case observe.AttemptStarted, observe.Granted, observe.Denied:
		x.attempts(client, x.line(client, e.Resource), x.membership(client, e), e)
	case observe.Retrying:
		x.waits[e.Call] = isMember
		x.line(client, e.Resource).rest = x.run.clock(client).Add(e.Delay)
	case observe.Queued:
		x.waits[e.Call] = isMember
	case observe.Yielding:
		x.waits[e.Call] = isMember
		x.yields(client, x.line(client, e.Resource), e)
	}
}

// attempts takes the first step of an attempt, or the last.
func (x *pacing) attempts(client string, l *paced, m membership, e *observe.Event) {
	var failed *redlock.Error
	switch isCut := errors.As(e.Err, &failed) && failed.Cause != nil; {
	case e.Step == observe.AttemptStarted && m == isMember:
		x.asks(client, l, e)
	case e.Step == observe.Granted:
		l.grants.add(m)
		l.cuts.end(m)
	case isCut:
		l.cuts.add(m)
		if m == isMember {
			l.cutAt = x.run.clock(client)
		}
	case e.Step == observe.Denied:
		l.cuts.end(m)
		if failed != nil && failed.Reason == redlock.ErrTaken {
			l.grants.end(m)
		}
	}
}

// asks judges whether a call of a line may ask now. After each second attempt in a row that was cut short it must have waited,
// and after the others it need not; so the number of those in a row must be known.
func (x *pacing) asks(client string, l *paced, e *observe.Event) {
	x.run.Judged[checker.JudgePacing]++
	shortest := x.lock.RetryDelay.Min
	switch since := x.run.clock(client).Sub(l.cutAt); {
	case l.grants.least >= localGrants && shortest > 0:
		x.run.broken(checker.Conduct, resourcesOf(e.Resource)[0], "%s asks for the lock on %s after %d grants in a row, and other processes had no turn", client, e.Resource, l.grants.least)
	case l.cuts.least >= 2 && l.cuts.least == l.cuts.most && l.cuts.least%2 == 0 && since < shortest && x.lock.WakeUp == 0:
		x.run.broken(checker.Conduct, resourcesOf(e.Resource)[0], "%s asks for the lock on %s %v after the second attempt in a row that its caller cut short, and must wait for %v at least",
			client, e.Resource, since, shortest)
	}
}

// yields judges whether a call of a line may give way now.
func (x *pacing) yields(client string, l *paced, e *observe.Event) {
	x.run.Judged[checker.JudgePacing]++
	end := x.run.clock(client).Add(e.Delay)
	switch isRest := !l.rest.IsZero() && !end.After(l.rest.Add(rounding)); {
	case isRest, l.cuts.most >= 2:
	case l.grants.most < localGrants:
		x.run.broken(checker.Conduct, resourcesOf(e.Resource)[0], "%s does not ask for the lock on %s for %v, after %d grants in a row: it gives way after %d",
			client, e.Resource, e.Delay, l.grants.most, localGrants)
	case l.grants.least >= localGrants:
		l.grants.most = 0
	}
	l.grants.least, l.rest = 0, end
}
