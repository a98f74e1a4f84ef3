package search

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"redlocksim/internal/mark"
	"redlocksim/internal/outfile"
	"redlocksim/internal/plural"
	"redlocksim/internal/printable"
	"redlocksim/internal/shell"
	"redlocksim/internal/wordwrap"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/guest"
)

// Failure is a run that a search could not make or judge. It ends nothing else: the search goes on, and ends with an error.
type Failure struct {
	// Run is the number of the run that the search made, or that was made again or shrunk, in a random search.
	Run int `json:"run"`
	// Seed is what the failed run was made with, and Tier on what.
	Seed uint64         `json:"seed"`
	Tier scenarios.Tier `json:"tier"`
	// Kind is the kind of the error: not-repeated, tiers-differ, too-long or program; empty for an internal one.
	Kind string `json:"kind,omitempty"`
	// Text is the error, with the stack of a panic.
	Text string `json:"error"`
	// File is the name of its scenario file in the search's directory; empty if there is none.
	File string `json:"file,omitempty"`
	// Command is what repeats it without a file; empty if nothing is known to.
	Command string `json:"command,omitempty"`

	// Scenario is its file, on its way to the directory.
	Scenario []byte `json:"scenario,omitempty"`
}

type kindOfFailure struct {
	name string
	err  error
}

// kindsOfFailures are the errors that callers look for.
var kindsOfFailures = []kindOfFailure{
	{"not-repeated", verdict.ErrNotRepeated},
	{"tiers-differ", verdict.ErrTiersDiffer},
	{"too-long", scenarios.ErrTooLong},
	{"program", guest.ErrFailed},
}

// NewFailure is the failure of a run of a scenario with a seed. Where the error is that of another run, such as a smaller one,
// it is the failure of that.
func NewFailure(s *scenarios.Scenario, seed uint64, number int, err error) Failure {
	f := Failure{Run: number, Seed: seed, Tier: scenarios.Model, Text: err.Error()}
	if of, is := errors.AsType[*scenarios.RunError](err); is {
		s, f.Seed, f.Tier = of.Scenario, of.Seed, of.Tier
	}
	for _, k := range kindsOfFailures {
		if errors.Is(err, k.err) {
			f.Kind = k.name
			break
		}
	}
	if s != nil {
		own := *s
		own.Title, own.Source = "a run that fails", "a search"
		own.Explanation = strings.TrimSpace(f.Line()) + "\n"
		_ = Safely(func() error { // what no file can hold has none
			data, err := own.Encode()
			if err == nil && isOne(data) {
				f.Scenario = data
			}
			return err
		})
	}
	return f
}

// isOne says whether data is a scenario file with one scenario.
func isOne(data []byte) bool {
	all, err := scenarios.Parse("", data)
	return err == nil && len(all) == 1
}

// Check looks at one that comes from elsewhere, on its way to a directory.
func (f *Failure) Check() error {
	isKind := slices.ContainsFunc(kindsOfFailures, func(k kindOfFailure) bool { return k.name == f.Kind })
	switch {
	case f.Kind != "" && !isKind:
		return fmt.Errorf("there is no failure of kind %q", f.Kind)
	case f.File != "":
		return fmt.Errorf("a failure has the file %q already", f.File)
	case f.Scenario != nil && !isOne(f.Scenario):
		return errors.New("the scenario of a failure is no scenario file with one scenario")
	}
	return nil
}

// IsDifference says that the run is not the same on all tiers.
func (f Failure) IsDifference() bool { return f.is(verdict.ErrTiersDiffer) }

// Line is the first line of the error.
func (f *Failure) Line() string {
	line, _, _ := strings.Cut(f.Text, "\n")
	return line
}

// Repeat is the command that repeats it, with the search's directory and what commands add that have a lock; empty if there is
// none.
func (f *Failure) Repeat(dir, with string) string {
	path := shell.Quote(filepath.Join(dir, f.File))
	switch {
	case f.File == "":
		return f.Command
	case f.IsDifference():
		return fmt.Sprintf("redlocksim suite %s --seed %d%s", path, f.Seed, with)
	case slices.Contains(scenarios.Tiers(), f.Tier) && f.Tier != scenarios.Model:
		return fmt.Sprintf("redlocksim run %s --tier %s --seed %d%s", path, f.Tier, f.Seed, with)
	}
	return fmt.Sprintf("redlocksim run %s --seed %d%s", path, f.Seed, with)
}

// is says whether its kind is that of an error.
func (f Failure) is(target error) bool {
	for _, k := range kindsOfFailures {
		if k.name == f.Kind {
			return k.err == target
		}
	}
	return false
}

// Failures are the runs of a search that failed. The zero value is none.
type Failures struct {
	// Failed is how often one did, and Failures are the first that differ.
	Failed   int       `json:"failed,omitempty"`
	Failures []Failure `json:"failures,omitempty"`
}

// maxFailures bounds the failures that are kept, and maxError the text of each, in bytes. A stack has some ten thousand.
const maxFailures, maxError = 20, 64 << 10

// Check looks at the failures of a directory, whose files they name. The first is always kept.
func (all *Failures) Check() error {
	if n := len(all.Failures); all.Failed < n || all.Failed > 0 && n == 0 {
		return fmt.Errorf("%d failures, and %d of them kept", all.Failed, n)
	}
	for i, f := range all.Failures {
		if f.File != "" && f.File != failedFile(i+1) {
			return fmt.Errorf("failure %d: its file is %q, not %s", i+1, f.File, failedFile(i+1))
		}
	}
	return nil
}

// Note takes in a failure, and writes its scenario to dir, unless that is empty or the same failure is there.
func (all *Failures) Note(f Failure, dir string, rules outfile.Rules) error {
	all.Failed++
	f.Text = printable.Lines(printable.Short(f.Text, maxError)) // whatever a lock program, a server or a worker has said
	f.Command = printable.Line(f.Command)
	isSame := func(o Failure) bool {
		return o.Run == f.Run && o.Seed == f.Seed && o.Line() == f.Line() && o.Command == f.Command
	}
	if len(all.Failures) == maxFailures || slices.ContainsFunc(all.Failures, isSame) {
		return nil
	}
	data := f.Scenario
	f.Scenario = nil
	if dir != "" && data != nil {
		f.File = failedFile(len(all.Failures) + 1)
		if err := rules.Write(filepath.Join(dir, f.File), append([]byte(mark.YAML+"\n"), data...)); err != nil {
			return err
		}
	}
	all.Failures = append(all.Failures, f)
	return nil
}

// Include takes in the failures of a part, which have no files.
func (all *Failures) Include(part Failures) {
	for _, f := range part.Failures {
		_ = all.Note(f, "", outfile.Rules{}) // without a directory nothing is written
	}
	all.Failed += part.Failed - len(part.Failures)
}

// Text says which failed, and what repeats each; dir and with are as of Failure.Repeat.
func (all *Failures) Text(dir, with string) string {
	var b strings.Builder
	for i := range all.Failures {
		one := &all.Failures[i]
		b.WriteString(wordwrap.Help("  ! ", "    ", "a run FAILED: "+one.Line()))
		if repeat := one.Repeat(dir, with); repeat != "" {
			fmt.Fprintf(&b, "     %s\n", repeat)
		}
	}
	if n := all.Failed - len(all.Failures); n > 0 {
		fmt.Fprintf(&b, "  ! %s FAILED, too\n", plural.Count(n, "run"))
	}
	return b.String()
}

// Err is the error of a search with failures, which matches what those that were kept match; nil if there are none. dir and
// with are as of Failure.Repeat.
func (all *Failures) Err(dir, with string) error {
	if all.Failed == 0 {
		return nil
	}
	first := &all.Failures[0]
	text := first.Text
	if all.Failed > 1 {
		text = fmt.Sprintf("%s failed; the first: %s", plural.Count(all.Failed, "run"), text)
	}
	if repeat := first.Repeat(dir, with); repeat != "" {
		text += "\n" + repeat + " shows it"
	}
	return &failuresError{text, all.Failures}
}

type failuresError struct {
	text string
	of   []Failure
}

func (e *failuresError) Error() string { return e.text }

// Is says whether all are of the kind of an error: a single internal one is one.
func (e *failuresError) Is(target error) bool {
	return !slices.ContainsFunc(e.of, func(f Failure) bool { return !f.is(target) })
}

// Safely has a panic be an error.
func Safely(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return do()
}
