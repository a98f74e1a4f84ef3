package redlock

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// The decisions of the library as transcripts: what a client does, and what it and the nodes make of it, by a virtual clock
// that begins at 0. testdata/README.txt describes the commands. After a change, -rewrite writes what comes out now, to be
// judged as a diff.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) (out string) {
				synctest.Test(t, func(t *testing.T) { out = newTranscript(t, d).run() })
				return out
			})
		})
	}
}

// transcript is one block of a file.
type transcript struct {
	*world
	d       *datadriven.TestData
	watched []string // nodes whose messages are shown
	all     bool     // every step is shown
	slow    string   // the step at which the observer holds the client up, for 20 ms
	length  time.Duration
	options []Option
	clients map[string]*Client
	leases  map[string]*Lease // by client
	calls   sync.WaitGroup
}

func newTranscript(t *testing.T, d *datadriven.TestData) *transcript {
	x := &transcript{d: d, length: millis("100"), clients: map[string]*Client{}, leases: map[string]*Lease{}}
	n := 5
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "nodes":
			arg.Scan(t, 0, &n)
		case "watch":
			x.watched = arg.Vals
		case "all":
			x.all = true
		case "slow":
			x.slow = arg.Vals[0]
		case "for":
			x.length = x.duration(arg.Vals[0])
		case "fencing":
			x.options = append(x.options, fenced)
		case "guard":
			x.options = append(x.options, guarded)
		case "trusting-guard":
			x.options = append(x.options, WithRestartGuard(Guard{MaxTTL: time.Second, TrustNodeClock: true}))
		case "wake-up":
			x.options = append(x.options, WithWakeUp(10*time.Millisecond))
		case "retry-delay":
			x.options = append(x.options, WithRetryDelay(x.duration(arg.Vals[0]), x.duration(arg.Vals[0])))
		default:
			d.Fatalf(t, "no such setting: %s", arg.Key)
		}
	}
	x.world = newWorld(t, n, append(slices.Clone(x.options), WithObserver(x))...)
	for _, n := range x.nodes {
		if slices.Contains(x.watched, n.name) {
			n.tell = x.say
		}
	}
	return x
}

// Observe shows the steps of the client, and of the nodes' answers those of watched nodes.
func (x *transcript) Observe(ctx context.Context, e observe.Event) {
	if x.shows(e) {
		if e.Step == observe.GaveUp {
			e.Err = nil // which has been shown
		}
		x.world.Observe(ctx, e)
	}
	if e.Step.String() == x.slow {
		time.Sleep(millis("20"))
	}
}

// shows says whether a step is shown: without all, those that lead to a grant or a denial are not.
func (x *transcript) shows(e observe.Event) bool {
	switch e.Step {
	case observe.NodeAnswered:
		return x.all || slices.Contains(x.watched, e.Node.Node)
	case observe.QuorumReached, observe.QuorumLost, observe.ValidityComputed:
		return x.all
	}
	return true
}

// run does what the block says, and gives the transcript up to a while after its last command.
func (x *transcript) run() string {
	if x.d.Cmd != "run" {
		x.d.Fatalf(x.T, "no such command: %s", x.d.Cmd)
	}
	for line := range strings.Lines(x.d.Input) {
		if words := strings.Fields(line); len(words) > 0 {
			x.line(words)
		}
	}
	x.atTime(x.at() + x.length)
	x.mu.Lock()
	var out strings.Builder
	for _, l := range x.lines {
		at, what, _ := strings.Cut(l, " ")
		fmt.Fprintf(&out, "%-8s%s\n", at, strings.TrimSpace(what))
	}
	x.mu.Unlock()
	time.Sleep(time.Hour) // what is still under way is over
	x.calls.Wait()
	return out.String()
}

// line is the answers to the next commands of an operation, or the time of a command and the command.
func (x *transcript) line(words []string) {
	for op := driver.OpAcquire; op <= driver.OpPrepare; op++ {
		if op.String() == words[0] {
			for _, answer := range words[1:] {
				node, plan, _ := strings.Cut(answer, "=")
				x.named(node).next(op, planOf(plan))
			}
			return
		}
	}
	x.atTime(x.duration(words[0]))
	if words[1] != "show" {
		x.say("> %s", strings.Join(words[1:], " "))
	}
	x.calls.Go(func() { x.do(words[1], words[2:]) })
	synctest.Wait()
}

// planOf is an answer of a transcript in the words of scripted.next: 3ms, 3ms+17ms, no:3ms.
func planOf(answer string) string {
	answer = strings.ReplaceAll(answer, "ms", "")
	if answer != "" && answer[0] >= '0' && answer[0] <= '9' {
		return "ok:" + answer
	}
	return answer
}

// do carries a command out. The calls of a client may be followed by its name.
func (x *transcript) do(command string, words []string) {
	ctx, ttl, who := x.Context(), time.Second, ""
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "ttl":
			ttl = x.duration(value)
		case "within":
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, x.duration(value))
			defer cancel()
		case "by":
			who = value
		}
	}
	switch command {
	case "try":
		x.granted(who, "try", func(c *Client) (*Lease, error) { return c.TryLock(ctx, "r", ttl) })
	case "lock":
		x.granted(who, "lock", func(c *Client) (*Lease, error) { return c.Lock(ctx, "r", ttl) })
	case "unlock":
		x.result(who, "unlock", x.leases[who].Unlock(ctx))
	case "extend":
		x.result(who, "extend", x.leases[who].Extend(ctx, ttl))
	case "close":
		x.result(who, "close", x.client(who).Close(ctx))
	case "prepare":
		x.result(who, "prepare", x.client(who).PrepareGuard(ctx))
	case "show":
		x.show(words)
	default:
		x.befall(command, words)
	}
}

// befall has something happen to nodes.
func (x *transcript) befall(what string, words []string) {
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		n := x.named(name)
		switch what {
		case "restart":
			n.restart()
		case "forget":
			n.forget()
		case "empty":
			n.forget()
			n.mu.Lock()
			n.memory.Delete(driver.GuardKey)
			n.mu.Unlock()
		case "silence":
			x.silence(n)
		case "step":
			n.mu.Lock()
			n.ahead += x.duration(value)
			n.mu.Unlock()
		case "taken":
			n.hold("r", time.Minute)
		case "counter":
			to, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				x.d.Fatalf(x.T, "%v", err)
			}
			n.counter("r", to)
		case "mumble":
			n.mumbles = true
		default:
			x.d.Fatalf(x.T, "no such command: %s", what)
		}
	}
}

// show says what the nodes keep.
func (x *transcript) show(what []string) {
	for _, w := range what {
		w, node, _ := strings.Cut(w, "=")
		switch w {
		case "keys":
			x.say("r is on %q", x.holders("r"))
		case "counters":
			x.say("the counters are %s", x.counters("r"))
		case "records":
			for _, n := range x.nodes {
				x.say("%s %s", n.name, x.recordOf(n))
			}
		case "commands":
			x.commands(node)
		case "rounds":
			x.say("sent acquires %s, releases %s", x.sent(driver.OpAcquire), x.sent(driver.OpRelease))
		default:
			x.d.Fatalf(x.T, "nothing to show: %s", w)
		}
	}
}

// recordOf is the restart guard's record on a node.
func (x *transcript) recordOf(n *scripted) string {
	fields := strings.Fields(n.record())
	switch {
	case len(fields) == 0:
		return "has no record"
	case fields[1] == "0":
		return "votes in run" + fields[0]
	}
	since, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("is in quarantine in run%s since %v", fields[0], time.UnixMilli(since).Sub(x.began))
}

// commands shows what a node was sent. Values are numbered as they come.
func (x *transcript) commands(node string) {
	number := map[string]int{}
	for _, c := range x.named(node).got {
		if number[c.Value] == 0 {
			number[c.Value] = len(number) + 1
		}
		var token int64
		if c.Conditions != nil {
			token = c.Conditions.Token
		}
		x.say("%s was sent %v: value %d, round %d, TTL %v, token %d, deadline %v", node, c.Op, number[c.Value], c.Round, c.TTL, token, c.Deadline.Sub(x.began))
	}
}

func (x *transcript) granted(who, what string, call func(*Client) (*Lease, error)) {
	lease, err := call(x.client(who))
	if err == nil {
		x.leases[who] = lease
	}
	switch {
	case who == "":
		return
	case err != nil:
		x.result(who, what, err)
		return
	}
	if token, ok := lease.Token(); ok {
		what += fmt.Sprintf(", token %d", token)
	}
	x.say("%s: granted until %v by %s", who, lease.Until().Sub(x.began), what)
}

// result shows how a call ended. The observer has shown what the client without a name was granted, and why it was denied.
func (x *transcript) result(who, what string, err error) {
	if who != "" {
		what = who + ": " + what
	}
	if err == nil {
		x.say("%s: done", what)
		return
	}
	x.say("%s: %v", what, err)
}

// client is the one that is observed, which has no name, or another one.
func (x *transcript) client(who string) *Client {
	if who == "" {
		return x.Client
	}
	if x.clients[who] == nil {
		x.clients[who] = x.another(x.options...)
	}
	return x.clients[who]
}

func (x *transcript) named(node string) *scripted {
	i := slices.IndexFunc(x.nodes, func(n *scripted) bool { return n.name == node })
	if i < 0 {
		x.d.Fatalf(x.T, "no node %q", node)
	}
	return x.nodes[i]
}

func (x *transcript) duration(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", x.d.Pos, err))
	}
	return d
}
