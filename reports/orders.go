package reports

import (
	"fmt"
	"io"
	"strings"

	"redlocksim/checker"
	"redlocksim/internal/plural"
	"redlocksim/internal/wordwrap"
	"redlocksim/reports/story"
	"redlocksim/scenarios"
	"redlocksim/scenarios/reach"
	"redlocksim/search/dpor"
	"redlocksim/sim/kernel"
)

// Orders is the JSON form of what going through all orders in small worlds gave.
type Orders struct {
	reach.Tally
	Worlds []OrdersWorld `json:"worlds"`
	// Partial says that it was interrupted: worlds may lack levels, or runs of the last.
	Partial bool `json:"partial"`
}

// OrdersWorld is a small world.
type OrdersWorld struct {
	// Name says what the clients do, and Fault what may go wrong at any moment.
	Name  string `json:"name"`
	Fault string `json:"fault"`
	// Levels are those with messages late never, at most once, at most twice and so on.
	Levels []OrdersLevel `json:"levels"`
	// Failed is the error of a run with which its exploration ended.
	Failed string `json:"failed,omitempty"`
}

// OrdersLevel is what was gone through in a small world with messages late so often at the most.
type OrdersLevel struct {
	Late     int  `json:"late"`
	Complete bool `json:"complete"`
	// Runs went to their end, Cut were equal to an earlier one, and Distinct is how many of Runs ended differently.
	Runs     int `json:"runs"`
	Cut      int `json:"cut"`
	Distinct int `json:"distinct"`
	// NotTested is in how many of Runs nobody was granted the lock, and Injected in how many the fault was injected.
	NotTested int `json:"not_tested"`
	Injected  int `json:"injected"`
	// Longest is the largest number of steps of a run.
	Longest int `json:"longest"`
	// Violations are within the budget, or what no fault excuses, and BeyondViolations the others beyond it.
	Violations       int `json:"violations"`
	BeyondViolations int `json:"beyond_violations"`
	// First is the first violation.
	First *OrdersViolation `json:"first,omitempty"`
}

// OrdersViolation is an order that violates something.
type OrdersViolation struct {
	Kinds []checker.Kind `json:"kinds"`
	// Beyond is where the faults exceed the budget, and Excused says that this excuses all of Kinds.
	Beyond  []string `json:"beyond,omitempty"`
	Excused bool     `json:"excused,omitempty"`
	// Steps are the order, from the moment on from which orders were chosen.
	Steps []string `json:"steps"`
}

// NewOrders makes the JSON form.
func NewOrders(worlds []*dpor.World, partial bool) Orders {
	form := Orders{Tally: dpor.Reached(worlds), Worlds: []OrdersWorld{}, Partial: partial}
	for _, w := range worlds {
		world := OrdersWorld{Name: w.Name, Fault: w.Fault, Levels: []OrdersLevel{}}
		if w.Failed != nil {
			world.Failed = w.Failed.Error()
		}
		for late, r := range w.Levels {
			l := OrdersLevel{late, r.Complete, r.Runs, r.Cut, r.Distinct, r.NotTested, r.Injected, r.Longest, r.Violations, r.BeyondViolations, nil}
			if r.First != nil {
				l.First = &OrdersViolation{r.First.Kinds, r.First.Beyond, r.First.Excused, orderSteps(r.First.Steps)}
			}
			world.Levels = append(world.Levels, l)
		}
		form.Worlds = append(form.Worlds, world)
	}
	return form
}

// orderSteps says what happened at each step of an order.
func orderSteps(steps []kernel.Option) []string {
	var all []string
	for _, s := range steps {
		switch {
		case s.From != "":
			all = append(all, fmt.Sprintf("%v %s → %s", s.Kind, s.From, s.Process))
		case s.Process != "":
			all = append(all, fmt.Sprintf("%v %s", s.Kind, s.Process))
		default:
			all = append(all, s.Kind.String())
		}
	}
	return all
}

// WriteOrders writes what of each small world was gone through, what the runs reached, and the first order that breaks the
// lock.
func WriteOrders(w io.Writer, worlds []*dpor.World) error {
	b := &strings.Builder{}
	var broken *dpor.World
	for _, world := range worlds {
		explored(b, world)
		if broken == nil && world.Last().Violations > 0 {
			broken = world
		}
	}
	if broken != nil {
		violated(b, broken)
	}
	fmt.Fprintln(b)
	reached := dpor.Reached(worlds)
	if err := reached.Write(b); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// explored says what of a small world was gone through.
func explored(b *strings.Builder, world *dpor.World) {
	fmt.Fprintf(b, "%s, %s\n", world.Name, world.Fault)
	for late, r := range world.Levels {
		what := "no late message"
		if late > 0 {
			what = "at most " + plural.Count(late, "late message")
		}
		covered := "all orders with " + what
		switch {
		case !r.Complete:
			covered = "some orders with " + what
		case r.Withheld == 0:
			covered = "all orders"
		}
		b.WriteString(wordwrap.Help(" ", "    ", fmt.Sprintf("%s: %s (%d more cut short), %s, up to %s; %s within the budget, %d beyond it", covered,
			plural.Count(r.Runs, "run"), r.Cut, plural.Count(r.Distinct, "different outcome"), plural.Count(r.Longest, "step"), plural.Count(r.Violations, "violation"), r.BeyondViolations)))
		if r.NotTested > 0 {
			fmt.Fprintf(b, "    %d not tested: nobody was granted the lock\n", r.NotTested)
		}
		if world.Fault != dpor.NoFault && r.Runs > 0 && r.Injected == 0 {
			fmt.Fprintln(b, "    not tested with the fault: it was never injected")
		}
	}
	if world.Failed != nil {
		line, _, _ := strings.Cut(world.Failed.Error(), "\n")
		b.WriteString(wordwrap.Help("    ", "    ", "the next run failed, and no more were made: "+line))
	}
}

// violated tells the first order of a small world that breaks the lock.
func violated(b *strings.Builder, world *dpor.World) {
	first := world.Last().First
	fmt.Fprintf(b, "\n%s, %s: %s\n\n", world.Name, world.Fault, scenarios.Findings(first.Kinds).Says())
	for _, line := range story.Of(first.History) {
		fmt.Fprintln(b, line)
	}
	fmt.Fprintln(b, "\nin this order:")
	for i, step := range orderSteps(first.Steps) {
		fmt.Fprintf(b, "%4d  %s\n", i+1, step)
	}
}
