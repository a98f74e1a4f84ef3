package random

import (
	"path/filepath"
	"testing"
	"time"

	"redlocksim/internal/built"
	"redlocksim/internal/jobs/jobstest"
	"redlocksim/scenarios"
	"redlocksim/scenarios/programs"
	"redlocksim/search/experiment"
	"redlocksim/search/searchtest"
)

// A worker makes the same experiments: the settings around which they are drawn arrive as they are.
func TestAWorkerHasTheSameSpace(t *testing.T) {
	spaces := []experiment.Space{experiment.NewSpace(experiment.DefaultBase()), beyond()}
	for _, s := range searchtest.Settings(t) {
		spaces = append(spaces, experiment.NewSpace(s))
	}
	for i, space := range spaces {
		space.Swarm = i%2 == 0
		packed, err := (&question{space: space, shrinkRuns: shrinkRuns}).pack()
		if err != nil {
			t.Fatal(err)
		}
		q, err := unpack(t.Context(), packed, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(3) {
			c := experiment.Candidate{Seed: seed}
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

// A search of a lock program finds the same on other machines, which fetch the program once for all steps of all generations.
func TestASearchOfAProgramElsewhere(t *testing.T) {
	p, err := programs.Load(built.Wasm(t, filepath.Join("..", "..", "locks", "naive")), nil, built.Cache(t))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	base, err := scenarios.ParseSettings("x.yaml", []byte("lock: {ttl: 2s}\nnodes: {names: [A]}\nbudget: {delay: 3s, pause: 3s}\n"))
	if err != nil {
		t.Fatal(err)
	}
	space := experiment.NewSpace(base)
	space.Own, space.Foreign, space.Duration = true, p.Foreign(), 8*time.Second
	search := func(there *jobstest.There) (map[string]string, *Summary) {
		o := Options{Seed: 5, Runs: 4, Generation: 2, Dir: t.TempDir(), shrinkRuns: 3}
		if there != nil {
			o.Elsewhere = there
		}
		sum, err := Explore(t.Context(), space, o)
		if err != nil {
			t.Fatal(err)
		}
		return files(t, o.Dir), sum
	}
	want, sum := search(nil)
	if len(sum.Findings) == 0 {
		t.Error("nothing is found that could be another thing elsewhere")
	}
	there := jobstest.NewThere(Jobs((&programs.Loader{Cache: built.Cache(t)}).Load)...)
	got, _ := search(there)
	same(t, "elsewhere", want, got)
	if there.Done <= sum.Runs || there.Fetched != 1 {
		t.Errorf("the program was fetched %d times for %d jobs", there.Fetched, there.Done)
	}
}
