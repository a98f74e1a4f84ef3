package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/scenarios"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/network/networktest"
	"redlocksim/sim/redis"
	"redlocksim/sim/storage"
	"redlocksim/sim/trace"
)

// recordedOf is what is recorded while a rig carries a script out: messages as their exchange, ">" for a request, "<" for a
// reply and "!" for a refusal, when they were sent and ended, and their fate.
func recordedOf(script string) *recorder {
	r := networktest.New(nil)
	rec := newRecorder(r.Kernel, redis.Deploy(r.Kernel, r.Net, nil, redis.Config{}), []*kernel.Process{r.Link.Server(), r.Link.Client()})
	r.Plan(script)
	r.Run(100)
	return rec
}

func textOf(m message) string {
	text := fmt.Sprintf("%s%c %d", m.purpose, "><!"[m.kind], m.sent)
	if m.ended != forever {
		text += fmt.Sprintf("-%d", m.ended)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", text, [...]string{"under way", "arrived", "too late", "lost:"}[m.fate], m.why))
}

func TestRecordedMessages(t *testing.T) {
	for _, test := range []struct{ name, script, want string }{
		{"nothing wrong", "0 open a", "a> 0-5 arrived; a< 5-10 arrived"},
		{"given up", "0 open a; 7 abandon a", "a> 0-5 arrived; a< 5-10 too late"},
		{"cut before it is sent", "0 cut; 0 open a; 2 mend", "a> 0-0 lost: a partition"},
		{"cut when it would arrive", "0 open a; 2 cut; 6 mend", "a> 0-5 lost: a partition"},
		{"the reply is cut", "0 open a; 1 cut replies", "a> 0-5 arrived; a< 5-5 lost: a partition"},
		{"held", "0 open a; 1 hold requests; 30 release requests", "a> 0-30 arrived; a< 30-35 arrived"},
		{"held until the run is over", "0 open a; 1 hold requests", "a> 0 under way"},
		{"nobody listens", "0 kill; 0 open a", "a> 0-5 lost: the process is down; a! 5-10 arrived"},
		{"the machine is off", "0 off; 0 open a", "a> 0-5 lost: the machine is off"},
		{"killed while a reply is under way", "0 open a; 6 kill", "a> 0-5 arrived; a< 5-10 arrived; a! 6-11 too late"},
		{"restarted while a request is under way", "0 open a; 1 kill; 2 up", "a> 0-5 lost: its connection was reset; a! 1-6 arrived; a! 5-10 too late"},
		{"reset while a request is under way: nobody needs to send a message to tell the client", "0 open a; 1 reset",
			"a> 0-5 lost: its connection was reset; a! 5-10 too late"},
		{"reset while a reply is under way", "0 open a; 6 reset", "a> 0-5 arrived; a< 5-10 too late"},
		{"the server is paused", "0 open a; 1 pause server; 40 resume server", "a> 0-40 arrived; a< 40-45 arrived"},
		{"the client crashes", "0 open a; 6 crash client", "a> 0-5 arrived; a< 5-10 lost: the process has crashed"},
		{"the client crashes with a reply in its buffer", "0 open a; 6 pause client; 20 crash client", "a> 0-5 arrived; a< 5-20 lost: the process has crashed"},
		{"the client pauses again before it takes the reply, and crashes", "0 open a; 6 pause client; 20 resume,pause client; 30 resume,pause client; 40 crash client",
			"a> 0-5 arrived; a< 5-40 lost: the process has crashed"},
		{"the client crashes before it takes the reply", "0 open a; 6 pause client; 20 resume,crash client", "a> 0-5 arrived; a< 5-20 lost: the process has crashed"},
		{"the server pauses again before it takes the request, and crashes", "0 open a; 1 pause server; 20 resume,pause server; 40 crash server",
			"a> 0-40 lost: the process has crashed"},
		{"the server crashes before it takes the request", "0 open a; 1 pause server; 20 resume,crash server", "a> 0-20 lost: the process has crashed"},
		{"a client that pauses again takes the reply once it goes on", "0 open a; 6 pause client; 20 resume,pause client; 30 resume client", "a> 0-5 arrived; a< 5-30 arrived"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, m := range recordedOf(test.script).messages {
				got = append(got, textOf(m))
				if ends := m.from + " " + m.to; (m.kind == network.RequestMessage) != (ends == "client server") {
					t.Errorf("%+v", m)
				}
			}
			if text := strings.Join(got, "; "); text != test.want {
				t.Errorf("got  %s\nwant %s", text, test.want)
			}
		})
	}
}

func TestRecordedObstacles(t *testing.T) {
	var got []string
	for _, o := range recordedOf("1 cut requests; 2 cut requests; 3 hold; 4 mend requests; 5 release; 6 mend requests; 7 slow replies; 8 slow replies; 9 quick replies; 10 quick replies; 11 cut").obstacles {
		to := fmt.Sprint(o.to)
		if o.to == forever {
			to = ""
		}
		got = append(got, fmt.Sprintf("%s %s %d-%s %d", o.kind, [...]string{"both", "requests", "replies"}[o.direction], o.from, to, o.by))
	}
	const want = "cut requests 1-6 0; held requests 3-5 0; held replies 3-5 0; slow replies 7-8 10; slow replies 8-9 20; slow replies 9-10 10; cut requests 11- 0; cut replies 11- 0"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

func TestRecordedStates(t *testing.T) {
	k := kernel.New(kernel.Config{Seed: 1})
	c, s := k.NewProcess("client", kernel.Monotonic), k.NewProcess("server", kernel.Monotonic)
	n := network.New(k)
	r := newRecorder(k, redis.Deploy(k, n, nil, redis.Config{}), []*kernel.Process{s, c})
	second := time.Second
	k.After(1*second, func() { c.Clock().SetRate(100_000_000) }) // a tenth fast
	k.After(2*second, func() { c.Clock().Step(-5 * second) })
	k.After(3*second, func() { c.Suspend() })
	k.After(5*second, func() { c.Resume() })
	k.After(6*second, func() { c.Pause() })
	k.After(7*second, func() { c.Crash() })
	k.Run(kernel.True(10 * second))
	var got []string
	for _, x := range r.states {
		if x.process == "client" {
			got = append(got, fmt.Sprintf("%v %s wall %v mono %v", time.Duration(x.At), cmp.Or(x.kind, "runs"), time.Duration(x.Wall), time.Duration(x.Mono)))
		}
	}
	// A tenth of a second is gained in every second from the first on; the monotonic clock loses what it would have counted
	// in the suspension, 2.2 s.
	const want = "0s runs wall 0s mono 0s; 1s runs wall 0s mono 0s; 2s runs wall -4.9s mono 100ms; 3s suspended wall -4.8s mono 200ms; " +
		"5s runs wall -4.6s mono -1.8s; 6s paused wall -4.5s mono -1.7s; 7s crashed wall -4.4s mono -1.6s"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

// A process that is started again after a crash runs.
func TestRecordedRestart(t *testing.T) {
	r := networktest.New(nil)
	client := r.Link.Client()
	rec := newRecorder(r.Kernel, redis.Deploy(r.Kernel, r.Net, nil, redis.Config{}), []*kernel.Process{r.Link.Server(), client})
	r.Plan("10 crash client")
	r.Kernel.After(20, func() { trace.Tell(r.Events, kernel.Restarted{Process: client.StartAgain()}) })
	r.Run(100)
	var got []string
	for _, s := range rec.states {
		if s.process == client.Name() {
			got = append(got, fmt.Sprintf("%d %s", s.At, s.kind))
		}
	}
	const want = "0 ; 10 crashed; 20 "
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("%s, want %s", text, want)
	}
}

// Of every scenario: each effect at the storage came with a message that arrived then, and a node keeps a key once at a
// time, and for no longer than its time to live.
func TestRecordings(t *testing.T) {
	all, err := catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		s := r.Scenario
		splits := slices.ContainsFunc(s.Timeline, func(i scenarios.Item) bool { return i.Kind == "split" })
		for _, m := range r.messages {
			// What arrives of a batch that was split says so.
			inPart := m.fate == network.Arrived && strings.HasPrefix(m.why, "only the first ") && splits
			if (m.fate == network.UnderWay) != (m.ended == forever) || m.ended < m.sent || (m.why != "") != (m.fate == network.Lost || inPart) {
				t.Errorf("%s: %+v", s.Name, m)
			}
		}
		for _, e := range r.History {
			if e.Kind == history.Effect && e.Op != 0 && e.Node == "" && !slices.ContainsFunc(r.messages, func(m message) bool {
				return m.fate == network.Arrived && m.from == e.Process && m.to == storage.Name && m.ended == Instant(e.Time)
			}) {
				t.Errorf("%s: no message for the effect %+v", s.Name, e)
			}
		}
		last := map[[2]string]Instant{}
		for _, k := range r.kept {
			at := [2]string{k.node, k.key}
			isOver := k.left > 0 && k.rate == 0 && k.to < Instant(s.Duration) && k.to-k.from > Instant(k.left)
			if k.from < last[at] || k.to < k.from || isOver {
				t.Errorf("%s: %+v, and the one before ends at %d", s.Name, k, last[at])
			}
			last[at] = k.to
		}
	}
}
