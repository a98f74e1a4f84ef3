package workers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

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

// finishing is how long jobs may take to end that were begun.
const finishing = 8 * time.Second

// Serve does jobs until ctx ends, and then finishes those that it has begun if that takes no more than a few seconds, whatever
// the Redis does; the others are given to another worker. The error is that of a Redis that cannot be reached in the beginning.
func (w *Worker) Serve(ctx context.Context) error {
	options := *w.Address.options
	options.PoolSize = 2*w.Slots() + 1 // each slot waits for an entry on a connection of its own
	client := redis.NewClient(&options)
	defer client.Close()
	err := ends(ctx, patience, func() error { return join(ctx, client, w.Address, w.Build) })
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return w.Address.failed(err)
	}
	go w.tellOfOthers(ctx, client) // for which nothing is to wait
	s := &serving{Worker: w, client: client}
	s.server = jobs.NewServer(s.fetchFile, w.Kinds...)
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(finishing, stop) })()
	return ends(ctx, finishing+patience, func() error {
		var all sync.WaitGroup
		for range w.Slots() {
			all.Go(func() { s.slot(ctx, working, rand.Text()) })
		}
		all.Wait()
		return nil
	})
}

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
func (w *Worker) tellOfOthers(ctx context.Context, client *redis.Client) {
	asking, _, _ := present(ctx, client, w.Address) // whoever asks for jobs is told of this worker, too
	for _, build := range asking {
		if build != w.Build {
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

// slot does one chunk after the other until ctx ends. One that is under way then may go on until working ends.
func (s *serving) slot(ctx, working context.Context, consumer string) {
	beating, stop := context.WithCancel(working)
	defer stop()
	go every(beating, beat, func() { _ = appear(beating, s.client, s.Address, s.Build+" "+consumer) })
	for ctx.Err() == nil {
		entry, err := s.next(ctx, consumer)
		if err == nil && entry != nil {
			err = s.process(working, consumer, entry)
		}
		if err != nil && ctx.Err() == nil {
			s.tell(fmt.Sprintf("the Redis at %v does not answer as it should, trying again: %v", s.Address, err))
			wait(ctx, look)
		}
	}
	// The group keeps the consumer: an entry that it has not done is its own.
	s.client.ZRem(working, s.Address.present(), s.Build+" "+consumer)
}

// every does something again and again until ctx ends.
func every(ctx context.Context, d time.Duration, do func()) {
	for ctx.Err() == nil {
		do()
		wait(ctx, d)
	}
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// next takes an entry of the queue: one of a worker that is lost, or else the first that nobody has; nil if there is none for a
// while.
func (s *serving) next(ctx context.Context, consumer string) (*redis.XMessage, error) {
	queue := s.Address.queue(s.Build)
	var entries []redis.XMessage
	var err error
	// A call looks at a few of the entries that workers have.
	for from := "0"; err == nil && len(entries) == 0 && from != "0-0"; {
		entries, from, err = s.client.XAutoClaim(ctx, &redis.XAutoClaimArgs{Stream: queue, Group: group, Consumer: consumer, MinIdle: lost, Start: from, Count: 1}).Result()
	}
	if err == nil && len(entries) == 0 {
		var read []redis.XStream
		read, err = s.client.XReadGroup(ctx, &redis.XReadGroupArgs{Group: group, Consumer: consumer, Streams: []string{queue, ">"}, Count: 1, Block: look}).Result()
		for _, stream := range read {
			entries = append(entries, stream.Messages...)
		}
	}
	switch {
	case len(entries) > 0:
		return &entries[0], nil
	case errors.Is(err, redis.Nil):
		return nil, nil
	case err != nil && strings.HasPrefix(err.Error(), "NOGROUP"): // the Redis has lost it
		return nil, join(ctx, s.client, s.Address, s.Build)
	}
	return nil, err
}

// process does a chunk, and stores what came of it.
func (s *serving) process(ctx context.Context, consumer string, entry *redis.XMessage) error {
	ctx, done := context.WithCancel(ctx)
	defer done()
	go every(ctx, beat, func() { s.claim(ctx, consumer, entry.ID) })
	queue, id, number := s.Address.queue(s.Build), fmt.Sprint(entry.Values[batchField]), fmt.Sprint(entry.Values[numberField])
	r, err := s.carryOut(ctx, id, number)
	for ; errors.As(err, new(*fetchError)) && ctx.Err() == nil; r, err = s.carryOut(ctx, id, number) {
		s.client.Publish(ctx, s.Address.told(id), "a worker tries again: "+err.Error())
		wait(ctx, look)
	}
	if err != nil {
		return err // another is given it, or this one is once more
	}
	_, err = s.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		if r != nil {
			p.Set(ctx, s.Address.result(id, number), r, stays)
			p.Publish(ctx, s.Address.told(id), number)
		}
		p.XAck(ctx, queue, group, entry.ID)
		p.XDel(ctx, queue, entry.ID)
		return nil
	})
	return err
}

// claim has an entry be a consumer's, as if it had been taken now.
func (s *serving) claim(ctx context.Context, consumer, entry string) {
	s.client.XClaimJustID(ctx, &redis.XClaimArgs{Stream: s.Address.queue(s.Build), Group: group, Consumer: consumer, Messages: []string{entry}})
}

// carryOut does a chunk of a batch, and gives its result, packed; nil if nobody waits for it any more. The error is a
// fetchError, or that of a Redis that does not answer or a context that ended.
func (s *serving) carryOut(ctx context.Context, id, number string) ([]byte, error) {
	fields, err := s.client.HMGet(ctx, s.Address.batch(id), kindField, commonField, number).Result()
	if err == nil && len(fields) != 3 {
		err = fmt.Errorf("%d fields for 3", len(fields))
	}
	if err != nil {
		return nil, err
	}
	var b jobs.Batch
	if b.Kind, _ = fields[0].(string); fields[2] == nil {
		return nil, nil
	}
	if b.Common, err = unpack([]byte(fmt.Sprint(fields[1])), maxBatch); err == nil {
		err = unpackJSON([]byte(fmt.Sprint(fields[2])), maxBatch, &b.Inputs)
	}
	var r result
	if err == nil {
		r.Outcomes, err = s.server.Do(ctx, b)
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, new(*fetchError)):
		return nil, err
	case err != nil:
		r = result{Refused: err.Error()}
	}
	return packJSON(r)
}
