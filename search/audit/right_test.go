package audit

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"redlocksim/checker"
	"redlocksim/faults"
	_ "redlocksim/internal/manyruns"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/variant"
	"redlocksim/search"
	"redlocksim/search/attacks"
	"redlocksim/search/experiment"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

var (
	manyAnswers = flag.Int("answers", 4, "how many random answers are audited")
	firstAnswer = flag.Uint64("first-answer", 0, "the `number` of the first of them, so that many can be audited in several turns")
	drawSeed    = flag.Uint64("draw-seed", 7, "what the random answers are drawn from")
	manyRuns    = flag.Int("runs", 20, "how many random runs each world of what is safe must survive")
)

// known is what somebody knows, of which the answers are made, and settings as well.
type known struct {
	library, persistence         string
	nodes                        int
	fencing, powerLoss, failover bool
	clockError                   string
	// nested: the file says it as a settings file does, where it can.
	nested bool
	// memoryLoss and counterLoss are how many nodes lose locks or counters.
	memoryLoss, counterLoss                         int
	suspend                                         time.Duration
	ttl, restart, step, pause, rttMin, rttMax, work time.Duration
}

func draw(r *rand.Rand) known {
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	k := known{library: "redlock", persistence: one("none", "everysec", "always"), nodes: 1 + r.IntN(7),
		powerLoss: r.IntN(2) == 0, failover: r.IntN(2) == 0, clockError: one("0%", "500ppm", "0.5%", "1%", "3%"),
		ttl: ms(2000 + r.IntN(20000)), restart: ms(r.IntN(25000)), step: ms(r.IntN(2) * r.IntN(300)), pause: ms(r.IntN(2) * r.IntN(2000)),
		rttMin: ms(r.IntN(3)), rttMax: ms(5 + r.IntN(60)), work: ms(1 + r.IntN(20000))}
	k.nested, k.memoryLoss, k.counterLoss, k.suspend = r.IntN(2) == 0, r.IntN(2)*r.IntN(3), r.IntN(2)*r.IntN(3), ms(r.IntN(2)*r.IntN(500))
	switch r.IntN(5) {
	case 0, 1:
		k.library = ofPreset(one(protocols.Presets()...))
	case 2:
		k.library, k.nodes = "single", 1
	case 3:
		k.fencing = true
	}
	return k
}

// answers is a file of them.
func (k known) answers() string {
	if k.nested {
		return k.asSettings()
	}
	return fmt.Sprintf("library: %s\nttl: %v\nnodes: %d\npersistence: %s\nrestart-delay: %v\npower-loss: %t\nclock-error: %s\nclock-step: %v\npause: %v\n"+
		"rtt: {min: %v, max: %v}\nwork: %v\nfailover: %t\nfencing: %t\nbudget: {memory-loss: %d, counter-loss: %d, suspend: %v}\n", k.library, k.ttl, k.nodes, k.persistence, k.restart, k.powerLoss, k.clockError, k.step, k.pause,
		k.rttMin, k.rttMax, k.work, k.failover, k.fencing, k.memoryLoss, k.counterLoss, k.suspend)
}

// asSettings is such a file with the keys of a settings file.
func (k known) asSettings() string {
	lock, resource := k.lock()
	return fmt.Sprintf("lock: {%sttl: %v}\nnodes: {names: [%s], persistence: %s}\nstorage: %s\nwork: %v\nfailover: %t\n"+
		"network: {latency: {min: %v, max: %v}, replies: 0s}\n"+
		"budget: {restart-delay: %v, no-power-loss: %t, clock-rate: %s, clock-step: %v, pause: %v, memory-loss: %d, counter-loss: %d, suspend: %v}\n",
		lock, k.ttl, strings.Join(variant.NodeNames(k.nodes), ", "), k.persistence, resource, k.work, k.failover, k.rttMin, k.rttMax,
		k.restart, !k.powerLoss, k.rate(), k.step, k.pause, k.memoryLoss, k.counterLoss, k.suspend)
}

// lock is what a settings file says of the lock besides its TTL, and of the resource.
func (k known) lock() (lock, resource string) {
	switch {
	case k.fencing:
		return "fencing: true, ", "fenced"
	case k.library == "single":
		return "protocol: single, ", "register"
	case k.library == "redisson-multi":
		return "preset: redisson, ", "register"
	case k.library != "redlock":
		return "preset: " + k.library + ", ", "register"
	}
	return "", "register"
}

// rate is the clock error as a settings file has it.
func (k known) rate() string { return strings.Replace(k.clockError, "500ppm", "0.05%", 1) }

// settings is a settings file with a budget of what is safe.
func (k known) settings(t *testing.T, safe func(string) bool) *scenarios.Scenario {
	lock, resource := k.lock()
	budget, lost := "no-power-loss: true", 0
	if safe("lost memory") {
		lost += k.memoryLoss
	}
	if safe("failover") {
		lost++
	}
	if safe("power loss") {
		budget = "no-power-loss: false"
	}
	for _, x := range []struct{ line, is string }{
		{"clock error", "clock-rate: " + k.rate()}, {"clock step", "clock-step: " + k.step.String()},
		{"killed process", "restart-delay: " + k.restart.String()}, {"fencing tokens", fmt.Sprintf("counter-loss: %d", k.counterLoss)}, {"suspension", "suspend: " + k.suspend.String()}, {"pause", "pause: " + k.pause.String()},
	} {
		if safe(x.line) {
			budget += ", " + x.is
		}
	}
	budget += fmt.Sprintf(", memory-loss: %d", lost)
	text := fmt.Sprintf("lock: {%sttl: %v}\nnodes: {names: [%s], persistence: %s}\nnetwork: {latency: {min: %v, max: %v}, replies: 0s}\nstorage: %s\nbudget: {%s}\n",
		lock, k.ttl, strings.Join(variant.NodeNames(k.nodes), ", "), k.persistence, k.rttMin, k.rttMax, resource, budget)
	s, err := scenarios.ParseSettings("settings", []byte(text))
	if err != nil {
		t.Fatalf("%s%v", text, err)
	}
	return s
}

// Whatever the answers: what is safe survives every attack together, and random runs; and what is not comes with a run that
// repeats, and with changes after which the line is not unsafe any more.
func TestRightOnBothSides(t *testing.T) {
	t.Parallel()
	lines, unsafe, mended, survived := 0, 0, 0, 0
	for i := range uint64(*manyAnswers) {
		k := draw(rand.New(rand.NewPCG(*firstAnswer+i, *drawSeed)))
		out, err := Of(t.Context(), parse(t, k.answers()), Options{Runs: *manyRuns})
		if errors.Is(err, ErrInput) {
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", k.answers(), err)
		}
		for i := range out.Assumptions {
			x := &out.Assumptions[i]
			lines++
			if x.Verdict != Unsafe {
				continue
			}
			unsafe++
			s, seed := x.Run()
			r, err := scenarios.Verify(s, scenarios.Options{Seed: seed})
			if err != nil {
				t.Fatalf("%s%s: %v", k.answers(), x.Name, err)
			}
			if !r.OK() && x.Name != "node timeout" { // a run in which nobody is granted the lock tests nothing
				t.Errorf("%s%s: the file of its run is not as it expects: %v", k.answers(), x.Name, r.Problems)
			}
			if r.Witness() == nil && x.Name != "work" && x.Name != "node timeout" {
				t.Errorf("%s%s is unsafe, and its run is %s", k.answers(), x.Name, r.Verdict())
			}
			mended += mends(t, k.answers(), x)
		}
		if all := out.line("all together"); all.Verdict == Safe {
			k.survives(t, out)
			survived++
		} else if all.Verdict == Unsafe && (k.library == "redlock" || k.library == "single") {
			t.Errorf("%s%s", k.answers(), all.Text)
		}
	}
	t.Logf("%d answers: %d lines, %d unsafe with %d fixes, %d worlds of what is safe survived %d runs each", *manyAnswers, lines, unsafe, mended, survived, *manyRuns)
	if lines < 4**manyAnswers || unsafe < *manyAnswers/2 || mended < unsafe/2 || survived < *manyAnswers/4 {
		t.Error("too few of them to show anything")
	}
}

// mends applies each fix of a line, and says how many there are. Only what is wrong all together needs none.
func mends(t *testing.T, answers string, x *Assumption) int {
	if len(x.Fixes) == 0 && x.Name != "all together" {
		t.Errorf("%s%s: no fix: %s", answers, x.Name, x.Text)
	}
	for _, f := range x.Fixes {
		root, err := strictyaml.ValueOf(answers)
		for _, key := range f.Drop {
			root = strictyaml.Merge(root, strictyaml.Under(key, written("null")))
		}
		for _, set := range f.Set {
			var change *yaml.Node
			if change, err = strictyaml.ValueOf(set); err == nil {
				root = strictyaml.Merge(root, change)
			}
		}
		if err != nil {
			t.Fatalf("%v: %v", f, err)
		}
		text, err := yaml.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		out, err := Of(t.Context(), parse(t, string(text)), Options{Runs: 1})
		if err != nil {
			t.Fatalf("%s%s: %q: %v", answers, x.Name, f.Set, err)
		}
		after := out.line(x.Name)
		asked := x.Name != "failover" && !slices.Contains(f.Set, "budget: {memory-loss: 0}") && !slices.Contains(f.Set, "budget: {suspend: 0s}")
		if after == nil && asked {
			t.Errorf("%s%s: with %q nobody asks about it any more", answers, x.Name, f.Set)
		}
		if after != nil && after.Verdict != Safe {
			t.Errorf("%s%s: %s\n%q does not mend it: %s %s", answers, x.Name, x.Text, f.Set, after.Verdict, after.Text)
		}
	}
	return len(x.Fixes)
}

// survives has what is safe happen in the worst way, and at random.
func (k known) survives(t *testing.T, out *Audit) {
	safe := func(name string) bool {
		x := out.line(name)
		return x != nil && x.Verdict == Safe
	}
	world := k.settings(t, safe)
	names := []string{"clocks", "restart", "split"}
	if safe("pause") {
		names = append(names, "pause")
	}
	if safe("failover") {
		names = append(names, "failover")
	}
	if safe("lost memory") {
		names = append(names, "memory-loss")
	}
	if safe("fencing tokens") {
		names = append(names, "counters")
	}
	all, _ := attacks.Find(names...)
	for _, attack := range all {
		was, err := attack.Run(&attacks.Settings{Scenario: world, Pause: world.Budget.Pause}, scenarios.Options{})
		if err != nil {
			t.Fatalf("%s%s: %v", k.answers(), attack.Name, err)
		}
		if was.Broken != "" || was.NotTested != "" {
			t.Errorf("%sschedule %s: %s, not tested %q", k.answers(), attack.Name, was.Broken, was.NotTested)
		}
	}
	space := experiment.NewSpace(world)
	broken := &auditing{}
	for _, l := range lines() {
		if x := out.line(l.name); x != nil && x.Verdict == Unsafe {
			broken.without = append(broken.without, l)
		}
	}
	var buffer history.History
	for i := range *manyRuns {
		c := faults.Drawn{Key: kernel.Key(0).WithString(k.answers())}.For("run", i)
		seed := uint64(c.For("seed", 0).Below(1 << 53))
		drawn := space.Draw(c)
		broken.restrain(drawn, world.Lock.TTL)
		trial, r, err := search.Try(drawn, scenarios.Options{Seed: seed}, &buffer)
		if err != nil {
			t.Fatalf("%s%v", k.answers(), err)
		}
		for _, kind := range r.Findings {
			if excused := slices.Contains(trial.Excused, kind); !excused && kind.Violation() && !kind.Monitored() && (kind == checker.LeaseOverlap || safe("pause")) {
				text, _ := drawn.Encode()
				t.Errorf("%sseed %d: %v\n%s", k.answers(), seed, kind, text)
			}
		}
	}
}
