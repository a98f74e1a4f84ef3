package redis

import (
	"slices"
	"strconv"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
	"redlocksim/sim/network"
)

// wait is a WAIT that has not been answered.
type wait struct {
	answer   func(confirmed int)
	replicas int
	offset   uint64
	timer    driver.Timer // nil if it has no end
}

// wait answers WAIT replicas milliseconds: with the number of replicas that know all that the node knows now, once these
// are enough or the time is up. redis-server asks that of the writes of the connection only.
func (s *Server) wait(x *network.Exchange, end Asking, args []string) {
	replicas, within, refusal := s.Waits(args)
	if refusal != "" {
		end.Answer(refusal)
		x.Reply()
		return
	}
	s.await(replicas, within, func(confirmed int) {
		end.Answer(int64(confirmed))
		x.Reply()
	})
	s.acknowledged()
}

// Waits reads the arguments of a WAIT: for so many replicas, no longer than within, and for ever if that is zero. The refusal
// is empty unless the node answers with it.
func (s *Server) Waits(args []string) (replicas int, within time.Duration, refusal rediscmd.ServerError) {
	if s.replication.master != nil {
		return 0, 0, "ERR WAIT cannot be used with replica instances."
	}
	if len(args) != 2 {
		return 0, 0, "ERR wrong number of arguments for 'wait' command"
	}
	replicas, err := strconv.Atoi(args[0])
	if err != nil {
		return 0, 0, "ERR value is not an integer or out of range"
	}
	switch millis, err := strconv.Atoi(args[1]); {
	case err != nil:
		return 0, 0, "ERR timeout is not an integer or out of range"
	case millis < 0:
		return 0, 0, "ERR timeout is negative"
	default:
		return replicas, time.Duration(millis) * time.Millisecond, ""
	}
}

// Await has answer called with the number of replicas that know all that the node knows after the command under way, once these
// are enough or the time is up, of which there is no end if it is zero. It is not called before the command is over.
func (s *Server) Await(replicas int, within time.Duration, answer func(confirmed int)) {
	s.awaiting = func() { s.await(replicas, within, answer) }
}

// awaits begins what the command that is over now asked for.
func (s *Server) awaits() {
	if begin := s.awaiting; begin != nil {
		s.awaiting = nil
		begin()
		s.acknowledged()
	}
}

func (s *Server) await(replicas int, within time.Duration, answer func(confirmed int)) {
	r := &s.replication
	w := &wait{answer: answer, replicas: replicas, offset: r.offset}
	r.waits = append(r.waits, w)
	if within == 0 {
		return
	}
	life := r.life
	w.timer = s.ProgramClock().AfterFunc(within, func() {
		if i := slices.Index(r.waits, w); i >= 0 && life == r.life {
			r.waits = slices.Delete(r.waits, i, i+1)
			w.answer(s.Confirmed(w.offset))
		}
	})
}

// acknowledged answers every WAIT for which enough replicas have acknowledged. What an answer has the node carry out may be
// another one.
func (s *Server) acknowledged() {
	r := &s.replication
	for {
		i := slices.IndexFunc(r.waits, func(w *wait) bool { return s.Confirmed(w.offset) >= w.replicas })
		if i < 0 {
			return
		}
		w := r.waits[i]
		r.waits = slices.Delete(r.waits, i, i+1)
		if w.timer != nil {
			w.timer.Stop()
		}
		w.answer(s.Confirmed(w.offset))
	}
}

// Offset is how many changes the node has made, or has learned of from its master.
func (s *Server) Offset() uint64 { return s.replication.offset }

// Confirmed is how many replicas have acknowledged the changes up to an offset, as WAIT counts them.
func (s *Server) Confirmed(offset uint64) int {
	n := 0
	for _, f := range s.replication.feeds {
		if f.replica.replication.master == s && f.acked >= offset {
			n++
		}
	}
	return n
}
