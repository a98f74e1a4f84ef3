package subscription

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redlocksim/redlock/driver"
)

// line is a connection on which a test says what is received, also after it was closed.
type line struct{ received chan error }

func (line) Subscribe(context.Context, ...string) error   { return nil }
func (line) Unsubscribe(context.Context, ...string) error { return nil }
func (line) Ping(context.Context) error                   { return nil }
func (line) Close() error                                 { return nil }

func (l line) Receive(context.Context, time.Duration) (channel, message string, err error) {
	return "", "", <-l.received
}

// Errors are told, the first of those that follow each other on a connection. That a connection is closed which nobody needs is
// none, also if somebody needs one again by then.
func TestTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var told []error
		var lines []line
		connect := func() Connection {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, line{make(chan error)})
			return lines[len(lines)-1]
		}
		s := New(connect, func(err error) { mu.Lock(); told = append(told, err); mu.Unlock() }, driver.SystemClock(), driver.SystemTasks())
		check := func(connections int, want string) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if got := fmt.Sprint(told); got != want || len(lines) != connections {
				t.Errorf("told %s over %d connections, want %s over %d", got, len(lines), want, connections)
			}
		}
		stop := s.Listen("a", func(string) {})
		check(1, "[]")
		lines[0].received <- nil
		check(1, "[<nil>]")
		lines[0].received <- errors.New("broken")
		time.Sleep(retry)
		check(2, "[<nil> broken]")
		s.came(lines[0], errors.New("late"))
		s.came(lines[1], errors.New("forbidden"))
		s.came(lines[1], errors.New("closed for that"))
		check(2, "[<nil> broken forbidden]")

		stop()
		stop = s.Listen("b", func(string) {})
		lines[1].received <- errors.New("closed")
		check(3, "[<nil> broken forbidden]")
		lines[2].received <- nil
		check(3, "[<nil> broken forbidden <nil>]")
		stop()
		lines[2].received <- errors.New("closed")
		check(3, "[<nil> broken forbidden <nil> <nil>]")
	})
}
