package random

import (
	"testing"

	"redlocksim/scenarios"
	"redlocksim/search/experiment"
)

// A worker makes the same experiments: the settings around which they are drawn arrive as they are.
func TestAWorkerHasTheSameSpace(t *testing.T) {
	spaces := []experiment.Space{experiment.NewSpace(experiment.DefaultBase()), beyond()}
	for _, s := range scenarios.Catalogue() {
		spaces = append(spaces, experiment.NewSpace(s.Settings()))
	}
	for i, space := range spaces {
		space.Swarm = i%2 == 0
		packed, err := (&question{space: space}).pack()
		if err != nil {
			t.Fatal(err)
		}
		q, err := unpack(packed)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(3) {
			c := experiment.Candidate{Seed: seed, Mutations: []experiment.Mutation{{Seed: seed + 7}}}
			want, err := c.Scenario(space).Encode()
			if err != nil {
				t.Fatal(err)
			}
			if got, err := c.Scenario(q.space).Encode(); err != nil || string(got) != string(want) {
				t.Fatalf("%s, seed %d: %v: a worker makes\n%s\nwant\n%s", space.Base.Name, seed, err, got, want)
			}
		}
	}
}
