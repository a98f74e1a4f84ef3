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
	timer    driver.Timer
}

// wait answers WAIT replicas milliseconds: with the number of replicas that know all that the node knows now, once these
// are enough or the time is up. redis-server asks that of the writes of the connection only.
func (s *Server) wait(x *network.Exchange, end Asking, args []string) {
	r := &s.replication
	refuse := func(text string) {
		end.Answer(rediscmd.ServerError(text))
		x.Reply()
	}
	if r.master != nil {
		refuse("ERR WAIT cannot be used with replica instances.")
		return
	}
	if len(args) != 2 {
		refuse("ERR wrong number of arguments for 'wait' command")
		return
	}
	replicas, err := strconv.Atoi(args[0])
	millis, err2 := strconv.Atoi(args[1])
	if err != nil || err2 != nil || millis <= 0 {
		refuse("ERR value is not an integer or out of range")
		return
	}
	s.await(replicas, time.Duration(millis)*time.Millisecond, func(confirmed int) {
		end.Answer(int64(confirmed))
		x.Reply()
	})
	s.acknowledged()
}

// Await has answer called with the number of replicas that know all that the node knows after the command under way, once these
// are enough or the time is up. It is not called before the command is over.
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
	life := r.life
	w.timer = s.ProgramClock().AfterFunc(within, func() {
		if i := slices.Index(r.waits, w); i >= 0 && life == r.life {
			r.waits = slices.Delete(r.waits, i, i+1)
			w.answer(s.Confirmed(w.offset))
		}
	})
	r.waits = append(r.waits, w)
}

// acknowledged answers every WAIT for which enough replicas have acknowledged.
func (s *Server) acknowledged() {
	r := &s.replication
	r.waits = slices.DeleteFunc(r.waits, func(w *wait) bool {
		if s.Confirmed(w.offset) < w.replicas {
			return false
		}
		w.timer.Stop()
		w.answer(s.Confirmed(w.offset))
		return true
	})
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
