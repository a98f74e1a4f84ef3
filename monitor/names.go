package monitor

import (
	"fmt"
	"strings"
)

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
