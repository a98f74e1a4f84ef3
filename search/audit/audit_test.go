package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"redlocksim/internal/strictyaml"
)

func parse(t *testing.T, text string) *Answers {
	t.Helper()
	a, err := Parse("ours.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func of(t *testing.T, text string) *Audit {
	t.Helper()
	out, err := Of(t.Context(), parse(t, text), Options{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

func (a *Audit) line(name string) *Assumption {
	i := slices.IndexFunc(a.Assumptions, func(x Assumption) bool { return x.Name == name })
	if i < 0 {
		return nil
	}
	return &a.Assumptions[i]
}

// lineOf is a line of an audit, with its fixes, without the other lines'; nil if nobody asks about it.
func lineOf(t *testing.T, text, name string) *Assumption {
	t.Helper()
	all := judged(t, parse(t, text), name, true)
	if x := &all[len(all)-1]; x.Name == name {
		return x
	}
	return nil
}

// In a network that takes no time the limits are those of the formulas. redsync has a drift allowance of 1 % of the TTL, 80 ms,
// and nothing else. So clocks may be off by ρ with (1−ρ)/(1+ρ) = 0.99, which is 0.5025 %, and a step may be as long as the
// allowance, less Redis' own millisecond, which it keeps a key for beyond its time.
func TestLimits(t *testing.T) {
	t.Parallel()
	const instant = "library: redsync\nttl: 8s\nrtt: 0s\nclock-error: 0%\n"
	for _, c := range []struct {
		answers, line string
		verdict       Verdict
		limit, fix    string
	}{
		{"", "lost messages", Safe, "any", ""},
		{"", "clock error", Safe, "0.5025%", ""},
		{"clock-error: 1%", "clock error", Unsafe, "0.5025%", "1.9802% of the TTL at least (lock.drift.factor, WithDriftFactor); or keep clocks within 0.5025%"},
		{"", "clock step", Safe, "80ms", ""},
		{"clock-step: 81ms", "clock step", Unsafe, "80ms", "1.0125% of the TTL"},
		{"library: single\nnodes: 1\nclock-error: 3%", "clock error", Unsafe, "0%", "such as library: redlock with a constant of"},
		// How long a node must stay away does not rest on how slow messages are, and is rounded up: 7.92 s / 0.9995 is 7.92396
		// s.
		{"rtt: 200ms\nlock: {node-timeout: 500ms}\nrestart-delay: 7720ms", "killed process", Unsafe, "7.92s", "down for 7.92s at least, counted from the moment it stopped"},
		{"clock-error: 500ppm\nrestart-delay: 7923ms", "killed process", Unsafe, "7.924s", "a little more than the longest TTL"},
		{"clock-error: 500ppm\nrestart-delay: 7924ms", "killed process", Safe, "7.924s", ""},
		// Slow clocks, which break this lock by themselves: 8 s / 0.9995.
		{"library: single\nnodes: 1\nclock-error: 500ppm\nrestart-delay: 8s", "killed process", Unsafe, "8.005s", "down for 8.005s at least"},
		{"library: redlock\nfencing: true\nrestart-delay: 20s\nbudget: {counter-loss: 2}", "killed process", Safe, "7.918s", ""},
		{"library: redlock\nfencing: true\nrestart-delay: 20s\nlock: {quorum: 4}\nbudget: {counter-loss: 1}", "fencing tokens", Safe, "2", ""},
		{"restart-delay: 7919ms", "killed process", Unsafe, "7.92s", "everysec (persistence: everysec); or keep a node down for 7.92s at least"},
		{"restart-delay: 7920ms", "killed process", Safe, "7.92s", ""},
		{"restart-delay: 0s\npersistence: everysec", "killed process", Safe, "any", ""},
		{"restart-delay: 7919ms\npersistence: snapshots\npower-loss: false", "killed process", Unsafe, "7.92s", "everysec (persistence: everysec); or keep a node down for 7.92s at least"},
		{"restart-delay: 5s\npersistence: snapshots", "power loss", Unsafe, "7.92s", "appendfsync always"},
		{"restart-delay: 5s\npersistence: everysec", "power loss", Unsafe, "7.92s", "recommends; or have nodes write to disk: appendfsync always"},
		{"restart-delay: 5s\npersistence: always", "power loss", Safe, "any", ""},
		{"pause: 81ms", "pause", Unsafe, "80ms", "stop writing 1ms before"},
		{"pause: 80ms", "pause", Safe, "80ms", ""},
		{"failover: true", "failover", Unsafe, "0", "let no replica take over"},
		{"nodes: 1\nfailover: true", "failover", Unsafe, "0", "let no replica take over"},
		{"nodes: {names: [A, B, C, D, E], replicas: {E: [F]}}\nfailover: true", "failover", Unsafe, "0", "let no replica take over"},
		// One is not enough, and there are no more.
		{"nodes: {names: [A, B, C, D, E], replicas: {E: [F]}}\nfailover: true\nlock: {quorum: 4}", "failover", Safe, "any", ""},
		{"library: redlock-cpp", "lost messages", Unsafe, "none", "library: redlock"},
		{"library: redlock-cpp\nnodes: 2", "lost messages", Unsafe, "none", "library: redlock"},
		{"library: redisson", "lost messages", Unsafe, "none", "have no watchdog"},
		{"library: redisson", "clock error", NotTested, "", ""},
		{"library: redis-distlock", "late extension", Unsafe, "none", "library: redlock"},
		{"library: node-redlock", "late extension", Safe, "any", ""},
		{"library: redlock-plain\nlock: {extending: any-node}", "lost extension", Unsafe, "none", "lock.extending: quorum"},
		{"library: redlock\nrenews: true", "lost extension", Safe, "any", ""},
		{"library: redlock\nrenews: true", "second lock", Safe, "any", ""},
		{"library: redlock", "rounding", Safe, "any", ""},
		{"library: single\nlock: {release: del}", "late release", Unsafe, "none", "lock.release: cad"},
		{"library: redlock-plain\nlock: {release: del}", "late release", Unsafe, "none", "lock.release: cad"},
		{"library: single\nlock: {release: get-del}", "late release", Safe, "any", ""},
		{"library: single\nlock: {release: get-del}", "between commands", Unsafe, "none", "lock.release: cad"},
		{"library: get-set", "late release", Safe, "any", ""},
		{"library: redisson", "late release", NotTested, "", ""},     // messages that are lost break it by themselves
		{"library: phpredis-mutex", "late release", Safe, "any", ""}, // a quarter of its TTL is allowance
		{"library: get-set", "lost messages", Safe, "any", ""},
		{"library: get-set", "between commands", Unsafe, "none", "library: redlock"},
		{"library: setnx-expire", "crash", Unsafe, "none", "library: redlock"},
		{"library: single", "crash", Safe, "any", ""},
		{"library: single\nrtt: 200ms\nlock: {node-timeout: 60ms}", "crash", NotTested, "", ""}, // nobody is granted it anyway
		{"library: redlock\nlock: {guard: {max-ttl: 8s}}", "crash", Safe, "any", ""},
		// What nodes that do not answer do to its grants makes no difference: others can hold them.
		{"library: redlock-py\nfailover: true", "failover", Unsafe, "0", "let no replica take over"},
		// Without an allowance for drift clocks must be exact, or messages must take longer than the error.
		{"library: single\nclock-error: 0.01%", "clock error", Unsafe, "0%", "library: redlock"},
		// Nodes forget nothing when they stop, and lose their locks to an eviction all the same, which no restart guard
		// notices.
		{"library: redlock\npersistence: everysec\npower-loss: false\nbudget: {memory-loss: 1}", "lost memory", Unsafe, "0", "require 4 votes"},
		{"library: redlock\npersistence: always\nbudget: {memory-loss: 1}", "lost memory", Unsafe, "0", "require 4 votes"},
		{"library: redlock\nlock: {guard: {max-ttl: 8s}}\nbudget: {memory-loss: 1}", "lost memory", Unsafe, "0", "require 4 votes"},
		{"persistence: always\nlock: {quorum: 4}\nbudget: {memory-loss: 2}", "lost memory", Safe, "2", ""},
		{"library: single\nnodes: 1\npersistence: always\nbudget: {memory-loss: 1}", "lost memory", Unsafe, "0", "noeviction"},
		{"library: redlock\npersistence: everysec\nbudget: {memory-loss: 1}", "lost memory", Unsafe, "0", "require 4 votes"},
		// Every quorum of five must share a node with every other that never forgot a counter: 2q − 5 − 1 may.
		{"library: redlock\nfencing: true", "fencing tokens", Unsafe, "0", "appendfsync always"},
		{"library: redlock\nfencing: true\npower-loss: false", "fencing tokens", Unsafe, "0", "appendfsync everysec"},
		{"library: redlock\nfencing: true\nlock: {quorum: 4}", "fencing tokens", Unsafe, "2", "appendfsync always"},
		{"library: redlock\nfencing: true\npersistence: always", "fencing tokens", Safe, "0", ""},
		{"library: redlock\nfencing: true\npersistence: always\nbudget: {counter-loss: 1}", "fencing tokens", Unsafe, "0", "require 4 votes"},
		// A replica that takes over can lack any counter, whatever is on its disk.
		{"library: redlock\nfencing: true\npersistence: always\nfailover: true", "fencing tokens", Unsafe, "0", "let no replica take over"},
		// Each is one that the quorum bears, and both together are not.
		{"lock: {quorum: 4}\nbudget: {memory-loss: 2}\nfailover: true", "lost memory", Safe, "2", ""},
		{"lock: {quorum: 4}\nbudget: {memory-loss: 2}\nfailover: true", "failover", Unsafe, "2", "let no replica take over"},
		// A guard that trusts the node's clock lets it be stepped to the end of the quarantine.
		{"library: redlock\nclock-step: 50ms\nlock: {guard: {max-ttl: 8s}}", "killed process", Safe, "any", ""},
		{"library: redlock\nclock-step: 50ms\nlock: {guard: {max-ttl: 8s, trust-node-clock: true}}", "killed process", Unsafe, "7.918s", "turn on the restart guard"},
		{"work: 7919ms", "work", Safe, "7.919s", ""}, // at 7.92 s the lease is over
		{"work: 7920ms", "work", Unsafe, "7.919s", "renew the lock while the work goes on (renews: true, Mutex.Extend); or lock for 8.001s at least"},
		// The library ends the context of a lease a twentieth of the TTL early, and subtracts 1 % and 2 ms: 0.94 × 10.003 s
		// less 2 ms is more than 9.4 s, and with a millisecond less it is less.
		{"library: redlock\nwork: 9400ms", "work", Unsafe, "7.517s", "(renews: true, Client.Hold); or lock for 10.003s at least"},
		{"rtt: 400ms", "node timeout", Unsafe, "399ms", "for 401ms at least"},
		{"library: redlock\nbudget: {memory-loss: 1}", "lost memory", Unsafe, "0", "require 4 votes"},
		{"budget: {suspend: 81ms}", "suspension", Unsafe, "80ms", "suspend no machine of a client for more than 80ms"},
	} {
		text := instant
		for _, l := range strings.Split(c.answers, "\n") { // the last of a key counts
			key, _, _ := strings.Cut(l, ":")
			for _, was := range strings.Split(text, "\n") {
				if k, _, _ := strings.Cut(was, ":"); k == key && key != "" {
					text = strings.Replace(text, was+"\n", "", 1)
				}
			}
		}
		text += c.answers + "\n"
		x := lineOf(t, text, c.line)
		if x == nil || x.Verdict != c.verdict || x.Limit != c.limit || !strings.Contains(x.Fix, c.fix) || (x.Fix == "") != (c.fix == "") {
			t.Errorf("%s\n%s: %+v, want %s up to %s, %s", text, c.line, x, c.verdict, c.limit, c.fix)
		}
	}
}

// A lock that messages break by themselves may be one that nobody is granted after a crash, too; of what else breaks it
// nothing is told.
func TestBrokenAnyway(t *testing.T) {
	for _, c := range []struct {
		answers string
		line    *line
		want    Verdict
	}{
		{"library: setnx-expire\nttl: 8s\n", crash, Unsafe},
		{"library: single\nttl: 8s\nlock: {release: del}\n", lateRelease, NotTested},
	} {
		a := parse(t, c.answers)
		x := &auditing{ctx: t.Context(), answers: a, world: calm(a.Settings), unmended: true, broken: true}
		found := Assumption{}
		if err := x.judge(c.line, &found); err != nil || found.Verdict != c.want {
			t.Errorf("%s: %v, %+v", c.line.name, err, found)
		}
	}
}

// A step that breaks the lock does not put the blame on what comes after it.
func TestWhatBreaksBlamesNothingElse(t *testing.T) {
	out := of(t, "{ttl: 10s, clock-step: 1h, restart-delay: 10s, persistence: none}")
	for name, want := range map[string]Verdict{"clock error": Safe, "clock step": Unsafe, "killed process": Safe, "power loss": Safe} {
		if x := out.line(name); x.Verdict != want {
			t.Errorf("%s: %+v", name, x)
		}
	}
	if out.Code() != 1 {
		t.Error(out.Code())
	}
}

// Where nobody is granted the lock no attack takes place, and nothing is safe together.
func TestTogetherIsNotTested(t *testing.T) {
	const answers = "library: redlock\nttl: 8s\nnode-timeout: 5ms\nrtt: {min: 20ms, max: 30ms}\n"
	if x := of(t, answers).line("all together"); x.Verdict != NotTested || !strings.HasPrefix(x.Text, "not tested: nothing is safe by itself") {
		t.Errorf("%s%+v", answers, x)
	}
}

// What is two ways of saying the same is refused, with its place, as is what no settings file takes.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"ttl: 8s\nlock: {ttl: 9s}":        `ours.yaml:1:6: ttl: lock.ttl says the same: "ttl"`,
		"tll: 8s":                         `ours.yaml:1:1: unknown key "tll"; did you mean "ttl"?`,
		"ttl: 8":                          "ours.yaml:1:6: ",
		"ttl: -1s":                        "ours.yaml:1:6: ",
		"nodes: 0":                        `ours.yaml:1:8: nodes: want a number of nodes from 1 to 64, got "0"`,
		"nodes: many":                     "ours.yaml:1:8: ",
		"library: redislock":              `ours.yaml:1:10: library: the lock of this library is SET NX PX on one Redis; say single (and lock: {release: del} if it deletes the key whoever has it) in place of "redislock"`,
		"library: ShedLock":               `ours.yaml:1:10: library: the lock of this library is SET NX PX on one Redis; say single (and lock: {release: del} if it deletes the key whoever has it) in place of "ShedLock"`,
		"library: redsnyc":                `ours.yaml:1:10: library: no such library; for SET NX PX on one Redis, as by redis-py, say single; a Go program can be a .wasm file: "redsnyc"; did you mean "redsync"?`,
		"persistence: evrysec":            `ours.yaml:1:14: `,
		"clock-error: 5":                  "ours.yaml:1:14: ",
		"library: redsync\nfencing: true": "ours.yaml:2:10: fencing: the lock gives no fencing tokens",
		"library: redsync\nlock: {preset: redsync}": `ours.yaml:1:10: library: lock.preset says the same: "library"`,
		"library: single\nnodes: 3":                 "ours.yaml:2:8: nodes: single is a lock on one Redis, and this says that there are 3",
		"ttl: 25h":                                  `ours.yaml:1:6: ttl: is longer than 24h0m0s, the most that is tried: "25h0m0s"`,
		"lock: {ttl: 25h}":                          `ours.yaml:1:13: ttl: is longer than 24h0m0s`,
		"restart-delay: 25h\nwork: 25h":             `ours.yaml:1:16: restart-delay: is longer than 24h0m0s`,
		"budget: {delay: 25h}":                      `ours.yaml:1:17: budget.delay: is longer than 24h0m0s`,
		"lock: {protocol: consensus}":               `ours.yaml:1:18: lock.protocol: locks on a `,
		"rtt: 25h":                                  `ours.yaml:1:6: rtt: is longer than 24h0m0s`,
		"work: -1s":                                 `ours.yaml:1:7: work: must not be negative "-1s"`,
		"[]":                                        "ours.yaml:1:1: want answers",
		"rtt: 5ms\nnetwork: {replies: 5s}":          `ours.yaml:1:6: rtt: network.replies says the same: "rtt"`,
		"power-loss: true\nbudget: {no-power-loss: true}": "ours.yaml:1:13: power-loss: budget.no-power-loss says the same:",
	} {
		_, err := Parse("ours.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, new(strictyaml.Errors)) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	a := parse(t, "lock: {preset: redsync, ttl: 3s}\nnodes: {names: [X, Y, Z]}\nbudget: {clock-rate: 1%}\nrtt: {max: 20ms}\n")
	if s := a.Settings; s.Lock.Preset != "redsync" || s.Lock.TTL.Seconds() != 3 || len(s.Nodes.Names) != 3 || s.Network.Latency.Max().Milliseconds() != 20 || slices.ContainsFunc(a.Assumed, func(x string) bool {
		return strings.HasPrefix(x, "nodes") || strings.HasPrefix(x, "clock-error") || strings.HasPrefix(x, "rtt")
	}) {
		t.Errorf("%+v", a)
	}
}

// What a file says of replies alone is kept, beside the latency that settings files have.
func TestRepliesAlone(t *testing.T) {
	a := parse(t, "network: {replies: 5s}\n")
	if n := a.Settings.Network; n.Replies == nil || n.Replies.Max().Seconds() != 5 || n.Latency.Max() == 0 {
		t.Errorf("%+v", n)
	}
}

// The text and the JSON tell of every line.
func TestWriting(t *testing.T) {
	out := of(t, "{title: a|b, ttl: 8s, restart-delay: 5s, persistence: everysec}")
	var text bytes.Buffer
	if err := out.WriteText(&text, nil); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range out.Assumptions {
		for _, all := range []string{text.String(), string(data)} {
			if !strings.Contains(all, x.Name) || !strings.Contains(all, string(x.Verdict)) {
				t.Errorf("%s is not told of in\n%s", x.Name, all)
			}
		}
	}
	for _, line := range strings.Split(text.String(), "\n") {
		if len([]rune(line)) > 84 {
			t.Errorf("%d columns: %s", len([]rune(line)), line)
		}
	}
}

// A pause of any length is not tested, and not safe, where the resource refuses every write: nothing could come too late.
func TestResourceThatRefusesEverything(t *testing.T) {
	for settings, want := range map[string]Verdict{
		"storage: table": NotTested, "storage: compare-and-set": NotTested, "storage: version": NotTested, "storage: register": Unsafe, "storage: fenced": Unsafe,
		"storage: table\nlock: {fencing: true}": Safe,
	} {
		a, err := Parse("f.yaml", []byte("ttl: 8s\npause: 8s\n"+settings+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		x := &auditing{ctx: t.Context(), answers: a, world: calm(a.Settings), unmended: true}
		for _, l := range lines() {
			if l.name != "pause" {
				continue
			}
			found := Assumption{}
			if err := x.judge(l, &found); err != nil {
				t.Fatal(err)
			}
			if found.Verdict != want || want == NotTested && !strings.Contains(found.Text, "refused every write") {
				t.Errorf("%s: %s: %s, want %s", settings, found.Verdict, found.Text, want)
			}
		}
	}
}
