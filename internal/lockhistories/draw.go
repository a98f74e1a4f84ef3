// Package lockhistories draws random histories of locks, good and bad, to compare checkers on.
//
// [Draw] takes its choices from the caller, so that a property test can shrink a history, and the program in bulk can draw the
// same half a million again from a seed.
package lockhistories

import "fmt"

// The kinds of locks, by the names that redlocksim check has for them.
const (
	mutex           = "mutex"
	reentrant       = "reentrant"
	fenced          = "fenced"
	reentrantFenced = "reentrant-fenced"
	lease           = "lease"
)

// FencedLease is the name here for the kind fenced with leases.
const FencedLease = "fenced-lease"

// unknownToken stands for a token that the client was not told.
const unknownToken = -1

// Lease is how long a lease of the histories lasts, in nanoseconds, where the line does not say.
const Lease = 6

// Line is an event of a history, in the words of Jepsen.
type Line struct {
	Process string `json:"process"`
	Type    string `json:"type"`
	Func    string `json:"f"`
	Lock    string `json:"lock"`
	Token   *int64 `json:"value,omitempty"`  // of an acquire that succeeded, where the model has tokens
	Mode    string `json:"mode,omitempty"`   // of a read-write lock; not drawn here
	TTL     int64  `json:"ttl_ns,omitempty"` // of an acquire or extend, the length of its lease
	Time    int64  `json:"time"`             // in nanoseconds
	Index   int    `json:"index"`
}

// server is a lock that works, unless told to answer wrongly.
type server struct {
	owner        string
	depth        int
	length       int64 // of the lease, if it is not extended by another
	until        int64
	tokens, held int64 // the last token, and that of the hold
}

// do carries out what a process asks for, and reports whether that succeeded. overstay lets an expired lease go on.
func (s *server) do(model string, l *Line, now int64, overstay bool) bool {
	process, fn, length := l.Process, l.Func, l.TTL
	leased := model == lease || model == FencedLease
	if leased && s.owner != "" && s.until <= now && !(overstay && s.owner == process) {
		s.owner = ""
	}
	mine := s.owner == process || model == mutex && s.owner != ""
	switch {
	case fn == "acquire" && s.owner == "":
		if length == 0 {
			length = Lease
		}
		s.owner, s.depth, s.length, s.until = process, 1, length, now+length
		s.tokens++
		s.held = s.tokens
		return true
	case fn == "acquire" && mine && (model == reentrant || model == reentrantFenced):
		s.depth++
		return true
	case fn == "release" && mine:
		if s.depth--; s.depth == 0 {
			s.owner = ""
		}
		return true
	case fn == "extend" && mine:
		if length == 0 {
			length = s.length
		}
		s.until = now + length
		return true
	}
	return false
}

// client is a process: its call, and whether the lock has carried it out yet.
type client struct {
	name   string
	call   *Line
	done   bool
	answer string
	token  int64
}

// drawing is a history that is being drawn.
type drawing struct {
	model   string
	draw    func(n int, what string) int
	locks   map[string]*server
	clients []*client
	// late has calls that were given up and still take effect, later.
	late []Line
	// Each is one in so many: operations given up, wrong answers, tokens that the client is not told, acquires of a
	// second lock.
	giveUp, wrong, untold, second int
	// lengths says that some leases have a length of their own.
	lengths bool
	now     int64
	lines   []Line
}

// Draw draws the record of two to four processes on up to two locks. Operations overlap, fail, never return, or return without
// a known outcome and take effect then, later, or never. Every other history is of a lock that sometimes answers wrongly. draw
// returns a number from 0 to n-1.
func Draw(model string, draw func(n int, what string) int) []Line {
	d := &drawing{model: model, draw: draw, locks: map[string]*server{"r": {}, "s": {}},
		giveUp: []int{2, 4, 12, 40}[draw(4, "given up")], untold: []int{2, 6, 1000}[draw(3, "untold")],
		second: []int{8, 1000}[draw(2, "second lock")]}
	if draw(2, "works") == 0 {
		d.wrong = []int{4, 12}[draw(2, "wrong")]
	}
	d.lengths = (model == lease || model == FencedLease) && draw(2, "lengths") == 0
	for i := range 2 + draw(3, "processes") {
		d.clients = append(d.clients, &client{name: fmt.Sprint(i)})
	}
	events := 4 + draw(40, "events")
	for len(d.lines) < events {
		d.step(d.clients[draw(len(d.clients), "process")])
	}
	return d.lines
}

func (d *drawing) one(in int, what string) bool { return in > 0 && d.draw(in, what) == 0 }

func (d *drawing) add(l Line) {
	d.now += int64(d.draw(3, "pause"))
	l.Time, l.Index = d.now, len(d.lines)
	d.lines = append(d.lines, l)
}

// step advances a client, or a call that was given up.
func (d *drawing) step(c *client) {
	switch {
	case len(d.late) > 0 && d.one(5, "late"):
		l := d.late[0]
		d.late = d.late[1:]
		d.locks[l.Lock].do(d.model, &l, d.now, false)
	case c.call == nil:
		d.ask(c)
	case !c.done && d.one(3, "done"):
		d.serve(c)
	case d.one(d.giveUp, "give up"):
		if !c.done && d.one(2, "ever") {
			d.late = append(d.late, *c.call)
		}
		c.call.Type = "info"
		d.add(*c.call)
		c.call = nil
	default:
		if !c.done {
			d.serve(c)
		}
		c.call.Type = c.answer
		tokens := d.model == fenced || d.model == reentrantFenced || d.model == FencedLease
		if tokens && c.call.Func == "acquire" && c.answer == "ok" {
			token := c.token
			c.call.Token = &token
		}
		d.add(*c.call)
		c.call = nil
	}
}

// ask begins an operation, mostly one that makes sense.
func (d *drawing) ask(c *client) {
	lock := "r"
	if d.one(d.second, "lock") {
		lock = "s"
	}
	words := []string{"acquire", "acquire", "acquire", "release", "release", "extend"}
	if d.locks[lock].owner == c.name {
		words = []string{"acquire", "release", "release", "release", "release", "extend", "extend"}
	}
	c.done = false
	c.call = &Line{Process: c.name, Type: "invoke", Func: words[d.draw(len(words), "f")], Lock: lock}
	if c.call.Func != "release" && d.lengths && d.one(2, "own length") {
		c.call.TTL = int64(1 + d.draw(9, "length"))
	}
	d.add(*c.call)
}

// serve has the lock carry out a client's call.
func (d *drawing) serve(c *client) {
	s, wrong := d.locks[c.call.Lock], d.one(d.wrong, "wrong")
	c.done, c.answer = true, "fail"
	if s.do(d.model, c.call, d.now, d.one(2, "overstay")) || wrong {
		c.answer = "ok"
	}
	c.token = s.held
	switch {
	case d.one(d.untold, "told"):
		c.token = unknownToken
	case wrong:
		c.token += int64(d.draw(4, "other")) - 2
	}
}
