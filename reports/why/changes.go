package why

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/quorum"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/variant"
	"redlocksim/sim/redis"
	"redlocksim/sim/storage"
)

// Change is something that might have prevented what went wrong.
type Change struct {
	// Kind names changes of the same setting, What says this one in words.
	Kind, What string
	// Ladder says that it is one of several of its kind, each more than the one before.
	Ladder bool

	// settings are what the file says then; edit changes what the clients do, and says whether it changes anything.
	settings []variant.Setting
	edit     func(*scenarios.Scenario) bool
}

// of is the scenario of a file with the change, and its file; nil if there is nothing to change. The error says why there can
// be no such scenario.
func (c Change) of(f variant.File) (*scenarios.Scenario, variant.File, error) {
	changed, err := f.With(c.settings...)
	if err != nil {
		return nil, f, err
	}
	s, err := changed.Scenario()
	if err != nil || c.edit != nil && !c.edit(s) {
		return nil, f, err
	}
	if changed, err = variant.Of(s); err != nil || changed == f {
		return nil, f, err
	}
	s, err = changed.Scenario()
	return s, changed, err
}

// atOtherEnd is the change with items of the timeline that wait for the failure of a call instead of its success, and the other
// way round.
func (c Change) atOtherEnd(items []int) Change {
	const done, failed = "-done", "-failed"
	edit := c.edit
	c.edit = func(s *scenarios.Scenario) bool {
		changed := false
		for _, i := range items {
			m := s.Timeline[i].When.After
			if m == nil {
				continue
			}
			if call, ok := strings.CutSuffix(m.Event, done); ok {
				m.Event, changed = call+failed, true
			} else if call, ok := strings.CutSuffix(m.Event, failed); ok {
				m.Event, changed = call+done, true
			}
		}
		return changed && (edit == nil || edit(s))
	}
	return c
}

// changes are those that can be tried on a scenario: those that are more than another word for a setting, then every word
// of every setting that has words, and the lock of the library as it comes.
func changes(s *scenarios.Scenario) []Change {
	var all []Change
	set := func(kind, what string, isLadder bool, settings ...string) {
		c := Change{Kind: kind, What: what, Ladder: isLadder}
		for _, text := range settings {
			path, word, _ := strings.Cut(text, "=")
			c.settings = append(c.settings, variant.Setting{Path: path, Word: word})
		}
		all = append(all, c)
	}
	ttl, redlock, drift := s.Lock.TTL, protocols.Of[protocols.RedlockSettings](s.Lock), protocols.Of[protocols.DriftSettings](s.Lock).Drift
	if s.Storage != storage.Fenced {
		fenced := []string{"storage=" + storage.Fenced.String(), "lock.fencing=true"}
		if !protocols.Has[protocols.RedlockSettings](s.Lock) { // which gives no tokens
			fenced = fenced[:1]
		}
		set("fencing", "fencing tokens, and a resource that rejects lower ones", false, fenced...)
	}
	all = append(all, Change{Kind: "guard", What: "the restart guard, with the time to live as its maximum", edit: guard},
		Change{Kind: "clients", What: "clients that stop when their lease ends, and check it before they write", edit: stopInTime})
	if r := reserve(s); r > s.Lock.GuardTime && r < ttl {
		set("guard-time", fmt.Sprintf("clients that stop sending effects %v before their lease ends", r), false, "lock.guard-time="+r.String())
	}
	for _, more := range []time.Duration{0, 10 * time.Millisecond, 100 * time.Millisecond, time.Second} {
		what := "nodes that stay down for the time to live"
		if more > 0 {
			what += fmt.Sprintf(" and %v more", more)
		}
		all = append(all, Change{Kind: "restart", What: what, Ladder: true, edit: func(s *scenarios.Scenario) bool { return restartLater(s, ttl+more) }})
	}
	for _, percent := range []int{2, 5, 10, 20, 40} {
		if protocols.Has[protocols.DriftSettings](s.Lock) && int64(percent)*10_000_000 > drift.Factor.PPB() {
			set("drift", fmt.Sprintf("a drift allowance of %d%% of the time to live", percent), true, fmt.Sprintf("lock.drift.factor=%d%%", percent))
		}
	}
	nodes := len(s.Nodes.Names)
	for q := max(protocols.Of[protocols.QuorumSettings](s.Lock).Quorum, quorum.Majority(nodes)) + 1; q <= nodes; q++ {
		set("quorum", fmt.Sprintf("a quorum of %d", q), true, fmt.Sprintf("lock.quorum=%d", q))
	}
	for _, times := range []time.Duration{2, 5, 10} {
		longer := []string{"lock.ttl=" + (ttl * times).String()}
		if redlock.Guard != nil {
			longer = append(longer, "lock.guard.max-ttl="+(redlock.Guard.MaxTTL*times).String())
		}
		set("ttl", fmt.Sprintf("a time to live %d times as long", times), true, longer...)
	}
	for _, part := range []struct {
		path   string
		fields []strictyaml.Field
	}{{"nodes", strictyaml.Fields(reflect.TypeFor[scenarios.Nodes]())}, {"lock", s.Lock.Protocol.Keys()}} {
		for _, f := range part.fields {
			for _, word := range strictyaml.WordsOf(f.Type) {
				if path := part.path + "." + f.Key; !slices.Contains(given, f.Type) {
					set(path, path+": "+word, false, path+"="+word)
				}
			}
		}
	}
	set(library, "the lock of the library, with its defaults", false, "lock={ttl: "+ttl.String()+"}")
	return all
}

// library is the kind of the change to the lock of the library.
const library = "library"

// given are the types of what has words and is nobody's setting: which implementation or protocol it is, what servers there
// are, and what they forbid.
var given = []reflect.Type{reflect.TypeFor[protocols.Preset](), reflect.TypeFor[protocols.Name](), reflect.TypeFor[redis.Software](),
	reflect.TypeFor[scenarios.Command]()}

// readying is how long an operator has to declare all nodes fit to vote, before anything else happens.
const readying = time.Second

// guard turns the restart guard on. Somebody must then declare the nodes fit to vote, so everything else starts later.
func guard(s *scenarios.Scenario) bool {
	const operator = "operator"
	if slices.Contains(s.Clients, operator) || s.Heal != nil {
		return false
	}
	fresh := false
	protocols.Change(&s.Lock, func(own *protocols.RedlockSettings) {
		if fresh = own.Guard == nil; fresh {
			own.Guard = &protocols.Guard{MaxTTL: s.Lock.TTL}
		}
	})
	if !fresh {
		return false
	}
	for i := range s.Timeline {
		if when := &s.Timeline[i].When; when.After == nil {
			when.At += readying
		}
	}
	s.Clients = append(s.Clients, operator)
	s.Timeline = append(s.Timeline, scenarios.Item{Client: operator, Do: []scenarios.Step{{Kind: scenarios.PrepareStep}}, Repeat: 1})
	s.Duration += readying
	return true
}

// stopInTime makes clients stop where they carried on without checking their lease.
func stopInTime(s *scenarios.Scenario) bool {
	changed := false
	for i := range s.Timeline {
		locked := 0
		for j := range s.Timeline[i].Do {
			switch step := &s.Timeline[i].Do[j]; {
			case step.Kind == scenarios.LockStep || step.Kind == scenarios.TryLockStep:
				locked++
			case step.Kind == scenarios.UnlockStep:
				locked--
			case step.Kind == scenarios.SleepStep && locked > 0:
				step.Kind, changed = scenarios.HoldStep, true
			case step.Kind == scenarios.WriteUncheckedStep:
				step.Kind, changed = scenarios.WriteStep, true
			}
		}
	}
	return changed
}

// reserve is the longest that anything in the timeline stops a client or a message, with the longest message, in tenths of a
// second; zero if nothing does.
func reserve(s *scenarios.Scenario) time.Duration {
	longest := time.Duration(0)
	for i := range s.Timeline {
		if f := s.Timeline[i].Fault; f != nil {
			longest = max(longest, faults.Late(f))
		}
	}
	if longest == 0 {
		return 0
	}
	const tenth = 100 * time.Millisecond
	return (longest + s.Network.Latency.Max()).Truncate(tenth) + tenth
}

// restartLater keeps nodes that come back earlier down for so long, by true time.
func restartLater(s *scenarios.Scenario, after time.Duration) bool {
	changed := false
	for i := range s.Timeline {
		f := s.Timeline[i].Fault
		if f == nil {
			continue
		}
		if o := faults.Part[faults.Outage](f); o != nil && o.RestartAfter != nil && (*o.RestartAfter < after || o.ByWallClock) {
			o.RestartAfter, o.ByWallClock, changed = &after, false, true
		}
	}
	return changed
}
