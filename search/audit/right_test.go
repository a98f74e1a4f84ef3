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

	_ "redlocksim/internal/manyruns"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/variant"
)

var (
	manyAnswers = flag.Int("answers", 4, "how many random answers are audited")
	firstAnswer = flag.Uint64("first-answer", 0, "the `number` of the first of them, so that many can be audited in several turns")
	drawSeed    = flag.Uint64("draw-seed", 7, "what the random answers are drawn from")
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

// Whatever the answers: what is safe by itself is so together, of a sound lock; and what is not comes with a run that
// repeats, and with changes after which the line is not unsafe any more.
func TestRightOnBothSides(t *testing.T) {
	t.Parallel()
	lines, unsafe, mended, survived := 0, 0, 0, 0
	for i := range uint64(*manyAnswers) {
		k := draw(rand.New(rand.NewPCG(*firstAnswer+i, *drawSeed)))
		out, err := Of(t.Context(), parse(t, k.answers()), Options{})
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
			r, err := scenarios.Verify(x.Run(), scenarios.Options{})
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
			survived++
		} else if all.Verdict == Unsafe && (k.library == "redlock" || k.library == "single") {
			t.Errorf("%s%s", k.answers(), all.Text)
		}
	}
	t.Logf("%d answers: %d lines, %d unsafe with %d fixes, %d worlds of what is safe", *manyAnswers, lines, unsafe, mended, survived)
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
		out, err := Of(t.Context(), parse(t, string(text)), Options{})
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
