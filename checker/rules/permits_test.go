package rules

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
)

// permitErrors are what attempts and calls may fail with. Those without a resource are about the semaphore.
var permitErrors = map[string]error{
	"":       nil,
	"taken":  &redlock.Error{Op: driver.OpAcquire, Reason: redlock.ErrTaken},
	"silent": &redlock.Error{Op: driver.OpAcquire, Reason: redlock.ErrNoQuorum, Nodes: votes(driver.TimedOut, driver.TimedOut, driver.TimedOut)},
	// A node is down, and another has a vote of somebody else.
	"split":             &redlock.Error{Op: driver.OpAcquire, Reason: redlock.ErrNoQuorum, Nodes: votes(driver.TimedOut, driver.Declined, driver.Unanswered)},
	"without-reason":    &redlock.Error{Op: driver.OpAcquire},
	"of-a-permit":       &redlock.Error{Op: driver.OpAcquire, Resource: "s/1", Reason: redlock.ErrTaken},
	"of-a-permit:close": &redlock.Error{Op: driver.OpAcquire, Resource: "s/1", Cause: redlock.ErrClosed},
	"not-given-back":    errors.Join(redlock.ErrClosed, &redlock.Error{Op: driver.OpRelease, Resource: "s/all", Reason: redlock.ErrNoQuorum}),
	"lost":              redlock.ErrLost,
	"failed":            errors.New("failed"),
}

// seekerOf is client c1, which calls for permits of a semaphore "s" that has two, as sentences tell.
type seekerOf struct {
	*actor
	calls    []*protocols.PermitCall
	cancel   context.CancelFunc      // of the last call
	stop     context.CancelCauseFunc // of its work
	leases   map[string]*lease
	attempts int
}

// plays has happen what sentences tell, with a semicolon between two. One is of the last call, or of the first.
func (s *seekerOf) plays(t *testing.T, sentences string) {
	for sentence := range strings.SplitSeq(sentences, "; ") {
		words := append(strings.Fields(sentence), "", "")
		of := len(s.calls) - 1
		if words[0] == "first" {
			of, words = 0, words[1:]
		}
		switch pause, err := time.ParseDuration(words[0]); {
		case err == nil:
			s.sleeps(pause)
		case words[0] == "seeks" || words[0] == "waits" || words[0] == "holds" || words[0] == "wants-all":
			c := &protocols.PermitCall{Client: "c1", Semaphore: "s", Permits: 2, TTL: ttl, Waits: words[0] == "waits", All: words[0] == "wants-all"}
			if words[0] == "holds" {
				c.Work = func(context.Context) error { return nil }
			}
			c.Context, s.cancel = context.WithCancel(context.Background())
			s.calls = append(s.calls, c)
			s.Wants(c)
		case strings.HasPrefix(words[0], "s/"):
			s.tries(s.calls[of], words[0], words[1])
		case of < 0 || !s.goesOn(s.calls[of], words[0], words[1:]):
			t.Errorf("nobody knows what %q is", sentence)
		}
	}
}

// tries makes an attempt, which takes no time, or begins one that has not returned.
func (s *seekerOf) tries(c *protocols.PermitCall, resource, outcome string) {
	s.attempts++
	call := &protocols.Call{Func: protocols.AcquireCall, Client: "c1", Resources: []string{resource}, TTL: c.TTL, Permit: c}
	if outcome == "for-longer" {
		call.TTL *= 2
	}
	s.Called(call)
	switch outcome {
	case "granted":
		l := s.lease(resource, s.reads().Add(ttl))
		s.leases["older-"+resource] = s.leases[resource]
		call.Lease, s.leases[resource] = l, l
		s.Returned(call, nil)
	case "for-longer", "asked":
	default:
		s.Returned(call, permitErrors[outcome])
	}
}

// gives begins to give back a lease: of a resource the last, or the one before.
func (s *seekerOf) gives(lease string) *protocols.Call {
	call := &protocols.Call{Func: protocols.ReleaseCall, Client: "c1", Resources: []string{strings.TrimPrefix(lease, "older-")}, Lease: s.leases[lease]}
	s.Called(call)
	return call
}

func (s *seekerOf) goesOn(c *protocols.PermitCall, does string, with []string) bool {
	switch l := s.leases[with[0]]; does {
	case "gets": // an error, and its cause
		err := permitErrors[with[0]]
		if e, is := err.(*redlock.Error); is && e.Resource == "" {
			about := *e
			about.Resource, about.Attempts = "s", s.attempts
			about.Cause = map[string]error{"": nil, "closed": redlock.ErrClosed, "cancelled": context.Canceled}[with[1]]
			err = &about
		}
		s.Gets(c, err)
	case "cancelled":
		s.cancel()
	case "closes":
		s.call(protocols.CloseCall, nil, nil, nil)
	case "loses":
		l.cancel(redlock.ErrLost)
		s.Observed("c1", observe.Event{Step: observe.Lost, Resource: with[0]})
	case "gives":
		for _, resource := range with {
			if l := s.leases[resource]; l != nil {
				call := s.gives(resource)
				l.cancel(redlock.ErrReleased)
				s.Returned(call, nil)
			}
		}
	case "giving":
		s.gives(with[0])
	case "renews":
		s.Called(&protocols.Call{Func: protocols.ExtendCall, Client: "c1", Resources: with[:1], Lease: l, Renewal: true})
	case "works": // in the context of its call, or in another
		in := c.Context
		if with[0] == "elsewhere" {
			in = context.Background()
		}
		in, s.stop = context.WithCancelCause(in)
		s.Begins(c, in)
	case "stopped":
		s.stop(permitErrors[with[0]])
	case "ends":
		s.Ends(c, permitErrors[with[0]])
	default:
		return false
	}
	return true
}

// The longest retry delay is 150 ms.
func TestPermits(t *testing.T) {
	const (
		conduct, contract, needless = checker.Conduct, checker.Contract, checker.NeedlesslyUnavailable

		asks, gets, works = `c1 asks for "%s" for a call for permits of "s", and `, `c1 calls for permits of "s", and gets "%s": `, `c1 works under all permits of "s", and `
		late, unasked     = `c1 waits for a permit of "s", and has not looked for one for `, `c1 looks for a permit of "s" and finds none, and has not asked for "s/2"`
		hasBoth           = "seeks; s/1 granted; gets; seeks; s/2 granted; gets; "
		lost              = "seeks; s/1 granted; gets; loses s/1; "
		hasAll            = "wants-all; s/all granted; s/1 granted; s/2 granted; "
		all, givesAll     = hasAll + "works; ", "; gives s/all s/1 s/2; "
	)
	of := func(sentence, what string) string { return strings.Replace(sentence, "%s", what, 1) }
	for _, c := range []struct {
		name    string
		happens string
		kind    checker.Kind
		want    string
	}{
		{"granted", "waits; s/2 taken; s/1 granted; gets", conduct, ""},
		{"a permit that there is not", "seeks; s/3 taken", conduct, of(asks, "s/3") + "there is no such permit"},
		{"another TTL", "seeks; s/1 for-longer", conduct, of(asks, "s/1") + "it is to have it for 10s, and asks for 20s"},
		{"one more", "seeks; s/1 granted; s/2 taken", conduct, of(asks, "s/2") + "it has got one"},
		{"asked for what it has", "seeks; s/1 granted; gets; seeks; s/1 taken", conduct, of(asks, "s/1") + "it has that itself"},
		{"asked for what it had and gives back", lost + "giving s/1; seeks; s/1 taken", conduct, of(asks, "s/1") + "it has that itself"},
		{"asked for what it has given back since", lost + "seeks; s/1 granted; gets; giving older-s/1; gives s/1; seeks; s/1 taken", conduct, ""},
		{"asked for what it has lost since", lost + "seeks; s/1 granted; gets; giving older-s/1; loses s/1; seeks; s/1 taken", conduct, ""},
		{"looks in time", "waits; s/1 taken; s/2 taken; 300ms; s/1 granted; gets", needless, ""},
		{"looks too late", "waits; s/1 taken; s/2 taken; 1s; s/1 granted; gets", needless, late + "1s"},
		{"never looks", "waits", needless, late + "59s"},
		{"never looks, behind one that does", "waits; waits; first s/1 granted", needless, ""},
		{"looks too late after a loss", hasBoth + "waits; 1s; loses s/2; 1s; s/2 granted; gets", needless, late + "1s"},
		{"looks in time after a loss", hasBoth + "waits; 1s; loses s/2; 150ms; s/2 granted; gets", needless, ""},
		{"one not asked for", "seeks; s/1 taken; gets taken", needless, unasked},
		{"one not asked for that it holds", "seeks; s/2 granted; gets; seeks; s/1 taken; gets taken", needless, ""},
		{"one not asked for that it has lost", lost + "seeks; s/2 taken; gets taken", needless, strings.Replace(unasked, "s/2", "s/1", 1)},
		{"one not asked for that its call may be giving back", "holds; s/1 granted; gets; loses s/1; seeks; s/2 taken; gets taken", needless, ""},
		{"none asked for after one that no node answers", "seeks; s/1 silent; gets silent", needless, ""},
		{"one not asked for after one with votes of others", "seeks; s/1 split; gets split", needless, unasked},
		{"a look that its context ends", "seeks; s/1 taken; cancelled; gets taken cancelled", needless, ""},
		{"a look that closing the client ends", "seeks; s/1 taken; closes; gets taken closed", needless, ""},
		{"an ended look", "waits; s/1 taken; gets taken closed", needless, ""},
		{"granted and refused", "seeks; s/1 granted; gets taken", contract, of(gets, `redlock: acquire \"s\": held by another`) + "an attempt was granted"},
		{"refused and granted", "seeks; s/1 taken; gets", contract, of(gets, "success") + "it has not got that"},
		{"an error of the permit", "seeks; gets of-a-permit", contract, of(gets, `redlock: acquire \"s/1\": held by another`) + "it is about something else"},
		{"no cause", "waits; s/1 silent; gets silent", contract, `c1 calls for permits of "s", and gets "redlock: acquire \"s\": no quorum of nodes`},
		{"another error", "seeks; gets failed", contract, of(gets, "failed") + "that is no error of the library"},

		{"everything", all + "ends" + givesAll + "gets", contract, ""},
		{"work that fails", all + "ends failed" + givesAll + "gets failed", contract, ""},
		{"something else", "wants-all; s/3 asked", conduct, of(asks, "s/3") + "there is no such permit"},
		{"twice", "wants-all; s/all granted; s/1 granted; s/1 asked", conduct, of(asks, "s/1") + "it has asked for that already"},
		{"all with another TTL", "wants-all; s/all for-longer", conduct, of(asks, "s/all") + "it is to have it for 10s, and asks for 20s"},
		{"a permit first", "wants-all; s/1 asked", conduct, of(asks, "s/1") + "another that wants all permits could have this one"},
		{"too little", "wants-all; s/all granted; s/1 granted; works", contract, works + `has not got "s/2"`},
		{"a permit lost before the work", "wants-all; s/all granted; s/1 granted; loses s/1; 1ms; s/2 granted; works", contract, works + `has not got "s/1"`},
		{"given back meanwhile", all + "gives s/1", contract, works + `gives back "s/1" meanwhile`},
		{"a loss that is not told", all + "loses s/2; 1ms; ends", contract, works + "is not told that it has lost s/2"},
		{"a loss in the moment in which the work ends", all + "loses s/2; ends lost" + givesAll + "gets lost", contract, ""},
		{"a loss that is told as something else", all + "loses s/2; 1ms; stopped; ends failed", contract, works + "is not told that it has lost s/2"},
		{"a call that ends", hasAll + "works elsewhere; cancelled; ends", contract, works + "is not told that its call is to end"},
		{"told for no reason", all + "stopped; ends failed", contract, works + "is told to stop for no reason"},
		{"a permit that stays", all + "ends; gives s/all s/1; gets", contract, `c1's call for all permits of "s" has returned, and still has "s/2"`},
		{"another error than that of the work", all + "ends failed" + givesAll + "gets", contract, of(gets, "success") + "that is not what its work returned"},
		{"an error for nothing", all + "ends" + givesAll + "gets failed", contract, of(gets, "failed") + "the work was done, and everything was given back"},
		{"a loss without an error", all + "loses s/1; stopped lost; ends" + givesAll + "gets", contract, of(gets, "success") + "that does not say that a permit was lost"},
		{"no work and no error", "wants-all; gets", contract, of(gets, "success") + "it has not got that"},
		{"an error without a reason", "wants-all; gets without-reason", contract, of(gets, `redlock: acquire \"s\": <nil>`) + "that does not say why it gave up"},
		{"closed, and giving back fails", "wants-all; closes; gets not-given-back", contract, ""},
		{"closed, and an error about a permit", "wants-all; closes; gets of-a-permit:close", contract,
			of(gets, `redlock: acquire \"s/1\": redlock: client closed`) + "it is about something else"},
		{"renewed in the end", all + "renews s/1; stopped; renews s/all; renews s/1", conduct,
			`c1 goes on to renew "s/1", although its work under all permits of "s" is told to stop`},
		{"cancelled by nobody", "wants-all; gets taken cancelled", contract, of(gets, `redlock: acquire \"s\": held by another: context canceled`) + "nothing has ended it"},
		{"refused", "wants-all; cancelled; gets taken cancelled", contract, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).only("permits")
			r.goes("c1", time.Second, func(a *actor) { (&seekerOf{actor: a, leases: map[string]*lease{}}).plays(t, c.happens) })
			r.finds(t, c.kind, c.want)
		})
	}
}

// votes are the outcomes of nodes A, B, C.
func votes(outcomes ...driver.Outcome) (nodes []observe.NodeOutcome) {
	for i, o := range outcomes {
		nodes = append(nodes, observe.NodeOutcome{Node: "ABC"[i : i+1], Outcome: o})
	}
	return nodes
}
