package timeline

import (
	"strings"
	"testing"

	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
)

// encoded is a scenario of the catalogue as a file.
func encoded(t *testing.T, name string) []byte {
	t.Helper()
	s, ok := scenarios.Find(name)
	if !ok {
		t.Fatalf("there is no %s", name)
	}
	text, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A client's own release does not vote again.
func TestOwnVotesAreNotAgain(t *testing.T) {
	for _, name := range []string{"40-careless-renewal/one-node", "20-client-clock-steps-back/wall"} {
		_, line := drawn(t, name)
		for _, l := range line.Lanes {
			told := 0
			for _, s := range l.all(votesSpan) {
				if strings.Contains(s.Label, "again") {
					told++
				}
			}
			if told > 1 {
				t.Errorf("%s: %s has %d counts of which some vote again", name, l.Name, told)
			}
		}
	}
}

// A deposed master and the replica in its place both vote, and the picture says so; with one server for a node, none does.
func TestTwoServersVoteForOneNode(t *testing.T) {
	for name, want := range map[string]string{
		"07-failover-with-wait/both-sides-serve": "client-2: M3 grants beside M",
		"07-failover-with-wait/other-replica":    "",
		"08-redlock-over-replicated-nodes":       "",
		"17-clock-jump":                          "",
	} {
		_, line := drawn(t, name)
		var labels []string
		for _, l := range line.Lanes {
			for _, s := range l.all(votesSpan) {
				if strings.Contains(s.Label, "beside") {
					labels = append(labels, l.Name+": "+s.Label)
				}
			}
		}
		if got := strings.Join(labels, "; "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A known counterexample is no alarm, and what nobody expected is one.
func TestHeadline(t *testing.T) {
	_, line := drawn(t, "17-clock-jump")
	if got, want := line.Headline(), "two holders (lease-overlap): breaks, as published"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// What is not in the catalogue as it is nobody has published, whatever its source says.
	own, err := scenarios.Parse("own.yaml", encoded(t, "17-clock-jump"))
	if err != nil {
		t.Fatal(err)
	}
	own[0].Name = "17-clock-jump"
	ours := timelineOf(t, scenariotest.Judged(t, own[0], scenarios.Options{}))
	if got, want := ours.Headline(), "two holders (lease-overlap): breaks, as expected"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	own[0].Expect.Findings = nil
	wrong := timelineOf(t, scenariotest.Judged(t, own[0], scenarios.Options{}))
	if got, want := wrong.Headline(), "two holders (lease-overlap), NOT AS EXPECTED (expected: holds)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// A lock that nobody can take any more has no violation, and is no lock that holds.
	_, stuck := drawn(t, "01-setnx-then-expire/a-minute")
	if got, want := stuck.Headline(), "stuck, leaks R, as published"; got != want || !stuck.IsKnown() {
		t.Errorf("%q, want %q, and known: %v", got, want, stuck.IsKnown())
	}
}

// Of the writes after a pause, one breaks the lock.
func TestOneEffectIsDecisive(t *testing.T) {
	_, line := drawn(t, "32-pause-before-write")
	decisive := 0
	for _, l := range line.Lanes {
		if l.Kind != storageLane {
			continue
		}
		for i := range l.Marks {
			if line.isDecisive(&l.Marks[i]) {
				decisive++
			}
		}
	}
	if decisive != 1 {
		t.Errorf("%d decisive effects", decisive)
	}
}
