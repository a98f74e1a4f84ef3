package goredis

import (
	"fmt"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/resp"
	"redlocksim/redlock/driver"
)

// Single is one logical Redis behind a go-redis client, for New of package [redlocksim/redlock/single]. Make one with
// [NewSingle].
type Single struct{ node driver.Node }

// NewSingle makes a Single of a client, which stays the caller's to close. It does not connect. The client is one of
// [NewClient], to one server or a managed service, of [NewSentinelClient] or of [NewClusterClient]. Otherwise the error matches
// [ErrClient], or is an [*OptionsError], which says what to set.
func NewSingle(client redis.UniversalClient, options ...Option) (*Single, error) {
	if c, is := client.(*redis.ClusterClient); is {
		node, err := newCluster(c, options)
		if err != nil {
			return nil, err
		}
		return &Single{node}, nil
	}
	c, err := oneClient(client)
	if err != nil {
		return nil, err
	}
	node, err := newNode(c, options)
	if err != nil {
		return nil, err
	}
	return &Single{node}, nil
}

// Node implements single.Redis.
func (s *Single) Node() driver.Node { return s.node }

// NewSentinelClient makes a client for [NewSingle] from a copy of the options: to the primary that the Sentinels name. It sets
// what [NewClient] sets, also for the connections to Sentinels, and switches ReplicaOnly, RouteByLatency and RouteRandomly off,
// since a replica does not vote. Trust your Sentinels all the same: they say who the primary is, and go-redis panics if one
// publishes an incomplete +switch-master.
func NewSentinelClient(options *redis.FailoverOptions) *redis.Client {
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
	o.ReplicaOnly, o.RouteByLatency, o.RouteRandomly = false, false, false
	o.Dialer = bounds(resp.Lock).dialer(&redis.Options{Dialer: o.Dialer, DialTimeout: o.DialTimeout, TLSConfig: o.TLSConfig})
	return redis.NewFailoverClient(&o)
}

// NewClusterClient makes a client for [NewSingle] from a copy of the options: to a cluster. It makes the client of each node
// with [NewClient], whatever the option of that name is, and follows no redirects (MaxRedirects -1). It switches ReadOnly,
// RouteByLatency and RouteRandomly off, since a replica does not vote. A reply may take 16 MiB: nodes describe the cluster, and
// their commands.
func NewClusterClient(options *redis.ClusterOptions) *redis.ClusterClient {
	o := *options
	o.ContextTimeoutEnabled = true
	o.MaxRedirects = -1
	o.ReadOnly, o.RouteByLatency, o.RouteRandomly = false, false, false
	o.NewClient = func(o *redis.Options) *redis.Client { return newClient(o, resp.Keys) }
	return redis.NewClusterClient(&o)
}

// oneClient is the client if all its connections lead to one server at a time.
func oneClient(client redis.UniversalClient) (*redis.Client, error) {
	c, is := client.(*redis.Client)
	switch {
	case is && c != nil:
		return c, nil
	case is || client == nil:
		return nil, fmt.Errorf("%w: the client is nil", ErrClient)
	}
	return nil, fmt.Errorf("%w: a %T may repeat or delay commands in ways that cannot be checked; "+
		"use goredis.NewClient, NewSentinelClient or NewClusterClient", ErrClient, client)
}
