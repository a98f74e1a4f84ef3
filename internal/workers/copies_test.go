package workers

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"redlocksim/internal/jobs"
	"redlocksim/internal/redisserver"
)

// No worker is given a copy of a chunk that another is doing: it would be done for nothing, and keep it from the next batch.
func TestNoCopyOfWhatAWorkerDoes(t *testing.T) {
	t.Parallel()
	var did atomic.Int32
	slow := jobs.Kind[product, int, int, int]{Name: "slow", Pack: products.Pack, Unpack: products.Unpack,
		Do: func(context.Context, product, *int, int) (int, error) {
			did.Add(1)
			time.Sleep(9 * time.Second)
			return 1, nil
		}}
	at := "redis://" + redisserver.Start(t).Addr
	w := &Worker{Address: must(t, at), Build: "tests", Jobs: 2, Kinds: []jobs.Served{slow}}
	go w.Serve(t.Context())
	p := open(t, at, func(string) {})
	p.copyAfter = 7 * time.Second // a worker tells of its tasks every 5 s
	if _, err := slow.Run(t.Context(), jobs.Place{Elsewhere: p}, product{}, []int{0}, nil); err != nil {
		t.Fatal(err)
	}
	if did.Load() != 1 {
		t.Errorf("a job was done %d times", did.Load())
	}
}
