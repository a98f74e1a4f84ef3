package main

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/redlock/goredis"
)

// Two lockers of a kind are two programs: they exclude each other, too.
func TestContestantsExclude(t *testing.T) {
	c := started(t)
	for i := range contestants {
		who := &contestants[i]
		t.Run(who.name, func(t *testing.T) {
			const share = 5
			r := must[*result](t)(c.contend(t.Context(), cell{On: "healthy", Work: "2ms", Contenders: 2}, who, share))
			if check(t, r.check()); r.Grants != 2*share || r.Failed > 0 {
				t.Errorf("%+v", r)
			}
			one := must[locker](t)(who.opened(c.addrs()))
			defer one.close()
			if _, ok := one.(holder); who.renews && !ok {
				t.Error("it is to renew its locks, and cannot")
			}
		})
	}
}

type free struct{}

func (free) lock(context.Context, string) (held, error) { return free{}, nil }
func (free) Unlock(context.Context) error               { return nil }
func (free) close()                                     {}

// Bare go-redis sends SET and EVALSHA to each server, and the script calls GET and DEL there.
func TestCounts(t *testing.T) {
	c := started(t)
	lock := bare{openPeers(c.addrs(), 1)}
	defer lock.close()
	once := func() {
		l := lock.attempt(t.Context(), "bench-counted")
		for range clusterSize { // all answers, so that an operation has no effect on the next one's
			<-l.acquired
		}
		close(l.release)
		for range clusterSize {
			<-l.released
		}
	}
	once() // loads the script
	before := must[counts](t)(c.settled(t.Context()))
	const operations = 20
	for range operations {
		once()
	}
	after := must[counts](t)(c.settled(t.Context()))
	if n := after.commands - before.commands; n != 4*clusterSize*operations {
		t.Errorf("%d commands, want %d", n, 4*clusterSize*operations)
	}
	if after.client <= before.client || after.servers <= before.servers {
		t.Errorf("processor time: %+v, then %+v", before, after)
	}
}

func TestConditions(t *testing.T) {
	c := started(t)
	const quick = slowBy * 4 / 5
	for i := range conditions {
		condition := &conditions[i]
		t.Run(condition.name, func(t *testing.T) {
			on := must[*stage](t)(c.stage(condition))
			defer on.close()
			var clients []*redis.Client
			for _, addr := range on.addrs {
				client := goredis.NewClient(&redis.Options{Addr: addr})
				defer client.Close()
				clients = append(clients, client)
				if took, err := ping(t, client, 5*time.Second); err != nil {
					t.Fatalf("before the fault, after %v: %v", took, err)
				}
			}
			check(t, on.inject(t.Context()))
			for i, client := range clients {
				took, err := ping(t, client, 300*time.Millisecond)
				switch {
				case i == victim && condition.name == "one-silent":
					if err == nil {
						t.Errorf("the silent server answered after %v", took)
					}
					dialled, err := net.DialTimeout("tcp", on.addrs[i], time.Second)
					if err != nil {
						t.Fatal("the silent server accepts no connection:", err)
					}
					defer dialled.Close()
				case i == victim && condition.name == "one-slow":
					if err != nil || took < slowBy {
						t.Errorf("the slow server: %v after %v", err, took)
					}
				default: // the fastest of some, since the machine may be busy
					for n := 0; n < 50 && took >= quick; n++ {
						took, err = ping(t, client, time.Second)
					}
					if err != nil || took >= quick {
						t.Errorf("server %d: %v after %v", i, err, took)
					}
				}
			}
			if condition.restarts == 0 {
				return
			}
			check(t, c.servers[victim].control.Set(t.Context(), "bench-kept", condition.name, 0).Err())
			before := must[counts](t)(c.count(t.Context()))
			check(t, on.midway(t.Context()))
			if kept := must[string](t)(c.servers[victim].control.Get(t.Context(), "bench-kept").Result()); kept != condition.name {
				t.Errorf("after a restart there is %q", kept)
			}
			if after := must[counts](t)(c.count(t.Context())); after.commands <= before.commands {
				t.Errorf("%d commands, and later %d", before.commands, after.commands)
			}
		})
	}
}

func ping(t *testing.T, client *redis.Client, within time.Duration) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	begin := time.Now()
	err := client.Ping(ctx).Err()
	return time.Since(begin), err
}
