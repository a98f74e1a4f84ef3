package locktest

import (
	"fmt"
	"strings"
	"sync"

	"pgregory.net/rapid"

	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
	"redlocksim/search"
	"redlocksim/search/experiment"
)

// Experiment is a workload and a plan of faults for the lock of a Setup.
type Experiment struct {
	subject
	scenario *scenarios.Scenario
	seed     uint64
	told     *told
	// drawn: it was not given by a file, and random: it is not an attack that must take place.
	drawn, random bool
	// failure is why it could not be drawn.
	failure error
	// judged is what its run showed, if it was run.
	judged *verdict.Result
}

// GoString describes an experiment in a line. If it fails, its file is printed with the failure.
func (e *Experiment) GoString() string {
	kinds := search.Families(e.scenario)
	if kinds == nil {
		kinds = []string{"no faults"}
	}
	return fmt.Sprintf("%d clients, %s, seed %d", len(e.scenario.Clients), strings.Join(kinds, ", "), e.seed)
}

// told remembers the last failure, since rapid runs the smallest example that it comes to several times.
type told struct {
	mu         sync.Mutex
	what, text string
}

// runLength is how long drawn experiments last, in TTLs: long enough for remains of one lock to meet the next.
const runLength = 3

// Experiments draws experiments. The test fails if something is wrong with the setup. rapid shrinks a failing experiment in
// its own way, which is what its fail file repeats; what [MutualExclusion] prints is smaller still.
func Experiments(t rapid.TB, s Setup) *rapid.Generator[*Experiment] {
	t.Helper()
	x := s.read(t)
	space := experiment.NewSpace(x.base)
	space.Duration, space.Apart, space.Own = runLength*x.base.Lock.TTL, x.apart, true
	if x.program != nil {
		space.Foreign = x.foreign
	}
	told := &told{}
	return rapid.Custom(func(t *rapid.T) *Experiment {
		c := newChoices(t)
		e := &Experiment{seed: uint64(c.For("seed", 0).Below(1 << 16)), drawn: true, subject: x.subject, told: told}
		if c.For("tight", 0).Below(2) == 0 {
			if e.scenario, e.failure = x.tight(c.For("tight", 1), e.seed); e.failure == nil {
				return e
			}
		}
		e.scenario = space.Draw(c.For("random", 0))
		e.random = true
		return e
	}).Filter((*Experiment).says)
}

// says is whether an experiment says anything about the setup. Some random ones do not: nobody contends for the lock, or it is
// violated by faults that together exceed the assumptions, as two overlapping pauses do. Those are drawn again; if none says
// anything, rapid gives up and the test fails. An attack is always judged.
func (e *Experiment) says() bool {
	if e.failure != nil {
		return true
	}
	if e.program != nil && e.program.UnfitAtAnyBudget(e.scenario) != nil {
		return false
	}
	if !e.random {
		return true
	}
	r, err := e.judge()
	if err != nil {
		return true // which the test is to say
	}
	f := r.Witness()
	return r.Report.NotTested() == "" && (f == nil || !r.Excused(f.Kind))
}

// Parse is the experiment in the text of a scenario file, to be run with a seed. Its assumptions are the budget of the
// file, whose claim and expectations are ignored. lock is as in a [Setup] and may be nil. The test fails if something is
// wrong with the file.
func Parse(t rapid.TB, file string, seed uint64, lock func(*Env) (Locker, error)) *Experiment {
	t.Helper()
	e := &Experiment{scenario: parse(t, file), seed: seed, told: &told{}}
	e.foreign, e.strays = foreign(lock)
	return e
}

// ParseProgram is Parse for a lock program, which is as in a [Setup]. The test also fails if the experiment says nothing about
// the program.
func ParseProgram(t rapid.TB, file string, seed uint64, program string) *Experiment {
	t.Helper()
	e := &Experiment{scenario: parse(t, file), seed: seed, told: &told{}}
	var err error
	if e.program, err = loadProgram(program); err != nil {
		t.Fatalf("locktest: the program: %v", err)
	}
	if err := e.program.UnfitAtAnyBudget(e.scenario); err != nil {
		t.Fatalf("locktest: not tested: %v", err)
	}
	e.foreign = e.program.Foreign()
	return e
}

// parse is the one scenario of a file.
func parse(t rapid.TB, file string) *scenarios.Scenario {
	t.Helper()
	found, err := scenarios.Parse("experiment", []byte(file))
	if err != nil {
		t.Fatalf("locktest: %v", err)
	}
	if len(found) != 1 {
		t.Fatalf("locktest: a file with cases is %d experiments", len(found))
	}
	return found[0]
}
