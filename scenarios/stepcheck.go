package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/scenarios/protocols"
	"redlocksim/sim/storage"
)

// program looks at the steps of an item: whether they have the locks that they need, and on which resources. wrong is told
// of the index of the first step that has not, of a word of it with those that would be right, and of what is wrong.
func (c *check) program(i *Item, wrong func(step int, word string, valid []string, format string, args ...any)) {
	p := stepCheck{check: c, item: i, can: c.s.Lock.Capabilities()}
	for at := range i.Do {
		if o := p.objection(&i.Do[at]); o != nil {
			wrong(at, o.word, o.valid, "%s", o.text)
			return
		}
	}
}

// stepCheck goes through the steps of an item, and knows which locks are held after each.
type stepCheck struct {
	*check
	item     *Item
	can      protocols.Capabilities
	held     [][]string
	written  []bool          // under which of them
	ttls     []time.Duration // with which they were taken
	released [][]string
}

// objection is what is wrong with a step.
type objection struct {
	word  string
	valid []string
	text  string
}

func objectTo(word, format string, args ...any) *objection {
	return &objection{word, nil, fmt.Sprintf(format, args...)}
}

// objection goes on to the next step.
func (p *stepCheck) objection(s *Step) *objection {
	if unknown := slices.IndexFunc(s.Resource, func(name string) bool { return !slices.Contains(p.s.lockable(), name) }); unknown >= 0 {
		return &objection{s.Resource[unknown], p.s.lockable(), "there is no such resource"}
	}
	if o := p.toProtocol(s); o != nil {
		return o
	}
	switch {
	case s.is(takes):
		return p.toTaking(s)
	case !s.Kind.shape().underLease:
		return nil
	case s.Released:
		return p.toReleased(s)
	}
	return p.toUse(s)
}

// toReleased objects to a step about a lock that was not released, or to an effect that needs the lock.
func (p *stepCheck) toReleased(s *Step) *objection {
	of := s.among(p.released)
	switch {
	case len(p.released) == 0:
		return objectTo(string(s.Kind), "there is no lock that was released before")
	case of < 0:
		return objectTo(strings.Join(s.Resource, ", "), "is not what a lock was on that was released before, which is %s", on(p.released))
	case !s.is(effect):
		return nil
	case s.Resource == nil && len(p.released[of]) > 1:
		return objectTo(string(s.Kind), `does not say which resource: the lock was on several, as in "%s: {resource: %s, released: true}"`, s.Kind, p.released[of][0])
	case protocols.Of[protocols.DBRowSettings](p.s.Lock).Effects == protocols.InTransaction:
		return objectTo(string(s.Kind), "is in the transaction that holds the lock, and is over when that is released")
	case p.s.Storage == storage.CompareAndSet:
		return objectTo(string(s.Kind), "would carry no mark: storage compare-and-set knows a writer by the lock that it has")
	}
	return nil
}

// toProtocol objects to a step that the protocol cannot do.
func (p *stepCheck) toProtocol(s *Step) *objection {
	protocol := p.s.Lock.Protocol
	calls := s.Calling
	calls.Released = s.AsksReleased()
	switch why := calls.needs(p.can); {
	case s.Kind == CloseStep && !p.can.Closes:
		return objectTo(string(s.Kind), "protocol %s has no client that could be closed, only redlock has", protocol)
	case why != "":
		return objectTo(string(s.Kind), "protocol %s %s, only redlock does", protocol, why)
	case s.is(inOneCall) && !p.can.Renews:
		return objectTo(string(s.Kind), "protocol %s has no such call, only redlock has", protocol)
	}
	if s.TTL == 0 {
		return nil
	}
	if err := p.lock(s).Check(len(p.s.Nodes.Names)); err != nil {
		return objectTo(string(s.Kind), "%v", err)
	}
	return nil
}

// lock is the settings with which a step takes a lock.
func (p *stepCheck) lock(s *Step) protocols.Settings {
	lock := p.s.Lock
	if s.TTL != 0 {
		lock.TTL = s.TTL
	}
	return lock
}

func (p *stepCheck) toTaking(s *Step) *objection {
	names, ttl := p.item.Taken(s, p.s.Resources), p.lock(s).TTL
	switch {
	case p.s.semaphore(p.item, s) == "" && s.Kind == WithAllStep:
		return objectTo(string(s.Kind), "takes all permits of a semaphore, and %s is none", strings.Join(names, ", "))
	case s.Kind == WithAllStep && !slices.Contains(p.s.Resources, protocols.AllOf(names[0])):
		return objectTo(string(s.Kind), "takes the lock on %s as well: list it among the resources", protocols.AllOf(names[0]))
	case s.Kind == WithAllStep && slices.ContainsFunc(p.held, func(held []string) bool { return slices.Equal(held, names) }):
		return objectTo(string(s.Kind), "would wait for the permit of %s that is held already", names[0])
	case len(names) > 1 && slices.ContainsFunc(names, func(name string) bool { return slices.Contains(p.s.Semaphores, name) }):
		return objectTo(string(s.Kind), "takes one lock on several resources, and a semaphore is none: take its permit in a step of its own")
	case s.Resource == nil && p.item.Resource == nil && len(p.s.Resources) > 1:
		return objectTo(string(s.Kind), `does not say which resource: there are several, as in "%s: %s"`, s.Kind, p.s.Resources[0])
	case len(names) > 1 && !p.can.LocksAll:
		return objectTo(string(s.Kind), "protocol %s cannot lock several resources at once; lock one after the other", p.s.Lock.Protocol)
	case s.is(inOneCall) && (len(names) > 1 || s.Period > ttl/2):
		return objectTo(string(s.Kind), "is on one resource, and renews it at least twice in its TTL")
	case s.is(inOneCall) && s.Jitter > cmp.Or(s.Period, ttl/3):
		return objectTo(s.Jitter.String(), "as a jitter is more than the period")
	case s.Anyway && p.s.semaphore(p.item, s) != "":
		return objectTo(string(s.Kind), "has no permit to go on without: anyway is for locks")
	case s.is(inOneCall):
		p.released = append(p.released, names)
	default:
		p.held, p.written, p.ttls = append(p.held, names), append(p.written, false), append(p.ttls, ttl)
	}
	return nil
}

// toUse objects to a step about a lock that is not held, or that cannot be used so.
func (p *stepCheck) toUse(s *Step) *objection {
	of := s.among(p.held)
	switch {
	case len(p.held) == 0:
		if s.is(effect) && len(p.released) > 0 {
			return objectTo(string(s.Kind), `there is no lock or try-lock before; for one after the unlock say "%s: {released: true}"`, s.Kind)
		}
		return objectTo(string(s.Kind), "there is no lock or try-lock before")
	case of < 0:
		return objectTo(strings.Join(s.Resource, ", "), "is not what a lock is held on that was taken before, which is %s", on(p.held))
	case s.is(effect) && s.Resource == nil && len(p.held[of]) > 1:
		return objectTo(string(s.Kind), `does not say which resource: the lock is on several, as in "%s: %s"`, s.Kind, p.held[of][0])
	case s.Kind == RenewStep && s.Period > p.ttls[of]/2:
		return objectTo(s.Period.String(), "as a period is more than half of the TTL, %v", p.ttls[of])
	case s.Kind == RenewStep && s.Jitter > cmp.Or(s.Period, p.ttls[of]/3):
		return objectTo(s.Jitter.String(), "as a jitter is more than the period")
	case s.Kind == UnlockStep:
		p.released = append(p.released, p.held[of])
		p.held, p.written, p.ttls = slices.Delete(p.held, of, of+1), slices.Delete(p.written, of, of+1), slices.Delete(p.ttls, of, of+1)
	case s.is(reads) && p.written[of] && protocols.Of[protocols.DBRowSettings](p.s.Lock).Effects == protocols.InTransaction:
		return objectTo(string(s.Kind), "would read back what its own transaction has written and not committed, which no history can say")
	default:
		p.written[of] = p.written[of] || s.is(writes)
	}
	return nil
}
