package checker

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/anishathalye/porcupine"

	"redlocksim/history"
)

// ErrNotVisual is the error of [Visualize] for a history that has nothing to show, or too much.
var ErrNotVisual = errors.New("no visualisation")

// maxVisual bounds how many operations a visualisation shows. It has a line for each in every partial order of them that
// porcupine finds.
const maxVisual = 1000

// Visualize writes porcupine's own visualisation of the holds of one resource, a page of HTML that needs nothing else: the
// operations that [Check] gives to porcupine, client by client, and the longest orders in which a mutex would allow
// them. Its times are the Seqs of the events. With more than one resource in the history it shows the first that breaks,
// or else the first.
//
// The error matches ErrNotVisual if nobody held a lock, if there are more operations than such a page can show, or if
// porcupine does not get through them within the bounds of Check; otherwise errors are those of Check.
func Visualize(w io.Writer, h history.History, o Options) error {
	if len(h) == 0 {
		return fmt.Errorf("%w: the history is empty", ErrNotVisual)
	}
	if err := h.Validate(); err != nil {
		return err
	}
	t, err := transcribe(memory(h), o.End)
	if err != nil {
		return err
	}
	l := believe(t)
	var shown string
	for _, resource := range t.resources {
		if len(l.holds[resource])+len(l.confirmations[resource]) == 0 {
			continue
		}
		if broken, _ := overlaps(t, l.holds[resource], l.confirmations[resource], o.Reentrant); broken > 0 || shown == "" {
			shown = resource
			if broken > 0 {
				break
			}
		}
	}
	if shown == "" {
		return fmt.Errorf("%w: nobody held a lock", ErrNotVisual)
	}
	crowded := crowded(t, o)
	if n := crowded[shown]; n > 0 {
		return fmt.Errorf("%w: %d operations on %q, porcupine shows at most %d", ErrNotVisual, n, shown, maxVisual)
	}
	ops := mutexOperations(t, o, crowded)[shown]
	if verdict, why := exclusive(ops, o); verdict == unknown {
		return fmt.Errorf("%w: %s", ErrNotVisual, why)
	}
	if len(ops) > maxVisual {
		return fmt.Errorf("%w: %d operations on %q, porcupine shows at most %d", ErrNotVisual, len(ops), shown, maxVisual)
	}
	var clients []string
	for i := range ops {
		process := t.ops[ops[i].Metadata.(int)].process
		if !slices.Contains(clients, process) {
			clients = append(clients, process)
		}
		ops[i].ClientId = slices.Index(clients, process)
	}
	m := mutexModel
	m.DescribeOperation = func(input, _ any) string {
		return [...]string{take: "acquire", leave: "end of the hold", touch: "confirmation"}[input.(lockInput).act]
	}
	m.DescribeOperationMetadata = func(grant any) string {
		return fmt.Sprintf("%s, grant %d", t.ops[grant.(int)].process, grant)
	}
	m.DescribeState = func(state any) string {
		if s := state.(mutex); s.depth > 0 {
			return fmt.Sprintf("held by %s", ownerName(t, ops, s.owner))
		}
		return "free"
	}
	_, info := porcupine.CheckOperationsVerbose(m, ops, 0)
	return porcupine.Visualize(m, info, w)
}

// ownerName names the owner of some of the operations.
func ownerName(t *transcript, ops []porcupine.Operation, owner int) string {
	for _, op := range ops {
		if grant := op.Metadata.(int); op.Input.(lockInput).owner == owner {
			return fmt.Sprintf("%s (grant %d)", t.ops[grant].process, grant)
		}
	}
	return "nobody"
}
