package scenarios

import (
	"context"
	"math"
	"time"

	"redlocksim/history"
	"redlocksim/scenarios/protocols"
)

// renew works under the lock for d, which is extended every third of its TTL: the period of Redisson's watchdog. The
// shipped library does so by itself.
func (l *held) renew(d time.Duration) {
	if lease, ok := l.lease.(protocols.Renewer); ok {
		lease.Renew(l.ctx(), l.renewal(), func(ctx context.Context) {
			l.host.Sleep(ctx, d)
			for l.host.Stuck() && ctx.Err() == nil {
				l.host.Sleep(ctx, math.MaxInt64)
			}
		})
		return
	}
	end := l.clock.Now().Add(d)
	for n := 0; ; n++ {
		left := end.Sub(l.clock.Now())
		if l.host.Stuck() {
			left = math.MaxInt64
		}
		if left <= 0 || l.lease.Context().Err() != nil {
			return
		}
		if l.renewals > 0 && n >= l.renewals {
			l.host.Sleep(l.lease.Context(), left)
			return
		}
		l.host.Sleep(l.lease.Context(), min(left, l.ttl/3))
		if (l.clock.Now().Before(end) || l.host.Stuck()) && l.lease.Context().Err() == nil {
			l.extend(l.ttl)
		}
	}
}

// renewal has every extend of a protocol's own written down as one of this program, unless the client crashed at a step
// of it.
func (l *held) renewal() protocols.Renewal {
	var c *called
	return protocols.Renewal{
		Limit:  l.renewals,
		Begins: func() { c = l.call(history.Extend, l.ttl); c.Renewal = true },
		Ends: func(err error) {
			if !l.host.Dead() {
				l.returned(c, err)
			}
		},
	}
}
