package goredis

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"redlocksim/internal/resp"
)

// NewClient makes a client for [NewNode] from a copy of the options. It keeps the address, the credentials, TLS, the database,
// the dialer and the sizes of the pool.
//
// It sets what a lock needs, and what NewNode checks:
//   - ContextTimeoutEnabled, or a command's deadline never reaches the connection;
//   - MaxRetries -1, or a lost reply makes SET NX answer "no" to its own value;
//   - ReadTimeout and WriteTimeout -1, so that the command's deadline is the only one;
//   - DialerRetries 1, or a refused connection is tried five times, for 0.4 s;
//   - Protocol 2, because with 3 go-redis may follow a notification to another server.
//
// Unless they are set, it chooses values that keep the first command on a connection within a short deadline, handshake
// included:
//   - DialTimeout 1 s: a deadline does not end the dial it gave up on, which keeps its place in the pool until it ends;
//   - PipelinePoolSize -1, one pool for all: otherwise the first pipeline dials although there is a connection.
//
// It also switches off CLIENT SETINFO, which costs a round trip per connection, and maintenance notifications, for which
// go-redis would resolve the host name here and now.
//
// One thing remains: after as many failed dials in a row as the pool is large, go-redis' pool refuses commands for a second or
// two, until its own probe has reached the server. Releases are not sent to that node meanwhile, and the TTL ends the lock
// there.
//
// A reply of the server may take 1 MiB, or the connection ends there: a server that says anything costs its own vote, and
// bounded memory.
func NewClient(options *redis.Options) *redis.Client { return newClient(options, resp.Lock) }

// newClient is NewClient with other bounds for replies.
func newClient(options *redis.Options, replies bounds) *redis.Client {
	o := *options
	o.ContextTimeoutEnabled = true
	o.MaxRetries = -1
	o.ReadTimeout = -1
	o.WriteTimeout = -1
	o.DialerRetries = 1
	o.Protocol = 2
	if o.DialTimeout == 0 {
		o.DialTimeout = dialTimeout
	}
	if o.PipelinePoolSize == 0 {
		o.PipelinePoolSize = -1
	}
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	o.Dialer = replies.dialer(&o)
	return redis.NewClient(&o)
}

// dialTimeout is how long a client tries to connect unless it is told otherwise.
const dialTimeout = time.Second

// ErrOptions matches the error of [NewNode] for a client with unsuitable options.
var ErrOptions = errors.New("goredis: the client's options do not suit a lock")

// OptionsError is the error of [NewNode] for a client with unsuitable options.
type OptionsError struct {
	Addr     string   // the client's address
	Problems []string // what to set, and why: one for each option that is wrong
}

// Error lists all problems.
func (e *OptionsError) Error() string {
	return fmt.Sprintf("%v: client for %s: set %s (goredis.NewClient sets all it needs)",
		ErrOptions, e.Addr, strings.Join(e.Problems, "; "))
}

// Unwrap gives ErrOptions.
func (e *OptionsError) Unwrap() error { return ErrOptions }

// checkOptions looks at the options of a client, in which go-redis has replaced the special values: no retries and no
// timeout are 0 here, and a negative timeout means that deadlines are not set at all.
func checkOptions(o *redis.Options) error {
	var problems []string
	need := func(ok bool, problem string) {
		if !ok {
			problems = append(problems, problem)
		}
	}
	need(o.ContextTimeoutEnabled, "ContextTimeoutEnabled: true, or a deadline never reaches the connection")
	need(o.MaxRetries == 0, "MaxRetries: -1, or a lost reply makes SET NX answer no to its own value")
	need(o.ReadTimeout == 0, "ReadTimeout: -1, for the command's deadline to be the only one")
	need(o.WriteTimeout == 0, "WriteTimeout: -1, for the command's deadline to be the only one")
	need(o.DialerRetries == 1, "DialerRetries: 1, or a refused connection is tried again until the deadline")
	need(o.Protocol == 2, "Protocol: 2, or go-redis may follow a notification to another server")
	if problems == nil {
		return nil
	}
	return &OptionsError{Addr: o.Addr, Problems: problems}
}

// ErrClient matches the error of [NewNode] for a client that does not stand for one master.
var ErrClient = errors.New("goredis: not a client of one independent master")

// failoverAddr is what go-redis puts in place of the address in a client of NewFailoverClient, which is a *redis.Client
// as well.
const failoverAddr = "FailoverClient"

func oneMaster(client redis.UniversalClient) (*redis.Client, error) {
	switch c := client.(type) {
	case *redis.Client:
		if c == nil {
			break
		}
		if c.Options().Addr == failoverAddr {
			return nil, fmt.Errorf("%w: a Sentinel client moves to a replica, which may not have the lock; "+
				"make one goredis.NewClient for each master, or take a lock on one logical Redis with package single", ErrClient)
		}
		return c, nil
	case *redis.ClusterClient:
		return nil, fmt.Errorf("%w: a cluster client counts as one server and repeats commands while it follows redirects; "+
			"make one goredis.NewClient for each independent master, or take a lock on one logical Redis with package single", ErrClient)
	case *redis.Ring:
		return nil, fmt.Errorf("%w: a ring sends each key to one of its servers, so no key has a majority; "+
			"make one goredis.NewClient for each of them", ErrClient)
	case nil:
	default:
		return nil, fmt.Errorf("%w: a %T may repeat or delay commands in ways that cannot be checked; "+
			"use goredis.NewClient", ErrClient, client)
	}
	return nil, fmt.Errorf("%w: the client is nil", ErrClient)
}
