//go:build unix

package goredis_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"redlocksim/internal/adaptertest"
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
	patience = adaptertest.Patience
	ttl      = adaptertest.TTL
)

var (
	do, command             = adaptertest.Do, adaptertest.Command
	forbidPlain             = adaptertest.ForbidPlain
	eventually, closeWithin = adaptertest.Eventually, adaptertest.CloseWithin
)

// What adapters have in common.
func TestAdapter(t *testing.T) { adaptertest.Run(t, adaptertest.GoRedis) }

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
func forgetful(t *testing.T, start time.Time) (*goredis.Node, *virtual, *adaptertest.Rounds) {
	t.Helper()
	sent := &adaptertest.Rounds{}
	client := newClient(t, adaptertest.WithoutPlain(t).Addr(), func(o *redis.Options) { o.Dialer = sent.Dial })
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
	sent.Take()
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

	if want := []string{"set | evalsha | evalsha", "eval"}; !slices.Equal(sent.Take(), want) {
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
	if n := m.CommandCount(); n != 9 {
		t.Errorf("%d commands for the first acquire, want 9: HELLO and EVAL, in which there are EXISTS, DELEX, GET, PTTL, PEXPIRE, DEL and SET", n)
	}
	// A pipeline takes the same connection.
	do(t, node, command(t, "acquire b", ttl), command(t, "acquire c", ttl))
	if n := m.TotalConnectionCount(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}
