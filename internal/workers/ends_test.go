package workers

import (
	"context"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"redlocksim/internal/jobs"
	"redlocksim/internal/redisserver"
)

// Results are taken from tasks that their worker has yet to end, and no task is left when the batch is done.
func TestAResultIsThereBeforeItsTaskEnds(t *testing.T) {
	t.Parallel()
	server := redisserver.Start(t)
	at := must(t, "redis://"+server.Addr)
	client := redis.NewClient(at.options)
	defer client.Close()
	w := &serving{Worker: &Worker{Address: at, Build: "tests", Jobs: 2}, client: client}
	w.server = jobs.NewServer(w.fetchFile, products)
	const lingers = 300 * time.Millisecond
	slow := asynq.NewServerFromRedisClient(client, asynq.Config{Concurrency: 2, Queues: map[string]int{at.queue("tests"): 1},
		TaskCheckInterval: idle, Logger: &logger{tell: w.tell}, LogLevel: asynq.ErrorLevel})
	if err := slow.Start(asynq.HandlerFunc(func(ctx context.Context, t *asynq.Task) error {
		defer time.Sleep(lingers)
		return w.process(ctx, t)
	})); err != nil {
		t.Fatal(err)
	}
	defer slow.Shutdown()
	p := open(t, "redis://"+server.Addr, func(string) {})
	in, out := inputs(20)
	if err := multiply(t.Context(), p, in, out); err != nil {
		t.Fatal(err)
	}
	left, err := client.Keys(t.Context(), "asynq:{"+p.queue()+"}:t:*").Result()
	if err != nil || len(left) > 0 {
		t.Errorf("these tasks are left: %v, %v", left, err)
	}
}
