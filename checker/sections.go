package checker

import "redlocksim/history"

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

// sight is a number that a client knows the resource to hold, from the Seq at on; the operation that told it was called
// at call. The zero value is nothing known.
type sight struct {
	number   int64
	call, at int
	// grant is that under which it was read; own says that it was written.
	grant int
	own   bool
}

// reader is a process on a resource.
type reader struct{ process, resource string }

// later returns the one that is more recent.
func later(a, b sight) sight {
	if b.at > a.at {
		return b
	}
	return a
}

// sections finds the critical sections of each resource.
//
// What a section has read is what a read under its grant had returned when its write was called, or what the grant
// itself had written since; if there is neither, what its process had read last under an earlier grant and not used for a
// write yet. Where effects are recorded they say when, and whether at all, a write happened. The second effect of a write
// that came twice rests on what the first did: if that was nothing, it loses nothing either, and whether it was late is
// told by the leases.
func sections(t *transcript, a *application) (map[string][]section, error) {
	read := map[actor]sight{}  // by a read that returned, so far
	wrote := map[actor]sight{} // by a write that happened, so far
	called := map[int]sight{}  // by the operation, what was known when it was called; for reads and writes under way
	unused := map[reader]sight{}
	blind := map[int]bool{} // writes whose first effect rested on nothing
	found := map[string][]section{}
	enter := func(resource string, s section, known sight) {
		switch {
		case known.at != 0 && s.grant != 0:
			s.read, s.readAt, s.from, s.own = known.number, known.at, known.call, known.own
			if known.grant != s.grant {
				s.readUnder = known.grant
			}
		case s.applied != 0:
			s.blind, s.span = true, span{s.applied, s.applied}
		default:
			s.blind = true
		}
		found[resource] = append(found[resource], s)
	}
	for e := range t.Events() {
		if e.Func != history.Read && e.Func != history.Write {
			continue
		}
		switch e.Kind {
		case history.Call:
			o, by := &t.ops[e.Op], actorOf(e.Grant, e.Process)
			called[e.Op] = read[by]
			if o.fn == history.Write && o.outcome != history.Failed {
				at := reader{o.process, o.resource}
				if read[by].at == 0 && wrote[by].at == 0 {
					called[e.Op] = unused[at]
				}
				delete(unused, at)
			}
			if a.recorded[o.resource] {
				if err := a.contradiction(e.Op, o, t); err != nil {
					return nil, malformed(e, err)
				}
				continue
			}
			if o.fn == history.Read || o.outcome == history.Failed {
				continue
			}
			s := section{span: span{o.call, o.ret}, grant: o.grant, process: o.process, wrote: o.number, sure: o.outcome == history.OK}
			if !s.sure {
				s.to = forever
			}
			enter(o.resource, s, later(called[e.Op], wrote[by]))
			if s.sure {
				wrote[by] = sight{number: o.number, call: o.call, at: o.ret, grant: o.grant, own: true}
			} else {
				// It may hold either number now.
				delete(read, by)
				delete(wrote, by)
			}
		case history.Return:
			o := &t.ops[e.Op]
			if o.fn != history.Read || o.outcome != history.OK {
				continue
			}
			at := e.Seq
			if a.recorded[o.resource] {
				at = a.accepted[e.Op]
			}
			seen := sight{number: o.number, call: o.call, at: at, grant: o.grant}
			read[actorOf(o.grant, o.process)] = seen
			if o.grant != 0 {
				unused[reader{o.process, o.resource}] = seen
			}
		case history.Effect:
			if e.Outcome != history.OK || e.Func == history.Mark {
				continue
			}
			by, op := actorOf(e.Grant, e.Process), a.of[e.Seq]
			s := section{span: span{e.Seq, e.Seq}, grant: e.Grant, process: e.Process, wrote: e.Number, applied: e.Seq, sure: true}
			if e.Grant != 0 {
				s.process = t.ops[e.Grant].process
			}
			call, known, again := e.Seq, read[by], false
			if e.Op != 0 || op != 0 {
				// Named without being its first effect: the message came twice, and still rests on what was known then.
				again = op == 0
				op = max(op, e.Op)
				call, known = t.ops[op].call, called[op]
				if ret := t.ops[op].ret; ret != forever {
					s.to = max(s.to, ret)
				}
			}
			if e.Func == history.Read {
				if op == 0 {
					read[by] = sight{number: e.Number, call: e.Seq, at: e.Seq, grant: e.Grant}
				}
				continue
			}
			if known = later(known, wrote[by]); again && blind[op] {
				known = sight{}
			}
			if op != 0 && known.at == 0 {
				blind[op] = true
			}
			enter(t.on(e), s, known)
			wrote[by] = sight{number: e.Number, call: call, at: e.Seq, grant: e.Grant, own: true}
		}
	}
	return found, nil
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
