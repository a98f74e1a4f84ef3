package monitor

import (
	"redlocksim/checker"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"testing"
	"time"
)

func TestStepsFollowFromEachOther(t *testing.T) {
	acquire, extend, release := driver.OpAcquire, driver.OpExtend, driver.OpRelease
	reached := func(op driver.Op) []observe.Event {
		return []observe.Event{{Step: observe.QuorumReached, Op: op, Accepted: 2, Quorum: 2}, {Step: observe.ValidityComputed, Op: op, Validity: 1}}
	}
	late := observe.Event{Step: observe.NodeAnswered, Op: acquire, Late: true, Node: observe.NodeOutcome{Node: "C", Outcome: driver.Accepted}}
	of := func(s observe.Step) observe.Event {
		return observe.Event{Step: s, Node: observe.NodeOutcome{Node: "C", Outcome: driver.Accepted}}
	}
	granted := append(append([]observe.Event{of(observe.AttemptStarted)}, reached(acquire)...), of(observe.Granted))
	denied := []observe.Event{of(observe.AttemptStarted), of(observe.QuorumLost), of(observe.Denied)}
	extended := append(append([]observe.Event{of(observe.ExtendStarted)}, reached(extend)...), of(observe.Extended))
	released := []observe.Event{of(observe.ReleaseStarted), {Step: observe.Released, Op: release, Accepted: 2, Quorum: 2}}
	all := func(parts ...[]observe.Event) (events []observe.Event) {
		for _, p := range parts {
			events = append(events, p...)
		}
		return events
	}
	one := func(s observe.Step) []observe.Event { return []observe.Event{of(s)} }
	for _, c := range []struct {
		name   string
		events []observe.Event
		want   string
	}{
		{"a lock", all(granted, extended, one(observe.ExtendStarted), one(observe.NotExtended), released), ""},
		{"a refusal", all(denied, one(observe.Retrying), one(observe.GaveUp)), ""},
		{"a late vote", all(granted, []observe.Event{late}, one(observe.Joined), released), ""},
		{"a vote taken back", all(denied, []observe.Event{late}, one(observe.TakenBack)), ""},
		{"lost, and released", all(granted, one(observe.Lost), released), ""},
		{"the same value", all(denied, denied), "attempt-started begins an attempt with the value of an earlier one"},
		{"no attempt", all(one(observe.Granted)), "granted without an attempt"},
		{"no quorum", all(one(observe.AttemptStarted), reached(acquire)[1:], one(observe.Granted)), "granted without a quorum"},
		{"half a quorum", all(one(observe.AttemptStarted), []observe.Event{{Step: observe.QuorumReached, Op: acquire, Accepted: 1, Quorum: 2}}), "quorum-reached with 1 of 2 votes"},
		{"no validity", all(one(observe.AttemptStarted), reached(acquire)[:1], one(observe.Granted)), "granted without a validity"},
		{"granted after a refusal", all(denied, reached(acquire), one(observe.Granted)), "granted after the attempt had ended"},
		{"granted and denied", all(granted, one(observe.Denied)), "denied after the attempt had ended"},
		{"a retry of nothing", all(granted, one(observe.Retrying)), "retrying though the attempt was not denied"},
		{"an extend of nothing", all(denied, extended), "extend-started without a grant"},
		{"an extend without a quorum", all(granted, one(observe.ExtendStarted), reached(extend)[1:], one(observe.Extended)), "extended without a quorum"},
		{"an extend too late", all(granted, one(observe.ExtendStarted), reached(extend)[:1], one(observe.Extended)), "extended without a validity"},
		{"two ends of an extend", all(granted, extended, one(observe.NotExtended)), "not-extended without having begun to extend"},
		{"extended after the loss", all(granted, one(observe.Lost), extended), "extended after the end of the lease was told"},
		{"lost twice", all(granted, one(observe.Lost), one(observe.Lost)), "lost after the end of the lease was told"},
		{"lost after the release", all(granted, released, one(observe.Lost)), "lost after the end of the lease was told"},
		{"lost before the grant", all(one(observe.AttemptStarted), one(observe.Lost)), "lost without a grant"},
		{"a release of nothing", all(denied, released), "release-started without a grant"},
		{"released twice", all(granted, released, one(observe.ReleaseStarted)), "release-started a second time"},
		{"released, and again", all(granted, released, released[1:]), "released a second time"},
		{"released without beginning", all(granted, released[1:]), "released without having begun to release"},
		{"released by one", all(granted, released[:1], []observe.Event{{Step: observe.Released, Op: release, Accepted: 1, Quorum: 2}}), "released as a success, with 1 of 2 nodes"},
		{"joined without a vote", all(granted, one(observe.Joined)), "joined without a late vote of C"},
		{"joined twice", all(granted, []observe.Event{late}, one(observe.Joined), one(observe.Joined)), "joined a second time for C"},
		{"joined a refusal", all(denied, []observe.Event{late}, one(observe.Joined)), "joined without a lease to join"},
		{"taken back without a vote", all(denied, one(observe.TakenBack)), "taken-back without a late vote of C"},
		{"taken back from a lease", all(granted, []observe.Event{late}, one(observe.TakenBack)), "taken-back while the lease lasts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			for _, e := range c.events {
				e.Resource, e.Value = "r", "v"
				r.Observed("c1", e)
			}
			want := c.want
			if want != "" {
				want = "c1 reports the step " + want
			}
			r.finds(t, checker.Contract, want)
		})
	}
}

func TestNothingBeginsAfterClose(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []observe.Step
		sends bool
		want  string
	}{
		{"nothing", nil, false, ""},
		{"an attempt", []observe.Step{observe.AttemptStarted}, false, "c1 reports the step attempt-started after the client was closed"},
		{"an extend", []observe.Step{observe.ExtendStarted}, false, "c1 reports the step extend-started after the client was closed"},
		{"a vote", nil, true, "c1 still asks A for its vote"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.goes("c1", 0, func(a *actor) {
				for _, s := range []observe.Step{observe.AttemptStarted, observe.QuorumReached, observe.ValidityComputed, observe.Granted} {
					a.Observed("c1", observe.Event{Step: s, Op: driver.OpAcquire, Resource: "r", Value: "v", Validity: 1})
				}
				a.call(protocols.CloseCall, nil, nil, nil)
				a.sleeps(time.Second)
				for _, s := range c.steps {
					e := observe.Event{Step: s, Resource: "r", Value: "v"}
					if s == observe.AttemptStarted {
						e.Value = "w"
					}
					a.Observed("c1", e)
				}
				if c.sends {
					a.sets("A", "w")
				}
			})
			r.finds(t, checker.Contract, c.want)
		})
	}
}
