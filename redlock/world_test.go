package redlock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redlocksim/internal/votes"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// A world is a client over scripted nodes in virtual time: the tests run in a synctest bubble, so that the production
// clock and tasks are what is tested and a second costs nothing.
type world struct {
	*testing.T
	*Client
	nodes []*scripted
	began time.Time
	asked int // how often ask did

	mu    sync.Mutex
	lines []string
}

// in runs the test in a world of n nodes called A, B, C and so on. Node i takes i+1 ms to answer, so that no two things
// happen at one time.
func in(t *testing.T, n int, test func(w *world), opts ...Option) {
	synctest.Test(t, func(t *testing.T) {
		test(newWorld(t, n, opts...))
		time.Sleep(time.Hour) // what is still under way is over
	})
}

func newWorld(t *testing.T, n int, opts ...Option) *world {
	w := &world{T: t, began: time.Now()}
	nodes := make([]driver.Node, n)
	for i := range n {
		s := newScripted(string(rune('A'+i)), time.Duration(i+1)*time.Millisecond)
		w.nodes, nodes[i] = append(w.nodes, s), s
	}
	c, err := New(nodes, append([]Option{quick, WithObserver(w)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	w.Client = c
	return w
}

// quick is the retry delay of a world's clients.
var quick = WithRetryDelay(10*time.Millisecond, 10*time.Millisecond)

// Observe writes an event into the transcript.
func (w *world) Observe(_ context.Context, e observe.Event) {
	var b strings.Builder
	b.WriteString(e.Step.String())
	switch e.Step {
	case observe.TakenBack:
		fmt.Fprintf(&b, " %s", e.Node.Node)
	case observe.TokenRaised:
		fmt.Fprintf(&b, " to %d", e.Token)
	case observe.NodeAnswered, observe.Joined:
		fmt.Fprintf(&b, " %s %s", e.Node.Node, e.Node.Outcome.Of(e.Op))
		if e.Late {
			b.WriteString(", late")
		}
	case observe.QuorumReached, observe.QuorumLost, observe.Released:
		fmt.Fprintf(&b, " %d of %d", e.Accepted, e.Quorum)
	case observe.ValidityComputed, observe.Granted, observe.Extended:
		fmt.Fprintf(&b, " %v until %v", e.Validity, e.Until.Sub(w.began))
	case observe.Lost:
		fmt.Fprintf(&b, " until %v", e.Until.Sub(w.began))
	case observe.Retrying:
		fmt.Fprintf(&b, " in %v", e.Delay)
	case observe.AttemptStarted:
		fmt.Fprintf(&b, " %d", e.Attempt)
	}
	if e.Op != 0 && e.Step != observe.AttemptStarted && e.Step != observe.ReleaseStarted && e.Step != observe.ExtendStarted {
		fmt.Fprintf(&b, " [%s]", e.Op)
	}
	if e.Step == observe.Granted && e.Token != 0 {
		fmt.Fprintf(&b, " token %d", e.Token)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	w.say("  %s", b.String())
}

// atStep is an observer that does what a test wants in the middle of a step, as a slow one or a pause would.
type atStep func(observe.Event)

func (f atStep) Observe(_ context.Context, e observe.Event) { f(e) }

// say adds a line to the transcript, with the time.
func (w *world) say(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, fmt.Sprintf("%v %s", w.at(), fmt.Sprintf(format, args...)))
}

// hush forgets what was said so far.
func (w *world) hush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = nil
}

// at is the time since the world began.
func (w *world) at() time.Duration { return time.Since(w.began) }

// transcript compares what was said since the last call with the wanted lines; those are indented as it suits the test.
func (w *world) transcript(want string) {
	w.Helper()
	w.compare(want, func([]string) {})
}

// transcriptOfSeveral is transcript where several goroutines speak at the same time: which of them is first is nobody's
// promise, so the lines of one instant may come in any order.
func (w *world) transcriptOfSeveral(want string) {
	w.Helper()
	w.compare(want, func(lines []string) {
		at := func(line string) time.Duration {
			text, _, _ := strings.Cut(line, " ")
			t, err := time.ParseDuration(text)
			if err != nil {
				w.Fatalf("%q: %v", line, err)
			}
			return t
		}
		slices.SortFunc(lines, func(a, b string) int { return cmp.Or(cmp.Compare(at(a), at(b)), strings.Compare(a, b)) })
	})
}

func (w *world) compare(want string, arrange func(lines []string)) {
	w.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	var lines []string
	for l := range strings.Lines(want) {
		if l = strings.TrimSpace(l); l != "" {
			lines = append(lines, l)
		}
	}
	var got []string
	for _, l := range w.lines {
		got = append(got, strings.Join(strings.Fields(l), " "))
	}
	arrange(lines)
	arrange(got)
	if g, x := strings.Join(got, "\n"), strings.Join(lines, "\n"); g != x {
		w.Errorf("got\n%s\n\nwant\n%s", strings.Join(w.lines, "\n"), x)
	}
	w.lines = nil
}

// script tells the nodes, in order, how to answer the next command of op; see plan.
func (w *world) script(op driver.Op, plans string) {
	w.Helper()
	fields := strings.Fields(plans)
	if len(fields) != len(w.nodes) {
		w.Fatalf("%d plans for %d nodes", len(fields), len(w.nodes))
	}
	for i, f := range fields {
		w.node(i).next(op, f)
	}
}

func (w *world) node(i int) *scripted { return w.nodes[i] }

// silence makes the nodes black holes from now on.
func (w *world) silence(nodes ...*scripted) {
	for _, n := range nodes {
		n.mu.Lock()
		n.deaf = true
		n.mu.Unlock()
	}
}

// holders lists the nodes on which somebody holds the key.
func (w *world) holders(key string) string {
	var b strings.Builder
	for _, n := range w.nodes {
		if n.holder(key) != "" {
			b.WriteString(n.name)
		}
	}
	return b.String()
}

// sent lists how many commands of op each node was sent: "11111".
func (w *world) sent(op driver.Op) string {
	var b strings.Builder
	for _, n := range w.nodes {
		b.WriteString(strconv.Itoa(len(n.received(op))))
	}
	return b.String()
}

func (w *world) mustLock(ttl time.Duration) *Lease {
	w.Helper()
	l, err := w.TryLock(w.Context(), "r", ttl)
	if err != nil {
		w.Fatal(err)
	}
	return l
}

// atTime sleeps until the world is so old.
func (w *world) atTime(d time.Duration) {
	w.Helper()
	if d < w.at() {
		w.Fatalf("it is already %v", w.at())
	}
	time.Sleep(d - w.at())
	synctest.Wait()
}

// scripted is a node in memory that does what a Redis server does, unless its script says otherwise.
type scripted struct {
	name string
	trip time.Duration // to the node and back

	mu     sync.Mutex
	memory votes.Memory
	starts int           // of which its run id is made
	ahead  time.Duration // of the right time, its clock
	plans  map[driver.Op][]string
	got    []request
	deaf   bool                             // nothing arrives any more
	tell   func(format string, args ...any) // of what it is asked and does; nil: nobody is told

	listeners []*listener
	mumbles   bool // what it publishes is lost
}

func newScripted(name string, trip time.Duration) *scripted {
	n := &scripted{name: name, trip: trip}
	n.memory = votes.Memory{Run: "0", Tell: n.publish}
	return n
}

type request struct {
	driver.Command
	sent time.Time
}

func (n *scripted) Name() string { return n.name }

// next scripts the answer to a command of op that has none yet:
//
//	ok            as a server does
//	ok:20         … answered after 20 ms
//	ok:20+5       … carried out after 20 ms, answered 5 ms later
//	lost          never arrives
//	mute, mute:3  arrives (after 3 ms), but the answer does not
//	no, refused, failed, timedout (:20 …)  is not carried out, with that outcome
//	unconfirmed:20  is carried out, and no replica confirms it
//	behind7:20    … because the counter is 7
//	twice:20      as ok, answered twice
func (n *scripted) next(op driver.Op, plan string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.plans == nil {
		n.plans = map[driver.Op][]string{}
	}
	n.plans[op] = append(n.plans[op], plan)
}

func (n *scripted) Do(batch []*driver.Command) {
	for i, cmd := range batch {
		n.do(cmd, time.Duration(i))
	}
}

var errScripted = errors.New("scripted")

// do does a command, after those before it in its batch.
func (n *scripted) do(cmd *driver.Command, after time.Duration) {
	n.mu.Lock()
	n.got = append(n.got, request{*cmd, time.Now()})
	n.asked(cmd)
	plan := "ok"
	if p := n.plans[cmd.Op]; len(p) > 0 {
		plan, n.plans[cmd.Op] = p[0], p[1:]
	}
	if n.deaf {
		plan = "lost"
	}
	n.mu.Unlock()

	kind, times, _ := strings.Cut(plan, ":")
	there, back := n.trip/2, n.trip-n.trip/2
	if times != "" {
		first, second, _ := strings.Cut(times, "+")
		there, back = millis(first), millis(second)
	}
	there += after
	apply := func() driver.Reply { return n.apply(cmd) }
	switch kind {
	case "lost":
		return
	case "mute":
		time.AfterFunc(there, func() { n.did(cmd, apply()) })
		return
	case "unconfirmed":
		apply = func() driver.Reply { return unconfirmed(n.apply(cmd)) }
	case "behind7":
		apply = func() driver.Reply { return driver.Reply{Outcome: driver.Behind, Token: 7} }
	case "no":
		apply = func() driver.Reply { return driver.Reply{Outcome: driver.Declined} }
	case "refused":
		apply = func() driver.Reply { return driver.Reply{Outcome: driver.Refused, Err: errScripted} }
	case "failed":
		apply = func() driver.Reply { return driver.Reply{Outcome: driver.Failed, Err: errScripted} }
	case "timedout":
		apply = func() driver.Reply { return driver.Reply{Outcome: driver.TimedOut, Err: errScripted} }
	case "now":
		cmd.Done(cmd, n.apply(cmd))
		return
	case "ok", "twice":
	default:
		panic("no such plan: " + plan)
	}
	time.AfterFunc(there, func() {
		reply := apply()
		n.did(cmd, reply)
		time.AfterFunc(back, func() {
			cmd.Done(cmd, reply)
			if kind == "twice" {
				cmd.Done(cmd, reply)
			}
		})
	})
}

// unconfirmed is the reply to a command that no replica has confirmed.
func unconfirmed(reply driver.Reply) driver.Reply {
	if reply.Outcome == driver.Accepted {
		return driver.Reply{Outcome: driver.Failed, Err: &driver.ReplicasError{Asked: 1}}
	}
	return reply
}

// asked and did tell of what a node receives and does.
func (n *scripted) asked(cmd *driver.Command) {
	switch {
	case n.tell == nil:
	case cmd.Conditions != nil && cmd.Conditions.Token != 0:
		n.tell("  %s is sent %v with token %d", n.name, cmd.Op, cmd.Conditions.Token)
	default:
		n.tell("  %s is sent %v", n.name, cmd.Op)
	}
}

func (n *scripted) did(cmd *driver.Command, reply driver.Reply) {
	if n.tell != nil {
		n.tell("  %s does %v: %s", n.name, cmd.Op, reply.Outcome.Of(cmd.Op))
	}
}

func millis(s string) time.Duration {
	if s == "" {
		return 0
	}
	ms, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(err)
	}
	return time.Duration(ms * float64(time.Millisecond))
}

// apply carries the command out.
func (n *scripted) apply(cmd *driver.Command) driver.Reply {
	n.mu.Lock()
	defer n.mu.Unlock()
	return votes.Do(&n.memory, cmd, n.reads())
}

// reads is what the node's clock reads, in milliseconds.
func (n *scripted) reads() int64 { return time.Now().Add(n.ahead).UnixMilli() }

// get is the value of a key; empty if it is not there.
func (n *scripted) get(key string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if k, there := n.memory.Get(key, n.reads()); there {
		return k.Value
	}
	return ""
}

// set has the node keep a value for good.
func (n *scripted) set(key, value string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.memory.Set(key, value, 0)
}

// restart makes the node lose its data and start again.
func (n *scripted) restart() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.starts++
	n.memory = votes.Memory{Run: strconv.Itoa(n.starts), Tell: n.publish}
}

// hold sets a key as another client would, for so long from now.
func (n *scripted) hold(key string, d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.memory.Set(key, "another's", time.Now().Add(n.ahead+d-1).UnixMilli()) // Redis keeps it until its clock reads more
}

// forget makes the node lose its locks.
func (n *scripted) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.memory.Forget(driver.IsLockKey)
}

func (n *scripted) holder(key string) string { return n.get(key) }

func (n *scripted) received(op driver.Op) []request {
	n.mu.Lock()
	defer n.mu.Unlock()
	var rs []request
	for _, r := range n.got {
		if r.Op == op {
			rs = append(rs, r)
		}
	}
	return rs
}

// fakes are nodes for clients that send nothing.
func fakes(n int) []driver.Node {
	nodes := make([]driver.Node, n)
	for i := range n {
		nodes[i] = &scripted{name: fmt.Sprint("node", i)}
	}
	return nodes
}

// matches reports which of the package's errors, and of the context's, err is.
func matches(err error) string {
	var names []string
	for _, m := range []struct {
		name string
		err  error
	}{
		{"NotAcquired", ErrNotAcquired}, {"Taken", ErrTaken}, {"NoQuorum", ErrNoQuorum}, {"TooLate", ErrTooLate}, {"Lost", ErrLost},
		{"Released", ErrReleased}, {"NotPrepared", ErrNotPrepared}, {"TokensUsedUp", ErrTokensUsedUp}, {"Closed", ErrClosed}, {"Invalid", ErrInvalid}, {"Canceled", context.Canceled},
		{"DeadlineExceeded", context.DeadlineExceeded},
	} {
		if errors.Is(err, m.err) {
			names = append(names, m.name)
		}
	}
	return strings.Join(names, " ")
}

func text(err error) string {
	if err == nil {
		return "nil"
	}
	return err.Error()
}
