package attacks

import (
	"slices"
	"strings"
	"testing"

	"redlocksim/internal/built"
	"redlocksim/scenarios"
	"redlocksim/scenarios/programs"
	"redlocksim/scenarios/verdict"
)

// worst are the attacks on settings, by their names and what they use of the budget: a+b stands for what has both.
func worst(t *testing.T, budget string, foreign *scenarios.Foreign) (all []*scenarios.Scenario) {
	t.Helper()
	s, err := scenarios.ParseSettings("settings.yaml", []byte("lock: {ttl: 2s, guard-time: 350ms}\nnodes: {persistence: none}\nbudget: "+budget+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	return Worst(&Settings{Scenario: s, Pause: s.Budget.Pause}, foreign)
}

// breaking are the names of those that break the lock within the budget, each once.
func breaking(t *testing.T, all []*scenarios.Scenario, foreign *scenarios.Foreign) (names []string) {
	t.Helper()
	for _, x := range all {
		r, err := verdict.Judge(x, scenarios.Options{Foreign: foreign})
		if err != nil {
			t.Fatal(err)
		}
		if r.Witness() != nil && r.Beyond == nil && !slices.Contains(names, x.Name) {
			names = append(names, x.Name)
		}
	}
	return names
}

// What a lock does not bear of a budget breaks it, whatever else there is in that; what it bears does not.
func TestWorst(t *testing.T) {
	for _, c := range []struct{ budget, want string }{
		{"{clock-rate: 0.5%, clock-step: 1ms, delay: 100ms, pause: 200ms, restart-delay: 2050ms}", ""},
		{"{clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 1s}", "restart"},
		{"{clock-rate: 5%, delay: 100ms, pause: 200ms, restart-delay: 3s}", "clocks"},
		{"{clock-step: 500ms, delay: 100ms}", "clocks"},
		{"{memory-loss: 1, delay: 100ms}", "memory-loss"},
		{"{}", ""},
	} {
		if got := strings.Join(breaking(t, worst(t, c.budget, nil), nil), " "); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s is broken by %q, want %q", c.budget, got, c.want)
		}
	}
}

// Each term is attacked alone before it is with another, and all together at last.
func TestWorstOneByOne(t *testing.T) {
	var steps []string
	for _, x := range worst(t, "{clock-rate: 0.5%, pause: 200ms, suspend: 1s}", nil) {
		if x.Name != "pause" {
			continue
		}
		var uses []string
		for _, item := range x.Timeline {
			if key := item.Kind; !slices.Contains(uses, key) && slices.Contains([]string{"clock-rate", "pause", "suspend"}, key) {
				uses = append(uses, key)
			}
		}
		slices.Sort(uses)
		if step := strings.Join(uses, " "); len(steps) == 0 || steps[len(steps)-1] != step {
			steps = append(steps, step)
		}
	}
	want := []string{"clock-rate", "pause", "suspend", "clock-rate pause", "clock-rate suspend", "pause suspend", "clock-rate pause suspend"}
	if !slices.Equal(steps, want) {
		t.Errorf("it uses %q, want %q", steps, want)
	}
}

// What breaks a lock program although nothing goes wrong is among the worst schedules, and nothing breaks one that is sound:
// the rounding of a TTL that is no whole number of seconds, at the grant, at an extend or at a renewal, and what a lock that
// renews itself keeps from one lock to the next.
func TestWorstOfPrograms(t *testing.T) {
	for _, c := range []struct{ program, bug, want string }{
		{"lies", "seconds", "rounding"},
		{"lies", "extends-seconds", "rounding"},
		{"watchdog", "", ""},
		{"watchdog", "whole-seconds", "rounding"},
		{"watchdog", "starts-once", "again"},
		{"watchdog", "first-value", "again"},
		{"watchdog", "stops-all", "again"},
	} {
		p, err := programs.Load(built.Wasm(t, "../../scenarios/programs/testdata/"+c.program), []string{c.bug}, built.Cache(t))
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		var names []string
		for _, name := range breaking(t, worst(t, "{}", p.Foreign()), p.Foreign()) {
			// The other program releases whatever is there.
			if c.program == "watchdog" || name == "rounding" {
				names = append(names, name)
			}
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s %s is broken by %q, want %q", c.program, c.bug, got, c.want)
		}
	}
}
