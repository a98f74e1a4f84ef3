package workers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"redlocksim/internal/jobs"
	"redlocksim/internal/plural"
	"redlocksim/internal/printable"
)

// Pool is the workers at a Redis. It implements [jobs.Elsewhere].
type Pool struct {
	address   Address
	build     string
	client    *redis.Client
	tasks     *asynq.Client
	inspector *asynq.Inspector
	tell      func(line string)
	copyAfter time.Duration

	mu   sync.Mutex
	told map[string]bool
}

// Open connects to the workers of a build. tell is told what a user should know, a line at a time, and nothing twice.
func Open(ctx context.Context, at Address, build string, tell func(line string)) (*Pool, error) {
	client := redis.NewClient(at.options)
	if err := client.Ping(ctx).Err(); err != nil {
		_ = client.Close()
		return nil, at.failed(err)
	}
	return &Pool{address: at, build: build, client: client, tasks: asynq.NewClientFromRedisClient(client),
		inspector: asynq.NewInspectorFromRedisClient(client), tell: tell, copyAfter: copyAfter, told: map[string]bool{}}, nil
}

// Close ends the connections.
func (p *Pool) Close() error { return p.client.Close() }

func (p *Pool) queue() string { return p.address.queue(p.build) }

// once tells a line that was not told before.
func (p *Pool) once(line string) {
	line = printable.Text(line, maxTold)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.told[line] {
		p.told[line] = true
		p.tell(line)
	}
}

const (
	// look is how often the queue is looked at, whatever is told of it.
	look = time.Second
	// chunksEach is how many chunks each worker is to have of a batch, so that all end at about the same time.
	chunksEach = 16
	// copyAfter is for how long a chunk is under way before another worker is given a copy, unless a worker that is alive tells
	// that it does it: a worker tells every 5 s, and what it has told is gone after 10 s. asynq itself gives a lost worker up
	// after one to two minutes, and never one whose lease was lost as well (its issue 1144).
	copyAfter = 10 * time.Second
	// maxCopies bounds the copies of a chunk.
	maxCopies = 5
)

// Do implements jobs.Elsewhere. While the Redis does not answer it waits. When ctx ends it returns within seconds, whatever the
// Redis does.
func (p *Pool) Do(ctx context.Context, b jobs.Batch, done func(job int, outcome []byte) (enough bool)) error {
	var mu sync.Mutex
	isOver := false
	defer func() {
		mu.Lock()
		defer mu.Unlock()
		isOver = true
	}()
	return ends(ctx, patience, func() error {
		return p.do(ctx, b, func(job int, outcome []byte) (enough bool) {
			mu.Lock()
			defer mu.Unlock()
			return isOver || done(job, outcome)
		})
	})
}

// patience is how long a Redis may take to answer once all is over.
const patience = 3 * time.Second

// ends does something that may wait for a Redis. After ctx ends it may take that much longer; then it is left to itself.
func ends(ctx context.Context, within time.Duration, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(within):
		return nil
	}
}

func (p *Pool) do(ctx context.Context, b jobs.Batch, done func(job int, outcome []byte) (enough bool)) error {
	w, err := p.cut(ctx, b, done)
	if err != nil || ctx.Err() != nil {
		return err
	}
	told := p.client.Subscribe(ctx, p.address.done(p.build))
	defer told.Close()
	_, _ = told.ReceiveTimeout(ctx, look) // until then nothing would be told; if it fails, looks must do
	defer w.cleanUp()
	timer := time.NewTicker(look)
	defer timer.Stop()
	w.look(ctx)
	for ctx.Err() == nil && w.err == nil && !w.isDone() {
		select {
		case m := <-told.Channel():
			if m != nil {
				w.fetch(ctx, w.byID[m.Payload])
			}
		case <-timer.C:
			w.look(ctx)
		case <-ctx.Done():
		}
	}
	return w.err
}

// waiting is a batch whose results are waited for.
type waiting struct {
	*Pool
	kind   string
	hash   string // of what the jobs share
	common []byte
	files  []jobs.File
	done   func(job int, outcome []byte) (enough bool)
	chunks []*part
	byID   map[string]*part
	limit  int             // jobs with this number and higher ones need not be done
	inHand map[string]bool // the tasks that workers tell of
	err    error
}

// part is a chunk of a batch.
type part struct {
	chunk
	first  int       // the number of its first job
	ids    []string  // of its tasks: itself, and copies
	isOwn  bool      // the newest of them was not there before
	begun  time.Time // when it was seen to be under way
	isDone bool
}

// cut cuts a batch into chunks.
func (p *Pool) cut(ctx context.Context, b jobs.Batch, done func(int, []byte) bool) (*waiting, error) {
	common, err := pack(b.Common)
	if err != nil {
		return nil, err
	}
	w := &waiting{Pool: p, kind: b.Kind, hash: hashOf(b.Common), common: common, files: b.Files, done: done, byID: map[string]*part{}, limit: len(b.Inputs)}
	size := ChunkSize(len(b.Inputs), p.Slots(ctx))
	first := 0
	for inputs := range slices.Chunk(b.Inputs, size) {
		w.chunks = append(w.chunks, &part{chunk: chunk{w.hash, inputs}, first: first})
		first += len(inputs)
	}
	return w, nil
}

// maxChunk is how many jobs a chunk has at the most: what comes of one is some kilobytes, and all must fit into a result.
const maxChunk = 256

// ChunkSize is how many of so many jobs a chunk has, for workers that do so many at once.
func ChunkSize(jobs, slots int) int { return min(maxChunk, max(1, jobs/(chunksEach*max(1, slots)))) }

// Slots is how many jobs all workers do at once, as far as that is known. It tells if there are none.
func (p *Pool) Slots(ctx context.Context) int {
	n, _ := p.workers(ctx)
	return n
}

// workers is Slots, and which tasks workers tell that they do.
func (p *Pool) workers(ctx context.Context) (n int, inHand map[string]bool) {
	servers, err := p.inspector.Servers()
	if err != nil || ctx.Err() != nil {
		return 0, nil
	}
	others := map[string]int{}
	inHand = map[string]bool{}
	for _, s := range servers {
		for _, w := range s.ActiveWorkers {
			inHand[w.TaskID] = true
		}
		for q := range s.Queues {
			if q == p.queue() {
				n += s.Concurrency
			} else if build, is := strings.CutPrefix(q, p.address.queuePrefix()); is {
				others[build]++
			}
		}
	}
	for build, count := range others {
		p.once(fmt.Sprintf("%s of build %s at %v cannot take these jobs: this is build %s, and results depend on the build",
			plural.Count(count, "worker"), build, p.address, p.build))
	}
	if n == 0 {
		p.once(fmt.Sprintf("no worker of build %s is at %v: waiting for one (redlocksim work)", p.build, p.address))
	}
	return n, inHand
}

// isDone says whether all results are there that are needed.
func (w *waiting) isDone() bool {
	return !slices.ContainsFunc(w.chunks, func(c *part) bool { return !c.isDone && c.first < w.limit })
}

// look looks after each chunk that is not done: it is asked for, fetched, or asked for once more.
func (w *waiting) look(ctx context.Context) {
	err := w.client.Set(ctx, w.address.common(w.hash), w.common, commonStays).Err()
	if err == nil {
		err = w.keep(ctx, w.files)
	}
	if err != nil {
		w.silent(ctx, err)
		return
	}
	_, w.inHand = w.workers(ctx)
	for _, c := range w.chunks {
		if c.isDone || c.first >= w.limit {
			continue
		}
		if ctx.Err() != nil || !w.fetch(ctx, c) {
			return
		}
	}
}

// silent tells that the Redis does not answer; the next look tries again.
func (w *waiting) silent(ctx context.Context, err error) {
	if ctx.Err() == nil {
		w.once(fmt.Sprintf("the Redis at %v does not answer as it should, trying again: %v", w.address, err))
	}
}

// fetch fetches the result of a chunk, or sees to it that there will be one. It says whether the Redis answers.
func (w *waiting) fetch(ctx context.Context, c *part) bool {
	if c == nil || c.isDone {
		return true
	}
	if len(c.ids) == 0 {
		return w.ask(ctx, c)
	}
	for i, id := range c.ids {
		isNewest := i == len(c.ids)-1
		info, err := w.inspector.GetTaskInfo(w.queue(), id)
		switch {
		case errors.Is(err, asynq.ErrTaskNotFound) || errors.Is(err, asynq.ErrQueueNotFound):
			if isNewest { // the Redis has lost it, or another coordinator fetched it
				c.ids = c.ids[:i]
				return w.ask(ctx, c)
			}
		case err != nil:
			w.silent(ctx, err)
			return false
		case len(info.Result) > 0:
			if w.take(c, info.Result) {
				return true
			}
			_ = w.inspector.DeleteTask(w.queue(), id) // one whose worker is about to end it is deleted at the next look
			c.ids = c.ids[:i]
			return w.ask(ctx, c)
		case !isNewest:
		case info.State == asynq.TaskStateArchived: // delivered too often
			return w.ask(ctx, c)
		case info.State != asynq.TaskStateActive:
			c.begun = time.Time{}
			if strings.Contains(info.LastErr, cannotFetch) {
				w.once("a worker tries again: " + info.LastErr)
			}
		case c.begun.IsZero():
			c.begun = time.Now()
		case time.Since(c.begun) > w.copyAfter && !w.inHand[id] && len(c.ids) <= maxCopies:
			return w.ask(ctx, c)
		}
	}
	return true
}

// ask asks for a chunk, or a copy of it.
func (w *waiting) ask(ctx context.Context, c *part) bool {
	t, id, err := c.task(w.kind, len(c.ids))
	if err != nil {
		w.err = err
		return false
	}
	_, err = w.tasks.EnqueueContext(ctx, t, asynq.Queue(w.queue()), asynq.TaskID(id), asynq.MaxRetry(deliveries), asynq.Timeout(longest), asynq.Retention(retention))
	if err != nil && !errors.Is(err, asynq.ErrTaskIDConflict) { // one that was asked for before is as good
		w.silent(ctx, err)
		return false
	}
	c.ids, c.isOwn, c.begun = append(c.ids, id), err == nil, time.Time{}
	w.byID[id] = c
	return true
}

// take takes the result of a chunk, unless it is a refusal that was there before: what was refused then may be right now.
func (w *waiting) take(c *part, data []byte) bool {
	r, err := resultOf(data)
	switch {
	case err != nil:
		w.err = fmt.Errorf("the result of a worker: %w", err)
		return true
	case r.Refused != "" && !c.isOwn:
		return false
	case r.Refused != "":
		w.err = fmt.Errorf("a worker refuses a job: %s", printable.Text(r.Refused, maxTold))
		return true
	}
	c.isDone = true
	for i, outcome := range r.Outcomes {
		if w.done(c.first+i, outcome) {
			w.limit = min(w.limit, c.first+i)
			return true
		}
	}
	if len(r.Outcomes) != len(c.Inputs) {
		w.err = fmt.Errorf("a worker has done %d of %d jobs", len(r.Outcomes), len(c.Inputs))
	}
	return true
}

// cleanUp removes what is left of the batch, as far as it is not under way and the Redis answers: results that nobody fetches
// run out by themselves. A worker whose result is here may be about to end its task, which takes a moment.
func (w *waiting) cleanUp() {
	for end := time.Now().Add(look); !w.remove() && time.Now().Before(end); {
		time.Sleep(look / 100)
	}
}

// remove removes the tasks that it can. It says whether that is all, but for those that workers have yet to do.
func (w *waiting) remove() (all bool) {
	all = true
	for _, c := range w.chunks {
		for _, id := range c.ids {
			err := w.inspector.DeleteTask(w.queue(), id)
			if err == nil || errors.Is(err, asynq.ErrTaskNotFound) || errors.Is(err, asynq.ErrQueueNotFound) {
				continue
			}
			if w.forgetLost(id) != nil {
				return true
			}
			if info, err := w.inspector.GetTaskInfo(w.queue(), id); err == nil && len(info.Result) > 0 {
				all = false
			}
		}
	}
	return all
}

// forgetLost removes a task that is under way and has no lease, which asynq never would (its issue 1144).
func (w *waiting) forgetLost(id string) error {
	// A worker that ends a task takes its lease away in the same moment.
	const script = `if redis.call("ZSCORE", KEYS[2], ARGV[1]) or redis.call("LREM", KEYS[1], 0, ARGV[1]) == 0 then return 0 end
return redis.call("DEL", KEYS[3])`
	of := "asynq:{" + w.queue() + "}:"
	return w.client.Eval(context.Background(), script, []string{of + "active", of + "lease", of + "t:" + id}, id).Err()
}
