package locktest_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"redlocksim/checker"
	"redlocksim/locktest"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
)

// fixed has rapid start from a seed, go on for long enough with -short too, and write no files, until the test is over.
func fixed(t *testing.T, seed string) {
	t.Helper()
	configure(t, map[string]string{"rapid.seed": seed, "rapid.checks": "500", "rapid.shrinktime": "20s", "rapid.nofailfile": "true"})
}

// configure sets flags of rapid until the test is over.
func configure(t *testing.T, flags map[string]string) {
	t.Helper()
	for name, value := range flags {
		f := flag.Lookup(name)
		before := f.Value.String()
		if err := f.Value.Set(value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Value.Set(before) })
	}
}

// check is rapid's check of a setup, as a user has it.
func check(s locktest.Setup) *recorder {
	return record(func(t rapid.TB) {
		experiments := locktest.Experiments(t, s)
		rapid.Check(t, func(t *rapid.T) { locktest.MutualExclusion(t, experiments.Draw(t, "experiment")) })
	})
}

// defective are settings that are too weak for what is assumed, by a tenth of a bound, or one node, or as docs/lock-programs.md
// says.
var defective = map[string]struct {
	setup locktest.Setup
	kind  checker.Kind
}{
	"readme":  {locktest.Setup{Settings: "lock: {ttl: 2s, node-timeout: 20ms}", Assume: locktest.Assumptions{ClockRate: "0.1%", RestartDelay: time.Second}}, "lease-overlap"},
	"restart": {locktest.Setup{Settings: "lock: {ttl: 2s}", Assume: locktest.Assumptions{RestartDelay: 1780 * time.Millisecond}}, "lease-overlap"},
	"drift":   {locktest.Setup{Settings: "lock: {ttl: 2s, drift: {factor: 0%, constant: 327ms}}", Assume: locktest.Assumptions{ClockRate: "0.1"}}, "lease-overlap"},
	// In the file to keep, the factor is 0.5%.
	"digits": {locktest.Setup{Settings: "lock: {ttl: 2s, drift: {factor: 0.50%, constant: 300ms}}", Assume: locktest.Assumptions{ClockRate: "0.1"}}, "lease-overlap"},
	"loss":   {locktest.Setup{Settings: "lock: {ttl: 2s}", Assume: locktest.Assumptions{MemoryLoss: 1}}, "lease-overlap"},
	"step":   {locktest.Setup{Settings: "lock: {ttl: 2s}", Assume: locktest.Assumptions{ClockStep: 200 * time.Millisecond}}, "lease-overlap"},
}

func TestADefectIsFound(t *testing.T) {
	fixed(t, "2")
	for name, c := range defective {
		t.Run(name, func(t *testing.T) {
			text := check(c.setup).log.String()
			for _, want := range []string{
				c.kind.Says() + " within the assumptions",
				"client-1 requests the lock",
				"budget     kept",
				"overlap from ",
				"locktest.Parse(t, file, ",
				"-rapid.seed=",
			} {
				if !strings.Contains(text, want) {
					t.Errorf("it does not say %q:\n%s", want, text)
				}
			}
			// Told once, and the file stands for the experiment: it shows the same, by itself and to the command.
			_, file, ok := strings.Cut(text, "the file to keep:\n\n")
			file, _, _ = strings.Cut(file, "\n\n")
			found, err := scenarios.Parse("kept.yaml", []byte(file))
			if !ok || strings.Count(text, "the file to keep:") != 1 || err != nil {
				t.Fatalf("%v in\n%s", err, text)
			}
			seed := seedIn(t, text)
			for _, tier := range scenarios.Tiers() {
				if r, err := verdict.Verify(found[0], scenarios.Options{Tier: tier, Seed: seed}); err != nil || !r.OK() {
					t.Errorf("tier %s: %v, not as expected", tier, err)
				}
			}
			locktest.Breaks(t, locktest.Parse(t, file, seed, nil))
			if r := record(func(t rapid.TB) { locktest.MutualExclusion(t, locktest.Parse(t, file, seed, nil)) }); !r.failed {
				t.Errorf("kept, it does not fail: %s", &r.log)
			}
			faults := 0
			for _, item := range found[0].Timeline {
				if item.Fault != nil {
					faults++
				}
			}
			if faults > 5 || len(found[0].Clients) != 2 {
				t.Errorf("%d faults and %d clients are not small:\n%s", faults, len(found[0].Clients), file)
			}
		})
	}
}

func seedIn(t *testing.T, text string) uint64 {
	t.Helper()
	_, rest, _ := strings.Cut(text, "redlocksim run FILE --seed ")
	var seed uint64
	if _, err := fmt.Sscanf(rest, "%d", &seed); err != nil {
		t.Fatalf("no seed in\n%s", text)
	}
	return seed
}

func TestWhatIsWrongWithASetup(t *testing.T) {
	for _, c := range []struct {
		setup locktest.Setup
		want  string
	}{
		{locktest.Setup{Settings: "lock: {tll: 2s}"}, `settings:1:8: lock: unknown key "tll"`},
		{locktest.Setup{Settings: "budget: {pause: 1s}"}, "that is what Setup.Assume is for"},
		{locktest.Setup{Resources: []string{"a", "a"}}, `there are two resources of this name "a"`},
		{locktest.Setup{Resources: []string{}}, "0 resources, must be from 1 to 1000"},
		{locktest.Setup{Resources: []string{"a, b"}}, "it has a comma"},
		{locktest.Setup{Settings: "resources: [x]", Resources: []string{"a"}}, "the settings name resources, and so does Setup.Resources: only one of them can"},
		{locktest.Setup{Settings: "resources: [x, 9]"}, "resources[1]: want text, got a number"},
		{locktest.Setup{Assume: locktest.Assumptions{ClockRate: "ten"}}, `"ten" is not a percentage`},
		{locktest.Setup{Assume: locktest.Assumptions{ClockRate: "-1%"}}, `"-1%" is not`},
		{locktest.Setup{Assume: locktest.Assumptions{ClockRate: "100%"}}, `"100%" is not`},
		{locktest.Setup{Assume: locktest.Assumptions{ClockRate: "1e400"}}, `"1e400" is not`},
		{locktest.Setup{Assume: locktest.Assumptions{Pause: -1}}, "negative"},
		{locktest.Setup{Assume: locktest.Assumptions{MemoryLoss: -1}}, "negative"},
	} {
		r := record(func(t rapid.TB) { locktest.Experiments(t, c.setup) })
		if !r.failed || !strings.Contains(r.log.String(), c.want) {
			t.Errorf("%+v: failed %v, does not say %q: %s", c.setup, r.failed, c.want, &r.log)
		}
	}
	for _, file := range []string{"", "title: x", plan("lock: {ttl: 2s}", "", "{at: 0s, client: client-3, do: [lock]}")} {
		if r := record(func(t rapid.TB) { locktest.Parse(t, file, 0, nil) }); !r.failed {
			t.Errorf("a file that is wrong is taken: %s", file)
		}
	}
}

// TestBreaksFails: where nothing is violated, and where that took more than is assumed.
func TestBreaksFails(t *testing.T) {
	const hold = "{at: 0s, client: client-1, do: [try-lock, sleep: 4s]}"
	overlap := []string{"{at: 0s, fault: {partition: {clients: [client-1], nodes: [D, E], direction: requests}}}", hold, "{after: {event: acquire-done}, fault: {kill: {node: C, restart-after: 1ms}}}",
		"{after: {event: restart}, client: client-2, do: [try-lock, sleep: 60s]}"}
	for _, c := range []struct {
		file, want string
	}{
		{plan("lock: {ttl: 2s}", "", hold), "does not violate mutual exclusion:"},
		{plan("lock: {ttl: 2s}", "", overlap...), "exceed the assumptions: C came back without its memory after 1ms"},
	} {
		r := record(func(t rapid.TB) { locktest.Breaks(t, locktest.Parse(t, c.file, 0, nil)) })
		if !r.failed || !strings.Contains(r.log.String(), c.want) {
			t.Errorf("failed %v, does not say %q: %s", r.failed, c.want, &r.log)
		}
	}
	locktest.Breaks(t, locktest.Parse(t, plan("lock: {ttl: 2s}", "memory-loss: 1", overlap...), 0, nil))
	beyond := record(func(t rapid.TB) {
		locktest.MutualExclusion(t, locktest.Parse(t, plan("lock: {ttl: 2s}", "", overlap...), 0, nil))
	})
	if want := "not tested: two holders (lease-overlap), but the faults exceed the assumptions: C came back"; !beyond.failed || !strings.Contains(beyond.log.String(), want) {
		t.Errorf("failed %v, does not say %q: %s", beyond.failed, want, &beyond.log)
	}
}

// TestNoFaultExcusesIt: what breaks the lock beyond the assumptions is held against it if they are no excuse for it, as when
// it deletes the key of another.
func TestNoFaultExcusesIt(t *testing.T) {
	pause := "{after: {client: client-1, event: compared}, fault: {pause: {process: client-1, for: 3s}}}"
	steps := []string{"{at: 0s, client: client-1, do: [try-lock, sleep: 8s, unlock]}", pause, "{at: 1s, client: client-2, do: [lock, sleep: 6s, unlock]}"}
	for budget, want := range map[string]string{
		"pause: 3s": "breaks a promise (conduct) within the assumptions",
		"":          "the faults exceed the assumptions, but are no excuse: breaks a promise (conduct)",
	} {
		file := plan("lock: {protocol: single, release: get-del}\nnodes: {names: [A]}", budget, steps...)
		r := record(func(t rapid.TB) { locktest.Promises(t, locktest.Parse(t, file, 0, nil)) })
		for _, want := range []string{want, "the file to keep:", "locktest.Promises(t, locktest.Parse(t, file, "} {
			if text := r.log.String(); !r.failed || !strings.Contains(text, want) {
				t.Errorf("budget {%s}: failed %v, does not say %q: %s", budget, r.failed, want, text)
			}
		}
	}
}

// TestAPromiseWithoutACollision: a lock that grants a lease which is over breaks a promise. Nobody else holds the lock, so that
// mutual exclusion is not broken.
func TestAPromiseWithoutACollision(t *testing.T) {
	file := plan("lock: {ttl: 2s}\nnodes: {names: [A]}", "", "{at: 0s, client: client-1, do: [try-lock, unlock]}",
		"{at: 1s, client: client-2, do: [try-lock, unlock]}")
	over := func(t rapid.TB) *locktest.Experiment {
		return locktest.ParseProgram(t, file, 0, "../scenarios/programs/testdata/lies over")
	}
	r := record(func(t rapid.TB) { locktest.Promises(t, over(t)) })
	if text := r.log.String(); !r.failed || !strings.Contains(text, "breaks a promise (contract) within the assumptions") ||
		!strings.Contains(text, "lease was already over when it was granted") || strings.Contains(text, "mutual exclusion") {
		t.Errorf("failed %v: %s", r.failed, text)
	}
	locktest.MutualExclusion(t, over(t))
	if r := record(func(t rapid.TB) { locktest.Breaks(t, over(t)) }); !r.failed || !strings.Contains(r.log.String(), "does not violate mutual exclusion") {
		t.Errorf("a broken promise is enough for Breaks: %s", &r.log)
	}
	locktest.Promises(t, locktest.ParseProgram(t, file, 0, "../scenarios/programs/testdata/lies none"))
}

// TestNobodyIsGranted: a run that says nothing is not a pass, and not skipped either.
func TestNobodyIsGranted(t *testing.T) {
	file := plan("lock: {ttl: 2s}", "", "{at: 0s, fault: {partition: {}}}", "{at: 0s, client: client-1, do: [try-lock]}")
	if r := record(func(t rapid.TB) { locktest.MutualExclusion(t, locktest.Parse(t, file, 0, nil)) }); !r.failed || r.skipped || !strings.Contains(r.log.String(), "not tested: ") {
		t.Errorf("failed %v, skipped %v: %s", r.failed, r.skipped, &r.log)
	}
}

// TestResourceThatRefusesEverything: nothing is shown where the resource refuses every write, be it an attack, a random
// experiment, or one from a file.
func TestResourceThatRefusesEverything(t *testing.T) {
	const refused = "not tested: the resource (storage: table) refused every write"
	file := plan("lock: {ttl: 2s}\nstorage: table", "", "{at: 0s, client: client-1, do: [try-lock, write, unlock]}", "{at: 1s, client: client-2, do: [try-lock, write, unlock]}")
	if r := record(func(t rapid.TB) { locktest.MutualExclusion(t, locktest.Parse(t, file, 0, nil)) }); !r.failed || !strings.Contains(r.log.String(), refused) {
		t.Errorf("failed %v: %s", r.failed, &r.log)
	}
	told := map[bool]int{}
	for _, setup := range []locktest.Setup{{Settings: "storage: table"}, {Settings: "storage: table\nlock: {fencing: true}"}} {
		for seed := range 12 {
			r := record(func(t rapid.TB) { locktest.MutualExclusion(t, locktest.Experiments(t, setup).Example(seed)) })
			if strings.Contains(r.log.String(), refused) {
				told[strings.Contains(setup.Settings, "fencing")]++
			}
		}
	}
	if told[false] < 6 || told[true] > 0 {
		t.Errorf("%d of 12 experiments without tokens are not tested, and %d with tokens", told[false], told[true])
	}
}

// TestTooLong: a run that reaches a limit fails the test with an error that says what to lower; it is no verdict.
func TestTooLong(t *testing.T) {
	file := plan("lock: {ttl: 2s}", "", "{at: 0s, client: client-1, repeat: 100000, do: [lock, update, unlock]}",
		"{at: 0s, client: client-2, repeat: 100000, do: [lock, update, unlock]}")
	r := record(func(t rapid.TB) { locktest.MutualExclusion(t, locktest.Parse(t, file, 0, nil)) })
	want := "the run is too long: more than 250000 events of the history"
	if log := r.log.String(); !r.failed || r.skipped || !strings.Contains(log, want) || !strings.Contains(log, "; lower repeat") || strings.Contains(log, "mutual exclusion") {
		t.Errorf("failed %v, skipped %v: %s", r.failed, r.skipped, log)
	}
}
