package network_test

import (
	"fmt"
	"strings"
	"testing"

	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/network/networktest"
)

func check(t *testing.T, r *networktest.Rig, want string) {
	t.Helper()
	if got := r.Said(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestNetwork(t *testing.T) {
	for _, test := range []struct{ name, script, want string }{
		{"nothing wrong", "0 open a", "5 a arrives; 10 a answered"},
		{"abandoned before it arrives", "0 open a; 1 abandon a; 1 abandon a", "5 a arrives"},
		{"abandoned before the answer", "0 open a; 7 abandon a", "5 a arrives"},

		{"cut before it is sent", "0 cut; 0 open a; 2 mend", ""},
		{"cut when it would arrive", "0 open a; 2 cut; 6 mend", ""},
		{"cut in between only", "0 open a; 1 cut; 4 mend", "5 a arrives; 10 a answered"},
		{"requests are cut", "0 open a; 6 cut requests; 7 open b", "5 a arrives; 10 a answered"},
		{"replies are cut", "0 open a; 1 cut replies; 6 open b; 8 mend replies", "5 a arrives; 11 b arrives; 16 b answered"},
		{"two cuts", "0 cut; 1 cut requests; 2 mend; 3 open a; 9 mend requests; 10 open b", "15 b arrives; 20 b answered"},

		{"held back", "0 open a; 1 hold; 2 open b; 20 release", "20 a arrives; 20 b arrives; 25 a answered; 25 b answered"},
		{"held back until another one arrives", "0 hold; 1 open a; 15 open b; 20 release", "20 a arrives; 20 b arrives; 25 a answered; 25 b answered"},
		{"replies are held back", "0 open a; 1 hold replies; 2 open b; 20 release replies", "5 a arrives; 7 b arrives; 20 a answered; 20 b answered"},
		{"two holds", "0 hold; 1 hold requests; 2 open a; 20 release; 30 release requests", "30 a arrives; 35 a answered"},
		{"held back and given up", "0 hold; 1 open a; 10 abandon a; 20 release", "20 a arrives"},
		{"held back and reset", "0 hold; 1 open a; 10 reset; 20 release", "10 a broken"},
		{"a held refusal", "0 kill; 1 open a; 2 hold replies; 20 release replies", "20 a broken"},

		{"delayed", "0 slow; 0 open a", "15 a arrives; 30 a answered"},
		{"an abandoned request arrives after a later one", "0 slow requests; 0 open a; 1 abandon a; 1 quick requests; 2 open b", "7 b arrives; 12 b answered; 15 a arrives"},
		{"a change of latency is for what is sent later", "0 open a; 1 latency requests; 2 open b", "3 b arrives; 5 a arrives; 8 b answered; 10 a answered"},

		{"reset tells at once", "0 open a; 1 open b; 2 reset; 3 open c", "2 a broken; 2 b broken; 8 c arrives; 13 c answered"},
		{"reset loses replies", "0 open a; 7 reset", "5 a arrives; 7 a broken"},
		{"reset at the instant of the answer", "0 open a; 10 reset", "5 a arrives; 10 a broken"},
		{"reset of nothing", "0 reset; 1 open a", "6 a arrives; 11 a answered"},
		{"reset in a partition", "0 open a; 1 cut; 2 reset", "2 a broken"},

		{"killed: open ones hear after one way", "0 open a; 4 kill", "9 a broken"},
		{"killed: later ones after a round trip", "0 kill; 1 open a", "11 a broken"},
		{"killed, up again before it arrives", "0 open a; 1 kill; 2 up", "6 a broken"},
		{"killed, sent while down, arrives when up", "0 kill; 1 open a; 3 up", "6 a arrives; 11 a answered"},
		{"killed in a partition: nobody hears", "0 open a; 1 cut; 2 kill; 9 mend", ""},

		{"power loss is silent", "0 open a; 1 off; 2 open b", ""},
		{"power loss after the answer was sent", "0 open a; 6 off", "5 a arrives; 10 a answered"},
		{"back before an old request arrives", "0 open a; 1 off; 2 up", "10 a broken"},
		{"back before a new request arrives", "0 off; 1 open a; 2 up", "6 a arrives; 11 a answered"},

		{"paused server", "0 pause server; 0 open a; 1 open b; 20 resume server", "20 a arrives; 20 b arrives; 25 a answered; 25 b answered"},
		{"paused client", "0 open a; 6 pause client; 20 resume client", "5 a arrives; 20 a answered"},
		{"paused client, the reset came before the answer", "0 open a; 1 pause client; 7 reset; 20 resume client", "5 a arrives; 20 a broken"},
		{"dead client", "0 open a; 1 crash client; 2 open b", "5 a arrives"},
		{"dead server process", "0 open a; 1 crash server", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := networktest.New(nil)
			r.Plan(test.script)
			r.Run(100)
			check(t, r, test.want)
		})
	}
}

// TestOpenExchanges: in whatever order they end, exactly those that are open are told of a reset, in the order in which
// they began.
func TestOpenExchanges(t *testing.T) {
	for _, order := range []string{"", "a", "b", "c", "d", "ab", "ba", "bc", "cb", "ad", "da", "bd", "abcd", "dcba", "bcad"} {
		r := networktest.New(nil)
		r.Plan("0 open a; 0 open b; 0 open c; 0 open d")
		r.Run(1)
		var want []string
		for _, name := range order {
			r.Calls[string(name)].Abandon()
		}
		for _, name := range "abcd" {
			if !strings.ContainsRune(order, name) {
				want = append(want, fmt.Sprintf("1 %c broken", name))
			}
		}
		r.Link.Reset()
		r.Run(1)
		check(t, r, strings.Join(want, "; "))
		r.Link.Reset()
		r.Run(2)
		if again := r.Said(); again != strings.Join(want, "; ") {
			t.Errorf("%s: told again: %s", order, again)
		}
	}
}

func TestHeldMessagesDoNotPassACut(t *testing.T) {
	r := networktest.New(nil)
	r.Plan("0 open a; 1 hold; 10 cut; 20 release; 30 mend")
	r.Run(100)
	check(t, r, "")
}

// TestResetSparesNewConnections: what a client sends on being told goes over a new connection.
func TestResetSparesNewConnections(t *testing.T) {
	r := networktest.New(nil)
	r.Plan("0 open a")
	r.Run(1)
	r.Calls["a"].WhenBroken = func() { r.Do("open", "b") }
	r.Link.Reset()
	r.Run(100)
	check(t, r, "1 a broken; 6 b arrives; 11 b answered")
}

func TestResetTellsAllThatAreLeft(t *testing.T) {
	r := networktest.New(nil)
	r.Plan("0 open a; 0 open b; 0 open c")
	r.Run(1)
	r.Calls["a"].WhenBroken = r.Calls["b"].Abandon
	r.Link.Reset()
	r.Run(1)
	check(t, r, "1 a broken; 1 c broken")
}

func TestSocketBuffersDieWithTheirProcess(t *testing.T) {
	for _, test := range []struct{ name, script, want string }{
		{"killed", "0 pause server; 0 open a; 10 kill; 20 resume server", "15 a broken"},
		{"killed and restarted", "0 pause server; 0 open a; 10 kill; 12 up; 20 resume server", "15 a broken"},
		{"power loss", "0 pause server; 0 open a; 10 off; 20 resume server", ""},
	} {
		r := networktest.New(nil)
		r.Plan(test.script)
		r.Run(100)
		if got := r.Said(); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestResetLeavesTheSocketBuffer(t *testing.T) {
	r := networktest.New(nil)
	r.Plan("0 open a; 1 pause client; 12 reset; 20 resume client")
	r.Run(100)
	check(t, r, "5 a arrives; 20 a answered")
}

func TestTraceOfAnExchange(t *testing.T) {
	var trace []string
	r := networktest.New(func(s kernel.TraceStep) { trace = append(trace, s.String()) })
	r.Plan("0 open a; 6 pause client; 20 resume client")
	r.Run(100)
	want := []string{"#1 0.000000s timeline", "#2 0.000000s request arrives client → server [88888888]", "#3 0.000000s timeline",
		"#4 0.000000s reply arrives server → client [88888888]", "#5 0.000000s timeline", "#6 0.000000s reply arrives server → client [88888888]"}
	id := fmt.Sprintf("%08x", uint32(kernel.Key(0).WithString("a")))
	if got := strings.Join(trace, "\n"); got != strings.ReplaceAll(strings.Join(want, "\n"), "88888888", id) {
		t.Errorf("%s", got)
	}
}

func TestTraceOfFaults(t *testing.T) {
	for _, test := range []struct {
		script string
		want   kernel.TraceStep
	}{
		{"0 kill; 0 open a", kernel.TraceStep{Kind: network.StepRefusal, From: "server", To: "client"}},
		{"0 pause server; 0 open a; 20 resume server", kernel.TraceStep{Kind: network.StepRequest, From: "client", To: "server"}},
	} {
		var last kernel.TraceStep
		r := networktest.New(func(s kernel.TraceStep) {
			if s.At < 25 && s.Ref != 0 {
				last = s
			}
		})
		r.Plan(test.script)
		r.Run(100)
		if last.Kind != test.want.Kind || last.From != test.want.From || last.To != test.want.To {
			t.Errorf("%s: %v", test.script, last)
		}
	}
}
