package rules

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
			r.onCommand(x.passes, redis.Sent, redis.Answered)
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
		r.onCommand(x.passes, redis.Sent, redis.Answered)
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
		r.onCommand(x.passes, redis.Sent, redis.Answered)
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
