package random

import (
	"redlocksim/faults"
	"redlocksim/search/experiment"
)

// maxMutations bounds how often a candidate is mutated.
const maxMutations = 40

// candidates are the experiments of a generation: half drawn afresh, the others mutations of near misses and of rare runs.
func (x *explorer) candidates(first, n int) []numbered {
	all := make([]numbered, n)
	choices := experiment.Choices(x.options.Seed, "shard", 0) // the word is for good: a seed stands for the same search
	for i := range all {
		c := choices.For("run", first+i)
		all[i] = numbered{first + i, x.candidate(c)}
	}
	return all
}

func (x *explorer) candidate(c faults.Choices) experiment.Candidate {
	fresh := experiment.Candidate{Seed: uint64(c.For("seed", 0).Below(1 << 53))}
	if x.options.Blind || c.For("anew", 0).Below(2) == 0 {
		return fresh
	}
	guided := fresh
	switch isRare := c.For("guide", 0).Below(2) == 0; {
	case len(x.Rare) > 0 && (isRare || len(x.Pool) == 0):
		guided = x.Rare[c.For("parent", 0).Below(int64(len(x.Rare)))].Candidate.With(experiment.Mutation{Seed: fresh.Seed})
	case len(x.Pool) > 0:
		guided = x.mutated(c, fresh.Seed)
	}
	if len(guided.Mutations) > maxMutations {
		return fresh
	}
	return guided
}
