package audit_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/internal/quorum"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/variant"
	"redlocksim/scenarios/verdict"
	"redlocksim/search/audit"
	"redlocksim/search/sweep"
	"redlocksim/sim/kernel"
)

var randomSettings = flag.Int("random-settings", 8, "how many random settings files sweep and audit --suggest are put to the test with; the full test is 500")

// The attacks that are placed by hand.
var kinds = []string{"clocks", "restart", "memory-loss", "pause"}

// drawer draws the text of files.
type drawer struct{ *rand.Rand }

func (r drawer) ms(least, most int) string { return fmt.Sprintf("%dms", least+r.IntN(most-least+1)) }

func (r drawer) one(of ...string) string { return of[r.IntN(len(of))] }

// maybe is one of the two, as often the one as the other.
func (r drawer) maybe(text string) string { return r.one(text, "0s") }

func (r drawer) latency() string {
	switch r.IntN(3) {
	case 0:
		return r.ms(0, 20)
	case 1:
		return fmt.Sprintf("{min: %s, max: %s}", r.ms(0, 4), r.ms(5, 35))
	}
	return fmt.Sprintf("{min: %dus, p50: 3ms, p99: 9ms, max: %s}", r.IntN(3000), r.ms(10, 40))
}

// settings is a settings file: a lock, preset or not, its nodes and network, and a budget of everything that can go wrong.
func (r drawer) settings() string {
	n := 1 + r.IntN(7)
	ttl := r.IntN(20000) + 2000
	lock := fmt.Sprintf("ttl: %dms, node-timeout: %s, guard-time: %s, clock: %s", ttl, r.ms(100, 400), r.maybe(r.ms(1, 3000)), r.one("monotonic", "boottime", "wall"))
	if r.IntN(3) == 0 {
		lock += ", preset: " + r.one(protocols.Presets()...)
	} else {
		lock += fmt.Sprintf(", protocol: %s, quorum: %d", r.one("redlock", "redlock-plain"), n/2+1+r.IntN(n-n/2))
	}
	if r.IntN(4) > 0 {
		lock += fmt.Sprintf(", drift: {factor: %d%%, constant: %s}", r.IntN(20), r.maybe(r.ms(0, 1200)))
	}
	if r.IntN(8) == 0 {
		lock += fmt.Sprintf(", guard: {max-ttl: %dms}", ttl)
	}
	network := "latency: " + r.latency()
	if r.IntN(3) == 0 {
		network += ", replies: " + r.latency()
	}
	budget := fmt.Sprintf("clock-rate: %d%%, clock-step: %s, pause: %s, suspend: %s, delay: %s, memory-loss: %d", r.IntN(2)*r.IntN(9), r.maybe(r.ms(1, 1000)),
		r.maybe(r.ms(1, 4000)), r.maybe(r.ms(1, 1500)), r.maybe(r.ms(1, 500)), r.IntN(n+1))
	if r.IntN(4) > 0 {
		budget += ", restart-delay: " + r.ms(0, 25000)
	}
	if r.IntN(3) == 0 {
		budget += ", no-power-loss: true"
	}
	return fmt.Sprintf("lock: {%s}\nnodes: {names: [%s], persistence: %s}\nnetwork: {%s}\nbudget: {%s}\n",
		lock, strings.Join(variant.NodeNames(n), ", "), r.one("none", "everysec", "always"), network, budget)
}

// known is a file of what a user knows, to suggest settings for.
func (r drawer) known() string {
	n := 1 + r.IntN(7)
	text := fmt.Sprintf("{clock-error: %s, clock-step: %s, pause: %s, rtt: %s, persistence: %s, power-loss: %s, nodes: %d, budget: {memory-loss: %d}",
		r.one("0%", "500ppm", "1%", "3%", "8%"), r.maybe(r.ms(1, 1000)), r.maybe(r.ms(1, 3000)), r.latency(), r.one("none", "everysec", "always"), r.one("true", "false"), n,
		r.IntN(2)*r.IntN((n+1)/2))
	if r.IntN(2) == 0 {
		return text + ", ttl: " + r.ms(5000, 25000) + "}"
	}
	return text + ", work: " + r.ms(100, 8000) + "}"
}

// placed are worst cases of one kind, written down from the settings alone: with times that are computed, and with a second
// client that asks again and again, so that no moment need be met. It knows nothing of package attacks.
type placed struct {
	*scenarios.Scenario
	text     string // the settings
	timeline []string
	duration time.Duration
}

func (p *placed) item(format string, args ...any) {
	p.timeline = append(p.timeline, "  - "+fmt.Sprintf(format, args...))
}

func (p *placed) quorum() int {
	if quorum := protocols.Of[protocols.QuorumSettings](p.Lock).Quorum; quorum != 0 {
		return quorum
	}
	return quorum.Majority(len(p.Nodes.Names))
}

func (p *placed) roundTrip() time.Duration {
	back := p.Network.Latency.Max()
	if p.Network.Replies != nil {
		back = p.Network.Replies.Max()
	}
	return p.Network.Latency.Max() + back
}

// believed is the longest for which a grant can be valid.
func (p *placed) believed() time.Duration {
	return p.Lock.TTL - protocols.Of[protocols.DriftSettings](p.Lock).Drift.For(p.Lock.TTL)
}

// begins has the holder ask for the lock, with as few votes as will do where few says so, and then do something.
func (p *placed) begins(few bool, then string) {
	at := time.Duration(0)
	if protocols.Of[protocols.RedlockSettings](p.Lock).Guard != nil {
		p.item("{at: 0s, client: client-1, do: [prepare]}")
		at = time.Second
	}
	if others := p.Nodes.Names[p.quorum():]; few && len(others) > 0 {
		p.item("{at: %v, fault: {partition: {clients: [client-1], nodes: [%s], direction: requests}}}", at, strings.Join(others, ", "))
	}
	p.item("{at: %v, client: client-1, do: [try-lock, %s]}", at, then)
	// Messages may be lost, and with them what would prolong the lock.
	p.item("{after: {client: client-1, event: acquire-done}, plus: 1ms, fault: {partition: {clients: [client-1], nodes: [%s], direction: requests}}}", strings.Join(p.Nodes.Names, ", "))
	if p.Budget.Delay > 0 {
		p.item("{at: 0s, fault: {delay: {clients: [client-1], nodes: [storage], direction: requests, by: %v}}}", p.Budget.Delay)
	}
}

// polls has the second client ask every few milliseconds after the grant, for as long as the run goes on, and write.
func (p *placed) polls(after time.Duration) {
	p.item("{after: {client: client-1, event: acquire-done}, plus: %v, client: client-2, do: [sleep: 3ms, try-lock, write, sleep: %v], repeat: 1500}", after, p.duration)
}

// wrong has clocks as wrong as they may be.
func (p *placed) wrong(nodes bool) {
	if rate := p.Budget.ClockRate; !rate.Ratio().IsZero() {
		p.item("{at: 0s, fault: {clock-rate: {process: client-1, rate: -%v}}}", rate)
		for _, node := range p.Nodes.Names {
			if nodes {
				p.item("{at: 0s, fault: {clock-rate: {process: %s, rate: %v}}}", node, rate)
			}
		}
	}
	if step := p.Budget.ClockStep; step > 0 {
		p.item("{after: {client: client-1, event: acquire-done}, plus: 1ms, fault: {clock-step: {process: client-1, by: -%v}}}", step)
		for _, node := range p.Nodes.Names {
			if nodes {
				p.item("{after: {client: client-1, event: acquire-done}, plus: 1ms, fault: {clock-step: {process: %s, by: %v}}}", node, step)
			}
		}
	}
}

// forgets has nodes stop right after the grant and come back.
func (p *placed) forgets(n int, away time.Duration) {
	fault := "power-loss"
	if p.Budget.NoPowerLoss {
		fault = "kill"
	}
	for _, node := range p.Nodes.Names[:n] {
		p.item("{after: {client: client-1, event: acquire-done}, plus: 1ms, fault: {%s: {node: %s, restart-after: %v}}}", fault, node, away)
	}
}

// free is when, after the grant, the second client begins to ask: a while before the first node can be free by itself.
func (p *placed) free() time.Duration {
	rate := p.Budget.ClockRate.Ratio().InexactFloat64()
	at := time.Duration(float64(p.Lock.TTL-p.Budget.ClockStep)/(1+rate)) - p.roundTrip() - 100*time.Millisecond
	return max(at, 2*time.Millisecond)
}

// asleep has the holder's host sleep, once it has the lock.
func (p *placed) asleep() {
	if p.Budget.Suspend > 0 {
		p.item("{after: {client: client-1, event: acquire-done}, plus: 1ms, fault: {suspend: {client: client-1, for: %v}}}", p.Budget.Suspend)
	}
}

// stays is what the holder does for the rest of the run.
func (p *placed) stays() string { return fmt.Sprintf("sleep: %v", p.duration) }

// clocks has clocks as wrong as they may be, and the holder's host asleep.
func (p *placed) clocks(few bool) {
	p.begins(few, p.stays())
	p.wrong(true)
	p.asleep()
	p.polls(p.free())
}

// restart has a quorum of nodes away for as long as the restart delay says.
func (p *placed) restart(few bool) {
	p.begins(few, p.stays())
	p.wrong(false)
	p.asleep()
	away := p.duration
	if p.Budget.RestartDelay != nil {
		away = *p.Budget.RestartDelay
		p.duration += away
		p.forgets(p.quorum(), away)
	}
	p.polls(max(min(away, p.duration/2)-50*time.Millisecond, 2*time.Millisecond))
}

// memoryLoss has nodes come back at once.
func (p *placed) memoryLoss(few bool) {
	p.begins(few, p.stays())
	p.forgets(min(p.Budget.MemoryLoss, p.quorum()), 0)
	p.polls(2 * time.Millisecond)
}

// pause has the holder stop right before its last write: by its own clock, a margin before its lease is over.
func (p *placed) pause(few bool, margin time.Duration) {
	step := time.Duration(0)
	if p.Lock.Clock == kernel.WallClock {
		step = p.Budget.ClockStep
	}
	last := max(p.believed()+step-p.roundTrip()-p.Lock.GuardTime-margin, 0)
	wait := ""
	if last > 0 {
		wait = fmt.Sprintf("sleep: %v, ", last)
	}
	p.begins(few, wait+"write, "+p.stays())
	p.wrong(true)
	// One stop only: of two in a row the budget takes the sum for the length.
	switch {
	case p.Budget.Pause == 0 && p.Budget.Suspend == 0:
	case p.Budget.Pause >= p.Budget.Suspend:
		p.item("{after: {client: client-1, event: checked}, fault: {pause: {process: client-1, for: %v}}}", p.Budget.Pause)
	default:
		p.item("{after: {client: client-1, event: checked}, fault: {suspend: {client: client-1, for: %v}}}", p.Budget.Suspend)
	}
	p.polls(p.free())
}

// file is a worst case of a kind.
func (p *placed) file(kind string, few bool, margin time.Duration) string {
	p.timeline = nil
	p.duration = 3*p.Lock.TTL + 2*(p.Budget.Pause+p.Budget.Suspend+p.Budget.ClockStep) + 30*time.Second
	switch kind {
	case "clocks":
		p.clocks(few)
	case "restart":
		p.restart(few)
	case "memory-loss":
		p.memoryLoss(few)
	case "pause":
		p.pause(few, margin)
	}
	return fmt.Sprintf("title: placed by hand\nsource: the settings\nexplanation: a worst case with computed times\nclaim: holds\nclients: [client-1, client-2]\n%sduration: %v\ntimeline:\n%s\nexpect: {findings: safe, unavailable: {at-most: %v}}\n",
		p.text, p.duration, strings.Join(p.timeline, "\n"), p.duration)
}

// cases are the files of the worst cases of a kind.
func (p *placed) cases(kind string) []string {
	var files []string
	margins := []time.Duration{5 * time.Millisecond}
	if kind == "pause" {
		margins = append(margins, 60*time.Millisecond, p.Lock.TTL/20+5*time.Millisecond, 1005*time.Millisecond)
	}
	for _, few := range []bool{true, false} {
		if !few && p.quorum() == len(p.Nodes.Names) {
			continue
		}
		for _, margin := range margins {
			files = append(files, p.file(kind, few, margin))
		}
	}
	return files
}

// broken is what the hand-placed worst cases of a kind break within the budget, and the file that does; empty if none does.
func broken(t *testing.T, text, kind string) (what, file string) {
	t.Helper()
	s, err := scenarios.ParseSettings("settings.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	p := &placed{Scenario: s, text: text}
	for _, file := range p.cases(kind) {
		all, err := scenarios.Parse("placed.yaml", []byte(file))
		if err != nil {
			t.Fatalf("%v\n%s", err, file)
		}
		r, err := verdict.Judge(all[0], scenarios.Options{})
		if err != nil {
			t.Fatalf("%v\n%s", err, file)
		}
		if r.Beyond != nil {
			t.Fatalf("the worst case is beyond the budget: %v\n%s", r.Beyond, file)
		}
		for _, k := range r.Findings {
			if k.Violation() && k != checker.TokenRegressed && k != checker.TokenRepeated {
				return r.Findings.String(), file
			}
		}
	}
	return "", ""
}

// tally counts what came of the files.
type tally struct{ files, safe, broken, untested, byHand int }

// Whatever the settings, sweep does not call safe what a worst case placed by hand breaks.
func TestSweepIsNeverWronglySafe(t *testing.T) {
	t.Parallel()
	var n tally
	dir := t.TempDir()
	for seed := uint64(0); n.files < *randomSettings; seed++ {
		r := drawer{rand.New(rand.NewPCG(seed, 2))}
		text := r.settings()
		path := filepath.Join(dir, "settings.yaml")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := scenarios.LoadSettings(path)
		if err != nil {
			continue // the protocol refuses the combination
		}
		n.files++
		base, err := variant.SettingsOf(s)
		if err != nil {
			t.Fatal(err)
		}
		n.sweep(t, seed, text, base)
	}
	t.Logf("%d settings files: sweep calls %d safe, %d broken, %d not tested; worst cases placed by hand break %d",
		n.files, n.safe, n.broken, n.untested, n.byHand)
	n.enough(t)
}

// enough fails a test in which too much was not tested, or the worst cases show nothing.
func (n *tally) enough(t *testing.T) {
	t.Helper()
	if n.untested*20 > n.files {
		t.Errorf("%d of %d were not tested, more than 5 %%", n.untested, n.files)
	}
	if n.byHand == 0 {
		t.Error("no worst case that was placed by hand breaks anything: they test nothing")
	}
}

// sweep compares what sweep says of the settings with the worst cases placed by hand.
func (n *tally) sweep(t *testing.T, seed uint64, text string, base variant.File) {
	t.Helper()
	a, err := sweep.ParseAxis("lock.ttl=" + base.Word("lock.ttl"))
	if err != nil {
		t.Fatal(err)
	}
	chart, err := sweep.Run(context.Background(), sweep.Spec{Base: base, Axes: []sweep.Axis{a}, Jobs: 1})
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, text)
	}
	cell := chart.Cells[0]
	what, file := "", ""
	for i := 0; i < len(kinds) && what == ""; i++ {
		what, file = broken(t, text, kinds[i])
	}
	if what != "" {
		n.byHand++
	}
	switch {
	case cell.Untested():
		n.untested++
		t.Logf("seed %d is not tested, %s: %s", seed, cell.NotTested[0].Schedule, cell.NotTested[0].Why)
	case cell.Broken():
		n.broken++
	default:
		n.safe++
		if what != "" {
			t.Errorf("seed %d: sweep calls it safe, a worst case placed by hand shows %s\n%s", seed, what, file)
		}
	}
}

// Whatever is known, no worst case placed by hand breaks what is suggested.
func TestSuggestionsAreNeverWronglySafe(t *testing.T) {
	t.Parallel()
	var n tally
	for seed := uint64(0); n.files < *randomSettings; seed++ {
		r := drawer{rand.New(rand.NewPCG(seed, 3))}
		text := r.known()
		a, err := suggest(text)
		if errors.Is(err, audit.ErrInput) {
			continue // nothing can be suggested
		}
		n.files++
		switch {
		case err != nil:
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		n.safe++
		if a.Code() != 0 {
			t.Errorf("seed %d: what is suggested for %s is not safe: %s", seed, text, a.Summary())
		}
		for _, kind := range kinds {
			if what, file := broken(t, a.YAML, kind); what != "" {
				t.Errorf("seed %d: what is suggested for %s breaks with %s: %s\n%s", seed, text, kind, what, file)
			}
		}
		n.byHand += weaker(t, a.YAML)
	}
	t.Logf("%d files of what is known: %d suggested; without guard time and drift allowance %d worst cases break", n.files, n.safe, n.byHand)
	n.enough(t)
}

var weakened = regexp.MustCompile(`(?m)^  (guard-time|drift): .*$`)

// weaker counts the worst cases that break what was advised without its guard time and its drift allowance.
func weaker(t *testing.T, yaml string) (breaks int) {
	t.Helper()
	yaml = weakened.ReplaceAllStringFunc(yaml, func(line string) string {
		if strings.Contains(line, "drift") {
			return "  drift: {factor: 0%, constant: 0s}"
		}
		return "  guard-time: 0s"
	})
	for _, kind := range []string{"clocks", "pause"} {
		if what, _ := broken(t, yaml, kind); what != "" {
			breaks++
		}
	}
	return breaks
}
