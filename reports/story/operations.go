package story

import (
	"fmt"
	"slices"
	"strings"

	"redlocksim/internal/rounded"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/sim/history"
)

// call tells that a client begins an operation. An extend that fails as the one before it is not told.
func (t *teller) call(e *history.Event) string {
	why, fails := t.fails[e.Op]
	a := &attempt{again: fails && why == t.failed[e.Grant]}
	t.attempts[e.Op] = a
	if a.again {
		return ""
	}
	switch e.Func {
	case history.Acquire:
		delete(t.late, e.Process)
		return e.Process + " requests the lock" + t.on(e)
	case history.Release:
		delete(t.late, e.Process)
		return e.Process + " releases the lock" + t.on(e)
	case history.Extend:
		return e.Process + " asks to extend its lease" + t.on(e)
	case history.Write:
		return fmt.Sprintf("%s sends a write of %s to %s", e.Process, t.value(e), place(e))
	}
	return ""
}

// ret tells how an operation ended.
func (t *teller) ret(e *history.Event) string {
	a := t.attempts[e.Op]
	if a == nil {
		a = &attempt{}
	}
	delete(t.attempts, e.Op)
	ok := e.Outcome == history.OK
	switch {
	case e.Func == history.Acquire && ok:
		return t.granted(e, a)
	case e.Func == history.Acquire:
		return fmt.Sprintf("%s does not get the lock%s: %s", e.Process, t.on(e), e.Detail)
	case e.Func == history.Extend && ok:
		delete(t.failed, e.Grant)
		return fmt.Sprintf("%s extends its lease%s%s", e.Process, t.on(e), a.valid())
	case e.Func == history.Extend:
		return t.notExtended(e, a)
	case e.Func == history.Release && !ok:
		return fmt.Sprintf("%s's release%s is not confirmed: %s", e.Process, t.of(e), e.Detail)
	case e.Func == history.Read && ok:
		return fmt.Sprintf("%s reads %s from %s%s", e.Process, t.value(e), place(e), aside(token(a.token)))
	case e.Func == history.Write && e.Outcome == history.Failed && e.Node != "":
		return fmt.Sprintf("%s rejects %s's write%s", e.Node, e.Process, t.to(e))
	}
	return ""
}

func (t *teller) granted(e *history.Event, a *attempt) string {
	if a.answers == nil {
		return fmt.Sprintf("%s is granted the lock%s%s", e.Process, t.on(e), aside(token(e.Token)))
	}
	what := " the lock"
	if t.several {
		what = t.named(e)
	}
	yes := driver.Accepted.Of(driver.OpAcquire)
	text := fmt.Sprintf("%s acquires%s on %s", e.Process, what, a.nodes(yes))
	if joined := t.joined[e.Grant]; joined != nil {
		slices.Sort(joined)
		text += ", then " + strings.Join(joined, ", ")
	}
	return text + aside(a.others(yes)) + a.valid() + aside(token(e.Token), a.ordinal())
}

func (t *teller) notExtended(e *history.Event, a *attempt) string {
	if e.Detail == redlock.ErrLost.Error() && t.over[e.Grant] == "" {
		t.over[e.Grant] = "that its lease is lost"
	}
	t.failed[e.Grant] = e.Detail
	if a.again {
		return ""
	}
	return fmt.Sprintf("%s fails to extend its lease%s: %s", e.Process, t.on(e), e.Detail)
}

// effect tells what the resource did with a request.
func (t *teller) effect(e *history.Event) string {
	switch {
	case e.Func == history.Read && e.Outcome == history.OK:
		if a := t.attempts[e.Op]; a != nil {
			a.token = e.Token
		}
	case e.Func == history.Write && e.Outcome == history.OK:
		return fmt.Sprintf("%s accepts %s's write of %s%s", place(e), e.Process, t.value(e), aside(token(e.Token)))
	case e.Func == history.Mark && e.Outcome == history.OK:
		return fmt.Sprintf("the storage accepts %s's mark%s", e.Process, t.on(e))
	case e.Outcome != history.OK && e.Node != "":
		return fmt.Sprintf("%s rolls back %s's %s%s", e.Node, e.Process, e.Func, t.on(e))
	case e.Outcome != history.OK:
		return fmt.Sprintf("the storage rejects %s's %s%s%s", e.Process, e.Func, t.on(e), aside(token(e.Token), outdated(e)))
	}
	return ""
}

// outdated is what is wrong with the version that a rejected write goes by; empty if it goes by none.
func outdated(e *history.Event) string {
	if e.Basis == 0 {
		return ""
	}
	return "its version is out of date"
}

// place is where a read or write goes: the storage, or a node that keeps the resource itself.
func place(e *history.Event) string {
	if e.Node != "" {
		return e.Node
	}
	return "the storage"
}

// token is the fencing token of an event, if it has one.
func token(number int64) string {
	if number == 0 {
		return ""
	}
	return fmt.Sprintf("token %d", number)
}

// aside is what there is of some remarks, in brackets behind a sentence.
func aside(remarks ...string) string {
	remarks = slices.DeleteFunc(remarks, func(r string) bool { return r == "" })
	if len(remarks) == 0 {
		return ""
	}
	return " (" + strings.Join(remarks, ", ") + ")"
}

// valid is how long a grant or an extension is valid, where a client has computed that.
func (a *attempt) valid() string {
	switch {
	case a.validity > 0:
		return fmt.Sprintf("; valid for %v", rounded.Duration(a.validity))
	case a.validity < 0:
		return fmt.Sprintf(", although no validity is left (%v)", rounded.Duration(a.validity))
	}
	return ""
}
