package checker

import (
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"

	"redlocksim/sim/history"
)

// answer is the answer of a search, which may give up.
type answer int

const (
	unknown answer = iota
	yes
	no
)

// The bounds of a search of porcupine are not in time, so that the answer is the same on every machine.
const (
	// maxStates bounds the memory: each legal step keeps a state with a bit for every operation.
	maxStates = 100_000
	// maxSteps bounds the time: it counts the steps tried, legal or not. Most are not legal if many operations overlap, as
	// each of them is tried in each state.
	maxSteps = 500_000
)

// linearizable asks porcupine whether some order of the operations, each at an instant within its call and return, is one
// that the model allows. There are n, or fewer if these are too many. Unknown comes with the reason.
func linearizable(m porcupine.Model, n int, o Options, ops []porcupine.Operation) (answer, string) {
	limit := o.MaxOperations
	if limit == 0 {
		limit = maxOperations
	}
	if limit < 0 {
		return unknown, "porcupine is turned off"
	}
	if n > limit {
		return unknown, fmt.Sprintf("%d operations, porcupine is given at most %d", n, limit)
	}
	if n == 0 {
		return yes, ""
	}
	steps, states, exhausted := 0, 0, ""
	step := m.Step
	m.Step = func(state, input, output any) (bool, any) {
		switch {
		case states == maxStates:
			exhausted = fmt.Sprintf("porcupine found no answer within %d states", maxStates)
		case steps == maxSteps:
			exhausted = fmt.Sprintf("porcupine found no answer within %d steps", maxSteps)
		}
		if exhausted != "" {
			// No further step is legal, so porcupine backtracks and ends without an order.
			return false, state
		}
		steps++
		ok, next := step(state, input, output)
		if ok {
			states++
		}
		return ok, next
	}
	switch {
	case porcupine.CheckOperations(m, ops):
		return yes, ""
	case exhausted != "":
		return unknown, exhausted
	}
	return no, ""
}

// lockAct is what an operation does to the mutex.
type lockAct int

const (
	take  lockAct = iota // free, or the owner's own if the lock is re-entrant
	leave                // the owner's last take is undone
	touch                // held by the owner for an instant
)

type lockInput struct {
	act   lockAct
	owner int
}

// crowded counts the successes on the resources that certainly have too many operations for porcupine.
func crowded(t *transcript, o Options) map[string]int {
	limit := o.MaxOperations
	if limit == 0 {
		limit = maxOperations
	}
	successes := map[string]int{}
	for i := range t.history {
		e := &t.history[i]
		if e.Kind == history.Return && e.Outcome == history.OK {
			successes[t.ops[e.Op].resource]++
		}
	}
	for resource, n := range successes {
		// A window is two operations at most, and a success may have no window; reads and writes count here though they
		// are none.
		if n <= 4*max(limit, 0) {
			delete(successes, resource)
		}
	}
	return successes
}

// grantEvents are an acquire, and the events of what it granted.
type grantEvents struct {
	*operation
	grant int
	// extends and releases are those that succeeded.
	extends, releases []span
	expires           []int // ascending
	// over is the Seq of the first release call, or of the process's crash, or forever.
	over int
}

// eventsByGrant collects the events of each grant, in the order of the calls of their acquires, except on the resources in
// without.
func eventsByGrant(t *transcript, without map[string]int) []*grantEvents {
	var all []*grantEvents
	of := map[int]*grantEvents{}
	living := map[string][]*grantEvents{} // by process, since its last crash
	for i := range t.history {
		e := &t.history[i]
		if _, not := without[t.resourceOf(e)]; not {
			continue
		}
		switch {
		case e.Kind == history.Call && e.Func == history.Acquire:
			g := &grantEvents{operation: &t.ops[e.Op], grant: e.Op, over: forever}
			of[e.Op], all, living[e.Process] = g, append(all, g), append(living[e.Process], g)
		case e.Kind == history.Call && e.Func == history.Release:
			g := of[e.Grant]
			g.over = min(g.over, e.Seq)
		case e.Kind == history.Return && e.Outcome == history.OK && e.Func == history.Extend:
			o := &t.ops[e.Op]
			of[o.grant].extends = append(of[o.grant].extends, span{o.call, e.Seq})
		case e.Kind == history.Return && e.Outcome == history.OK && e.Func == history.Release:
			o := &t.ops[e.Op]
			of[o.grant].releases = append(of[o.grant].releases, span{o.call, e.Seq})
		case e.Kind == history.Expire:
			of[e.Grant].expires = append(of[e.Grant].expires, e.Seq)
		case e.Kind == history.Crash:
			for _, g := range living[e.Process] {
				g.over = min(g.over, e.Seq)
			}
			delete(living, e.Process)
		}
	}
	return all
}

// mutexOperations gives the operations on each resource, from the events as they were recorded and not from the holds
// that the direct check finds in them. Each has its grant as Metadata.
//
// An acquire or extend that succeeded takes the mutex at an instant between its call and return; the first Expire, release or
// crash after it leaves the mutex, at that event. The holder can take it again, so an extend inside a window is a window of its
// own that ends with the other. What succeeds on a grant of unknown outcome touches the mutex. Failed acquires are left out:
// they are legal even on a free lock, as votes may be split.
func mutexOperations(t *transcript, o Options, without map[string]int) map[string][]porcupine.Operation {
	owner := owners(t, o.Reentrant)
	all := map[string][]porcupine.Operation{}
	for _, g := range eventsByGrant(t, without) {
		add := func(act lockAct, s span) {
			all[g.resource] = append(all[g.resource], porcupine.Operation{
				Input: lockInput{act, owner(g.grant)}, Call: int64(s.from), Return: int64(s.to), Metadata: g.grant,
			})
		}
		switch g.outcome {
		case history.Failed:
		case history.OK:
			for _, w := range g.takings() {
				add(take, w.span)
				if w.end != forever {
					add(leave, span{w.end, w.end})
				}
			}
		default:
			for _, s := range slices.Concat(g.extends, g.releases) {
				add(touch, s)
			}
		}
	}
	return all
}

// taking takes the mutex within a span and leaves it at end.
type taking struct {
	span
	end int
}

// takings are those of a grant: one by its acquire, and one by each extend that was answered later. There is none for a window
// that had ended before the answer.
func (g *grantEvents) takings() []taking {
	var all []taking
	add := func(s span) {
		end := g.over
		if next, _ := slices.BinarySearch(g.expires, s.to); next < len(g.expires) {
			end = min(end, g.expires[next])
		}
		if s.to < end {
			all = append(all, taking{s, end})
		}
	}
	expired, extended := 0, 0 // before the acquire returned
	for _, seq := range g.expires {
		if seq < g.ret {
			expired = seq
		}
	}
	for _, s := range g.extends {
		if s.to < g.ret {
			extended = s.to
		}
	}
	if expired <= extended {
		add(span{g.call, g.ret})
	}
	for _, s := range g.extends {
		if s.to > g.ret {
			add(s)
		}
	}
	return all
}
