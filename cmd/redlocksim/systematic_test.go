package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/search"
	"redlocksim/search/systematic"
)

func asked(run func(*cobra.Command) error) (out string, code int) {
	var b bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetContext(context.Background())
	cmd.SetOut(&b)
	cmd.SetErr(new(bytes.Buffer))
	if err := run(cmd); err != nil {
		f := (*failure)(nil)
		if !errors.As(err, &f) {
			return err.Error(), -1
		}
		code = f.code
	}
	return b.String(), code
}

// TestPlacementsReport: of 15 moments and 15 faults, counted by hand in package systematic, with one client.
func TestPlacementsReport(t *testing.T) {
	base := scenariotest.Given(t, `
clients: [client-1]
lock: {protocol: single}
nodes: {names: [A]}
network: {latency: 1ms}
duration: 5s
timeline: [{at: 0s, client: client-1, do: [try-lock, hold: 1s, unlock]}]
`)
	out, code := asked(func(cmd *cobra.Command) error {
		return runSystematic(cmd, newTestSink(cmd), base, systematicOptions{})
	})
	if code != exitNotTested { // one client alone can show nothing
		t.Errorf("exit code %d", code)
	}
	for _, line := range []string{"moments    15\n", "faults     17\n", "placements all 255; ", "255 not tested: 51 whose fault had nothing to take effect on, 204 in which too little happened", "findings   none\n"} {
		if !strings.Contains(unwrapped(out), unwrapped(line)) {
			t.Errorf("no %q in\n%s", line, out)
		}
	}
}

func TestPlacementsFound(t *testing.T) {
	base := scenariotest.Given(t, `
clients: [client-1, client-2]
lock: {protocol: single}
nodes: {names: [A], persistence: always}
budget: {clock-step: 10s}
duration: 20s
timeline:
  - {at: 0s, client: client-1, do: [try-lock, hold: 8s, unlock]}
  - {at: 2s, client: client-2, do: [try-lock, hold: 1s, unlock]}
`)
	dir := t.TempDir()
	out, code := asked(func(cmd *cobra.Command) error {
		return runSystematic(cmd, newTestSink(cmd), base, systematicOptions{dir: dir})
	})
	if code != exitSafety || !strings.Contains(out, "finding 1  two holders (lease-overlap), with clock-step-of-node, within the") ||
		!strings.Contains(out, "redlocksim run "+dir+"/1-lease-overlap-clock-step-of-node.yaml --seed 0\n") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

func TestOrdersReport(t *testing.T) {
	const settings = `
clients: [client-1]
nodes: {names: [A]}
timeline: [{at: 0s, client: client-1, do: [try-lock, unlock]}]
`
	out, code := asked(func(cmd *cobra.Command) error {
		return runOrders(cmd, newTestSink(cmd), scenariotest.Given(t, settings+"lock: {protocol: single}\n"), systematicOptions{runs: 200})
	})
	// Which of two requests is first at the node is all that there is.
	if want := "two clients ask at once, no fault\n  all orders with no late message: 2 runs (0 more cut short), 2 different outcomes, "; code != exitOK || !strings.HasPrefix(unwrapped(out), unwrapped(want)) {
		t.Errorf("exit code %d\n%s", code, out)
	}
	out, code = asked(func(cmd *cobra.Command) error {
		return runOrders(cmd, newTestSink(cmd), scenariotest.Given(t, settings+"lock: {protocol: get-set}\n"), systematicOptions{runs: 200})
	})
	for _, line := range []string{"\ntwo clients ask at once, no fault: two holders (lease-overlap), breaks a promise (conduct)\n", "finds no key\n", "\nin this order:\n", "  request arrives client-1 → A\n"} {
		if code != exitSafety || !strings.Contains(out, line) {
			t.Errorf("exit code %d, no %q in\n%s", code, line, out)
		}
	}
}

// TestOrdersNotTested: where nobody can be granted the lock, no order says anything.
func TestOrdersNotTested(t *testing.T) {
	base := scenariotest.Given(t, `
clients: [client-1]
lock: {protocol: redlock-plain, quorum: 5}
timeline: [{at: 0s, client: client-1, do: [try-lock, unlock]}]
`)
	out, code := asked(func(cmd *cobra.Command) error {
		return runOrders(cmd, newTestSink(cmd), base, systematicOptions{runs: 5})
	})
	if code != exitNotTested || !strings.Contains(out, "5 not tested: nobody was granted the lock\n") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// TestPlacementsVerdict: violations count, also if there was no time to shrink them or something went wrong later.
func TestPlacementsVerdict(t *testing.T) {
	for name, c := range map[string]struct {
		s    systematic.Summary
		err  error
		want int
	}{
		"nothing":            {systematic.Summary{}, nil, exitOK},
		"some tested":        {systematic.Summary{Placements: systematic.Part{Covered: 9, NotTested: systematic.NotTested{NotInjected: 8}}}, nil, exitOK},
		"none tested":        {systematic.Summary{Placements: systematic.Part{Covered: 9, NotTested: systematic.NotTested{NotInjected: 8, Idle: 1}}}, nil, exitNotTested},
		"found anyway":       {systematic.Summary{Placements: systematic.Part{Covered: 9, NotTested: systematic.NotTested{Idle: 9}}, Unshrunk: 1}, nil, exitSafety},
		"a finding":          {systematic.Summary{Findings: make([]search.Finding, 1)}, nil, exitSafety},
		"liveness":           {systematic.Summary{Findings: []search.Finding{{Kind: checker.Leftover}}}, nil, exitLiveness},
		"both":               {systematic.Summary{Findings: []search.Finding{{Kind: checker.Leftover}, {Kind: checker.LeaseOverlap}}}, nil, exitSafety},
		"liveness, and more": {systematic.Summary{Findings: []search.Finding{{Kind: checker.Leftover}}, Unshrunk: 1}, nil, exitSafety},
		"no time for it":     {systematic.Summary{Unshrunk: 1}, nil, exitSafety},
		"base breaks":        {systematic.Summary{Base: scenarios.Findings{checker.Leftover, checker.LostUpdate}}, nil, exitSafety},
		"base is stuck":      {systematic.Summary{Base: scenarios.Findings{checker.Leftover}}, nil, exitLiveness},
		"base as expected":   {systematic.Summary{Base: scenarios.Findings{checker.StaleWrite}}, nil, exitOK},
		"no directory":       {systematic.Summary{}, search.ErrDir, exitUsage},
		"an error":           {systematic.Summary{Unshrunk: 1}, errors.New("x"), exitInternal},
	} {
		if _, code := asked(func(cmd *cobra.Command) error {
			return placementsVerdict(cmd, &c.s, scenarios.Findings{checker.StaleWrite}, false, c.err)
		}); code != c.want {
			t.Errorf("%s: exit code %d, want %d", name, code, c.want)
		}
	}
}

// newTestSink is where a command writes that reads no files.
func newTestSink(cmd *cobra.Command) *sink {
	to := newSink(cmd, false)
	return &to
}

// unwrapped is what a report says, however it is wrapped.
func unwrapped(report string) string { return strings.Join(strings.Fields(report), " ") }
