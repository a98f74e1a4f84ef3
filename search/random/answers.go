package random

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/internal/printable"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/experiment"
	"redlocksim/sim/redis"
)

// Workers, or whoever writes to their Redis, may answer anything. What is looked at here is what the search prints, makes file
// names of, or counts by; it cannot see whether a run really showed what a worker says.

const (
	// maxWord bounds a name or a hash of an answer, in bytes.
	maxWord = 1 << 10
	// longestTime bounds a true time of an answer, so that the difference of two is one, too.
	longestTime = time.Duration(math.MaxInt64 / 2)
)

func checkTried(q *question, in numbered, out *tried) error {
	t := &out.Trial
	isNoKind := func(k checker.Kind) bool { return k.Word() == "" }
	switch {
	case !reflect.DeepEqual(t.Candidate, in.Candidate):
		return fmt.Errorf("run %d is one of another candidate", in.Run)
	case t.Run == nil:
		return fmt.Errorf("run %d does not say what it reached", in.Run)
	case slices.ContainsFunc(slices.Concat(t.Kinds, t.Excused), isNoKind):
		return fmt.Errorf("run %d has violations of the kinds %q", in.Run, slices.Concat(t.Kinds, t.Excused))
	case slices.ContainsFunc(t.States, func(s scenarios.State) bool { return s >= scenarios.NumStates }):
		return fmt.Errorf("run %d has states that there are not", in.Run)
	case slices.ContainsFunc(t.Wordings, func(w redis.Wording) bool { return w >= redis.NumWordings }):
		return fmt.Errorf("run %d has wordings that there are not", in.Run)
	case !isWord(t.History):
		return fmt.Errorf("run %d has a history without a hash", in.Run)
	}
	if m := t.Margin; m != nil && (!isWord(m.Client) || !isTime(time.Duration(m.Expiry)) || !isTime(time.Duration(m.Free))) {
		return fmt.Errorf("run %d has a margin that cannot be", in.Run)
	}
	for i := range out.Pending {
		if err := checkPending(q, in, &out.Pending[i]); err != nil {
			return err
		}
	}
	return nil
}

func isWord(text string) bool { return text == printable.Text(text, maxWord) }

func isTime(at time.Duration) bool { return at.Abs() <= longestTime }

func checkReduced(q *question, in pending, out *pending) error {
	if out.Kind != in.Kind {
		return fmt.Errorf("a violation %s of run %d became %q", in.Kind, in.Run, out.Kind)
	}
	return checkPending(q, numbered{in.Run, in.Candidate}, out)
}

// checkPending looks at a violation of a run, from whose experiment some may have been taken out.
func checkPending(q *question, in numbered, p *pending) error {
	was, is := in.Candidate.Mutations, p.Candidate.Mutations
	isLess := p.Candidate.Seed == in.Candidate.Seed && len(is) >= len(was) && (len(was) == 0 || reflect.DeepEqual(was, is[:len(was)])) &&
		!slices.ContainsFunc(is[min(len(was), len(is)):], func(m experiment.Mutation) bool {
			return !reflect.DeepEqual(m, experiment.Mutation{Without: m.Without})
		})
	switch {
	case p.Run != in.Run || !isLess:
		return fmt.Errorf("a violation of run %d is one of another run", in.Run)
	case p.Known < 0 || p.Known > len(q.findings):
		return fmt.Errorf("a violation of run %d is explained by finding %d of %d", in.Run, p.Known, len(q.findings))
	}
	return p.Shown.Check()
}

func checkShrunk(q *question, in pending, out *shrunk) error {
	f := &out.Finding
	switch {
	case f.Scenario == nil:
		return errors.New("a finding has no scenario")
	case f.Kind != in.Kind || f.Run != in.Run || f.Seed != in.Candidate.Seed || f.Times != 1 || f.Foreign != (q.space.Foreign != nil):
		return fmt.Errorf("the violation %s of run %d became a finding of another: %q of run %d", in.Kind, in.Run, f.Kind, f.Run)
	case f.File != "":
		return fmt.Errorf("a finding has the file %q already", f.File)
	case !slices.Equal(f.Families, search.Families(f.Scenario)):
		return fmt.Errorf("the families of a finding are %q, and its scenario has others", f.Families)
	}
	return f.Check()
}
