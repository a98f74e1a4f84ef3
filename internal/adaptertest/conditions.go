//go:build unix

package adaptertest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/redisserver"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
)

const (
	keep  = 90 * time.Second
	other = "0123456789abcdef"
)

// table is a server for conditional commands, with its clock and run id.
type table struct {
	*testing.T
	node driver.Node
	db   *redis.Client
	run  string
}

func newTable(t *testing.T, a Adapter, addr string) *table {
	x := &table{T: t, node: a.node(t, addr, Config{}), db: Admin(t, addr)}
	for line := range strings.Lines(x.db.Info(context.Background(), "server").Val()) {
		if id, ok := strings.CutPrefix(line, "run_id:"); ok {
			x.run = strings.TrimSpace(id)
		}
	}
	if x.run == "" {
		t.Fatal("no run id")
	}
	return x
}

// set makes the keys of "a=mine:20s #a=5 guard=this,-11s,10s": #a is the counter of a, and the guard's record has the
// run id, since when it holds, counted from now, or 0, and the largest TTL.
func (x *table) set(state string) {
	x.Helper()
	ctx := context.Background()
	var locks []string
	var rest [][2]string
	for _, field := range strings.Fields(state) {
		name, value, _ := strings.Cut(field, "=")
		switch {
		case name == "guard" && value == "nonsense":
			rest = append(rest, [2]string{driver.GuardKey, value})
		case name == "guard":
			p := strings.Split(value, ",")
			run, since := map[string]string{"this": x.run, "other": other}[p[0]], "0"
			if p[1] != "0" {
				since = strconv.FormatInt(x.now().Add(x.duration(p[1])).UnixMilli(), 10)
			}
			rest = append(rest, [2]string{driver.GuardKey, fmt.Sprintf("%s %s %d", run, since, x.duration(p[2]).Milliseconds())})
		case name[0] == '#':
			rest = append(rest, [2]string{driver.TokenKey(name[1:]), value})
		default:
			locks = append(locks, field)
		}
	}
	setState(x.T, x.db, strings.Join(locks, " "))
	for _, kv := range rest {
		if err := x.db.Set(ctx, kv[0], kv[1], 0).Err(); err != nil {
			x.Fatal(err)
		}
	}
}

// get writes the keys as set reads them, with the ttl of a counter that has one, and "now" for a time within 5 s of now.
func (x *table) get() string {
	ctx := context.Background()
	var rest []string
	for _, key := range x.db.Keys(ctx, "redlock:*").Val() {
		value, ttl := x.db.Get(ctx, key).Val(), x.db.PTTL(ctx, key).Val()
		if name, ok := strings.CutPrefix(key, driver.TokenKey("")); ok {
			if ttl > keep-5*time.Second && ttl <= keep {
				value += ":keep"
			}
			rest = append(rest, "#"+name+"="+value)
		} else if p := strings.Fields(value); len(p) == 3 && ttl < 0 {
			run := map[string]string{x.run: "this", other: "other"}[p[0]]
			ms, _ := strconv.ParseInt(p[1], 10, 64)
			max, _ := strconv.ParseInt(p[2], 10, 64)
			since := "0"
			if ms != 0 {
				if since = "now"; time.UnixMilli(ms).Sub(x.now()).Abs() > 5*time.Second {
					since = time.UnixMilli(ms).Sub(x.now()).Round(5 * time.Second).String()
				}
			}
			rest = append(rest, fmt.Sprintf("guard=%s,%s,%v", run, since, time.Duration(max)*time.Millisecond))
		} else {
			rest = append(rest, "guard="+value)
		}
		x.db.Del(ctx, key)
	}
	slices.Sort(rest)
	return strings.Join(slices.DeleteFunc(append([]string{getState(x.T, x.db)}, rest...), func(s string) bool { return s == "" }), " ")
}

func (x *table) now() time.Time { return x.db.Time(context.Background()).Val() }

func (x *table) duration(s string) time.Duration {
	x.Helper()
	d, err := time.ParseDuration(s)
	if err != nil {
		x.Fatal(err)
	}
	return d
}

// command reads "acquire a b token=5 max=10s watched" and "prepare max=10s run=this".
func (x *table) command(text string) *driver.Command {
	x.Helper()
	q := &driver.Conditions{}
	var words []string
	for _, word := range strings.Fields(text) {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "token":
			q.Token, _ = strconv.ParseInt(value, 10, 64)
			q.CounterTTL = keep
		case "max":
			q.MaxTTL = x.duration(value)
		case "watched":
			q.Watched = x.db.Get(context.Background(), driver.GuardKey).Val()
		case "stale":
			q.Watched = fmt.Sprintf("%s %d 10000", x.run, time.Now().Add(-time.Hour).UnixMilli())
		case "run":
			q.Watched = map[string]string{"this": x.run, "other": other}[value]
		default:
			words = append(words, word)
		}
	}
	c := &driver.Command{Op: driver.OpPrepare, Keys: []string{driver.GuardKey}, Value: mine, Deadline: time.Now().Add(Patience)}
	if words[0] != "prepare" {
		c = Command(x.T, strings.Join(words, " "), TTL)
	}
	if *q != (driver.Conditions{}) || c.Op == driver.OpPrepare {
		c.Conditions = q
	}
	return c
}

var conditions = []effect{
	// Fencing.
	{"acquire a token=1", "", driver.Accepted, 0, "a=mine:30s #a=1:keep"},
	{"acquire a token=6", "#a=5", driver.Accepted, 0, "a=mine:30s #a=6:keep"},
	{"acquire a token=5", "#a=5", driver.Behind, 5, "#a=5"},
	{"acquire a token=5", "#a=7 #b=9", driver.Behind, 7, "#a=7 #b=9"},
	{"acquire a token=10", "#a=9", driver.Accepted, 0, "a=mine:30s #a=10:keep"},
	{"acquire a token=9007199254740991", "#a=9007199254740990", driver.Accepted, 0, "a=mine:30s #a=9007199254740991:keep"},
	{"acquire a token=9007199254740990", "#a=9007199254740991", driver.Behind, 9007199254740991, "#a=9007199254740991"},
	{"acquire a token=6", "a=theirs:20s #a=5", driver.Declined, 5, "a=theirs:20s #a=5"},
	{"acquire a token=5", "a=theirs:20s #a=5", driver.Declined, 5, "a=theirs:20s #a=5"},
	{"acquire a token=5", "a=theirs:forever", driver.Declined, 0, "a=theirs:forever"},
	{"acquire a token=5", "a=list #a=2", driver.Declined, 2, "a=list #a=2"},
	{"acquire a token=5", "#a=x", driver.Failed, 0, "#a=x"},
	// The second token of an attempt, which finds its own key.
	{"acquire a token=6", "a=mine:20s #a=5", driver.Accepted, 0, "a=mine:30s #a=6:keep"},
	{"acquire a token=6", "a=mine:50s #a=5", driver.Accepted, 0, "a=mine:50s #a=6:keep"},
	{"acquire a token=6", "a=mine:forever", driver.Accepted, 0, "a=mine:30s #a=6:keep"},
	{"acquire a token=5", "a=mine:20s #a=6", driver.Behind, 6, "a=mine:20s #a=6"},
	{"acquire a b token=6", "a=mine:50s b=mine:20s #a=5", driver.Accepted, 0, "a=mine:50s b=mine:30s #a=6:keep #b=6:keep"},
	// Several keys: all or nothing.
	{"acquire a b token=6", "#a=5", driver.Accepted, 0, "a=mine:30s b=mine:30s #a=6:keep #b=6:keep"},
	{"acquire a b token=6", "#a=5 #b=6", driver.Behind, 6, "#a=5 #b=6"},
	{"acquire a b token=6", "#a=8 #b=6", driver.Behind, 8, "#a=8 #b=6"},
	{"acquire a b token=6", "b=theirs:20s #a=5", driver.Declined, 5, "b=theirs:20s #a=5"},
	{"acquire a b token=6", "a=mine:20s b=theirs:20s #a=5", driver.Declined, 5, "a=mine:20s b=theirs:20s #a=5"},

	// The guard.
	{"acquire a max=10s", "guard=this,0,10s", driver.Accepted, 0, "a=mine:30s guard=this,0,10s"},
	{"acquire a b max=10s", "guard=this,0,10s", driver.Accepted, 0, "a=mine:30s b=mine:30s guard=this,0,10s"},
	{"acquire a max=10s", "a=theirs:20s guard=this,0,10s", driver.Declined, 0, "a=theirs:20s guard=this,0,10s"},
	{"acquire a max=10s", "a=mine:20s guard=this,0,10s", driver.Declined, 0, "a=mine:20s guard=this,0,10s"},
	{"acquire a max=10s", "", driver.Quarantined, 0, "guard=this,now,10s"},
	{"acquire a max=10s", "a=theirs:20s", driver.Quarantined, 0, "a=theirs:20s guard=this,now,10s"},
	{"acquire a max=10s", "guard=other,0,10s", driver.Quarantined, 0, "guard=this,now,10s"},
	{"acquire a max=10s watched", "guard=other,-30s,10s", driver.Quarantined, 0, "guard=this,now,10s"},
	{"acquire a max=10s watched", "guard=this,-1s,10s", driver.Quarantined, 0, "guard=this,now,10s"},
	{"acquire a max=20s watched", "guard=this,-17s,20s", driver.Quarantined, 0, "guard=this,-15s,20s"},
	{"acquire a max=10s", "guard=this,-30s,10s", driver.Quarantined, 0, "guard=this,-30s,10s"},
	{"acquire a max=10s stale", "guard=this,-30s,10s", driver.Quarantined, 0, "guard=this,-30s,10s"},
	{"acquire a max=10s watched", "guard=this,-11s,10s", driver.Accepted, 0, "a=mine:30s guard=this,0,10s"},
	{"acquire a max=10s watched", "a=theirs:20s guard=this,-11s,10s", driver.Declined, 0, "a=theirs:20s guard=this,0,10s"},
	{"acquire a max=10s watched", "guard=this,30s,10s", driver.Quarantined, 0, "guard=this,30s,10s"}, // its clock stepped back
	{"acquire a max=20s", "guard=this,0,10s", driver.Failed, 0, "guard=this,0,10s"},
	{"acquire a max=20s watched", "guard=this,-30s,10s", driver.Failed, 0, "guard=this,-30s,10s"},
	{"acquire a max=20s", "guard=other,0,10s", driver.Failed, 0, "guard=other,0,10s"},
	{"acquire a max=10s", "guard=nonsense", driver.Failed, 0, "guard=nonsense"},

	// Both.
	{"acquire a token=6 max=10s", "#a=5 guard=this,0,10s", driver.Accepted, 0, "a=mine:30s #a=6:keep guard=this,0,10s"},
	{"acquire a b token=6 max=10s", "#a=5 guard=this,0,10s", driver.Accepted, 0, "a=mine:30s b=mine:30s #a=6:keep #b=6:keep guard=this,0,10s"},
	{"acquire a token=5 max=10s", "#a=5 guard=this,0,10s", driver.Behind, 5, "#a=5 guard=this,0,10s"},
	{"acquire a token=6 max=10s", "#a=5", driver.Quarantined, 0, "#a=5 guard=this,now,10s"},

	// Preparing.
	{"prepare max=10s run=this", "", driver.Accepted, 0, "guard=this,0,10s"},
	{"prepare max=10s run=this", "guard=this,-1s,20s", driver.Accepted, 0, "guard=this,0,10s"},
	{"prepare max=10s run=other", "guard=other,0,20s", driver.Declined, 0, "guard=other,0,20s"},
	{"prepare max=10s", "", driver.Declined, 0, ""},
}

// What acquires under conditions do to a server, by themselves and together.
func conditionsOfVotes(t *testing.T, a Adapter) {
	for _, server := range servers {
		t.Run(server.name, func(t *testing.T) {
			x := newTable(t, a, server.start(t))
			x.all(conditions)
			// In one batch behind another acquire under the guard, they are put to one vote.
			for _, test := range conditions {
				x.set(test.before)
				c := x.command(test.command)
				if c.Op != driver.OpAcquire || c.Conditions.MaxTTL == 0 {
					x.get()
					continue
				}
				first := x.command(fmt.Sprintf("acquire z max=%v", c.Conditions.MaxTTL))
				reply := Do(t, x.node, first, c)[1]
				x.db.Del(context.Background(), "z")
				x.check(test, c, reply, "together, "+test.command)
			}
			x.set("guard=this,0,10s")
			got := Do(t, x.node, x.command("acquire a max=20s"))[0].Err
			if want := (&driver.MaxTTLError{Node: 10 * time.Second, Client: 20 * time.Second}); got == nil || got.Error() != want.Error() {
				t.Errorf("error %v, want %v", got, want)
			}
			x.set("guard=nonsense")
			if got := Do(t, x.node, x.command("acquire a max=20s"))[0].Err; got == nil || !strings.HasSuffix(got.Error(), "redlock: redlock:guard is not a record of the restart guard") {
				t.Errorf("error %v", got)
			}
		})
	}
}

// all runs commands by themselves.
func (x *table) all(tests []effect) {
	for _, test := range tests {
		x.set(test.before)
		c := x.command(test.command)
		x.check(test, c, Do(x.T, x.node, c)[0], test.command)
	}
}

// check compares the reply to a command, and what it left, with what is wanted.
func (x *table) check(test effect, c *driver.Command, reply driver.Reply, what string) {
	x.Helper()
	record := x.db.Get(context.Background(), driver.GuardKey).Val()
	after := x.get()
	if reply.Outcome != test.want || reply.Token != test.token || after != test.after {
		x.Errorf("%s, with %q: got %v, token %d (%v), leaving %q; want %v, token %d, leaving %q",
			what, test.before, reply.Outcome, reply.Token, reply.Err, after, test.want, test.token, test.after)
	}
	if hasErr := reply.Err != nil; hasErr != (test.want == driver.Failed) {
		x.Errorf("%s, with %q: error %v", what, test.before, reply.Err)
	}
	switch {
	case c.Op == driver.OpPrepare:
		record = x.run
	case test.want != driver.Quarantined:
		record = ""
	}
	if reply.Record != record {
		x.Errorf("%s, with %q: record %q, want %q", what, test.before, reply.Record, record)
	}
}

// An acquire with conditions is one round trip.
func conditionalRounds(t *testing.T, a Adapter) {
	addr := servers[0].start(t)
	x, sent := newTable(t, a, addr), &Rounds{}
	x.node = a.node(t, addr, Config{Dial: sent.Dial})
	for i, want := range []string{"eval", "evalsha", "eval", "evalsha"} {
		x.set("guard=this,0,10s")
		text := "acquire a token=1 max=10s"
		if i >= 2 {
			text = "prepare max=10s run=this"
		}
		Do(t, x.node, x.command(text))
		if got := strings.Join(sent.Take(), "; "); got != want {
			t.Errorf("%d: sent %s, want %s", i, got, want)
		}
	}
	x.set("guard=this,0,10s")
	Do(t, x.node, x.command("acquire a max=10s"), x.command("acquire c token=1"), x.command("acquire b max=10s"))
	if got, want := strings.Join(sent.Take(), "; "), "eval | evalsha"; got != want {
		t.Errorf("two votes and a token: sent %s, want %s", got, want)
	}
	x.db.ScriptFlush(context.Background())
	x.set("b=theirs:20s guard=this,0,10s")
	replies := Do(t, x.node, x.command("acquire a max=10s"), x.command("acquire b max=10s"), x.command("acquire c max=10s"))
	if got, want := strings.Join(sent.Take(), "; "), "evalsha; eval"; got != want {
		t.Errorf("three votes after a flush: sent %s, want %s", got, want)
	}
	for i, want := range []driver.Outcome{driver.Accepted, driver.Declined, driver.Accepted} {
		if replies[i].Outcome != want {
			t.Errorf("vote %d: %v, want %v", i, replies[i].Outcome, want)
		}
	}
}

// What a server must not answer.
func strangeReplies(t *testing.T, a Adapter) {
	for text, want := range map[string]string{
		"+OK":                  "acquire was answered with OK",
		":1":                   "acquire was answered with 1",
		"*1\r\n:1":             "acquire was answered with [1]",
		"*2\r\n:1\r\n$1\r\n1":  "acquire was answered with [1 1]",
		"*2\r\n:2\r\n:1":       "acquire was answered with [2 1]",
		"*2\r\n$1\r\n1\r\n:1":  "acquire was answered with [1 1]",
		"*2\r\n:-2\r\n:1":      "acquire was answered with [-2 1]",
		"*3\r\n:0\r\n:1\r\n:1": "acquire was answered with [0 1 1]",
	} {
		node := a.node(t, Stub(t, false, text), Config{})
		c := Command(t, "acquire a", TTL)
		c.Conditions = &driver.Conditions{Token: 1, CounterTTL: keep}
		if r := Do(t, node, c)[0]; r.Outcome != driver.Failed || r.Err == nil || !strings.HasSuffix(r.Err.Error(), ": "+want) {
			t.Errorf("%q: %v, %v", text, r.Outcome, r.Err)
		}
	}
}

// A real server that restarts empty, becomes a replica, and is promoted.
func guardOnRealServer(t *testing.T, a Adapter) {
	for name, args := range map[string][]string{"empty": nil, "with what it had": {"--appendonly", "yes", "--appendfsync", "always"}} {
		t.Run(name, func(t *testing.T) {
			server := redisserver.Start(t, args...)
			const max = 400 * time.Millisecond
			client := a.one(t, server.Addr, Config{}, redlock.WithRestartGuard(redlock.Guard{MaxTTL: max}), redlock.WithFencing(redlock.Fencing{}),
				redlock.WithRetryDelay(10*time.Millisecond, 20*time.Millisecond))
			ctx, quarantined := context.Background(), "("+server.Addr+" in quarantine)"
			expect := func(when, want string) {
				t.Helper()
				lease, err := client.TryLock(ctx, "r", max)
				switch {
				case err == nil:
					_ = lease.Unlock(ctx)
				case want == "" || !strings.Contains(err.Error(), want):
				default:
					return
				}
				if err != nil || want != "" {
					t.Errorf("%s: %v, want %q", when, err, want)
				}
			}
			expect("at first", quarantined)
			if err := client.PrepareGuard(ctx); err != nil {
				t.Fatal(err)
			}
			expect("prepared", "")
			server.Kill()
			server.Restart()
			expect("after a restart", quarantined)
			start := time.Now()
			bounded, cancel := context.WithTimeout(ctx, Patience)
			defer cancel()
			if _, err := client.Lock(bounded, "other", max); err != nil || time.Since(start) < max-50*time.Millisecond {
				t.Errorf("%v after %v", err, time.Since(start))
			}
			expect("after quarantine", "")

			admin := Admin(t, server.Addr)
			if err := admin.Do(ctx, "replicaof", "127.0.0.1", "1").Err(); err != nil {
				t.Fatal(err)
			}
			expect("as a replica", "READONLY")
			if err := client.PrepareGuard(ctx); err == nil || !strings.Contains(err.Error(), "READONLY") {
				t.Errorf("preparing a replica: %v", err)
			}
			admin.Do(ctx, "replicaof", "no", "one")
			admin.FlushAll(ctx)
			expect("emptied", quarantined)
		})
	}
}
