package redis

import (
	"errors"
	"strings"

	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
)

// Wording stands for a way in which the library's adapter puts a command to a node, and what comes of it: the script, how much
// else is in the message, which conditions there are, and the kind of answer. Names, values and times do not count. It is a
// hash, and below NumWordings.
type Wording uint16

// NumWordings is how many wordings are told apart at the most.
const NumWordings = 1 << 12

// Put is a command in a message, and how it was put.
type Put struct {
	*driver.Command
	// Script is the number of its script, and InFull says that the request carries the source.
	Script uint8
	InFull bool
	// Looks says that acquires find out what the node allows.
	Looks bool
	// Place is where the command is in its request, of so many, and Requests is how many the message has.
	Place, Of, Requests int
	// Fate is the number of what became of its request.
	Fate uint8
}

// wordings are those of a run.
type wordings [NumWordings / 64]uint64

// several is from how many on numbers are not told apart.
const several = 3

// Worded is called by a tier for a command that was answered.
func (s *Server) Worded(p *Put, r driver.Reply) {
	bits := uint64(0)
	number := func(n, below int) { bits = bits*uint64(below) + uint64(min(n, below-1)) }
	is := func(b bool) {
		if bits <<= 1; b {
			bits |= 1
		}
	}
	number(int(p.Op), 8)
	number(int(p.Script), 16)
	is(p.InFull)
	is(p.Looks)
	number(p.Place, several)
	number(p.Of, several+1)
	number(p.Requests, several+1)
	number(len(p.Keys), several)
	number(p.Round, several)
	number(int(p.Fate), several)
	is(p.Wake)
	if c := p.Conditions; c != nil {
		is(c.Token != 0)
		is(c.MaxTTL != 0)
		is(c.Watched != "")
	}
	number(int(r.Outcome), 16)
	is(r.Token != 0)
	is(r.Record != "")
	s.wordings.add(kernel.Key(0).With(bits).WithString(reasonFor(r)))
}

// reasonFor is the kind of a reply's error.
func reasonFor(r driver.Reply) string {
	switch {
	case r.Outcome != driver.Failed:
		return ""
	case errors.As(r.Err, new(*driver.MaxTTLError)):
		return "MaxTTL"
	}
	text := reason(r)
	return text[:max(0, strings.IndexByte(text, ' '))]
}

func (w *wordings) add(k kernel.Key) {
	at := uint64(k) % NumWordings
	w[at/64] |= 1 << (at % 64)
}

// Wordings are those of the run so far, ascending; none on tiers that do not tell.
func (d *Deployment) Wordings() (all []Wording) {
	for i := range Wording(NumWordings) {
		if d.wordings[i/64]&(1<<(i%64)) != 0 {
			all = append(all, i)
		}
	}
	return all
}
