package goredis

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/redlock/driver"
)

// The times of a subscription. No step of it waits for longer than subscriptionStep, also where a server accepts the
// connection and never answers: so one that nobody needs any more is gone within about twice that.
const (
	subscriptionStep  = time.Second      // for a handshake, for a write, and between looks whether the connection is needed
	subscriptionRetry = time.Second      // after a connection that broke or could not be made; waiters poll in the meantime
	subscriptionPing  = 10 * time.Second // of silence, after which the server is asked whether it is there
	subscriptionDead  = 20 * time.Second // of silence, after which the connection is made anew
)

// subscription is what a node listens for. There is at most one connection, and one task that reads from it.
type subscription struct {
	client interface {
		Subscribe(ctx context.Context, channels ...string) *redis.PubSub
	}
	clock driver.Clock
	tasks driver.Tasks

	mu       sync.Mutex
	waiters  map[string][]*waiter // by channel, none empty
	running  bool                 // the task that reads
	closing  bool                 // the connection is being closed because nobody needed it
	closed   bool                 // by Nodes.Close: nobody may listen any more
	ended    []func()             // called when the reading task has ended; each is a Nodes.Close that waits for it
	pubsub   *redis.PubSub        // nil between connections
	channels map[string]bool      // that pubsub was asked to subscribe to
	updating bool                 // a task asks it to
	pausing  driver.Waiter        // of the task between two connections; nil if it does not pause
}

// waiter wants to be told of messages.
type waiter struct{ heard func() }

// listen calls heard for each message on the channel, until it is stopped.
func (s *subscription) listen(channel string, heard func()) (stop func()) {
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

func (s *subscription) stopListening(channel string, w *waiter) {
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
func (s *subscription) subscribe() {
	for {
		s.readMessages()
		s.mu.Lock()
		isNeeded, wasClosed := len(s.waiters) > 0, s.closing
		s.closing = false
		if !isNeeded {
			s.running = false
			ended := s.ended
			s.mu.Unlock()
			for _, wake := range ended {
				wake()
			}
			return
		}
		s.mu.Unlock()
		if !wasClosed { // who came while it was closed need not wait
			s.pause(subscriptionRetry)
		}
	}
}

// readMessages connects, and reads until the connection breaks or is not needed any more.
func (s *subscription) readMessages() {
	pubsub := s.client.Subscribe(context.Background()) // connects to nothing yet
	defer pubsub.Close()
	s.mu.Lock()
	s.pubsub, s.channels = pubsub, map[string]bool{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.pubsub = nil
		s.mu.Unlock()
	}()
	s.updateChannels()
	heard := s.clock.Now()
	for s.isNeeded() {
		message, err := s.receive(pubsub)
		now := s.clock.Now()
		switch {
		case err == nil:
			heard = now
			if m, ok := message.(*redis.Message); ok {
				s.tell(m.Channel)
			}
		case !isTimeout(err) || now.Sub(heard) >= subscriptionDead:
			return
		case now.Sub(heard) >= subscriptionPing:
			s.ping(pubsub)
		}
	}
}

// receive waits for a message for one step. If the connection breaks, go-redis makes another one within the context.
func (s *subscription) receive(pubsub *redis.PubSub) (message any, err error) {
	ctx, cancel := s.within(2 * subscriptionStep)
	defer cancel()
	return pubsub.ReceiveTimeout(ctx, subscriptionStep)
}

// ping asks for a message. An error comes again from receive.
func (s *subscription) ping(pubsub *redis.PubSub) {
	ctx, cancel := s.within(subscriptionStep)
	defer cancel()
	_ = pubsub.Ping(ctx)
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

// updateChannels has the server send what is listened for now, and nothing else.
func (s *subscription) updateChannels() {
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
		if s.pubsub == nil || s.updating || len(more)+len(less) == 0 {
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
		pubsub := s.pubsub
		s.mu.Unlock()

		slices.Sort(more)
		slices.Sort(less)
		ctx, cancel := s.within(subscriptionStep)
		// Errors come again from ReceiveTimeout.
		if len(more) > 0 {
			_ = pubsub.Subscribe(ctx, more...)
		}
		if len(less) > 0 {
			_ = pubsub.Unsubscribe(ctx, less...)
		}
		cancel()
		s.mu.Lock()
		s.updating = false
		s.mu.Unlock()
	}
}

// tell tells those who listen on the channel.
func (s *subscription) tell(channel string) {
	s.mu.Lock()
	all := slices.Clone(s.waiters[channel])
	s.mu.Unlock()
	for _, w := range all {
		w.heard()
	}
}

func (s *subscription) isNeeded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiters) > 0
}

// closeConnection ends a read under way, or the pause before the next connection. It does not wait: go-redis keeps a lock
// during a handshake.
func (s *subscription) closeConnection() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pausing != nil {
		s.pausing.Wake()
	}
	if pubsub := s.pubsub; pubsub != nil && !s.closing {
		s.closing = true
		s.tasks.Start(func() { _ = pubsub.Close() })
	}
}

// end ends all listening for good, and returns what waits until the connection is closed.
func (s *subscription) end() (wait func()) {
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

func (s *subscription) isRunning() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}

// within is a context for one step of a subscription.
func (s *subscription) within(d time.Duration) (context.Context, context.CancelFunc) {
	return s.clock.WithDeadline(context.Background(), s.clock.Now().Add(d))
}

// pause waits for d, or until nobody listens any more.
func (s *subscription) pause(d time.Duration) {
	ctx, cancel := s.within(d)
	defer cancel()
	w := s.tasks.NewWaiter()
	s.mu.Lock()
	s.pausing = w
	if len(s.waiters) == 0 {
		w.Wake()
	}
	s.mu.Unlock()
	w.Wait(ctx)
	s.mu.Lock()
	s.pausing = nil
	s.mu.Unlock()
}
