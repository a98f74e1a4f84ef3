package workers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/jobs"
	"redlocksim/internal/plural"
	"redlocksim/internal/printable"
)

// Pool is the workers at a Redis. It implements [jobs.Elsewhere].
type Pool struct {
	address Address
	build   string
	client  *redis.Client
	tell    func(line string)

	mu   sync.Mutex
	told map[string]bool
}

// Open connects to the workers of a build. tell is told what a user should know, a line at a time, and nothing twice.
func Open(ctx context.Context, at Address, build string, tell func(line string)) (*Pool, error) {
	p := newPool(at, build, tell)
	if err := p.client.Ping(ctx).Err(); err != nil {
		_ = p.client.Close()
		return nil, at.failed(err)
	}
	return p, nil
}

func newPool(at Address, build string, tell func(line string)) *Pool {
	return &Pool{address: at, build: build, client: redis.NewClient(at.options), tell: tell, told: map[string]bool{}}
}

// Close ends the connections.
func (p *Pool) Close() error { return p.client.Close() }

// mostTold bounds how many lines are told: workers write some of them.
const mostTold = 1000

// once tells a line that was not told before.
func (p *Pool) once(line string) {
	line = printable.Text(line, maxTold)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.told[line] && len(p.told) < mostTold {
		p.told[line] = true
		p.tell(line)
	}
}

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

// look is how often a batch is looked after, whatever is told of it.
const look = time.Second

func (p *Pool) do(ctx context.Context, b jobs.Batch, done func(job int, outcome []byte) (enough bool)) error {
	w, err := p.cut(ctx, b, done)
	if err != nil || ctx.Err() != nil {
		return err
	}
	told := p.client.Subscribe(ctx, p.address.told(w.id))
	defer told.Close()
	// Until then nothing would be told; if it fails, looks must do.
	_, _ = told.ReceiveTimeout(ctx, look)
	defer p.client.Del(context.Background(), w.address.batch(w.id)) // so that workers do no more of it
	timer := time.NewTicker(look)
	defer timer.Stop()
	w.look(ctx)
	for ctx.Err() == nil && w.err == nil && !w.isDone() {
		select {
		case m := <-told.Channel():
			if m == nil {
				continue
			}
			if i, err := strconv.Atoi(m.Payload); err != nil {
				p.once(m.Payload)
			} else if i >= 0 && i < len(w.chunks) {
				w.silent(ctx, w.fetch(ctx, w.chunks[i]))
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
	id     string
	fields []any // of the batch at the Redis
	files  []jobs.File
	done   func(job int, outcome []byte) (enough bool)
	chunks []*chunk
	limit  int // jobs with this number and higher ones need not be done
	err    error
}

// chunk is some jobs of a batch.
type chunk struct {
	number int
	first  int    // the number of its first job
	jobs   int    // how many it has
	entry  string // of the queue; empty until it is asked for
	isDone bool
}

// cut cuts a batch into chunks.
func (p *Pool) cut(ctx context.Context, b jobs.Batch, done func(int, []byte) bool) (*waiting, error) {
	common, err := pack(b.Common)
	if err != nil {
		return nil, err
	}
	w := &waiting{Pool: p, id: rand.Text(), files: b.Files, done: done, limit: len(b.Inputs), fields: []any{kindField, b.Kind, commonField, common}}
	size := ChunkSize(len(b.Inputs), p.Slots(ctx))
	for inputs := range slices.Chunk(b.Inputs, size) {
		packed, err := packJSON(inputs)
		if err != nil {
			return nil, err
		}
		number := len(w.chunks)
		w.fields = append(w.fields, strconv.Itoa(number), packed)
		w.chunks = append(w.chunks, &chunk{number: number, first: number * size, jobs: len(inputs)})
	}
	return w, nil
}

const (
	// chunksEach is how many chunks each worker is to have of a batch, so that all end at about the same time.
	chunksEach = 16
	// maxChunk is how many jobs a chunk has at the most: what comes of one is some kilobytes, and all must fit into a result.
	maxChunk = 256
)

// ChunkSize is how many of so many jobs a chunk has, for workers that do so many at once.
func ChunkSize(jobs, slots int) int { return min(maxChunk, max(1, jobs/(chunksEach*max(1, slots)))) }

// Slots is how many jobs all workers do at once, as far as that is known. It tells if there are none.
func (p *Pool) Slots(ctx context.Context) int {
	_, doing, err := present(ctx, p.client, p.address)
	if err != nil || ctx.Err() != nil {
		return 0
	}
	for build, n := range doing {
		if build != p.build {
			p.once(fmt.Sprintf("workers of build %s at %v, of %s at once, cannot take these jobs: this is build %s, and results depend on the build",
				build, p.address, plural.Count(n, "job"), p.build))
		}
	}
	if doing[p.build] == 0 {
		p.once(fmt.Sprintf("no worker of build %s is at %v: waiting for one (redlocksim work)", p.build, p.address))
	}
	return doing[p.build]
}

// isDone says whether all results are there that are needed.
func (w *waiting) isDone() bool {
	return !slices.ContainsFunc(w.chunks, w.isOpen)
}

func (w *waiting) isOpen(c *chunk) bool { return !c.isDone && c.first < w.limit }

// look looks after each chunk that is not done: its result is fetched, or it is asked for, also where the Redis has lost it.
func (w *waiting) look(ctx context.Context) {
	queued, err := w.store(ctx)
	if err == nil {
		w.Slots(ctx)
		err = w.fetchAll(ctx)
	}
	for _, c := range w.chunks {
		if err == nil && w.err == nil && w.isOpen(c) && !queued[c.entry] {
			c.entry, err = w.client.XAdd(ctx, &redis.XAddArgs{Stream: w.address.queue(w.build), Values: []any{batchField, w.id, numberField, c.number}}).Result()
		}
	}
	w.silent(ctx, err)
}

// silent tells that the Redis does not answer; the next look tries again.
func (w *waiting) silent(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		w.once(fmt.Sprintf("the Redis at %v does not answer as it should, trying again: %v", w.address, err))
	}
}

// store sees to it that the batch is at the Redis with its files, and that there is a queue. It gives the entries of that.
func (w *waiting) store(ctx context.Context) (map[string]bool, error) {
	err := appear(ctx, w.client, w.address, w.build)
	if err == nil {
		err = join(ctx, w.client, w.address, w.build)
	}
	if err != nil {
		return nil, err
	}
	isThere, err := w.client.Expire(ctx, w.address.batch(w.id), stays).Result()
	if err == nil && !isThere {
		// All of it goes at once, which may take as long as a file does.
		_, err = w.client.WithTimeout(transfer).TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.HSet(ctx, w.address.batch(w.id), w.fields...)
			p.Expire(ctx, w.address.batch(w.id), stays)
			return nil
		})
	}
	if err == nil {
		err = w.keep(ctx, w.files)
	}
	if err != nil {
		return nil, err
	}
	entries, err := w.client.XRange(ctx, w.address.queue(w.build), "-", "+").Result()
	queued := map[string]bool{}
	for _, e := range entries {
		queued[e.ID] = true
	}
	return queued, err
}

// fetchAll fetches the results that are there: one after the other, as each may be large.
func (w *waiting) fetchAll(ctx context.Context) error {
	open := slices.DeleteFunc(slices.Clone(w.chunks), func(c *chunk) bool { return !w.isOpen(c) })
	areThere := make([]*redis.IntCmd, len(open))
	_, err := w.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, c := range open {
			areThere[i] = p.Exists(ctx, w.address.result(w.id, strconv.Itoa(c.number)))
		}
		return nil
	})
	for i, c := range open {
		if err == nil && areThere[i].Val() > 0 {
			err = w.fetch(ctx, c)
		}
	}
	return err
}

// fetch fetches the result of a chunk, if that is open and the result is there.
func (w *waiting) fetch(ctx context.Context, c *chunk) error {
	if w.err != nil || !w.isOpen(c) {
		return nil
	}
	data, err := w.client.GetDel(ctx, w.address.result(w.id, strconv.Itoa(c.number))).Bytes()
	switch {
	case errors.Is(err, redis.Nil):
		return nil
	case err == nil:
		w.take(c, data)
	}
	return err
}

// take takes the result of a chunk.
func (w *waiting) take(c *chunk, data []byte) {
	var r result
	switch err := unpackJSON(data, maxResult, &r); {
	case err != nil:
		w.err = fmt.Errorf("the result of a worker: %w", err)
		return
	case r.Refused != "":
		w.err = fmt.Errorf("a worker refuses a job: %s", printable.Text(r.Refused, maxTold))
		return
	case len(r.Outcomes) > c.jobs:
		w.err = fmt.Errorf("a worker has done %d of %d jobs", len(r.Outcomes), c.jobs)
		return
	}
	c.isDone = true
	for i, outcome := range r.Outcomes {
		if w.done(c.first+i, outcome) {
			w.limit = min(w.limit, c.first+i)
			return
		}
	}
	if len(r.Outcomes) != c.jobs {
		w.err = fmt.Errorf("a worker has done %d of %d jobs", len(r.Outcomes), c.jobs)
	}
}
