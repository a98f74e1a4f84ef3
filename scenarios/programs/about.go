package programs

import (
	"slices"

	"redlocksim/lockprogram/lines"
)

// About is what a program says of itself.
type About struct {
	Library, Version string
	Can              []lines.Capability
	// Settings are the keys of a scenario's lock, beside those that every lock has, that it reads.
	Settings []string
	// Keys are patterns of the keys that stand for a lock; see scenarios.Foreign.
	Keys []string
}

// patterns are the Keys, or the names of the resources.
func (a *About) patterns() []string {
	if len(a.Keys) == 0 {
		return []string{"{resource}"}
	}
	return a.Keys
}

func (a *About) can(what lines.Capability) bool { return slices.Contains(a.Can, what) }
