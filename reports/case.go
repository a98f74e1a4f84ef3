package reports

import (
	"strings"
	"time"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/scenarios/reach"
	"redlocksim/scenarios/verdict"
)

// Job is what a command did, for continuous integration.
type Job struct {
	Name  string // of the command
	Cases []Case
	Took  time.Duration
	// Search is the text of a search, of whose runs the Cases are only what was found; empty if each run is a case.
	Search string
}

// Case is a run of a scenario, or what a search found: as it stands in JSON, and what reports for continuous integration say
// beside that.
type Case struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	Source   string `json:"source"`
	Tier     string `json:"tier"`
	Seed     uint64 `json:"seed"`
	Claim    string `json:"claim"`
	Expected string `json:"expected"`
	Verdict  string `json:"verdict"`
	// OK says that it was run, and as expected.
	OK bool `json:"ok"`
	// Problems are in which it was not as expected.
	Problems      []string `json:"problems"`
	BeyondBudget  []string `json:"beyond_budget"`
	UnavailableNS int64    `json:"unavailable_ns"`
	// Unbounded says that the unavailability was expected, and shown, to last as long as the run does.
	Unbounded bool     `json:"unbounded"`
	Liveness  Liveness `json:"liveness"`
	Leaks     []string `json:"leaks"`
	Grants    int      `json:"grants"`
	// Rules is how often each rule of the checker had something to judge; see reach.Premises.
	Rules       map[string]int `json:"rules"`
	Events      int            `json:"events"`
	HistoryHash string         `json:"history_hash"`
	TraceHash   string         `json:"trace_hash"`
	Witness     *Witness       `json:"witness"`
	// Smallest is how little of each fault still breaks the lock, for a violation beyond the budget.
	Smallest []Smallest `json:"smallest"`
	// Repeat is the command that repeats it.
	Repeat string `json:"repeat"`
	// Grades are how somebody's lock did beside a sound Redlock; see verdict.Grade. None of the library's own runs.
	Grades []verdict.Grade `json:"grades,omitempty"`
	// Causes are what these are for, where one is worse than Redlock's.
	Causes []verdict.Cause `json:"causes,omitempty"`

	// Class is what the problems concern: safety, liveness, that it Failed or, if nothing else, that it was not tested.
	Class string `json:"-"`
	// Skipped is why it was not run; empty if it was.
	Skipped string `json:"-"`
	// Story tells what happened, in lines; may be empty.
	Story string `json:"-"`
	// Theme is the scenario's.
	Theme scenarios.Theme `json:"-"`
	// Says and Hoped are Verdict and Expected for people, Word is Says in one word, and Ending how it came out beside what was
	// expected.
	Says   string `json:"-"`
	Hoped  string `json:"-"`
	Word   string `json:"-"`
	Ending string `json:"-"`
	// Took is how long it took on this machine.
	Took time.Duration `json:"-"`
	// File is where the scenario is written; empty if that is not in a file of the user's. Line counts from 1; 0 is unknown.
	File string `json:"-"`
	Line int    `json:"-"`
}

// Failed is the verdict and the class of what could not be run or judged: the simulator or the library failed, or a file cannot
// be read.
const Failed = verdict.NotJudged

// Liveness is the JSON form of what clients had to wait for; see checker.Resource.
type Liveness struct {
	// Takeover is null where no holder was gone, AfterHealing where nothing was healed or nobody asked after it.
	Takeover     *Waited `json:"takeover"`
	AfterHealing *Waited `json:"after_healing"`
	Attempts     int     `json:"attempts"`
	Bypass       int     `json:"bypass"`
	Overtakes    int     `json:"overtakes"`
	Fairness     float64 `json:"fairness"`
}

// Waited is the JSON form of a wait: for the lock of a holder that was gone, or of a client.
type Waited struct {
	Client  string `json:"client"`
	FromNS  int64  `json:"from_ns"`
	ToNS    int64  `json:"to_ns"`
	Granted bool   `json:"granted"`
}

func newLiveness(m checker.Resource) Liveness {
	l := Liveness{Attempts: m.Attempts.Number, Bypass: m.Bypass.Number, Overtakes: m.Overtakes.Number, Fairness: m.Fairness}
	if t := m.Takeover; t.Process != "" {
		l.Takeover = &Waited{t.Process, int64(t.From), int64(t.To), t.By != ""}
	}
	if w := m.AfterHealing; w.Process != "" {
		l.AfterHealing = &Waited{w.Process, int64(w.From), int64(w.To), w.Granted}
	}
	return l
}

// Smallest is the JSON form of the smallest fault of a kind that breaks the lock.
type Smallest struct {
	Fault     string `json:"fault"`
	Knob      string `json:"knob"`
	BreaksNS  int64  `json:"breaks_ns"`
	HoldsNS   int64  `json:"holds_ns"`
	Confirmed bool   `json:"confirmed_on_other_tier"`
}

// Witness is the JSON form of what breaks mutual exclusion; null where nothing does.
type Witness struct {
	Kind    string          `json:"kind"`
	Text    string          `json:"text"`
	Windows []WitnessWindow `json:"windows"`
	FromNS  int64           `json:"from_ns"`
	ToNS    int64           `json:"to_ns"`
	Events  []int           `json:"events"`
}

// WitnessWindow is a stretch of true time that belongs to a client.
type WitnessWindow struct {
	Client string `json:"client"`
	FromNS int64  `json:"from_ns"`
	ToNS   int64  `json:"to_ns"`
}

// NewCase makes the case of a run; repeat is the command that repeats it. The story is told if the run was not as expected.
func NewCase(r *verdict.Result, repeat string, took time.Duration) (Case, error) {
	c := Case{
		Name: r.Scenario.Name, Title: r.Scenario.Title, Source: r.Scenario.Source, Tier: string(r.Tier), Seed: r.Seed,
		Claim: string(r.Scenario.Claim), Expected: r.Scenario.Expect.String(), Verdict: r.Verdict(), OK: r.OK(),
		Problems: []string{}, Smallest: []Smallest{}, Leaks: []string{}, BeyondBudget: append([]string{}, r.Beyond...), UnavailableNS: int64(r.Unavailable),
		Unbounded: r.Unbounded, Liveness: newLiveness(r.Measured()),
		Grants: r.Report.Grants, Rules: reach.Premises(&r.Report), Events: len(r.History), HistoryHash: r.HistoryHash, TraceHash: r.TraceHash, Repeat: repeat, Took: took,
		Theme: r.Scenario.Theme, Says: r.Says(), Hoped: r.Scenario.Says(), Word: r.InOne(), Ending: r.Ending(),
	}
	for _, l := range r.Leaks {
		c.Leaks = append(c.Leaks, l.String())
	}
	for _, p := range r.Problems {
		c.Problems = append(c.Problems, p.Text)
	}
	for _, f := range r.Smallest {
		c.Smallest = append(c.Smallest, Smallest{f.Fault, f.Knob, int64(f.Breaks), int64(f.Holds), f.Confirmed})
	}
	if f := r.Witness(); f != nil {
		c.Witness = newWitness(f)
	}
	c.Grades, c.Causes = r.Grades(), r.Causes()
	if r.OK() {
		return c, nil
	}
	switch {
	case r.Err != nil:
		c.Class, c.Story = Failed, r.Err.Error()
		return c, nil
	case r.Has(verdict.ProgramFailed):
		c.Class = Failed
	case r.Has(verdict.Safety):
		c.Class = "safety"
	case r.Has(verdict.Liveness):
		c.Class = "liveness"
	default:
		c.Class = verdict.NothingTested
	}
	var b strings.Builder
	err := Run(&b, r, repeat, false)
	c.Story = b.String()
	return c, err
}

func newWitness(f *checker.Finding) *Witness {
	w := &Witness{Kind: string(f.Kind), Text: f.Text, FromNS: int64(f.From), ToNS: int64(f.To), Events: f.Seqs}
	for _, win := range f.Windows {
		w.Windows = append(w.Windows, WitnessWindow{win.Process, int64(win.From), int64(win.To)})
	}
	return w
}

// tally is how many cases were run, and how many of them were not as expected.
func tally(cases []Case) (ran, bad, skipped int) {
	for i := range cases {
		switch {
		case cases[i].Skipped != "":
			skipped++
		case !cases[i].OK:
			bad++
			ran++
		default:
			ran++
		}
	}
	return ran, bad, skipped
}
