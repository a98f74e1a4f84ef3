package programs_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/internal/built"
	"redlocksim/internal/longest"
	"redlocksim/scenarios"
	"redlocksim/scenarios/programs"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

func load(t *testing.T, dir string, args ...string) *programs.Program {
	t.Helper()
	p, err := programs.Load(built.Wasm(t, dir), args, built.Cache(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// given is a scenario of one client, or of those that it names, in a minute.
func given(t *testing.T, text string) *scenarios.Scenario {
	t.Helper()
	if !strings.Contains(text, "clients:") {
		text += "\nclients: [client-1]"
	}
	return scenariotest.Given(t, text)
}

// judged is a run of a program's lock, judged.
func judged(t *testing.T, s *scenarios.Scenario, p *programs.Program) *verdict.Result {
	t.Helper()
	return scenariotest.Judged(t, s, scenarios.Options{Foreign: p.Foreign()})
}

// shown are some of the cases that take no more than a minute, or all.
func shown(t *testing.T) []*scenarios.Scenario {
	t.Helper()
	all := scenarios.Catalogue()
	if longest.All() {
		return all
	}
	var some []*scenarios.Scenario
	for i := 0; i < len(all); i += 10 {
		if all[i].Duration <= time.Minute {
			some = append(some, all[i])
		}
	}
	return some
}

// differing are the cases in which this project's library as a program, on real go-redis with goroutines, pools and batches of
// its own, finds something else than inside the simulator, and why.
var differing = map[string]string{
	"boundaries/pause-holds": "its largest pause is for a network on which connecting takes no time",
}

// TestOurLibraryAsAProgram: it has the findings of the other tiers in every case that applies, and each run repeats itself.
func TestOurLibraryAsAProgram(t *testing.T) {
	p := load(t, filepath.Join("..", "..", "locks", "redlock"))
	ran := 0
	for _, s := range shown(t) {
		if p.Unfit(s) != nil {
			continue
		}
		ran++
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			o := scenarios.Options{Foreign: p.Foreign()}
			r := scenariotest.Judged(t, s, o)
			if err := verdict.Again(s, o, r.Outcome); err != nil {
				t.Error(err)
			}
			// What only the library itself tells of, its errors and its observer, a program does not.
			want := slices.DeleteFunc(slices.Clone(s.Expect.Findings), func(k checker.Kind) bool { return k == checker.Contract })
			if _, differs := differing[s.Name]; !slices.Equal(r.Findings, want) != differs {
				t.Errorf("found %v, and on the other tiers %v", r.Findings, want)
			}
			if len(r.NotTested) > 0 {
				t.Errorf("not tested: %q", r.NotTested)
			}
		})
	}
	if ran < len(shown(t))/4 {
		t.Errorf("only %d cases apply", ran)
	}
}

// A naive lock breaks where it must, and holds where nothing goes wrong.
func TestANaiveLock(t *testing.T) {
	p := load(t, filepath.Join("..", "..", "locks", "naive"))
	for name, want := range map[string]string{
		"05-single-instance/healthy":      "safe",
		"09-contention":                   "safe",
		"24-restart-at-once/one-of-three": "lease-overlap", // the one is its own
		"12-holder-dies/crash":            "safe",
		"32-pause-before-write":           "stale-write",
		"06-failover-to-a-replica":        "lease-overlap",
	} {
		t.Run(name, func(t *testing.T) {
			r, err := verdict.Verify(scenariotest.Named(t, name), scenarios.Options{Foreign: p.Foreign()})
			if err != nil {
				t.Fatal(err)
			}
			if r.Findings.String() != want {
				t.Errorf("found %v, want %s", r.Findings, want)
			}
		})
	}
}

// A program may tell of a lease in the same breath with which it grants it: the client's belief ends when it is lost, or when
// what the renewal has left of it is over.
func TestWhatIsToldWithTheGrantIsHeard(t *testing.T) {
	s := given(t, `timeline: [{at: 1s, client: client-1, do: [try-lock, sleep: 9s]}]
expect: {findings: safe, unavailable: {at-most: 1m}}`)
	for told, want := range map[string]time.Duration{
		`{"type":"lost","lease":2}`:                    time.Second,
		`{"type":"renewed","lease":2,"valid_ms":5000}`: 6 * time.Second,
	} {
		args := []string{`{"type":"ready","re":1}`, `{"type":"granted","re":2,"valid_ms":3000};` + told}
		p := load(t, filepath.Join("testdata", "says"), args...)
		out := scenariotest.Ran(t, s, scenarios.Options{Foreign: p.Foreign()})
		var ends []time.Duration
		for _, e := range out.History {
			if e.Kind == history.Expire {
				ends = append(ends, time.Duration(e.Time).Round(10*time.Millisecond))
			}
		}
		if !slices.Equal(ends, []time.Duration{want}) {
			t.Errorf("%s: belief ends at %v, want %v", told, ends, want)
		}
	}
}

// A program that says what makes no sense ends the run with an error, and never with a verdict.
func TestProgramsThatSayNonsense(t *testing.T) {
	s := scenariotest.Named(t, "09-contention")
	for line, want := range map[string]string{
		"hello":                                  "it has written a line that is no answer",
		`{"type":"granted","re":7}`:              "it has answered a request that it was not asked, or had answered",
		`{"type":"released","re":1}`:             "it has answered a request to init with what is no answer to that",
		`{"type":"ready","re":1,"x":1}`:          "it has written a line that is no answer",
		`{"type":"failed","re":1,"reason":"no"}`: "it cannot make its lock: no",
		`{"type":"lost","lease":2}`:              "it tells of a lease that it was not granted",
		`{"type":"ready","re":1} {"type":"granted","re":2,"valid_ms":-1e300}`: "a validity that no lock can have",
		`{"type":"renewed","lease":2,"valid_ms":1e300}`:                       "a validity that no lock can have",
		`{"type":"renewed","lease":2,"valid_ms":1}`:                           "it tells of a lease that it was not granted",
	} {
		t.Run(line, func(t *testing.T) {
			// When it is loaded it is asked what it is, by the first request of all.
			p, err := programs.Load(built.Wasm(t, filepath.Join("testdata", "says")), strings.Fields(line), built.Cache(t))
			if err == nil {
				_, err = scenarios.Run(s, scenarios.Options{Foreign: p.Foreign()})
				_ = p.Close()
			}
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "client-") {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}

// A program that says itself that a lease is over when it grants, extends or renews it breaks the contract, and the client does
// not believe in the lease. That one which was not extended is over breaks nothing.
func TestLeasesThatAreOver(t *testing.T) {
	const ready, granted = `{"type":"ready","re":1,"can":["extend"]}`, `{"type":"granted","re":2,"valid_ms":9000}`
	for _, c := range []struct{ says, want string }{
		{ready + " " + granted, ""},
		{ready + ` {"type":"granted","re":2,"valid_ms":-2006.9}`, "client-1's lease was already over when it was granted (valid for -2.0069s)."},
		{ready + ` {"type":"granted","re":2,"valid_ms":0}`, "client-1's lease was already over when it was granted (valid for 0s)."},
		{ready + ` {"type":"granted","re":2,"valid_ms":0.001}`, ""},
		{ready + " " + granted + ` {"type":"extended","re":3,"valid_ms":-1}`, "client-1's lease was already over when it was extended (valid for -1ms)."},
		{ready + " " + granted + ` {"type":"renewed","lease":2,"valid_ms":-1};{"type":"extended","re":3,"valid_ms":9000}`,
			"client-1's lease was already over when it was renewed (valid for -1ms)."},
		{ready + " " + granted + ` {"type":"refused","re":3,"valid_ms":-1}`, ""},
	} {
		s := given(t, `timeline: [{at: 1s, client: client-1, do: [try-lock, sleep: 1s, extend: 9s]}]
expect: {findings: safe, unavailable: {at-most: 1m}}`)
		p := load(t, filepath.Join("testdata", "says"), strings.Fields(c.says)...)
		r := judged(t, s, p)
		got := ""
		for _, f := range r.Report.Findings {
			if f.Kind == checker.Contract && strings.Contains(f.Text, "over") {
				got += f.Text
			}
		}
		if got != c.want || got != "" && !slices.Contains(r.Grades(), verdict.Weaker) {
			t.Errorf("%s: found %q, want %q; graded %v", c.says, got, c.want, r.Grades())
		}
	}
}

// Who has the lock and is refused by the resource has it for nothing: the lock is less available than one whose tokens suit.
func TestAHolderThatIsRefused(t *testing.T) {
	says := []string{`{"type":"ready","re":1,"can":["token"]}`, `{"type":"granted","re":2,"valid_ms":9000,"token":1}`, `{"type":"released","re":3}`}
	for does, want := range map[string]bool{"write": false, "write, write": true} {
		s := given(t, fmt.Sprintf(`storage: table
timeline: [{at: 1s, client: client-1, do: [try-lock, %s, unlock]}]
expect: {findings: safe, unavailable: {at-most: 1m}}`, does))
		r := judged(t, s, load(t, filepath.Join("testdata", "says"), says...))
		of := verdict.Cause{Grade: verdict.LessAvailable, Cause: string(checker.HolderRefused)}
		if slices.Contains(r.Grades(), of.Grade) != want || slices.Contains(r.Causes(), of) != want {
			t.Errorf("%s: graded %v for %v, less available %v; %v, %v", does, r.Grades(), r.Causes(), want, r.Findings, r.Problems)
		}
	}
}

// A program that fails ends its run, which then has no verdict, and no other.
func TestAFailureEndsOneRun(t *testing.T) {
	s := given(t, `timeline: [{at: 1s, client: client-1, do: [try-lock, unlock]}]
expect: {findings: safe, unavailable: {at-most: 1m}}`)
	o := scenarios.Options{Foreign: load(t, filepath.Join("testdata", "lies"), "exits").Foreign()}
	all := []*scenarios.Scenario{scenariotest.Named(t, "09-contention"), s, scenariotest.Named(t, "12-holder-dies/crash")}
	results, err := verdict.Suite(t.Context(), all, []scenarios.Tier{scenarios.Program}, nil, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		switch isFailed := r.Has(verdict.ProgramFailed); {
		case isFailed != (i != 1), isFailed != slices.Equal(r.Grades(), []verdict.Grade{verdict.Failed}):
			t.Errorf("%s: %v, graded %v", r.Scenario.Name, r.Problems, r.Grades())
		case isFailed && (len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Text, "has exited with status 3") || r.Verdict() != verdict.NoVerdict):
			t.Errorf("%s: %v, %s", r.Scenario.Name, r.Problems, r.Verdict())
		}
	}
	// So does one that makes the run too long. The library's own is the file's fault, or the simulator's.
	tooLong := fmt.Errorf("a run: %w", &kernel.TooLong{What: "steps", Limit: 1})
	if r := verdict.EndedByProgram(all[0], o, tooLong); r == nil || !r.Has(verdict.ProgramFailed) {
		t.Errorf("a program that makes a run too long: %v", r)
	}
	if r := verdict.EndedByProgram(all[0], scenarios.Options{}, tooLong); r != nil {
		t.Errorf("a run of the library that is too long: %v", r.Problems)
	}
}

// A program that says what its keys contradict breaks the contract, and one that leaves a key behind is found to do so.
func TestProgramsThatLie(t *testing.T) {
	for _, c := range []struct{ lie, does, want string }{
		{"none", "[try-lock, extend: 10s, unlock]", "safe"},
		{"refuses", "[try-lock]", "leftover"},
		{"extends", "[try-lock, sleep: 1s, extend: 20s, unlock]", "contract"},
		{"moves", "[try-lock, unlock]", "safe"},
		{"moves", "[try-lock, sleep: 1s, extend: 20s, unlock]", "contract"},
		{"releases", "[try-lock, unlock]", "contract"},
		{"none", "[try-lock, sleep: 11s, unlock]", "safe"}, // DEL does not say what was there
		{"releases", "[try-lock, sleep: 11s, unlock]", "contract"},
		{"never-lost", "[try-lock, sleep: 11s]", "contract"},
		{"forgets-one", "[try-lock, unlock]", "leftover"},
		{"seconds", "[try-lock: {ttl: 2500ms}, unlock]", "contract"},
		{"seconds", "[try-lock: {ttl: 2s}, extend: 2500ms, unlock]", "safe"},
		{"extends-seconds", "[try-lock: {ttl: 2500ms}, extend: 3s, unlock]", "safe"},
		{"extends-seconds", "[try-lock, extend: 12500ms, unlock]", "contract"},
		{"denies", "[try-lock, unlock]", "contract"},
		{"denies", "[try-lock, sleep: 11s, unlock]", "safe"},
	} {
		t.Run(c.lie+" "+c.does, func(t *testing.T) {
			s := given(t, fmt.Sprintf(`timeline: [{at: 1s, client: client-1, do: %s}]
expect: {findings: safe, unavailable: {at-most: 1m}}`, c.does))
			out := scenariotest.Ran(t, s, scenarios.Options{Foreign: load(t, filepath.Join("testdata", "lies"), c.lie).Foreign()})
			got := "safe"
			if len(out.Monitored) > 0 {
				got = string(out.Monitored[0].Kind)
			}
			if got != c.want || len(out.Monitored) > 1 {
				t.Errorf("found %v, want %s", out.Monitored, c.want)
			}
		})
	}
}

// A program that asks again as soon as it was refused has a grade that one with pauses has not.
func TestProgramsThatWait(t *testing.T) {
	for how, want := range map[string]verdict.Grade{"waits": verdict.AsSound, "busy-waits": verdict.BusyWaits} {
		r := judged(t, scenariotest.Named(t, "64-polling"), load(t, filepath.Join("testdata", "lies"), how))
		if g := r.Grades(); !slices.Equal(g, []verdict.Grade{want}) {
			t.Errorf("%s: %v, want %s; found %v", how, g, want, r.Findings)
		}
	}
}

// A lock that is to wait and gives up early counts as unavailable for as long as it was to wait. In a file of one's own, what
// is expected of grants and waits holds for a program as well; the catalogue means the library, and grades a program beside it.
func TestWhatIsExpectedOfAProgram(t *testing.T) {
	const early = "client-2 was to wait for 20s for R, and was refused after 1s"
	for _, c := range []struct {
		how, keys, expect string
		want              []string // parts of what is wrong
		grade             verdict.Grade
	}{
		{"waits", "", "unavailable: {at-most: 200ms}, grants: {client-1: 1, client-2: 1}", nil, verdict.AsSound},
		{"waits", "", "unavailable: {at-least: 1s, at-most: 2s}, grants: {client-1: 1}", nil, verdict.AsSound},
		{"waits", "", "unavailable: {at-most: 1ms}", []string{"the lock could not be had for "}, verdict.LessAvailable},
		{"waits", "theme: waiting", "unavailable: {at-most: 1ms}", nil, verdict.AsSound},
		{"waits", "", "unavailable: {at-most: 200ms}, grants: {client-1: 2, client-2: 1}", []string{"client-1 was granted the lock 1 time, expected 2"}, verdict.LessAvailable},
		{"waits", "", "unavailable: {at-most: 200ms}, grants: {client-1: 1, client-2: 0}", []string{"client-2 was granted the lock 1 time, expected 0"}, verdict.Weaker},
		{"waits", "theme: waiting", "unavailable: {at-most: 200ms}, grants: {client-1: 2, client-2: 0}", nil, verdict.AsSound},
		{"gives-up", "", "unavailable: {at-most: 200ms}, grants: {client-1: 1, client-2: 1}",
			[]string{"client-2 was granted the lock 0 times, expected 1", "the lock could not be had for ", early}, verdict.LessAvailable},
		{"gives-up", "theme: waiting", "unavailable: {at-most: 200ms}, grants: {client-1: 1, client-2: 1}", []string{early}, verdict.LessAvailable},
	} {
		s := given(t, fmt.Sprintf(`%s
lock: {ttl: 5s}
nodes: {names: [A]}
clients: [client-1, client-2]
duration: 30s
timeline:
  - {at: 0s, client: client-1, do: [lock: 1s, sleep: 3s, unlock]}
  - {at: 1s, client: client-2, do: [lock: 20s, unlock]}
expect: {findings: safe, %s}`, c.keys, c.expect))
		r := judged(t, s, load(t, filepath.Join("testdata", "lies"), c.how))
		ok := len(r.Problems) == len(c.want)
		for i, want := range c.want {
			ok = ok && strings.Contains(r.Problems[i].Text, want)
		}
		if !ok || !slices.Equal(r.Grades(), []verdict.Grade{c.grade}) {
			t.Errorf("%s, %s, %s: %v, graded %v; want %q, %s", c.how, c.keys, c.expect, r.Problems, r.Grades(), c.want, c.grade)
		}
	}
}

// Without a validity of its own a lease is believed in from when the request left that won.
func TestValidityThatTheProgramDoesNotSay(t *testing.T) {
	p := load(t, filepath.Join("..", "..", "locks", "naive"))
	s := given(t, `clients: [client-1, client-2]
nodes: {names: [A]}
network: {latency: 10ms}
lock: {ttl: 2s}
timeline:
  - {at: 1s, client: client-1, do: [try-lock, sleep: 5s]}
  - {at: 2s, client: client-2, do: [lock: 5s]}
duration: 10s
expect: {findings: safe, unavailable: {at-most: 5s}}
`)
	r := judged(t, s, p)
	for _, e := range r.History {
		if e.Kind == "expire" && e.Process == "client-1" {
			// It connects from 1 s to 1.02 s, and sends the command then.
			if at := time.Duration(e.Time).Round(time.Millisecond); at != 3020*time.Millisecond {
				t.Errorf("client-1's lease ends at %v", at)
			}
			return
		}
	}
	t.Error(fmt.Sprint("client-1's lease does not end: ", r.History))
}

func TestUnfit(t *testing.T) {
	a := load(t, filepath.Join("..", "..", "locks", "naive"))
	for name, want := range map[string]string{
		"09-contention":                   "",
		"29-restart-guard":                "29-restart-guard does not apply to the lock: it sets guard, which the program does not read; it prepares the nodes, which the lock does not do",
		"44-redisson/reentrant":           "44-redisson/reentrant does not apply to the lock: it is about protocol redisson",
		"20-client-clock-steps-back/wall": "20-client-clock-steps-back/wall does not apply to the lock: it has clients that measure validity by another clock than the monotonic one",
		"54-slow-extend":                  "54-slow-extend does not apply to the lock: it extends leases, which the lock cannot",
		"31-slow-acquire/pause":           "31-slow-acquire/pause does not apply to the lock: it waits for quorum-reached, a step that the program does not tell of",
	} {
		err := a.Unfit(scenariotest.Named(t, name))
		switch {
		case want == "" && err != nil, want != "" && (err == nil || err.Error() != want || !errors.Is(err, programs.ErrUnfit)):
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// What a program talks to is a Redis like any other: a replica that was promoted serves with what it knows, and keys expire
// on a server without DEL.
func TestTheRedisOfPrograms(t *testing.T) {
	p := load(t, filepath.Join("..", "..", "locks", "naive"))
	for name, c := range map[string]struct {
		file   string
		grants int
	}{
		"promoted": {`
nodes: {names: [A], replicas: {A: [A2]}}
timeline:
  - {at: 0s, client: client-1, do: [try-lock, sleep: 8s]}
  - {at: 1s, fault: {power-loss: {node: A}}}
  - {at: 2s, fault: {promote: {node: A, replica: A2}}}
  - {at: 3s, client: client-2, do: [try-lock]}
`, 1},
		"without DEL": {`
nodes: {names: [A], forbidden: DEL}
timeline:
  - {at: 0s, client: client-1, do: [try-lock: {ttl: 1s}]}
  - {at: 3s, client: client-2, do: [try-lock: {ttl: 1s}]}
`, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := given(t, `clients: [client-1, client-2]
duration: 10s
expect: {findings: safe, unavailable: {at-most: 20s}}
`+c.file)
			out := scenariotest.Ran(t, s, scenarios.Options{Foreign: p.Foreign()})
			granted := 0
			for _, e := range out.History {
				if e.Kind == history.Return && e.Func == history.Acquire && e.Outcome == history.OK {
					granted++
				}
			}
			if granted != c.grants || len(out.Leaks) > 0 {
				t.Errorf("granted %d times, want %d; leaks %v", granted, c.grants, out.Leaks)
			}
		})
	}
}

// Each grade is given where it must be, to a lock that is known for it.
func TestGrades(t *testing.T) {
	p := load(t, filepath.Join("..", "..", "locks", "redsync"))
	for name, want := range map[string]string{
		"09-contention":                         "[as-sound]",
		"17-clock-jump":                         "[as-sound]", // which breaks Redlock too
		"59-nodes-fall-silent":                  "[weaker]",
		"10-two-nodes-crash":                    "[less-available]",
		"80-contexts-that-end/unlock-after":     "[leaks]",
		"80-contexts-that-end/unlock-meanwhile": "[not-applicable]",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := judged(t, scenariotest.Named(t, name), p)
			if got := fmt.Sprint(r.Grades()); got != want {
				t.Errorf("%s for %v, want %s; %v", got, r.Findings, want, r.Problems)
			}
		})
	}
}

// A program that cannot give a call up is not told to: it would not know the request.
func TestCallsThatCannotBeGivenUp(t *testing.T) {
	p := load(t, filepath.Join("testdata", "says"), `{"type":"ready","re":1}`, "", "what?")
	s := given(t, `nodes: {names: [A]}
timeline:
  - {at: 0s, client: client-1, do: [lock: 1s]}
duration: 3s
expect: {findings: safe, unavailable: {at-most: 20s}}
`)
	if _, err := scenarios.Run(s, scenarios.Options{Foreign: p.Foreign()}); err != nil {
		t.Error(err)
	}
}

// What a program that renews its leases by itself keeps from one lock to the next, and how it counts time, shows in the
// scenarios: the one that does it right is as sound as Redlock.
func TestProgramsThatRenew(t *testing.T) {
	const again, lost, beside, silent = "39-renewal/again", "39-renewal/again-after-a-loss", "39-renewal/beside", "65-renewal-and-a-black-hole/black-hole"
	for bug, noticedIn := range map[string][]string{
		"":              {again, lost, beside, silent},
		"starts-once":   {again, lost, beside},
		"first-value":   {again, lost, beside},
		"stops-all":     {again, lost, beside},
		"stays-lost":    {lost},
		"whole-seconds": {silent},
	} {
		p := load(t, filepath.Join("testdata", "watchdog"), bug)
		for _, name := range noticedIn {
			r := judged(t, scenariotest.Named(t, name), p)
			isSound := slices.Equal(r.Grades(), []verdict.Grade{verdict.AsSound})
			if isSound != (bug == "") || slices.Contains(r.Grades(), verdict.NotApplicable) {
				t.Errorf("%q in %s: %v, %v", bug, name, r.Grades(), r.Problems)
			}
		}
	}
}
