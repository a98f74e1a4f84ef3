package wire_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/sim"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
	"redlocksim/sim/wire"
)

// written is what a client writes to a stream at a time, in milliseconds: commands in one message. None closes the stream.
type written struct {
	at       int
	commands string
}

// read gives what a client reads on a stream to M, which has the replica M2, and when: "14 +OK" and so on. The way to M2 is cut
// from a time to another. What the keys are at the end comes last.
func read(t *testing.T, cut, mended int, all ...written) []string {
	t.Helper()
	const ms = time.Millisecond
	w := sim.NewWorld(sim.Config{Nodes: []string{"M"}, Replicas: map[string][]string{"M": {"M2"}}, Persistence: redis.Always,
		Latency: network.Constant(ms), Clients: []sim.ClientConfig{{Name: "c"}}}, wire.New())
	defer w.Close()
	var got []string
	var s redis.Stream
	c := w.Client("c")
	s, err := w.Dial(c, w.Server("M"), c.Draw("dial"), func() {
		b := make([]byte, s.Buffered())
		if n := s.Read(b); n > 0 {
			got = append(got, fmt.Sprintf("%d %s", time.Duration(w.Kernel.Now())/ms, strings.ReplaceAll(strings.TrimSpace(string(b)), "\r\n", " ")))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		w.Kernel.After(time.Duration(one.at)*ms, func() {
			if one.commands == "" {
				s.Close()
			} else if err := s.Write([]byte(strings.ReplaceAll(one.commands, "; ", "\n") + "\n")); err != nil {
				t.Error(err)
			}
		})
	}
	w.Kernel.After(time.Duration(cut)*ms, func() { w.Network.Link("M", "M2").Cut(network.Both) })
	w.Kernel.After(time.Duration(mended)*ms, func() { w.Network.Link("M", "M2").Mend(network.Both) })
	w.Kernel.Run(kernel.True(20 * time.Second))
	for _, r := range w.Server("M").Dump() {
		got = append(got, r.Key+"="+r.Value)
	}
	return got
}

// A WAIT on a stream keeps up what comes behind it, in its message or in later ones, and has no end if its time is 0.
func TestWaitOnAStream(t *testing.T) {
	for _, test := range []struct {
		name        string
		cut, mended int
		written     []written
		want        []string
	}{
		{"all at once", 900, 901, []written{{10, "SET k v; WAIT 1 100; GET k; SET k w; WAIT 1 100; GET k"}},
			[]string{"16 +OK", "16 :1", "16 $1 v", "16 +OK", "16 :1", "16 $1 w", "k=w"}},
		{"its time is up", 5, 500, []written{{10, "SET k v; WAIT 1 50"}, {20, "SET k w; GET k"}, {30, "WAIT 1 20; DEL k"}},
			[]string{"62 +OK", "62 :0", "62 +OK", "62 $1 w", "82 :0", "82 :1"}},
		{"for ever", 5, 2500, []written{{10, "SET k v; WAIT 1 0"}, {20, "GET k"}}, []string{"3014 +OK", "3014 :1", "3014 $1 v", "k=v"}},
		{"alone", 5, 500, []written{{10, "SET k v"}, {20, "WAIT 1 30"}, {21, "GET k"}}, []string{"12 +OK", "52 :0", "52 $1 v", "k=v"}},
		{"closed meanwhile", 5, 500, []written{{10, "SET k v; WAIT 1 100; SET k w"}, {20, "SET k x"}, {30, ""}}, []string{"k=v"}},
		{"what is none", 5, 500, []written{{10, "WAIT 1 -1; WAIT 1; WAIT x 1; PING"}},
			[]string{"12 -ERR timeout is negative", "12 -ERR wrong number of arguments for 'wait' command", "12 -ERR value is not an integer or out of range", "12 +PONG"}},
	} {
		if got := read(t, test.cut, test.mended, test.written...); !slices.Equal(got, test.want) {
			t.Errorf("%s:\n%q, want\n%q", test.name, got, test.want)
		}
	}
}

// What is carried out behind a WAIT is its client's doing, though the node has served others since.
func TestWhoseCommandsWait(t *testing.T) {
	const ms = time.Millisecond
	w := sim.NewWorld(sim.Config{Nodes: []string{"M"}, Replicas: map[string][]string{"M": {"M2"}}, Persistence: redis.Always,
		Latency: network.Constant(ms), Clients: []sim.ClientConfig{{Name: "c1"}, {Name: "c2"}}}, wire.New())
	defer w.Close()
	var got []string
	trace.On(w.Events, func(a *redis.Applied) { got = append(got, a.Client.Name()+" "+a.After.Value) })
	writes := func(client, commands string, at, later int) {
		c := w.Client(client)
		s, err := w.Dial(c, w.Server("M"), c.Draw("dial"), func() {})
		if err != nil {
			t.Fatal(err)
		}
		for i, command := range strings.Split(commands, ", ") {
			w.Kernel.After(time.Duration(at+i*later)*ms, func() {
				if err := s.Write([]byte(strings.ReplaceAll(command, "; ", "\n") + "\n")); err != nil {
					t.Error(err)
				}
			})
		}
	}
	w.Network.Link("M", "M2").Cut(network.Both)
	writes("c1", "SET k 1; WAIT 1 50; SET k 2, SET k 3", 10, 5)
	writes("c2", "SET k 4", 30, 0)
	w.Kernel.Run(kernel.True(time.Second))
	if want := []string{"c1 1", "c2 4", "c1 2", "c1 3"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
