package monitor

import (
	"errors"
	"maps"
	"slices"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
)

// unasked judges the reason for which a call is refused that gave up before it asked: its client has the lock itself, or was
// refused for that reason since it last was granted it.
type unasked struct {
	run   *Run
	lines map[counted]*refusedFor
}

// refusedFor is what became of a client's attempts for some resources.
type refusedFor struct {
	held    []string // the values of its leases, until they are released or lost
	reasons []error  // since the last grant
}

func watchUnasked(r *Run) {
	if !r.isLibrary() || r.StepTime > 0 {
		return
	}
	x := &unasked{run: r, lines: map[counted]*refusedFor{}}
	r.onStep(x.stepped, observe.Granted, observe.Released, observe.Lost, observe.Denied)
	r.onReturn = append(r.onReturn, x.returned)
	r.onCrash = append(r.onCrash, func(client string) {
		maps.DeleteFunc(x.lines, func(of counted, _ *refusedFor) bool { return of.client == client })
	})
}

func (x *unasked) line(client, resource string) *refusedFor {
	of := x.lines[counted{client, resource}]
	if of == nil {
		of = &refusedFor{}
		x.lines[counted{client, resource}] = of
	}
	return of
}

func (x *unasked) stepped(client string, e *observe.Event) {
	switch e.Step {
	case observe.Granted:
		of := x.line(client, e.Resource)
		of.held, of.reasons = append(of.held, e.Value), nil
	case observe.Released, observe.Lost:
		of := x.line(client, e.Resource)
		of.held = slices.DeleteFunc(of.held, func(value string) bool { return value == e.Value })
	case observe.Denied:
		var failed *redlock.Error
		if of := x.line(client, e.Resource); errors.As(e.Err, &failed) && !slices.Contains(of.reasons, failed.Reason) {
			of.reasons = append(of.reasons, failed.Reason)
		}
	}
}

func (x *unasked) returned(c *protocols.Call, err error) {
	var failed *redlock.Error
	if c.Func != protocols.AcquireCall || !errors.As(err, &failed) || failed.Op != driver.OpAcquire || failed.Attempts > 0 || failed.Reason == nil || x.run.clients.number(c.Client) > 0 {
		return
	}
	x.run.Judged[checker.JudgeUnasked]++
	of := x.line(c.Client, nameOf(c))
	if failed.Reason == redlock.ErrTaken && len(of.held) > 0 || slices.Contains(of.reasons, failed.Reason) {
		return
	}
	x.run.broken(checker.Contract, c.Resources[0], "%s never asked for the lock and gives up for a reason for which it was not refused since its last grant: %v", c.Client, failed)
}
