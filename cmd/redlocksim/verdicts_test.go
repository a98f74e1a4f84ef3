package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"redlocksim/checker"
	"redlocksim/live"
	"redlocksim/lockprogram/lines"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// timed is what a verdict says of durations.
var timed = regexp.MustCompile(`, unavailable for .*$`)

const verdictsPath = "../../scenarios/VERDICTS.md"

// The committed table has every case, with what its file says, what the simulator shows, and what redis-server processes
// showed: the expected findings, or the reason for which they cannot.
func TestVerdictsAreCommitted(t *testing.T) {
	text, err := os.ReadFile(verdictsPath)
	if err != nil {
		t.Fatal(err)
	}
	const help = "(redlocksim verdicts > scenarios/VERDICTS.md writes it)"
	if !strings.HasPrefix(string(text), verdictsIntro) {
		t.Errorf("the introduction is another %s", help)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "| "); ok {
			name, _, _ = strings.Cut(name, " |")
			rows[name] = line
		}
	}
	delete(rows, "case")
	delete(rows, "---")
	for _, s := range scenarios.Catalogue() {
		r, err := scenarios.Judge(s, scenarios.Options{}) // that it repeats itself is for the suite
		if err != nil {
			t.Fatal(err)
		}
		row := verdictRow{name: s.Name, expected: s.Says(), model: marked(r, r.Says())}
		row.wire = row.model // their histories are equal, or the suite is not as expected
		onLive := *s
		onLive.Expect.Findings = slices.DeleteFunc(slices.Clone(s.Expect.Findings), checker.Kind.Monitored)
		onLive.Claim = scenarios.Unsound // whose budget is no matter
		row.live = timed.ReplaceAllString(onLive.Says(), "")
		if err := live.Unfit(s, realOptions(s)); err != nil {
			row.live = refusal(err)
		}
		lines := strings.Split(strings.TrimSpace(markdown([]verdictRow{row})), "\n")
		if want := lines[len(lines)-1] + "\n"; rows[s.Name] != want {
			t.Errorf("the table has\n%s, want\n%s %s", rows[s.Name], want, help)
		}
		delete(rows, s.Name)
	}
	for name := range rows {
		t.Errorf("the table has %s, which is no case %s", name, help)
	}
}

// realOptions are those with which a scenario runs on tier live, in the project's directory.
func realOptions(s *scenarios.Scenario) live.Options {
	if server, real := map[protocols.Name]lines.Server{"consensus": lines.Etcd, "db-row": lines.Postgres, "db-unique": lines.Postgres}[s.Lock.Protocol]; real {
		return live.Options{Lock: []string{"its program"}, Server: server, IsProtocol: true}
	}
	return live.Options{}
}
