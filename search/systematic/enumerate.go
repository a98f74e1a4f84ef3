package systematic

import (
	"redlocksim/faults"
	"redlocksim/scenarios"
)

// enumerate lists the faults of the vocabulary with significant parameters: every process, every link, all links of a
// client or a node, each direction; as large as the budget allows and, beyond it, about the time to live and twice that.
func (b *Base) enumerate(beyond bool) []scenarios.Item {
	l := scenarios.Limits(b.scenario, beyond)
	l.Resource = b.usesResource
	var all []scenarios.Item
	for _, k := range faults.Vocabulary() {
		if k.Applies != nil && !k.Applies(l) {
			continue
		}
		for _, f := range k.Place(l) {
			if len(faults.Check(f, l.Names)) == 0 {
				all = append(all, scenarios.Item{Kind: k.Name, Fault: f})
			}
		}
	}
	return all
}
