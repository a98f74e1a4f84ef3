// Package audit finds out whether lock settings are safe: for each assumption that a lock rests on, it makes the worst attack
// as somebody has it, looks for the limit, and says what mends it. [Suggest] computes settings, and audits them.
package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"redlocksim/internal/exitcode"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/attacks"
)

// Verdict says whether an assumption holds.
type Verdict string

// The verdicts.
const (
	// Safe: the worst schedule at what was answered does not break the lock.
	Safe Verdict = "SAFE"
	// Unsafe: it does.
	Unsafe Verdict = "UNSAFE"
	// NotTested: the schedule did not come to its attack.
	NotTested Verdict = "NOT TESTED"
)

// Assumption is something that the lock rests on, and what the simulator says of it.
type Assumption struct {
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"`
	// Yours is what was answered, and Limit the last value with which the lock holds: "any" if it holds with all that was
	// tried, "none" if it breaks with all, and "unknown" if the attack did not take place on the way.
	Yours string `json:"yours"`
	Limit string `json:"limit"`
	// Text says it in a sentence, with the number that decides.
	Text string `json:"text"`
	// Fix is what mends it, each of which was tried, the smallest change first, or why nothing is known to; empty if nothing is
	// to be mended.
	Fix string `json:"fix"`
	// Fixes are these one by one.
	Fixes []Fix `json:"fixes,omitempty"`
	// Repeat is the command that shows the run which decides.
	Repeat string `json:"repeat"`
	// Shown is that run: with what was answered if that breaks the lock, and else with the first value that does, or the last
	// that was tried. Nil if nothing ran.
	Shown *scenarios.Scenario `json:"-"`
	// ShownAt is the value with which it was made.
	ShownAt string `json:"shown_at"`

	broke    attacks.Broken     // what that run breaks; empty if it breaks nothing
	findings scenarios.Findings // of that run
	beyond   bool               // its faults exceed the budget, as what they do to fencing counters may
}

// Run is the run that decides, with seed 0, as a scenario for people. Shown must not be nil.
func (a *Assumption) Run() *scenarios.Scenario {
	s := *a.Shown
	s.Name, s.Title = "audit", fmt.Sprintf("%s, at %s", a.Name, a.ShownAt)
	if a.Limit == "any" && a.Verdict == Safe {
		s.Title += "; no value that was tried breaks the lock"
	}
	s.Explanation = a.Text + ".\n"
	if a.ShownAt != a.Yours {
		s.Title += ", just beyond the limit; yours is " + a.Yours
		s.Explanation = fmt.Sprintf("Just beyond the limit, at %s where yours is %s: %s.\n", a.ShownAt, a.Yours, a.Text)
	}
	s.Source = "an audit"
	if s.Expect.Findings = a.findings; len(a.findings) > 0 && !a.beyond {
		s.Claim = scenarios.Unsound
	}
	return &s
}

// Outcome is what that run came to, in a sentence.
func (a *Assumption) Outcome() string {
	switch says := a.broke.Says(); {
	case a.broke == "":
		return "the attack did not break the lock"
	case a.Verdict == Safe:
		return "the attack broke the lock, just beyond the limit: " + says
	default:
		return "the attack broke the lock: " + says
	}
}

// Audit is what was found.
type Audit struct {
	Answers     *Answers     `json:"-"`
	Assumptions []Assumption `json:"assumptions"`
	// Beyond is what no setting mends, and what does.
	Beyond []string `json:"beyond"`
	// Assumed is what was not answered, and was taken for granted.
	Assumed []string `json:"assumed"`
	// Failures are the runs that could not be made or judged.
	search.Failures
}

// Options say how to audit.
type Options struct {
	// Foreign is the lock program that Answers.Library names; nil if it names none.
	Foreign *scenarios.Foreign
	// Repeat is the command that makes the audit.
	Repeat string
	// Unmended says that no fixes are looked for.
	Unmended bool
}

// ErrInput is what errors match that are about the answers.
var ErrInput = errors.New("audit")

// Of audits settings. A line some of whose runs fail is not tested, if nothing else breaks the lock. The error matches
// ErrInput, or is that of the context.
func Of(ctx context.Context, a *Answers, o Options) (*Audit, error) {
	out := &Audit{Answers: a, Beyond: beyond(a), Assumed: a.Assumed}
	x := &auditing{ctx: ctx, answers: a, foreign: o.Foreign, world: calm(a.Settings), unmended: o.Unmended, repeat: o.Repeat, failures: &out.Failures}
	if err := cmp.Or(a.Settings.Lock.Check(len(a.Settings.Nodes.Names)), x.canRenew()); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	add := func(name string, judge func(*Assumption) error) (Verdict, error) {
		found, err := x.safely(name, judge)
		out.Assumptions = append(out.Assumptions, found)
		return found.Verdict, err
	}
	for _, l := range lines() {
		if !x.asks(l) {
			continue
		}
		verdict, err := add(l.name, func(found *Assumption) error { return x.judge(l, found) })
		if err != nil {
			return nil, err
		}
		x.broken = x.broken || l == lostMessages && verdict == Unsafe
	}
	if _, err := add("all together", x.together); err != nil {
		return nil, err
	}
	return out, nil
}

// safely is what is found of a line that is judged. If a run fails without which nothing can be said of it, it was not tested,
// but one that is unsafe stays so. The error is that of the context.
func (x *auditing) safely(name string, judge func(found *Assumption) error) (Assumption, error) {
	found := Assumption{Name: name}
	err := x.ctx.Err()
	if err == nil {
		err = search.Safely(func() error { return judge(&found) })
	}
	if err == nil || x.ctx.Err() != nil {
		return found, err
	}
	why := x.note(err)
	if found.Verdict == Unsafe {
		found.Text, found.Fix = cmp.Or(found.Text, "the lock breaks; "+why), why
		return found, nil
	}
	return Assumption{Name: name, Verdict: NotTested, Yours: found.Yours, ShownAt: found.ShownAt, Text: notTested(why)}, nil
}

// Code is the exit code of an audit.
func (a *Audit) Code() int {
	code := exitcode.OK
	if a.first(NotTested) >= 0 {
		code = exitcode.NotTested
	}
	if a.first(Unsafe) >= 0 {
		code = exitcode.Worst(code, exitcode.Safety)
	}
	return code
}
