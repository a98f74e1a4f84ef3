package workers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/child"
	"redlocksim/internal/input"
	"redlocksim/internal/jobs"
	"redlocksim/internal/redisserver"
)

// asWorker is the environment variable that makes the test binary a worker at the Redis that it names.
const asWorker = "REDLOCKSIM_TEST_AS_WORKER"

func TestMain(m *testing.M) {
	Quiet()
	if at := os.Getenv(asWorker); at != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		if err := serve(ctx, at, "tests", nil); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// product is what jobs share: they multiply, and fail at some numbers.
type product struct {
	By    int
	Fails []int
}

var errFails, errOther = errors.New("fails"), errors.New("other")

// products are jobs that take 1 to 7 ms.
var products = jobs.Kind[product, int, int, int]{
	Name: "products",
	Do: func(ctx context.Context, p product, done *int, n int) (int, error) {
		*done++
		select {
		case <-time.After(time.Duration(1+n%7) * time.Millisecond):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		if slices.Contains(p.Fails, n) {
			return 0, fmt.Errorf("%d %w", n, errFails)
		}
		return p.By * n, nil
	},
	Pack: func(p product) ([]byte, error) { return fmt.Appendf(nil, "%d %v", p.By, p.Fails), nil },
	Unpack: func(_ context.Context, data []byte, _ jobs.Fetch) (p product, err error) {
		by, rest, _ := strings.Cut(string(data), " ")
		if _, err := fmt.Sscan(by, &p.By); err != nil {
			return p, err
		}
		for _, f := range strings.Fields(strings.Trim(rest, "[]")) {
			var n int
			if _, err := fmt.Sscan(f, &n); err != nil {
				return p, err
			}
			p.Fails = append(p.Fails, n)
		}
		return p, nil
	},
	Errors: []error{errOther, errFails},
}

func serve(ctx context.Context, at, build string, tell func(string)) error {
	a, err := ParseAddress(at)
	if err != nil {
		return err
	}
	return (&Worker{Address: a, Build: build, Jobs: 2, Kinds: []jobs.Served{products}, Tell: tell}).Serve(ctx)
}

// lines are what was told.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) tell(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line)
}

func (l *lines) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.all, func(line string) bool { return strings.Contains(line, text) })
}

// await waits until something is so.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never comes to that: %s", what)
		}
	}
}

func open(t *testing.T, at string, tell func(string)) *Pool {
	t.Helper()
	p, err := Open(t.Context(), must(t, at), "tests", tell)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// inputs are the numbers below n, and products of them by 3.
func inputs(n int) (in, out []int) {
	for i := range n {
		in, out = append(in, i), append(out, 3*i)
	}
	return in, out
}

func values(results []jobs.Result[int]) (all []int) {
	for _, r := range results {
		if !r.Done {
			return nil
		}
		all = append(all, r.Value)
	}
	return all
}

// started starts a worker in a process of its own.
func started(t *testing.T, at string) *child.Process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asWorker+"="+at)
	p, err := child.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

// Workers are killed and stopped, and come and go, the Redis restarts, and two ask for the same: each gets what one worker
// gives.
func TestWorkersComeAndGo(t *testing.T) {
	t.Parallel()
	server := redisserver.Start(t, "--appendonly", "yes", "--appendfsync", "always")
	at := "redis://" + server.Addr + "?prefix=a-"
	in, want := inputs(6000)
	var told lines
	pools := []*Pool{open(t, at, told.tell), open(t, at, told.tell)}
	all := []*child.Process{started(t, at), started(t, at), started(t, at), started(t, at)}
	await(t, "all workers are there", func() bool { return pools[0].Slots(t.Context()) == 2*len(all) })
	var both sync.WaitGroup
	var over atomic.Int32
	for i, p := range pools {
		both.Go(func() {
			defer over.Add(1)
			if err := multiply(t.Context(), p, in, want); err != nil {
				t.Errorf("coordinator %d: %v", i+1, err)
			}
		})
	}
	await(t, "some jobs are done", func() bool {
		stream, err := pools[0].client.XInfoStream(t.Context(), pools[0].address.queue("tests")).Result()
		return err == nil && stream.EntriesAdded > stream.Length+5
	})
	all[0].Kill()
	if err := all[1].Stop(time.Minute); err != nil {
		t.Fatal(err)
	}
	started(t, at)
	server.Kill()
	server.Restart()
	all[2].End(syscall.SIGINT, time.Minute)
	if over.Load() > 0 {
		t.Error("it was over before all that was to happen")
	}
	both.Wait()
	// Those are asked for twice.
	if left := pools[0].client.XLen(t.Context(), pools[0].address.queue("tests")).Val(); left > 2*2 {
		t.Errorf("%d chunks are left", left)
	}
}

// An error is that of the lowest number, wherever jobs are done, and matches what it is.
func TestTheErrorIsThatOfTheLowestJob(t *testing.T) {
	t.Parallel()
	at := "redis://" + redisserver.Start(t).Addr
	go serve(t.Context(), at, "tests", nil)
	p := open(t, at, func(string) {})
	in, _ := inputs(200)
	for _, fails := range [][]int{{0}, {199}, {150, 17, 18, 90}} {
		results, err := products.Run(t.Context(), jobs.Place{Elsewhere: p}, product{By: 3, Fails: fails}, in, nil)
		first := slices.Min(fails)
		failed, is := errors.AsType[*jobs.FailedError](err)
		if !is || failed.Job != first || !errors.Is(err, errFails) || errors.Is(err, errOther) || err.Error() != fmt.Sprintf("%d fails", first) {
			t.Errorf("%v: %v", fails, err)
		}
		for i := range first {
			if !results[i].Done || results[i].Value != 3*i {
				t.Errorf("%v: job %d: %+v", fails, i, results[i])
			}
		}
	}
	if results, err := products.Run(t.Context(), jobs.Place{Elsewhere: p}, product{}, nil, nil); err != nil || len(results) > 0 {
		t.Errorf("no jobs: %v, %v", results, err)
	}
}

// A chunk that a lost worker has taken is given to another.
func TestALostWorkersChunkIsGivenToAnother(t *testing.T) {
	t.Parallel()
	at := "redis://" + redisserver.Start(t).Addr
	p := open(t, at, func(string) {})
	got := make(chan error, 1)
	go func() { got <- multiply(t.Context(), p, []int{1, 2}, []int{3, 6}) }()
	await(t, "both are asked for, and taken", func() bool {
		taken, err := p.client.XReadGroup(t.Context(), &redis.XReadGroupArgs{Group: group, Consumer: "lost", Streams: []string{p.address.queue("tests"), ">"}, Block: look}).Result()
		return err == nil && len(taken) > 0
	})
	go serve(t.Context(), at, "tests", nil)
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	if keys := p.client.Keys(t.Context(), "*").Val(); len(keys) != 2 { // the queue, and who is there
		t.Errorf("%v are left", keys)
	}
}

// One that is lost is found behind any number that others are at.
func TestALostChunkBehindOthers(t *testing.T) {
	t.Parallel()
	p := open(t, "redis://"+redisserver.Start(t).Addr, func(string) {})
	if err := join(t.Context(), p.client, p.address, "tests"); err != nil {
		t.Fatal(err)
	}
	queue, last := p.address.queue("tests"), ""
	for range 50 {
		last = p.client.XAdd(t.Context(), &redis.XAddArgs{Stream: queue, Values: []any{batchField, "a", numberField, 0}}).Val()
	}
	if err := p.client.XReadGroup(t.Context(), &redis.XReadGroupArgs{Group: group, Consumer: "others", Streams: []string{queue, ">"}}).Err(); err != nil {
		t.Fatal(err)
	}
	if err := p.client.Do(t.Context(), "XCLAIM", queue, group, "lost", 0, last, "IDLE", 2*lost.Milliseconds(), "JUSTID").Err(); err != nil {
		t.Fatal(err)
	}
	s := &serving{Worker: &Worker{Address: p.address, Build: "tests"}, client: p.client}
	if got, err := s.next(t.Context(), "another"); err != nil || got == nil || got.ID != last {
		t.Errorf("%v, %v, want %s", got, err, last)
	}
}

// A worker of another build takes no job, and both sides say why.
func TestAnotherBuildTakesNoJobs(t *testing.T) {
	t.Parallel()
	at := "redis://" + redisserver.Start(t).Addr
	var asks, serves lines
	p := open(t, at, asks.tell)
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error)
	go func() {
		results, err := products.Run(ctx, jobs.Place{Elsewhere: p}, product{By: 3}, []int{1}, nil)
		if results[0].Done {
			err = errors.New("it is done")
		}
		over <- err
	}()
	await(t, "somebody waits", func() bool { return asks.has("no worker of build tests is at 127.0.0.1:") })
	await(t, "the job is there", func() bool { return p.client.XLen(t.Context(), p.address.queue("tests")).Val() == 1 })
	go serve(t.Context(), at, "others", serves.tell)
	await(t, "the worker tells", func() bool { return serves.has("jobs of build tests wait here, and this is build others") })
	await(t, "who asks is told", func() bool { return asks.has("workers of build others at 127.0.0.1:") })
	cancel()
	if err := <-over; err != nil {
		t.Error(err)
	}
	if keys := p.client.Keys(t.Context(), "redlocksim:batch:*").Val(); len(keys) > 0 {
		t.Errorf("%v are left", keys)
	}
}

// multiply has a pool multiply some numbers, and wants their products.
func multiply(ctx context.Context, p *Pool, in []int, want []int) error {
	results, err := products.Run(ctx, jobs.Place{Elsewhere: p}, product{By: 3}, in, nil)
	if got := values(results); err == nil && !slices.Equal(got, want) {
		err = fmt.Errorf("%d results: %v", len(got), got)
	}
	return err
}

func must(t *testing.T, at string) Address {
	t.Helper()
	a, err := ParseAddress(at)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestParseAddress(t *testing.T) {
	t.Setenv(PasswordVariable, "secret")
	for text, want := range map[string]string{
		"redis://user@host:7000/2?prefix=ci-": "host:7000 user secret 2 ci-redlocksim:queue:b",
		"rediss://host":                       "host:6379  secret 0 redlocksim:queue:b",
		"unix:///run/jobs.sock":               "/run/jobs.sock  secret 0 redlocksim:queue:b",
	} {
		a, err := ParseAddress(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		o := a.options
		if got := fmt.Sprint(o.Addr, " ", o.Username, " ", o.Password, " ", o.DB, " ", a.queue("b")); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if strings.Contains(a.String(), "secret") {
			t.Error(a.String())
		}
	}
	for text, want := range map[string]string{
		"redis://user:hidden@host":  PasswordVariable,
		"host:6379":                 "",
		"http://host":               "redis://HOST:PORT",
		"redis://host/x":            "database",
		"redis://host?prefix={a}":   "braces",
		"redis://host?nonsense=1":   "nonsense",
		"redis://user:hid den@host": "",
		"":                          "",
	} {
		if _, err := ParseAddress(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hid") {
			t.Errorf("%q: %v", text, err)
		}
	}
	t.Setenv(PasswordFileVariable, "/dev/zero")
	if _, err := ParseAddress("redis://host"); !errors.Is(err, input.ErrTooLarge) || !strings.Contains(err.Error(), PasswordFileVariable) {
		t.Errorf("an endless file: %v", err)
	}
	t.Setenv(PasswordFileVariable, t.TempDir()+"/missing")
	if _, err := ParseAddress("redis://host"); err == nil || !strings.Contains(err.Error(), PasswordFileVariable) {
		t.Error(err)
	}
}

// No worker is given a chunk that another is doing, however long that takes.
func TestAWorkerKeepsWhatItDoes(t *testing.T) {
	t.Parallel()
	var did atomic.Int32
	slow := jobs.Kind[product, int, int, int]{Name: "slow", Pack: products.Pack, Unpack: products.Unpack,
		Do: func(context.Context, product, *int, int) (int, error) {
			did.Add(1)
			time.Sleep(lost + look)
			return 1, nil
		}}
	at := "redis://" + redisserver.Start(t).Addr
	w := &Worker{Address: must(t, at), Build: "tests", Jobs: 2, Kinds: []jobs.Served{slow}}
	go w.Serve(t.Context())
	p := open(t, at, func(string) {})
	if _, err := slow.Run(t.Context(), jobs.Place{Elsewhere: p}, product{}, []int{0}, nil); err != nil {
		t.Fatal(err)
	}
	if did.Load() != 1 {
		t.Errorf("a job was done %d times", did.Load())
	}
}
