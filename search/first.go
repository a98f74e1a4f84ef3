package search

import (
	"context"

	"redlocksim/checker"
	"redlocksim/history"
)

// Hit is the first run of a search that violates something that counts.
type Hit struct {
	// Run is its number, from 1; zero if there is none.
	Run int
	// Kinds are what it violates.
	Kinds []checker.Kind
}

// firstGeneration is how many runs First makes between two looks at where to go on.
const firstGeneration = 100

// First searches as Explore does, but ends with the first violation, shrinks nothing, keeps nothing and has no canary: it is
// for a lock that is known to be broken.
func First(ctx context.Context, space Space, seed uint64, runs int) (Hit, error) {
	x := &explorer{space: space, options: Options{Seed: seed, Runs: runs, Generation: firstGeneration}.whole(), state: &state{}}
	var buffer history.History
	for done := 0; done < runs; done += firstGeneration {
		var trials []trial
		for i, c := range x.candidates(done, min(firstGeneration, runs-done)) {
			if ctx.Err() != nil {
				return Hit{}, context.Cause(ctx)
			}
			t, err := space.try(c, &buffer)
			switch {
			case err != nil:
				return Hit{}, err
			case x.counts(&t):
				return Hit{done + i + 1, t.kinds}, nil
			}
			trials = append(trials, t)
		}
		x.Pool = x.narrowest(trials)
	}
	return Hit{}, nil
}
