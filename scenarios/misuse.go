package scenarios

import (
	"context"
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/trace"
)

// arguments are those that the call of a step has: any of them can be wrong. ofPermit says that it takes a permit of a
// semaphore, or all of them.
func (k StepKind) arguments(ofPermit bool) []protocols.Argument {
	switch k {
	case LockStep, TryLockStep, WithLockStep, WithAllStep:
		return k.takingArguments(ofPermit)
	case ExtendStep:
		return []protocols.Argument{protocols.ContextArgument, protocols.TTLArgument}
	case RenewStep:
		return []protocols.Argument{protocols.ContextArgument, protocols.RenewalArgument, protocols.WorkArgument}
	case UnlockStep, CloseStep, PrepareStep:
		return []protocols.Argument{protocols.ContextArgument}
	case NewClientStep:
		return []protocols.Argument{protocols.ClientArgument}
	}
	return nil
}

// takingArguments are those of a call that takes a lock or permits.
func (k StepKind) takingArguments(ofPermit bool) []protocols.Argument {
	all := []protocols.Argument{protocols.ContextArgument, protocols.TTLArgument}
	switch {
	case ofPermit:
		all = append(all, protocols.SemaphoreArgument)
	case k.isOneCall():
		all = append(all, protocols.NameArgument)
	default:
		all = append(all, protocols.NameArgument, protocols.NamesArgument)
	}
	if k.isOneCall() {
		all = append(all, protocols.WaitArgument, protocols.RenewalArgument, protocols.WorkArgument)
	}
	return all
}

// Misuses are the wrong arguments with which a step of a kind can be called, of a lock that refuses them or, with ofPermit, of
// its semaphores.
func (k StepKind) Misuses(lock protocols.Settings, ofPermit bool) (all []protocols.Misuse) {
	for _, m := range protocols.Misuses() {
		if slices.Contains(k.arguments(ofPermit), m.Of()) && m.Unless(lock) == "" {
			all = append(all, m)
		}
	}
	return all
}

// misuse makes the call of a step with a wrong argument, of a lock that refuses it, and goes on: what is held stays held. It
// may be the call of a client that is closed, or about a lock that was released.
func (p *program) misuse(s *Step) (goOn bool) {
	if !p.refuses {
		return false
	}
	about, call := p.ofClient(), &protocols.Call{Client: p.host.Name(), Misuse: string(s.Kind) + " with " + s.Misuse.String()}
	a := protocols.Arguments{Settings: p.settings, Resources: slices.Clone(p.item.Taken(s, p.resources)), TTL: s.TTL, Work: func(context.Context) error { return nil }}
	semaphore := p.asksPermit(s)
	a.Permits = p.permits[semaphore]
	if s.takes() {
		about.grants = nil
		for _, name := range a.Resources {
			about.grants = append(about.grants, Grant{Resource: name})
		}
	}
	if a.TTL == 0 {
		a.TTL = p.settings.TTL
	}
	if s.needsLock() {
		l := p.about(s)
		about.grants, call.Lease, a.TTL = l.acquisition.grants, l.lease, l.ttl
	}
	about.misused = true
	call.Resources, a.Context = about.resources(), about.in(context.Background())
	sound := a.Context
	if s.Misuse.Of() != protocols.ClientArgument { // which the client has that is made
		s.Misuse.Put(&a)
	}
	trace.Tell(p.events, protocols.Called{Call: call})
	var granted protocols.Lease
	var err error
	if semaphore != "" {
		granted, err = p.callsForPermits(s, a)
	} else {
		granted, err = p.calls(s, call.Lease, a)
	}
	trace.Tell(p.events, protocols.Returned{Call: call, Err: err})
	if granted != nil {
		_ = granted.Unlock(sound)
	}
	e := history.Event{Kind: history.Step, Name: faults.Refused, Resource: about.name(), Detail: call.Misuse}
	if err == nil {
		e.Name = faults.Accepted
	}
	p.record(e)
	return true
}

// calls makes the call of a step with these arguments. lease is what it is about. What it takes it returns.
func (p *program) calls(s *Step, lease protocols.Lease, a protocols.Arguments) (granted protocols.Lease, err error) {
	switch s.Kind {
	case LockStep, TryLockStep:
		return p.lock(a.Context, s.Kind, a.Resources, a.TTL)
	case WithLockStep:
		return nil, p.locker.(protocols.Holder).Hold(a.Context, a.Resources[0], a.TTL, untold(a.Renewal), a.Holds())
	case ExtendStep:
		return nil, lease.Extend(a.Context, a.TTL)
	case RenewStep:
		return nil, lease.(protocols.Renewer).Renew(a.Context, untold(a.Renewal), a.Work)
	case UnlockStep:
		return nil, lease.Unlock(a.Context)
	case CloseStep:
		return nil, p.locker.(protocols.Closer).Close(a.Context)
	case PrepareStep:
		return nil, p.locker.(protocols.Preparer).Prepare(a.Context)
	}
	_, err = p.newLocker(s.Misuse)
	return nil, err
}

// callsForPermits makes the call of a step for a permit, or for all of them, with these arguments.
func (p *program) callsForPermits(s *Step, a protocols.Arguments) (granted protocols.Lease, err error) {
	asked := &protocols.PermitCall{Client: p.host.Name(), Semaphore: a.Resources[0], Permits: a.Permits, TTL: a.TTL,
		Waits: s.Kind == LockStep, All: s.Kind == WithAllStep, Work: a.Work, Renewal: untold(a.Renewal), Context: a.Context}
	asked.Try = func(ctx context.Context, _ string, _ time.Duration, try func(context.Context) (protocols.Lease, error)) error {
		lease, err := try(ctx)
		if err != nil {
			return err
		}
		if kept, is := lease.(protocols.Kept); is && s.Kind.isOneCall() {
			kept.Keeps(ctx, asked.Renewal)
		} else {
			granted = lease
		}
		return nil
	}
	switch s.Kind {
	case WithLockStep:
		err = p.locker.(protocols.PermitHolder).HoldPermit(a.Context, asked)
	case WithAllStep:
		err = p.locker.(protocols.PermitHolder).HoldAll(a.Context, asked)
	default:
		err = p.locker.(protocols.Semaphores).Permit(a.Context, asked)
	}
	return granted, err
}

// untold is a renewal of which nobody is told.
func untold(r protocols.Renewal) protocols.Renewal {
	r.Begins, r.Releases = func() {}, func() {}
	r.Ends, r.Released = func(error) {}, func(error) {}
	return r
}
