package foreign

import (
	"math"
	"strings"

	"redlocksim/internal/lockhistories"
)

// anOp is an operation of a random history, by the indexes of its lines; ret is -1 if it never returned or is unknown.
type anOp struct {
	process, fn string
	call, ret   int
	unknown     bool
	token       int64
}

// definition judges the operations on one lock as docs/checker.md defines it, by keeping everything that may be the case
// between any two lines: the state of the lock, and which operations have taken effect.
func definition(m Model, lines []lockhistories.Line, lock string) bool {
	var ops []anOp
	open := map[string]int{}
	for i, l := range lines {
		if l.Lock != lock {
			continue
		}
		switch l.Type {
		case "invoke":
			open[l.Process] = len(ops)
			ops = append(ops, anOp{process: l.Process, fn: l.Func, call: i, ret: -1, unknown: true})
		case "ok":
			o := &ops[open[l.Process]]
			o.ret, o.unknown, o.token = i, false, unknownToken
			if l.Token != nil {
				o.token = *l.Token
			}
		case "fail":
			ops[open[l.Process]].fn = "none"
		}
	}
	type state struct {
		done     string // a letter for each operation
		owner    string
		depth    int
		token    int64
		hasToken bool // the lock ever had one
		told     bool // the token of this hold is known, not only the least it can be
		end      int64
	}
	step := func(s state, o anOp, now int64) (state, bool) {
		known := m.fenced() && !o.unknown && o.token != unknownToken
		if m == Lease && o.fn == "acquire" && s.owner != "" && s.end <= now {
			s.owner = ""
		}
		mine := s.owner == o.process || m == Mutex && s.owner != ""
		switch {
		case o.fn == "acquire" && s.owner == "":
			s.owner, s.depth, s.end = o.process, 1, lines[o.call].Time+lockhistories.Lease
			if known && s.hasToken && o.token <= s.token {
				return s, false
			}
			if known {
				s.token, s.hasToken = o.token, true
			} else {
				s.token++
			}
			s.told = known
			return s, true
		case o.fn == "acquire":
			if known && s.hasToken && (o.token < s.token || s.told && o.token != s.token) {
				return s, false
			}
			if known {
				s.token, s.hasToken, s.told = o.token, true, true
			}
			s.depth++
			return s, mine && m.reentrant()
		case !mine:
			return s, false
		case o.fn == "extend":
			s.end = lines[o.call].Time + lockhistories.Lease
		case o.fn == "release":
			if s.depth--; s.depth == 0 {
				s.owner = ""
			}
		}
		return s, true
	}
	// late reports whether an operation of unknown outcome comes too late, as its process has had a success since.
	late := func(s state, n int) bool {
		for k := n + 1; k < len(ops); k++ {
			if m != Mutex && ops[n].unknown && ops[k].process == ops[n].process && !ops[k].unknown && s.done[k] == 'x' {
				return true
			}
		}
		return false
	}
	now := map[state]bool{{done: strings.Repeat(".", len(ops))}: true}
	for i := range lines {
		for n, o := range ops {
			if o.ret == i && o.fn != "none" {
				for s := range now {
					if s.done[n] != 'x' {
						delete(now, s)
					}
				}
			}
		}
		latest := int64(math.MaxInt64)
		if i+1 < len(lines) {
			latest = lines[i+1].Time
		}
		var left []state
		for s := range now {
			left = append(left, s)
		}
		for len(left) > 0 {
			s := left[len(left)-1]
			left = left[:len(left)-1]
			for n, o := range ops {
				if o.call > i || s.done[n] == 'x' || o.fn == "none" || o.unknown && o.fn == "extend" || late(s, n) {
					continue
				}
				next, legal := step(s, o, latest)
				next.done = next.done[:n] + "x" + next.done[n+1:]
				if legal && !now[next] {
					now[next] = true
					left = append(left, next)
				}
			}
		}
	}
	return len(now) > 0
}
