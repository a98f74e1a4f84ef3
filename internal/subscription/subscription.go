// Package subscription keeps a connection to a server on which channels are listened to, for as long as somebody
// listens. The adapters to Redis client libraries share it.
package subscription

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	"redlocksim/redlock/driver"
)

// Connection is one on which a server publishes. Its calls, but Close, end with their contexts at the latest. Those on
// one connection may come from two goroutines, of which one receives.
type Connection interface {
	// Subscribe and Unsubscribe change what the server publishes on it. Of an error, Receive says at least that there
	// was one.
	Subscribe(ctx context.Context, channels ...string) error
	Unsubscribe(ctx context.Context, channels ...string) error
	// Receive waits for so long for something from the server, and gives the channel if it is a message. If nothing
	// came, the error is a timeout of package net; any other error means that the connection is broken.
	Receive(ctx context.Context, wait time.Duration) (channel, message string, err error)
	// Ping has the server send something.
	Ping(ctx context.Context) error
	// Close ends a Receive under way.
	Close() error
}

// The times of a subscription. No step of it waits for longer than step, also where a server accepts the
// connection and never answers: so one that nobody needs any more is gone within about twice that.
const (
	step   = time.Second      // for a handshake, for a write, and between looks whether the connection is needed
	retry  = time.Second      // after a connection that broke or could not be made; waiters poll in the meantime
	silent = 10 * time.Second // of silence, after which the server is asked whether it is there
	dead   = 20 * time.Second // of silence, after which the connection is made anew
)

// Subscription is what a node listens for. There is at most one connection, and one task that reads from it.
type Subscription struct {
	connect func() Connection
	told    func(err error)
	clock   driver.Clock
	tasks   driver.Tasks

	mu       sync.Mutex
	waiters  map[string][]*waiter // by channel, none empty
	running  bool                 // the task that reads
	closing  bool                 // the connection is being closed because nobody needed it
	closed   bool                 // by End: nobody may listen any more
	ended    []func()             // called when the reading task has ended; each is an End that waits for it
	open     Connection           // nil between connections
	channels map[string]bool      // to which it was asked to subscribe
	failed   bool                 // the last that came of it was an error
	updating bool                 // a task asks it to
}

// New is a subscription to nothing yet. connect makes a connection without waiting for it to be there. told is told of
// errors, and with nil of what came from the server, and when nobody listens any more. It does not wait for anything.
func New(connect func() Connection, told func(err error), clock driver.Clock, tasks driver.Tasks) *Subscription {
	return &Subscription{connect: connect, told: told, clock: clock, tasks: tasks}
}

// waiter wants to be told of messages.
type waiter struct{ heard func(message string) }

// Listen calls heard with each message on the channel, until it is stopped.
func (s *Subscription) Listen(channel string, heard func(message string)) (stop func()) {
	w := &waiter{heard}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return func() {}
	}
	if s.waiters == nil {
		s.waiters = map[string][]*waiter{}
	}
	s.waiters[channel] = append(s.waiters[channel], w)
	start, change := !s.running, len(s.waiters[channel]) == 1
	s.running = true
	s.mu.Unlock()
	if start {
		s.tasks.Start(s.subscribe)
	} else if change {
		s.tasks.Start(s.updateChannels)
	}
	return func() { s.stopListening(channel, w) }
}

func (s *Subscription) stopListening(channel string, w *waiter) {
	s.mu.Lock()
	s.waiters[channel] = slices.DeleteFunc(s.waiters[channel], func(o *waiter) bool { return o == w })
	change := len(s.waiters[channel]) == 0
	if change {
		delete(s.waiters, channel)
	}
	last := len(s.waiters) == 0
	s.mu.Unlock()
	switch {
	case last:
		s.closeConnection()
	case change:
		s.tasks.Start(s.updateChannels)
	}
}

// subscribe reads messages until nobody listens any more.
func (s *Subscription) subscribe() {
	for {
		s.readMessages()
		s.mu.Lock()
		isNeeded, wasClosed := len(s.waiters) > 0, s.closing
		s.closing = false
		if !isNeeded {
			s.running = false
			s.told(nil)
			ended := s.ended
			s.mu.Unlock()
			for _, wake := range ended {
				wake()
			}
			return
		}
		s.mu.Unlock()
		if !wasClosed { // who came while it was closed need not wait
			s.pause()
		}
	}
}

// readMessages connects, and reads until the connection breaks or is not needed any more.
func (s *Subscription) readMessages() {
	open := s.connect()
	defer open.Close()
	s.mu.Lock()
	s.open, s.channels, s.failed = open, map[string]bool{}, false
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.open = nil
		s.mu.Unlock()
	}()
	s.updateChannels()
	heard := s.clock.Now()
	for s.isNeeded() {
		channel, message, err := s.receive(open)
		now := s.clock.Now()
		switch {
		case err == nil:
			heard = now
			s.came(open, nil)
			s.tell(channel, message)
		case !isTimeout(err):
			s.came(open, err)
			return
		case now.Sub(heard) >= dead:
			s.came(open, err)
			return
		case now.Sub(heard) >= silent:
			s.ping(open)
		}
	}
}

// came tells of what came of a connection: of the first of errors that follow each other, and of none while it is being closed,
// which is an error as well.
func (s *Subscription) came(open Connection, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open != open || s.closing || s.failed && err != nil {
		return
	}
	s.failed = err != nil
	s.told(err)
}

// receive waits for a message for one step. A client library may take another one to make the connection.
func (s *Subscription) receive(open Connection) (channel, message string, err error) {
	ctx, cancel := s.within(2 * step)
	defer cancel()
	return open.Receive(ctx, step)
}

// ping asks for something from the server. An error comes again from receive.
func (s *Subscription) ping(open Connection) {
	ctx, cancel := s.within(step)
	defer cancel()
	_ = open.Ping(ctx)
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

// updateChannels has the server send what is listened for now, and nothing else.
func (s *Subscription) updateChannels() {
	for {
		s.mu.Lock()
		var more, less []string
		for channel := range s.waiters {
			if !s.channels[channel] {
				more = append(more, channel)
			}
		}
		for channel := range s.channels {
			if s.waiters[channel] == nil {
				less = append(less, channel)
			}
		}
		if s.open == nil || s.updating || len(more)+len(less) == 0 {
			s.mu.Unlock() // whoever is updating looks again
			return
		}
		for _, channel := range more {
			s.channels[channel] = true
		}
		for _, channel := range less {
			delete(s.channels, channel)
		}
		s.updating = true
		open := s.open
		s.mu.Unlock()

		slices.Sort(more)
		slices.Sort(less)
		ctx, cancel := s.within(step)
		if len(more) > 0 {
			if err := open.Subscribe(ctx, more...); err != nil {
				s.came(open, err)
			}
		}
		if len(less) > 0 {
			_ = open.Unsubscribe(ctx, less...)
		}
		cancel()
		s.mu.Lock()
		s.updating = false
		s.mu.Unlock()
	}
}

// tell tells those who listen on the channel.
func (s *Subscription) tell(channel, message string) {
	s.mu.Lock()
	all := slices.Clone(s.waiters[channel])
	s.mu.Unlock()
	for _, w := range all {
		w.heard(message)
	}
}

func (s *Subscription) isNeeded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiters) > 0
}

// closeConnection ends a read under way. It does not wait: a client library may keep a lock during a handshake.
func (s *Subscription) closeConnection() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if open := s.open; open != nil && !s.closing {
		s.closing = true
		s.tasks.Start(func() { _ = open.Close() })
	}
}

// End ends all listening for good, and returns what waits until the connection is closed.
func (s *Subscription) End() (wait func()) {
	done := s.tasks.NewWaiter()
	s.mu.Lock()
	s.closed, s.ended = true, append(s.ended, done.Wake)
	clear(s.waiters)
	s.mu.Unlock()
	s.closeConnection()
	return func() {
		for s.isRunning() {
			done.Wait(context.Background())
		}
	}
}

func (s *Subscription) isRunning() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}

// within is a context for one step of a subscription.
func (s *Subscription) within(d time.Duration) (context.Context, context.CancelFunc) {
	return s.clock.WithDeadline(context.Background(), s.clock.Now().Add(d))
}

// pause waits before the next connection.
func (s *Subscription) pause() {
	ctx, cancel := s.within(retry)
	defer cancel()
	s.tasks.NewWaiter().Wait(ctx)
}
