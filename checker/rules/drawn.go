package rules

import (
	"time"

	"redlocksim/checker"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
)

// drawn judges how long a call of a lock that is not the library's sends nothing between two attempts, even if it reports
// none: no longer than the longest delay of its settings, and not for the same time whenever a delay is drawn. Clients whose
// delays are all alike ask at the same moments, and get in each other's way for as long as they try.
type drawn struct {
	run   *Run
	delay protocols.Range // what delays are drawn from or, if they grow, the first of each call
	grows bool
	open  *openCalls[*waiting]
	// count counts the delays so far, first was the first of them, and same counts those that were as long as that.
	count, same int
	first       time.Duration
}

// waiting is a call that has not returned, and the last thing that its client did.
type waiting struct {
	openCall
	last   kernel.Mono
	at     kernel.True
	silent inFlight
	delays int // that it has waited for
}

func watchDrawn(r *Run) {
	if r.Foreign || r.isLibrary() || r.StepTime > 0 || !protocols.Has[protocols.RetrySettings](r.Lock) || r.Lock.Capabilities().Agree {
		return // where nodes agree, clients also wait between two requests of an attempt
	}
	own := protocols.Of[protocols.RetrySettings](r.Lock)
	x := &drawn{run: r, delay: own.RetryDelay, grows: !own.Backoff.Ratio().IsZero()}
	if x.grows {
		x.delay.Max = min(2*x.delay.Min, x.delay.Max)
	}
	x.open = openCallsOf(r, func(c openCall) *waiting {
		return &waiting{openCall: c, last: c.client.Mono(), at: r.World.Kernel.Now()}
	})
	r.onRequest(x.sent)
	r.onHeard(x.heard)
}

func (x *drawn) sent(m network.Sent) {
	for _, w := range x.open.all {
		if w.client != m.From() {
			continue
		}
		if w.Waits && w.isAlone && len(w.silent) == 0 && x.run.pauses.hasRun(w.client, w.at) {
			x.waited(w, time.Duration(w.client.Mono()-w.last))
		}
		if w.client.Mono() > w.last {
			w.delays++
		}
		w.silent.sent(m.Exchange)
		w.does(x.run)
	}
}

func (x *drawn) heard(m network.Ended) {
	for _, w := range x.open.all {
		if w.silent.ends(m.Exchange) {
			w.does(x.run)
		}
	}
}

func (w *waiting) does(r *Run) { w.last, w.at = w.client.Mono(), r.World.Kernel.Now() }

// waited judges a delay.
func (x *drawn) waited(w *waiting, d time.Duration) {
	switch {
	case d == 0: // the same attempt goes on
		return
	case x.grows && w.delays > 0:
		return
	case d > x.delay.Max+rounding:
		x.run.broken(checker.Conduct, w.Resources[0], "%s waits for %v before it asks again, and is to wait for %v at most", w.Client, d, x.delay.Max)
		return
	case x.delay.Max-x.delay.Min < time.Millisecond: // there is nothing to draw
		return
	}
	x.run.Judged[checker.JudgeDrawn]++
	if x.count++; x.count == 1 {
		x.first = d
	}
	if d == x.first {
		x.same++
	}
	if x.count == sameDelays && x.same == sameDelays {
		x.run.broken(checker.Conduct, w.Resources[0], "the first %d delays are all %v, and are to be drawn from %v to %v", sameDelays, d, x.delay.Min, x.delay.Max)
	}
}

// sameDelays are more delays than are ever the same if they are drawn.
const sameDelays = 3
