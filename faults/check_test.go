package faults

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/internal/strictyaml"
	"redlocksim/sim/history"
	"redlocksim/sim/network"
)

var names = Names{Clients: []string{"c1", "c2"}, Nodes: []string{"A", "B", "C"}}

func ptr(d time.Duration) *time.Duration { return &d }

func links(clients, nodes string, d network.Direction) Links {
	return Links{Clients: strings.Fields(clients), Nodes: strings.Fields(nodes), Direction: d}
}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		fault Fault
		want  string // field word: text
	}{
		{&ClockStep{Process: "A", By: -time.Second}, ""},
		{&ClockStep{Process: "c1"}, ""},
		{&ClockStep{Process: "storage"}, "process storage: there is no such client or node"},
		{&ClockRate{Process: "c2", Rate: PPM(500_000), For: 1}, ""},
		{&ClockRate{Process: "c2", Rate: PPM(-500_000)}, ""},
		{&ClockRate{Process: "c3", Rate: PPM(500_001)}, "process c3: there is no such client or node; rate 50.0001%: must be from -50% to 50%"},
		{&ClockRate{Process: "A", Rate: PPM(-500_001)}, "rate -50.0001%: must be from -50% to 50%"},
		// 2^64 parts per billion
		{&ClockRate{Process: "A", Rate: RateOf(decimal.New(184467440737095516, -7))}, "rate 1844674407370.95516%: must be from -50% to 50%"},
		{&Entropy{Client: "c2"}, ""},
		{&Entropy{Client: "A"}, "client A: there is no such client"},
		{&SetCounters{Node: "A"}, ""},
		{&SetCounters{Node: "A", To: 9_007_199_254_740_991}, ""},
		{&SetCounters{Node: "c1"}, "node c1: there is no such node"},
		{&SetGuard{Node: "A"}, ""},
		{&SetGuard{Node: "A", MaxTTL: time.Millisecond}, ""},
		{&SetGuard{Node: "A", MaxTTL: time.Millisecond + 1}, "max-ttl 1.000001ms: must be a whole number of milliseconds"},
		{&SetGuard{Node: "c1"}, "node c1: there is no such node"},
		{&Overwrite{Node: "A"}, ""},
		{&Overwrite{Node: "c1"}, "node c1: there is no such node"},
		{&WrongAnswers{Node: "A", With: Queued}, ""},
		{&WrongAnswers{Node: "c1", With: Loading}, "node c1: there is no such node"},
		{&ClockStall{Process: "c2", For: 1}, ""},
		{&ClockStall{Process: "x"}, "process x: there is no such client or node"},
		{&Partition{}, ""},
		{&Partition{Links: links("c1 c3", "A D storage", network.Both), For: time.Second}, "clients[1] c3: there is no such client; nodes[1] D: there is no such node"},
		{&Partition{Links: links("A", "c1", network.Both)}, "clients[0] A: is a node; links between nodes are those of nodes with peers; nodes[0] c1: there is no such node"},
		{&Hold{Links: links("c1", "", network.Replies), For: 1}, ""},
		{&Delay{By: 1, Links: links("x", "", network.Both)}, "clients[0] x: there is no such client"},
		{&Delay{By: 1, Links: links("c1 c1", "A B A", network.Both)}, "clients[1] c1: is listed twice; nodes[2] A: is listed twice"},
		{&Reset{}, ""},
		{&Reset{Links: links("", "x", network.Both)}, "nodes[0] x: there is no such node"},
		{&Split{Keep: 1}, ""},
		{&Split{Links: links("x", "", network.Both)}, "clients[0] x: there is no such client"},
		{&Kill{Outage: Outage{Node: "A"}}, ""},
		{&Kill{Outage: Outage{Node: "c1", RestartAfter: ptr(1)}}, "node c1: there is no such node"},
		{&PowerLoss{Outage: Outage{Node: "", RestartAfter: ptr(0)}}, "node : there is no such node"},
		{&Shutdown{Outage: Outage{Node: "D"}}, "node D: there is no such node"},
		{&Restart{}, "node : there is no such node"},
		{&Restart{Node: "C"}, ""},
		{&Pause{Process: "x"}, "process x: there is no such client or node"},
		{&Resume{Process: "B"}, ""},
		{&Resume{}, "process : there is no such client or node"},
		{&Suspend{Client: "A"}, "client A: there is no such client"},
		{&Suspend{Client: "c1", For: 1}, ""},
		{&Crash{Client: "c1"}, ""},
		{&Crash{Client: "A"}, "client A: there is no such client"},
	} {
		var got []string
		for _, p := range Check(test.fault, names) {
			got = append(got, fmt.Sprintf("%s %s: %s", p.Field, p.Word, p.Text))
			if strings.HasPrefix(p.Text, "there is no such") && len(p.Valid) == 0 {
				t.Errorf("%T: the problem %v offers nothing", test.fault, p)
			}
		}
		if text := strings.Join(got, "; "); text != test.want {
			t.Errorf("%T: got  %s\nwant %s", test.fault, text, test.want)
		}
	}
	if valid := Check(&Reset{Links: links("", "x", network.Both)}, names)[0].Valid; !slices.Equal(valid, []string{"A", "B", "C", "storage"}) || len(names.Nodes) != 3 {
		t.Errorf("valid nodes: %v of %v", valid, names)
	}
}

// TestEveryNumberHasARange: what is below it is an error of the file, at its place, as is 0 where a fault would then be none,
// and where the range says so.
func TestEveryNumberHasARange(t *testing.T) {
	notZero := []string{"clock-stall for", "hold for", "delay by", "split keep", "suspend for"}
	for _, k := range Vocabulary() {
		for _, f := range strictyaml.Fields(reflect.TypeOf(k.New()).Elem()) {
			number, is := map[string]string{"time.Duration": "%ds", "*time.Duration": "%ds", "int": "%d", "int64": "%d"}[f.Type.String()]
			field, _ := f.Owner.FieldByName(f.Name)
			if !is || field.Tag.Get("back") != "" {
				continue
			}
			least := 0
			if slices.Contains(notZero, k.Name+" "+f.Key) || strings.HasPrefix(field.Tag.Get("range"), "1") {
				least = 1
			}
			for n := -1; n <= 1; n++ {
				text := fmt.Sprintf(number, n)
				err := strictyaml.Decode("f", []byte("{"+f.Key+": "+text+"}"), k.New())
				at := fmt.Sprintf("f:1:%d: %s: must ", len(f.Key)+4, f.Key)
				if refused := strings.Contains(fmt.Sprint(err), at); refused != (n < least) {
					t.Errorf("%s with %s: %s: %v, want an error that begins with %s: %v", k.Name, f.Key, text, err, at, n < least)
				}
			}
		}
	}
	for text, want := range map[string]bool{"9007199254740991": false, "9007199254740992": true} {
		if err := strictyaml.Decode("f", []byte("{node: A, to: "+text+"}"), &SetCounters{}); (err != nil) != want {
			t.Errorf("set-counters to %s: %v", text, err)
		}
	}
}

func TestCheckOfPeers(t *testing.T) {
	agreeing := Names{Clients: []string{"c1"}, Nodes: []string{"A", "B", "C"}, Agree: true}
	groups := Names{Clients: []string{"c1"}, Nodes: []string{"A", "B", "A2", "A3"}, Replicas: map[string][]string{"A": {"A2", "A3"}}}
	for _, c := range []struct {
		names        Names
		clients      string
		nodes, peers string
		field, word  string // of the first problem; none if empty
	}{
		{agreeing, "", "A", "B C", "", ""}, {agreeing, "", "A B", "C", "", ""},
		{groups, "", "A", "A2 A3", "", ""}, {groups, "", "A2", "A3", "", ""}, {groups, "", "A A2", "A3", "", ""},
		{names, "", "A", "B", "peers[0]", "B"}, // plain Redis nodes do not know of each other
		{agreeing, "c1", "A", "B", "clients", ""}, {agreeing, "", "", "B", "peers", ""},
		{agreeing, "", "A", "A", "peers[0]", "A"}, {agreeing, "", "A B", "B", "peers[0]", "B"},
		{agreeing, "", "A", "X", "peers[0]", "X"}, {agreeing, "", "X", "A", "nodes[0]", "X"}, {agreeing, "", "storage", "A", "nodes[0]", "storage"},
		{agreeing, "", "A", "c1", "peers[0]", "c1"}, {agreeing, "", "A", "B B", "peers[1]", "B"},
		{groups, "", "A", "B", "peers[0]", "B"}, {groups, "", "B", "A2", "peers[0]", "A2"}, {groups, "", "A", "A2 B", "peers[1]", "B"},
		{groups, "A", "A2", "", "clients[0]", "A"}, {groups, "", "A", "A2 A2", "peers[1]", "A2"},
	} {
		l := Links{Clients: strings.Fields(c.clients), Nodes: strings.Fields(c.nodes), Peers: strings.Fields(c.peers)}
		for _, fault := range []Fault{&Partition{Links: l}, &Hold{Links: l, For: 1}, &Delay{Links: l, By: 1}, &Reset{Links: l}, &Split{Links: l, Keep: 1}} {
			problems := Check(fault, c.names)
			switch {
			case (problems == nil) != (c.field == ""):
				t.Errorf("%v: %+v", &l, problems)
			case problems != nil && (problems[0].Field != c.field || problems[0].Word != c.word):
				t.Errorf("%v: first %+v, want %s %q", &l, problems[0], c.field, c.word)
			}
		}
	}
	if valid := Check(&Reset{Links: Links{Nodes: []string{"A"}, Peers: []string{"B"}}}, groups)[0].Valid; !slices.Equal(valid, []string{"A2", "A3"}) {
		t.Errorf("valid peers of A: %v", valid)
	}
}

func TestRates(t *testing.T) {
	for text, want := range map[string]int64{"1%": 10_000_000, "-0.05%": -500_000, "0%": 0, " 12.5 %": 125_000_000, "0.00000019%": 1, "-0.00000019%": -1, "+2%": 20_000_000,
		"1": -1, "": -1, "%": -1, "1e2%": -1, "1E2%": -1, "ten%": -1, "1%%": -1, "0.00000000000000000001%": -1} {
		var r Rate
		if err := r.UnmarshalScalar(text); err != nil {
			if text == "1%" || want != -1 {
				t.Errorf("%q: %v", text, err)
			}
		} else if r.PPB() != want {
			t.Errorf("%q: %d parts per billion, want %d", text, r.PPB(), want)
		}
	}
	if got := PPM(-1250).String() + " " + RateOf(PPM(7).Ratio()).String() + " " + (Rate{}).String(); got != "-0.125% 0.0007% 0%" {
		t.Error(got)
	}
}

func TestDirections(t *testing.T) {
	for text, want := range map[string]string{"both": "c1 ↔ A, B", "requests": "c1 → A, B", "replies": "A, B → c1"} {
		l := links("c1", "A B", network.Both)
		if err := strictyaml.Decode("f", []byte("direction: "+text), &l); err != nil || l.String() != want {
			t.Errorf("%s: %v, %v", text, &l, err)
		}
	}
	for d, want := range map[network.Direction]string{network.Both: "A, B ↔ C", network.Requests: "A, B → C", network.Replies: "C → A, B"} {
		l := &Links{Nodes: []string{"A", "B"}, Peers: []string{"C"}, Direction: d}
		if l.String() != want {
			t.Errorf("%v, want %s", l, want)
		}
	}
	if (&Links{}).String() != "every client ↔ every node" {
		t.Error(&Links{})
	}
	if strictyaml.Decode("f", []byte("direction: up"), &Links{}) == nil {
		t.Error("up is a direction")
	}
}

// TestEventNamesIsComplete: it has a name for whatever a history can hold but the steps of protocols; TestInject has faults.
func TestEventNamesIsComplete(t *testing.T) {
	events := []history.Event{{Kind: history.Expire}, {Kind: history.Crash}, {Kind: history.Step, Name: Checked}, {Kind: history.Step, Name: Stopped}}
	for _, f := range []history.Func{history.Acquire, history.Extend, history.Release, history.Read, history.Write, history.Mark} {
		events = append(events, history.Event{Kind: history.Call, Func: f})
		for _, o := range []history.Outcome{history.OK, history.Failed, history.Unknown} {
			events = append(events, history.Event{Kind: history.Return, Func: f, Outcome: o})
		}
	}
	for _, f := range []history.Func{history.Read, history.Write, history.Mark} {
		events = append(events, history.Event{Kind: history.Effect, Func: f, Outcome: history.OK})
	}
	for _, e := range events {
		if name := EventName(&e); !slices.Contains(EventNames(), name) {
			t.Errorf("%q, of %+v, is not in the list", name, e)
		}
	}
	if all := slices.Sorted(slices.Values(EventNames())); len(slices.Compact(slices.Clone(all))) != len(all) || all[0] == "" || EventName(&history.Event{}) != "" {
		t.Errorf("a name is there twice, or empty, or no event has one: %q", all)
	}
}
