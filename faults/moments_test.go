package faults

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

func TestTriggers(t *testing.T) {
	step := func(client, node string) history.Event {
		return history.Event{Kind: history.Step, Name: "node-answered", Process: client, Node: node}
	}
	// One a second, from 1 s.
	events := []history.Event{step("c1", "A"), step("c2", "A"), step("c1", "B"), {Kind: history.Call, Func: history.Acquire, Process: "c1"},
		{Kind: history.Return, Func: history.Acquire, Process: "c2", Outcome: history.OK}, {Kind: history.Return, Func: history.Extend, Process: "c1", Outcome: history.Unknown},
		{Kind: history.Effect, Func: history.Write, Process: "c1", Outcome: history.OK}, {Kind: history.Expire, Process: "c2"}, step("c1", "A"), step("c2", "C")}
	for _, test := range []struct {
		trigger Trigger
		want    string // when, and behind how many events
		text    string
	}{
		{Trigger{}, "0s 0", "at 0s"},
		{Trigger{At: 1500 * ms}, "1.5s 1", "at 1.5s"},
		{Trigger{After: &Moment{Event: "node-answered"}}, "1s 1", "after node-answered"},
		{Trigger{After: &Moment{Event: "node-answered", Nth: 1}, At: time.Hour}, "1s 1", "after node-answered"},
		{Trigger{After: &Moment{Event: "node-answered", Nth: 4}}, "9s 9", "after node-answered, time 4"},
		{Trigger{After: &Moment{Event: "node-answered", Nth: 6}}, "", "after node-answered, time 6"},
		{Trigger{After: &Moment{Event: "node-answered", Client: "c2"}}, "2s 2", "after c2 node-answered"},
		{Trigger{After: &Moment{Event: "node-answered", Client: "c2", Nth: 2}}, "10s 10", "after c2 node-answered, time 2"},
		{Trigger{After: &Moment{Event: "node-answered", Node: "B"}}, "3s 3", "after node-answered of B"},
		{Trigger{After: &Moment{Event: "node-answered", Client: "c2", Node: "B"}}, "", "after c2 node-answered of B"},
		{Trigger{After: &Moment{Event: "node-answered", Node: "A", Client: "c1", Nth: 2}, Plus: 3500 * ms}, "12.5s 10", "3.5s after c1 node-answered of A, time 2"},
		{Trigger{After: &Moment{Event: "node-answered", Client: "c1"}, Every: true}, "1s 1; 3s 3; 9s 9", "after every c1 node-answered"},
		{Trigger{After: &Moment{Event: "node-answered", Nth: 3}, Every: true, Plus: 500 * ms}, "3.5s 3; 9.5s 9; 10.5s 10", "500ms after every node-answered, time 3"},
		{Trigger{After: &Moment{Event: "acquire-called"}}, "4s 4", "after acquire-called"},
		{Trigger{After: &Moment{Event: "acquire-done"}}, "5s 5", "after acquire-done"},
		{Trigger{After: &Moment{Event: "acquire-failed"}}, "", "after acquire-failed"},
		{Trigger{After: &Moment{Event: "extend-failed"}}, "6s 6", "after extend-failed"},
		{Trigger{After: &Moment{Event: "write-effect"}}, "7s 7", "after write-effect"},
		{Trigger{After: &Moment{Event: "belief-ended"}, Plus: 1}, "8.000000001s 8", "1ns after belief-ended"},
	} {
		f := newField(t, redis.NoPersistence)
		var got []string
		for i, e := range events {
			f.World.Kernel.After(time.Duration(i+1)*time.Second, func() { f.World.Record(e) })
		}
		test.trigger.Arm(f.Field, func() {
			got = append(got, fmt.Sprint(f.World.Kernel.Now().Sub(0), " ", len(f.World.History())))
		})
		f.World.Kernel.Run(kernel.True(time.Minute))
		if text := strings.Join(got, "; "); text != test.want {
			t.Errorf("%v: %s, want %s", test.trigger, text, test.want)
		}
		if test.trigger.String() != test.text {
			t.Errorf("%q, want %q", test.trigger.String(), test.text)
		}
	}
}

// TestFaultsTriggerFaults: by the names of those before them.
func TestFaultsTriggerFaults(t *testing.T) {
	f := newField(t, redis.NoPersistence)
	after := func(event string, fault Fault) *Placed {
		return &Placed{When: Trigger{After: &Moment{Event: event}}, Fault: fault}
	}
	inject(t, f, after("restart", &Crash{Client: "c1"}), after("crash", &Pause{Process: "B", For: time.Second}), after("kill", &Restart{Node: "A"}),
		after("resume", &Reset{}), after("acquire-done", &Reset{}), at(1, &Kill{Outage: Outage{Node: "A"}}))
	want := "1s kill A\n1s restart A\n1s crash c1\n1s pause B\n2s resume B\n2s reset"
	var got []string
	for _, line := range strings.Split(told(f), "\n") {
		words := strings.Fields(strings.SplitN(line, ":", 2)[0])
		got = append(got, strings.Join(words[:len(words)-1], " "))
	}
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}
