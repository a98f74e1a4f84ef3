package systematic

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/reach"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
	"redlocksim/search"
	"redlocksim/search/experiment"
	"redlocksim/search/random"
	"redlocksim/sim/network"
)

func newBase(t *testing.T, text string, beyond bool) *Base {
	t.Helper()
	b, err := NewBase(scenariotest.Given(t, text), 0, beyond)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// only leaves a base the faults of some kinds.
func only(b *Base, kinds ...string) *Base {
	b.faults = slices.DeleteFunc(b.faults, func(f scenarios.Item) bool { return !slices.Contains(kinds, f.Kind) })
	return b
}

const tiny = `
clients: [client-1]
lock: {protocol: single}
nodes: {names: [A]}
network: {latency: 1ms}
duration: 5s
timeline: [{at: 0s, client: client-1, do: [try-lock, hold: 1s, unlock]}]
`

// TestCount counts by hand. A request or a reply takes 1 ms. Something happens at 0 s (the program starts), 1 ms and 2 ms
// (SET and its reply), 1.002 s (the end of the work), and 1, 2, 3 and 4 ms later (the release by a script that the node
// does not know, and once more in full): 8 times. The history has the calls and returns of both operations, and of the
// acquire its attempt, the node's answer and the validity: 7 events.
//
// Between one client and one node there is one link: 3 directions and 2 lengths of partitions, 1 reset; the node stops in
// 3 ways for good and restarts in one, nothing brings it back since the budget has no loss of memory; 2 processes can be
// resumed, the client gets stuck or crashes, and the key can be overwritten. The budget is zero for all that has a size.
func TestCount(t *testing.T) {
	b := newBase(t, tiny, false)
	times, events := 0, 0
	for _, m := range b.moments {
		if m.After == nil {
			times++
		} else {
			events++
		}
	}
	if times != 8 || events != 7 || len(b.faults) != 6+1+3+1+1+2+2+1 {
		t.Errorf("%d times, %d events, %d faults\n%v", times, events, len(b.faults), b.moments)
	}
	s, err := Explore(t.Context(), b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	const n = 15 * 17
	if s.Placements.Of != n || !s.Placements.Complete() {
		t.Errorf("%+v", *s)
	}
	// A restart or a resume has nothing to take effect on, at each of 15 moments: all is up and running. There is no key to be
	// overwritten at three moments before the SET and three after the release. All else has.
	const nothing = 15*3 + 3 + 3
	if s.Placements.NotTested.NotInjected != nothing {
		t.Errorf("%d could not be injected", s.Placements.NotTested.NotInjected)
	}
	// And where there is one client no run says anything.
	if s.Placements.Tested() != 0 || s.Placements.NotTested.Idle != n-nothing {
		t.Errorf("%d are tested: %+v", s.Placements.Tested(), s.Placements.NotTested)
	}
	if s.Placements.Violations+s.Placements.Beyond != 0 {
		t.Errorf("violations with one client: %+v", *s)
	}
	// The run of the base and those of all placements, in each of which one fault was placed.
	placed, injected := 0, 0
	for _, row := range s.Reached.Rows() {
		if row.Kind == reach.Fault {
			placed, injected = placed+row.Placed, injected+row.Runs
		}
	}
	if s.Reached.Runs != 1+n || placed != n || injected != n-nothing {
		t.Errorf("%d runs, %d placed, %d injected", s.Reached.Runs, placed, injected)
	}
	if s.Reached.Reached(reach.Effect, "partition") == 0 || s.Reached.Reached(reach.Effect, "resume") != 0 || s.Reached.Reached(reach.Step, "refused-connection") == 0 {
		t.Error("a partition makes a difference, a resume none; and a node that is down refuses")
	}
}

// TestDifference: a fault makes a difference as long as there is something left for it to take effect on.
func TestDifference(t *testing.T) {
	b := newBase(t, tiny, false)
	b.faults = []scenarios.Item{{Kind: "partition", Fault: &faults.Partition{Links: faults.Links{Direction: network.Requests}}}}
	s, err := Explore(t.Context(), b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	// Requests are lost from then on: that changes something until the last one has arrived, the script in full, 3 ms after
	// the end of the work. That is before all but the last of the 8 times, and after all but the last of the 7 events.
	if s.Placements.Of != 15 || s.Placements.Different != 7+6 {
		t.Errorf("%+v, moments %v", s.Placements, b.moments)
	}
}

const kleppmann = `
clients: [client-1, client-2]
nodes: {names: [A, B, C]}
duration: 30s
timeline:
  - {at: 0s, fault: {partition: {clients: [client-1], nodes: [C], direction: requests}}}
  - {at: 0s, client: client-1, do: [try-lock, hold: 8s, unlock]}
  - {at: 2s, client: client-2, do: [try-lock, hold: 1s, unlock]}
`

const failover = `
clients: [client-1, client-2]
lock: {protocol: one-redis}
nodes: {names: [A], replicas: {A: [A2]}}
network: {latency: 2ms}
duration: 20s
timeline:
  - {at: 0s, client: client-1, do: [try-lock, hold: 8s, unlock]}
  - {at: 2s, client: client-2, do: [try-lock, hold: 1s, unlock]}
`

const single = `
clients: [client-1, client-2]
lock: {protocol: single}
nodes: {names: [A], persistence: always}
duration: 20s
timeline:
  - {at: 0s, client: client-1, do: [try-lock, hold: 8s, unlock]}
  - {at: 2s, client: client-2, do: [try-lock, hold: 1s, unlock]}
`

// TestKnown finds what the literature knows.
func TestKnown(t *testing.T) {
	for name, test := range map[string]struct {
		base   string
		beyond bool
		want   [][]string // families of findings that must be there
		none   bool       // there must be none
	}{
		"a clock that jumps, a node that forgets": {kleppmann, true, [][]string{{"clock-step-of-node", "partition"}, {"kill", "partition"}}, false},
		"within the budget":                       {kleppmann, false, nil, true},
		"a replica that lacks the lock":           {failover, true, [][]string{{"promote"}}, false},
		"a single instance that forgets nothing":  {single, false, nil, true},
		"a single instance whose clock jumps":     {single, true, [][]string{{"clock-step-of-node"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			b := newBase(t, test.base, test.beyond)
			if test.beyond { // the others can break nothing, and take their time
				only(b, "clock-step", "kill", "promote")
			}
			s, err := Explore(t.Context(), b, Options{Beyond: test.beyond, Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			if test.none && len(s.Findings) > 0 || !s.Placements.Complete() || s.Placements.Different == 0 {
				t.Errorf("%+v", *s)
			}
			for _, families := range test.want {
				i := slices.IndexFunc(s.Findings, func(f search.Finding) bool {
					return slices.Equal(f.Families, families) && f.Kind == checker.LeaseOverlap
				})
				if i < 0 {
					t.Errorf("no finding with %v: %+v", families, s.Findings)
					continue
				}
				// The file is a scenario that is as expected.
				found, err := scenarios.Load(filepath.Join(dir, s.Findings[i].File))
				if err != nil {
					t.Fatal(err)
				}
				if r, err := verdict.Verify(found[0], scenarios.Options{}); err != nil || !r.OK() {
					t.Errorf("%v, %+v", err, r)
				}
			}
		})
	}
}

// What is found does not depend on how many runs are made at once.
func TestJobs(t *testing.T) {
	b := only(newBase(t, single, true), "clock-step")
	var summaries []*Summary
	for _, jobs := range []int{1, 5} {
		s, err := Explore(t.Context(), b, Options{Beyond: true, Jobs: jobs, Runs: 50})
		if err != nil {
			t.Fatal(err)
		}
		summaries = append(summaries, s)
	}
	if !reflect.DeepEqual(summaries[0], summaries[1]) || len(summaries[0].Findings) == 0 {
		t.Errorf("%+v\n%+v", *summaries[0], *summaries[1])
	}
}

// TestStride: a stride comes by every placement once.
func TestStride(t *testing.T) {
	for n := uint64(1); n < 40; n++ {
		seen := map[uint64]bool{}
		for k := range n {
			seen[k*stride(n)%n] = true
		}
		if len(seen) != int(n) {
			t.Errorf("the stride %d reaches %d of %d", stride(n), len(seen), n)
		}
	}
}

// TestMoments: a fault that is placed after an event is injected right after that one.
func TestMoments(t *testing.T) {
	b := newBase(t, kleppmann, false)
	at := 0
	for i, m := range b.moments {
		if m.After == nil {
			continue
		}
		b.faults = []scenarios.Item{{Kind: "stuck", Fault: &faults.Stuck{Client: "client-1"}}}
		out, err := scenarios.Run(b.place(uint64(i)), scenarios.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if at++; out.History[at].Name != "stuck" {
			t.Errorf("%v: event %d is %+v", m, at+1, out.History[at])
		}
	}
	if at < 20 {
		t.Errorf("%d events", at)
	}
}

// TestOnlyWhatIsNew: what the base shows anyway is no finding, and what exceeds the budget is none unless asked for.
func TestOnlyWhatIsNew(t *testing.T) {
	b := newBase(t, kleppmann+"  - {at: 1s, fault: {clock-step: {process: B, by: 20s}}}\n", false)
	b.faults = []scenarios.Item{{Kind: "resume", Fault: &faults.Resume{Process: "client-1"}}}
	s, err := Explore(t.Context(), b, Options{Beyond: true})
	if err != nil || !slices.Equal(s.Base, scenarios.Findings{checker.LeaseOverlap}) || s.Placements.Violations+s.Placements.Beyond != 0 || s.Findings != nil {
		t.Errorf("%v, %+v", err, s)
	}
	b = only(newBase(t, single, true), "clock-step")
	s, err = Explore(t.Context(), b, Options{})
	if err != nil || s.Placements.Beyond == 0 || s.Findings != nil {
		t.Errorf("%v, %+v", err, s)
	}
}

// patient is a context that ends when it was looked at so many times.
type patient struct {
	context.Context
	looks atomic.Int64
}

func (p *patient) Err() error {
	if p.looks.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestStoppedAmongRuns: what is reported is what was run, also within a batch.
func TestStoppedAmongRuns(t *testing.T) {
	b := newBase(t, kleppmann, false)
	ctx := &patient{Context: t.Context()}
	ctx.looks.Store(700)
	s, err := Explore(ctx, b, Options{Jobs: 3})
	if err != nil || s.Placements.Covered == 0 || s.Placements.Covered > 700 {
		t.Fatalf("%v, %+v", err, s)
	}
	// The same placements, without a limit.
	covered := s.Placements
	again := &explorer{base: b, options: Options{Jobs: 1}}
	var first []uint64
	for k := range covered.Covered {
		first = append(first, k)
	}
	trials, err := again.run(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	for i := range trials {
		if err := again.add(&trials[i], first[i]); err != nil {
			t.Fatal(err)
		}
	}
	if p := again.summary.Placements; p.Different != covered.Different || p.NotTested != covered.NotTested {
		t.Errorf("%+v, %+v", covered, p)
	}
}

// TestWithinFirst: what is within the budget is shrunk before what is beyond it, if there is room for one of them, and is
// not explained by it.
func TestWithinFirst(t *testing.T) {
	b := newBase(t, kleppmann+"budget: {clock-step: 10s}\n", true)
	early := slices.IndexFunc(b.moments, func(m faults.Trigger) bool { return m.After != nil && m.After.Event == "acquire-done" })
	b.moments = []faults.Trigger{b.moments[early]}
	b.faults = []scenarios.Item{{Kind: "kill", Fault: &faults.Kill{Outage: faults.Outage{Node: "B", RestartAfter: new(time.Duration)}}}, {Kind: "clock-step", Fault: &faults.ClockStep{Process: "B", By: 9500 * time.Millisecond}}}
	e := &explorer{base: b, options: Options{Beyond: true}}
	for i, beyond := range []bool{true, false} {
		e.classes = append(e.classes, &class{Shown: search.Shown{Kind: checker.LeaseOverlap, Families: []string{b.faults[i].Kind}, Beyond: beyond}, placed: uint64(i), times: 1})
	}
	e.summary.Findings = slices.Repeat([]search.Finding{{Kind: checker.StaleWrite, Beyond: true}}, maxFindings-1)
	if err := e.settle(t.Context()); err != nil || len(e.summary.Findings) != maxFindings || e.summary.Findings[maxFindings-1].Beyond || e.summary.Unshrunk != 1 {
		t.Errorf("%v, %+v", err, e.summary)
	}
}

// TestUnshrunk: violations for which no time was left are told of.
func TestUnshrunk(t *testing.T) {
	b := only(newBase(t, kleppmann, true), "clock-step")
	ctx, cancel := context.WithCancel(t.Context())
	s, err := Explore(ctx, b, Options{Beyond: true, Progress: func(*Part) { cancel() }})
	if err != nil || s.Placements.Beyond == 0 || len(s.Findings) != 0 || s.Unshrunk == 0 {
		t.Errorf("%v, %+v", err, *s)
	}
}

// TestTheDirectoryOfARandomSearch is not to be used: files could be overwritten.
func TestTheDirectoryOfARandomSearch(t *testing.T) {
	dir := t.TempDir()
	if _, err := random.Explore(t.Context(), experiment.NewSpace(experiment.DefaultBase()), random.Options{Runs: 1, Dir: dir}); err != nil {
		t.Fatal(err)
	}
	if s, err := Explore(t.Context(), newBase(t, tiny, false), Options{Dir: dir}); !errors.Is(err, search.ErrDir) || s != nil {
		t.Errorf("%v, %+v", err, s)
	}
}
