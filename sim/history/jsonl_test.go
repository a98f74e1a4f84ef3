package history_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	. "redlocksim/sim/history"
)

const twoLines = `{"seq":1,"t":0,"kind":"call","process":"c1","op":1,"f":"acquire","resource":"a<b"}
{"seq":2,"t":1500000,"kind":"return","process":"c1","op":1,"f":"acquire","resource":"a<b","outcome":"ok","span":9}
`

func TestTheFormatIsWhatTheDocumentationShows(t *testing.T) {
	h, err := Decode(strings.NewReader(twoLines))
	if err != nil {
		t.Fatal(err)
	}
	want := History{
		{Seq: 1, Kind: Call, Process: "c1", Op: 1, Func: Acquire, Resource: "a<b"},
		{Seq: 2, Time: 1500000, Kind: Return, Process: "c1", Op: 1, Func: Acquire, Resource: "a<b", Outcome: OK, Span: 9},
	}
	if !slices.Equal(h, want) {
		t.Errorf("read %+v, want %+v", h, want)
	}
	var b bytes.Buffer
	if err := Encode(&b, h); err != nil {
		t.Fatal(err)
	}
	if b.String() != twoLines {
		t.Errorf("wrote\n%swant\n%s", b.String(), twoLines)
	}
}

func TestDecodeIsStrict(t *testing.T) {
	const first = `{"seq":1,"t":5,"kind":"crash","process":"c1"}` + "\n"
	for _, c := range []struct {
		name, in string
		line     int
		err      error
	}{
		{"empty", "", 1, ErrEmpty},
		{"truncated in an object", first + `{"seq":2,"t":5,"ki`, 2, ErrTruncated},
		{"truncated before the newline", first + `{"seq":2,"t":5,"kind":"crash"}`, 2, ErrTruncated},
		{"empty line", first + "\n", 2, ErrLine},
		{"no object", first + "7\n", 2, ErrLine},
		{"array", "[]\n", 1, ErrLine},
		{"null", "null\n", 1, ErrLine},
		{"object without end", `{"seq":1` + "\n", 1, ErrLine},
		{"two objects", `{"seq":1,"t":5,"kind":"crash"}{}` + "\n", 1, ErrLine},
		{"rubbish after the object", `{"seq":1,"t":5,"kind":"crash"}]` + "\n", 1, ErrLine},
		{"unknown field", `{"seq":1,"t":5,"kind":"crash","when":5}` + "\n", 1, ErrLine},
		{"other case", `{"seq":1,"T":5,"kind":"crash"}` + "\n", 1, ErrLine},
		{"field twice", `{"seq":1,"t":5,"t":6,"kind":"crash"}` + "\n", 1, ErrLine},
		{"no seq", `{"t":5,"kind":"crash"}` + "\n", 1, ErrLine},
		{"no time", `{"seq":1,"kind":"crash"}` + "\n", 1, ErrLine},
		{"no kind", `{"seq":1,"t":5}` + "\n", 1, ErrLine},
		{"text for a number", `{"seq":1,"t":"5","kind":"crash"}` + "\n", 1, ErrLine},
		{"number for a text", `{"seq":1,"t":5,"kind":"crash","process":1}` + "\n", 1, ErrLine},
		{"null for a text", `{"seq":1,"t":5,"kind":"crash","process":null}` + "\n", 1, ErrLine},
		{"object for a text", `{"seq":1,"t":5,"kind":"crash","process":{}}` + "\n", 1, ErrLine},
		{"fraction", `{"seq":1,"t":5.5,"kind":"crash"}` + "\n", 1, ErrLine},
		{"too large", `{"seq":1,"t":9223372036854775808,"kind":"crash"}` + "\n", 1, ErrLine},
		{"half a surrogate pair", `{"seq":1,"t":5,"kind":"crash","process":"\ud83d"}` + "\n", 1, ErrLine},
		{"half a surrogate pair before a character", `{"seq":1,"t":5,"kind":"crash","process":"\ud83d\u0041"}` + "\n", 1, ErrLine},
		{"no such escape", `{"seq":1,"t":5,"kind":"crash","process":"\x"}` + "\n", 1, ErrLine},
		{"control character", "{\"seq\":1,\"t\":5,\"kind\":\"crash\",\"process\":\"\x01\"}\n", 1, ErrLine},
		{"text without an end", `{"seq":1,"t":5,"kind":"crash","process":"c1}` + "\n", 1, ErrLine},
		{"comma at the end", `{"seq":1,"t":5,"kind":"crash",}` + "\n", 1, ErrLine},
		{"no comma", `{"seq":1 "t":5,"kind":"crash"}` + "\n", 1, ErrLine},
		{"leading zero", `{"seq":01,"t":5,"kind":"crash"}` + "\n", 1, ErrLine},
		{"too small", `{"seq":1,"t":5,"kind":"crash","number":-9223372036854775809}` + "\n", 1, ErrLine},
		{"not UTF-8", "{\"seq\":1,\"t\":5,\"kind\":\"crash\",\"process\":\"\xff\"}\n", 1, ErrLine},
		{"negative operation", `{"seq":1,"t":5,"kind":"call","f":"read","op":-1}` + "\n", 1, ErrLine},
		{"bad kind", `{"seq":1,"t":5,"kind":"crashed"}` + "\n", 1, ErrWord},
		{"bad function", `{"seq":1,"t":5,"kind":"call","f":"lock"}` + "\n", 1, ErrWord},
		{"no function", `{"seq":1,"t":5,"kind":"call"}` + "\n", 1, ErrWord},
		{"bad outcome", `{"seq":1,"t":5,"kind":"return","f":"read","outcome":"yes"}` + "\n", 1, ErrWord},
		{"no outcome", `{"seq":1,"t":5,"kind":"return","f":"read"}` + "\n", 1, ErrWord},
		{"effect on the lock", `{"seq":1,"t":5,"kind":"effect","f":"acquire","outcome":"ok"}` + "\n", 1, ErrWord},
		{"effect unknown", `{"seq":1,"t":5,"kind":"effect","f":"read","outcome":"unknown"}` + "\n", 1, ErrWord},
		{"seq from 0", `{"seq":0,"t":5,"kind":"crash"}` + "\n", 1, ErrSeq},
		{"gap in seq", first + `{"seq":3,"t":5,"kind":"crash"}` + "\n", 2, ErrSeq},
		{"seq again", first + first, 2, ErrSeq},
		{"falling time", first + `{"seq":2,"t":4,"kind":"crash"}` + "\n", 2, ErrTime},
		{"negative time", `{"seq":1,"t":-1,"kind":"crash"}` + "\n", 1, ErrTime},
		{"long line", first + strings.Repeat(" ", MaxLine) + "\n", 2, ErrTooLong},
	} {
		h, err := Decode(strings.NewReader(c.in))
		var invalid *InvalidError
		if !errors.As(err, &invalid) || !errors.Is(err, c.err) || invalid.Line != c.line || h != nil {
			t.Errorf("%s: got %v, %v; want line %d, %v", c.name, h, err, c.line, c.err)
		}
	}
}

func TestDecodeTakesEveryWayToWriteJSON(t *testing.T) {
	const in = " {\t\"\\u0073eq\" : 1 ,\"t\":5,\"kind\":\"crash\",\"number\":-9223372036854775808,\"detail\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00E9\\ud83d\\ude00\"} \r\n"
	want := Event{Seq: 1, Time: 5, Kind: Crash, Number: math.MinInt64, Detail: "\"\\/\b\f\n\r\t\u00e9\U0001f600"}
	if h, err := Decode(strings.NewReader(in)); err != nil || !slices.Equal(h, History{want}) {
		t.Errorf("read %+v, %v", h, err)
	}
}

func TestDecodePassesTheReadersErrorOn(t *testing.T) {
	broken := errors.New("broken pipe")
	_, err := Decode(io.MultiReader(strings.NewReader(twoLines), iotest.ErrReader(broken)))
	var invalid *InvalidError
	if !errors.Is(err, broken) || errors.As(err, &invalid) {
		t.Errorf("got %v, want %v", err, broken)
	}
}

func TestEncodeRefusesWhatDecodeWould(t *testing.T) {
	for _, c := range []struct {
		h   History
		err error
	}{
		{nil, ErrEmpty},
		{History{{Seq: 2, Kind: Crash}}, ErrSeq},
		{History{{Seq: 1, Kind: "?"}}, ErrWord},
		{History{{Seq: 1, Kind: Crash, Process: "\xff"}}, ErrLine},
		{History{{Seq: 1, Kind: Crash, Detail: strings.Repeat("x", MaxLine)}}, ErrTooLong},
	} {
		var b bytes.Buffer
		if err := Encode(&b, c.h); !errors.Is(err, c.err) || b.Len() > 0 {
			t.Errorf("%v: %v and %d bytes, want %v", c.h[:min(1, len(c.h))], err, b.Len(), c.err)
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

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := validHistories().Draw(t, "history")
		var b bytes.Buffer
		if err := Encode(&b, h); err != nil {
			t.Fatal(err)
		}
		back, err := Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(back, h) {
			t.Fatalf("read back %+v", back)
		}
	})
}

// oracle is the event on a line as encoding/json reads it, which takes more than Decode does.
func oracle(line string) (e Event, err error) {
	dec := json.NewDecoder(strings.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		return e, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return e, errors.New("more than one value")
	}
	return e, nil
}

// What Decode reads is what encoding/json reads, and what Encode writes again; what encoding/json refuses, it refuses.
func FuzzDecode(f *testing.F) {
	for _, in := range []string{twoLines, "{}\n", "\n\n", "{}{}\n",
		`{"seq":1,"t":0,"kind":"crash","op":9223372036854775808}` + "\n", `{"seq":1.0,"t":0,"kind":"crash"}` + "\n",
		`{"seq":1,"t":0,"kind":"crash","number":-9223372036854775808,"span":-9223372036854775809}` + "\n",
		`{"seq":2,"t":0,"kind":"crash"}` + "\n", `{"seq":1,"t":-0,"kind":"crash","detail":"a\u00e9\ud83d\ude00","detail":""}` + "\n",
		`{"s\u0065q":1,"t":-0,"kind":"crash","detail":"\\\/\"\b\f\n\r\ta\u00E9\ud83d\ude00 \u2028"}` + "\n",
		`{"seq":1,"t":0,"kind":"crash","detail":"\ud83d"}` + "\n", `{"seq":1,"t":0,"kind":null}` + "\n", `{"Seq":1,"t":0,"kind":"crash"}` + "\n",
		` {"seq":1, "t" : 0 ,"kind":"crash"}  ` + "\r\n", `[{"seq":1,"t":0,"kind":"crash"}]` + "\n", `{"seq":01,"t":0,"kind":"crash"}` + "\n",
		`{"seq":1,"t":0,"kind":"crash","detail":[[]]}` + "\n", `{"seq":1,"t":0,"kind":"crash"},` + "\n", `{"seq":1,"t":0,"kind":"crash",}` + "\n",
	} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		h, err := Decode(bytes.NewReader(in))
		lines := strings.Split(strings.TrimSuffix(string(in), "\n"), "\n")
		var invalid *InvalidError
		if err != nil {
			if !errors.As(err, &invalid) || invalid.Line < 1 || invalid.Line > len(lines) {
				t.Fatalf("not matchable, or of line %d: %v", invalid.Line, err)
			}
			lines = lines[:invalid.Line-1]
		} else {
			var again bytes.Buffer
			if err := Encode(&again, h); err != nil {
				t.Fatalf("read what is not valid: %v", err)
			}
			if back, err := Decode(&again); err != nil || !slices.Equal(back, h) {
				t.Fatalf("read %+v, written and read again %+v, %v", h, back, err)
			}
		}
		for i, line := range lines {
			want, wantErr := oracle(line)
			if wantErr != nil || err == nil && h[i] != want {
				t.Fatalf("line %d was read, as %+v; encoding/json: %+v, %v", i+1, h, want, wantErr)
			}
		}
	})
}
