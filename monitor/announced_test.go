package monitor

import (
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/redis"
)

func TestReleasesArePublished(t *testing.T) {
	const (
		silent = `c1 releases its key on A and does not publish that, although waiting clients are to be told`
		vain   = `A publishes a release of "r", although no holder has released it there, or nobody is to be told`
	)
	releases := observe.Event{Step: observe.ReleaseStarted, Op: driver.OpRelease, Resource: "r", Value: "v"}
	takesBack := observe.Event{Step: observe.TakenBack, Op: driver.OpRelease, Resource: "r", Value: "v", Node: observe.NodeOutcome{Node: "A"}}
	for _, c := range []struct {
		name              string
		wakes, isAnswered bool // by the node, with a message
		steps             []observe.Event
		want              string
	}{
		{"a release", true, true, []observe.Event{releases}, ""},
		{"in silence", true, false, []observe.Event{releases}, silent},
		{"a failed attempt", true, false, nil, ""},
		{"a failed attempt that is announced", true, true, nil, vain},
		{"taken back", true, false, []observe.Event{releases, takesBack}, ""},
		{"taken back and announced", true, true, []observe.Event{releases, takesBack}, ""},
		{"without the wake-up", false, false, []observe.Event{releases}, ""},
		{"announced without the wake-up", false, true, []observe.Event{releases}, vain},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, func(own *protocols.RedlockSettings) {
				if c.wakes {
					own.WakeUp = 10 * time.Millisecond
				}
			})
			r.onApplied = append(r.onApplied, func(a *redis.Applied) {
				if c.isAnswered && a.Removed() {
					a.Server.Publish(driver.WakeChannel("r"), "")
				}
			})
			r.goes("c1", 0, func(a *actor) {
				a.sets("A", "v")
				for _, e := range c.steps {
					a.Observed("c1", e)
				}
				a.asks("A", "DEL", "r")
			})
			r.finds(t, checker.Contract, c.want)
		})
	}
}
