package redis

import (
	"slices"
	"strconv"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
)

// wait is a WAIT that has not been answered: for replicas that know all that the node knew when it came. redis-server asks that
// of the writes of the connection only.
type wait struct {
	replicas int
	within   time.Duration // for ever if zero
	answer   func(confirmed int)
	offset   uint64
	timer    driver.Timer // nil if it has no end
}

// Wait is the command WAIT with its arguments, the last of those that the node carries out now: answer is given the reply, an
// int64 or a ServerError, and never before the other commands are over.
func (s *Server) Wait(args []string, answer func(value any)) {
	replicas, within, refusal := s.readWait(args)
	if refusal == "" {
		s.Await(replicas, within, func(confirmed int) { answer(int64(confirmed)) })
		return
	}
	s.begin = func() { answer(refusal) }
}

func (s *Server) readWait(args []string) (replicas int, within time.Duration, refusal rediscmd.ServerError) {
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

// Await is Wait for so many replicas, no longer than within, and for ever if that is zero.
func (s *Server) Await(replicas int, within time.Duration, answer func(confirmed int)) {
	s.begin = func() { s.wait(&wait{replicas: replicas, within: within, answer: answer}) }
}

// beginWait begins the WAIT behind the commands that are over now.
func (s *Server) beginWait() {
	if begin := s.begin; begin != nil {
		s.begin = nil
		begin()
	}
}

func (s *Server) wait(w *wait) {
	r := &s.replication
	w.offset = r.offset
	r.waits = append(r.waits, w)
	if w.within > 0 {
		life := r.life
		w.timer = s.ProgramClock().AfterFunc(w.within, func() {
			if i := slices.Index(r.waits, w); i >= 0 && life == r.life {
				r.waits = slices.Delete(r.waits, i, i+1)
				w.answer(s.Confirmed(w.offset))
			}
		})
	}
	s.acknowledged()
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
