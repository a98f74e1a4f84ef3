package monitor

import (
	"fmt"
	"redlocksim/scenarios/protocols"
	"slices"
	"strings"
)

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
