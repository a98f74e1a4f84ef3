package single_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/single"
)

// node accepts everything, and keeps what it was asked.
type node struct{ asked []driver.Command }

func (*node) Name() string        { return "redis" }
func (*node) ConfirmsReplicas()   {}
func (n *node) Node() driver.Node { return n }

func (n *node) Do(batch []*driver.Command) {
	for _, c := range batch {
		n.asked = append(n.asked, *c)
		c.Done(c, driver.Reply{Outcome: driver.Accepted})
	}
}

type seven struct{}

func (seven) Token(context.Context, []string) (int64, error) { return 7, nil }

// Each means does what the option of package redlock does, and they go together.
func TestMeans(t *testing.T) {
	for name, f := range map[string]single.Failover{
		"tokens":   {Tokens: seven{}},
		"guard":    {Guard: &redlock.Guard{MaxTTL: time.Minute}},
		"replicas": {Replicas: 2},
		"all":      {Tokens: seven{}, Guard: &redlock.Guard{MaxTTL: time.Minute}, Replicas: 2},
		"waived":   {Waived: true},
	} {
		n := &node{}
		client, err := single.New(n, f)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		lease, err := client.TryLock(t.Context(), "r", time.Second)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		c := n.asked[0]
		token, _ := lease.Token()
		guarded := c.Conditions != nil && c.Conditions.MaxTTL == time.Minute && c.Conditions.Token == 0
		if (token == 7) != (f.Tokens != nil) || guarded != (f.Guard != nil) || c.Replicas != f.Replicas {
			t.Errorf("%s: token %d, %+v", name, token, c)
		}
	}
}

// What a failover does must be answered, and only once.
func TestUnanswered(t *testing.T) {
	for name, c := range map[string]struct {
		on   single.Redis
		f    single.Failover
		want string
	}{
		"nothing":    {&node{}, single.Failover{}, "after a failover two clients can have the lock"},
		"both":       {&node{}, single.Failover{Waived: true, Replicas: 1}, "leave one out"},
		"no Redis":   {nil, single.Failover{Waived: true}, "no Redis"},
		"negative":   {&node{}, single.Failover{Replicas: -1}, "-1 replicas"},
		"no max TTL": {&node{}, single.Failover{Guard: &redlock.Guard{}}, "largest TTL"},
	} {
		client, err := single.New(c.on, c.f)
		if client != nil || !errors.Is(err, redlock.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An option does not undo what is done about a failover.
func TestTheFailoverCounts(t *testing.T) {
	client, err := single.New(&node{}, single.Failover{Guard: &redlock.Guard{MaxTTL: time.Minute}},
		redlock.WithRestartGuard(redlock.Guard{MaxTTL: time.Hour}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.TryLock(t.Context(), "r", 2*time.Minute); !errors.Is(err, redlock.ErrInvalid) {
		t.Errorf("a TTL above that of the Failover's guard: %v", err)
	}
}
