package dpor

import (
	"slices"

	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
)

// mayBeLate says whether time may pass once more while messages are under way, where it has so late times.
func (x *explorer) mayBeLate(late int) bool { return x.setup.Late < 0 || late < x.setup.Late }

// underWay says whether there are messages under way.
func underWay(options []kernel.Option) bool { return slices.ContainsFunc(options, isMessage) }

func isMessage(o kernel.Option) bool {
	return o.Kind == network.StepRequest || o.Kind == network.StepReply || o.Kind == network.StepRefusal
}
