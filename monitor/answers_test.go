package monitor

import (
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/sim/redis"
)

// passes has a command to set keys pass, or the answer to it.
func passes(at redis.Passage, answer driver.Outcome, left time.Duration, together int, keys ...string) func(*actor) {
	return func(a *actor) {
		asked := &redis.Asked{Command: redis.Command{Intent: redis.Sets, Keys: keys, More: []string{"10", "v"}, Answer: answer,
			Deadline: a.reads().Add(left)}, Server: a.Servers[0], Client: a.client, Link: a.Network.Link("c1", "A"),
			Sent: a.Kernel.Now(), Together: together}
		for _, tell := range a.commands[at] {
			tell(at, asked)
		}
	}
}

// What is reported of a node is what it has answered.
func TestAnswersAreReportedAsTheyWere(t *testing.T) {
	sent, says := passes(redis.Sent, 0, time.Second, 1, "r"), func(answer driver.Outcome) func(*actor) {
		return passes(redis.Answered, answer, time.Second, 1, "r")
	}
	for _, c := range []struct {
		name     string
		does     []func(*actor)
		reported driver.Outcome
		want     string
	}{
		{"as it was", []func(*actor){sent, says(driver.Declined)}, driver.Declined, ""},
		{"the opposite", []func(*actor){sent, says(driver.Declined)}, driver.Accepted, "c1 reports that A is accepted to its acquire, and it has not answered so"},
		{"a failure", []func(*actor){sent, says(driver.Declined)}, driver.Failed, "c1 reports that A is failed to its acquire, and it has not answered so"},
		{"nothing", []func(*actor){sent}, driver.Declined, "c1 reports that A is declined to its acquire, and it has not answered so"},
		{"no answer", []func(*actor){sent}, driver.TimedOut, ""},
		{"an answer for none", []func(*actor){sent, says(driver.Accepted)}, driver.TimedOut, "c1 reports that A is timed out to its acquire, and it has answered in time"},
		{"a broken connection for one", []func(*actor){sent, says(driver.Accepted)}, driver.Refused, "c1 reports that A is refused to its acquire, and it has answered in time"},
		{"an answer too late", []func(*actor){sent, passes(redis.Answered, driver.Accepted, -time.Second, 1, "r")}, driver.TimedOut, ""},
		{"asked twice", []func(*actor){sent, sent, says(driver.Accepted)}, driver.TimedOut, ""},
		{"one of several commands", []func(*actor){sent, passes(redis.Answered, driver.Accepted, time.Second, 2, "r")}, driver.TimedOut, ""},
		{"one answer for several", []func(*actor){sent, passes(redis.Answered, driver.Accepted, time.Second, 1, "r", "r")}, driver.Declined, ""},
		{"an answer in part", []func(*actor){sent, says(driver.Unanswered)}, driver.Declined, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			x := &answers{run: r.Run, of: byValue[answersTo]{values: r.values}}
			r.steps = bySteps{} // nothing else follows the steps
			r.onCommand(x.passes, redis.Sent, redis.Answered, redis.Broken)
			r.goes("c1", time.Second, func(a *actor) {
				x.observed("c1", &observe.Event{Step: observe.AttemptStarted, Op: driver.OpAcquire, Resource: "r", Value: "v"})
				for _, does := range c.does {
					does(a)
				}
				x.observed("c1", &observe.Event{Step: observe.NodeAnswered, Op: driver.OpAcquire, Resource: "r", Value: "v",
					Node: observe.NodeOutcome{Node: "A", Outcome: c.reported}})
			})
			r.finds(t, checker.Contract, c.want)
		})
	}
}

// A node that was asked once may have answered another round than that which is reported.
func TestAnswersOfAnotherRound(t *testing.T) {
	for _, c := range []struct {
		begins observe.Step // AttemptStarted for nothing more
		want   string
	}{
		{observe.AttemptStarted, "c1 reports that A is refused to its acquire, and it has answered in time that it is accepted"},
		{observe.TokenRaised, ""},
	} {
		r := newRig(t)
		x := &answers{run: r.Run, of: byValue[answersTo]{values: r.values}}
		r.steps = bySteps{}
		r.onCommand(x.passes, redis.Sent, redis.Answered, redis.Broken)
		r.goes("c1", time.Second, func(a *actor) {
			x.observed("c1", &observe.Event{Step: observe.AttemptStarted, Op: driver.OpAcquire, Resource: "r", Value: "v"})
			if c.begins != observe.AttemptStarted {
				x.observed("c1", &observe.Event{Step: c.begins, Op: driver.OpAcquire, Resource: "r", Value: "v"})
			}
			passes(redis.Sent, 0, time.Second, 1, "r")(a)
			passes(redis.Answered, driver.Accepted, time.Second, 1, "r")(a)
			x.observed("c1", &observe.Event{Step: observe.NodeAnswered, Op: driver.OpAcquire, Resource: "r", Value: "v",
				Node: observe.NodeOutcome{Node: "A", Outcome: driver.Refused}})
		})
		r.finds(t, checker.Contract, c.want)
	}
}

// A release that is sent late is given up when its round is, although it may still be answered in time.
func TestReleasesAreGivenUpWithTheirRound(t *testing.T) {
	for answered, want := range map[time.Duration]string{
		49 * time.Millisecond: "c1 reports that A is timed out to its release, and it has answered in time that it is accepted",
		51 * time.Millisecond: "",
	} {
		r := newRig(t)
		x := &answers{run: r.Run, of: byValue[answersTo]{values: r.values}}
		r.steps = bySteps{}
		r.onCommand(x.passes, redis.Sent, redis.Answered, redis.Broken)
		r.goes("c1", time.Second, func(a *actor) {
			event := observe.Event{Step: observe.AttemptStarted, Op: driver.OpAcquire, Resource: "r", Value: "v"}
			x.observed("c1", &event)
			event.Step, event.Op = observe.ReleaseStarted, driver.OpRelease
			x.observed("c1", &event)
			asked := &redis.Asked{Command: redis.Command{Intent: redis.Deletes, Keys: []string{"r"}, More: []string{"v"},
				Deadline: a.reads().Add(60 * time.Millisecond)}, Server: a.Servers[0], Client: a.client, Link: a.Network.Link("c1", "A"), Together: 1}
			x.passes(redis.Sent, asked)
			a.sleeps(answered)
			asked.Answer = driver.Accepted
			x.passes(redis.Answered, asked)
			a.sleeps(10 * time.Millisecond)
			event.Step, event.Node = observe.NodeAnswered, observe.NodeOutcome{Node: "A", Outcome: driver.TimedOut}
			x.observed("c1", &event)
		})
		r.finds(t, checker.Contract, want)
	}
}

// How long a node took is reported as from the beginning of the attempt to its answer, by the client's clock.
func TestAnswersTookAsLongAsReported(t *testing.T) {
	for _, c := range []struct {
		outcome  driver.Outcome
		took     time.Duration
		isPaused bool // right after the attempt began
		want     string
	}{
		{driver.Declined, 30 * time.Millisecond, false, ""},
		{driver.Declined, 29 * time.Millisecond, true, ""},
		{driver.Declined, 29 * time.Millisecond, false, "c1 reports that A is declined to its acquire, and took 29ms for it, when it has answered after 30ms"},
		{driver.Accepted, 0, false, "c1 reports that A is accepted to its acquire, and took 0s for it, when it has answered after 30ms"},
		{driver.Failed, 29 * time.Millisecond, false, ""},
	} {
		r := newRig(t)
		x := &answers{run: r.Run, of: byValue[answersTo]{values: r.values}}
		r.steps = bySteps{}
		r.onCommand(x.passes, redis.Sent, redis.Answered, redis.Broken)
		r.goes("c1", time.Second, func(a *actor) {
			x.observed("c1", &observe.Event{Step: observe.AttemptStarted, Op: driver.OpAcquire, Resource: "r", Value: "v"})
			if c.isPaused {
				a.client.Pause()
				a.Kernel.After(time.Millisecond, a.client.Resume)
			}
			passes(redis.Sent, 0, time.Second, 1, "r")(a)
			a.sleeps(30 * time.Millisecond)
			passes(redis.Answered, c.outcome, time.Second, 1, "r")(a)
			a.sleeps(10 * time.Millisecond)
			x.observed("c1", &observe.Event{Step: observe.NodeAnswered, Op: driver.OpAcquire, Resource: "r", Value: "v",
				Node: observe.NodeOutcome{Node: "A", Outcome: c.outcome, Took: c.took}})
		})
		r.finds(t, checker.Contract, c.want)
	}
}

// A vote that comes when the lock was released is taken back only if the release does not delete it.
func TestVotesAreTakenBackIfNeedBe(t *testing.T) {
	const begins = "c1 takes a vote of A back, which its release deletes: the node has "
	deletes := func(at redis.Passage, answer driver.Outcome) func(*actor) {
		return func(a *actor) {
			asked := &redis.Asked{Command: redis.Command{Intent: redis.Deletes, Keys: []string{"r"}, More: []string{"v"}, Answer: answer,
				Deadline: a.reads().Add(50 * time.Millisecond)}, Server: a.Servers[0], Client: a.client, Link: a.Network.Link("c1", "A"), Sent: a.Kernel.Now(), Together: 1}
			for _, tell := range a.commands[at] {
				tell(at, asked)
			}
		}
	}
	sent, later := deletes(redis.Sent, 0), func(a *actor) { a.sleeps(60 * time.Millisecond) }
	for _, c := range []struct {
		name   string
		does   []func(*actor)
		raised bool
		want   string
	}{
		{"the release is still to be sent", nil, false, ""},
		{"it is not answered", []func(*actor){sent}, false, begins + "not answered yet"},
		{"it is not answered in time", []func(*actor){sent, later}, false, ""},
		{"it was sent late, and its round is given up", []func(*actor){func(a *actor) { a.sleeps(20 * time.Millisecond) }, sent,
			func(a *actor) { a.sleeps(35 * time.Millisecond) }}, false, ""},
		{"its connection broke", []func(*actor){sent, deletes(redis.Broken, 0)}, false, ""},
		{"it has deleted the key", []func(*actor){sent, deletes(redis.Answered, driver.Accepted)}, false, begins + "said so"},
		{"it has found no key", []func(*actor){sent, deletes(redis.Answered, driver.Declined)}, false, ""},
		{"it has deleted the key, and there are two tokens", []func(*actor){sent, deletes(redis.Answered, driver.Accepted)}, true, ""},
		{"it was sent twice", []func(*actor){sent, deletes(redis.Answered, driver.Accepted), sent}, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			x := &answers{run: r.Run, of: byValue[answersTo]{values: r.values}}
			r.steps = bySteps{}
			r.onCommand(x.passes, redis.Sent, redis.Answered, redis.Broken)
			r.goes("c1", time.Second, func(a *actor) {
				x.observed("c1", &observe.Event{Step: observe.AttemptStarted, Op: driver.OpAcquire, Resource: "r", Value: "v"})
				if c.raised {
					x.observed("c1", &observe.Event{Step: observe.TokenRaised, Op: driver.OpAcquire, Resource: "r", Value: "v", Token: 2})
				}
				x.observed("c1", &observe.Event{Step: observe.ReleaseStarted, Op: driver.OpRelease, Resource: "r", Value: "v"})
				for _, does := range c.does {
					does(a)
				}
				x.observed("c1", &observe.Event{Step: observe.TakenBack, Op: driver.OpRelease, Resource: "r", Value: "v", Node: observe.NodeOutcome{Node: "A", Outcome: driver.Accepted}})
			})
			r.finds(t, checker.Conduct, c.want)
		})
	}
}

// What was never sent is given up once a release has made it pointless.
func TestCommandsThatArePointlessAreDropped(t *testing.T) {
	const found = "c1 reports that A is timed out to its acquire, and its command was never sent, and pointless: the lock was let go of "
	for _, c := range []struct {
		name   string
		ends   observe.Step // of the attempt, after 10 ms
		after  time.Duration
		does   func(*actor)
		raised bool
		want   string
	}{
		{"at once", observe.ReleaseStarted, 0, nil, false, ""},
		{"held up by others", observe.ReleaseStarted, 12 * time.Millisecond, nil, false, ""},
		{"held up for longer", observe.ReleaseStarted, 13 * time.Millisecond, nil, false, found + "13ms"},
		{"after a refusal", observe.Denied, 13 * time.Millisecond, nil, false, found + "13ms"},
		{"in an attempt that goes on", observe.NodeAnswered, 30 * time.Millisecond, nil, false, ""},
		{"sent", observe.ReleaseStarted, 13 * time.Millisecond, passes(redis.Sent, 0, time.Second, 1, "r"), false, ""},
		{"in a client that was paused", observe.ReleaseStarted, 13 * time.Millisecond, func(a *actor) {
			a.client.Pause()
			a.Kernel.After(time.Millisecond, a.client.Resume)
		}, false, ""},
		{"of two tokens", observe.ReleaseStarted, 13 * time.Millisecond, nil, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			x := &answers{run: r.Run, of: byValue[answersTo]{values: r.values}}
			r.steps = bySteps{}
			r.onCommand(x.passes, redis.Sent, redis.Answered, redis.Broken)
			r.goes("c1", time.Second, func(a *actor) {
				acquire := observe.Event{Step: observe.AttemptStarted, Op: driver.OpAcquire, Resource: "r", Value: "v"}
				x.observed("c1", &acquire)
				if acquire.Step = observe.TokenRaised; c.raised {
					x.observed("c1", &acquire)
				}
				a.sleeps(10 * time.Millisecond)
				if acquire.Step = c.ends; c.ends != observe.NodeAnswered {
					x.observed("c1", &acquire)
				}
				if c.does != nil {
					c.does(a)
				}
				a.sleeps(c.after)
				acquire.Step, acquire.Node = observe.NodeAnswered, observe.NodeOutcome{Node: "A", Outcome: driver.TimedOut}
				x.observed("c1", &acquire)
			})
			r.finds(t, checker.Contract, c.want)
		})
	}
}
