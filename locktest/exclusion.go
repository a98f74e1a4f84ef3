package locktest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"redlocksim/checker"
	"redlocksim/reports"
	"redlocksim/reports/story"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
	"redlocksim/search"
	"redlocksim/search/shrink"
)

// MutualExclusion runs an experiment and fails the test if two clients held the lock at once, if a careful client was not alone
// under the lock (a stale write, a lost update, a fencing token that fell or came twice), or if the nodes would have granted a
// lock to another client while it was held. It asks for nothing else: for what a lock promises its callers see [Promises].
//
// What faults beyond the assumptions excuse, an overlap of leases above all, is not held against the lock: the test fails as
// not tested then. What no fault excuses counts there as well.
//
// A failure prints the smallest experiment that still shows it, within the assumptions if it was: its story, whose leases
// overlapped and when, and the scenario file to keep, with the commands that repeat it. With a [rapid.T] that is done only
// for the example that rapid ends with.
//
// An attack that did not take place also fails the test, as not tested: it is no evidence for the lock. So does a run in which
// the resource refused writes that carried no token or mark and compared nothing, as with storage: table and a lock without
// tokens.
func MutualExclusion(t rapid.TB, e *Experiment) {
	t.Helper()
	e.assert(t, isExclusion)
}

// Promises is as MutualExclusion, of what a lock promises beside that, whether or not two clients collide: it fails the test if
// a call returned what is not true, as a lease that is already over (contract), if a client sent what no lock should send, as a
// command that deletes the key of another (conduct), or if the library took a step that Redlock does not have (refinement).
// Both can be asked about one experiment, which is run once.
func Promises(t rapid.TB, e *Experiment) {
	t.Helper()
	e.assert(t, isPromise)
}

// isPromise says that a finding is of a broken promise, and isExclusion that it is of mutual exclusion.
func isPromise(k checker.Kind) bool {
	return k == checker.Conduct || k == checker.Contract || k == checker.Refinement
}
func isExclusion(k checker.Kind) bool { return k.Violation() && !isPromise(k) }

// assert fails the test if the experiment shows a finding of some kinds.
func (e *Experiment) assert(t rapid.TB, is func(checker.Kind) bool) {
	t.Helper()
	r, kind := e.run(t, is)
	switch {
	case kind == "" && e.untested(r) != "":
		t.Fatalf("locktest: not tested: %s:\n%s", e.untested(r), e.story(r))
	case kind == "":
	case r.Excused(kind):
		t.Fatalf("locktest: not tested: %s, but the faults exceed the assumptions: %s", kind.Says(), strings.Join(r.Beyond, "; "))
	case r.Beyond != nil:
		t.Log(&failure{e, kind, true})
		t.Fatalf("locktest: the faults exceed the assumptions, but are no excuse: %s", kind.Says())
	default:
		// Written only when it is printed, which rapid does not do while it shrinks.
		t.Log(&failure{e, kind, false})
		// The same text for the same kind: rapid compares it.
		t.Fatalf("locktest: %s within the assumptions", kind.Says())
	}
}

// Breaks is the opposite of MutualExclusion: it fails the test if the experiment does not violate mutual exclusion, or does
// so only by faults that exceed the assumptions. A broken promise is not enough.
func Breaks(t rapid.TB, e *Experiment) {
	t.Helper()
	r, kind := e.run(t, isExclusion)
	switch {
	case kind == "":
		t.Fatalf("locktest: the experiment does not violate mutual exclusion:\n%s", e.story(r))
	case r.Excused(kind):
		t.Fatalf("locktest: %s, but the faults exceed the assumptions: %s", kind.Says(), strings.Join(r.Beyond, "; "))
	}
}

// untested says what did not take place. Of random faults that is not asked: the moment of some never comes. Of what the
// resource checks a drawn experiment need not say anything, but it is no test where the resource refuses what no client could
// have had accepted.
func (e *Experiment) untested(r *verdict.Result) string {
	why := r.NotTested
	if e.drawn {
		why = append(r.OfLock(), r.Blind())
	}
	if e.random {
		why = []string{r.Report.NotTested(), r.Blind()}
	}
	return strings.Join(slices.DeleteFunc(slices.Clone(why), func(text string) bool { return text == "" }), "; ")
}

// run is what a run showed, and of which of some kinds the first finding in it is, if there is one.
func (e *Experiment) run(t rapid.TB, is func(checker.Kind) bool) (*verdict.Result, checker.Kind) {
	t.Helper()
	if e.failure != nil {
		t.Fatalf("locktest: %v", e.failure)
	}
	r, err := e.judge()
	if err != nil {
		t.Fatalf("locktest: %v", err)
	}
	if e.repeats(r) {
		again, err := guarding(e.strays, func() (*scenarios.Outcome, error) { return scenarios.Run(e.scenario, e.options()) })
		if err != nil {
			t.Fatalf("locktest: %v", err)
		}
		if again.HistoryHash != r.HistoryHash {
			t.Fatalf("locktest: %v: %s: %s", verdict.ErrNotRepeated, e.blame(), verdict.FirstDifference(r.History, again.History))
		}
	}
	if f := r.First(is); f != nil {
		return r, f.Kind
	}
	return r, ""
}

// judge runs the experiment once, however often it is asked for what that showed.
func (e *Experiment) judge() (*verdict.Result, error) {
	if e.judged == nil {
		var err error
		if e.judged, err = guarding(e.strays, func() (*verdict.Result, error) { return verdict.Judge(e.scenario, e.options()) }); err != nil {
			return nil, err
		}
	}
	return e.judged, e.strays.err()
}

// repeats says whether the run is made again, to see whether it is the same. A program knows of nothing but the simulator, so
// that it is enough to look at one of eight of its runs, and at those that break it.
func (e *Experiment) repeats(r *verdict.Result) bool {
	return e.foreign != nil && (e.program == nil || e.seed%8 == 0 || r.Witness() != nil)
}

// blame says what makes the difference between two runs.
func (e *Experiment) blame() string {
	if e.program != nil {
		return "this is a defect of the simulator"
	}
	return "Setup.Lock uses something other than its Env"
}

func (e *Experiment) options() scenarios.Options {
	return scenarios.Options{Seed: e.seed, Foreign: e.foreign}
}

// story is what happened in a run.
func (e *Experiment) story(r *verdict.Result) string {
	var b strings.Builder
	for _, line := range story.Of(r.History, r.Monitored...) {
		fmt.Fprintf(&b, "%v\n", line)
	}
	return b.String()
}

// failure is the text about an experiment that failed.
type failure struct {
	*Experiment
	kind checker.Kind
	// despite says that the faults exceed the assumptions, and are no excuse.
	despite bool
}

func (f *failure) String() string {
	what := fmt.Sprintf("%s, seed %d", f.kind, f.seed)
	if data, err := f.scenario.Encode(); err == nil {
		what += string(data)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel() // what a stray call has left behind
	f.told.mu.Lock()
	defer f.told.mu.Unlock()
	if f.told.what != what {
		text, err := guarding(f.strays, func() (string, error) { return f.tell(ctx) })
		if err != nil {
			text = fmt.Sprintf("locktest: the experiment could not be made smaller: %v", err)
		}
		f.told.what, f.told.text = what, text
	}
	return f.told.text
}

// shrinkRuns bounds the runs that make an experiment smaller, some seconds, and shrinkProgramRuns those of a program, half a
// minute.
const (
	shrinkRuns        = 3000
	shrinkProgramRuns = 200
)

// tell shrinks the experiment and describes it.
func (f *failure) tell(ctx context.Context) (string, error) {
	own := *f.scenario
	own.Title, own.Source, own.Explanation = f.kind.Says(), "locktest", fmt.Sprintf("Run it with seed %d.", f.seed)
	own.Claim, own.Expect.Findings, own.Expect.Reached = scenarios.Unsound, scenarios.Findings{f.kind}, nil
	v := search.Violation{Scenario: &own, Seed: f.seed, Foreign: f.foreign, Kind: f.kind, Despite: f.despite}
	runs := shrinkRuns
	if f.program != nil {
		runs = shrinkProgramRuns
	}
	small, err := shrink.Violation(ctx, v, runs)
	if err != nil {
		return "", err
	}
	small.Name = "experiment"
	r, err := verdict.Verify(small, f.options())
	if err != nil {
		return "", err
	}
	file, err := small.Encode()
	if err != nil {
		return "", err
	}
	asserts := "locktest.MutualExclusion"
	if isPromise(f.kind) {
		asserts = "locktest.Promises"
	}
	repeat := fmt.Sprintf("%s(t, locktest.Parse(t, file, %d, lock))", asserts, f.seed)
	switch {
	case f.program != nil:
		repeat = fmt.Sprintf("%s, or %s(t, locktest.ParseProgram(t, file, %d, %q))", f.program.repeat(f.seed), asserts, f.seed, f.program.text)
	case f.foreign == nil:
		repeat = fmt.Sprintf("redlocksim run FILE --seed %d, or %s(t, locktest.Parse(t, file, %d, nil))", f.seed, asserts, f.seed)
	}
	var b bytes.Buffer
	b.WriteString("the smallest experiment that still shows it:\n\n")
	if err := reports.Run(&b, r, repeat, true); err != nil {
		return "", err
	}
	text := strings.TrimSuffix(b.String(), "\n"+r.Headline()+"\n")
	return fmt.Sprintf("%s\nthe file to keep:\n\n%s", text, file), nil
}
