package spec

import (
	"fmt"
	"math"
	"slices"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// answer says what is wrong with what a node is said to have answered, whatever was answered before.
func (s *Settings) answer(e *Event) (why string) {
	n := &e.Node
	fails := n.Outcome == driver.TimedOut || n.Outcome == driver.Refused || n.Outcome == driver.Failed
	switch {
	case !slices.Contains(s.Nodes, n.Node):
		return fmt.Sprintf("there is no node %q", n.Node)
	case n.Outcome == driver.Unanswered || n.Outcome > driver.Behind:
		return fmt.Sprintf("%s has answered, and is %v", n.Node, n.Outcome)
	case n.Outcome == driver.Quarantined && (e.Op != driver.OpAcquire || !s.Guard), n.Outcome == driver.Behind && (e.Op != driver.OpAcquire || !s.Fencing):
		return fmt.Sprintf("%s is %v, which it cannot be here", n.Node, n.Outcome)
	case fails != (n.Err != nil):
		return fmt.Sprintf("%s is %v, and says %v", n.Node, n.Outcome, n.Err)
	}
	return ""
}

// isSame says whether two outcomes of nodes are the same, but for the text of an error.
func isSame(a, b observe.NodeOutcome) bool {
	return a.Node == b.Node && a.Outcome == b.Outcome && a.Took == b.Took && (a.Err == nil) == (b.Err == nil)
}

// question is a command that a node is asked, under the value of an acquisition.
type question struct {
	op   driver.Op
	node string
}

// answers are how often a question was answered.
type answers struct {
	question
	times int
}

// questions are how often a node was asked something at the most.
func (a *acquisition) questions(q question) (n int) {
	switch q.op {
	case driver.OpAcquire:
		n = 1
		if a.raised {
			n = 2
		}
	case driver.OpExtend:
		n = a.extends
	case driver.OpRelease:
		if !a.letsGo.IsZero() {
			n = math.MaxInt // what is not confirmed is asked again
		}
	}
	return n
}

// heard takes an answer, of which there are not more than questions, and which took no longer than since the first of them.
func (a *acquisition) heard(e *Event) (why string) {
	q := question{e.Op, e.Node.Node}
	i := slices.IndexFunc(a.answers, func(x answers) bool { return x.question == q })
	if i < 0 {
		i, a.answers = len(a.answers), append(a.answers, answers{question: q})
	}
	a.answers[i].times++
	switch asked := a.questions(q); {
	case asked == 0:
		return fmt.Sprintf("a node answers the %s, and nobody asked for one", q.op)
	case a.answers[i].times > asked:
		return fmt.Sprintf("%s answers the %s %d times, and was asked %d", q.node, q.op, a.answers[i].times, asked)
	}
	var since time.Time
	switch {
	case q.op == driver.OpAcquire:
		since = a.began
	case q.op == driver.OpRelease:
		since = a.letsGo
	case !a.extending.mixed && a.extends == 1:
		since = a.extending.began
	default:
		return ""
	}
	if most := e.At.Sub(since); e.Node.Took < 0 || e.Node.Took > most {
		return fmt.Sprintf("%s is said to have taken %v, and was asked no more than %v ago", q.node, e.Node.Took, most)
	}
	return ""
}
