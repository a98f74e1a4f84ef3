package foreign

import "fmt"

// fencedLease is what the tests call the model Fenced with leases.
const fencedLease Model = "fenced-lease"

// drawnLease is how long a lease of the drawn histories lasts, in nanoseconds, where the line does not say.
const drawnLease = 6

// drawnLine is an event of a history, in the words of Jepsen.
type drawnLine struct {
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
func (s *server) do(model Model, l *drawnLine, now int64, overstay bool) bool {
	process, fn, length := l.Process, l.Func, l.TTL
	leased := model == Lease || model == fencedLease
	if leased && s.owner != "" && s.until <= now && !(overstay && s.owner == process) {
		s.owner = ""
	}
	mine := s.owner == process || model == Mutex && s.owner != ""
	switch {
	case fn == "acquire" && s.owner == "":
		if length == 0 {
			length = drawnLease
		}
		s.owner, s.depth, s.length, s.until = process, 1, length, now+length
		s.tokens++
		s.held = s.tokens
		return true
	case fn == "acquire" && mine && (model == Reentrant || model == ReentrantFenced):
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
	call   *drawnLine
	done   bool
	answer string
	token  int64
}

// drawing is a history that is being drawn.
type drawing struct {
	model   Model
	draw    func(n int, what string) int
	locks   map[string]*server
	clients []*client
	// late has calls that were given up and still take effect, later.
	late []drawnLine
	// Each is one in so many: operations given up, wrong answers, tokens that the client is not told, acquires of a
	// second lock.
	giveUp, wrong, untold, second int
	// lengths says that some leases have a length of their own.
	lengths bool
	now     int64
	lines   []drawnLine
}

// draw draws the record of two to four processes on up to two locks. Operations overlap, fail, never return, or return without
// a known outcome and take effect then, later, or never. Every other history is of a lock that sometimes answers wrongly. draw
// returns a number from 0 to n-1.
func draw(model Model, draw func(n int, what string) int) []drawnLine {
	d := &drawing{model: model, draw: draw, locks: map[string]*server{"r": {}, "s": {}},
		giveUp: []int{2, 4, 12, 40}[draw(4, "given up")], untold: []int{2, 6, 1000}[draw(3, "untold")],
		second: []int{8, 1000}[draw(2, "second lock")]}
	if draw(2, "works") == 0 {
		d.wrong = []int{4, 12}[draw(2, "wrong")]
	}
	d.lengths = (model == Lease || model == fencedLease) && draw(2, "lengths") == 0
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

func (d *drawing) add(l drawnLine) {
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
		tokens := d.model == Fenced || d.model == ReentrantFenced || d.model == fencedLease
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
	c.call = &drawnLine{Process: c.name, Type: "invoke", Func: words[d.draw(len(words), "f")], Lock: lock}
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
