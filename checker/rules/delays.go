package rules

import (
	"math"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

// delays judges when a lock that is not the library's asks again, and how often: not before the delay of its settings has
// passed, which grows if they say so, and no more attempts than they allow.
type delays struct {
	run   *Run
	own   protocols.RetrySettings
	calls map[int]*tried // by the acquire
}

// tried is the last attempt of a call.
type tried struct {
	number int
	at     kernel.Mono // of its client
}

func watchDelays(r *Run) {
	if r.Foreign || r.isLibrary() || r.StepTime > 0 || !protocols.Has[protocols.RetrySettings](r.Lock) {
		return
	}
	x := &delays{run: r, own: protocols.Of[protocols.RetrySettings](r.Lock), calls: map[int]*tried{}}
	r.onEvent(x.saw)
}

func (x *delays) saw(e *history.Event) {
	switch {
	case e.Kind == history.Return:
		delete(x.calls, e.Op)
	case e.Kind == history.Step && e.Name == observe.AttemptStarted.String():
		this := &tried{int(e.Number), x.run.World.Client(e.Process).Mono()}
		x.judge(e, x.calls[e.Op], this)
		x.calls[e.Op] = this
	}
}

func (x *delays) judge(e *history.Event, last, this *tried) {
	number := 1
	if last != nil {
		x.run.Judged[checker.JudgeDelays]++
		number = last.number + 1
	}
	switch {
	case this.number != number:
		x.run.broken(checker.Contract, e.Resource, "%s reports attempt %d, and it is its attempt %d", e.Process, this.number, number)
	case x.own.Attempts > 0 && number > x.own.Attempts:
		x.run.broken(checker.Conduct, e.Resource, "%s makes attempt %d, and may make %d", e.Process, number, x.own.Attempts)
	case last == nil:
	case time.Duration(this.at-last.at) < x.least(last.number)-rounding:
		x.run.broken(checker.Conduct, e.Resource, "%s makes attempt %d %v after the one before, and is to wait for %v at least", e.Process, number,
			time.Duration(this.at-last.at), x.least(last.number))
	}
}

// least is the shortest delay after an attempt.
func (x *delays) least(number int) time.Duration {
	growth, _ := x.own.Backoff.Ratio().Float64()
	grown := float64(x.own.RetryDelay.Min) * math.Pow(1+growth, float64(number-1))
	return time.Duration(min(grown, float64(x.own.RetryDelay.Max)))
}
