package random_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"redlocksim/internal/jobs"
	"redlocksim/internal/workers"
	"redlocksim/search/experiment"
	"redlocksim/search/random"
)

// BenchmarkScale says what a search by many workers is to expect. It makes ten generations with one worker in this process,
// takes the time of each job, and of all that the coordinator does between them, and then has so many workers take the very
// chunks that a pool would cut, in order, each as soon as it is free. Messages take no time there.
//
//   - barrier-%: the part of the workers' time in which they wait for the last chunk of a step;
//   - search-%: likewise, with the time in which they wait for the coordinator;
//   - runs/s: what they make in all.
//
// A generation of ten thousand runs has the jobs of these ten.
func BenchmarkScale(b *testing.B) {
	const generations = 10
	space := experiment.NewSpace(experiment.DefaultBase())
	space.Swarm = true
	var searches [][]step // of each generation
	var jobTime, wall time.Duration
	seed := uint64(0)
	for b.Loop() {
		searches, jobTime, wall = nil, 0, 0
		for range generations {
			at := &stopwatch{server: jobs.NewServer(nil, random.Jobs(nil)...)}
			began := time.Now()
			if _, err := random.Explore(context.Background(), space, random.Options{Runs: random.DefaultGeneration, Seed: seed, Elsewhere: at}); err != nil {
				b.Fatal(err)
			}
			wall += time.Since(began)
			for _, s := range at.steps {
				jobTime += s.sum()
			}
			searches = append(searches, at.steps)
			seed++
		}
	}
	runs := float64(generations * random.DefaultGeneration)
	coordinator := wall - jobTime
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(jobTime.Microseconds())/runs, "us-of-workers/run")
	b.ReportMetric(float64(coordinator.Microseconds())/runs, "us-of-coordinator/run")
	for _, n := range []int{2, 6, 1000} {
		for _, merged := range []bool{false, true} {
			size, spans := "1k", time.Duration(0)
			steps := slices.Concat(searches...)
			if merged {
				size, steps = "10k", together(searches)
			}
			for _, s := range steps {
				spans += s.by(n)
			}
			label := fmt.Sprintf("/%d-of-%s", n, size)
			b.ReportMetric(100*(1-float64(jobTime)/float64(n)/float64(spans)), "barrier-%"+label)
			b.ReportMetric(100*(1-float64(jobTime)/float64(n)/float64(spans+coordinator)), "search-%"+label)
			b.ReportMetric(runs/(spans+coordinator).Seconds(), "runs/s"+label)
		}
	}
}

// step is how long the jobs of a step took.
type step struct {
	kind string
	jobs []time.Duration
}

func (s step) sum() (total time.Duration) {
	for _, d := range s.jobs {
		total += d
	}
	return total
}

// by is how long so many workers take for the step.
func (s step) by(n int) time.Duration {
	free := make([]time.Duration, n)
	for chunk := range slices.Chunk(s.jobs, workers.ChunkSize(len(s.jobs), n)) {
		next := slices.Index(free, slices.Min(free))
		free[next] += step{s.kind, chunk}.sum()
	}
	return slices.Max(free)
}

// together are the steps of one generation with the jobs of several.
func together(generations [][]step) (all []step) {
	for _, s := range slices.Concat(generations...) {
		i := slices.IndexFunc(all, func(o step) bool { return o.kind == s.kind })
		if i < 0 {
			i, all = len(all), append(all, step{kind: s.kind})
		}
		all[i].jobs = append(all[i].jobs, s.jobs...)
	}
	return all
}

// stopwatch does jobs here, one after the other, and notes how long each takes.
type stopwatch struct {
	server *jobs.Server
	steps  []step
}

// Do implements jobs.Elsewhere.
func (w *stopwatch) Do(ctx context.Context, b jobs.Batch, done func(job int, outcome []byte) (enough bool)) error {
	s := step{kind: b.Kind}
	for i, input := range b.Inputs {
		began := time.Now()
		outcomes, err := w.server.Do(ctx, jobs.Batch{Kind: b.Kind, Common: b.Common, Inputs: [][]byte{input}})
		if err != nil || len(outcomes) == 0 {
			return cmp.Or(err, ctx.Err())
		}
		s.jobs = append(s.jobs, time.Since(began))
		if done(i, outcomes[0]) {
			break
		}
	}
	w.steps = append(w.steps, s)
	return nil
}
