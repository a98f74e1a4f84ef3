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

// A command is held up by as many unanswered ones as the limit says, and by no fewer.
func TestCommandsWaitForOthersOnly(t *testing.T) {
	const late = "c1 sends A a command 5ms after the first of its round, although fewer than 1 commands that could hold it up were unanswered for 5ms"
	for _, c := range []struct {
		name    string
		answers time.Duration // after which A answers another command, sent right before; negative if there is none
		waits   time.Duration // before the command is sent to A, as it is to B at once
		want    string
	}{
		{"at once", -1, 0, ""},
		{"late", -1, 5 * time.Millisecond, late},
		{"behind another", 5 * time.Millisecond, 5 * time.Millisecond, ""},
		{"longer than that", 5 * time.Millisecond, 6 * time.Millisecond, "c1 sends A a command 6ms after the first of its round"},
		{"before that", 5 * time.Millisecond, 4 * time.Millisecond, "c1 sends A a command while 1 are unanswered, and others wait from 1 on"},
		{"behind silence", time.Minute, 12500 * time.Microsecond, ""},
		{"behind silence for too long", time.Minute, 13 * time.Millisecond, "c1 sends A a command 13ms after the first of its round, although fewer than 1 commands that could hold it up were unanswered for 500µs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, func(own *protocols.RedlockSettings) { own.Batching = 1 })
			x := &queueing{run: r.Run, limit: 1, patience: r.Lock.NodeTimeout / 4, rounds: byValue[[redis.Deletes + 1]roundSent]{values: r.values}}
			r.goes("c1", time.Second, func(a *actor) {
				start := a.Kernel.Now()
				command := func(node int, value string) *redis.Asked {
					return &redis.Asked{Command: redis.Command{Intent: redis.Sets, Keys: []string{"r"}, Value: value, Deadline: a.reads().Add(time.Second)},
						Server: a.Servers[node], Client: a.client, Link: a.Network.Link("c1", a.Servers[node].Name()), Sent: a.Kernel.Now(), Together: 1}
				}
				x.stepped("c1", &observe.Event{Step: observe.AttemptStarted, Value: "v"})
				x.stepped("c1", &observe.Event{Step: observe.AttemptStarted, Value: "before"})
				first := command(0, "before")
				if c.answers >= 0 {
					x.passes(redis.Sent, first)
				}
				x.passes(redis.Sent, command(1, "v"))
				for _, at := range []time.Duration{min(c.answers, c.waits), c.waits} {
					a.sleeps(at - a.Kernel.Now().Sub(start))
					if c.answers >= 0 && a.Kernel.Now().Sub(start) >= c.answers {
						first.Answer, first.Settled = driver.Accepted, true
						x.passes(redis.Answered, first)
					}
				}
				x.passes(redis.Sent, command(0, "v"))
			})
			r.finds(t, checker.Conduct, c.want)
		})
	}
}

// What is sent at the moment of a failure may be what failed, once more, and not the command of the round that has begun
// meanwhile.
func TestWhatIsSentAgainIsNoFirst(t *testing.T) {
	for answer, want := range map[driver.Outcome]string{
		driver.Failed: "", driver.Unanswered: "", driver.Accepted: "c1 sends A a command while 1 are unanswered, and others wait from 1 on",
	} {
		r := newRig(t, func(own *protocols.RedlockSettings) { own.Batching = 1 })
		x := &queueing{run: r.Run, limit: 1, patience: r.Lock.NodeTimeout / 4, rounds: byValue[[redis.Deletes + 1]roundSent]{values: r.values}}
		r.goes("c1", time.Second, func(a *actor) {
			command := func(intent redis.Intent) *redis.Asked {
				return &redis.Asked{Command: redis.Command{Intent: intent, Keys: []string{"r"}, Value: "v", Deadline: a.reads().Add(time.Second)},
					Server: a.Servers[0], Client: a.client, Link: a.Network.Link("c1", "A"), Sent: a.Kernel.Now(), Together: 1}
			}
			x.stepped("c1", &observe.Event{Step: observe.AttemptStarted, Value: "v"})
			first := command(redis.Sets)
			x.passes(redis.Sent, first)
			a.sleeps(time.Millisecond)
			x.stepped("c1", &observe.Event{Step: observe.TokenRaised, Value: "v"})
			a.sleeps(time.Millisecond)
			first.Answer, first.Settled = answer, true
			x.passes(redis.Answered, first)
			x.passes(redis.Sent, command(redis.Sets))
			a.sleeps(time.Millisecond)
			x.passes(redis.Sent, command(redis.Deletes))
		})
		r.finds(t, checker.Conduct, want)
	}
}

// A command is unanswered as long as any of its message is: the adapter hands on the answers of a message together.
func TestPartsOfAnAnswerHoldUpOthers(t *testing.T) {
	for settled, want := range map[bool]string{
		false: "", true: "c1 sends A a command 5ms after the first of its round, although fewer than 1 commands that could hold it up were unanswered for 5ms",
	} {
		r := newRig(t, func(own *protocols.RedlockSettings) { own.Batching = 1 })
		x := &queueing{run: r.Run, limit: 1, patience: r.Lock.NodeTimeout / 4, rounds: byValue[[redis.Deletes + 1]roundSent]{values: r.values}}
		r.goes("c1", time.Second, func(a *actor) {
			command := func(node int, value string) *redis.Asked {
				return &redis.Asked{Command: redis.Command{Intent: redis.Sets, Keys: []string{"r"}, Value: value, Deadline: a.reads().Add(time.Second)},
					Server: a.Servers[node], Client: a.client, Link: a.Network.Link("c1", a.Servers[node].Name()), Sent: a.Kernel.Now(), Together: 2}
			}
			x.stepped("c1", &observe.Event{Step: observe.AttemptStarted, Value: "before"})
			x.stepped("c1", &observe.Event{Step: observe.AttemptStarted, Value: "v"})
			first := command(0, "before")
			x.passes(redis.Sent, first)
			x.passes(redis.Sent, command(1, "v"))
			first.Answer, first.Settled = driver.Accepted, settled
			x.passes(redis.Answered, first)
			a.sleeps(5 * time.Millisecond)
			x.passes(redis.Sent, command(0, "v"))
		})
		r.finds(t, checker.Conduct, want)
	}
}

// A release that is sent at the moment of a failure may be the first to its node, so that the next one is not.
func TestWhatIsSentAtAFailureMayBeTheFirst(t *testing.T) {
	for answer, want := range map[driver.Outcome]string{
		driver.Failed: "", driver.Unanswered: "c1 sends A a command 10ms after the first of its round",
	} {
		r := newRig(t, func(own *protocols.RedlockSettings) { own.Batching = 1 })
		x := &queueing{run: r.Run, limit: 4, patience: r.Lock.NodeTimeout / 4, rounds: byValue[[redis.Deletes + 1]roundSent]{values: r.values}}
		r.goes("c1", time.Second, func(a *actor) {
			command := func(node int, intent redis.Intent) *redis.Asked {
				return &redis.Asked{Command: redis.Command{Intent: intent, Keys: []string{"r"}, Value: "v", Deadline: a.reads().Add(time.Second)},
					Server: a.Servers[node], Client: a.client, Link: a.Network.Link("c1", a.Servers[node].Name()), Sent: a.Kernel.Now(), Together: 1}
			}
			x.stepped("c1", &observe.Event{Step: observe.AttemptStarted, Value: "v"})
			vote := command(0, redis.Sets)
			x.passes(redis.Sent, vote)
			x.passes(redis.Sent, command(1, redis.Deletes))
			if answer == driver.Failed {
				vote.Answer, vote.Settled = answer, true
				x.passes(redis.Answered, vote)
				x.passes(redis.Sent, command(0, redis.Deletes))
			}
			a.sleeps(10 * time.Millisecond)
			x.passes(redis.Sent, command(0, redis.Deletes))
		})
		r.finds(t, checker.Conduct, want)
	}
}

// A release that has waited is given up with its round, and nobody knows whether it still holds up others.
func TestReleasesThatHaveWaited(t *testing.T) {
	for waited, want := range map[time.Duration]string{
		0: "c1 sends A a command while 1 are unanswered, and others wait from 1 on", 20 * time.Millisecond: "",
	} {
		r := newRig(t, func(own *protocols.RedlockSettings) { own.Batching = 1 })
		x := &queueing{run: r.Run, limit: 1, patience: r.Lock.NodeTimeout / 4, rounds: byValue[[redis.Deletes + 1]roundSent]{values: r.values}}
		r.goes("c1", time.Second, func(a *actor) {
			command := func(intent redis.Intent, value string) *redis.Asked {
				return &redis.Asked{Command: redis.Command{Intent: intent, Keys: []string{"r"}, Value: value, Deadline: a.reads().Add(50 * time.Millisecond)},
					Server: a.Servers[0], Client: a.client, Link: a.Network.Link("c1", "A"), Sent: a.Kernel.Now(), Together: 1}
			}
			x.stepped("c1", &observe.Event{Step: observe.AttemptStarted, Value: "v"})
			x.stepped("c1", &observe.Event{Step: observe.AttemptStarted, Value: "w"})
			x.stepped("c1", &observe.Event{Step: observe.ReleaseStarted, Value: "v"})
			a.sleeps(waited)
			x.passes(redis.Sent, command(redis.Deletes, "v"))
			a.sleeps(5 * time.Millisecond)
			x.passes(redis.Sent, command(redis.Sets, "w"))
		})
		r.finds(t, checker.Conduct, want)
	}
}
