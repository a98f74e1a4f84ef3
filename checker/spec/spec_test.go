package spec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// settings are those of all tests: three nodes, a TTL of a second, and an allowance for drift of 12 ms.
func settings() Settings {
	return Settings{Nodes: []string{"A", "B", "C"}, Quorum: 2, NodeTimeout: 50 * time.Millisecond, RetryMin: 100 * time.Millisecond, RetryMax: 200 * time.Millisecond,
		Drift: func(ttl time.Duration) time.Duration { return ttl/100 + 2*time.Millisecond }}
}

const second = time.Second

// script is the steps of a client, a line each, in the order in which they are taken. A line is the time in milliseconds, the
// value of the acquisition, the step, and what belongs to it.
type script struct {
	client   *Client
	start    time.Time
	answered map[string][]observe.NodeOutcome // in time, by value and operation
	stands   time.Duration                    // for which the client stands still after each step
}

func newScript(change ...func(*Settings)) *script {
	s := settings()
	for _, c := range change {
		c(&s)
	}
	return &script{client: New(s), start: time.Unix(0, 0), answered: map[string][]observe.NodeOutcome{}}
}

// run takes the steps, and returns what the specification has against the first that it does not allow.
func (s *script) run(t *testing.T, lines string) error {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(lines), "\n") {
		e := s.step(t, strings.Fields(line))
		if err := s.client.Follow(e); err != nil {
			return fmt.Errorf("%s: %w", strings.TrimSpace(line), err)
		}
		e.At = e.At.Add(s.stands)
		s.client.GoesOn(e, []time.Duration{second})
	}
	return nil
}

// check compares what the specification has against steps with what it should have; empty is nothing.
func (s *script) check(t *testing.T, steps, want string) {
	t.Helper()
	switch err := s.run(t, steps); {
	case want == "" && err != nil:
		t.Error(err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("got %v, want %s", err, want)
	}
}

// until is the part of a life before the first line that begins so.
func until(life, line string) string {
	before, _, _ := strings.Cut(life, "\t"+line)
	return before
}

var outcomes = map[string]driver.Outcome{"yes": driver.Accepted, "no": driver.Declined, "silent": driver.TimedOut, "behind": driver.Behind,
	"unanswered": driver.Unanswered, "refused": driver.Refused, "quarantined": driver.Quarantined,
	"unconfirmed": driver.Failed, "unsent": driver.TimedOut}

var nodeErrors = map[string]error{"unsent": fmt.Errorf("waited: %w", context.DeadlineExceeded)}

var reasons = map[string]error{"taken": redlock.ErrTaken, "no-quorum": redlock.ErrNoQuorum, "late": redlock.ErrTooLate,
	"lost": redlock.ErrLost, "cancelled": context.Canceled, "released": redlock.ErrReleased}

func (s *script) step(t *testing.T, words []string) Event {
	t.Helper()
	at, err := time.ParseDuration(words[0] + "ms")
	if err != nil {
		t.Fatal(err)
	}
	e := Event{At: s.start.Add(at)}
	e.Value, e.Resource, e.Call, e.Attempt = words[1], "r", words[1][:1], 1
	if n := len(words[1]) - 1; n > 0 { // "a'" is the second attempt of call a
		e.Attempt += n
	}
	for _, step := range observe.Steps() {
		if step.String() == words[2] {
			e.Step = step
		}
	}
	if e.Step == 0 {
		t.Fatalf("no step %q", words[2])
	}
	e.Op = driver.OpAcquire
	switch e.Step {
	case observe.QuorumReached, observe.QuorumLost:
		e.Quorum = 2
	case observe.Released:
		e.Op, e.Quorum = driver.OpRelease, 2
	case observe.ReleaseStarted, observe.TakenBack:
		e.Op = driver.OpRelease
	case observe.ExtendStarted, observe.Extended, observe.NotExtended:
		e.Op = driver.OpExtend
	case observe.Lost:
		e.Op = 0
	}
	for _, w := range words[3:] {
		s.detail(t, &e, w)
	}
	s.fill(&e)
	return e
}

// fill remembers what nodes have answered, and tells of it in the errors of steps.
func (s *script) fill(e *Event) {
	round := e.Value + e.Op.String()
	if e.Node.Outcome == driver.Failed {
		e.Node.Err = &driver.ReplicasError{Asked: 1}
	}
	switch e.Step {
	case observe.TokenRaised, observe.ExtendStarted:
		s.answered[e.Value+e.Op.String()] = nil
	case observe.Joined, observe.TakenBack:
		e.Node.Outcome = cmp.Or(e.Node.Outcome, driver.Accepted)
	case observe.NodeAnswered:
		if e.Node.Outcome == driver.TimedOut {
			e.Node.Err, e.Node.Took = cmp.Or(e.Node.Err, context.DeadlineExceeded), cmp.Or(e.Node.Took, 50*time.Millisecond)
		}
		if !e.Late {
			s.answered[round] = append(s.answered[round], e.Node)
		}
	case observe.Denied, observe.NotExtended, observe.Released, observe.GaveUp:
		if e.Err == nil {
			return
		}
		told := e.Err.(*redlock.Error)
		told.Op, told.Resource = e.Op, e.Resource
		if e.Op == driver.OpAcquire {
			told.Attempts = e.Attempt
		}
		if e.Attempt > 0 {
			told.NodeTimeout = 50 * time.Millisecond
			for _, name := range settings().Nodes {
				told.Nodes = append(told.Nodes, observe.NodeOutcome{Node: name})
			}
			for _, n := range s.answered[round] {
				told.Nodes[n.Node[0]-'A'] = n
			}
		}
		e.Err = told
	}
}

func (s *script) detail(t *testing.T, e *Event, word string) {
	t.Helper()
	if outcome, ok := outcomes[word]; ok {
		e.Node.Outcome, e.Node.Err = outcome, nodeErrors[word]
		return
	}
	if reason, ok := reasons[word]; ok {
		told, _ := e.Err.(*redlock.Error)
		switch {
		case e.Step == observe.QuorumLost || e.Step == observe.Retrying:
			e.Err = reason
			return
		case told == nil:
			told = &redlock.Error{}
			e.Err = told
		}
		if isCallers(reason) {
			told.Cause = reason
		} else {
			told.Reason = reason
		}
		return
	}
	key, value, _ := strings.Cut(word, "=")
	length, _ := time.ParseDuration(value + "ms")
	switch key {
	case "late":
		e.Late = true
	case "extend":
		e.Op = driver.OpExtend
	case "release":
		e.Op = driver.OpRelease
	case "left":
		e.Validity = length
	case "waited":
		e.Waited = length
	case "until":
		e.Until = s.start.Add(length)
	case "in":
		e.Delay = length
	case "took":
		e.Node.Took = length
	case "votes":
		_, _ = fmt.Sscan(value, &e.Accepted)
	case "of":
		_, _ = fmt.Sscan(value, &e.Quorum)
	case "token":
		_, _ = fmt.Sscan(value, &e.Token)
	case "call":
		e.Call = value
	case "on":
		e.Resource = value
	case "attempt":
		_, _ = fmt.Sscan(value, &e.Attempt)
	default:
		e.Node.Node = word
	}
}

// A whole life: a grant, a late vote that joins, an extend, a release, and a vote that is taken back.
const life = `
	0 a attempt-started
	5 a node-answered A yes
	5 a node-answered B yes
	5 a quorum-reached votes=2
	5 a validity-computed left=983 until=988
	5 a granted left=983 until=988
	9 a node-answered C yes late=1
	9 a joined C
	300 a extend-started
	305 a node-answered extend A yes
	305 a node-answered extend B yes
	305 a quorum-reached extend votes=2
	305 a validity-computed extend left=983 until=1288
	305 a extended extend left=983 until=1288
	400 a release-started
	405 a node-answered release A yes
	405 a node-answered release B yes
	405 a released release votes=2`

// A refusal, and the retry that is granted.
const retry = `
	0 a queued attempt=0
	0 a attempt-started
	5 a node-answered A no
	5 a node-answered B no
	5 a quorum-lost taken
	5 a denied taken
	5 a retrying in=150 taken
	9 a node-answered C yes late=1
	9 a taken-back C
	155 a' attempt-started
	160 a' node-answered A yes
	160 a' node-answered C yes
	160 a' quorum-reached votes=2
	160 a' validity-computed left=983 until=1143
	160 a' granted left=983 until=1143`

// A refusal by two nodes, of which the third has to be asked for the release of its vote.
const split = `
	0 a attempt-started
	5 a node-answered C yes
	5 a node-answered A no
	5 a node-answered B no
	5 a quorum-lost taken votes=1
	5 a denied taken
	5 a retrying in=150 taken
	6 a node-answered release C yes late=1
	155 a' attempt-started`

// A refusal by one node, which was asked before the others.
const gated = `
	0 a attempt-started
	0 a gate-asked B
	5 a node-answered B no
	5 a quorum-lost taken
	5 a denied taken`

func TestWhatIsAllowed(t *testing.T) {
	unconfirmed := strings.NewReplacer("C yes late=1", "C unconfirmed late=1", "taken-back C", "taken-back C unconfirmed").Replace(retry)
	for _, steps := range []string{life, retry, unconfirmed, split, gated} {
		newScript().check(t, steps, "")
	}
}

// Each rule of the specification, broken once: a line of a life that is allowed, what stands in its place, and the objection.
func TestWhatIsNotAllowed(t *testing.T) {
	for _, x := range []struct{ life, line, instead, want string }{
		// attempts
		{life, "5 a node-answered B yes", "5 a node-answered A yes", "A answers the acquire 2 times, and was asked 1"},
		{life, "5 a node-answered B yes", "5 a node-answered B yes took=6", "B is said to have taken 6ms, and was asked no more than 5ms ago"},
		{life, "5 a node-answered B yes", "55 a node-answered B yes took=51", "the vote of B counts after 51ms"},
		{life, "5 a node-answered B yes", "5 a node-answered B no", "2 nodes are counted, and 1 said yes"},
		{life, "5 a node-answered B yes\n", "", "2 nodes are counted, and 1 said yes"},
		{life, "5 a node-answered B yes\n5 a quorum-reached votes=2", "5 a quorum-reached votes=1", "1 of 3 nodes said yes, and a quorum is 2"},
		{life, "9 a node-answered C yes late=1", "9 a node-answered C yes", "an answer in time, after the decision"},
		{life, "9 a joined C", "9 a attempt-started", "the value belongs to another attempt"},
		{life, "9 a joined C", "9 a quorum-reached votes=2", "the attempt was decided before"},
		{life, "9 a joined C", "9 a quorum-lost no-quorum votes=2", "the attempt was decided before"},
		{life, "9 a joined C", "9 a validity-computed left=983 until=992", "the attempt was decided before"},
		{life, "5 a quorum-reached votes=2", "5 b quorum-reached votes=2", "no attempt has this value"},
		{life, "5 a quorum-reached votes=2", "5 a quorum-reached votes=2 of=1", "a quorum of 1, where 2 are configured"},
		{life, "5 a quorum-reached votes=2", "5 a quorum-lost no-quorum votes=2", "a quorum of 2 can still be reached"},
		{life, "5 a quorum-reached votes=2", "5 a validity-computed left=983 until=988", "only these steps are allowed: gate-asked, node-answered, quorum-reached"},
		{life, "5 a validity-computed left=983 until=988", "5 a validity-computed left=984 until=989", "it would last 989ms from the first reading of the clock on; TTL and drift allow 988ms"},
		{life, "5 a validity-computed left=983 until=988", "5 a validity-computed left=986 until=988", "986ms are left when only 983ms were"},
		{life, "5 a validity-computed left=983 until=988", "5 a granted left=983 until=988", "granted while a quorum has voted"},
		{life, "5 a granted left=983 until=988", "5 a granted left=995 until=1000", "until 995ms more is promised, 983ms were computed"},
		{life, "5 a granted left=983 until=988", "5 a granted left=983 until=988 token=7", "with token 7"},
		{life, "5 a granted left=983 until=988", "5 a denied late", "a quorum has voted, and 983ms are left"},
		{retry, "5 a quorum-lost taken", "5 a quorum-lost no-quorum", `it says "no quorum`},
		{retry, "5 a denied taken", "5 a granted left=983 until=988", "granted while no quorum can be reached"},
		{life, "5 a validity-computed left=983 until=988", "5 a validity-computed left=982 until=988", "the clock is said to have read 1ms more than it does"},
		{life, "5 a node-answered B yes", "5 a node-answered D yes", `there is no node "D"`},
		{life, "5 a node-answered B yes", "5 a node-answered B unanswered", "B has answered, and is unanswered"},
		{life, "5 a node-answered B yes", "5 a node-answered B behind", "B is behind, which it cannot be here"},
		{life, "5 a node-answered B yes", "5 a node-answered B quarantined", "B is in quarantine, which it cannot be here"},
		{life, "5 a node-answered B yes", "5 a node-answered B refused", "B is refused, and says <nil>"},
		{life, "5 a node-answered B yes", "5 a node-answered B silent", "B is said to have taken 50ms, and was asked no more than 5ms ago"},
		{life, "5 a node-answered B yes", "5 a node-answered B silent took=5", "B is given up after 5ms, where it has 50ms"},
		{life, "5 a node-answered A yes", "5 a node-answered A yes took=5", "B has answered after 0s, and the one before after 5ms"},
		{life, "9 a node-answered C yes late=1", "9 a node-answered B yes late=1", "B answers the acquire 2 times, and was asked 1"},
		{retry, "5 a quorum-lost taken", "5 a quorum-lost lost", `it says "lease lost"`},
		{retry, "5 a quorum-lost taken", "5 a quorum-lost taken of=1", "a quorum of 1, where 2 are configured"},
		{retry, "5 a quorum-lost taken", "5 a quorum-lost taken votes=1", "1 nodes are counted, and 0 said yes"},
		{retry, "5 a denied taken", "5 a denied no-quorum", "and the round ended with"},
		{retry, "5 a denied taken", "5 a denied taken cancelled", "and the round ended with"},
		// gates
		{gated, "0 a gate-asked B\n", "", "2 have not answered: a quorum of 2 can still be reached"},
		{gated, "0 a gate-asked B", "0 a gate-asked A", "2 have not answered: a quorum of 2 can still be reached"},
		{gated, "0 a gate-asked B", "0 a gate-asked D", `there is no node "D"`},
		{gated, "0 a gate-asked B", "0 a gate-asked B\n0 a gate-asked B", "B was asked before"},
		{gated, "0 a gate-asked B", "0 a gate-asked A\n0 a gate-asked B\n0 a gate-asked C", "2 nodes were asked before, which leaves no quorum to be asked after one"},
		{gated, "5 a quorum-lost taken", "5 a quorum-lost no-quorum", "2 have not answered: a quorum of 2 can still be reached"},
		{gated, "5 a node-answered B no", "5 a node-answered A yes\n5 a node-answered B no", "0 nodes are counted, and 1 said yes"},
		{life, "9 a joined C", "9 a gate-asked C", "gate-asked while the lease is held"},
		// names and fields
		{life, "5 a granted left=983 until=988", "5 a granted left=983 until=988 extend=1", "granted: it does not belong to the operation extend"},
		{life, "300 a extend-started", "300 a extend-started in=5", "extend-started: with Delay, which does not belong to it"},
		{life, "5 a granted left=983 until=988", "5 a granted left=983", "granted: without Until"},
		{life, "5 a granted left=983 until=988", "5 a granted left=983 until=988 attempt=2", "it is of attempt 2, and the attempt is number 1"},
		{life, "5 a granted left=983 until=988", "5 a granted left=983 until=988 call=b", "it names another call"},
		{life, "5 a granted left=983 until=988", "5 a granted left=983 until=988 on=s", `it is about "s", and the attempt about "r"`},
		{life, "400 a release-started", "1240 a lost until=1288 release=1", "lost: it belongs to no operation, and says release"},
		// leases
		{life, "9 a joined C", "9 a joined C no", "C is declined, and joins"},
		{life, "9 a joined C", "9 a joined C took=3", "the vote of C that joins took 3ms, and is told to have taken 0s"},
		{life, "9 a joined C", "9 a quorum-reached extend votes=2", "no extend is under way"},
		{life, "9 a joined C", "9 a quorum-lost extend lost votes=2", "no extend is under way"},
		{life, "9 a joined C", "9 a validity-computed extend left=983 until=992", "no extend is under way"},
		{life, "9 a joined C", "9 a extended extend left=983 until=992", "no extend is under way"},
		{life, "400 a release-started", "400 a node-answered extend A yes\n400 a release-started", "A answers the extend 2 times, and was asked 1"},
		{life, "400 a release-started", "400 a node-answered extend C yes\n400 a release-started", "a node answers in time, and no extend is under way"},
		{life, "305 a node-answered extend B yes", "305 a node-answered extend B yes took=6", "B is said to have taken 6ms, and was asked no more than 5ms ago"},
		{life, "305 a extended extend left=983 until=1288", "305 a extended extend left=982 until=1288", "982ms are left until the lease ends in 983ms"},
		{life, "305 a extended extend left=983 until=1288", "305 a extended extend left=683 until=988", "the lease ends -300ms from what was computed"},
		{life, "405 a released release votes=2", "405 a released release", "0 nodes are counted, and 2 have deleted the key"},
		{life, "405 a released release votes=2", "405 a released release votes=2 of=1", "a quorum of 1, where 2 are configured"},
		{life, "405 a released release votes=2", "405 a released release votes=2 lost", "a quorum has deleted the key, and it says"},
		{life, "405 a node-answered release B yes\n405 a released release votes=2", "405 a released release votes=1 no-quorum", "a quorum of 2 can still be reached"},
		{life, "405 a node-answered release B yes", "405 a node-answered release A yes", "A answers a second time"},
		{life, "9 a joined C", "9 a joined B", "no late vote of B"},
		{life, "9 a joined C", "200 a extend-started", "the late vote of C has not joined the lease"},
		{life, "9 a joined C", "200 a release-started", "the late vote of C has not joined the lease"},
		{life, "9 a joined C", "988 a lost until=988", "the late vote of C has not joined the lease"},
		{life, "9 a joined C", "9 a joined C\n9 a joined C", "the vote of C joins a second time"},
		{life, "9 a joined C", "9 a taken-back C", "taken-back while the lease is held"},
		{life, "300 a extend-started", "1000 a extend-started", "the lease ended 12ms ago"},
		{life, "300 a extend-started\n", "", "a node answers the extend, and nobody asked for one"},
		{life, "305 a quorum-reached extend votes=2\n", "", "without a quorum"},
		{life, "305 a quorum-reached extend votes=2", "305 a quorum-lost extend lost votes=2", "can still be reached"},
		{life, "305 a extended extend left=983 until=1288", "305 a extended extend left=595 until=900", "the lease is 88ms shorter"},
		{life, "305 a extended extend left=983 until=1288", "305 a extended extend left=995 until=1300", "the lease ends 12ms from what was computed"},
		{life, "305 a extended extend left=983 until=1288", "305 a not-extended extend no-quorum", "no quorum was given up"},
		{life, "305 a validity-computed extend left=983 until=1288", "305 a validity-computed extend left=984 until=1289", "it would last 989ms from the first reading of the clock on; TTL and drift allow 988ms"},
		{life, "305 a validity-computed extend left=983 until=1288", "305 a validity-computed extend left=982 until=1287", "it would last 987ms"},
		{life, "305 a validity-computed extend left=983 until=1288", "305 a validity-computed extend left=984 until=1288", "984ms are left when only 983ms were"},
		{life, "400 a release-started", "400 a lost until=1288", "888ms before the end of the lease"},
		{life, "400 a release-started", "1237 a lost until=1288", "51ms before the end of the lease"},
		{life, "400 a release-started", "1250 a lost until=1300", "the lease ends 12ms from what was promised"},
		{life, "400 a release-started", "1250 a lost until=1288\n1251 a extend-started", "extend-started while the lease is lost"},
		{life, "400 a release-started\n", "", "a node answers the release, and nobody asked for one"},
		{life, "405 a node-answered release B yes\n405 a released release votes=2", "405 a released release votes=1", "1 of 3 nodes have deleted the key"},
		{life, "405 a released release votes=2", "405 a released release votes=2\n406 a release-started", "release-started while the lease was released"},
		// callers
		{retry, "155 a' attempt-started", "154 a' attempt-started", "1ms before the delay is over"},
		{retry, "155 a' attempt-started", "150 a yielding in=5\n155 a' attempt-started", "its retry delay is over in 5ms only"},
		{retry, "155 a' attempt-started", "155 a' attempt-started attempt=3", "attempt 3 follows attempt 1"},
		{retry, "155 a' attempt-started", "155 a' attempt-started on=s", `it is about "s", and the call about "r"`},
		{retry, "0 a attempt-started", "0 a attempt-started on=s", `it is about "s", and the call about "r"`},
		{retry, "0 a attempt-started", "0 a attempt-started call=b", "the first attempt does not name the call"},
		{retry, "5 a quorum-lost taken", "5 a' attempt-started", "the attempt before is not over: an attempt asks the nodes"},
		{retry, "5 a denied taken", "5 a yielding in=5", "its attempt is not over: no quorum can be reached"},
		{retry, "9 a taken-back C", "9 a taken-back C\n9 a taken-back C", "the vote of C is taken back a second time"},
		{retry, "5 a retrying in=150 taken", "5 a retrying in=150 taken\n5 a retrying in=150 taken", "it was told before"},
		{retry, "155 a' attempt-started", "10 a gave-up taken cancelled\n10 a gave-up taken cancelled", "the call has ended"},
		{retry, "5 a retrying in=150 taken\n", "", "no retry was told"},
		{retry, "5 a retrying in=150 taken", "5 a retrying in=250 taken", "in 250ms, where it is 100ms to 200ms"},
		{retry, "155 a' attempt-started", "10 a gave-up taken cancelled\n155 a' attempt-started", "the call has ended"},
		{retry, "0 a attempt-started", "0 b queued attempt=0\n0 b attempt-started", "a call that came earlier still waits"},
		{retry, "0 a queued attempt=0", "0 a queued attempt=0\n0 a gave-up attempt=0", "without Err"},
		{retry, "0 a queued attempt=0", "0 a queued attempt=0\n0 a yielding attempt=0 in=300", "it gives way for 300ms, and at most for 200ms"},
		{retry, "0 a queued attempt=0", "0 a yielding attempt=0 in=50", "50ms before it has given way"},
		{retry, "0 a queued attempt=0", "0 a queued attempt=0 call=b", "it has the value of another attempt"},
		{retry, "0 a queued attempt=0", "0 a queued attempt=0\n0 a yielding attempt=0 in=5 on=s", `it is about "s", and the call about "r"`},
		{retry, "5 a retrying in=150 taken", "5 a retrying in=150 no-quorum", "and the attempt was denied with"},
		{split, "6 a node-answered release C yes late=1", "6 a node-answered release C yes", "in time, and nobody waits for the release of an attempt that failed"},
		{retry, "155 a' attempt-started", "10 a gave-up no-quorum", "and its last attempt ended with"},
		{retry, "0 a queued attempt=0", "0 a queued attempt=0\n0 a gave-up attempt=0 taken", "it has not asked, and does not say why"},
		{retry, "0 a queued attempt=0", "0 a queued", "it has made 0 attempts, and the step is told of attempt 1"},
	} {
		lines := strings.ReplaceAll(x.life, "\t", "")
		if !strings.Contains(lines, x.line) {
			t.Fatalf("no line %q", x.line)
		}
		lines = strings.Replace(lines, x.line, x.instead, 1)
		err := newScript().run(t, lines)
		var v *Violation
		if !errors.As(err, &v) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%q instead of %q: %v, want %q", x.instead, x.line, err, x.want)
		}
	}
}

// Where another has votes, a node that has not answered the client's last command is not waited for.
func TestASilentNodeIsNotWaitedFor(t *testing.T) {
	const before, silent = "0 a attempt-started\n5 a node-answered A no\n5 a node-answered B no\n5 a quorum-lost taken\n5 a denied taken\n5 a retrying in=150 taken\n",
		"50 a node-answered C silent late=1\n"
	const after = "155 a' attempt-started\n160 a' node-answered A yes\n160 a' node-answered B no\n160 a' quorum-lost no-quorum votes=1"
	newScript().check(t, before+silent+after, "")
	newScript().check(t, before+after, "a quorum of 2 can still be reached")
	newScript().check(t, before+silent+strings.Replace(after, "160 a' node-answered B no\n", "", 1), "a quorum of 2 can still be reached")
}

// Nor is one waited for that does not answer for 20 ms after another's vote was seen, if a quorum has answered.
func TestANodeIsNotWaitedForLong(t *testing.T) {
	const before = "0 a attempt-started\n5 a node-answered A yes\n5 a node-answered B no took=5\n"
	const early = "a quorum of 2 can still be reached"
	newScript().check(t, before+"25 a quorum-lost no-quorum votes=1", "")
	newScript().check(t, before+"24 a quorum-lost no-quorum votes=1", early)
	newScript().check(t, strings.Replace(before, "B no", "B unconfirmed", 1)+"25 a quorum-lost no-quorum votes=1", early)
	newScript().check(t, "0 a attempt-started\n5 a node-answered B no took=5\n25 a quorum-lost no-quorum", early)
	// Then it is silent, until it answers.
	const denied = "25 a quorum-lost no-quorum votes=1\n25 a denied no-quorum\n25 a retrying in=150 no-quorum\n"
	const again = "175 a' attempt-started\n180 a' node-answered A yes\n180 a' node-answered B no\n180 a' quorum-lost no-quorum votes=1"
	newScript().check(t, before+denied+again, "")
	newScript().check(t, before+denied+"30 a node-answered C no late=1\n"+again, early)
}

// A gate that does not answer soon is silent, too.
func TestASilentGate(t *testing.T) {
	const before = "0 a attempt-started\n0 a gate-asked C\n20 a gate-asked B\n25 a node-answered B no\n25 a quorum-lost taken\n25 a denied taken\n" +
		"25 a retrying in=150 taken\n"
	const again = "175 a' attempt-started\n180 a' node-answered A yes\n180 a' node-answered B no\n180 a' quorum-lost no-quorum votes=1"
	newScript().check(t, before+again, "")
	newScript().check(t, before+"30 a node-answered C no late=1\n"+again, "a quorum of 2 can still be reached")
}

// An attempt looks which nodes are silent a moment after it began, and C may have answered before it is decided.
func TestASilenceDuringAnAttempt(t *testing.T) {
	const before, silent = "0 a attempt-started\n5 a node-answered A no\n5 a node-answered B no\n5 a quorum-lost taken\n5 a denied taken\n" +
		"5 a retrying in=150 taken\n155 a' attempt-started\n", "155 a node-answered C silent late=1\n"
	const after = "157 a node-answered release C no late=1\n160 a' node-answered A yes\n160 a' node-answered B no\n160 a' quorum-lost no-quorum votes=1"
	newScript().check(t, before+silent+after, "")
	newScript().check(t, before+after, "a quorum of 2 can still be reached")
}

// Answers before a decision are told when it is made: C has answered the release before the extend was given up there.
func TestASilenceThatIsToldFirst(t *testing.T) {
	before := until(life, "400 a") + "345 a release-started\n"
	const silent = "350 a node-answered extend C silent late=1\n"
	const after = "352 a node-answered release C yes took=4\n352 a node-answered release A yes took=5\n352 a released release votes=2\n" +
		"600 b attempt-started\n605 b node-answered A yes\n605 b node-answered B no\n605 b quorum-lost no-quorum votes=1"
	newScript().check(t, before+silent+after, "")
	newScript().check(t, before+after, "a quorum of 2 can still be reached")
}

// A second gate may be asked late, as after a pause of the process. Its vote counts, however long ago the attempt began.
func TestASecondGateAfterAPause(t *testing.T) {
	prompt := func(s *Settings) { s.Prompt = true } // a pause can be between two instants all the same
	newScript(prompt).check(t, "0 a attempt-started\n0 a gate-asked A\n200 a gate-asked B\n205 a node-answered B yes took=205", "")
}

// An extend that was not sent to all when the lease is released is not sent any more.
func TestAnExtendThatIsNotSent(t *testing.T) {
	const lost = "301 a quorum-lost extend no-quorum\n"
	newScript().check(t, until(life, "305 a")+"301 a release-started\n"+lost, "")
	newScript().check(t, until(life, "305 a")+lost, "a quorum of 2 can still be reached")
	newScript().check(t, until(life, "305 a")+"301 a release-started\n301 a quorum-lost extend lost", "a quorum of 2 can still be reached")
}

// A node that an acquire was given up for before it was sent is not asked for the release.
func TestAReleaseOfWhatWasNotSent(t *testing.T) {
	const release = "300 a release-started\n350 a node-answered release A silent\n350 a released release votes=0 no-quorum"
	newScript().check(t, until(life, "9 a")+"50 a node-answered C unsent late=1\n"+release, "")
	newScript().check(t, until(life, "9 a")+"50 a node-answered C silent late=1\n"+release, "a quorum of 2 can still be reached")
}

// A vote that comes while the lease is about to end joins it before the release.
func TestALateVoteJoinsALostLease(t *testing.T) {
	lost := until(life, "9 a") + "950 a lost until=988\n951 a node-answered C yes late=1\n"
	newScript().check(t, lost+"951 a joined C\n952 a release-started", "")
	newScript().check(t, lost+"952 a release-started", "the late vote of C has not joined the lease")
}

// A client that holds a resource does not ask for it again for a caller that waits.
func TestACallerWaitsForTheClientsOwnLease(t *testing.T) {
	newScript().check(t, until(life, "300 a")+"20 b queued attempt=0\n30 b attempt-started", "this client holds r")
}

// A call whose turn it is, and that gives way to a lease that TryLock got, is still the first of those that wait.
func TestACallerThatGivesWayIsTheFirst(t *testing.T) {
	const waits = `0 a attempt-started
		1 b queued attempt=0
		5 a node-answered A no
		5 a node-answered B no
		5 a quorum-lost taken
		5 a denied taken
		5 a retrying in=150 taken
		155 a queued
		`
	newScript().check(t, waits+"160 a' attempt-started", "")
	newScript().check(t, waits+"160 b attempt-started", "a call that came earlier still waits")
}

// A call whose attempt came too late for its TTL goes behind those that wait, once for each such attempt.
func TestACallThatCameTooLateGoesLast(t *testing.T) {
	const late = `0 a attempt-started
		1 b queued attempt=0
		5 a node-answered A yes
		5 a node-answered B yes
		5 a quorum-reached votes=2
		990 a validity-computed left=-2 until=988
		990 a denied late
		990 a retrying in=150 late
		1140 a queued
		`
	newScript().check(t, late+"1140 b attempt-started waited=1139", "")
	newScript().check(t, late+"1140 a' attempt-started", "a call that came earlier still waits")
	alone := strings.Replace(late, "1 b queued attempt=0\n\t\t", "", 1)
	newScript().check(t, alone+"1141 c queued attempt=0\n1142 a queued\n1143 c attempt-started waited=2", "a call that came earlier still waits")
}

// The clock is read when the client goes on after a step, which may be later than when it reported that.
func TestAClientMayStandStillAfterAStep(t *testing.T) {
	s := newScript()
	s.stands = 20 * time.Millisecond
	s.check(t, `0 a attempt-started
		25 a node-answered A yes
		25 a node-answered B yes
		25 a quorum-reached votes=2
		45 a validity-computed left=963 until=1008
		45 a granted left=963 until=1008
		300 a extend-started
		325 a node-answered extend A yes
		325 a node-answered extend B yes
		325 a quorum-reached extend votes=2
		345 a validity-computed extend left=963 until=1308
		345 a extended extend left=963 until=1308`, "")
}

// The loss of a lease that has little left is told when half of that is over.
func TestTheLossOfAShortLease(t *testing.T) {
	const short = `0 a attempt-started
		948 a node-answered A yes
		948 a node-answered B yes
		948 a quorum-reached votes=2
		948 a validity-computed left=40 until=988
		948 a granted left=40 until=988
		`
	newScript().check(t, short+"968 a lost until=988", "")
	newScript().check(t, short+"967 a lost until=988", "21ms before the end of the lease")
	newScript().check(t, until(life, "400 a")+"1238 a lost until=1288", "")
	early := func(s *Settings) { s.LossLead = 300 * time.Millisecond }
	newScript(early).check(t, until(life, "400 a")+"988 a lost until=1288", "")
	newScript(early).check(t, until(life, "400 a")+"987 a lost until=1288", "301ms before the end of the lease")
}

// A release says if the lease was lost before it.
func TestTheReleaseOfALostLease(t *testing.T) {
	late := until(life, "400 a") + `1240 a lost until=1288
		1241 a release-started
		1245 a node-answered release A yes
		1245 a node-answered release B yes
		`
	for last, want := range map[string]string{
		"1245 a released votes=2":          "it does not say that the lease was lost before",
		"1245 a released votes=2 lost":     "",
		"1245 a released votes=2 released": "the lease was lost before, and it says",
	} {
		newScript().check(t, late+last, want)
	}
}

// An attempt that takes too long, and an extend that does, are not granted, and their errors say so.
func TestTooLate(t *testing.T) {
	const attempt = `0 a attempt-started
		1000 a node-answered A yes
		1000 a node-answered B yes
		1000 a quorum-reached votes=2
		1000 a validity-computed left=-12 until=988
		`
	newScript().check(t, attempt+"1000 a denied late", "")
	newScript().check(t, attempt+"1000 a denied taken", "and the round ended with")
	newScript().check(t, attempt+"1000 a granted left=-12 until=988", "no validity was left: -12ms")
	extend := until(life, "305 a") + `1300 a node-answered extend A yes
		1300 a node-answered extend B yes
		1300 a quorum-reached extend votes=2
		1300 a validity-computed extend left=-12 until=1288
		`
	newScript().check(t, extend+"1300 a not-extended extend late", "")
	newScript().check(t, extend+"1300 a not-extended extend no-quorum", "and the round ended with")
	newScript().check(t, extend+"1300 a extended extend left=-12 until=1288", "no validity was left")
}

// A lease whose extend so many nodes refuse that another client may hold the lock is lost at once.
func TestAnExtendThatIsRefused(t *testing.T) {
	refused := until(life, "305 a") + `305 a node-answered extend A no
		305 a node-answered extend B no
		305 a quorum-lost extend lost
		`
	newScript().check(t, refused+"305 a lost until=988\n305 a not-extended extend lost", "")
	newScript().check(t, refused+"305 a not-extended extend no-quorum", "and the round ended with")
	silent := until(life, "305 a") + `350 a node-answered extend A silent
		350 a node-answered extend B silent
		350 a quorum-lost extend no-quorum
		`
	newScript().check(t, silent+"350 a not-extended extend no-quorum", "")
	newScript().check(t, silent+"350 a lost until=988", "638ms before the end of the lease")
}

// An extend may end because the lease is released meanwhile, and only then.
func TestAnExtendOfALeaseThatIsReleased(t *testing.T) {
	extending := until(life, "305 a")
	newScript().check(t, extending+"301 a release-started\n301 a not-extended extend released", "")
	newScript().check(t, extending+"301 a not-extended extend released", "no quorum was given up, and it says")
}

// An attempt ends if its caller gives it up, and says so instead of why there was no quorum.
func TestAnAttemptThatIsCancelled(t *testing.T) {
	const cancelled = "0 a attempt-started\n3 a node-answered A yes\n3 a quorum-lost cancelled votes=1\n"
	newScript().check(t, cancelled+"3 a denied cancelled", "")
	newScript().check(t, cancelled+"3 a denied no-quorum", "and the round ended with")
	newScript().check(t, cancelled+"3 a denied no-quorum cancelled", "and the round ended with")
}

// A call that gives it up says why its attempt before was refused.
func TestACallThatIsCancelled(t *testing.T) {
	cancelled := until(retry, "160 a'") + "158 a' node-answered A yes\n158 a' quorum-lost cancelled votes=1\n158 a' denied cancelled\n"
	newScript().check(t, cancelled+"158 a' gave-up taken cancelled", "")
	newScript().check(t, cancelled+"158 a' gave-up cancelled", "and its last attempt ended with")
	newScript().check(t, cancelled+"158 a' gave-up no-quorum cancelled", "and its last attempt ended with")
}

// failed takes the steps before one that fails, and changes the error of that.
func (s *script) failed(t *testing.T, before, step string, change func(*redlock.Error)) error {
	t.Helper()
	s.check(t, before, "")
	e := s.step(t, strings.Fields(step))
	change(e.Err.(*redlock.Error))
	return s.client.Follow(e)
}

// Errors say what they are about, and what the nodes did.
func TestAnErrorTellsOfItsStep(t *testing.T) {
	for want, change := range map[string]func(*redlock.Error){
		"its error is about operation extend":             func(e *redlock.Error) { e.Op = driver.OpExtend },
		`its error is about "s"`:                          func(e *redlock.Error) { e.Resource = "s" },
		"its error tells of 2 attempts, and 1 were made":  func(e *redlock.Error) { e.Attempts = 2 },
		"its error has neither a reason nor a cause":      func(e *redlock.Error) { e.Reason = nil },
		"its error tells of a node timeout of 0s":         func(e *redlock.Error) { e.NodeTimeout = 0 },
		"its error tells of a node timeout of 1s":         func(e *redlock.Error) { e.NodeTimeout = time.Second },
		"its error does not tell of B, which is declined": func(e *redlock.Error) { e.Nodes = e.Nodes[:1] },
		"its error does not tell of A, which is declined": func(e *redlock.Error) { e.Nodes = e.Nodes[1:] },
		`its error tells of "D", not in the order of the nodes`: func(e *redlock.Error) {
			e.Nodes = append(e.Nodes, observe.NodeOutcome{Node: "D"})
		},
		"tells of A that it is accepted after 0s, and it is declined": func(e *redlock.Error) { e.Nodes[0].Outcome = driver.Accepted },
		"tells of B that it is declined after 1ms":                    func(e *redlock.Error) { e.Nodes[1].Took = time.Millisecond },
	} {
		if err := newScript().failed(t, until(retry, "5 a denied"), "5 a denied taken", change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	for step, before := range map[string]string{
		"310 a not-extended extend released": until(life, "305 a") + "301 a release-started",
		"450 a released no-quorum":           until(life, "405 a"),
		"100 a gave-up taken cancelled":      until(retry, "155 a'"),
	} {
		if err := newScript().failed(t, before, step, func(e *redlock.Error) { e.Attempts = 7 }); err == nil || !strings.Contains(err.Error(), "tells of 7 attempts") {
			t.Errorf("%s: %v", step, err)
		}
	}
}

// A call that gives up says what the nodes did in its last attempt.
func TestACallThatGivesUpTellsOfTheNodes(t *testing.T) {
	for want, outcome := range map[string]driver.Outcome{"": driver.Declined, "its error tells of A that it is accepted": driver.Accepted} {
		err := newScript().failed(t, until(retry, "155 a'"), "160 a gave-up taken cancelled", func(e *redlock.Error) { e.Nodes[0].Outcome = outcome })
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// An attempt that failed before it sent anything is counted by the error with which its call gives up, and by no step.
func TestAnAttemptThatSentNothing(t *testing.T) {
	for attempts, want := range map[int]string{2: "", 3: "tells of 3 attempts, and 1 were made"} {
		err := newScript().failed(t, until(retry, "155 a'"), "160 a gave-up taken", func(e *redlock.Error) {
			e.Attempts, e.Nodes, e.NodeTimeout = attempts, nil, 0
		})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d attempts: %v, want %q", attempts, err, want)
		}
	}
}

// What is no step, and an error that is none of the library's, are objected to as well.
func TestStrangeSteps(t *testing.T) {
	s := newScript()
	s.check(t, until(retry, "5 a denied"), "")
	e := s.step(t, strings.Fields("5 a denied taken"))
	e.Err = redlock.ErrTaken
	if err := s.client.Follow(e); err == nil || !strings.Contains(err.Error(), "its error is a *errors.errorString") {
		t.Error(err)
	}
	e.Step = observe.Step(len(shapes))
	if err := s.client.Follow(e); err == nil || !strings.Contains(err.Error(), "there is no such step") {
		t.Error(err)
	}
}

// Several extends at once are not told apart, and the lease may only grow.
func TestSeveralExtends(t *testing.T) {
	s := newScript()
	s.check(t, until(life, "300 a")+`300 a extend-started
		301 a extend-started
		305 a node-answered extend A yes
		305 a node-answered extend A yes
		305 a quorum-reached extend votes=2
		305 a extended extend left=983 until=1288
		306 a not-extended extend no-quorum`, "")
	s.check(t, "310 a not-extended extend no-quorum", "no extend is under way")
}

// With fencing a second token may be proposed, once, and a grant has one.
func TestTokens(t *testing.T) {
	fencing := func(s *Settings) { s.Fencing = true }
	const raised = `0 a attempt-started
		5 a node-answered A behind
		5 a node-answered B behind
		5 a token-raised token=2
		9 a node-answered A yes took=9
		9 a node-answered B yes took=9
		9 a quorum-reached votes=2
		9 a validity-computed left=979 until=988
		`
	newScript(fencing).check(t, raised+"9 a granted left=979 until=988 token=2", "")
	newScript(fencing).check(t, raised+"9 a granted left=979 until=988", "with token 0")
	newScript(fencing).check(t, raised+"9 a granted left=979 until=988 token=3", "with token 3")
	const none = "0 a attempt-started\n5 a token-raised token=2"
	newScript().check(t, none, "there are no tokens")
	newScript(fencing).check(t, none, "has not said that it would vote for a higher one")
	newScript(fencing).check(t, strings.Replace(raised, "token=2", "token=-1", 1), "to -1")
	newScript(fencing).check(t, strings.Replace(raised, "9 a quorum-reached votes=2", "9 a token-raised token=3", 1), "raised before")
	newScript(fencing).check(t, strings.Replace(raised, "9 a node-answered B", "9 a node-answered C yes took=9\n9 a node-answered C", 1),
		"C answers a second time")
	newScript(fencing).check(t, raised+"9 a granted left=979 until=988 token=2\n11 a node-answered C yes took=11 late=1\n11 a joined C took=11", "")
	const late = "9 a granted left=979 until=988 token=2\n11 a node-answered C yes took=11 late=1\n12 a release-started"
	newScript(fencing).check(t, raised+late, "")
	said := strings.Replace(raised, "5 a token-raised", "5 a node-answered C behind\n5 a token-raised", 1)
	newScript(fencing).check(t, said+late, "the late vote of C has not joined the lease")
	newScript(fencing).check(t, said+strings.Replace(late, "12 a release", "11 a joined C took=11\n12 a release", 1), "")
	// C is not asked for the release if it has said no to the second token, to which it may have answered late.
	const down = "9 a granted left=979 until=988 token=2\n11 a node-answered C behind took=11 late=1\n12 a release-started\n" +
		"63 a node-answered release A silent\n63 a released release votes=0 "
	newScript(fencing).check(t, raised+down+"no-quorum", "")
	newScript(fencing).check(t, raised+strings.Replace(down, "C behind", "C yes", 1)+"no-quorum", "can still be reached")
	// Nor if it has answered neither, or not the second: that may wait in the client until the release begins.
	unheard := strings.Replace(down, "11 a node-answered C behind took=11 late=1\n", "", 1) + "no-quorum"
	newScript(fencing).check(t, raised+unheard, "")
	newScript(fencing).check(t, said+unheard, "")
	newScript(fencing).check(t, raised+down+"lost", "it says")
}

// A call that was told of, and neither granted nor given up, is forgotten once no call is under way.
func TestForgottenCalls(t *testing.T) {
	for steps, want := range map[string]string{
		until(life, "300 a"):   "",
		"0 a queued attempt=0": "r",
		"0 a queued attempt=0\n1 a gave-up attempt=0 cancelled": "",
		until(retry, "155 a'"): "r",
	} {
		s := newScript()
		if err := s.run(t, steps); err != nil {
			t.Fatalf("%s: %v", steps, err)
		}
		if got := s.client.Forgotten(); got != want {
			t.Errorf("%s: forgotten is %q, want %q", steps, got, want)
		}
	}
}

// A call that waits before it asks, or gives up without having asked, has told so.
func TestUntoldWaits(t *testing.T) {
	for _, c := range []struct{ name, before, step, want string }{
		{"asks at once", "", "5 b attempt-started", ""},
		{"asks late", "", "5 b attempt-started waited=5", "it has waited for 5ms, and nobody was told"},
		{"was told to queue", "0 b queued attempt=0", "5 b attempt-started waited=5", ""},
		{"was told to give way", "0 b yielding attempt=0 in=5", "5 b attempt-started waited=5", ""},
		{"gives up untold", "", "5 b gave-up attempt=0 cancelled", "it has not asked, and nobody was told that it waits"},
		{"gives up", "0 b queued attempt=0", "5 b gave-up attempt=0 cancelled", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript()
			if c.before != "" {
				s.check(t, c.before, "")
			}
			s.check(t, c.step, c.want)
		})
	}
}

// A delay that grows does so with the time for which the call was refused, unless others were refused before it in its queue.
func TestAGrowingDelay(t *testing.T) {
	grows := func(s *Settings) { s.RetryMin, s.RetryMax = 0, 0 }
	refused := func(name string, at int) string {
		return strings.NewReplacer("N", name, "T", fmt.Sprint(at)).Replace("T N attempt-started\nT N node-answered A no\nT N node-answered B no\n" +
			"T N quorum-lost taken\nT N denied taken\n")
	}
	first := refused("a", 0)
	newScript(grows).check(t, first+"0 a retrying in=1.5 taken", "")
	newScript(grows).check(t, first+"0 a retrying in=1.6 taken", "in 1.6ms, where it is 500µs to 1.5ms")
	second := first + "0 a retrying in=1 taken\n" + refused("a'", 40)
	newScript(grows).check(t, second+"40 a' retrying in=20 taken", "")
	newScript(grows).check(t, second+"40 a' retrying in=21 taken", "in 21ms, where it is 500µs to 20ms")
	newScript(grows).check(t, "0 a queued attempt=0\n"+first+"0 a retrying in=150 taken", "")
}

// A call that stands in line at a gate asks as soon as it is called, though its delay is not over, unless it waits for its own
// client.
func TestACallThatIsCalled(t *testing.T) {
	wakes := func(s *Settings) { s.WakeUp = 10 * time.Millisecond }
	const told, next = "5 a retrying in=150 taken\n", "155 a' attempt-started waited=100"
	for _, x := range []struct{ before, key, after, want string }{
		{gated + "\n" + told, "r", next, "it was called to the lock, and has slept for 100ms all the same"},
		{until(gated, "5 a node"), "r", "5 a node-answered B no\n5 a quorum-lost taken\n5 a denied taken\n" + told + next, "has slept for 100ms"},
		{gated + "\n" + told, "r", "155 a' attempt-started", ""},
		{gated + "\n" + told, "s", next, ""},
		{strings.Replace(gated, "gate-asked B", "node-answered A no", 1) + "\n" + told, "r", next, ""}, // it stands nowhere
		{gated + "\n" + told, "r", "60 a queued\n" + next, ""},
		// It has asked since.
		{gated + "\n" + told, "r", "60 a' attempt-started\n65 a' node-answered A no\n65 a' node-answered B no\n65 a' quorum-lost taken\n" +
			"65 a' denied taken\n65 a' retrying in=150 taken\n215 a'' attempt-started waited=100", ""},
	} {
		s := newScript(wakes)
		s.check(t, x.before, "")
		s.client.Called(x.key)
		s.check(t, x.after, x.want)
	}
}
