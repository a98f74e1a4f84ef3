package timeline

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
)

// During every span of votes, as many nodes have a bar of the client's as the span says, and where no span is
// none has: the bars of the nodes come from the recording one by one, and are counted here anew.
func TestVotesAreTheKeysOnTheNodes(t *testing.T) {
	checked := 0
	for _, name := range []string{"17-clock-jump", "24-restart-at-once/three-of-five", "13-split-votes", "19-clock-steps-back/released", "40-careless-renewal/by-the-rules",
		"43-extend-only-holder/at-once", "32-pause-before-write"} {
		r, line := drawn(t, name)
		for i, l := range line.Lanes {
			if l.Kind != clientLane {
				continue
			}
			spans := l.all(votesSpan)
			var edges []Instant
			for _, s := range spans {
				edges = append(edges, s.From, s.To)
			}
			for _, node := range line.Lanes {
				for _, s := range node.all(keySpan) {
					edges = append(edges, s.From, s.To)
				}
			}
			slices.Sort(edges)
			edges = slices.Compact(edges)
			for e := 1; e < len(edges); e++ {
				from, to := edges[e-1], edges[e]
				said, kept := 0, 0
				for _, s := range spans {
					if s.From <= from && to <= s.To {
						var votes, of int
						if _, err := fmt.Sscanf(s.Short, "%d of %d", &votes, &of); err != nil || of != len(r.Scenario.Nodes.Names) {
							t.Fatalf("%+v: %v", s, err)
						}
						if quorum, voted := r.Scenario.Lock.Votes(of); voted && s.Quorum != (votes >= quorum) {
							t.Errorf("%+v, and the quorum is %d", s, quorum)
						}
						said += votes
					}
				}
				for _, node := range line.Lanes {
					if slices.ContainsFunc(node.Spans, func(s Span) bool { return s.Kind == keySpan && s.Owner == i && s.From <= from && to <= s.To }) {
						kept++
					}
				}
				// A node that keeps one of the client's votes after the other is counted once.
				if checked++; said != kept {
					t.Errorf("%s: %s from %d to %d: %d votes, and %d nodes have a key", name, l.Name, from, to, said, kept)
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("%d stretches were compared, there are more", checked)
	}
}

// Why the votes are others than before is said where the record tells, and nowhere else.
func TestVotesSayWhy(t *testing.T) {
	for _, x := range []struct {
		name string
		want []string
	}{
		{"17-clock-jump", []string{"client-1: C forgets: 2 of 5", "client-2: C votes again: 3 of 5"}},
		{"24-restart-at-once/one-of-five", []string{"client-1: C forgets: 4 of 5"}},
		{"09-contention", nil},
		{"32-pause-before-write", nil},
	} {
		_, line := drawn(t, x.name)
		var got []string
		for _, l := range line.Lanes {
			for _, s := range l.all(votesSpan) {
				if !strings.HasPrefix(s.Label, s.Short) {
					got = append(got, l.Name+": "+s.Label)
				}
			}
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}

// A node that votes and forgets in the same instant has voted, and votes again; other faults at that instant have not taken the
// vote.
func TestAVoteForgottenAtOnceCounts(t *testing.T) {
	s := scenariotest.Given(t, `network: {latency: 1ms}
timeline:
  - {at: 0s, fault: {partition: {clients: [client-1], nodes: [D, E], direction: requests}}}
  - {at: 0s, client: client-1, do: [try-lock, hold: 8s, unlock]}
  - {after: {client: client-1, event: set-arrived, node: C}, fault: {evict: {node: C}}}
  - {after: {client: client-1, event: set-arrived, node: C}, fault: {clock-step: {process: E, by: 1ms}}}
  - {at: 1s, client: client-2, do: [try-lock, hold: 2s, unlock]}
duration: 30s
expect: {findings: lease-overlap, unavailable: {at-most: 1h}}`)
	r := scenariotest.Judged(t, s, scenarios.Options{})
	all := recorded(t, r).kept
	if !slices.ContainsFunc(all, func(k kept) bool { return k.node == "C" && k.owner == "client-1" && k.from == k.to }) {
		t.Fatalf("C does not forget at once: %+v", all)
	}
	line := timelineOf(t, r)
	for client, want := range map[string][]string{"client-1": {"3 of 5", "C forgets: 2 of 5"}, "client-2": {"C votes again: 3 of 5"}} {
		var got []string
		for _, s := range line.lane(client).all(votesSpan) {
			got = append(got, s.Label)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", client, got, want)
		}
	}
}

// A message that is lost is drawn up to the lane that it was for.
func TestLostMessagesReachTheirLane(t *testing.T) {
	_, line := drawn(t, "17-clock-jump")
	p := newPicture(line, documentWidth)
	p.draw()
	lost := 0
	for i := range line.Arrows {
		if a := &line.Arrows[i]; a.Fate == lostFate {
			lost++
			if end := fmt.Sprintf(`data-i="%d" x1="%s" y1="%s" x2="%s" y2="%s"`, i, n(p.x(a.Sent)), n(p.wire(a.From)), n(p.x(a.Ended)), n(p.wire(a.To))); !strings.Contains(p.String(), end) {
				t.Errorf("no %s", end)
			}
		}
	}
	if lost == 0 {
		t.Error("no message is lost")
	}
}
