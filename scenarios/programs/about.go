package programs

import (
	"cmp"
	"fmt"
	"slices"

	"redlocksim/lockprogram/lines"
)

// About is what a program says of itself.
type About struct {
	Library, Version string
	Can              []lines.Capability
	// Settings are the keys of a scenario's lock, beside those that every lock has, that it reads.
	Settings []string
	// Server is what must run on the nodes, and Protocols are those of scenarios, beside the ones on Redis, whose lock it is.
	Server    lines.Server
	Protocols []string
	// Keys are patterns of the keys that stand for a lock; see scenarios.Foreign.
	Keys []string
}

// aboutOf is what a program has said of itself.
func aboutOf(a *lines.Answer) About {
	return About{a.Library, a.Version, a.Can, a.Settings, cmp.Or(a.Server, lines.Redis), a.Protocols, a.Keys}
}

// ParseAbout reads what a program answers to init. The error says what it answered instead.
func ParseAbout(line []byte) (*About, error) {
	a, err := lines.ParseAnswer(line)
	switch {
	case err != nil:
		return nil, err
	case a.Type == lines.Failed:
		return nil, fmt.Errorf("it cannot make its lock: %s", a.Reason)
	case a.Type != lines.Ready:
		return nil, fmt.Errorf("it has answered a request to init with what is no answer to that: %.200q", line)
	case a.Server != "" && !slices.Contains(lines.Servers(), a.Server):
		return nil, fmt.Errorf("it wants a server that there is none of: %q; want one of %q", a.Server, lines.Servers())
	}
	about := aboutOf(a)
	return &about, nil
}

// IsOneNode says that the lock uses one node alone.
func (a *About) IsOneNode() bool { return a.can(lines.OneNode) }

// Renews says that it renews its leases by itself.
func (a *About) Renews() bool { return a.can(lines.Renew) }

// patterns are the Keys, or the names of the resources.
func (a *About) patterns() []string {
	if len(a.Keys) == 0 {
		return []string{"{resource}"}
	}
	return a.Keys
}

func (a *About) can(what lines.Capability) bool { return slices.Contains(a.Can, what) }
