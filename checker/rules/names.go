package rules

import (
	"fmt"
	"slices"
	"strings"

	"redlocksim/scenarios/protocols"
)

// callNames are the calls of a lock in words.
var callNames = map[protocols.CallFunc]string{protocols.AcquireCall: "acquire", protocols.ExtendCall: "extend",
	protocols.ReleaseCall: "release", protocols.CloseCall: "Close", protocols.PrepareCall: "PrepareGuard"}

// subjectOf is the resource of a finding about a call: its first, or the first of the run's if it has none.
func (r *Run) subjectOf(c *protocols.Call) string {
	if len(c.Resources) > 0 {
		return c.Resources[0]
	}
	return r.Resources[0]
}

// nameOf is the name of a call's resources, as the library's steps have it.
func nameOf(c *protocols.Call) string {
	if len(c.Resources) == 1 {
		return c.Resources[0]
	}
	return strings.Join(slices.Sorted(slices.Values(c.Resources)), separator)
}

// resourcesOf are the resources of such a name.
func resourcesOf(name string) []string { return strings.Split(name, separator) }

const separator = ", "

// and lists names or clauses.
func and(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// quoted are names between quotation marks.
func quoted(names []string) []string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = fmt.Sprintf("%q", n)
	}
	return all
}

// text is what a call has returned, in words.
func text(err error) string {
	if err == nil {
		return "success"
	}
	return err.Error()
}
