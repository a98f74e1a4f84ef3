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
	exchange *network.Exchange
	end      Asking
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
	w := &wait{exchange: x, end: end, replicas: replicas, offset: r.offset}
	life := r.life
	w.timer = s.ProgramClock().AfterFunc(time.Duration(millis)*time.Millisecond, func() {
		if i := slices.Index(r.waits, w); i >= 0 && life == r.life {
			r.waits = slices.Delete(r.waits, i, i+1)
			s.answer(w)
		}
	})
	r.waits = append(r.waits, w)
	s.acknowledged()
}

// acknowledged answers every WAIT for which enough replicas have acknowledged.
func (s *Server) acknowledged() {
	r := &s.replication
	r.waits = slices.DeleteFunc(r.waits, func(w *wait) bool {
		if s.countAcked(w.offset) < w.replicas {
			return false
		}
		w.timer.Stop()
		s.answer(w)
		return true
	})
}

func (s *Server) answer(w *wait) {
	w.end.Answer(int64(s.countAcked(w.offset)))
	w.exchange.Reply()
}

func (s *Server) countAcked(offset uint64) int {
	n := 0
	for _, f := range s.replication.feeds {
		if f.replica.replication.master == s && f.acked >= offset {
			n++
		}
	}
	return n
}
