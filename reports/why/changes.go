package why

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/variant"
	"redlocksim/search/attacks"
	"redlocksim/search/remedies"
	"redlocksim/sim/redis"
	"redlocksim/sim/storage"
)

// Change is something that might have prevented what went wrong: a remedy, or something else that clients or nodes do.
type Change struct {
	remedies.Remedy
	// Value is that of the remedy, if it has one.
	Value string

	// edit changes what no setting does, and says whether it changes anything; nil if there is nothing.
	edit func(s *scenarios.Scenario, value string) bool
}

// What says it in words.
func (c *Change) What() string { return strings.ReplaceAll(c.Text, "%s", c.Value) }

// of is the scenario of a file with the change, and its file; nil if there is nothing to change. The error says why there can
// be no such scenario.
func (x *Explanation) of(f variant.File, c *Change) (*scenarios.Scenario, variant.File, error) {
	changed, err := f.With(c.Settings(x.lock(), c.Value)...)
	if err != nil {
		return nil, f, err
	}
	s, err := changed.Scenario()
	if err != nil || c.edit != nil && !c.edit(s, c.Value) {
		return nil, f, err
	}
	if changed, err = variant.Of(s); err != nil || changed == f {
		return nil, f, err
	}
	s, err = changed.Scenario()
	return s, changed, err
}

// lock is the lock of the run that is explained.
func (x *Explanation) lock() *attacks.Settings { return &attacks.Settings{Scenario: x.Result.Scenario} }

// atOtherEnd is the change with items of the timeline that wait for the failure of a call instead of its success, and the other
// way round.
func (c Change) atOtherEnd(items []int) Change {
	const done, failed = "-done", "-failed"
	edit := c.edit
	c.edit = func(s *scenarios.Scenario, value string) bool {
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
		return changed && (edit == nil || edit(s, value))
	}
	return c
}

// changes are those that can be tried on a scenario: the remedies, what clients can do, then every word of every setting that
// has words, and the lock of the library as it comes.
func changes(s *scenarios.Scenario) []Change {
	var all []Change
	redlock, isRedlock := protocols.Of[protocols.RedlockSettings](s.Lock), protocols.Has[protocols.RedlockSettings](s.Lock)
	for _, r := range remedies.All() {
		c := Change{Remedy: r}
		switch r.Name {
		case remedies.Fencing.Name:
			if s.Storage == storage.Fenced {
				continue
			}
			if !isRedlock { // which gives no tokens
				c.Besides = to("storage=" + storage.Fenced.String())
			}
		case remedies.Guard.Name:
			if redlock.Guard != nil || slices.Contains(s.Clients, operator) || s.Heal != nil {
				continue
			}
			c.edit = prepared
		case remedies.Constant.Name:
			// With more, nothing is better than that leases are shorter.
			c.To = func(s *attacks.Settings) string { return (s.Lock.TTL * 2 / 5).String() }
		case remedies.Later.Name:
			c.Path, c.edit = "", restartLater
		}
		if r.Unless == "" { // else every protocol that has it has the other
			all = append(all, c)
		}
	}
	all = append(all, Change{Remedy: remedies.Remedy{Name: "clients", Text: "have clients stop when their lease ends, and check it before they write"}, edit: stopInTime})
	for _, part := range []struct {
		path   string
		fields []strictyaml.Field
	}{{"nodes", strictyaml.Fields(reflect.TypeFor[scenarios.Nodes]())}, {"lock", s.Lock.Protocol.Keys()}} {
		for _, f := range part.fields {
			for _, word := range strictyaml.WordsOf(f.Type) {
				if path := part.path + "." + f.Key; !slices.Contains(given, f.Type) {
					all = append(all, Change{Remedy: remedies.Remedy{Name: path, Text: path + ": " + word, Besides: to(path + "=" + word)}})
				}
			}
		}
	}
	return append(all, Change{Remedy: remedies.Remedy{Name: library, Text: "take the lock of the library, with its defaults", Besides: to("lock={ttl: " + s.Lock.TTL.String() + "}")}})
}

func to(setting string) func(*attacks.Settings, string) []string {
	return func(*attacks.Settings, string) []string { return []string{setting} }
}

// now is the value that the setting of a change has; empty if the file leaves it out.
func now(s *scenarios.Scenario, f variant.File, c *Change) string {
	switch c.Name {
	case remedies.TTL.Name:
		return s.Lock.TTL.String()
	case remedies.NodeTimeout.Name:
		return s.Lock.NodeTimeout.String()
	}
	return f.Word(c.Path)
}

// library is the kind of the change to the lock of the library.
const library = "library"

// given are the types of what has words and is nobody's setting: which implementation or protocol it is, what servers there
// are, and what they forbid.
var given = []reflect.Type{reflect.TypeFor[protocols.Preset](), reflect.TypeFor[protocols.Name](), reflect.TypeFor[redis.Software](),
	reflect.TypeFor[scenarios.Command]()}

// readying is how long an operator has to declare all nodes fit to vote, before anything else happens.
const readying = time.Second

// operator is the client that declares the nodes fit to vote.
const operator = "operator"

// prepared has somebody declare the nodes fit to vote, as the restart guard takes it, so that everything else starts later.
func prepared(s *scenarios.Scenario, _ string) bool {
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
func stopInTime(s *scenarios.Scenario, _ string) bool {
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

// restartLater keeps nodes that come back earlier down for so long, by true time.
func restartLater(s *scenarios.Scenario, value string) bool {
	after, err := time.ParseDuration(value)
	changed := false
	for i := range s.Timeline {
		f := s.Timeline[i].Fault
		if f == nil || err != nil {
			continue
		}
		if o := faults.Part[faults.Outage](f); o != nil && o.RestartAfter != nil && (*o.RestartAfter < after || o.ByWallClock) {
			o.RestartAfter, o.ByWallClock, changed = &after, false, true
		}
	}
	return changed
}
