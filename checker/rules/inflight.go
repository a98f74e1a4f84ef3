package rules

import (
	"slices"

	"redlocksim/sim/network"
)

// inFlight are the messages that a client has sent since some moment and that were neither answered nor refused.
type inFlight []*network.Exchange

func (all *inFlight) sent(m *network.Exchange) { *all = append(*all, m) }

// ends takes that a message has ended, and reports whether it was one of these.
func (all *inFlight) ends(m *network.Exchange) bool {
	i := slices.Index(*all, m)
	if i >= 0 {
		*all = slices.Delete(*all, i, i+1)
	}
	return i >= 0
}
