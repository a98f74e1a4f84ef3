package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"redlocksim/scenarios/scenariotest"
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

func TestOrdersReport(t *testing.T) {
	const settings = `
clients: [client-1]
nodes: {names: [A]}
timeline: [{at: 0s, client: client-1, do: [try-lock, unlock]}]
`
	out, code := asked(func(cmd *cobra.Command) error {
		return runOrders(cmd, newTestSink(cmd), scenariotest.Given(t, settings+"lock: {protocol: single}\n"), ordersOptions{runs: 200})
	})
	// Which of two requests is first at the node is all that there is.
	if want := "two clients ask at once, no fault\n  all orders with no late message: 2 runs (0 more cut short), 2 different outcomes, "; code != exitOK || !strings.HasPrefix(unwrapped(out), unwrapped(want)) {
		t.Errorf("exit code %d\n%s", code, out)
	}
	out, code = asked(func(cmd *cobra.Command) error {
		return runOrders(cmd, newTestSink(cmd), scenariotest.Given(t, settings+"lock: {protocol: get-set}\n"), ordersOptions{runs: 200})
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
		return runOrders(cmd, newTestSink(cmd), base, ordersOptions{runs: 5})
	})
	if code != exitNotTested || !strings.Contains(out, "5 not tested: nobody was granted the lock\n") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// newTestSink is where a command writes that reads no files.
func newTestSink(cmd *cobra.Command) *sink {
	to := newSink(cmd, false)
	return &to
}

// unwrapped is what a report says, however it is wrapped.
func unwrapped(report string) string { return strings.Join(strings.Fields(report), " ") }
