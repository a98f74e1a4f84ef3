package dpor

import (
	"slices"

	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
)

// races finds the races of step i: earlier steps that it directly depends on and that could have come after it. For each, it
// schedules a run in which i comes first.
func (p *path) races(i int) {
	this := &p.trace[i]
	for j := i - 1; j >= 0; j-- {
		if this.before.has(j) {
			continue
		}
		other := &p.trace[j]
		if j != this.creator && !p.depend(this.option, this.footprint, other) {
			continue
		}
		this.before.join(&other.before, j)
		this.before.add(j)
		if j != this.creator && p.reversible(j, i) {
			p.reverse(j, i)
		}
	}
}

// reversible says whether step i, which j did not enable, could have come before j.
func (p *path) reversible(j, i int) bool {
	this, other := &p.trace[i], &p.trace[j]
	if this.option.Kind != kernel.StepTime {
		return true
	}
	// Time does not pass while a timer is due or a program is about to start, nor, beyond the bound, while a message is
	// under way.
	return other.option.Kind == kernel.StepTimeline || isMessage(other.option) && p.mayBeLate(this.late)
}

func (p *path) reverse(j, i int) {
	f := &p.frames[j]
	// What comes after j without depending on it, and i: those of it that depend on nothing in it can come first.
	var rest steps
	var first []kernel.Key
	for k := j + 1; k <= i; k++ {
		s := &p.trace[k]
		if k < i && s.before.has(j) {
			continue
		}
		depends := false
		for at := range k/64 + 1 {
			depends = depends || s.before[at]&rest[at] != 0
		}
		rest.add(k)
		if depends {
			continue
		}
		if f.tries(s.option.ID) {
			return
		}
		first = append(first, s.option.ID)
	}
	for _, id := range first {
		if _, ok := f.option(id); ok {
			f.backtrack = append(f.backtrack, id)
			return
		}
	}
	for _, o := range f.options { // none of them is possible there: whatever is, may lead to it
		if !f.tries(o.ID) {
			f.backtrack = append(f.backtrack, o.ID)
		}
	}
}

// mayBeLate says whether time may pass once more while messages are under way, where it has so late times.
func (x *explorer) mayBeLate(late int) bool { return x.setup.Late < 0 || late < x.setup.Late }

// underWay says whether there are messages under way.
func underWay(options []kernel.Option) bool { return slices.ContainsFunc(options, isMessage) }

func isMessage(o kernel.Option) bool {
	return o.Kind == network.StepRequest || o.Kind == network.StepReply || o.Kind == network.StepRefusal
}
