package lockprogram

import (
	"context"
	"sync"
	"time"
)

// Term is how long a lease lasts that is kept alive. A lease that embeds one is [Valid], [Losing] and [Renewing].
type Term struct {
	mu       sync.Mutex
	until    time.Time
	lost     chan struct{}
	renewed  chan time.Time
	once     sync.Once
	released chan struct{}
}

// Forever is until when a lease lasts that only its owner ends, or a service that then says so.
func Forever() time.Time { return time.Now().Add(365 * 24 * time.Hour) }

// NewTerm is a term that lasts until then, unless it is renewed.
func NewTerm(until time.Time) *Term {
	return &Term{until: until, lost: make(chan struct{}), renewed: make(chan time.Time), released: make(chan struct{})}
}

// Until implements Valid.
func (t *Term) Until() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.until
}

// Lost implements Losing.
func (t *Term) Lost() <-chan struct{} { return t.lost }

// Renewed implements Renewing.
func (t *Term) Renewed() <-chan time.Time { return t.renewed }

// Keep keeps the lease alive: each time that this long has passed it calls renew, which has as long to answer until when the
// lease lasts now; the zero time for as long as before. The lease is lost when over is closed, when renew returns a [Refused],
// and when the term has ended, whatever renew is doing then or returns later. Any other error only means that it was not
// renewed. Keep returns when the lease is lost, or released.
func (t *Term) Keep(every time.Duration, over <-chan struct{}, renew func(context.Context) (time.Time, error)) {
	defer close(t.lost)
	defer close(t.renewed)
	ended := time.NewTimer(time.Until(t.Until()))
	defer ended.Stop()
	again := time.NewTicker(every)
	defer again.Stop()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	answers := make(chan answer, 1)
	for isAsked := false; ; {
		select {
		case <-t.released:
			return
		case <-over:
			return
		case <-ended.C:
			return
		case <-again.C:
			if !isAsked {
				isAsked = true
				go func() { answers <- renewed(ctx, every, renew) }()
			}
		case a := <-answers:
			isAsked = false
			switch {
			case isRefused(a.err):
				return
			case a.err == nil && !a.until.IsZero() && time.Until(a.until) <= 0:
				return // the answer came when what it gives was over
			case a.err == nil && !a.until.IsZero():
				t.mu.Lock()
				t.until = a.until
				t.mu.Unlock()
				ended.Reset(time.Until(a.until))
				select {
				case t.renewed <- a.until:
				case <-t.released:
					return
				}
			}
		}
	}
}

// answer is what a renewal returns.
type answer struct {
	until time.Time
	err   error
}

// renewed renews the lease, which may take that long.
func renewed(ctx context.Context, within time.Duration, renew func(context.Context) (time.Time, error)) (a answer) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	a.until, a.err = renew(ctx)
	return a
}

// Release ends Keep, as what is left of the lease is nobody's concern.
func (t *Term) Release() { t.once.Do(func() { close(t.released) }) }
