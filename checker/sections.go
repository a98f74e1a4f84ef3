package checker

import "redlocksim/sim/history"

// section is a critical section as one operation on the resource's number: a write, and what its client had read of the
// resource under the same grant before.
type section struct {
	span    // within which it is atomic, if it is
	grant   int
	process string
	// blind: nothing was read, so that the write depends on no number.
	blind       bool
	read, wrote int64
	// readUnder is the grant under which the number was read, if that is another; own: it was not read, but the grant's
	// own write before.
	readUnder int
	own       bool
	// onlyRead: nothing was written.
	onlyRead bool
	// readAt is the Seq at which the number was read: of the read's effect, or of its return.
	readAt int
	// applied is the Seq of the accepted effect of the write, 0 if the resource recorded no effects.
	applied int
	// sure: the write was applied, and not only perhaps.
	sure bool
}

// sight is what a client knows: the resource holds number, from the Seq at on. It learned so from an operation that was called
// at call. The zero value is no knowledge.
type sight struct {
	number   int64
	call, at int
	// grant is that under which it was read; own says that it was written.
	grant int
	own   bool
}

// later returns the one that is more recent.
func later(a, b sight) sight {
	if b.at > a.at {
		return b
	}
	return a
}

// sections finds the critical sections of each resource.
//
// What a section has read is what a read under its grant had returned when its write was called, or what the grant itself had
// written since. If there is neither, or no grant, it is what the write names, which was read under another grant or none:
// several programs can share a process, and only they know which read a write builds on. Effects, if they are recorded, say
// when a write happened, and whether it did. The second effect of a write that arrived twice rests on what the first one did:
// if that was nothing it loses nothing either, and the leases say whether it was late. Under no grant it loses nothing.
func sections(t *transcript, a *application) (map[string][]section, error) {
	s := &sectioning{transcript: t, a: a,
		read: map[actor]sight{}, wrote: map[actor]sight{}, called: map[int]sight{}, seen: map[int]sight{},
		blind: map[int]bool{}, found: map[string][]section{}}
	for e := range t.Events() {
		if e.Func != history.Read && e.Func != history.Write {
			continue
		}
		switch e.Kind {
		case history.Call:
			if err := s.call(e); err != nil {
				return nil, malformed(e, err)
			}
		case history.Return:
			s.ret(e)
		case history.Effect:
			if e.Outcome == history.OK {
				s.effect(e)
			}
		}
	}
	return s.found, nil
}

// sectioning follows what each client knows of the resources along a history.
type sectioning struct {
	*transcript
	a      *application
	read   map[actor]sight // by a read that returned, so far
	wrote  map[actor]sight // by a write that happened, so far
	called map[int]sight   // by the operation under way, what was known when it was called
	seen   map[int]sight   // by the read that returned it
	blind  map[int]bool    // writes whose first effect rested on nothing
	found  map[string][]section
}

// enter adds a section that rests on what was known.
func (s *sectioning) enter(resource string, x section, known sight) {
	switch {
	case known.at != 0:
		x.read, x.readAt, x.from, x.own = known.number, known.at, known.call, known.own
		if known.grant != x.grant {
			x.readUnder = known.grant
		}
	case x.applied != 0:
		x.blind, x.span = true, span{x.applied, x.applied}
	default:
		x.blind = true
	}
	s.found[resource] = append(s.found[resource], x)
}

func (s *sectioning) call(e *history.Event) error {
	o, by := &s.ops[e.Op], actorOf(e.Grant, e.Process)
	s.called[e.Op] = s.read[by]
	if o.fn == history.Write && o.outcome != history.Failed {
		if s.read[by].at == 0 && s.wrote[by].at == 0 {
			s.called[e.Op] = s.seen[o.basis]
		}
	}
	if s.a.recorded[o.resource] {
		return s.a.contradiction(e.Op, o, s.transcript)
	}
	if o.fn == history.Read || o.outcome == history.Failed {
		return nil
	}
	x := section{span: span{o.call, o.ret}, grant: o.grant, process: o.process, wrote: o.number, sure: o.outcome == history.OK}
	if !x.sure {
		x.to = forever
	}
	s.enter(o.resource, x, later(s.called[e.Op], s.wrote[by]))
	if x.sure && x.grant != 0 {
		s.wrote[by] = sight{number: o.number, call: o.call, at: o.ret, grant: o.grant, own: true}
	} else {
		// The resource may hold either number now.
		delete(s.read, by)
		delete(s.wrote, by)
	}
	return nil
}

func (s *sectioning) ret(e *history.Event) {
	o := &s.ops[e.Op]
	if o.fn != history.Read || o.outcome != history.OK {
		return
	}
	at := e.Seq
	if s.a.recorded[o.resource] {
		at = s.a.accepted[e.Op]
	}
	seen := sight{number: o.number, call: o.call, at: at, grant: o.grant}
	if s.seen[e.Op] = seen; o.grant != 0 {
		s.read[actorOf(o.grant, o.process)] = seen
	}
}

func (s *sectioning) effect(e *history.Event) {
	by, op := actorOf(e.Grant, e.Process), s.a.of[e.Seq]
	x := section{span: span{e.Seq, e.Seq}, grant: e.Grant, process: e.Process, wrote: e.Number, applied: e.Seq, sure: true}
	if e.Grant != 0 {
		x.process = s.ops[e.Grant].process
	}
	call, known, again := e.Seq, s.read[by], false
	if e.Op != 0 || op != 0 {
		// Named without being its first effect: the message arrived twice, and still rests on what was known then.
		again = op == 0
		op = max(op, e.Op)
		call, known = s.ops[op].call, s.called[op]
		if ret := s.ops[op].ret; ret != forever {
			x.to = max(x.to, ret)
		}
	}
	if e.Func == history.Read {
		if op == 0 && e.Grant != 0 {
			s.read[by] = sight{number: e.Number, call: e.Seq, at: e.Seq, grant: e.Grant}
		}
		return
	}
	if known = later(known, s.wrote[by]); again && (s.blind[op] || e.Grant == 0) {
		known = sight{}
	}
	if op != 0 && known.at == 0 {
		s.blind[op] = true
	}
	s.enter(s.on(e), x, known)
	if e.Grant != 0 {
		s.wrote[by] = sight{number: e.Number, call: call, at: e.Seq, grant: e.Grant, own: true}
	}
}

// reads are the reads on each resource that recorded no effects, in the order in which they returned.
func reads(t *transcript, a *application) map[string][]section {
	found := map[string][]section{}
	for e := range t.Events() {
		if e.Kind != history.Return || e.Func != history.Read || e.Outcome != history.OK {
			continue
		}
		if o := &t.ops[e.Op]; !a.recorded[o.resource] {
			found[o.resource] = append(found[o.resource], section{span: span{o.call, o.ret}, grant: o.grant, process: o.process,
				read: o.number, readAt: o.ret, sure: true, onlyRead: true})
		}
	}
	return found
}
