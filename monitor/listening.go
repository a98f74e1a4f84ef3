package monitor

import (
	"maps"

	"redlocksim/checker"
	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
)

// listening judges for how long the library of a client listens for releases: until the last call that waits for the lock has
// returned, so that nothing of that is left when the client is closed.
type listening struct {
	run   *Run
	waits map[waits]int
}

// waits is a client that waits for a lock on a resource, with so many calls.
type waits struct{ client, resource string }

func watchListening(r *Run) {
	if !r.isLibrary() || protocols.Of[protocols.RedlockSettings](r.Lock).WakeUp == 0 {
		return
	}
	x := &listening{run: r, waits: map[waits]int{}}
	r.onCall = append(r.onCall, x.called)
	r.onReturn = append(r.onReturn, x.returned)
	r.onCrash = append(r.onCrash, func(client string) {
		maps.DeleteFunc(x.waits, func(of waits, _ int) bool { return of.client == client })
	})
}

func (x *listening) called(c *protocols.Call) {
	if c.Func != protocols.AcquireCall || !c.Waits {
		return
	}
	for _, name := range c.Resources {
		x.waits[waits{c.Client, name}]++
	}
}

func (x *listening) returned(c *protocols.Call, _ error) {
	if c.Func != protocols.AcquireCall || !c.Waits {
		return
	}
	client := x.run.World.Client(c.Client)
	for _, name := range c.Resources {
		of := waits{c.Client, name}
		x.waits[of]--
		if x.waits[of] == 0 {
			x.run.Judged[checker.JudgeListening]++
		}
		if n := x.run.World.Listening(client, driver.WakeChannel(name)); x.waits[of] == 0 && n > 0 {
			x.run.broken(checker.Contract, name, "%s listens for releases of %q on %d nodes, and no call of it waits for that", c.Client, name, n)
		}
	}
}
