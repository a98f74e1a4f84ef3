package checker

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"redlocksim/internal/page"
	"redlocksim/sim/history"
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
	t, err := transcribe(whole(h), o.End)
	if err != nil {
		return err
	}
	shown := mostTelling(t, believe(t), o)
	if shown == "" {
		return fmt.Errorf("%w: nobody held a lock", ErrNotVisual)
	}
	crowded := crowded(t, o)
	if n := crowded[shown]; n > 0 {
		return fmt.Errorf("%w: %d operations on %q, porcupine shows at most %d", ErrNotVisual, n, shown, maxVisual)
	}
	ops := mutexOperations(t, o, crowded)[shown]
	if verdict, why := linearizable(mutexModel, len(ops), o, func() []porcupine.Operation { return ops }); verdict == unknown {
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
	m := describedMutex(t, ops)
	_, info := porcupine.CheckOperationsVerbose(m, ops, 0)
	var page bytes.Buffer
	if err := porcupine.Visualize(m, info, &page); err != nil {
		return err
	}
	secured, err := secured(page.Bytes())
	if err != nil {
		return err
	}
	_, err = w.Write(secured)
	return err
}

// mostTelling is the first resource whose holds overlap, or else the first that anybody held; empty if there is none.
func mostTelling(t *transcript, l *leases, o Options) (shown string) {
	for _, resource := range t.resources {
		if len(l.holds[resource])+len(l.confirmations[resource]) == 0 {
			continue
		}
		if broken, _ := excesses(t, l.holds[resource], l.confirmations[resource], 1, o.Reentrant); broken > 0 {
			return resource
		}
		if shown == "" {
			shown = resource
		}
	}
	return shown
}

// describedMutex is the model with words for its operations and states. They escape the names of processes.
func describedMutex(t *transcript, ops []porcupine.Operation) porcupine.Model {
	m := mutexModel
	m.DescribeOperation = func(input, _ any) string {
		return [...]string{take: "acquire", leave: "end of the hold", touch: "confirmation"}[input.(lockInput).act]
	}
	m.DescribeOperationMetadata = func(grant any) string {
		return html.EscapeString(fmt.Sprintf("%s, grant %d", t.ops[grant.(int)].process, grant))
	}
	m.DescribeState = func(state any) string {
		if s := state.(mutex); s.depth > 0 {
			return html.EscapeString("held by " + ownerName(t, ops, s.owner))
		}
		return "free"
	}
	return m
}

// secured adds a content security policy to porcupine's page, which puts names into markup: they are escaped above, and the
// policy catches what that misses. The page has one style sheet and one script. Its data is part of the script, as JSON without
// a "<", so no name can end the script or begin another one.
func secured(text []byte) ([]byte, error) {
	// The policy forbids style attributes, and porcupine sets empty ones.
	set := []byte("element.setAttributeNS(null, k, attributes[k])")
	styled := []byte("k === 'style' ? element.style.cssText = attributes[k] : " + string(set))
	if bytes.Count(text, set) != 1 {
		return nil, errors.New("checker: porcupine's page sets attributes otherwise than expected")
	}
	text = bytes.Replace(text, set, styled, 1)
	style, ok1 := inside(text, "style")
	script, ok2 := inside(text, "script")
	head := []byte("<head>")
	if !ok1 || !ok2 || bytes.Count(text, head) != 1 {
		return nil, errors.New("checker: porcupine's page is not as expected")
	}
	meta := fmt.Sprintf("<head>\n    <meta http-equiv=\"Content-Security-Policy\" content=\"%s\" />\n"+
		"    <meta name=\"generator\" content=\"redlocksim\" />",
		page.Policy([]string{script}, []string{style}))
	return bytes.Replace(text, head, []byte(meta), 1), nil
}

// inside is what stands in the only element of a page that has this tag.
func inside(page []byte, tag string) (text string, ok bool) {
	begin, end := "<"+tag+">", "</"+tag+">"
	if bytes.Count(page, []byte(begin)) != 1 || bytes.Count(page, []byte(end)) != 1 {
		return "", false
	}
	_, rest, _ := strings.Cut(string(page), begin)
	text, _, ok = strings.Cut(rest, end)
	return text, ok
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
