package foreign

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// anOp is an operation of a random history, by the indexes of its lines; ret is -1 if it never returned or is unknown.
type anOp struct {
	process, fn string
	call, ret   int
	unknown     bool
	token       int64
	lease       int64
	mode        mode
}

// operationsOn reads the operations on one lock.
func operationsOn(lock string, lines []drawnLine) (ops []anOp) {
	open, length := map[string]int{}, map[string]int64{}
	for i, l := range lines {
		if l.Lock != lock {
			continue
		}
		switch l.Type {
		case "invoke":
			open[l.Process] = len(ops)
			ops = append(ops, anOp{process: l.Process, fn: l.Func, call: i, ret: -1, unknown: true, lease: l.TTL, mode: modes[l.Mode]})
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
	for i := range ops {
		switch o := &ops[i]; {
		case o.fn == "none":
		case o.lease != 0:
		case o.fn == "extend" && length[o.process] != 0:
			o.lease = length[o.process]
		default:
			o.lease = drawnLease
		}
		if ops[i].fn == "acquire" {
			length[ops[i].process] = ops[i].lease
		}
	}
	return ops
}

// lockState is what may be the case: the state of the lock, and which operations have taken effect.
type lockState struct {
	done     string // a letter for each operation
	owner    string
	depth    int
	token    int64
	hasToken bool // the lock ever had one
	told     bool // it is that of this hold, and not of one before
	end      int64
	holders  string // of a lock that several can hold: for each process a letter, its mode, and the end of its lease
}

// judged is what is to be judged: the operations on one lock, among the lines of all.
type judged struct {
	Model
	ops   []anOp
	lines []drawnLine
	// ordered says that the effects of a process have to be kept in its order.
	ordered bool
	leased  bool
	share   sharing
}

func newJudged(m Model, ops []anOp, lines []drawnLine) *judged {
	j := &judged{Model: m, ops: ops, lines: lines, leased: m == Lease || m == fencedLease}
	if m == fencedLease {
		j.Model = Fenced
	}
	return j
}

// step is the state after an operation that takes effect now, and whether it can.
func (j *judged) step(s lockState, o anOp, now int64) (lockState, bool) {
	known := j.fenced() && !o.unknown && o.token != unknownToken
	if j.leased && o.fn == "acquire" && s.owner != "" && s.end <= now {
		s.owner = ""
	}
	mine := s.owner == o.process || j.Model == Mutex && s.owner != ""
	switch {
	case o.fn == "acquire" && s.owner == "":
		s.owner, s.depth, s.end = o.process, 1, j.lines[o.call].Time+o.lease
		if known && s.hasToken && o.token <= s.token {
			return s, false
		}
		if known {
			s.token, s.hasToken = o.token, true
		}
		s.told = known
		return s, true
	case o.fn == "acquire":
		if known && s.hasToken && (s.told && o.token != s.token || !s.told && o.token <= s.token) {
			return s, false
		}
		if known {
			s.token, s.hasToken, s.told = o.token, true, true
		}
		s.depth++
		return s, mine && j.reentrant()
	case !mine:
		return s, false
	case o.fn == "extend":
		s.end = j.lines[o.call].Time + o.lease
	case o.fn == "release":
		if s.depth--; s.depth == 0 {
			s.owner = ""
		}
	}
	return s, true
}

// steps are the states after an operation that takes effect now.
func (j *judged) steps(s lockState, o anOp, now int64) []lockState {
	if !j.share.none() {
		return j.shared(s, o, now)
	}
	if next, legal := j.step(s, o, now); legal {
		return []lockState{next}
	}
	return nil
}

// late reports whether an operation of unknown outcome comes too late, as its process has had a success since.
func (j *judged) late(s lockState, n int) bool {
	for k := n + 1; k < len(j.ops); k++ {
		if j.Model != Mutex && j.ops[n].unknown && j.ops[k].process == j.ops[n].process && !j.ops[k].unknown && s.done[k] == 'x' {
			return true
		}
	}
	return false
}

// early reports whether an operation would come before a success that its process had before it.
func (j *judged) early(s lockState, n int) bool {
	for k := range n {
		if j.ordered && j.ops[k].process == j.ops[n].process && !j.ops[k].unknown && j.ops[k].fn != "none" && s.done[k] != 'x' {
			return true
		}
	}
	return false
}

// follow adds to the states all those that operations called up to a line lead to, before the time of the next.
func (j *judged) follow(states map[lockState]bool, line int, before int64) {
	left := slices.Collect(maps.Keys(states))
	for len(left) > 0 {
		s := left[len(left)-1]
		left = left[:len(left)-1]
		for n, o := range j.ops {
			if o.call > line || s.done[n] == 'x' || o.fn == "none" || o.unknown && o.fn == "extend" || j.late(s, n) || j.early(s, n) {
				continue
			}
			for _, next := range j.steps(s, o, before) {
				next.done = next.done[:n] + "x" + next.done[n+1:]
				if !states[next] {
					states[next] = true
					left = append(left, next)
				}
			}
		}
	}
}

// definition judges the operations on one lock as docs/histories.md defines it, by keeping everything that may be the case
// between any two lines.
func definition(m Model, lines []drawnLine, lock string) bool {
	return newJudged(m, operationsOn(lock, lines), lines).good()
}

// unsure judges them as it is defined for clocks that may differ: calls are earlier by half of that, returns later, and of one
// time calls come first.
func unsure(m Model, lines []drawnLine, lock string, clockError int64) bool {
	return unsureOf(newJudged(m, operationsOn(lock, lines), nil), lines, clockError)
}

func unsureOf(j *judged, lines []drawnLine, clockError int64) bool {
	type shifted struct {
		drawnLine
		was int
	}
	var all []shifted
	for i, l := range lines {
		if l.Type == "invoke" {
			l.Time -= (clockError + 1) / 2
		} else {
			l.Time += (clockError + 1) / 2
		}
		all = append(all, shifted{l, i})
	}
	slices.SortStableFunc(all, func(a, b shifted) int {
		rank := map[bool]int{true: 0, false: 1}
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(rank[a.Type == "invoke"], rank[b.Type == "invoke"]))
	})
	j.ordered = j.Model != Mutex
	is := make([]int, len(lines))
	for i, l := range all {
		j.lines = append(j.lines, l.drawnLine)
		is[l.was] = i
	}
	for i := range j.ops {
		j.ops[i].call = is[j.ops[i].call]
		if j.ops[i].ret >= 0 {
			j.ops[i].ret = is[j.ops[i].ret]
		}
	}
	return j.good()
}

func (j *judged) good() bool {
	states := map[lockState]bool{{done: strings.Repeat(".", len(j.ops))}: true}
	for i := range j.lines {
		for n, o := range j.ops {
			if o.ret == i && o.fn != "none" {
				maps.DeleteFunc(states, func(s lockState, _ bool) bool { return s.done[n] != 'x' })
			}
		}
		before := int64(math.MaxInt64)
		if i+1 < len(j.lines) {
			before = j.lines[i+1].Time
		}
		j.follow(states, i, before)
	}
	return len(states) > 0
}
