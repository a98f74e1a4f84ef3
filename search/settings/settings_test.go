package settings

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// base is settings that bear their budget.
func base(t *testing.T) *scenarios.Scenario {
	t.Helper()
	s, err := scenarios.ParseSettings("base.yaml", []byte(`
lock: {ttl: 2s, guard-time: 310ms}
budget: {clock-rate: 0.5%, pause: 200ms, delay: 100ms, restart-delay: 2s}
`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func seeded(seed uint64) faults.Choices { return faults.Drawn{Key: kernel.Key(seed)} }

// Whatever is drawn a file can say, and a lock with these settings bears the budget. Each knob is drawn in some runs, and
// none in others. With one of them set back, a file can say that, too; with all, it is as it was.
func TestDraws(t *testing.T) {
	from, changed := base(t), map[string]int{}
	const draws, said = 1000, 200
	for seed := range uint64(draws) {
		s := Draw(seeded(seed), from)
		if why := Uncovered(s); why != "" {
			t.Errorf("seed %d: %s", seed, why)
		}
		canBeSaid(t, seed, s)
		for _, k := range knobs {
			if k.differs(s, from) {
				changed[k.name]++
			}
			without := *s
			k.back(&without, from)
			if seed < said {
				canBeSaid(t, seed, &without)
			}
			for _, name := range without.Semaphores {
				if without.Permits(name) != s.Permits(name) {
					t.Errorf("seed %d: with %s set back, %s has %d permits instead of %d", seed, k.name, name, without.Permits(name), s.Permits(name))
				}
			}
		}
		names := Changed(s, from)
		for i, name := range names {
			if Back(name, s, from); seed < said {
				canBeSaid(t, seed, s)
			}
			if left := Changed(s, from); !slices.Equal(left, names[i+1:]) {
				t.Errorf("seed %d: with %v set back, still %v of %v", seed, names[:i+1], left, names)
			}
		}
		Each(from, func(back func(*scenarios.Scenario)) { back(s) })
		if !reflect.DeepEqual(s, from) {
			t.Errorf("seed %d: set back it is %+v", seed, s)
		}
	}
	for _, k := range knobs {
		if n := changed[k.name]; (n == 0) != k.wild || n > draws*3/4 {
			t.Errorf("%s is another in %d of %d draws", k.name, n, draws)
		}
	}
}

// canBeSaid: a file with these settings can be read.
func canBeSaid(t *testing.T, seed uint64, s *scenarios.Scenario) {
	t.Helper()
	x := *s
	x.Clients, x.Timeline = []string{"c"}, []scenarios.Item{{Client: "c", Repeat: 1, Do: []scenarios.Step{{Kind: scenarios.TryLockStep, Resource: []string{scenarios.Resource}}}}}
	data, err := x.Encode()
	if err == nil {
		_, err = scenarios.Parse("x.yaml", data)
	}
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, data)
	}
}

// What settings do not bear is told, one by one; in DrawAll there is some of it.
func TestUncovered(t *testing.T) {
	for want, change := range map[string]func(*scenarios.Scenario){
		"":               func(*scenarios.Scenario) {},
		"drift":          func(s *scenarios.Scenario) { s.Budget.ClockRate = faults.PPM(5200) },
		"their votes":    func(s *scenarios.Scenario) { s.Budget.MemoryLoss = 1 },
		"their counters": func(s *scenarios.Scenario) { s.Budget.CounterLoss = 1; fence(s) },
		"come back":      func(s *scenarios.Scenario) { s.Budget.RestartDelay = second() },
		"last longer": func(s *scenarios.Scenario) {
			protocols.Change(&s.Lock, func(own *protocols.RedlockSettings) { own.Guard = &protocols.Guard{MaxTTL: time.Second} })
		},
		"a write can land": func(s *scenarios.Scenario) { s.Budget.Pause += 10 * time.Millisecond },
	} {
		s := base(t)
		change(s)
		if got := Uncovered(s); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%q, want %q", got, want)
		}
	}
	kept := base(t)
	kept.Budget.RestartDelay, kept.Nodes.Persistence = second(), redis.Always
	if got := Uncovered(kept); got != "" {
		t.Errorf("nodes that forget nothing: %s", got)
	}
	wild := 0
	for seed := range uint64(100) {
		if s := DrawAll(seeded(seed), base(t)); Uncovered(s) != "" || len(s.Nodes.Replicas) > 0 || s.Lock.Clock == kernel.WallClock {
			wild++
		}
	}
	if wild < 30 {
		t.Errorf("%d of 100 draws of everything are beyond what a lock bears", wild)
	}
}

func fence(s *scenarios.Scenario) {
	protocols.Change(&s.Lock, func(own *protocols.RedlockSettings) { own.Fencing = true })
}

func second() *time.Duration {
	d := time.Second
	return &d
}
