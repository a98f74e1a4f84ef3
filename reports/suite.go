package reports

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"redlocksim/checker"
	"redlocksim/internal/mark"
	"redlocksim/internal/rounded"
	"redlocksim/reach"
	"redlocksim/scenarios"
)

// Document is the JSON form of a suite's results.
type Document struct {
	Scenarios []Record `json:"scenarios"`
	// NotRun are the scenarios that could not be run on the tier, or not on this machine.
	NotRun []NotRun `json:"not_run"`
	// Reached is which steps of the algorithm, faults, moments and rules of the checker the runs got to, and in how many of
	// them, and Unused the features that the scenarios turn on and no run used.
	Reached []reach.Row     `json:"reached"`
	Unused  []reach.Feature `json:"unused"`
	// OK says that every scenario was as expected.
	OK bool `json:"ok"`
}

// NotRun is the JSON form of a scenario that was not run.
type NotRun struct {
	Name string `json:"name"`
	Tier string `json:"tier"`
	Why  string `json:"why"`
}

// Record is the JSON form of one run.
type Record struct {
	Name          string   `json:"name"`
	Title         string   `json:"title"`
	Source        string   `json:"source"`
	Tier          string   `json:"tier"`
	Seed          uint64   `json:"seed"`
	Claim         string   `json:"claim"`
	Expected      string   `json:"expected"`
	Verdict       string   `json:"verdict"`
	OK            bool     `json:"ok"`
	Problems      []string `json:"problems"`
	BeyondBudget  []string `json:"beyond_budget"`
	UnavailableNS int64    `json:"unavailable_ns"`
	// Unbounded says that the unavailability was expected, and shown, to last as long as the run does.
	Unbounded   bool     `json:"unbounded"`
	Liveness    Liveness `json:"liveness"`
	Leaks       []string `json:"leaks"`
	Grants      int      `json:"grants"`
	Events      int      `json:"events"`
	HistoryHash string   `json:"history_hash"`
	TraceHash   string   `json:"trace_hash"`
	Witness     *Witness `json:"witness"`
	// Smallest is how little of each fault still breaks the lock, for a violation beyond the budget.
	Smallest []Smallest `json:"smallest"`
	Repeat   string     `json:"repeat"`
}

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
	FormulaNS int64  `json:"formula_ns,omitempty"`
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

// NewRecord makes the JSON form of a run; repeat is the command that repeats it.
func NewRecord(r *scenarios.Result, repeat string) Record {
	rec := Record{
		Name: r.Scenario.Name, Title: r.Scenario.Title, Source: r.Scenario.Source, Tier: string(r.Tier), Seed: r.Seed,
		Claim: string(r.Scenario.Claim), Expected: r.Scenario.Expect.String(), Verdict: r.Verdict(), OK: r.OK(),
		Problems: []string{}, Smallest: []Smallest{}, Leaks: []string{}, BeyondBudget: append([]string{}, r.Beyond...), UnavailableNS: int64(r.Unavailable),
		Unbounded: r.Unbounded, Liveness: newLiveness(r.Measured()),
		Grants: r.Report.Grants, Events: len(r.History), HistoryHash: r.HistoryHash, TraceHash: r.TraceHash, Repeat: repeat,
	}
	for _, l := range r.Leaks {
		rec.Leaks = append(rec.Leaks, l.String())
	}
	for _, p := range r.Problems {
		rec.Problems = append(rec.Problems, p.Text)
	}
	for _, f := range r.Smallest {
		rec.Smallest = append(rec.Smallest, Smallest{f.Fault, f.Knob, int64(f.Breaks), int64(f.Holds), int64(f.Formula), f.Confirmed})
	}
	if f := r.Witness(); f != nil {
		rec.Witness = newWitness(f)
	}
	return rec
}

func newWitness(f *checker.Finding) *Witness {
	w := &Witness{Kind: string(f.Kind), Text: f.Text, FromNS: int64(f.From), ToNS: int64(f.To), Events: f.Seqs}
	for _, win := range f.Windows {
		w.Windows = append(w.Windows, WitnessWindow{win.Process, int64(win.From), int64(win.To)})
	}
	return w
}

// NewDocument makes the JSON form of a suite's results.
func NewDocument(records []Record, notRun []NotRun) Document {
	doc := Document{Scenarios: append([]Record{}, records...), NotRun: append([]NotRun{}, notRun...), Reached: []reach.Row{}, Unused: []reach.Feature{}, OK: true}
	for _, r := range records {
		doc.OK = doc.OK && r.OK
	}
	return doc
}

// WithReached is the document with what its runs reached.
func (d Document) WithReached(t *reach.Tally) Document {
	d.Reached, d.Unused = t.Reached.Rows(), append([]reach.Feature{}, t.Unused...)
	return d
}

// WriteJSON writes a JSON form, an object, as indented text with the mark of its generator.
func WriteJSON(w io.Writer, form any) error {
	data, err := mark.JSON(form)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// Suite writes a suite's results as a table, with what was not as expected below it; if quiet, without the table.
func Suite(w io.Writer, records []Record, took time.Duration, quiet bool, look Look) error {
	t := look.NewTable()
	t.AppendHeader(table.Row{"scenario", "tier", "claim", "verdict", "unavailable", "history", ""})
	bad := 0
	for _, r := range records {
		mark := look.Good("as expected")
		if !r.OK {
			mark = look.Bad("NOT AS EXPECTED")
			bad++
		}
		t.AppendRow(table.Row{r.Name, r.Tier, r.Claim, rounded.Text(r.Verdict), rounded.Duration(time.Duration(r.UnavailableNS)), r.HistoryHash[:12], mark})
	}
	b := &strings.Builder{}
	if !quiet {
		fmt.Fprintln(b, look.fit(t, 6, 3, 5))
	}
	for _, r := range records {
		for _, p := range r.Problems {
			fmt.Fprintf(b, "%s on %s: %s\n  repeat: %s\n", r.Name, r.Tier, look.Bad(p), r.Repeat)
		}
	}
	fmt.Fprintf(b, "%s, %d as expected, %d not, %v\n", times(len(records), "run"), len(records)-bad, bad, took.Round(10*time.Millisecond))
	_, err := io.WriteString(w, b.String())
	return err
}

// List writes a table of scenarios, with where each is from if sources is set. In a terminal the columns are narrowed to
// its width; elsewhere each scenario has one line, as long as it takes.
func List(w io.Writer, all []*scenarios.Scenario, sources bool, look Look) error {
	t := look.NewTable()
	header := table.Row{"scenario", "claim", "expected", "title"}
	if sources {
		header = append(header, "source")
	}
	t.AppendHeader(header)
	for _, s := range all {
		row := table.Row{s.Name, s.Claim, s.Expect.String(), s.Title}
		if sources {
			row = append(row, s.Source)
		}
		t.AppendRow(row)
	}
	if look.Width > 0 {
		t.SetColumnConfigs(narrowed(look.Width, len(header)))
	}
	_, err := fmt.Fprintln(w, t.Render())
	return err
}

// narrowed are the widths of the columns of a list that has so many: what is left of the terminal for the last ones, and
// no more than a third of it for the names, which are broken where their cases begin.
func narrowed(width, columns int) []table.ColumnConfig {
	const between, claim, least = 2, 7, 10
	name := max(least, width/3)
	expected := max(least, width/4)
	rest := width - name - claim - expected - columns*between
	configs := []table.ColumnConfig{
		{Number: 1, WidthMax: name, WidthMaxEnforcer: breakName},
		{Number: 3, WidthMax: expected, WidthMaxEnforcer: text.WrapSoft},
	}
	for n := 4; n <= columns; n++ {
		configs = append(configs, table.ColumnConfig{Number: n, WidthMax: max(least, rest/(columns-3)), WidthMaxEnforcer: text.WrapSoft})
	}
	return configs
}

// breakName breaks a scenario's name that is too long before the name of its case.
func breakName(name string, width int) string {
	if text.StringWidthWithoutEscSequences(name) <= width {
		return name
	}
	file, of, _ := strings.Cut(name, "/")
	lines := text.WrapHard(file, width)
	if of != "" {
		lines += "\n" + text.WrapHard("/"+of, width)
	}
	return lines
}
