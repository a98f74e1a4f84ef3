package checker

import (
	"fmt"
	"strings"
)

// effort is how much happened on a resource: the acquires that succeeded, and the processes that called acquire.
type effort struct{ grants, clients int }

func (t *transcript) efforts() map[string]effort {
	type caller struct{ process, resource string }
	callers := map[caller]bool{}
	efforts := map[string]effort{}
	for _, op := range t.acquires {
		o := &t.ops[op]
		e := efforts[o.resource]
		if c := (caller{o.process, o.resource}); !callers[c] {
			callers[c] = true
			e.clients++
		}
		if o.granted() {
			e.grants++
		}
		efforts[o.resource] = e
	}
	return efforts
}

// seekers is how many processes asked for permits of a semaphore, whichever these were.
func (t *transcript) seekers(s Semaphore) int {
	asked := map[string]bool{}
	for _, op := range t.acquires {
		if o := &t.ops[op]; s.Has(o.resource) {
			asked[o.process] = true
		}
	}
	return len(asked)
}

// tooLittle reports that too little happened: a run without a grant, or without two clients who want the same, can show no
// overlap and so passes whatever the lock does.
func tooLittle(t *transcript, o Options) []Finding {
	floor := func(n, byDefault int) int {
		if n == 0 {
			return byDefault
		}
		return max(0, n)
	}
	minGrants, minClients := floor(o.MinGrants, 1), floor(o.MinClients, 2)
	grants, contenders := 0, 0
	for _, e := range t.efforts() {
		grants += e.grants
		contenders = max(contenders, e.clients)
	}
	for _, s := range o.Semaphores {
		contenders = max(contenders, t.seekers(s))
	}
	if grants >= minGrants && contenders >= minClients {
		return nil
	}
	var missing []string
	if grants < minGrants {
		missing = append(missing, fmt.Sprintf("Grants: %d; a test needs at least %d. If nobody is to have the lock, expect 0 grants of every client.", grants, minGrants))
	}
	if contenders < minClients {
		missing = append(missing, fmt.Sprintf("Clients that asked for the same resource: %d; a test needs at least %d.", contenders, minClients))
	}
	return []Finding{{Kind: NotTested, Count: 1, Text: strings.Join(missing, " ")}}
}
