package independent

import (
	"math"
	"math/big"
)

// state is the state of a lock. The zero state is a free lock that nobody had yet. Each model uses a part of it.
type state struct {
	held   bool
	holder string // all but mutex
	times  int    // reentrant and reentrant-fenced: n
	until  int64  // lease: E
	never  bool   // lease: E is never
	ended  tokens // fenced and reentrant-fenced: of the acquires before, or of the holds before
	token  *big.Int
}

// model says whether an operation is legal in a state at a time, and what the state is then.
type model func(s state, op *operation, now int64) (then state, legal bool)

func mutex(s state, op *operation, _ int64) (state, bool) {
	switch op.does {
	case "acquire":
		return state{held: true}, !s.held
	case "extend":
		return s, s.held
	default:
		return state{}, s.held
	}
}

func owner(s state, op *operation, _ int64) (state, bool) {
	switch op.does {
	case "acquire":
		return state{held: true, holder: op.process}, !s.held
	case "extend":
		return s, s.held && s.holder == op.process
	default:
		return state{}, s.held && s.holder == op.process
	}
}

func reentrant(s state, op *operation, _ int64) (state, bool) {
	if op.does == "acquire" && !s.held {
		return state{held: true, holder: op.process, times: 1}, true
	}
	if !s.held || s.holder != op.process {
		return s, false
	}
	switch op.does {
	case "acquire":
		s.times++
	case "release":
		if s.times--; s.times == 0 {
			return state{}, true
		}
	}
	return s, true
}

// tokens are those that were given out so far: the last that is known, nil if none is, and how many unknown ones came after.
type tokens struct {
	known   *big.Int
	unknown int
}

// fits says whether the next token can be next, which is nil if it is not known.
func (t tokens) fits(next *big.Int) bool {
	if t.known == nil || next == nil {
		return true
	}
	room := new(big.Int).Sub(next, t.known)
	return room.Cmp(big.NewInt(int64(t.unknown))) > 0
}

func (t tokens) and(next *big.Int) tokens {
	if next == nil {
		return tokens{t.known, t.unknown + 1}
	}
	return tokens{next, 0}
}

func fenced(s state, op *operation, now int64) (state, bool) {
	then, legal := owner(s, op, now)
	then.ended = s.ended
	if op.does == "acquire" {
		legal = legal && s.ended.fits(op.token)
		then.ended = s.ended.and(op.token)
	}
	return then, legal
}

func reentrantFenced(s state, op *operation, now int64) (state, bool) {
	then, legal := reentrant(s, op, now)
	if !legal {
		return s, false
	}
	then.ended, then.token = s.ended, s.token
	if op.does == "acquire" && op.token != nil {
		if s.held && s.token != nil {
			return then, s.token.Cmp(op.token) == 0
		}
		then.token = op.token
		return then, s.ended.fits(op.token)
	}
	if !then.held {
		then.ended, then.token = s.ended.and(s.token), nil
	}
	return then, true
}

// fencedLeased is fenced, with leases that end.
func fencedLeased(s state, op *operation, now int64, lease int64) (state, bool) {
	then, legal := leased(s, op, now, lease)
	then.ended = s.ended
	if op.does == "acquire" {
		legal = legal && s.ended.fits(op.token)
		then.ended = s.ended.and(op.token)
	}
	return then, legal
}

func leased(s state, op *operation, now int64, lease int64) (state, bool) {
	if op.lease != 0 {
		lease = op.lease
	}
	until, never := op.called+lease, op.called > math.MaxInt64-lease
	switch op.does {
	case "acquire":
		over := !s.never && now >= s.until
		return state{held: true, holder: op.process, until: until, never: never}, !s.held || over
	case "extend":
		s.until, s.never = until, never
		return s, s.held && s.holder == op.process
	default:
		return state{}, s.held && s.holder == op.process
	}
}
