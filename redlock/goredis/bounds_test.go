//go:build unix

package goredis_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"redlocksim/internal/adaptertest"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
)

// Whoever makes the client, and whatever it connects to: replies are bounded. The text would take 2 GB.
func TestBoundsOfEveryClient(t *testing.T) {
	from := map[string]func(addr string) redis.UniversalClient{
		"NewClient": func(addr string) redis.UniversalClient { return goredis.NewClient(&redis.Options{Addr: addr}) },
		"NewClient with connections in advance": func(addr string) redis.UniversalClient {
			return goredis.NewClient(&redis.Options{Addr: addr, MinIdleConns: 1})
		},
		"the caller's own": func(addr string) redis.UniversalClient {
			return redis.NewClient(&redis.Options{Addr: addr, ContextTimeoutEnabled: true, MaxRetries: -1, ReadTimeout: -1,
				WriteTimeout: -1, DialerRetries: 1, Protocol: 2})
		},
		"NewSentinelClient": func(addr string) redis.UniversalClient {
			return goredis.NewSentinelClient(&redis.FailoverOptions{MasterName: "m", SentinelAddrs: []string{addr}})
		},
		"NewClusterClient": func(addr string) redis.UniversalClient {
			return goredis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{addr}})
		},
	}
	for name, client := range from {
		for _, stage := range []adaptertest.Stage{adaptertest.Handshake, adaptertest.Replies} {
			t.Run(name+"/"+string(stage), func(t *testing.T) {
				addr := adaptertest.Hostile(t, adaptertest.Saying{First: "$2000000000\r\n", Again: "x"}, stage)
				c := client(addr)
				defer c.Close()
				single, err := goredis.NewSingle(c)
				if err != nil {
					t.Fatal(err)
				}
				got := do(t, single.Node(), command(t, "acquire k", ttl))[0]
				said := got.Err != nil && (strings.Contains(got.Err.Error(), "and a reply may take") ||
					// of Sentinels, go-redis says only that none told
					name == "NewSentinelClient" && strings.Contains(got.Err.Error(), "all sentinels"))
				if got.Outcome != driver.Refused || !said {
					t.Errorf("%v, %v", got.Outcome, got.Err)
				}
			})
		}
	}
}

// panicking is a hook that does what go-redis would do at an announced length that is negative.
type panicking struct{}

func (panicking) panic() error { return fmt.Errorf("%v", make([]byte, minusOne)) }

var minusOne = -1

func (panicking) DialHook(next redis.DialHook) redis.DialHook { return next }

func (panicking) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(context.Context, redis.Cmder) error { return panicking{}.panic() }
}

func (panicking) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(context.Context, []redis.Cmder) error { return panicking{}.panic() }
}

// A panic under a command costs the vote of its node.
func TestPanicIsNoVote(t *testing.T) {
	client := newClient(t, miniredis.RunT(t).Addr(), nil)
	client.AddHook(panicking{})
	node := newNode(t, client)
	both := []*driver.Command{command(t, "acquire k", ttl), command(t, "extend l", ttl)}
	for _, batch := range [][]*driver.Command{both[:1], both} {
		for _, got := range do(t, node, batch...) {
			if got.Outcome != driver.Refused || got.Err == nil || got.Err.Error() != "goredis: panic in go-redis: runtime error: makeslice: len out of range" {
				t.Errorf("%d commands: %v, %v", len(batch), got.Outcome, got.Err)
			}
		}
	}
}
