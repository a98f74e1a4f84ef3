package sweep_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	_ "redlocksim/internal/nofailfile"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/variant"
	"redlocksim/search/attacks"
)

// At zero latency every formula of every schedule is exact, whatever the settings: the lock holds at the value that the
// formula gives, and breaks one step beyond it.
func TestEveryFormulaIsExact(t *testing.T) {
	formulas, ran := 0, 0
	locks := modelled(t)
	looked := map[string]int{}
	for _, schedule := range attacks.All() {
		for _, knob := range schedule.Knobs {
			formulas++
			t.Run(schedule.Name+"/"+knob.Path, func(t *testing.T) {
				ran++
				n := sides{locks: locks, looked: looked}
				rapid.Check(t, func(t *rapid.T) { n.look(t, schedule, knob) })
				t.Logf("of %d settings drawn the lock refuses %d, and the formula is not about %d; of the others %d hold at it, %d break one step beyond it",
					n.drawn, n.refused, n.outside, n.inside, n.beyond)
				if n.drawn != n.refused+n.outside+n.settings {
					t.Errorf("settings are missing: %+v", n)
				}
				// Of a hundred random settings a quarter to all have such a side: a twentieth is never missed by chance.
				if n.inside*20 < n.settings || n.beyond*20 < n.settings {
					t.Errorf("of %d settings only %d have an inside and %d a beyond that can be run", n.settings, n.inside, n.beyond)
				}
			})
		}
	}
	if formulas < 7 {
		t.Errorf("only %d formulas", formulas)
	}
	if ran < formulas {
		return // only some were asked for, which may not be about every lock
	}
	for _, lock := range slices.Concat(locks.protocols, locks.presets) {
		if looked[lock] == 0 {
			t.Errorf("no formula was looked at with %s", lock)
		}
	}
}

// locks are protocols and presets as keys of a scenario's lock.
type locks struct{ protocols, presets []string }

// modelled is what the formulas are about: the locks that allow for clock drift.
func modelled(t *testing.T) (l locks) {
	add := func(to *[]string, key string) {
		parsed, err := scenarios.ParseSettings(key, []byte("lock: {"+key+"}"))
		if err != nil {
			t.Fatal(err)
		}
		if protocols.Has[protocols.DriftSettings](parsed.Lock) {
			*to = append(*to, key)
		}
	}
	for _, p := range protocols.All() {
		add(&l.protocols, "protocol: "+string(p.Name))
	}
	for _, name := range protocols.Presets() {
		add(&l.presets, "preset: "+name)
	}
	return l
}

// sides counts the settings that were drawn for a formula: those that the lock refuses, those that the formula is not about,
// and the others, which were run on either side of it.
type sides struct {
	drawn, refused, outside  int
	settings, inside, beyond int
	locks                    locks
	looked                   map[string]int // settings by their lock
}

// look runs the schedule at the formula's value and one step beyond it.
func (n *sides) look(t *rapid.T, schedule attacks.Attack, knob attacks.Knob) {
	of := n.locks
	if schedule.Name == "counters" { // which only one lock has
		of = locks{protocols: []string{"protocol: redlock, fencing: true"}}
	}
	lock, text := instant(t, of, !schedule.Exclusion())
	n.drawn++
	parsed, err := scenarios.ParseSettings("drawn", []byte(text))
	if err != nil {
		n.refused++
		t.Skip("the lock refuses the combination")
	}
	base, s := settings(t, parsed)
	if !knob.Applies(s) {
		n.outside++
		t.Skip("the formula is not about these settings")
	}
	n.settings++
	n.looked[lock]++
	inside, beyond := neighbours(knob, knob.Formula(s))
	if at(t, base, schedule, knob, inside, "") {
		n.inside++
	}
	if at(t, base, schedule, knob, beyond, "broken") {
		n.beyond++
	}
}

// neighbours are the last value that holds by the formula f, to the nanosecond, the part in a million or the node, and one
// that is a step beyond it: of times a microsecond, a thousandth of Redis' step, since clocks that run at other rates
// count whole nanoseconds.
func neighbours(knob attacks.Knob, f decimal.Decimal) (inside, beyond decimal.Decimal) {
	one, ppm := decimal.NewFromInt(1), decimal.New(1, -4)
	switch {
	case knob.Falls:
		return f, f.Add(one)
	case knob.Unit == variant.Nanoseconds:
		inside = decimal.Max(f.Ceil(), decimal.Zero)
		return inside, inside.Sub(decimal.NewFromInt(1000))
	case knob.Unit == variant.Percent:
		inside = decimal.Max(f.RoundCeil(7), decimal.Zero)
		return inside, inside.Sub(ppm)
	}
	return f, f.Sub(one)
}

// at runs the schedule with a value, and says whether the lock takes it.
func at(t *rapid.T, base variant.File, schedule attacks.Attack, knob attacks.Knob, value decimal.Decimal, want string) bool {
	if value.IsNegative() || knob.Path == "lock.quorum" && value.IsZero() { // which is the majority
		return false
	}
	word := value.String()
	switch knob.Unit {
	case variant.Nanoseconds:
		word += "ns"
	case variant.Percent:
		word += "%"
	}
	changed, err := base.With(variant.Setting{Path: knob.Path, Word: word})
	if err != nil {
		t.Fatal(err)
	}
	s, err := attacks.Read(changed)
	if err != nil {
		return false // the lock refuses it, as a quorum of more nodes than there are
	}
	if !grantable(s, schedule) || !knob.Applies(s) {
		return false
	}
	out, err := schedule.Run(s, scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if (out.Broken != "") != (want == "broken") || out.NotTested != "" {
		t.Fatalf("%s: with %s=%s: %q, want %q; not tested: %q", schedule.Name, knob.Path, word, out.Broken, want, out.NotTested)
	}
	return true
}

// grantable says whether the lock is granted at all, for long enough to write: drift allowance, messages, the unit in which
// the client reads its clock and the guard time may leave nothing.
func grantable(s *attacks.Settings, schedule attacks.Attack) bool {
	left := s.Lock.TTL - protocols.Of[protocols.DriftSettings](s.Lock).Drift.For(s.Lock.TTL)
	if s.Network.Replies != nil { // the nodes may be asked one after the other, by a clock that is fast
		left -= protocols.Of[protocols.RedlockPlainSettings](s.Lock).Resolution + time.Duration(len(s.Nodes.Names))*(s.Network.Latency.Max()+s.Network.Replies.Max())*11/10
	}
	if schedule.Name == "pause" || schedule.Name == "counters" {
		left -= s.Lock.GuardTime
	}
	return left > 0
}

// settings are those of a settings file.
func settings(t *rapid.T, parsed *scenarios.Scenario) (variant.File, *attacks.Settings) {
	base, err := variant.SettingsOf(parsed)
	if err != nil {
		t.Fatal(err)
	}
	s, err := attacks.Read(base)
	if err != nil {
		t.Fatal(err)
	}
	return base, s
}

// instant draws a settings file for one of the locks, with messages that take no time or, for schedules that are about latency,
// always the same.
func instant(t *rapid.T, of locks, late bool) (which, text string) {
	whole := func(name string, least, most int) int { return rapid.IntRange(least, most).Draw(t, name) }
	ms := func(name string, most int) string { return fmt.Sprintf("%dms", whole(name, 0, most)) }
	one := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	n := whole("nodes", 1, 7)
	ttl := whole("ttl", 1000, 30000)
	lock := fmt.Sprintf("ttl: %dms, clock: %s, guard-time: %s", ttl, one("clock", "monotonic", "boottime", "wall"), ms("guard-time", 3000))
	if len(of.presets) > 0 && whole("preset", 0, 3) == 1 {
		which = one("which", of.presets...)
		lock += ", " + which
	} else {
		which = one("protocol", of.protocols...)
		lock += fmt.Sprintf(", %s, quorum: %d", which, whole("quorum", n/2+1, n))
	}
	if whole("drift", 0, 3) > 0 {
		lock += fmt.Sprintf(", drift: {factor: %d%%, constant: %s}", whole("factor", 0, 20), ms("constant", 1200))
	}
	if whole("guard", 0, 7) == 1 {
		lock += fmt.Sprintf(", guard: {max-ttl: %dms, trust-node-clock: %s}", ttl, one("trust", "false", "true"))
	}
	network := "latency: 0s"
	if late {
		network = fmt.Sprintf("latency: %s, replies: %s", ms("requests", 100), ms("replies", 100))
	}
	return which, fmt.Sprintf("lock: {%s}\nnodes: {names: [%s], persistence: %s}\nnetwork: {%s}\nbudget: {clock-rate: %d.%d%%, clock-step: %s, pause: %s, suspend: %s, delay: %s, memory-loss: %d, restart-delay: %s, no-power-loss: %s}\n",
		lock, strings.Join(variant.NodeNames(n), ", "), one("persistence", "none", "everysec", "always"), network, whole("rate", 0, 7), whole("tenths", 0, 9),
		ms("step", 1000), ms("pause", 4000), ms("suspend", 1500), ms("delay", 500), whole("loss", 0, n), ms("restart", 25000), one("power", "false", "true"))
}
