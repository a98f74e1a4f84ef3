//go:build unix

package goredis_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"redlocksim/internal/redisserver"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
)

func TestMain(m *testing.M) {
	redis.SetLogger(silent{}) // go-redis logs every failed dial
	goleak.VerifyTestMain(m)
}

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

const (
	mine, theirs = "this acquisition's value", "another's value"
	patience     = 10 * time.Second // for replies that are expected to come
)

// servers are what the commands' semantics are tested against.
var servers = []struct {
	name  string
	start func(*testing.T) (addr string)
}{
	{"miniredis", func(t *testing.T) string { return withoutPlain(t).Addr() }},
	{"redis-server", func(t *testing.T) string { return redisserver.Start(t).Addr }},
}

// withoutPlain is a miniredis that has none of the plain commands which carry out what scripts do, as a Redis 7.0 has none. By
// itself it has DELEX.
func withoutPlain(t *testing.T) *miniredis.Miniredis {
	m := miniredis.RunT(t)
	m.Server().SetPreHook(func(c *server.Peer, command string, _ ...string) bool {
		if command == "DELEX" {
			c.WriteError("ERR unknown command 'DELEX'")
			return true
		}
		return false
	})
	return m
}

// newClient makes a client as in production; the change, if any, is made before.
func newClient(t testing.TB, addr string, change func(*redis.Options)) *redis.Client {
	t.Helper()
	o := &redis.Options{Addr: addr}
	if change != nil {
		change(o)
	}
	client := goredis.NewClient(o)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func newNode(t testing.TB, client *redis.Client, options ...goredis.Option) *goredis.Node {
	t.Helper()
	node, err := goredis.NewNode(client, options...)
	if err != nil {
		t.Fatal(err)
	}
	return node
}

// command reads "acquire a b".
func command(t testing.TB, text string, ttl time.Duration) *driver.Command {
	t.Helper()
	words := strings.Fields(text)
	c := &driver.Command{Keys: words[1:], Value: mine, TTL: ttl, Deadline: time.Now().Add(patience)}
	switch words[0] {
	case "acquire":
		c.Op = driver.OpAcquire
	case "extend":
		c.Op = driver.OpExtend
	case "release":
		c.Op, c.TTL = driver.OpRelease, 0
	default:
		t.Fatalf("no such operation: %q", text)
	}
	return c
}

// do runs the batch, waits until every command is answered, and checks that each is answered once.
func do(t testing.TB, node driver.Node, batch ...*driver.Command) []driver.Reply {
	t.Helper()
	replies := make([]driver.Reply, len(batch))
	var (
		mu      sync.Mutex
		done    = make(chan struct{})
		answers = make([]int, len(batch))
		missing = len(batch)
	)
	for i, c := range batch {
		c.Done = func(answered *driver.Command, r driver.Reply) {
			mu.Lock()
			defer mu.Unlock()
			if answered != c {
				t.Errorf("command %d: Done was called with another command", i)
			}
			if answers[i]++; answers[i] > 1 {
				t.Errorf("command %d: Done was called %d times", i, answers[i])
				return
			}
			replies[i] = r
			if missing--; missing == 0 {
				close(done)
			}
		}
	}
	node.Do(batch)
	select {
	case <-done:
	case <-time.After(2 * patience):
		t.Fatal("not all commands were answered")
	}
	return replies
}

// setState makes the keys of "a=mine:30s b=theirs:forever c=list".
func setState(t *testing.T, db *redis.Client, state string) {
	t.Helper()
	ctx := context.Background()
	if err := db.FlushDB(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	for _, field := range strings.Fields(state) {
		key, held, _ := strings.Cut(field, "=")
		holder, life, _ := strings.Cut(held, ":")
		if holder == "list" {
			if err := db.LPush(ctx, key, mine).Err(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		value := map[string]string{"mine": mine, "theirs": theirs}[holder]
		var ttl time.Duration
		if life != "forever" {
			var err error
			if ttl, err = time.ParseDuration(life); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Set(ctx, key, value, ttl).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// getState writes the keys as setState reads them. A TTL that has run down by less than 5 s is written as the whole.
func getState(t *testing.T, db *redis.Client) string {
	t.Helper()
	ctx := context.Background()
	keys, err := db.Keys(ctx, "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(keys)
	var fields []string
	for _, key := range keys {
		if db.Type(ctx, key).Val() == "list" {
			fields = append(fields, key+"=list")
			continue
		}
		holder := map[string]string{mine: "mine", theirs: "theirs"}[db.Get(ctx, key).Val()]
		ttl := db.PTTL(ctx, key).Val()
		life := "forever"
		if ttl >= 0 {
			const step = 5 * time.Second
			life = ((ttl + step - 1) / step * step).String()
		}
		fields = append(fields, key+"="+holder+":"+life)
	}
	return strings.Join(fields, " ")
}

const ttl = 30 * time.Second

var semantics = []struct {
	command string // with a TTL of 30 s
	before  string
	want    driver.Outcome
	after   string
}{
	{"acquire a", "", driver.Accepted, "a=mine:30s"},
	{"acquire a", "b=theirs:20s", driver.Accepted, "a=mine:30s b=theirs:20s"},
	{"acquire a", "a=theirs:20s", driver.Declined, "a=theirs:20s"},
	{"acquire a", "a=theirs:forever", driver.Declined, "a=theirs:forever"},
	{"acquire a", "a=mine:20s", driver.Declined, "a=mine:20s"},
	{"acquire a", "a=list", driver.Declined, "a=list"},
	{"acquire a b", "", driver.Accepted, "a=mine:30s b=mine:30s"},
	{"acquire a b", "a=theirs:20s", driver.Declined, "a=theirs:20s"},
	{"acquire a b", "b=theirs:20s", driver.Declined, "b=theirs:20s"},
	{"acquire a b", "b=mine:20s", driver.Declined, "b=mine:20s"},
	{"acquire a b", "b=list", driver.Declined, "b=list"},

	{"extend a", "a=mine:20s", driver.Accepted, "a=mine:30s"},
	{"extend a", "a=mine:50s", driver.Accepted, "a=mine:50s"},
	{"extend a", "a=mine:forever", driver.Accepted, "a=mine:30s"},
	{"extend a", "", driver.Declined, ""},
	{"extend a", "a=theirs:20s", driver.Declined, "a=theirs:20s"},
	{"extend a", "a=list", driver.Failed, "a=list"},
	{"extend a b", "a=mine:20s b=mine:20s", driver.Accepted, "a=mine:30s b=mine:30s"},
	{"extend a b", "a=mine:20s b=mine:50s", driver.Accepted, "a=mine:30s b=mine:50s"},
	{"extend a b", "a=mine:20s", driver.Declined, "a=mine:20s"},
	{"extend a b", "a=mine:20s b=theirs:20s", driver.Declined, "a=mine:20s b=theirs:20s"},
	{"extend a b", "a=mine:20s b=list", driver.Failed, "a=mine:20s b=list"},

	{"release a", "a=mine:20s", driver.Accepted, ""},
	{"release a", "a=mine:20s b=mine:20s", driver.Accepted, "b=mine:20s"},
	{"release a", "a=mine:forever", driver.Accepted, ""},
	{"release a", "", driver.Declined, ""},
	{"release a", "a=theirs:20s", driver.Declined, "a=theirs:20s"},
	{"release a", "a=list", driver.Failed, "a=list"},
	{"release a b", "a=mine:20s b=mine:20s", driver.Accepted, ""},
	{"release a b", "b=mine:20s", driver.Declined, ""},
	{"release a b c", "a=mine:20s b=theirs:20s c=mine:20s", driver.Declined, "b=theirs:20s"},
	{"release a b c", "a=mine:20s b=list c=mine:20s", driver.Failed, "b=list"},
}

func TestSemantics(t *testing.T) {
	for _, server := range servers {
		t.Run(server.name, func(t *testing.T) {
			addr := server.start(t)
			node, db := newNode(t, newClient(t, addr, nil)), newClient(t, addr, nil)
			for _, test := range semantics {
				setState(t, db, test.before)
				reply := do(t, node, command(t, test.command, ttl))[0]
				after := getState(t, db)
				if reply.Outcome != test.want || after != test.after {
					t.Errorf("%s, with %q: got %v (%v), leaving %q; want %v, leaving %q",
						test.command, test.before, reply.Outcome, reply.Err, after, test.want, test.after)
				}
				if hasErr := reply.Err != nil; hasErr != (test.want == driver.Failed) {
					t.Errorf("%s, with %q: error %v", test.command, test.before, reply.Err)
				}
			}
		})
	}
}

// rounds records what a client sends: one line a round trip, "set | evalsha | eval".
type rounds struct {
	mu   sync.Mutex
	sent []string
}

func (r *rounds) add(cmds ...redis.Cmder) {
	names := make([]string, len(cmds))
	for i, cmd := range cmds {
		names[i] = cmd.Name()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if line := strings.Join(names, " | "); line != "" && line != "hello" {
		r.sent = append(r.sent, line)
	}
}

func (r *rounds) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	sent := r.sent
	r.sent = nil
	return sent
}

func (r *rounds) DialHook(next redis.DialHook) redis.DialHook { return next }

func (r *rounds) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		r.add(cmd)
		return next(ctx, cmd)
	}
}

func (r *rounds) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		r.add(cmds...)
		return next(ctx, cmds)
	}
}

func TestRounds(t *testing.T) {
	for _, server := range servers {
		t.Run(server.name, func(t *testing.T) {
			addr := server.start(t)
			client, db := newClient(t, addr, nil), newClient(t, addr, nil)
			forbidPlain(t, db)
			node := newNode(t, client)
			sent := &rounds{}
			client.AddHook(sent)

			steps := []struct {
				name   string
				flush  bool // the server forgets its scripts
				batch  []string
				before string
				want   []driver.Outcome
				after  string
				sent   []string
			}{
				{"the first acquire looks what the server allows, in one round trip", true, []string{"acquire a"}, "", []driver.Outcome{driver.Accepted},
					"a=mine:30s", []string{"eval"}},
				{"a plain acquire needs no script", true, []string{"acquire a"}, "", []driver.Outcome{driver.Accepted}, "a=mine:30s",
					[]string{"set"}},
				{"a script is sent with its source at first", true, []string{"release a"}, "a=mine:20s",
					[]driver.Outcome{driver.Accepted}, "", []string{"eval"}},
				{"and is known then", false, []string{"release a"}, "a=mine:20s",
					[]driver.Outcome{driver.Accepted}, "", []string{"evalsha"}},
				{"and so is each other, in a batch, too, of which releases go together", false,
					[]string{"acquire a", "release b", "extend c", "acquire d e", "release f", "extend b"},
					"a=theirs:20s b=mine:20s c=mine:20s",
					[]driver.Outcome{driver.Declined, driver.Accepted, driver.Accepted, driver.Accepted, driver.Declined, driver.Declined},
					"a=theirs:20s c=mine:30s d=mine:30s e=mine:30s",
					[]string{"set | eval | eval | eval | eval"}},
				{"all scripts known, in order", false,
					[]string{"acquire a", "extend a", "release a", "acquire a b", "release a b", "release a"}, "",
					[]driver.Outcome{driver.Accepted, driver.Accepted, driver.Accepted, driver.Accepted, driver.Accepted, driver.Declined},
					"", []string{"set | evalsha | evalsha | evalsha | evalsha | evalsha"}},
				{"one that was forgotten is sent again with its source, as a plain command if it is the only one", true, []string{"acquire a", "extend b"}, "b=mine:20s",
					[]driver.Outcome{driver.Accepted, driver.Accepted}, "a=mine:30s b=mine:30s",
					[]string{"set | evalsha", "eval"}},
				{"only what met a forgotten script is sent again", false, []string{"release a", "extend b", "release b"}, "a=mine:20s b=mine:20s",
					[]driver.Outcome{driver.Accepted, driver.Accepted, driver.Accepted}, "",
					[]string{"evalsha | evalsha | evalsha", "eval"}},
			}
			for _, step := range steps {
				if step.flush {
					if err := db.ScriptFlush(context.Background()).Err(); err != nil {
						t.Fatal(err)
					}
				}
				setState(t, db, step.before)
				var batch []*driver.Command
				for _, text := range step.batch {
					batch = append(batch, command(t, text, ttl))
				}
				var got []driver.Outcome
				for _, r := range do(t, node, batch...) {
					got = append(got, r.Outcome)
				}
				if !slices.Equal(got, step.want) {
					t.Errorf("%s: outcomes %v, want %v", step.name, got, step.want)
				}
				if after := getState(t, db); after != step.after {
					t.Errorf("%s: leaves %q, want %q", step.name, after, step.after)
				}
				if lines := sent.take(); !slices.Equal(lines, step.sent) {
					t.Errorf("%s: sent %q, want %q", step.name, lines, step.sent)
				}
			}
		})
	}
}

// virtual is a Clock that reads what it is told, and a Tasks that runs a task when it is told.
type virtual struct {
	driver.Clock
	driver.Tasks
	now       time.Time
	deadlines []time.Time
	cancelled int
	tasks     []func()
}

func (v *virtual) Now() time.Time { return v.now }

func (v *virtual) WithDeadline(parent context.Context, d time.Time) (context.Context, context.CancelFunc) {
	v.deadlines = append(v.deadlines, d)
	ctx, cancel := context.WithTimeout(parent, patience)
	return ctx, func() { v.cancelled++; cancel() }
}

func (v *virtual) Start(f func()) { v.tasks = append(v.tasks, f) }

// forgetful is a node whose server allowed all and knew the scripts, and has forgotten them; with the clock and the tasks that
// it goes by from now on, and what it sends.
func forgetful(t *testing.T, start time.Time) (*goredis.Node, *virtual, *rounds) {
	t.Helper()
	client := newClient(t, withoutPlain(t).Addr(), nil)
	sent := &rounds{}
	client.AddHook(sent)
	v := &virtual{now: start}
	node := newNode(t, client, goredis.Runtime(driver.Runtime{Clock: v, Tasks: v}), goredis.Name("a node"))
	batch := []*driver.Command{command(t, "acquire z", ttl), command(t, "extend k", ttl), command(t, "release k", ttl)}
	for _, c := range batch {
		c.Done = func(*driver.Command, driver.Reply) {}
	}
	node.Do(batch)
	v.tasks[0]()
	if err := client.ScriptFlush(context.Background()).Err(); err != nil {
		t.Fatal(err)
	}
	sent.take()
	*v = virtual{now: start}
	return node, v, sent
}

// Time and goroutines come from the seams: here a clock far from the real one, and tasks that run when the test says so.
func TestSeams(t *testing.T) {
	start := time.Unix(1000, 0)
	at := func(d time.Duration) time.Time { return start.Add(d) }
	node, v, sent := forgetful(t, start)
	if node.Name() != "a node" {
		t.Errorf("name %q", node.Name())
	}

	got := map[string]driver.Reply{}
	var batch []*driver.Command
	for text, deadline := range map[string]time.Duration{"acquire k": 10, "extend k": 30, "release k": 20} {
		c := command(t, text, ttl)
		c.Deadline = at(deadline * time.Millisecond)
		c.Done = func(_ *driver.Command, r driver.Reply) { got[text] = r }
		batch = append(batch, c)
	}
	slices.SortFunc(batch, func(a, b *driver.Command) int { return int(a.Op) - int(b.Op) })

	node.Do(batch)
	clear(batch) // the node has its own copy
	node.Do(nil)
	if len(v.tasks) != 1 || len(got) != 0 {
		t.Fatalf("%d tasks and %d replies before the task ran", len(v.tasks), len(got))
	}
	v.now = at(20 * time.Millisecond) // the deadline of the release, when the first round is over
	v.tasks[0]()

	if want := []string{"set | evalsha | evalsha", "eval"}; !slices.Equal(sent.take(), want) {
		t.Errorf("a command whose deadline has passed was sent again")
	}
	if want := []time.Time{at(30 * time.Millisecond), at(30 * time.Millisecond)}; !slices.Equal(v.deadlines, want) {
		t.Errorf("deadlines %v, want %v", v.deadlines, want)
	}
	if v.cancelled != len(v.deadlines) {
		t.Errorf("%d of %d contexts were given back", v.cancelled, len(v.deadlines))
	}
	outcomes := map[string]driver.Outcome{}
	for text, r := range got {
		outcomes[text] = r.Outcome
	}
	// The acquire's deadline has passed as well, but its reply had come.
	want := map[string]driver.Outcome{"acquire k": driver.Accepted, "extend k": driver.Accepted, "release k": driver.TimedOut}
	if !maps.Equal(outcomes, want) {
		t.Errorf("outcomes %v, want %v", outcomes, want)
	}
	if err := got["release k"].Err; err == nil || !strings.Contains(err.Error(), "did not know the script") {
		t.Errorf("error %v", err)
	}
}

// The first command on a connection has to fit into a short deadline together with the handshake: one round trip.
func TestHandshake(t *testing.T) {
	m := miniredis.RunT(t)
	node := newNode(t, newClient(t, m.Addr(), nil))
	if r := do(t, node, command(t, "acquire a", ttl))[0]; r.Outcome != driver.Accepted {
		t.Fatal(r)
	}
	if n := m.CommandCount(); n != 10 {
		t.Errorf("%d commands for the first acquire, want 10: HELLO and EVAL, in which there are EXISTS, DELEX, SET IFEQ, GET, PTTL, PEXPIRE, DEL and SET", n)
	}
	// A pipeline takes the same connection.
	do(t, node, command(t, "acquire b", ttl), command(t, "acquire c", ttl))
	if n := m.TotalConnectionCount(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

func TestManyAtOnce(t *testing.T) {
	m := miniredis.RunT(t)
	node := newNode(t, newClient(t, m.Addr(), nil))
	const batches = 50
	var wg sync.WaitGroup
	for i := range batches {
		wg.Go(func() {
			a, b := fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i)
			for _, r := range do(t, node, command(t, "acquire "+a, ttl), command(t, "acquire "+b+" shared", ttl)) {
				if r.Err != nil {
					t.Errorf("batch %d: %v", i, r)
				}
			}
		})
	}
	wg.Wait()
	if n := len(m.Keys()); n != batches+2 {
		t.Errorf("%d keys, want %d: one batch alone gets the shared key", n, batches+2)
	}
}
