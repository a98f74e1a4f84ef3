package monitor

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
)

// permits judges calls for a permit of a semaphore: which locks they ask for, when, and what they return. Each attempt is a
// TryLock, which the other monitors judge.
//
// A look asks for every permit that the client does not hold, each once, until one is granted or the nodes fail. The calls of a
// client that wait look one after the other: the first of them once in a retry delay, and as soon as the client gives a permit
// back. That is all it takes: a permit that stays free is found by the next look, and that an attempt for it is then granted is
// for needless to judge.
type permits struct {
	run   *Run
	delay protocols.Range
	// timed says that it is known when a call must look: code takes no time, and the delays are measured by a clock that is
	// known.
	timed bool
	open  []*seeker // in the order of the calls
	held  []given
	lines map[lookersOf]*lookers
}

// lookersOf are the calls of one client of a process for permits of one semaphore.
type lookersOf struct {
	client    string
	made      int
	semaphore string
}

// seeker is a call that has not returned.
type seeker struct {
	*protocols.PermitCall
	made     int // the number of its client in the process; see clients
	attempts int
	isGiven  bool // a permit was granted to it
	// looked are the permits that the last look has asked for, and away those that were held here when it began.
	looked, away []string
	news         int         // how often the client had given back a permit by then
	isCut        bool        // the last look ended early: the nodes failed
	isEnded      bool        // the call's context ended the last attempt, before the nodes had decided it
	refused      error       // why the last attempt failed that they had decided; nil if none did, or if that is not known
	isVague      bool        // it is not known
	usedUp       int         // permits in it that had no fencing token left
	isOver       bool        // the last look has ended
	isAsking     bool        // an attempt is under way
	handed       []string    // permits that were handed to it, the last of all
	offered      []string    // and all that were given back while a call waited
	given        string      // the permit that it was granted
	due          time.Time   // when it must look at the latest, by the client's clock; zero if that is not known
	since        kernel.True // from when on
	end          time.Time   // when it is to give up, by the client's clock; zero if it is not
	last         time.Time   // when its last attempt ended, or the call began
	began        kernel.True // when the call did
}

// given is a permit that a client has.
type given struct {
	*seeker
	resource string
	lease    protocols.Lease
	isPast   bool // the client was granted the permit again, before its release had returned
	isEnding bool // its release has been called
}

// isPermit says that it is no lock that a call for all permits takes besides.
func (g *given) isPermit() bool { return g.resource != protocols.AllOf(g.Semaphore) }

// lookers is what is known of such calls, with times by the client's clock.
type lookers struct {
	// grants are those of permits that were handed on from call to call, since the last pause for other processes: at least so
	// many, and at the most.
	grants  bounds
	asked   time.Time // when the last look of a call that waits ended without a permit; zero if it did not
	known   int       // what news was when that look began
	handed  []string  // permits that were given back while a call waited, and no call has looked since; the last of all
	offered []string  // and whether others were left or not
	last    time.Time // when the last attempt of a call that waits ended
	free    time.Time // since when not all permits are held here, or were not as the pause for other processes began
	// elsewhere are the permits that could not be had when they were last asked for.
	elsewhere []string
	// givesWay says that the pause has begun. A call that does not wait may be granted a permit in it.
	givesWay bool
	news     int // how often a permit was given back
}

// localGrants is how many grants in a row the calls of a client get, as the documentation of Lock says.
const localGrants = 16

// bounds are those of a count of which nobody knows exactly what belongs to it.
type bounds struct{ least, most int }

func watchPermits(r *Run) {
	if !r.isLibrary() || !r.Lock.Capabilities().Permits {
		return
	}
	x := &permits{run: r, delay: protocols.Of[protocols.DelaySettings](r.Lock).RetryDelay, lines: map[lookersOf]*lookers{},
		timed: r.StepTime == 0 && r.Lock.Clock == kernel.Monotonic}
	r.onWant(x.wants)
	r.onGet(x.gets)
	r.onCall(x.called)
	r.onReturn(x.returned)
	r.onStep(x.lost, observe.Lost)
	r.onEnd = append(r.onEnd, x.late)
	r.onCrash(func(client string) {
		x.open = slices.DeleteFunc(x.open, func(w *seeker) bool { return w.Client == client })
		x.held = slices.DeleteFunc(x.held, func(g given) bool { return g.Client == client })
		maps.DeleteFunc(x.lines, func(of lookersOf, _ *lookers) bool { return of.client == client })
	})
}

func (x *permits) line(w *seeker) *lookers {
	of := lookersOf{w.Client, w.made, w.Semaphore}
	if x.lines[of] == nil {
		x.lines[of] = &lookers{}
	}
	return x.lines[of]
}

// isWithin says whether two calls wait in one queue.
func (w *seeker) isWithin(other *seeker) bool {
	return w.Client == other.Client && w.made == other.made && w.Semaphore == other.Semaphore
}

// wants takes a call that begins.
func (x *permits) wants(c *protocols.PermitCall) {
	w := &seeker{PermitCall: c, made: x.run.clients.number(c.Client)}
	w.last, w.began = x.run.clock(c.Client), x.run.World.Kernel.Now()
	if at, ends := c.Context.Deadline(); ends {
		w.end = at
	}
	if at := w.last.Add(c.Renewal.Wait); c.Waits && c.Renewal.Wait > 0 && (w.end.IsZero() || at.Before(w.end)) {
		w.end = at
	}
	isFirst := !slices.ContainsFunc(x.open, func(o *seeker) bool { return o.Waits && o.isWithin(w) })
	x.open = append(x.open, w)
	if c.All {
		return
	}
	if !c.Waits || isFirst {
		x.hasTurn(w)
	}
}

// hasTurn says that a call may look for the first time.
func (x *permits) hasTurn(w *seeker) {
	within := time.Duration(0)
	if line := x.line(w); w.Waits && line.isPausing() {
		within = max(0, line.asked.Add(x.delay.Max).Sub(x.run.clock(w.Client)))
	}
	x.mustLook(w, within)
}

// mustLook says that a call must look again within so long, unless its client holds all permits itself.
func (x *permits) mustLook(w *seeker, within time.Duration) {
	x.isLate(w)
	if len(x.heldBy(w)) == w.Permits {
		w.due = time.Time{}
		return
	}
	w.due, w.since = x.run.clock(w.Client).Add(within), x.run.World.Kernel.Now()
}

// of is the call of which an acquire is an attempt.
func (x *permits) of(c *protocols.Call) *seeker {
	if i := slices.IndexFunc(x.open, func(w *seeker) bool { return w.PermitCall == c.Permit }); i >= 0 {
		return x.open[i]
	}
	return nil
}

// called takes an attempt that begins.
func (x *permits) called(c *protocols.Call) {
	if c.Func == protocols.ReleaseCall {
		x.gives(c)
	}
	w := x.of(c)
	if w == nil || c.Permit == nil {
		return
	}
	if w.All {
		return // which all judges
	}
	x.isLate(w)
	resource, now := c.Resources[0], x.run.clock(w.Client)
	if w.isNew(resource) {
		if w.usedUp == w.Permits {
			x.run.broken(checker.Conduct, resource, "%s goes on to look for a permit of %q, and none has a fencing token left", w.Client, w.Semaphore)
		}
		x.completes(w)
		x.givesWay(w, resource)
		line := x.line(w)
		if w.Waits && x.timed && line.isPausing() {
			x.run.Judged[checker.JudgePaces]++
			if early := now.Sub(line.asked); early < x.delay.Min-rounding {
				x.run.broken(checker.Conduct, resource, "%s looks for a permit of %q again %v after the look before, and is to wait for %v at least",
					w.Client, w.Semaphore, early, x.delay.Min)
			}
		}
		w.looked, w.away, w.isCut, w.usedUp, w.news = nil, x.heldBy(w), false, 0, line.news
		if w.Waits {
			line.asked, line.known = time.Time{}, line.news
			w.handed, w.offered, line.handed, line.offered = line.handed, line.offered, nil, nil
		}
	}
	x.run.Judged[checker.JudgeLooks]++
	switch {
	case w.Context.Err() != nil && x.timed && x.run.pauses.hasRun(x.run.World.Client(w.Client), w.began), x.overdue(w) > 0:
		x.run.broken(checker.Conduct, resource, "%s looks for a permit of %q, although its call is to give up", w.Client, w.Semaphore)
	case !slices.Contains(w.all(), resource):
		x.run.broken(checker.Conduct, resource, "%s asks for the lock on %q for a permit of %q, which has %d", w.Client, resource, w.Semaphore, w.Permits)
	case slices.Contains(w.away, resource):
		x.run.broken(checker.Conduct, resource, "%s looks for a permit of %q and asks for %q, which it has itself", w.Client, w.Semaphore, resource)
	case c.TTL != w.TTL:
		x.run.broken(checker.Conduct, resource, "%s asks for a permit of %q for %v, and is to have it for %v", w.Client, w.Semaphore, c.TTL, w.TTL)
	case w.isGiven:
		x.run.broken(checker.Conduct, resource, "%s goes on to look for a permit of %q, and has got one", w.Client, w.Semaphore)
	}
	w.looked, w.isOver, w.isAsking, w.due = append(w.looked, resource), false, true, time.Time{}
	w.attempts++
}

// overdue is for how long a call should have given up by now; zero if it should not, or if that is not known.
func (x *permits) overdue(w *seeker) time.Duration {
	late := x.run.clock(w.Client).Sub(w.end)
	if w.end.IsZero() || !x.timed || late <= rounding || !x.run.pauses.hasRun(x.run.World.Client(w.Client), w.began) {
		return 0
	}
	return late
}

// isPausing says that the calls wait for the delay after a look that found nothing, and nothing has cut it short.
func (l *lookers) isPausing() bool { return !l.asked.IsZero() && l.news == l.known }

// lost takes the loss of a permit that nobody is giving back: within a retry delay the first call that waits looks for it.
func (x *permits) lost(client string, _ *observe.Event) {
	for _, g := range x.held {
		if g.Client != client || !g.isPermit() || g.isPast || g.isEnding || g.lease.Context().Err() == nil {
			continue
		}
		if first := x.first(g.seeker); first != nil && first.due.IsZero() && !first.isAsking && !first.isGiven {
			x.mustLook(first, x.delay.Max)
		}
	}
}

// first is the call that is the first to look of those that wait in a client; nil if none waits.
func (x *permits) first(within *seeker) *seeker {
	if i := slices.IndexFunc(x.open, func(w *seeker) bool { return w.Waits && w.isWithin(within) }); i >= 0 {
		return x.open[i]
	}
	return nil
}

// givesWay judges whether a call that begins a look may, after its client has handed on so many permits in a row.
func (x *permits) givesWay(w *seeker, resource string) {
	line, now := x.line(w), x.run.clock(w.Client)
	since := line.last
	if line.free.After(since) {
		since = line.free // before, nobody could have had a turn
	}
	wasFree := !line.free.IsZero() && now.Sub(line.free) >= x.delay.Max-rounding // for all that this client did meanwhile
	if !w.Waits || !x.timed {
		return
	}
	if line.grants.least >= localGrants {
		x.run.Judged[checker.JudgeGivesWay]++
	}
	switch {
	case wasFree, now.Sub(since) >= x.delay.Max-rounding:
		if line.grants.least >= localGrants && !x.areAllGone(w) { // where they are, there may have been no pause
			line.grants.most = 0
		}
		line.grants.least, line.givesWay = 0, false
	case line.grants.least >= localGrants && w.looked == nil && !x.areAllGone(w): // where they are, nobody gains by a pause
		x.run.broken(checker.Conduct, resource, "%s looks for a permit of %q after %d were handed on in a row, and other processes had no turn",
			w.Client, w.Semaphore, line.grants.least)
	}
}

// hasNews says whether the client has given back a permit since a call's last look began.
func (x *permits) hasNews(w *seeker) bool { return x.line(w).news > w.news }

// gives takes a release that begins.
func (x *permits) gives(c *protocols.Call) {
	for i := range x.held {
		x.held[i].isEnding = x.held[i].isEnding || x.held[i].lease == c.Lease
	}
	x.lookAway()
}

// lookAway says that calls whose client has all permits, or is giving them back, need not look.
func (x *permits) lookAway() {
	for _, w := range x.open {
		if !w.due.IsZero() && len(x.heldBy(w)) == w.Permits {
			x.isLate(w)
			w.due = time.Time{}
		}
	}
}

// isNew says whether an attempt for a permit begins another look.
func (w *seeker) isNew(resource string) bool {
	return w.looked == nil || w.isCut || slices.Contains(w.looked, resource) || len(w.looked)+len(w.away) >= w.Permits
}

// all is the resources of all permits.
func (w *seeker) all() (all []string) {
	for i := range w.Permits {
		all = append(all, protocols.PermitOf(w.Semaphore, i+1))
	}
	return all
}

// heldBy are the permits that the client of a call holds, and knows of.
func (x *permits) heldBy(w *seeker) (all []string) {
	for _, g := range x.held {
		if g.isPermit() && !g.isPast && g.isWithin(w) && (g.isEnding || g.lease.Context().Err() == nil) {
			all = append(all, g.resource)
		}
	}
	return all
}

// areAllGone says whether the client of a call holds each permit, or is giving it back, or could not have it when it last asked
// for it.
func (x *permits) areAllGone(w *seeker) bool {
	line := x.line(w)
	for _, resource := range w.all() {
		if !slices.Contains(line.elsewhere, resource) && !x.stands(w, resource) {
			return false
		}
	}
	return true
}

// stands says whether the client of a call was granted a permit, and has not given it back.
func (x *permits) stands(w *seeker, resource string) bool {
	return slices.ContainsFunc(x.held, func(g given) bool { return g.resource == resource && g.isWithin(w) && !g.isPast })
}

// noteHere notes that a permit is granted to the client, or given back.
func (l *lookers) noteHere(resource string) {
	l.elsewhere = slices.DeleteFunc(l.elsewhere, func(r string) bool { return r == resource })
}

// completes judges whether a look that found nothing has asked for all permits.
func (x *permits) completes(w *seeker) {
	if w.looked == nil || w.isCut || w.isGiven {
		return
	}
	x.run.Judged[checker.JudgeInVain]++
	for _, resource := range w.all() {
		if !slices.Contains(w.looked, resource) && !slices.Contains(w.away, resource) {
			x.run.broken(checker.NeedlesslyUnavailable, resource, "%s looks for a permit of %q and finds none, and has not asked for %q", w.Client, w.Semaphore, resource)
		}
	}
}

// returned takes what came of an attempt, and a permit that is given back.
func (x *permits) returned(c *protocols.Call, err error) {
	if c.Func == protocols.ReleaseCall {
		x.givenBack(c)
		return
	}
	w := x.of(c)
	if w == nil || c.Permit == nil {
		return
	}
	now, line := x.run.clock(w.Client), x.line(w)
	w.isAsking, w.last = false, now
	if w.Waits {
		line.last = now
	}
	if err == nil {
		w.isGiven, w.given = true, c.Resources[0]
		for i := range x.held {
			x.held[i].isPast = x.held[i].isPast || x.held[i].isWithin(w) && x.held[i].resource == c.Resources[0]
		}
		line.noteHere(c.Resources[0])
		if isOutOfTurn := !w.Waits || w.All; isOutOfTurn && line.grants.most >= localGrants && line.grants.least < localGrants {
			line.grants.least = 0 // perhaps this was in the pause, from which on they count anew
		}
		x.held = append(x.held, given{seeker: w, resource: c.Resources[0], lease: c.Lease})
		x.lookAway()
		return
	}
	if w.All {
		return
	}
	failed := (*redlock.Error)(nil)
	w.isCut = !errors.As(err, &failed) || isOfAll(failed)
	w.fails(failed)
	if !w.isCut {
		line.noteHere(c.Resources[0]) // so that it is listed once
		if !x.stands(w, c.Resources[0]) {
			line.elsewhere = append(line.elsewhere, c.Resources[0])
		}
	}
	w.isOver = w.isCut || len(w.looked)+len(w.away) >= w.Permits
	goesOn := w.isOver && failed != nil && failed.Cause == nil
	if failed != nil && errors.Is(failed.Cause, redlock.ErrTokensUsedUp) {
		w.usedUp++
		goesOn = w.isOver && w.usedUp < w.Permits
	}
	if goesOn && w.Waits && !x.run.World.Client(w.Client).Starved() { // else no delay can be drawn, and the call fails
		line.asked = now
	}
	switch {
	case !w.isOver, w.Waits && x.hasNews(w):
		x.mustLook(w, 0)
	case w.Waits:
		x.mustLook(w, x.delay.Max)
	}
}

// fails takes why an attempt failed; nil if that is not the library's error. What a call says for which permits have no token
// left depends on the others.
func (w *seeker) fails(failed *redlock.Error) {
	w.isEnded = failed != nil && failed.Reason == nil && isContextEnd(failed.Cause)
	switch {
	case failed == nil || w.isEnded:
	case errors.Is(failed.Cause, redlock.ErrTokensUsedUp):
		w.refused, w.isVague = nil, true
	default:
		w.refused, w.isVague = failed.Reason, false
	}
}

// isOfAll says whether an attempt for one permit failed for a reason for which those for all others would: not because others
// hold it or have votes for it, while more than half of the nodes answer, nor because its fencing counter has no token left.
func isOfAll(e *redlock.Error) bool {
	if e.Cause != nil {
		return !errors.Is(e.Cause, redlock.ErrTokensUsedUp)
	}
	silent, others := 0, false
	for _, n := range e.Nodes {
		switch n.Outcome {
		case redlock.TimedOut, redlock.Refused, redlock.Failed, redlock.Quarantined:
			silent++
		case redlock.Declined, redlock.Behind:
			others = true
		}
	}
	return e.Reason != redlock.ErrTaken && (e.Reason != redlock.ErrNoQuorum || !others || 2*silent >= len(e.Nodes))
}

// givenBack takes a permit that is given back: the first call that waits must look for it at once.
func (x *permits) givenBack(c *protocols.Call) {
	i := slices.IndexFunc(x.held, func(g given) bool { return g.lease == c.Lease })
	if i < 0 {
		return
	}
	g := x.held[i]
	if !g.isPermit() {
		x.held = slices.Delete(x.held, i, i+1)
		return
	}
	by, resource := g.seeker, g.resource
	wasFull := x.areAllGone(by)
	if line := x.line(by); wasFull && !line.givesWay {
		line.free, line.givesWay = x.run.clock(by.Client), line.grants.least >= localGrants
	}
	x.held = slices.Delete(x.held, i, i+1)
	if g.isPast {
		return
	}
	line := x.line(by)
	line.news++
	first := x.first(by)
	if first == nil {
		return
	}
	line.offered = append(line.offered, resource)
	if wasFull {
		line.handed = append(line.handed, resource)
	}
	if !first.isAsking && !first.isGiven && line.grants.most < localGrants {
		x.mustLook(first, 0)
	}
}

// isLate judges whether a call looks, or has not looked, later than it must.
func (x *permits) isLate(w *seeker) {
	if w.due.IsZero() || !x.timed || !x.run.pauses.hasRun(x.run.World.Client(w.Client), w.since) {
		return
	}
	x.run.Judged[checker.JudgeDues]++
	due := w.due
	if x.line(w).grants.most >= localGrants {
		due = due.Add(x.delay.Max) // it may have had to give way
	}
	if late := x.run.clock(w.Client).Sub(due); late > rounding && w.Context.Err() == nil {
		x.run.broken(checker.NeedlesslyUnavailable, w.all()[0], "%s is to look for a permit of %q, and does not for %v", w.Client, w.Semaphore, late)
	}
}

// late judges the calls that are open when the run is over.
func (x *permits) late() {
	for _, w := range x.open {
		x.isLate(w)
	}
}

// gets takes what a call returned.
func (x *permits) gets(c *protocols.PermitCall, err error) {
	i := slices.IndexFunc(x.open, func(w *seeker) bool { return w.PermitCall == c })
	if i < 0 {
		return
	}
	w := x.open[i]
	x.open = slices.Delete(x.open, i, i+1)
	if w.All {
		return
	}
	x.run.Permits++
	if !errors.Is(err, redlock.ErrClosed) {
		x.isLate(w)
	}
	if failed := (*redlock.Error)(nil); errors.As(err, &failed) && (w.isOver || failed.Cause == nil) {
		x.completes(w)
	} else if err == nil {
		x.run.Permitted++
	}
	if wrong := x.wrong(w, err); wrong != "" {
		x.run.broken(checker.Contract, w.all()[0], "%s asks for a permit of %q, and gets %v: %s", w.Client, w.Semaphore, result(err), wrong)
	}
	if late := x.overdue(w); err != nil && late > 0 && w.last.Before(w.end) {
		x.run.broken(checker.Contract, w.all()[0], "%s asks for a permit of %q, and gives up %v too late", w.Client, w.Semaphore, late)
	}
	if n := kernel.Derived(w.Context); n > 0 && (w.Work == nil || err != nil) { // else its work goes on in them
		x.run.broken(checker.Contract, w.all()[0], "%s's call for a permit of %q has returned, and leaves contexts behind that hang on its own: %d",
			w.Client, w.Semaphore, n)
	}
	if !c.Waits {
		return
	}
	// If the next in the queue stood behind the call, that was the first.
	next := slices.IndexFunc(x.open, func(o *seeker) bool { return o.Waits && o.isWithin(w) })
	if err == nil && slices.Contains(w.offered, w.given) {
		x.line(w).grants.most++
	}
	if err == nil && slices.Contains(w.handed, w.given) {
		line := x.line(w)
		line.grants.least++
		line.givesWay = line.givesWay || line.grants.least >= localGrants && !x.areAllGone(w)
	}
	if next >= i {
		x.hasTurn(x.open[next])
	}
}

// result is what a call returned, in words.
func result(err error) string {
	if err == nil {
		return "it"
	}
	return err.Error()
}

// wrong says what is wrong with what a call returned; empty if nothing is.
func (x *permits) wrong(w *seeker, err error) string {
	e := (*redlock.Error)(nil)
	switch {
	case err == nil && !w.isGiven:
		return "no attempt was granted"
	case err == nil:
		return ""
	case w.isGiven:
		return "an attempt was granted"
	case !errors.As(err, &e):
		if errors.Is(err, redlock.ErrClosed) && x.run.clients.anyClosed(w.Client) {
			return ""
		}
		return "that is no error of the library"
	case e.Op != driver.OpAcquire || e.Resource != w.Semaphore:
		return "it is about something else"
	case e.Attempts != w.attempts:
		return "that is not how often it has asked"
	case w.isEnded && !w.isVague && e.Reason != w.refused:
		return "the attempt before its context ended was refused otherwise"
	case e.Reason == redlock.ErrTaken && w.isCut && !w.isEnded && w.attempts > 0:
		return "the last attempt ended otherwise"
	case w.Waits && e.Cause == nil:
		return "that does not say why it gave up"
	case errors.Is(e.Cause, redlock.ErrTokensUsedUp) && w.usedUp < w.Permits:
		return "another permit may be given back"
	case e.Cause != nil && e.Cause == w.Context.Err(), e.Cause == nil, errors.Is(e.Cause, redlock.ErrClosed), errors.Is(e.Cause, redlock.ErrTokensUsedUp):
		return "" // the library's own errors are for the attempts to judge
	case errors.Is(e.Cause, context.DeadlineExceeded):
		if w.Renewal.Wait == 0 || x.timed && x.run.clock(w.Client).Before(w.end) {
			return "its time is not over"
		}
	case w.Context.Err() == nil && x.run.World.Client(w.Client).Drawn() > 0 && !x.run.World.Client(w.Client).Starved():
		return "nothing has ended it"
	}
	return ""
}
