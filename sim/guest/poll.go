package guest

import (
	"encoding/binary"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
)

// What poll_oneoff can wait for, and the sizes of its records.
const (
	forClock = 0
	forRead  = 1
	forWrite = 2

	subscriptionSize = 48
	eventSize        = 32
	isAbsolute       = 1

	// maxSubscriptions is more than any program has descriptors.
	maxSubscriptions = 1 << 16
)

// clocks are those of WASI that there are.
var clocks = map[uint32]kernel.ClockKind{0: kernel.WallClock, 1: kernel.Monotonic}

// subscription is something that a guest waits for.
type subscription struct {
	user uint64
	kind byte
	fd   uint64
	left time.Duration // of forClock
}

// poll is poll_oneoff, the only call that waits: until one of the subscriptions has something to tell. What a guest waits for
// passes on its monotonic clock, also up to a reading of its wall clock.
func poll(g *Guest, m memory, args []uint64) errno {
	in, out, n, result := args[0], args[1], args[2], args[3]
	if n == 0 || n > maxSubscriptions {
		return invalid
	}
	subscriptions, e := g.subscriptions(m, in, n)
	if e != success {
		return e
	}
	shortest, limited := time.Duration(0), false
	for _, s := range subscriptions {
		if s.kind == forClock && (!limited || s.left < shortest) {
			shortest, limited = s.left, true
		}
	}
	late := limited && shortest <= 0
	var timer driver.Timer
	for {
		if happened := g.happened(subscriptions, shortest, late); len(happened) > 0 {
			if timer != nil {
				timer.Stop()
			}
			return m.put(out, happened).and(m.put32(result, uint32(len(happened)/eventSize)))
		}
		if timer == nil && limited {
			timer = g.Process.ProgramClock().AfterFunc(shortest, func() { late = true; g.wake() })
		}
		g.wait()
	}
}

// subscriptions reads what a guest waits for.
func (g *Guest) subscriptions(m memory, at, n uint64) ([]subscription, errno) {
	raw, ok := m.Read(uint32(at), uint32(n*subscriptionSize))
	if !ok {
		return nil, fault
	}
	all := make([]subscription, n)
	for i := range all {
		r := raw[i*subscriptionSize:]
		s := subscription{user: binary.LittleEndian.Uint64(r), kind: r[8], fd: uint64(binary.LittleEndian.Uint32(r[16:]))}
		if s.kind == forClock {
			kind, is := clocks[binary.LittleEndian.Uint32(r[16:])]
			if !is {
				return nil, invalid
			}
			s.left = time.Duration(min(binary.LittleEndian.Uint64(r[24:]), uint64(kernel.Forever)))
			if binary.LittleEndian.Uint16(r[40:])&isAbsolute != 0 {
				s.left -= time.Duration(g.Process.Reads(kind))
			}
		}
		all[i] = s
	}
	return all, success
}

// happened is the events of the subscriptions that have something to tell now. late: the clock has come to the earliest.
func (g *Guest) happened(all []subscription, earliest time.Duration, late bool) (events []byte) {
	for _, s := range all {
		e, bytes := success, 0
		switch f := g.connection(s.fd); {
		case s.kind == forClock:
			if !late || s.left > earliest {
				continue
			}
		case s.kind == forWrite:
			bytes = page
		case s.fd == stdin:
			if bytes = len(g.input); bytes == 0 {
				continue
			}
		case f == nil:
			e = badFile
		case !f.isReady():
			continue
		default:
			bytes = max(1, f.Buffered())
		}
		event := make([]byte, eventSize)
		binary.LittleEndian.PutUint64(event, s.user)
		binary.LittleEndian.PutUint16(event[8:], uint16(e))
		event[10] = s.kind
		binary.LittleEndian.PutUint64(event[16:], uint64(bytes))
		events = append(events, event...)
	}
	return events
}
