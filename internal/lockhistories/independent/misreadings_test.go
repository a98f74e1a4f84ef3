package independent

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"redlocksim/internal/lockhistories"
)

// misreading is a way to get the text wrong in one rule.
type misreading struct {
	name, models string
	// Those that are nil change nothing.
	definition func(definition) definition
	model      func(model) model
	operation  func(op *operation, h *lockHistory)
}

const withProcesses = "owner reentrant fenced reentrant-fenced lease fenced-lease"

var misreadings = []misreading{
	{name: "a failed operation may have taken effect", models: "mutex " + withProcesses,
		operation: func(op *operation, _ *lockHistory) {
			if op.outcome == "fail" {
				op.outcome = "info"
			}
		}},
	{name: "an unknown operation took effect", models: "mutex " + withProcesses,
		operation: func(op *operation, _ *lockHistory) {
			if op.outcome == "info" && op.end != -1 && op.does != "extend" {
				op.outcome = "ok"
			}
		}},
	{name: "an unknown operation never took effect", models: "mutex " + withProcesses,
		operation: func(op *operation, _ *lockHistory) {
			if op.outcome == "info" {
				op.outcome = "fail"
			}
		}},
	{name: "an unknown operation may take effect after the next ok", models: withProcesses,
		definition: func(d definition) definition { d.processesMatter = false; return d }},
	{name: "an unknown operation takes effect before the next ok in mutex, too", models: "mutex",
		definition: func(d definition) definition { d.processesMatter = true; return d }},
	{name: "only the process that acquired may release", models: "mutex",
		model: func(model) model { return owner }},
	{name: "any process may extend", models: withProcesses, model: byTheHolder("extend")},
	{name: "any process may release", models: withProcesses, model: byTheHolder("release")},
	{name: "an extend of a free lock is legal", models: "mutex " + withProcesses,
		model: func(m model) model {
			return func(s state, op *operation, now int64) (state, bool) {
				if op.does == "extend" && !s.held {
					return s, true
				}
				return m(s, op, now)
			}
		}},
	{name: "a holder may acquire again, once", models: "owner fenced lease fenced-lease",
		model: func(m model) model {
			return func(s state, op *operation, now int64) (state, bool) {
				if then, legal := m(s, op, now); legal || op.does != "acquire" || s.holder != op.process {
					return then, legal
				}
				return s, true
			}
		}},
	{name: "a holder cannot acquire again", models: "reentrant", model: func(model) model { return owner }},
	{name: "the first release frees the lock", models: "reentrant reentrant-fenced",
		model: changed(func(_ state, _ *operation, then state) state {
			then.times = min(then.times, 1)
			return then
		})},
	{name: "equal tokens are in order", models: "fenced reentrant-fenced fenced-lease",
		model: changed(func(_ state, _ *operation, then state) state {
			if k := then.ended.known; k != nil && then.ended.unknown == 0 {
				then.ended.known, then.ended.unknown = new(big.Int).Sub(k, big.NewInt(1)), 0
			}
			return then
		})},
	{name: "unknown tokens need no room", models: "fenced reentrant-fenced fenced-lease",
		model: changed(func(_ state, _ *operation, then state) state {
			then.ended.unknown = 0
			return then
		})},
	{name: "every acquire of a hold has a token of its own", models: "reentrant-fenced",
		model: changed(func(before state, op *operation, then state) state {
			if op.does == "acquire" && before.held {
				then.ended, then.token = before.ended.and(before.token), op.token
			}
			return then
		})},
	{name: "the first acquire tells the token of the hold", models: "reentrant-fenced",
		model: changed(func(before state, op *operation, then state) state {
			if op.does == "acquire" && before.held {
				then.token = before.token
			}
			return then
		})},
	{name: "a lease is a nanosecond longer", models: "lease", definition: leasesOf("lease", lockhistories.Lease+1)},
	{name: "a lease is a nanosecond shorter", models: "lease", definition: leasesOf("lease", lockhistories.Lease-1)},
	{name: "a lease is a nanosecond longer", models: "fenced-lease", definition: leasesOf("fenced-lease", lockhistories.Lease+1)},
	{name: "a lease is a nanosecond shorter", models: "fenced-lease", definition: leasesOf("fenced-lease", lockhistories.Lease-1)},
	{name: "a lease has the length of all", models: "lease fenced-lease",
		operation: func(op *operation, _ *lockHistory) { op.lease = 0 }},
	{name: "a lease begins with the return", models: "lease fenced-lease",
		operation: func(op *operation, h *lockHistory) {
			if op.end != -1 {
				op.called = h.times[op.end]
			}
		}},
	{name: "an extend does not make a lease longer", models: "lease fenced-lease",
		model: changed(func(before state, op *operation, then state) state {
			if op.does == "extend" {
				then.until, then.never = before.until, before.never
			}
			return then
		})},
	{name: "a lease that is over cannot be extended", models: "lease fenced-lease", model: inTime("extend")},
	{name: "a lease that is over cannot be released", models: "lease fenced-lease", model: inTime("release")},
	{name: "a release that was not granted a lease does nothing", models: "lease", model: byTheHolder("release")},
	{name: "a lease never ends", models: "lease fenced-lease",
		model: changed(func(_ state, _ *operation, then state) state { then.never = true; return then })},
	{name: "a lease beyond the largest time ends", models: "lease fenced-lease",
		model: changed(func(_ state, _ *operation, then state) state { then.never = false; return then })},
}

// leasesOf is a kind whose leases last so long, where the history does not say.
func leasesOf(name string, length int64) func(definition) definition {
	return func(definition) definition { return definitions(length)[name] }
}

// byTheHolder has what any process does count as done by the holder.
func byTheHolder(does string) func(model) model {
	return func(m model) model {
		return func(s state, op *operation, now int64) (state, bool) {
			if op.does == does {
				holders := *op
				holders.process = s.holder
				op = &holders
			}
			return m(s, op, now)
		}
	}
}

// inTime has something be legal only before E.
func inTime(does string) func(model) model {
	return func(m model) model {
		return func(s state, op *operation, now int64) (state, bool) {
			then, legal := m(s, op, now)
			return then, legal && (op.does != does || s.never || op.called < s.until)
		}
	}
}

// changed gives another state than the model.
func changed(f func(before state, op *operation, then state) state) func(model) model {
	return func(m model) model {
		return func(s state, op *operation, now int64) (state, bool) {
			then, legal := m(s, op, now)
			if !legal {
				return then, false
			}
			return f(s, op, then), true
		}
	}
}

// judge says whether a history is good to somebody who reads the text like this.
func (m misreading) judge(text []byte, name string) (bool, error) {
	d := definitions(lockhistories.Lease)[name]
	locks, err := d.read(text)
	if err != nil {
		return false, err
	}
	if m.definition != nil {
		d = m.definition(d)
	}
	if m.model != nil {
		d.model = m.model(d.model)
	}
	for _, h := range locks {
		for _, op := range h.operations {
			if m.operation != nil {
				m.operation(op, h)
			}
		}
	}
	return d.allows(locks)
}

// drawn is how many histories are to tell a misreading.
const drawn = 1500

// misjudged counts the random histories whose verdict a misreading changes.
func (m misreading) misjudged(t *testing.T, name string, count int) (different int) {
	for i := range count {
		text, err := kinds[i%len(kinds)].draw(rand.New(rand.NewPCG(*seed, uint64(i))), name)
		if err != nil {
			t.Fatal(err)
		}
		good, err := definitions(lockhistories.Lease)[name].judge(text)
		if err != nil {
			t.Fatal(err)
		}
		misread, err := m.judge(text, name)
		if err != nil {
			t.Fatal(err)
		}
		if good != misread {
			different++
		}
	}
	return different
}

// TestTheHistoriesTellMisreadings shows that the comparison would notice each rule that one of the two gets wrong.
func TestTheHistoriesTellMisreadings(t *testing.T) {
	for _, m := range misreadings {
		for name := range strings.FieldsSeq(m.models) {
			t.Run(name+"/"+m.name, func(t *testing.T) {
				different := m.misjudged(t, name, drawn)
				t.Logf("%d of %d histories", different, drawn)
				if different == 0 {
					t.Error("no random history tells it")
				}
			})
		}
	}
}

// TestAnUnknownExtendHelpsNobody shows that leaving unknown extends out, as the text does, changes no verdict.
func TestAnUnknownExtendHelpsNobody(t *testing.T) {
	m := misreading{operation: func(op *operation, _ *lockHistory) {
		if op.outcome == "info" && op.does == "extend" {
			op.outcome = "unknown, and not left out"
		}
	}}
	for _, name := range names {
		if different := m.misjudged(t, name, drawn); different != 0 {
			t.Errorf("%s: %d of %d histories have another verdict with them", name, different, drawn)
		}
	}
}
