package reports

import (
	"fmt"

	"redlocksim/checker"
	"redlocksim/reach"
	"redlocksim/search/dpor"
	"redlocksim/sim"
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
	// Violations are within the budget, and BeyondViolations beyond it.
	Violations       int `json:"violations"`
	BeyondViolations int `json:"beyond_violations"`
	// First is the first violation.
	First *OrdersViolation `json:"first,omitempty"`
}

// OrdersViolation is an order that violates something.
type OrdersViolation struct {
	Kinds  []checker.Kind `json:"kinds"`
	Beyond []string       `json:"beyond,omitempty"`
	// Steps are the order, from the moment on from which orders were chosen.
	Steps []string `json:"steps"`
}

// NewOrders makes the JSON form.
func NewOrders(worlds []*dpor.World, partial bool) Orders {
	form := Orders{Tally: dpor.Reached(worlds), Worlds: []OrdersWorld{}, Partial: partial}
	for _, w := range worlds {
		world := OrdersWorld{w.Name, w.Fault, []OrdersLevel{}}
		for late, r := range w.Levels {
			l := OrdersLevel{late, r.Complete, r.Runs, r.Cut, r.Distinct, r.NotTested, r.Injected, r.Longest, r.Violations, r.BeyondViolations, nil}
			if r.First != nil {
				l.First = &OrdersViolation{r.First.Kinds, r.First.Beyond, OrderSteps(r.First.Steps)}
			}
			world.Levels = append(world.Levels, l)
		}
		form.Worlds = append(form.Worlds, world)
	}
	return form
}

// OrderSteps says what happened at each step of an order.
func OrderSteps(steps []sim.Option) []string {
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
