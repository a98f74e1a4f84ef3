package workers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"redlocksim/internal/jobs"
	"redlocksim/internal/printable"
)

// Worker takes jobs from a Redis.
type Worker struct {
	Address Address
	// Build is whose jobs it takes.
	Build string
	// Jobs is how many it does at once; zero is one for each core.
	Jobs int
	// Kinds are the kinds of jobs that it does.
	Kinds []jobs.Served
	// Tell, if not nil, is told what a user should know, a line at a time.
	Tell func(line string)
}

// Serve does jobs until ctx ends, and then finishes those that it has begun if that takes no more than a few seconds, whatever
// the Redis does; the others are given to another worker. The error is that of a Redis that cannot be reached in the beginning.
func (w *Worker) Serve(ctx context.Context) error {
	client := redis.NewClient(w.Address.options)
	defer client.Close()
	started := make(chan *asynq.Server, 1)
	err := ends(ctx, patience, func() error {
		if err := client.Ping(ctx).Err(); err != nil {
			return err
		}
		s := &serving{Worker: w, client: client}
		s.server = jobs.NewServer(s.fetchFile, w.Kinds...)
		server := asynq.NewServerFromRedisClient(client, asynq.Config{
			Concurrency: w.Slots(), Queues: map[string]int{w.Address.queue(w.Build): 1},
			TaskCheckInterval: idle, DelayedTaskCheckInterval: time.Second,
			RetryDelayFunc:  func(int, error, *asynq.Task) time.Duration { return time.Second },
			ShutdownTimeout: finishing,
			Logger:          &logger{tell: w.tell}, LogLevel: asynq.ErrorLevel,
			BaseContext: func() context.Context { return context.WithoutCancel(ctx) },
		})
		if err := server.Start(asynq.HandlerFunc(s.process)); err != nil {
			return err
		}
		started <- server
		return nil
	})
	var server *asynq.Server
	select {
	case server = <-started:
	default:
		if err == nil || ctx.Err() != nil {
			return nil
		}
		return w.Address.failed(err)
	}
	go w.tellOfOthers(client) // for which nothing is to wait
	<-ctx.Done()
	return ends(ctx, finishing+patience, func() error {
		server.Shutdown()
		return nil
	})
}

// finishing is how long jobs may take to end that were begun.
const finishing = 8 * time.Second

// idle is how often a worker without a job looks for one.
const idle = 20 * time.Millisecond

func (w *Worker) tell(line string) {
	if w.Tell != nil {
		w.Tell(printable.Text(line, maxTold))
	}
}

// maxTold bounds a line for users, in bytes: a Redis may have written it.
const maxTold = 1000

// Slots is how many jobs it does at once.
func (w *Worker) Slots() int {
	if w.Jobs > 0 {
		return w.Jobs
	}
	return runtime.GOMAXPROCS(0)
}

// tellOfOthers tells of jobs of other builds that wait, which this one does not take.
func (w *Worker) tellOfOthers(client *redis.Client) {
	inspector := asynq.NewInspectorFromRedisClient(client)
	queues, err := inspector.Queues()
	if err != nil {
		return // whoever asks for jobs is told of this worker, too
	}
	slices.Sort(queues)
	for _, q := range queues {
		build, is := strings.CutPrefix(q, w.Address.queuePrefix())
		if !is || build == w.Build {
			continue
		}
		if info, err := inspector.GetQueueInfo(q); err == nil && info.Pending+info.Active > 0 {
			w.tell(fmt.Sprintf("jobs of build %s wait here, and this is build %s, which does not take them: results depend on the build", build, w.Build))
		}
	}
}

// serving is a worker at work.
type serving struct {
	*Worker
	client *redis.Client
	server *jobs.Server
}

// process does a chunk. Its error has the task delivered again.
func (s *serving) process(ctx context.Context, t *asynq.Task) error {
	b, common, err := batchOf(t)
	if err != nil {
		return s.finish(ctx, t, result{Refused: err.Error()})
	}
	packed, err := s.client.Get(ctx, s.Address.common(common)).Bytes()
	if errors.Is(err, redis.Nil) {
		return errors.New("the Redis has lost what the jobs share: whoever asked for them stores it again")
	}
	if err != nil {
		return err
	}
	if b.Common, err = unpack(packed, maxTask); err != nil {
		return s.finish(ctx, t, result{Refused: err.Error()})
	}
	outcomes, err := s.server.Do(ctx, b)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, new(*fetchError)):
		return err
	case err != nil:
		return s.finish(ctx, t, result{Refused: err.Error()})
	}
	return s.finish(ctx, t, result{Outcomes: outcomes})
}

// finish stores what came of a chunk, and tells of it.
func (s *serving) finish(ctx context.Context, t *asynq.Task, r result) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if data, err = pack(data); err != nil {
		return err
	}
	if _, err := t.ResultWriter().Write(data); err != nil {
		return err
	}
	// If that fails, whoever waits looks now and then as well.
	_ = s.client.Publish(ctx, s.Address.done(s.Build), t.ResultWriter().TaskID()).Err()
	return nil
}

// logger passes on what asynq has to say.
type logger struct{ tell func(string) }

func (l *logger) Debug(...any)      {}
func (l *logger) Info(...any)       {}
func (l *logger) Warn(...any)       {}
func (l *logger) Error(args ...any) { l.tell("asynq: " + fmt.Sprint(args...)) }
func (l *logger) Fatal(args ...any) { l.tell("asynq: " + fmt.Sprint(args...)) }
