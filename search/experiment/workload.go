package experiment

import (
	"cmp"
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// worker draws what a client does: which calls it makes, with which TTLs, and when their contexts end.
type worker struct {
	space Space
	can   protocols.Capabilities
	ttl   time.Duration // the longest: the budget is made for it
	hold  time.Duration // a short time of work under a lock
	rest  time.Duration // and between two
}

func (s Space) worker(c faults.Choices) *worker {
	ttl := s.Base.Lock.TTL
	can := s.Base.Lock.Capabilities()
	if s.Own {
		can = protocols.Capabilities{}
	}
	return &worker{s, can, ttl, time.Millisecond + faults.Length(c.For("hold", 0), 0, ttl/20),
		s.Duration/40 + time.Duration(c.For("rest", 0).Below(int64(s.Duration/20)))}
}

func step(kind scenarios.StepKind, d time.Duration) scenarios.Step {
	return scenarios.Step{Kind: kind, For: d}
}

// lock waits for the lock for as long as any holder can have it.
func (w *worker) lock() scenarios.Step { return step(scenarios.LockStep, w.ttl+time.Second) }

// pass draws how a client takes, uses and releases a lock.
func (w *worker) pass(c faults.Choices) []scenarios.Step {
	if w.can.Renews && c.For("with-lock", 0).Below(8) == 0 {
		return []scenarios.Step{w.withLock(c.For("held", 0), w.hold)}
	}
	take := w.take(c.For("take", 0))
	update, hold := step(scenarios.UpdateStep, 0), step(scenarios.HoldStep, w.hold)
	again := w.extend(c.For("extend", 1)) // also one that is to be refused each time
	use := faults.OneOf(c.For("use", 0),
		[]scenarios.Step{update, hold},
		[]scenarios.Step{hold, update},
		[]scenarios.Step{update},
		[]scenarios.Step{step(scenarios.ReadStep, 0), hold, step(scenarios.WriteBackStep, 0)},
		[]scenarios.Step{hold, w.extend(c.For("extend", 0)), update},
		[]scenarios.Step{hold, again, again, update},
	)
	return slices.Concat([]scenarios.Step{take}, use, w.letGo(c.For("let go", 0)))
}

// take draws an acquire: with one attempt or many, with a TTL that may be shorter than others', and a caller who may give up.
func (w *worker) take(c faults.Choices) scenarios.Step {
	s := w.lock()
	switch c.For("how", 0).Below(6) {
	case 0, 1:
		s = step(scenarios.TryLockStep, 0)
	case 2:
		s.For = max(time.Millisecond, w.moment(c.For("deadline", 0), w.ttl))
	}
	s.TTL = w.shorter(c.For("ttl", 0))
	w.end(c.For("end", 0), &s)
	return s
}

// shorter draws a TTL that is shorter than that of the settings; mostly none.
func (w *worker) shorter(c faults.Choices) time.Duration {
	if c.For("own", 0).Below(5) > 0 {
		return 0
	}
	lock := w.space.Base.Lock
	lock.TTL = (w.ttl * time.Duration(1+c.For("eighths", 0).Below(7)) / 8).Truncate(time.Millisecond)
	if c.For("hardly", 0).Below(4) == 0 { // long enough for an attempt: some are too late
		roundTrip := 2 * w.space.Base.Network.Latency.Max()
		lasts := (2*time.Millisecond + faults.Length(c.For("any", 0), roundTrip, 4*roundTrip)).Truncate(time.Millisecond)
		lock.TTL = min(lock.TTL, lasts)
	}
	if lock.Check(len(w.space.Base.Nodes.Names)) != nil {
		return 0 // it counts time in another unit
	}
	return lock.TTL
}

// end draws when the context of a call ends before the call is done; mostly never.
func (w *worker) end(c faults.Choices, s *scenarios.Step) {
	if !w.can.Cancels || c.For("ends", 0).Below(6) > 0 {
		return
	}
	after := w.moment(c.For("after", 0), w.space.Base.Lock.NodeTimeout)
	if s.Kind != scenarios.LockStep && c.For("deadline", 0).Below(2) == 0 {
		s.Within = &after
	} else {
		s.Cancel = &after
	}
}

// moment draws a time within something that takes so long: before it begins, when it is decided, or in between.
func (w *worker) moment(c faults.Choices, within time.Duration) time.Duration {
	roundTrip := 2 * w.space.Base.Network.Latency.Max()
	return faults.OneOf(c.For("which", 0), 0, roundTrip/2, roundTrip, time.Duration(c.For("any", 0).Below(int64(within)+1)), w.space.times.Length(c.For("any", 1), 0, within))
}

// extend draws an extend: to the TTL of the settings, which may be longer or shorter than what is left, seldom to one that the
// restart guard does not allow, and with a caller who may give up. A lock that shortens its keys is never asked to: if only
// some nodes do, the lease outlasts them.
func (w *worker) extend(c faults.Choices) scenarios.Step {
	if !w.space.extends() {
		return step(scenarios.HoldStep, w.hold)
	}
	s := step(scenarios.ExtendStep, w.ttl)
	if ttl := w.shorter(c.For("ttl", 0)); ttl != 0 && w.can.Lengthens {
		s.For = ttl
	}
	if guard := protocols.Of[protocols.RedlockSettings](w.space.Base.Lock).Guard; guard != nil && c.For("too long", 0).Below(6) == 0 {
		s.For = guard.MaxTTL + time.Millisecond
	}
	w.end(c.For("end", 0), &s)
	if w.can.Cancels && c.For("lease context", 0).Below(8) == 0 {
		s.LeaseContext = true
	}
	w.twice(c.For("twice", 0), &s)
	return s
}

// twice draws a second call beside the first; mostly none.
func (w *worker) twice(c faults.Choices, s *scenarios.Step) {
	if w.can.Concurrent && c.For("is", 0).Below(8) == 0 {
		s.Twice = max(1, w.moment(c.For("after", 0), w.space.Base.Network.Latency.Max()))
	}
}

// extends says whether the leases of the lock can be extended.
func (s Space) extends() bool { return s.Foreign.Makes(scenarios.ExtendStep) }

// letGo draws a release: one whose caller may give up, by the lease's own context, or done twice.
func (w *worker) letGo(c faults.Choices) []scenarios.Step {
	unlock := step(scenarios.UnlockStep, 0)
	w.end(c.For("end", 0), &unlock)
	if w.can.Cancels && c.For("lease context", 0).Below(8) == 0 {
		unlock.LeaseContext = true
	}
	w.twice(c.For("twice", 0), &unlock)
	steps := []scenarios.Step{unlock}
	if w.can.Repeats && c.For("again", 0).Below(6) == 0 {
		if wait := w.moment(c.For("wait", 0), w.ttl); wait > 0 {
			steps = append(steps, step(scenarios.SleepStep, wait))
		}
		again := faults.OneOf(c.For("what", 0), unlock, unlock, step(scenarios.ExtendStep, w.ttl))
		again.Released, again.LeaseContext, again.Twice = true, false, 0
		steps = append(steps, again)
	}
	return steps
}

// withLock draws work that a lock does by itself, for so long.
func (w *worker) withLock(c faults.Choices, d time.Duration) scenarios.Step {
	s := step(scenarios.WithLockStep, d)
	s.TTL, s.Wait = w.shorter(c.For("ttl", 0)), w.ttl+time.Second
	w.limits(c.For("limits", 0), &s)
	w.end(c.For("end", 0), &s)
	s.Unlocks = c.For("unlocks", 0).Below(4) == 0
	s.Panics = c.For("panics", 0).Below(8) == 0
	return s
}

// limits draws how a lock is renewed: how often, for how long, and in which period.
func (w *worker) limits(c faults.Choices, s *scenarios.Step) {
	if !w.can.Renews {
		return
	}
	ttl := w.ttl
	if s.TTL != 0 {
		ttl = s.TTL
	}
	s.Limit = faults.OneOf(c.For("limit", 0), 0, 0, 1, 3)
	s.MaxTime = faults.OneOf(c.For("max time", 0), 0, 0, ttl, 2*ttl, ttl+ttl/3)
	s.Period = faults.OneOf(c.For("period", 0), 0, 0, ttl/2, ttl/5)
	s.Jitter = faults.OneOf(c.For("jitter", 0), 0, 0, cmp.Or(s.Period, ttl/3)/4)
}

// once draws what a client does once: something that outlasts the lease, or the client itself. Many do nothing of the kind.
func (w *worker) once(c faults.Choices) []scenarios.Step {
	take, update, unlock := w.take(c.For("take", 0)), step(scenarios.UpdateStep, 0), step(scenarios.UnlockStep, 0)
	long := step(scenarios.SleepStep, w.space.times.Length(c.For("long", 0), w.ttl/2, 2*w.ttl))
	renew := step(scenarios.RenewStep, w.ttl+w.ttl/2)
	if !w.space.extends() && !w.space.renewsItself() {
		renew.Kind = scenarios.HoldStep
	}
	if take.TTL == 0 {
		w.limits(c.For("limits", 0), &renew)
	}
	if w.can.Renews {
		renew.Meanwhile = faults.OneOf(c.For("meanwhile", 0), 0, 0, 0, w.ttl/2, w.ttl+w.ttl/2)
		renew.Panics = c.For("panics", 0).Below(8) == 0
	}
	all := [][]scenarios.Step{nil, nil, nil,
		{take, update, long, unlock},
		{take, step(scenarios.HoldStep, w.space.times.Length(c.For("most", 0), w.ttl/2, w.ttl)), update, unlock},
		{take, renew, update, unlock},
		{take, w.extend(c.For("extend", 0)), renew, update, unlock},
		{take, w.extend(c.For("extend", 0)), long, unlock},
		{take, long, w.extend(c.For("extend", 0)), unlock},
	}
	if w.can.Renews {
		all = append(all, []scenarios.Step{w.withLock(c.For("held", 0), w.ttl+w.ttl/2)})
	}
	if w.can.Reentrant {
		all = append(all, w.again(take, long, c)...)
	}
	if w.can.Closes {
		all = append(all, w.another(c.For("another", 0)))
	}
	return faults.OneOf(c.For("which", 0), all...)
}

// again draws how a program takes a lock once more that it has released, or has still.
func (w *worker) again(take, long scenarios.Step, c faults.Choices) [][]scenarios.Step {
	take.TTL = 0 // two grants with different ones share a key
	hold, update, unlock := step(scenarios.HoldStep, w.hold), step(scenarios.UpdateStep, 0), step(scenarios.UnlockStep, 0)
	return [][]scenarios.Step{
		{take, hold, unlock, take, long, update, unlock},
		{take, update, take, hold, unlock, long, update, unlock},
		{take, long, take, w.extend(c.For("extend", 0)), long, unlock, unlock},
	}
}

// another draws the end of a client, with whatever waits or holds in it, and another in its place.
func (w *worker) another(c faults.Choices) []scenarios.Step {
	closes := step(scenarios.CloseStep, 0)
	if c.For("soon", 0).Below(2) == 0 {
		within := w.moment(c.For("within", 0), w.space.Base.Lock.NodeTimeout)
		closes.Within = &within
	} else {
		w.end(c.For("end", 0), &closes)
	}
	steps := []scenarios.Step{closes, step(scenarios.SleepStep, w.space.times.Length(c.For("away", 0), 1, w.ttl)), step(scenarios.NewClientStep, 0)}
	if c.For("at once", 0).Below(2) == 0 {
		steps = slices.Delete(steps, 1, 2)
	}
	if c.For("open", 0).Below(4) == 0 {
		steps = steps[len(steps)-1:] // the one before goes on
	}
	return steps
}

// place draws what an item locks, where there are several resources: one of them or, with a protocol that can, now and then
// two as one lock, or a permit of a semaphore.
func (s Space) place(c faults.Choices, item *scenarios.Item) {
	all := s.Base.Resources
	if names := s.Base.Semaphores; len(names) > 0 && !s.Own && s.Foreign == nil && c.For("permit", 0).Below(2) == 0 {
		s.lockOn(c, item, []string{faults.OneOf(c.For("semaphore", 0), names...)})
		return
	}
	if len(all) < 2 {
		return
	}
	first := c.For("first", 0).Below(int64(len(all)))
	names := []string{all[first]}
	if s.Base.Lock.Capabilities().LocksAll && !s.Apart && c.For("two", 0).Below(4) == 0 {
		second := (first + 1 + c.For("second", 0).Below(int64(len(all)-1))) % int64(len(all))
		names = append(names, all[second])
	}
	s.lockOn(c, item, names)
}

// lockOn has an item lock these resources, and reach the first of them, or take a permit of a semaphore. Work in one call is
// under a lock, under a permit, or under all permits.
func (s Space) lockOn(c faults.Choices, item *scenarios.Item, names []string) {
	item.Resource = names
	isPermit := slices.Contains(s.Base.Semaphores, names[0])
	if len(names) < 2 && !isPermit {
		return
	}
	item.Do = slices.Clone(item.Do)
	for i := range item.Do {
		switch step, kind := &item.Do[i], item.Do[i].Kind; {
		case kind == scenarios.WithLockStep && isPermit && slices.Contains(s.Base.Resources, protocols.AllOf(names[0])) && !step.Unlocks && !step.Panics && c.For("all", i).Below(2) == 0:
			step.Kind = scenarios.WithAllStep
		case isPermit:
		case kind == scenarios.WithLockStep || kind == scenarios.UpdateStep || kind == scenarios.ReadStep || kind == scenarios.WriteBackStep || kind == scenarios.WriteStep:
			item.Do[i].Resource = names[:1]
		}
	}
}

// lingers draws whether a client works for as long as it may and writes at the last moment, where stops are short: only then
// do they make a write late. Where they can be of any length, clients that write early are stopped for long enough, too.
func (s Space) lingers(c faults.Choices) bool {
	b := s.Base.Budget
	return !s.Beyond && s.Foreign.Makes(scenarios.LingerStep) && b.Pause+b.Suspend+b.Delay > 0 && c.For("lingers", 0).Below(4) == 3
}

// often is more than fits into a run.
const often = 100

// crowding is how often each of two goroutines of a client takes the lock from the other: together more than twice as often as
// a client may before other processes have their turn.
const crowding = 20

// work draws what a client does all the time: short work under the lock every second or two, in one of several styles,
// and for some clients, once, something else. A run is to have some dozens of grants: more of the same would cost time and show
// little that is new.
func (s Space) work(c faults.Choices, client string) []scenarios.Item {
	w := s.worker(c)
	pass := w.pass(c.For("pass", 0))
	switch {
	case s.lingers(c):
		pass = []scenarios.Step{w.lock(), step(scenarios.LingerStep, 0), step(scenarios.WriteStep, 0), step(scenarios.UnlockStep, 0)}
	case s.isLate(c):
		pass = w.late(c.For("late pass", 0))
	case s.relies(c):
		pass = w.lasting(c.For("lasting", 0))
	}
	loop := append([]scenarios.Step{step(scenarios.SleepStep, w.rest)}, pass...)
	items := []scenarios.Item{{Client: client, Do: loop, Repeat: often}}
	if c.For("goroutines", 0).Below(6) == 0 {
		items[0].Goroutines = int(2 + c.For("how many", 0).Below(3))
	}
	if once := w.once(c.For("late", 0)); once != nil {
		items = append(items, scenarios.Item{When: s.outset(c, client, once[0].Kind), Client: client, Do: once, Repeat: 1})
	}
	if s.relies(c) && c.For("beside", 0).Below(2) == 0 {
		beside := append([]scenarios.Step{step(scenarios.SleepStep, w.rest)}, w.lasting(c.For("lasting", 1))...)
		items = append(items, scenarios.Item{Client: client, Do: beside, Repeat: often})
	}
	if c.For("crowd", 0).Below(40) == 0 {
		items = append(items, scenarios.Item{When: faults.Trigger{At: s.instant(c.For("crowd", 1))}, Client: client,
			Do: []scenarios.Step{w.lock(), step(scenarios.UnlockStep, 0)}, Repeat: crowding, Goroutines: 2})
	}
	for i := range items {
		s.place(c.For("resource", i), &items[i])
	}
	return items
}

// relies draws whether a client holds lock after lock for longer than a TTL: what a lock that renews itself keeps from one to
// the next shows then.
func (s Space) relies(c faults.Choices) bool {
	return s.renewsItself() && !s.lingers(c) && !s.isLate(c) && c.For("relies", 0).Below(2) == 0
}

// lasting draws a pass of such a client.
func (w *worker) lasting(c faults.Choices) []scenarios.Step {
	renew := step(scenarios.RenewStep, w.space.times.Length(c.For("for", 0), w.ttl, 3*w.ttl))
	return []scenarios.Step{w.lock(), step(scenarios.UpdateStep, 0), renew, step(scenarios.UpdateStep, 0), step(scenarios.UnlockStep, 0)}
}

// renewsItself says whether the lock is renewed for as long as a client has it.
func (s Space) renewsItself() bool {
	if s.Foreign != nil {
		return s.Foreign.Renews
	}
	return protocols.Of[protocols.RedissonSettings](s.Base.Lock).Watchdog
}

// outset draws when a client does something once. What closes it comes half of the time while it has asked the nodes for
// something, and they have not all answered.
func (s Space) outset(c faults.Choices, client string, first scenarios.StepKind) faults.Trigger {
	if first == scenarios.CloseStep && c.For("while asking", 0).Below(2) == 0 {
		asks := []string{observe.AttemptStarted.String(), observe.ExtendStarted.String(), observe.ReleaseStarted.String()}
		return s.after(c.For("asks", 0), asks, []string{client})
	}
	return faults.Trigger{At: s.instant(c.For("once", 0))}
}

// isLate draws whether a client extends its locks so late that a pause which begins with the extend outlasts the lease: the
// answers, the timer of the lease, and the end of its context are all due when the client goes on. One that lingers does not.
func (s Space) isLate(c faults.Choices) bool {
	from, to := s.lateExtends()
	return from < to && s.extends() && !s.lingers(c) && c.For("is late", 0).Below(6) == 5
}

// lateExtends are from when to when after its grant a lock can be extended, before its context ends, so that a pause outlasts
// it.
func (s Space) lateExtends() (from, to time.Duration) {
	stop := s.Base.Budget.Pause
	if s.Beyond {
		stop = s.Base.Lock.TTL / 2
	}
	contextEnds, end := ends(s)
	return max(end-stop, 0), contextEnds - 2*s.Base.Network.Latency.Max()
}

// late draws a pass with an extend, or with work that renews, shortly before the end of the lease.
func (w *worker) late(c faults.Choices) []scenarios.Step {
	from, to := w.space.lateExtends()
	asleep := step(scenarios.SleepStep, w.space.times.Length(c.For("asleep", 0), max(from, 1), to))
	extend := step(scenarios.ExtendStep, w.ttl)
	if c.For("renews", 0).Below(4) == 0 {
		extend = step(scenarios.RenewStep, w.ttl/2)
	}
	return []scenarios.Step{w.lock(), asleep, extend, step(scenarios.UpdateStep, 0), step(scenarios.UnlockStep, 0)}
}
