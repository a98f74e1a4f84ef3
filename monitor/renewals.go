package monitor

import (
	"errors"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
)

// renewals judges when a lease is renewed by itself while work is done under it: a period after the renewal before, and after
// one that failed when a retry delay is over, or sooner if the lease is about to end, as it may be when the work begins; and
// never beyond a limit. Only code that takes no time is judged, as only then the moments are known exactly.
type renewals struct {
	run   *Run
	delay protocols.Range
	open  []*renewed
}

// renewed is work under a lease that is renewed, as long as it is known when the next renewal is due.
type renewed struct {
	*protocols.Work
	client *kernel.Process
	// limit is how often it may be renewed, 0 for as often as it takes, and end when the renewals end, by the client's clock;
	// zero if they do not.
	limit    int
	end      time.Time
	times    int  // that it was renewed
	underWay bool // a renewal is
	// The next renewal is not to come before earliest and not after latest, which is so since a moment.
	earliest, latest time.Time
	since            kernel.True
}

func watchRenewals(r *Run) {
	if !r.isLibrary() || r.StepTime > 0 || r.Lock.Clock != kernel.Monotonic {
		return
	}
	x := &renewals{run: r, delay: protocols.Of[protocols.RedlockSettings](r.Lock).RetryDelay}
	r.onWork = append(r.onWork, x.works)
	r.onStop = append(r.onStop, x.stops)
	r.onCall = append(r.onCall, x.called)
	r.onReturn = append(r.onReturn, x.returned)
	r.onCrash = append(r.onCrash, func(client string) {
		x.drop(func(w *renewed) bool { return w.Client == client })
	})
}

func (x *renewals) drop(is func(*renewed) bool) { x.open = slices.DeleteFunc(x.open, is) }

// works takes work that begins. Of two for the same lease nobody knows which of them renews it.
func (x *renewals) works(w *protocols.Work) {
	if of := x.of(w.Lease); of != nil {
		x.drop(func(other *renewed) bool { return other == of })
		return
	}
	client := x.run.World.Client(w.Client)
	now := client.ProgramClock().Now()
	this := &renewed{Work: w, client: client, since: x.run.World.Kernel.Now(), limit: limitOf(w)}
	if most := longestOf(w); most > 0 {
		this.end = now.Add(most)
	}
	this.isDueAfter(now, 4)
	if !x.run.pauses.hasRun(client, this.since) { // the period may have begun before a pause that is over at this moment
		this.earliest = time.Time{}
	}
	x.open = append(x.open, this)
}

// limitOf is how often a lease can be renewed for work at the most, 0 for as often as it takes: without any limit given, as
// often as the library documents. longestOf is for how long, 0 for as long as it takes.
func limitOf(w *protocols.Work) int {
	if w.Limit == 0 && w.MaxTime == 0 {
		return 1000
	}
	return max(w.Limit, 0)
}

func longestOf(w *protocols.Work) time.Duration {
	if w.Limit == 0 && w.MaxTime == 0 {
		return time.Hour
	}
	return max(w.MaxTime, 0)
}

// period is the time between renewals: a third of the TTL unless set.
func (w *renewed) period() time.Duration {
	if w.Period != 0 {
		return w.Period
	}
	return w.TTL / 3
}

// isDueAfter takes that the next renewal is due a period after now, or sooner: when half of the time until the context ends is
// over, give or take some sixteenths, since only the library knows exactly when that is.
func (w *renewed) isDueAfter(now time.Time, sixteenths time.Duration) {
	left := w.ends().Sub(now) / 16
	w.earliest, w.latest = now.Add(min(w.period()-w.Jitter, (8-sixteenths)*left)), now.Add(min(w.period(), (8+sixteenths)*left))
}

// ends is when the lease does, or its context, and renewals with it, as far as that is known.
func (w *renewed) ends() time.Time {
	if warner, warns := w.Lease.(protocols.Warner); warns {
		return warner.ContextEnds()
	}
	return w.Lease.Until()
}

// of is the work under a lease, if it is known when that is renewed.
func (x *renewals) of(lease protocols.Lease) *renewed {
	if i := slices.IndexFunc(x.open, func(w *renewed) bool { return w.Lease == lease }); i >= 0 {
		return x.open[i]
	}
	return nil
}

func (x *renewals) called(c *protocols.Call) {
	w := x.of(c.Lease)
	switch {
	case w == nil:
		return
	case c.Func == protocols.ReleaseCall: // the work may go on, and the lease does not
		x.stops(w.Work)
		return
	case !c.Renewal:
		return
	}
	x.run.Judged[checker.JudgeRenewals]++
	w.underWay = true
	now := w.client.ProgramClock().Now()
	switch {
	case w.limit > 0 && w.times >= w.limit:
		x.run.broken(checker.Contract, w.Resource, "%s renews its lease again, although the limit of renewals is %d", w.Client, w.limit)
	case !w.end.IsZero() && now.Add(w.TTL).After(w.end):
		x.run.broken(checker.Contract, w.Resource, "%s renews its lease for %v, although renewals may keep it for %v more at the most", w.Client, w.TTL, w.end.Sub(now))
	case now.Before(w.earliest):
		x.run.broken(checker.Contract, w.Resource, "%s renews its lease %v before that is due", w.Client, w.earliest.Sub(now))
	case now.Sub(w.latest) > rounding && x.run.pauses.hasRun(w.client, w.since):
		x.run.broken(checker.Contract, w.Resource, "%s renews its lease %v after that was due", w.Client, now.Sub(w.latest))
	}
}

func (x *renewals) returned(c *protocols.Call, err error) {
	w := x.of(c.Lease)
	if w == nil || !c.Renewal {
		return
	}
	w.underWay, w.since = false, x.run.World.Kernel.Now()
	now, isOver := w.client.ProgramClock().Now(), errors.Is(err, redlock.ErrLost) || errors.Is(err, redlock.ErrReleased) || errors.Is(err, redlock.ErrClosed)
	switch {
	case err == nil:
		w.times++
		w.isDueAfter(now, 1)
	case isOver || w.client.Starved(): // a delay is drawn
		x.drop(func(other *renewed) bool { return other == w })
	default:
		left := w.Lease.Until().Sub(now)
		w.earliest, w.latest = now.Add(min(x.delay.Min, left/8)), now.Add(min(x.delay.Max, left/2))
	}
}

// stops takes work that is over, under a lease that may have needed a renewal before that.
func (x *renewals) stops(done *protocols.Work) {
	w := x.of(done.Lease)
	if w == nil || w.Work != done {
		return
	}
	x.drop(func(other *renewed) bool { return other == w })
	now := w.client.ProgramClock().Now()
	if until := w.ends(); until.Before(now) {
		now = until
	}
	due := w.latest
	if !w.client.Clock().HasRunRight(w.since) { // a timer goes off when the clock reads a little more
		due = due.Add(rounding)
	}
	mayRenew := (w.limit == 0 || w.times < w.limit) && (w.end.IsZero() || !due.Add(w.TTL).After(w.end))
	goesOn := w.Context.Err() == nil && !x.run.clients.anyClosed(w.Client) && x.run.pauses.hasRun(w.client, w.since)
	if mayRenew && goesOn && !w.underWay && now.Sub(w.latest) > rounding {
		x.run.broken(checker.Contract, w.Resource, "%s worked under its lease until %v after a renewal was due, and has not renewed it", w.Client, now.Sub(w.latest))
	}
}
