package independent

import (
	"math/big"
	"math/rand/v2"
)

// server is a lock that does what the text says.
type server struct {
	definition
	random    *rand.Rand
	state     state
	lastToken int64
	now       int64
	events    []event
}

// call is an operation under way at a server.
type call struct {
	op     *operation
	done   bool
	answer string
	token  int64
}

// mistaken draws a history that is right but for one mistake, and without it every other time. right says which.
func mistaken(random *rand.Rand, d definition) (events []event, right bool) {
	s := &server{definition: d, random: random, lastToken: int64(random.IntN(8)) - 4}
	s.run()
	if random.IntN(2) == 0 {
		return s.events, true
	}
	s.mistake()
	return s.events, false
}

func (s *server) one(in int) bool { return s.random.IntN(in) == 0 }

// run lets processes use the lock. Some give up; what they gave up takes effect before, or before their next call, or never.
func (s *server) run() {
	calls, late, giveUp := map[string]*call{}, map[string]*call{}, []int{2, 4, 12, 1000}[s.random.IntN(4)]
	for range 8 + s.random.IntN(28) {
		s.now += int64([]int{0, 0, 1, 1, 2, 3, 6}[s.random.IntN(7)])
		process := []string{"A", "B", "C"}[s.random.IntN(3)]
		if holder := s.state.holder; holder != "" && s.one(2) {
			process = holder
		}
		c := calls[process]
		switch {
		case late[process] != nil && s.one(2):
			s.serve(late[process])
			delete(late, process)
		case c == nil:
			delete(late, process)
			c = &call{op: &operation{process: process, does: s.wish(process), called: s.now}}
			calls[process] = c
			s.add(c, "invoke")
		case !c.done && s.one(3):
			s.serve(c)
		case s.one(giveUp):
			if !c.done && s.one(2) {
				late[process] = c
			}
			delete(calls, process)
			s.add(c, "info")
		default:
			if !c.done {
				s.serve(c)
			}
			delete(calls, process)
			s.add(c, c.answer)
		}
	}
}

// wish says what a process calls next.
func (s *server) wish(process string) string {
	if s.state.held && (s.state.holder == process || !s.processesMatter) {
		return []string{"acquire", "release", "release", "release", "release", "extend"}[s.random.IntN(6)]
	}
	return []string{"acquire", "acquire", "acquire", "acquire", "acquire", "release", "extend"}[s.random.IntN(7)]
}

// serve does what was called, if it is legal. A hold has a token, and here an acquire that is no grant has that of the
// hold. With leases, each is a grant.
func (s *server) serve(c *call) {
	c.done, c.answer = true, "fail"
	then, legal := s.model(s.state, c.op, s.now)
	if !legal {
		return
	}
	if c.op.does == "acquire" && (!s.state.held || s.times) {
		s.lastToken += int64([]int{1, 1, 1, 1, 2}[s.random.IntN(5)])
	}
	c.answer, c.token, s.state = "ok", s.lastToken, then
}

func (s *server) add(c *call, kind string) {
	e := event{Process: c.op.process, Type: kind, Func: c.op.does, Lock: "r", Time: s.now, Index: len(s.events)}
	if s.tokens && kind == "ok" && e.Func == "acquire" {
		e.Value = big.NewInt([]int64{c.token, -1}[s.random.IntN(2)])
	}
	s.events = append(s.events, e)
}

// mistake makes one return wrong: the token in it, most of the time if there is one, or the outcome.
func (s *server) mistake() {
	var returns, told []int
	for i, e := range s.events {
		if e.Type == "ok" || e.Type == "fail" {
			returns = append(returns, i)
		}
		if e.Value != nil && e.Value.Int64() != -1 {
			told = append(told, i)
		}
	}
	if len(told) > 0 && !s.one(4) {
		e := &s.events[told[s.random.IntN(len(told))]]
		e.Value = new(big.Int).Add(e.Value, big.NewInt([]int64{-2, -1, -1, 1, 1}[s.random.IntN(5)]))
		return
	}
	if len(returns) == 0 {
		return
	}
	e := &s.events[returns[s.random.IntN(len(returns))]]
	if e.Type == "ok" {
		e.Type, e.Value = "fail", nil
		return
	}
	e.Type = "ok"
	if s.tokens && e.Func == "acquire" {
		e.Value = big.NewInt(-1)
	}
}
