package redisnode

import (
	"errors"
	"fmt"
	"net"
	"time"

	"redlocksim/internal/printable"
	"redlocksim/redlock/driver"
)

// Answer is what came of a command. An answer that came counts, whatever became of the connection afterwards.
type Answer struct {
	// What came for a command that is answered with a [Status]: that, or nil.
	Status string
	IsNil  bool
	// What came for another: an int64, a string, or a []any of them; nil if none came.
	Value any

	// Err is why nothing of that came, and Outcome what that means for the command: Failed if the server answered with an
	// error, otherwise TimedOut or Refused.
	Err     error
	Outcome driver.Outcome
}

// Unanswered is the outcome of a command that the server did not answer, by the error that a client library gives instead. The
// order counts: a dial that timed out is a node that was not reached, and nothing was sent.
func Unanswered(err error) driver.Outcome {
	var (
		dial   *net.OpError
		netErr net.Error
	)
	switch {
	case errors.As(err, &dial) && dial.Op == "dial":
		return driver.Refused
	case errors.As(err, &netErr) && netErr.Timeout(): // context.DeadlineExceeded and os.ErrDeadlineExceeded among them
		return driver.TimedOut
	}
	// A dropped connection, a closed client, and what a client library itself refuses before anything is sent. No reply is
	// going to come from any of them.
	return driver.Refused
}

// none is the reply to a command for which no answer came.
func (a *Answer) none() driver.Reply { return driver.Reply{Outcome: a.Outcome, Err: a.Err} }

// replyTo reads the answer to a command.
func (of *Adapter) replyTo(c *driver.Command, a Answer) driver.Reply {
	switch {
	case a.Status == "OK":
		return driver.Reply{Outcome: driver.Accepted}
	case a.Status != "":
		return of.strange(c, a.Status)
	case a.IsNil:
		return driver.Reply{Outcome: driver.Declined}
	case a.Value == nil && a.Err == nil:
		return of.strange(c, "nothing")
	case a.Value == nil:
		return a.none()
	case c.Conditions != nil:
		return of.conditionalReply(c, a.Value)
	case c.Op == driver.OpRelease && isList(a.Value):
		if list := a.Value.([]any); len(list) == 2 && list[0] == int64(1) {
			return of.unpublished(fmt.Sprint(list[1]))
		}
	case c.Op == driver.OpRelease && a.Value == int64(2):
		return driver.Reply{Outcome: driver.Accepted, Called: true}
	case isGrantWithPlain(c, a.Value), a.Value == int64(1):
		return driver.Reply{Outcome: driver.Accepted}
	case a.Value == int64(0):
		return driver.Reply{Outcome: driver.Declined}
	}
	return of.strange(c, a.Value)
}

func isList(value any) bool { _, is := value.([]any); return is }

// isGrantWithPlain reports whether a value is acquire.lua's grant with the plain commands that it found.
func isGrantWithPlain(c *driver.Command, value any) bool {
	list, _ := value.([]any)
	return c.Op == driver.OpAcquire && len(list) == 2 && list[0] == int64(1)
}

// conditionalReply reads the answers of vote.lua and prepare.lua.
func (of *Adapter) conditionalReply(c *driver.Command, value any) driver.Reply {
	list, _ := value.([]any)
	if len(list) == 3 && list[0] == int64(1) { // the third is what foundPlain reads
		list = list[:2]
	}
	if len(list) != 2 {
		return of.strange(c, value)
	}
	code, isCode := list[0].(int64)
	number, isNumber := list[1].(int64)
	text, isText := list[1].(string)
	switch {
	case !isCode:
	case isText && code == 1 && c.Op == driver.OpPrepare:
		return driver.Reply{Outcome: driver.Accepted, Record: text}
	case isText && code == 0 && c.Op == driver.OpPrepare:
		return driver.Reply{Outcome: driver.Declined, Record: text}
	case isText && code == -2:
		return driver.Reply{Outcome: driver.Quarantined, Record: text}
	case isNumber && code == 1:
		return driver.Reply{Outcome: driver.Accepted}
	case isNumber && code == 0:
		return driver.Reply{Outcome: driver.Declined, Token: number}
	case isNumber && code == -1:
		return driver.Reply{Outcome: driver.Behind, Token: number}
	case isNumber && code == -3:
		return driver.Reply{Outcome: driver.Failed,
			Err: &driver.MaxTTLError{Node: time.Duration(number) * time.Millisecond, Client: c.Conditions.MaxTTL}}
	}
	return of.strange(c, value)
}

// shownAnswer is how much of an answer an error shows, in bytes.
const shownAnswer = 300

func (of *Adapter) strange(c *driver.Command, value any) driver.Reply {
	return driver.Reply{Outcome: driver.Failed, Err: fmt.Errorf("%s: %v was answered with %s", of.name, c.Op, printable.Text(fmt.Sprint(value), shownAnswer))}
}
