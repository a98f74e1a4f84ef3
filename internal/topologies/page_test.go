package topologies_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"redlocksim/redlock"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/history"
)

const pageFile = "../../docs/topologies.md"

var update = flag.Bool("update", false, "write "+pageFile)

const head = `# Which arrangement of servers holds against which fault

Each cell is a run of the simulator on both tiers. Client 1 takes the lock at 2 s, with a TTL of 10 s, and writes; the fault
follows; client 2 asks for the lock at 8 s, writes, and writes again 9 s later; at 10 s client 1 writes again. Both write only
while they believe in their lock. In column 6 client 1 asks at 14 s, on the side of the server that was replaced. In
Redlock's rows client 1 has the lock on three of five servers, and the fault is on one of them. Where there are tokens, the
storage rejects a lower one than it has seen.

- **holds**: they have the lock one after the other.
- **two holders**: both believe that they have it, and the storage takes the writes of both in turn.
- **late write**: only one has it, and the storage takes the writes of both in turn.
- **fenced**: as either of these, but the storage rejects the writes of one.
- **not granted**: client 1 is refused the lock, because it could be lost.
- **nobody**: client 2 is refused the lock, too, for as long as a server is missing.
- –: there is no such thing.

The rows with one Redis are locks of package [redlock/single](../redlock/single), with these fields of its Failover.
` + "`go test ./internal/topologies`" + ` compares this page with the runs, and with ` + "`-update`" + ` it writes it.

`

func TestPage(t *testing.T) {
	var b strings.Builder
	b.WriteString(head)
	for i, f := range cases {
		fmt.Fprintf(&b, "%d. %s\n", i+1, f.name)
	}
	b.WriteString("\n| |")
	for i := range cases {
		fmt.Fprintf(&b, " %d |", i+1)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(cases)) + "\n")
	for _, top := range topologies {
		fmt.Fprintf(&b, "| %s |", top.name)
		for _, f := range cases {
			fmt.Fprintf(&b, " %s |", cell(t, top, f))
		}
		b.WriteString("\n")
	}
	if *update {
		if err := os.WriteFile(pageFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if page, err := os.ReadFile(pageFile); err != nil || string(page) != b.String() {
		t.Errorf("%s is not what the runs say (%v); go test ./internal/topologies -update writes it:\n%s", pageFile, err, b.String())
	}
}

// cell runs a topology under a fault, on both tiers, and says what became of the lock.
func cell(t *testing.T, top topology, f fault) string {
	text := top.scenario(f)
	if text == "" {
		return "–"
	}
	all, err := scenarios.Parse(top.name+".yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var said string
	for _, tier := range scenarios.Tiers() {
		r, err := verdict.Judge(all[0], scenarios.Options{Tier: tier})
		if err != nil {
			t.Fatalf("%s, %s: %v", top.name, f.name, err)
		}
		now := outcome(r)
		for _, why := range r.NotTested {
			if now != nobody {
				t.Errorf("%s, %s: %s", top.name, f.name, why)
			}
		}
		if said != "" && now != said {
			t.Errorf("%s, %s: %s on one tier and %s on the other", top.name, f.name, said, now)
		}
		said = now
	}
	return said
}

const nobody = "nobody"

// outcome is the cell of a run.
func outcome(r *verdict.Result) string {
	var writes []string // who made those that were taken, without repetition
	refused, rejected, granted := "", false, false
	for _, e := range r.History {
		granted = granted || e.Kind == history.Return && e.Func == history.Acquire && e.Process == "client-2" && e.Outcome == history.OK
		switch {
		case e.Kind == history.Return && e.Func == history.Acquire && e.Process == "client-1" && e.Outcome != history.OK:
			refused = e.Detail
		case e.Kind != history.Effect || e.Func != history.Write:
		case e.Outcome != history.OK:
			rejected = true
		case len(writes) == 0 || writes[len(writes)-1] != e.Process:
			writes = append(writes, e.Process)
		}
	}
	overlap := strings.Contains(r.Findings.String(), "lease-overlap")
	switch {
	case !granted:
		return nobody
	case refused != "" && refused != redlock.ErrTaken.Error():
		return "not granted"
	case overlap && len(writes) > 2:
		return "**two holders**"
	case len(writes) > 2:
		return "**late write**"
	case overlap, rejected:
		return "fenced"
	}
	return "holds"
}
