package random

import (
	"slices"

	"redlocksim/scenarios"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

const (
	// wireEvery: of so many runs about one is made on tier wire too, whatever it has, which costs as much as seven on tier
	// model.
	wireEvery = 50
	// wordedEvery: of so many runs at most one is made there for what it has to say.
	wordedEvery = 16
	// wireWordings is on how many runs on tier wire each way to put a command to a node is to come up.
	wireWordings = 3
)

// onWire makes a run on tier wire too, where the adapter and its scripts run, which tier model replaces. Both must show the
// same: the error matches scenarios.ErrTiersDiffer if they do not. A program without that tier makes none.
func onWire(r *scenarios.Result) error {
	if !slices.Contains(scenarios.Tiers(), scenarios.Wire) {
		return nil
	}
	return r.SameOn(scenarios.Wire)
}

// worded counts on how many runs on tier wire each wording came up, up to wireWordings.
type worded []byte

func newWorded() worded { return make(worded, redis.NumWordings) }

// choose gives those of a generation's runs that are made on tier wire too, ascending, and counts what they have to say there:
// the first of all, a sample that depends on seeds, and those in which commands are put to nodes as in few runs there so far.
// What the adapter and its scripts do depends on that and on little else. A run that shows nothing shows nothing there.
func (w worded) choose(trials []trial, first int) (chosen []int) {
	for i := range trials {
		isSample := first+i == 0 || uint64(kernel.Key(0).WithString("wire").With(trials[i].Candidate.Seed))%wireEvery == 0
		if isSample && !trials[i].NotTested {
			chosen = append(chosen, i)
			w.count(&trials[i])
		}
	}
	for range (len(trials) + wordedEvery - 1) / wordedEvery {
		best, most := 0, 0
		for i := range trials {
			if n := w.news(&trials[i]); n > most && !trials[i].NotTested && !slices.Contains(chosen, i) {
				best, most = i, n
			}
		}
		if most == 0 {
			break
		}
		chosen = append(chosen, best)
		w.count(&trials[best])
	}
	slices.Sort(chosen)
	return chosen
}

// news is how many of the run's wordings came up in few runs so far.
func (w worded) news(t *trial) (n int) {
	for _, one := range t.Wordings {
		if w[one] < wireWordings {
			n++
		}
	}
	return n
}

func (w worded) count(t *trial) {
	for _, one := range t.Wordings {
		w[one] = min(w[one]+1, wireWordings)
	}
}
