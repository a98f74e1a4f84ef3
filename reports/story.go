package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"redlocksim/faults"
	"redlocksim/history"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
)

// Line is one sentence of a story.
type Line struct {
	Seq  int // the event it tells of
	Time time.Duration
	Text string
}

func (l Line) String() string { return fmt.Sprintf("%10s  %s", seconds(l.Time), l.Text) }

func seconds(d time.Duration) string { return fmt.Sprintf("%.4fs", d.Seconds()) }

// Story tells a history in the words of the literature: who acquires on which nodes, what goes wrong, who writes. Where more
// than one resource is used it names them.
func Story(h history.History) []Line {
	t := teller{attempts: map[int]*attempt{}, joined: map[int][]string{}, fails: map[int]string{}, failed: map[int]string{},
		over: map[int]string{}, resources: newResources(h)}
	for _, e := range h {
		switch {
		case e.Kind == history.Step && e.Name == observe.Joined.String():
			t.joined[e.Grant] = append(t.joined[e.Grant], e.Node)
		case e.Kind == history.Return && e.Func == history.Extend && e.Outcome != history.OK:
			t.fails[e.Op] = e.Detail
		}
	}
	for i := range h {
		if text := t.tell(&h[i]); text != "" {
			t.lines = append(t.lines, Line{Seq: h[i].Seq, Time: time.Duration(h[i].Time), Text: text})
		}
	}
	return t.lines
}

// teller goes through a history and keeps what the sentences to come need.
type teller struct {
	lines    []Line
	attempts map[int]*attempt // by operation
	joined   map[int][]string // nodes whose votes came after the decision and count, by grant
	fails    map[int]string   // why an extend is going to fail, by operation
	failed   map[int]string   // why the last extend failed, by grant
	over     map[int]string   // what there is to be told of a lease that is over, by grant
	resources
}

// attempt is what the nodes have answered in the round under way.
type attempt struct {
	number   int64
	answers  []answer
	validity time.Duration
	token    int64           // of the request that the storage has looked at
	told     map[string]bool // kinds of failure that have been told, also of the attempts before
	again    bool            // it fails as the one before did, and is not told
}

type answer struct{ node, outcome string }

// failure says whether an attempt's failure is to be told: the first one of each kind is. However often a client tries
// again, the reader learns only what is new.
func (a *attempt) failure() bool {
	if a.again {
		return false
	}
	var outcomes []string
	for _, x := range a.answers {
		if x.outcome != driver.Accepted.Of(driver.OpAcquire) {
			outcomes = append(outcomes, x.outcome)
		}
	}
	slices.Sort(outcomes)
	kind := fmt.Sprint(slices.Compact(outcomes), a.validity < 0)
	if a.told[kind] {
		return false
	}
	if a.told == nil {
		a.told = map[string]bool{}
	}
	a.told[kind] = true
	return true
}

// at says which attempt it is, if it is not the first.
func (a *attempt) at() string {
	if a.number > 1 {
		return fmt.Sprintf(", at attempt %d", a.number)
	}
	return ""
}

func (t *teller) tell(e *history.Event) string {
	who := e.Process
	if t.isPart(e) {
		return ""
	}
	switch e.Kind {
	case history.Call:
		return t.call(e)
	case history.Return:
		return t.ret(e)
	case history.Step:
		return t.step(e)
	case history.Expire:
		t.over[e.Grant] = "only now that its lease is over"
		if e.Detail != "" {
			return fmt.Sprintf("%s's lease%s ends: %s", who, t.on(e), e.Detail)
		}
		return fmt.Sprintf("%s's lease%s ends by its own clock", who, t.on(e))
	case history.Crash:
		return who + " crashes"
	case history.Fault:
		return e.Detail
	case history.Effect:
		switch {
		case e.Func == history.Read && e.Outcome == history.OK:
			if a := t.attempts[e.Op]; a != nil {
				a.token = e.Token
			}
		case e.Func == history.Write && e.Outcome == history.OK:
			return fmt.Sprintf("%s takes %s's write of %d%s%s", place(e), who, e.Number, t.to(e), token(e.Token))
		case e.Func == history.Mark && e.Outcome == history.OK:
			return fmt.Sprintf("the storage takes %s's mark%s", who, t.on(e))
		case e.Outcome != history.OK:
			if e.Node != "" {
				return fmt.Sprintf("%s rolls %s's %s%s back", e.Node, who, e.Func, t.on(e))
			}
			return fmt.Sprintf("the storage turns %s's %s%s down%s", who, e.Func, t.on(e), token(e.Token))
		}
	}
	return ""
}

func (t *teller) call(e *history.Event) string {
	why, fails := t.fails[e.Op]
	a := &attempt{again: fails && why == t.failed[e.Grant]}
	t.attempts[e.Op] = a
	if a.again {
		return ""
	}
	switch e.Func {
	case history.Acquire:
		return e.Process + " asks for the lock" + t.on(e)
	case history.Release:
		return e.Process + " releases the lock" + t.on(e)
	case history.Extend:
		return e.Process + " asks to extend its lease" + t.on(e)
	case history.Write:
		if t.several {
			return fmt.Sprintf("%s sends %s a write of %d%s", e.Process, place(e), e.Number, t.to(e))
		}
		return fmt.Sprintf("%s sends a write of %d to %s", e.Process, e.Number, place(e))
	}
	return ""
}

// place is where a read or write goes: the storage, or a node that keeps the resource itself.
func place(e *history.Event) string {
	if e.Node != "" {
		return e.Node
	}
	return "the storage"
}

func (t *teller) step(e *history.Event) string {
	a := t.attempts[e.Op]
	switch e.Name {
	case faults.Checked:
		if e.Span == math.MaxInt64 {
			return fmt.Sprintf("%s makes sure: it knows of no end of its lease%s", e.Process, t.on(e))
		}
		return fmt.Sprintf("%s makes sure: its lease%s is good for %v", e.Process, t.on(e), round(time.Duration(e.Span)))
	case faults.Prepared:
		return e.Process + " declares the nodes fit to vote"
	case faults.Closed:
		return e.Process + " is closed"
	case faults.NotPrepared:
		return fmt.Sprintf("%s cannot declare the nodes fit to vote: %s", e.Process, e.Detail)
	case faults.Stopped:
		return fmt.Sprintf("%s finds too little of its lease%s left, and does not write", e.Process, t.on(e))
	case observe.Lost.String():
		return fmt.Sprintf("%s is told %s", e.Process, cmp.Or(t.over[e.Grant], "that its lease"+t.on(e)+" is about to end"))
	case observe.TakenBack.String():
		return fmt.Sprintf("a late vote of %s for %s%s is released again", e.Node, e.Process, t.on(e))
	}
	if slices.Contains(protocols.Told(), e.Name) {
		if e.Name == protocols.CleanedUp && a != nil {
			return a.cleanedUp(e, t.on(e))
		}
		return e.Process + " " + e.Detail + t.aside(e)
	}
	if a == nil {
		return ""
	}
	switch e.Name {
	case observe.AttemptStarted.String():
		*a = attempt{number: e.Number, told: a.told, again: a.again}
	case observe.NodeAnswered.String():
		a.answers = append(a.answers, answer{e.Node, e.Detail})
	case observe.ValidityComputed.String():
		a.validity = time.Duration(e.Span)
	case observe.QuorumLost.String():
		if a.failure() {
			return fmt.Sprintf("%s has no quorum%s%s: %s", e.Process, t.on(e), a.at(), a.describe())
		}
	case observe.TokenRaised.String():
		return fmt.Sprintf("%s proposes a higher token%s%s: %s", e.Process, t.on(e), a.at(), a.describe())
	case observe.Queued.String():
		return fmt.Sprintf("%s waits for its turn%s, behind its own lease or another of its calls", e.Process, t.on(e))
	case observe.Yielding.String():
		return fmt.Sprintf("%s has its turn%s, and waits for %v before it asks", e.Process, t.on(e), round(time.Duration(e.Span)))
	case observe.Denied.String():
		if a.validity < 0 {
			return fmt.Sprintf("%s reads its clock again: no validity is left (%v), it gives the lock%s up", e.Process, round(a.validity), t.on(e))
		}
	}
	return ""
}

func (t *teller) ret(e *history.Event) string {
	a := t.attempts[e.Op]
	if a == nil {
		a = &attempt{}
	}
	delete(t.attempts, e.Op)
	ok := e.Outcome == history.OK
	switch {
	case e.Func == history.Acquire && ok && a.answers == nil:
		return fmt.Sprintf("%s is granted the lock%s%s", e.Process, t.on(e), token(e.Token))
	case e.Func == history.Acquire && ok:
		text := fmt.Sprintf("%s acquires%s on %s", e.Process, t.named(e), a.nodes(driver.Accepted.Of(driver.OpAcquire)))
		if joined := t.joined[e.Grant]; joined != nil {
			slices.Sort(joined)
			text += ", later " + strings.Join(joined, ", ")
		}
		if others := a.others(driver.Accepted.Of(driver.OpAcquire)); others != "" {
			text += " (" + others + ")"
		}
		if a.validity > 0 {
			text += fmt.Sprintf(": granted, valid for %v", round(a.validity))
		} else {
			text += fmt.Sprintf(": granted, although no validity is left (%v)", round(a.validity))
		}
		return text + token(e.Token) + a.at()
	case e.Func == history.Acquire:
		return fmt.Sprintf("%s is not granted the lock%s: %s", e.Process, t.on(e), e.Detail)
	case e.Func == history.Extend && ok && a.validity == 0:
		delete(t.failed, e.Grant)
		return fmt.Sprintf("%s's lease%s is extended", e.Process, t.on(e))
	case e.Func == history.Extend && ok:
		delete(t.failed, e.Grant)
		return fmt.Sprintf("%s's lease%s is extended, valid for %v", e.Process, t.on(e), round(a.validity))
	case e.Func == history.Extend:
		if e.Detail == redlock.ErrLost.Error() && t.over[e.Grant] == "" {
			t.over[e.Grant] = "that its lease is lost"
		}
		t.failed[e.Grant] = e.Detail
		if a.again {
			return ""
		}
		return fmt.Sprintf("%s's lease%s is not extended: %s", e.Process, t.on(e), e.Detail)
	case e.Func == history.Release && !ok:
		return fmt.Sprintf("%s's release%s is not confirmed: %s", e.Process, t.of(e), e.Detail)
	case e.Func == history.Read && ok:
		if t.several {
			return fmt.Sprintf("%s reads %d on %s from %s", e.Process, e.Number, e.Resource, place(e)) + token(a.token)
		}
		return fmt.Sprintf("%s reads %d from %s", e.Process, e.Number, place(e)) + token(a.token)
	case e.Func == history.Write && e.Outcome == history.Failed && e.Node != "":
		return fmt.Sprintf("%s turns %s's write%s down", e.Node, e.Process, t.to(e))
	}
	return ""
}

// token says which fencing token an event carries.
func token(number int64) string {
	if number == 0 {
		return ""
	}
	return fmt.Sprintf(" (token %d)", number)
}

// cleanedUp tells of a failed attempt by what the client did about its votes.
func (a *attempt) cleanedUp(e *history.Event, on string) string {
	switch {
	case !a.failure():
		return ""
	case a.validity < 0:
		return fmt.Sprintf("%s reads its clock again%s and finds no validity left%s (%v): it %s", e.Process, a.at(), on, round(a.validity), e.Detail)
	}
	return fmt.Sprintf("%s has no quorum%s%s (%s) and %s", e.Process, on, a.at(), a.describe(), e.Detail)
}

// nodes lists the nodes with an outcome.
func (a *attempt) nodes(outcome string) string {
	var names []string
	for _, x := range a.answers {
		if x.outcome == outcome {
			names = append(names, x.node)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names) // a node is asked twice where the token is too low at first
	return strings.Join(names, ", ")
}

// others lists the nodes with any other outcome, by outcome.
func (a *attempt) others(outcome string) string {
	var parts []string
	seen := map[string]bool{outcome: true}
	for _, x := range a.answers {
		if !seen[x.outcome] {
			seen[x.outcome] = true
			parts = append(parts, a.nodes(x.outcome)+" "+x.outcome)
		}
	}
	return strings.Join(parts, "; ")
}

func (a *attempt) describe() string {
	if text := a.others(""); text != "" {
		return text
	}
	return "no node answered"
}

// round keeps what a reader can use.
func round(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }
