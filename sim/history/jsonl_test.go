package history_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	. "redlocksim/sim/history"
)

func TestTheFormatIsWhatTheCommentShows(t *testing.T) {
	h := History{
		{Seq: 1, Kind: Call, Process: "c1", Op: 1, Func: Acquire, Resource: "a<b"},
		{Seq: 2, Time: 1500000, Kind: Return, Process: "c1", Op: 1, Func: Acquire, Resource: "a<b", Outcome: OK, Span: 9},
	}
	const want = `{"seq":1,"t":0,"kind":"call","process":"c1","op":1,"f":"acquire","resource":"a<b"}
{"seq":2,"t":1500000,"kind":"return","process":"c1","op":1,"f":"acquire","resource":"a<b","outcome":"ok","span":9}
`
	var b bytes.Buffer
	if err := Encode(&b, h); err != nil || b.String() != want {
		t.Errorf("%v, wrote\n%swant\n%s", err, b.String(), want)
	}
}

func TestWhatIsNoHistoryIsRefused(t *testing.T) {
	crash := Event{Seq: 1, Time: 5, Kind: Crash, Process: "c1"}
	for name, c := range map[string]struct {
		h    History
		line int
		err  error
	}{
		"empty":              {nil, 1, ErrEmpty},
		"negative operation": {History{{Seq: 1, Kind: Call, Func: Read, Op: -1}}, 1, ErrEvent},
		"not UTF-8":          {History{{Seq: 1, Kind: Crash, Process: "\xff"}}, 1, ErrEvent},
		"bad kind":           {History{{Seq: 1, Kind: "crashed"}}, 1, ErrWord},
		"no kind":            {History{{Seq: 1}}, 1, ErrWord},
		"bad function":       {History{{Seq: 1, Kind: Call, Func: "lock"}}, 1, ErrWord},
		"no function":        {History{{Seq: 1, Kind: Call}}, 1, ErrWord},
		"bad outcome":        {History{{Seq: 1, Kind: Return, Func: Read, Outcome: "yes"}}, 1, ErrWord},
		"no outcome":         {History{{Seq: 1, Kind: Return, Func: Read}}, 1, ErrWord},
		"effect on the lock": {History{{Seq: 1, Kind: Effect, Func: Acquire, Outcome: OK}}, 1, ErrWord},
		"effect unknown":     {History{{Seq: 1, Kind: Effect, Func: Read, Outcome: Unknown}}, 1, ErrWord},
		"numbers from 0":     {History{{Kind: Crash}}, 1, ErrSeq},
		"gap in the numbers": {History{crash, {Seq: 3, Time: 5, Kind: Crash}}, 2, ErrSeq},
		"the same number":    {History{crash, crash}, 2, ErrSeq},
		"falling time":       {History{crash, {Seq: 2, Time: 4, Kind: Crash}}, 2, ErrTime},
		"negative time":      {History{{Seq: 1, Time: -1, Kind: Crash}}, 1, ErrTime},
	} {
		var b bytes.Buffer
		err, invalid := Encode(&b, c.h), (*InvalidError)(nil)
		if !errors.As(err, &invalid) || !errors.Is(err, c.err) || invalid.Line != c.line || b.Len() > 0 {
			t.Errorf("%s: %v and %d bytes, want line %d, %v", name, err, b.Len(), c.line, c.err)
		}
	}
}

// validHistories draws histories that are valid event by event, with every field in use.
func validHistories() *rapid.Generator[History] {
	return rapid.Custom(func(t *rapid.T) History {
		n := rapid.IntRange(1, 8).Draw(t, "events")
		var h History
		var now int64
		for i := range n {
			now += rapid.Int64Range(0, 1<<50).Draw(t, "later")
			h = append(h, Event{
				Seq: i + 1, Time: now,
				Kind:     rapid.SampledFrom([]Kind{Call, Return, Step, Expire, Crash, Effect, Fault}).Draw(t, "kind"),
				Process:  rapid.String().Draw(t, "process"),
				Op:       rapid.IntRange(0, 1<<40).Draw(t, "op"),
				Func:     rapid.SampledFrom([]Func{Read, Write}).Draw(t, "func"),
				Resource: rapid.String().Draw(t, "resource"),
				Grant:    rapid.IntRange(0, 1<<40).Draw(t, "grant"),
				Outcome:  rapid.SampledFrom([]Outcome{OK, Failed}).Draw(t, "outcome"),
				Name:     rapid.String().Draw(t, "name"),
				Node:     rapid.String().Draw(t, "node"),
				Number:   rapid.Int64().Draw(t, "number"),
				Span:     rapid.Int64().Draw(t, "span"),
				Detail:   rapid.String().Draw(t, "detail"),
				Token:    rapid.Int64().Draw(t, "token"),
				With:     rapid.IntMin(0).Draw(t, "with"),
				Basis:    rapid.IntMin(0).Draw(t, "basis"),
			})
		}
		return h
	})
}

// No field is lost, and each event is a line.
func TestEventsAreWrittenWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := validHistories().Draw(t, "history")
		var b bytes.Buffer
		if err := Encode(&b, h); err != nil {
			t.Fatal(err)
		}
		var back History
		for line := range strings.Lines(b.String()) {
			var e Event
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatal(err)
			}
			back = append(back, e)
		}
		if !slices.Equal(back, h) {
			t.Fatalf("read back %+v", back)
		}
	})
}
