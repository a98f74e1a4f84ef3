package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	_ "redlocksim/internal/nofailfile"
)

// Whatever the number of workers, however long each job takes and whichever fail, the results and the error are those of
// one worker that does one job after the other.
func TestAnyNumberOfWorkersGivesTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(rt, "jobs")
		fails := rapid.SliceOfN(rapid.Bool(), n, n).Draw(rt, "fails")
		takes := rapid.SliceOfN(rapid.IntRange(0, 5), n, n).Draw(rt, "takes")
		workers := rapid.IntRange(1, 5).Draw(rt, "workers")
		first := n
		for i := range n {
			if fails[i] {
				first = min(first, i)
			}
		}
		synctest.Test(t, func(*testing.T) {
			var told []int
			var mu sync.Mutex
			var failure time.Time // when the first job failed
			s := Set[struct{}, string]{
				N: n, Workers: workers,
				Do: func(_ context.Context, _ *struct{}, job int) (string, error) {
					mu.Lock()
					if !failure.IsZero() && failure.Before(time.Now()) {
						rt.Errorf("job %d was begun after another had failed", job)
					}
					mu.Unlock()
					time.Sleep(time.Duration(takes[job]) * time.Second)
					if fails[job] {
						mu.Lock()
						if failure.IsZero() {
							failure = time.Now()
						}
						mu.Unlock()
						return "", fmt.Errorf("failed %d", job)
					}
					return fmt.Sprint("did ", job), nil
				},
				Done: func(job int, result string, took time.Duration) error {
					if took != time.Duration(takes[job])*time.Second || result != fmt.Sprint("did ", job) {
						rt.Errorf("told of job %d: %q after %v", job, result, took)
					}
					told = append(told, job)
					return nil
				},
			}
			results, err := s.Run(context.Background())
			want := fmt.Sprint("failed ", first)
			if (err == nil) != (first == n) || err != nil && err.Error() != want {
				rt.Errorf("the error is %v, want that of job %d of %d", err, first, n)
			}
			for i := range first {
				want := Result[string]{fmt.Sprint("did ", i), true}
				if results[i] != want || !slices.Contains(told, i) {
					rt.Errorf("job %d: %+v, told %v", i, results[i], told)
				}
			}
			if first < n && results[first].Done {
				rt.Errorf("job %d counts as done", first)
			}
			if len(results) != n {
				rt.Errorf("%d results of %d jobs", len(results), n)
			}
		})
	})
}

func TestWorkersAreUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var most, now atomic.Int32
		_, err := Set[int, int]{N: 12, Workers: 3, Do: func(_ context.Context, state *int, _ int) (int, error) {
			*state++
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
			return *state, nil
		}}.Run(t.Context())
		if took := time.Since(start); err != nil || took != 4*time.Second || most.Load() != 3 {
			t.Errorf("12 jobs of a second took three workers %v, with %d at once, %v", took, most.Load(), err)
		}
	})
}

func TestAWorkerKeepsItsState(t *testing.T) {
	results, err := Set[[]int, int]{N: 4, Workers: 1, Do: func(_ context.Context, seen *[]int, job int) (int, error) {
		*seen = append(*seen, job)
		return len(*seen), nil
	}}.Run(t.Context())
	if want := []Result[int]{{1, true}, {2, true}, {3, true}, {4, true}}; err != nil || !slices.Equal(results, want) {
		t.Errorf("%v, %v", results, err)
	}
}

func TestTheEndOfTheContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("why")
	results, err := Set[struct{}, int]{N: 6, Workers: 1, Do: func(ctx context.Context, _ *struct{}, job int) (int, error) {
		switch job {
		case 2:
			cancel(why)
			return 2, nil // it was done all the same
		case 3:
			t.Error("job 3 was begun")
		}
		return job, nil
	}}.Run(ctx)
	if want := []Result[int]{{0, true}, {1, true}, {2, true}, {}, {}, {}}; err != nil || !slices.Equal(results, want) {
		t.Errorf("%v, %v", results, err)
	}
	for _, short := range []error{context.Canceled, fmt.Errorf("cut short: %w", why)} {
		ctx, cancel := context.WithCancelCause(t.Context())
		results, err := Set[struct{}, int]{N: 1, Do: func(context.Context, *struct{}, int) (int, error) {
			cancel(why)
			return 1, short
		}}.Run(ctx)
		if err != nil || results[0].Done {
			t.Errorf("%v: %v, %v", short, results, err)
		}
	}
}

func TestAPanicNamesItsJob(t *testing.T) {
	s := Set[struct{}, int]{N: 3, Do: func(_ context.Context, _ *struct{}, job int) (int, error) {
		if job == 1 {
			panic("at sea")
		}
		return job, nil
	}, Name: func(job int) string { return fmt.Sprint("seed ", 7*job) }}
	_, err := s.Run(t.Context())
	var p *PanicError
	if !errors.As(err, &p) || p.Job != "seed 7" || p.Value != "at sea" || !strings.Contains(err.Error(), "seed 7: panic: at sea\n") ||
		!strings.Contains(string(p.Stack), "TestAPanicNamesItsJob") {
		t.Errorf("%v", err)
	}
	s.Name = nil
	if _, err := s.Run(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "job 1: ") {
		t.Errorf("%v", err)
	}
}

func TestDoneEndsTheSet(t *testing.T) {
	full := errors.New("the disk is full")
	results, err := Set[struct{}, int]{N: 5, Workers: 1,
		Do:   func(_ context.Context, _ *struct{}, job int) (int, error) { return job, nil },
		Done: func(job int, _ int, _ time.Duration) error { return map[int]error{2: full}[job] },
	}.Run(t.Context())
	if err != full || results[2].Done || !results[1].Done || results[3].Done {
		t.Errorf("%v, %v", results, err)
	}
}
