package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/recording"
	"redlocksim/sim/storage"
)

// A run that is not the same on the other tier is told of, with what clients are told on the one and not on the other.
func TestTiersThatDifferAreTold(t *testing.T) {
	s, _ := Find("09-contention")
	r := Judged(t, s, Options{})
	if err := r.SameOn(Wire); err != nil {
		t.Error(err)
	}
	granted := slices.IndexFunc(r.History, func(e history.Event) bool { return e.Kind == history.Return && e.Func == history.Acquire })
	was := r.History[granted]
	r.History[granted].Outcome, r.History[granted].Detail, r.History[granted].Span = history.Failed, "no quorum of nodes", 0
	err := r.SameOn(Wire)
	want := fmt.Sprintf("on tier model at %v %s acquire-failed", time.Duration(was.Time), was.Process)
	if !errors.Is(err, ErrTiersDiffer) || !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), "there is no verdict") {
		t.Errorf("got %v, want %q in it", err, want)
	}
	r.History[granted] = was
	r.History[granted].Time++ // too little to be seen, unless exactly
	if err := r.SameOn(Wire); !errors.Is(err, ErrTiersDiffer) || !strings.Contains(err.Error(), time.Duration(was.Time).String()) {
		t.Errorf("got %v, want %v in it", err, time.Duration(was.Time))
	}
	r.History[granted].Time--
	r.Findings = Findings{checker.Leftover}
	r.Monitored = []checker.Finding{{Kind: checker.Leftover, Text: "client-1 has left its key."}}
	if err, want := r.SameOn(Wire), `on tier model the run ends with "leaks (leftover)" (client-1 has left its key), and on tier wire the run ends with "holds"`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q in it", err, want)
	}
}

// A recording is of the run it is asked for, and moves neither hash: for one of three scenarios, and on tier wire for one of
// fifteen.
func TestRecordingChangesNothing(t *testing.T) {
	for i, s := range Catalogue() {
		for _, tier := range Tiers() {
			if i%3 != 0 || tier == Wire && i%5 != 0 {
				continue
			}
			r := Judged(t, s, Options{Tier: tier})
			if err := r.Record(); err != nil {
				t.Errorf("%v", err)
				continue
			}
			checkRecording(t, s, r)
		}
	}
}

func checkRecording(t *testing.T, s *Scenario, r *Result) {
	t.Helper()
	end := kernel.True(s.Duration)
	splits := slices.ContainsFunc(s.Timeline, func(i Item) bool { return i.Kind == "split" })
	for _, m := range r.Recording.Messages {
		// What arrives of a batch that was split says so.
		inPart := m.Fate == network.Arrived && strings.HasPrefix(m.Why, "only the first ") && splits
		if (m.Fate == network.UnderWay) != (m.Ended == kernel.Forever) || m.Ended < m.Sent || (m.Why != "") != (m.Fate == network.Lost || inPart) {
			t.Fatalf("%s on %s: %+v", s.Name, r.Tier, m)
		}
	}
	// Every effect at the storage came with a message that arrived then.
	for _, e := range r.History {
		if e.Kind != history.Effect || e.Op == 0 || e.Node != "" {
			continue
		}
		if !slices.ContainsFunc(r.Recording.Messages, func(m recording.Message) bool {
			return m.Fate == network.Arrived && m.From == e.Process && m.To == storage.Name && int64(m.Ended) == e.Time
		}) {
			t.Errorf("%s on %s: no message for the effect %+v", s.Name, r.Tier, e)
		}
	}
	// A node keeps a key once at a time, and for no longer than its time to live.
	last := map[[2]string]kernel.True{}
	for _, k := range r.Recording.Kept {
		at := [2]string{k.Node, k.Key}
		if k.From < last[at] || k.To < k.From {
			t.Errorf("%s on %s: %+v overlaps the one before, which ends at %d", s.Name, r.Tier, k, last[at])
		}
		last[at] = k.To
		if k.Left > 0 && k.To < end && k.Rate == 0 && k.To.Sub(k.From) > k.Left {
			t.Errorf("%s on %s: %+v lived on", s.Name, r.Tier, k)
		}
	}
}
