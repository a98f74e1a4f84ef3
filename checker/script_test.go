package checker

import (
	"strconv"
	"strings"
	"testing"

	"redlocksim/sim/history"
)

// script reads a history from a notation for tests: events separated by ";" or newlines, 1 ms apart, on the resource r.
//
//	@20                         the next event is at 20 ms
//	c1 acquire 1 [r]            c1 calls operation 1, an acquire [of another resource]
//	c1 extend 2 of 1            operation 2, an extend of grant 1, on its resource; release alike
//	c1 read 3 [of 1]            operation 3, a read [under grant 1]
//	c1 write 4 =7 [of 1]        operation 4, a write of 7
//	c1 write 4 =7 of 1 upon 3   the same, which builds on operation 3, a read under another grant
//	ok 3 [=7]                   operation 3 returns [with the number 7]; fail and unknown alike
//	fail 3 early 20             the same, 20 ms earlier than it was to
//	applied 4 [=7]              the resource accepts operation 4 [which reads 7]; refused alike
//	effect read =7 of 1         the resource accepts a read of 7 under grant 1, no operation being named
//	expire 1                    the window of grant 1 ends
//	crash c1                    c1 crashes
//	fault pause c1              a fault is injected into c1; "-" is nobody
//	step 1 =3                   operation 1 makes a step of its attempt 3
func script(t testing.TB, text string) history.History {
	s := scriptReader{t: t, calls: map[string]history.Event{}}
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == ';' || r == '\n' }) {
		s.line, s.words = line, strings.Fields(line)
		if len(s.words) == 0 {
			continue
		}
		if at, ok := strings.CutPrefix(s.words[0], "@"); ok {
			s.now = int64(s.number(at)) * 1e6
			continue
		}
		e := s.event()
		e.Seq, e.Time = len(s.h)+1, s.now
		s.now += 1e6
		s.h = append(s.h, e)
	}
	return s.h
}

// scriptReader reads a script, event by event.
type scriptReader struct {
	t     testing.TB
	h     history.History
	calls map[string]history.Event // by the word for their operation
	now   int64
	line  string
	words []string // of the line
}

func (s *scriptReader) arg(i int) string {
	if i >= len(s.words) {
		s.t.Fatalf("%q is too short", s.line)
	}
	return s.words[i]
}

func (s *scriptReader) number(word string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(word, "="))
	if err != nil {
		s.t.Fatalf("%q is no number in %q", word, s.line)
	}
	return n
}

// operation is an event of the operation that the line names, without its kind.
func (s *scriptReader) operation() history.Event {
	call := s.calls[s.arg(1)]
	return history.Event{Process: call.Process, Op: call.Op, Func: call.Func, Resource: call.Resource, Grant: call.Grant,
		Number: call.Number}
}

// with adds what the line says of a grant, a read and a number.
func (s *scriptReader) with(e history.Event) history.Event {
	for i, w := range s.words {
		switch {
		case w == "of" && i+1 < len(s.words):
			e.Grant = s.number(s.words[i+1])
		case w == "early" && i+1 < len(s.words):
			e.Span = int64(s.number(s.words[i+1])) * 1e6
		case w == "upon" && i+1 < len(s.words):
			e.Basis = s.number(s.words[i+1])
		case strings.HasPrefix(w, "="):
			e.Number = int64(s.number(w))
		}
	}
	return e
}

// event is what the line says, without its place and time.
func (s *scriptReader) event() history.Event {
	switch what := s.words[0]; what {
	case "ok", "fail", "unknown":
		e := s.operation()
		e.Kind, e.Outcome = history.Return, history.Outcome(what)
		return s.with(e)
	case "applied", "refused":
		e := s.operation()
		e.Kind, e.Outcome = history.Effect, history.OK
		if what == "refused" {
			e.Outcome = history.Failed
		}
		return s.with(e)
	case "effect":
		return s.with(history.Event{Kind: history.Effect, Outcome: history.OK, Resource: "r", Func: history.Func(s.arg(1))})
	case "expire":
		return history.Event{Kind: history.Expire, Grant: s.number(s.arg(1))}
	case "crash":
		return history.Event{Kind: history.Crash, Process: s.arg(1)}
	case "fault":
		return history.Event{Kind: history.Fault, Name: s.arg(1), Process: strings.TrimPrefix(s.arg(2), "-")}
	case "step":
		e := s.operation()
		return s.with(history.Event{Kind: history.Step, Name: "attempt-started", Process: e.Process, Op: e.Op, Resource: e.Resource})
	default:
		e := history.Event{Kind: history.Call, Process: what, Func: history.Func(s.arg(1)), Op: s.number(s.arg(2)), Resource: "r"}
		if e.Func == history.Acquire && len(s.words) > 3 {
			e.Resource = s.words[3]
		}
		e = s.with(e)
		if of, known := s.calls[strconv.Itoa(e.Grant)]; known {
			e.Resource = of.Resource
		}
		s.calls[s.words[2]] = e
		return e
	}
}
