package sweep_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"redlocksim/internal/jobs/jobstest"
	"redlocksim/scenarios"
	"redlocksim/scenarios/reach"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/variant"
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

// small is a grid of a few points, where messages take time.
func small(t *testing.T) sweep.Spec {
	return preset(t, "clock-step", "budget.clock-step=0s,100ms", "lock.drift.constant=0s,500ms", "network.latency={min: 1ms, max: 5ms}")
}

func TestJobsChangeNothing(t *testing.T) {
	var charts [2]string
	for i, jobs := range []int{1, 5} {
		s := small(t)
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
	frontier.Bisect = true
	scenario, err := variant.Of(scenariotest.Named(t, "17-clock-jump"))
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]sweep.Spec{
		"grid": small(t), "frontier": frontier,
		"scenario": {Base: scenario, Axes: []sweep.Axis{axis(t, "lock.ttl=5s:20s:5s")}},
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
	base, err := variant.Of(scenariotest.Named(t, "17-clock-jump"))
	if err != nil {
		t.Fatal(err)
	}
	s := sweep.Spec{Base: base, Axes: []sweep.Axis{axis(t, "lock.quorum=1:300:1")}}
	s.Axes[0].Values[250] = variant.ParseValue("soon")
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
// after 10 s.
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
		{reach.Step, "granted", 4}, {reach.Step, "memory-lost", 4}, {reach.Step, "extended", 0}, {reach.Fault, "power-loss", 4},
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
		setting, err := variant.ParseSetting("resources=" + resources)
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
	base, err := variant.Of(scenariotest.Named(t, "17-clock-jump"))
	if err != nil {
		t.Fatal(err)
	}
	s := sweep.Spec{Base: base, Bisect: true,
		Axes: []sweep.Axis{axis(t, "timeline[2].fault.clock-step.by=8s,10s")}}
	if r := run(t, s).Frontier[0]; r.Safe != "8.895s" || r.Broken != "8.896s" || r.Agrees != "" {
		t.Errorf("%+v", r)
	}
}

func TestBadSweeps(t *testing.T) {
	for _, c := range []struct {
		axes      []string
		bisect    bool
		wantError string
	}{
		{nil, false, "at least one axis"},
		{[]string{"lock.tll=1s"}, false, `axis lock.tll=1s: lock: unknown key "tll"; did you mean "ttl"?`},
		{[]string{"lokc.ttl=1s"}, false, `did you mean "lock"?`},
		{[]string{"lock.ttl=1s,5"}, false, `axis lock.ttl=5: lock.ttl: a duration needs a unit`},
		{[]string{"adversary.puase=1s"}, false, `unknown key "puase"; did you mean "pause"?`},
		{[]string{"nodes.count=1000000000"}, false, `axis nodes.count=1000000000: "1000000000" is not a number of nodes, from 1 to 64`},
		{[]string{"nodes.count=-3"}, false, `not a number of nodes`},
		{[]string{"budget.clock-rate=60%"}, false, `budget.clock-rate`},
		{[]string{"budget.pause=-1s"}, false, `budget.pause`},
		{[]string{"adversary.pause=-1s"}, false, `from 0s to 24h`},
		{[]string{"lock.ttl=1s:400s:1s", "budget.restart-delay=1s:400s:1s"}, false, "more than 100000 points"},
		{[]string{"nodes.persistence=none,always"}, true, "at least two quantities"},
		{[]string{"lock.quorum=6,7"}, false, "no point has settings that can be run: lock: quorum 6 of 5 nodes"},
		{[]string{"timeline[7].at=1s"}, false, "timeline has 0 entries"},
		{[]string{"lock.ttl=1s", "lock.ttl=2s"}, false, "given twice"},
	} {
		s, err := sweep.Free(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range c.axes {
			s.Axes = append(s.Axes, axis(t, text))
		}
		s.Bisect = c.bisect
		_, err = sweep.Run(context.Background(), s)
		if !errors.As(err, new(*sweep.SpecError)) || !strings.Contains(err.Error(), c.wantError) {
			t.Errorf("%v: %v, want %s", c.axes, err, c.wantError)
		}
	}
}

func TestForms(t *testing.T) {
	s := preset(t, "quorum", "nodes.count=3", "budget.memory-loss=0,1", "lock.quorum=2:4:1")
	c := run(t, s)
	var text bytes.Buffer
	if err := c.WriteText(&text); err != nil {
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
	var back sweep.Chart
	if err := json.Unmarshal([]byte(asJSON(t, c)), &back); err != nil || len(back.Cells) != 6 || back.Cells[3].Breaches[0].What != "lease-overlap" || back.Axes[2].Unit != variant.Count {
		t.Errorf("%v: %+v", err, back)
	}
}

// A chart of somebody's settings says where they are: also those that an axis changes, by the number of nodes, and defaults.
func TestYours(t *testing.T) {
	for _, c := range []struct {
		text string
		axes []string
		want []string
	}{
		{"lock: {ttl: 8s}", []string{"budget.restart-delay=1s", "lock.ttl=5s"}, []string{"", "8s"}},
		{"nodes: {names: [A, B, C]}\nlock: {quorum: 2}", []string{"nodes.count=3", "lock.quorum=2"}, []string{"3", "2"}},
		{"lock: {drift: {factor: 3%}}", []string{"lock.drift={factor: 1%, constant: 0s}"}, []string{""}},
		{"lock: {ttl: 10s}", []string{"nodes.count=3,5", "lock.ttl=10s,20s"}, []string{"5", "10s"}},
	} {
		parsed, err := scenarios.ParseSettings("settings", []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		own, err := variant.SettingsOf(parsed)
		if err != nil {
			t.Fatal(err)
		}
		s := sweep.Spec{Base: own, Yours: &own, Schedules: []string{"restart"}}
		for _, text := range c.axes {
			s.Axes = append(s.Axes, axis(t, text))
		}
		if got := run(t, s).Yours; !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}

// A preset leaves somebody's own settings as they are, but for its axes.
func TestPresetsKeepSettings(t *testing.T) {
	start, err := sweep.Free(nil)
	if err != nil {
		t.Fatal(err)
	}
	own, err := start.Base.With(variant.Setting{Path: "lock.drift", Word: "{factor: 3%, constant: 7ms}"})
	if err != nil {
		t.Fatal(err)
	}
	names, _ := sweep.Presets()
	for _, name := range names {
		if s, err := sweep.Preset(name, &own); err != nil || s.Base != own {
			t.Errorf("%s: %v, %+v, want %+v", name, err, s.Base, own)
		}
	}
}
