package sweep_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"redlocksim/internal/jobs/jobstest"
	"redlocksim/scenarios"
	"redlocksim/scenarios/reach"
	"redlocksim/search/sweep"
)

func asJSON(t *testing.T, c *sweep.Chart) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// stormy is a small sweep with random experiments. A lock that deletes whatever is there when it was not granted is wrong
// without any fault; one that compares first is not.
func stormy(t *testing.T) sweep.Spec {
	s := preset(t, "clock-step", "lock.protocol=redlock-plain", "lock.cleanup=del,cad", "budget.clock-step=0s", "lock.drift.constant=0s,500ms",
		"network.latency={min: 1ms, max: 5ms}")
	s.Random, s.Seed = 40, 7
	return s
}

func TestJobsChangeNothing(t *testing.T) {
	var charts [2]string
	for i, jobs := range []int{1, 5} {
		s := stormy(t)
		s.Jobs = jobs
		charts[i] = asJSON(t, run(t, s))
	}
	if charts[0] != charts[1] {
		t.Errorf("with one job:\n%s\nwith five:\n%s", charts[0], charts[1])
	}
}

// Neither does where they are done: a worker has the same points, and what a frontier is compared with arrives as well.
func TestElsewhereChangesNothing(t *testing.T) {
	frontier := preset(t, "restart", "lock.ttl=5s,10s", "budget.restart-delay=1s,20s", "network.latency={min: 1ms, max: 5ms}")
	frontier.Bisect, frontier.Frontier = true, "budget.restart-delay"
	scenario, err := sweep.Whole(find(t, "17-clock-jump"))
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]sweep.Spec{
		"grid": stormy(t), "frontier": frontier,
		"scenario": {Base: scenario, Axes: []sweep.Axis{axis(t, "lock.ttl=5s:20s:5s")}, Schedules: []sweep.Schedule{sweep.Timeline()}},
	} {
		t.Run(name, func(t *testing.T) {
			want := asJSON(t, run(t, s))
			there := jobstest.NewThere(sweep.Jobs(nil)...)
			s.Elsewhere = there
			if got := asJSON(t, run(t, s)); got != want {
				t.Errorf("here:\n%s\nelsewhere:\n%s", want, got)
			}
			if there.Done == 0 {
				t.Error("nothing was done elsewhere")
			}
		})
	}
}

// What is wrong is told as it is here. Of so many values only some are looked at before.
func TestWrongElsewhere(t *testing.T) {
	base, err := sweep.Whole(find(t, "17-clock-jump"))
	if err != nil {
		t.Fatal(err)
	}
	s := sweep.Spec{Base: base, Axes: []sweep.Axis{axis(t, "lock.quorum=1:300:1")}, Schedules: []sweep.Schedule{sweep.Timeline()}}
	s.Axes[0].Values[250] = sweep.ParseValue("soon")
	_, want := sweep.Run(t.Context(), s)
	s.Elsewhere = jobstest.NewThere(sweep.Jobs(nil)...)
	_, got := sweep.Run(t.Context(), s)
	if !errors.As(want, new(*sweep.SpecError)) || !errors.As(got, new(*sweep.SpecError)) || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("elsewhere %v, here %v", got, want)
	}
	s.Foreign = &scenarios.Foreign{}
	if _, err := sweep.Run(t.Context(), s); err == nil || err.Error() != "workers do not have the lock: it is no lock program" {
		t.Error(err)
	}
}

// Every run of every point counts: the lock breaks in the first way to place the attack after 9 s, and in none of the three
// after 10 s. Nodes that come back without their memory make a difference.
func TestReachedBySweep(t *testing.T) {
	s := preset(t, "restart", "lock.ttl=10s", "budget.restart-delay=9s,10s")
	c := run(t, s)
	if got := c.Reached.Runs; got != 1+3 {
		t.Errorf("%d runs", got)
	}
	for _, e := range []struct {
		kind reach.Kind
		name string
		runs int
	}{
		{reach.Step, "granted", 4}, {reach.Step, "memory-lost", 4}, {reach.Step, "extended", 0}, {reach.Fault, "power-loss", 4}, {reach.Effect, "power-loss", 1},
		{reach.Fault, "pause", 0}, {reach.Rule, "holds", 4},
	} {
		if got := c.Reached.Reached(e.kind, e.name); got != e.runs {
			t.Errorf("%s %s in %d runs, want %d", e.kind, e.name, got, e.runs)
		}
	}
	s.Bisect = true
	if c = run(t, s); c.Reached.Runs < 10 { // a second, to the millisecond
		t.Errorf("%d runs of a bisection", c.Reached.Runs)
	}
}

// With several resources every attack that the lock withstands is made on all of them as one lock, too.
func TestReachedOnSeveralResources(t *testing.T) {
	for resources, want := range map[string]int{"[R]": 0, "[a, b]": 3} {
		s := preset(t, "restart", "lock.ttl=10s", "budget.restart-delay=9s,10s")
		setting, err := sweep.ParseSetting("resources=" + resources)
		if err != nil {
			t.Fatal(err)
		}
		if s.Base, err = s.Base.With(setting); err != nil {
			t.Fatal(err)
		}
		c := run(t, s)
		if got := c.Reached.Reached(reach.Step, "several-granted"); got != want || c.Reached.Runs != 1+3+want || c.Cells[0].Verdict() != "broken" || c.Cells[1].Verdict() != "safe" {
			t.Errorf("%s: several granted in %d of %d runs, want %d; %+v", resources, got, c.Reached.Runs, want, c.Cells)
		}
	}
}

func TestRandomExperiments(t *testing.T) {
	for _, c := range run(t, stormy(t)).Cells {
		r, careless := c.Random, c.At[1] == "del"
		if r == nil || r.Runs != 40 || r.Share != sweep.Wilson(r.Violations, 40, sweep.Z95) {
			t.Fatalf("%v: %+v", c.At, r)
		}
		if found := r.Violations > 0; found != careless || found != (r.First != nil) {
			t.Errorf("%v: %d violations", c.At, r.Violations)
		}
		if c.Acquires < 40 || c.P50 < 2e6 || c.P99 < c.P50 || c.Unavailable == 0 {
			t.Errorf("%v: %+v", c.At, c.Measures)
		}
	}
}

func TestSeed(t *testing.T) {
	var charts []string
	for _, seed := range []uint64{7, 7, 8} {
		s := stormy(t)
		s.Axes, s.Frontier, s.Seed = s.Axes[:1], "", seed
		c := run(t, s)
		c.Seed = 0
		charts = append(charts, asJSON(t, c))
	}
	if charts[0] != charts[1] || charts[0] == charts[2] {
		t.Error("equal seeds must give equal charts, and others others")
	}
}

// cancelled ends after it has been asked a number of times.
type cancelled struct {
	context.Context
	left int
}

func (c *cancelled) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestInterrupted(t *testing.T) {
	for _, bisect := range []bool{false, true} {
		s := preset(t, "restart")
		whole := run(t, s)
		s.Bisect, s.Jobs = bisect, 1
		c, err := sweep.Run(&cancelled{context.Background(), 40}, s)
		if err != nil {
			t.Fatal(err)
		}
		if !c.Partial || len(c.Frontier) == 0 || len(c.Frontier) >= len(whole.Frontier) {
			t.Errorf("partial %t, %d rows of %d", c.Partial, len(c.Frontier), len(whole.Frontier))
		}
		var b strings.Builder
		if err := c.WriteText(&b); err != nil || !strings.Contains(b.String(), "PARTIAL") {
			t.Errorf("%v: %s", err, &b)
		}
		if !bisect && (len(c.Cells) != 40 || asJSON(t, &sweep.Chart{Cells: c.Cells}) != asJSON(t, &sweep.Chart{Cells: whole.Cells[:40]})) {
			t.Errorf("%d cells", len(c.Cells))
		}
	}
}

// Any key of a scenario can be an axis, also in its timeline. docs/start.md says that this jump breaks the lock
// from 8.896 s on.
func TestTimelineOfAScenario(t *testing.T) {
	base, err := sweep.Whole(find(t, "17-clock-jump"))
	if err != nil {
		t.Fatal(err)
	}
	s := sweep.Spec{Base: base, Schedules: []sweep.Schedule{sweep.Timeline()}, Bisect: true,
		Axes: []sweep.Axis{axis(t, "timeline[2].fault.clock-step.by=8s,10s")}}
	if r := run(t, s).Frontier[0]; r.Safe != "8.895s" || r.Broken != "8.896s" || r.Agrees != "" {
		t.Errorf("%+v", r)
	}
}

func find(t *testing.T, name string) *scenarios.Scenario {
	t.Helper()
	s, known := scenarios.Find(name)
	if !known {
		t.Fatalf("no scenario %s", name)
	}
	return s
}

func TestBadSweeps(t *testing.T) {
	for _, c := range []struct {
		axes      []string
		along     string
		random    int
		bisect    bool
		wantError string
	}{
		{nil, "", 0, false, "at least one axis"},
		{[]string{"lock.tll=1s"}, "", 0, false, `axis lock.tll=1s: lock: unknown key "tll"; did you mean "ttl"?`},
		{[]string{"lokc.ttl=1s"}, "", 0, false, `did you mean "lock"?`},
		{[]string{"lock.ttl=1s,5"}, "", 0, false, `axis lock.ttl=5: lock.ttl: a duration needs a unit`},
		{[]string{"adversary.puase=1s"}, "", 0, false, `there is no setting "adversary.puase"; did you mean "adversary.pause"?`},
		{[]string{"nodes.count=1000000000"}, "", 0, false, `axis nodes.count=1000000000: "1000000000" is not a number of nodes, from 1 to 64`},
		{[]string{"nodes.count=-3"}, "", 0, false, `not a number of nodes`},
		{[]string{"budget.clock-rate=60%"}, "", 0, false, `budget.clock-rate`},
		{[]string{"budget.pause=-1s"}, "", 0, false, `budget.pause`},
		{[]string{"adversary.pause=-1s"}, "", 0, false, `from 0s to 24h`},
		{[]string{"lock.ttl=1s:400s:1s", "budget.restart-delay=1s:400s:1s"}, "", 0, false, "more than 100000 points"},
		{[]string{"lock.ttl=1s:400s:1s"}, "", 1_000_000, false, "more than 10000000, which is the limit"},
		{[]string{"lock.ttl=1s"}, "", -1, false, "must not be negative"},
		{[]string{"lock.ttl=1s"}, "lock.tlt", 0, false, `frontier: there is no axis "lock.tlt"; did you mean "lock.ttl"?`},
		{[]string{"nodes.persistence=none,always"}, "", 0, true, "at least two quantities"},
		{[]string{"lock.quorum=6,7"}, "", 0, false, "no point has settings that can be run: lock: quorum 6 of 5 nodes"},
		{[]string{"timeline[7].at=1s"}, "", 0, false, "timeline has 0 entries"},
		{[]string{"lock.ttl=1s", "lock.ttl=2s"}, "", 0, false, "given twice"},
	} {
		s, err := sweep.Free(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range c.axes {
			s.Axes = append(s.Axes, axis(t, text))
		}
		s.Frontier, s.Random, s.Bisect = c.along, c.random, c.bisect
		_, err = sweep.Run(context.Background(), s)
		if !errors.As(err, new(*sweep.SpecError)) || !strings.Contains(err.Error(), c.wantError) {
			t.Errorf("%v: %v, want %s", c.axes, err, c.wantError)
		}
	}
}

func TestForms(t *testing.T) {
	s := preset(t, "quorum", "nodes.count=3", "budget.memory-loss=0,1", "lock.quorum=2:4:1")
	c := run(t, s)
	var text, table bytes.Buffer
	if err := errors.Join(c.WriteText(&text), c.WriteCSV(&table)); err != nil {
		t.Fatal(err)
	}
	// Of three nodes a quorum of two survives no loss, one of three survives one, and one of four there is not.
	want := `nodes.count = 3
lock.quorum
          4  - -
          3  · ·
          2  · █
             0 1  budget.memory-loss
`
	if !strings.Contains(text.String(), want) {
		t.Errorf("%s", &text)
	}
	lines, err := csv.NewReader(&table).ReadAll()
	if err != nil || len(lines) != 7 {
		t.Fatalf("%v, %v", lines, err)
	}
	if got := strings.Join(lines[4][:5], "|"); got != "3|1|2|broken|memory-loss: lease-overlap" {
		t.Errorf("%s", got)
	}
	var back sweep.Chart
	if err := json.Unmarshal([]byte(asJSON(t, c)), &back); err != nil || len(back.Cells) != 6 || back.Cells[3].Breaches[0].What != "lease-overlap" || back.Axes[2].Unit != sweep.Count {
		t.Errorf("%v: %+v", err, back)
	}
}

func TestFile(t *testing.T) {
	s, err := read(t, "mine.yaml", `
title: ours
settings:
  lock: {ttl: 2s, drift: {factor: 0%, constant: 10ms}}
  network: {latency: {min: 1ms, max: 2ms}}
schedules: [clocks]
axes:
  budget.clock-rate: 0%, 1%
  network.latency: [0s, {min: 1ms, max: 2ms}]
  lock.drift.constant: 0ms:60ms:10ms
bisect: true
random: 2
seed: 9
`)
	if err != nil {
		t.Fatal(err)
	}
	c := run(t, s)
	if c.Name != "ours" || c.Seed != 9 || len(c.Frontier) != 4 || c.Cells[0].Random.Runs != 2 {
		t.Errorf("%+v", c)
	}
	// 1 % wrong both ways: 2 s × (1 − 0.99/1.01) = 39.6 ms.
	if r := c.Frontier[2]; r.Safe != "40ms" || r.Broken != "39ms" {
		t.Errorf("%+v", r)
	}
}

func TestBadFiles(t *testing.T) {
	for text, want := range map[string]string{
		"axes: {lock.tll: 1s}":                       `f.yaml:1:8: axis lock.tll=1s: lock: unknown key "tll"; did you mean "ttl"?`,
		"preset: drifft":                             `f.yaml:1:9: there is no preset "drifft"; did you mean "drift"?`,
		"axes: {lock.ttl: 1s}\nschedules: [clokcs]":  `f.yaml:2:12: there is no schedule "clokcs"; did you mean "clocks"?`,
		"axes: {lock.ttl: '1s:2s:-1s'}":              "f.yaml:1:8: ",
		"axis: {lock.ttl: 1s}":                       `did you mean "axes"`,
		"settings: {lock: {ttl: 10}}":                "f.yaml:1:24: settings.lock.ttl: a duration needs a unit",
		"axes: {lock.ttl: 1s}\nfrontier: lock.quorm": "f.yaml:2:11: frontier",
		"title: x": "at least one axis",
	} {
		if _, err := read(t, "f.yaml", text+"\n"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// read loads a sweep file of this name and text.
func read(t *testing.T, name, text string) (sweep.Spec, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return sweep.Load(path)
}
