package checker

import (
	"strconv"
	"strings"
	"testing"

	"redlocksim/history"
)

// script reads a history from a notation for tests: events separated by ";" or newlines, 1 ms apart, on the resource r.
//
//	@20                         the next event is at 20 ms
//	c1 acquire 1 [r]            c1 calls operation 1, an acquire [of another resource]
//	c1 extend 2 of 1            operation 2, an extend of grant 1; release alike
//	c1 read 3 [of 1]            operation 3, a read [under grant 1]
//	c1 write 4 =7 [of 1]        operation 4, a write of 7
//	c1 write 4 =7 of 1 upon 3   the same, which builds on operation 3, a read under another grant
//	ok 3 [=7]                   operation 3 returns [with the number 7]; fail and unknown alike
//	applied 4 [=7]              the resource accepts operation 4 [which reads 7]; refused alike
//	effect read =7 of 1         the resource accepts a read of 7 under grant 1, no operation being named
//	expire 1                    the window of grant 1 ends
//	crash c1                    c1 crashes
//	fault pause c1              a fault is injected into c1; "-" is nobody
//	step 1 =3                   operation 1 makes a step of its attempt 3
func script(t testing.TB, text string) history.History {
	var h history.History
	ops := map[string]history.Event{}
	var now int64
	number := func(word string) int {
		n, err := strconv.Atoi(strings.TrimPrefix(word, "="))
		if err != nil {
			t.Fatalf("%q is no number in %q", word, text)
		}
		return n
	}
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == ';' || r == '\n' }) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if at, ok := strings.CutPrefix(words[0], "@"); ok {
			now = int64(number(at)) * 1e6
			continue
		}
		e := history.Event{Seq: len(h) + 1, Time: now}
		now += 1e6
		arg := func(i int) string {
			if i >= len(words) {
				t.Fatalf("%q is too short", line)
			}
			return words[i]
		}
		of := func() {
			for i, w := range words[:len(words)-1] {
				switch w {
				case "of":
					e.Grant = number(words[i+1])
				case "upon":
					e.Basis = number(words[i+1])
				}
			}
			for _, w := range words {
				if strings.HasPrefix(w, "=") {
					e.Number = int64(number(w))
				}
			}
		}
		switch words[0] {
		case "ok", "fail", "unknown":
			call := ops[arg(1)]
			e.Kind, e.Outcome = history.Return, history.Outcome(words[0])
			e.Process, e.Op, e.Func, e.Resource, e.Grant, e.Number = call.Process, call.Op, call.Func, call.Resource, call.Grant, call.Number
			of()
		case "applied", "refused":
			call := ops[arg(1)]
			e.Kind, e.Outcome = history.Effect, history.OK
			if words[0] == "refused" {
				e.Outcome = history.Failed
			}
			e.Process, e.Op, e.Func, e.Resource, e.Grant, e.Number = call.Process, call.Op, call.Func, call.Resource, call.Grant, call.Number
			of()
		case "effect":
			e.Kind, e.Outcome, e.Resource, e.Func = history.Effect, history.OK, "r", history.Func(arg(1))
			of()
		case "expire":
			e.Kind, e.Grant = history.Expire, number(arg(1))
		case "crash":
			e.Kind, e.Process = history.Crash, arg(1)
		case "fault":
			e.Kind, e.Name, e.Process = history.Fault, arg(1), strings.TrimPrefix(arg(2), "-")
		case "step":
			call := ops[arg(1)]
			e.Kind, e.Name, e.Process, e.Op, e.Resource = history.Step, "attempt-started", call.Process, call.Op, call.Resource
			of()
		default:
			e.Kind, e.Process, e.Func, e.Op, e.Resource = history.Call, words[0], history.Func(arg(1)), number(arg(2)), "r"
			if e.Func == history.Acquire && len(words) > 3 {
				e.Resource = words[3]
			}
			of()
			ops[words[2]] = e
		}
		h = append(h, e)
	}
	return h
}
