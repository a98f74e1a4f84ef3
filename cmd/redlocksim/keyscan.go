package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"redlocksim/internal/printable"
	"redlocksim/internal/redisaddr"
	"redlocksim/internal/resp"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
)

const (
	scanPage   = 500 // keys asked for at a time
	valueBytes = 128 // of a value that are read: enough to tell holders apart, and no more of what may be no lock

	// maxKept bounds what is kept of the keys of a server, in bytes.
	maxKept = 256 << 20
	// sparePages is for how many pages a scan may go on beyond what the number of keys explains: a table of the server
	// may have a hundred million places that are empty, of which a page passes over 5000.
	sparePages = 20_000
	// maxKeys is how many keys a server may claim to have.
	maxKeys = 1 << 32

	// shownError is how much of what a server says an error shows, in bytes.
	shownError = 300
)

// noTTL is what is left to a key that never expires.
const noTTL = time.Duration(-1)

// found is what was found on one server.
type found struct {
	addr     string
	err      error // nil: all has been seen
	locks    []lockKey
	counters []counterKey
	guard    string // the restart guard's record, empty if there is none
	run      string // the id of the server's run, empty if it does not tell
	others   int    // keys that are no locks
	kept     int    // about how many bytes the keys take that were seen
}

type lockKey struct {
	key, value string
	left       time.Duration // or noTTL
}

type counterKey struct {
	lock  string // that it belongs to
	token string
}

// leaks counts the lock keys without a TTL.
func (f *found) leaks() int {
	n := 0
	for _, l := range f.locks {
		if l.left == noTTL {
			n++
		}
	}
	return n
}

// addresses are read as goredis.Open does, but that URLs may say anything of timeouts.
var addresses = redisaddr.Parser[*redis.Options]{
	OfAddr:  func(addr string) *redis.Options { return &redis.Options{Addr: addr} },
	OfURL:   redis.ParseURL,
	Addr:    func(o *redis.Options) string { return o.Addr },
	Ignores: func(*redis.Options, string) bool { return false },
}

// scanServers looks at all servers at once; each answer is waited for as long as timeout. If ctx ends first it returns
// the error of that, and leaves what is under way.
func scanServers(ctx context.Context, servers []*redis.Options, match string, timeout time.Duration) ([]*found, error) {
	logging.Disable() // of what go-redis says in its log, all that matters is in the errors too
	all := make([]*found, len(servers))
	var wg sync.WaitGroup
	for i, o := range servers {
		wg.Go(func() {
			f := &found{addr: o.Addr}
			all[i] = f
			if err := f.look(ctx, *o, match, timeout); err != nil {
				f.err = fmt.Errorf("%s: %s", f.addr, printable.Text(err.Error(), shownError))
			}
		})
	}
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return all, nil
	case <-ctx.Done(): // go-redis does not end a read when its context is cancelled
		return nil, ctx.Err()
	}
}

// look connects to a server and scans it. Whatever a server says is an error of that server.
func (f *found) look(ctx context.Context, o redis.Options, match string, timeout time.Duration) (err error) {
	o.DialTimeout = timeout
	o.Dialer = resp.Dialer(redis.NewDialer(&o), resp.Keys)
	client := goredis.NewClient(&o)
	defer client.Close()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("its answer cannot be read: %v", p)
		}
	}()
	return f.scan(ctx, client, match, timeout)
}

// scan reads the keys with SCAN, which gives one that is there all the time at least once and holds nobody up for long.
func (f *found) scan(ctx context.Context, client *redis.Client, match string, timeout time.Duration) error {
	info, cancel := context.WithTimeout(ctx, timeout)
	f.run = client.InfoMap(info, "server").Item("Server", "run_id") // some users are not allowed INFO
	keys := client.DBSize(info).Val()                               // nor DBSIZE
	cancel()
	pages := sparePages + 4*min(max(keys, 0), maxKeys)/scanPage
	seen := map[string]bool{}
	for cursor := uint64(0); ; {
		if pages--; pages < 0 {
			return fmt.Errorf("its SCAN does not come to an end, though it says that it has %d keys", keys)
		}
		page, cancel := context.WithTimeout(ctx, timeout)
		keys, next, err := client.Scan(page, cursor, match, scanPage).Result()
		if err == nil {
			keys = slices.DeleteFunc(keys, func(k string) bool {
				again := seen[k]
				if seen[k] = true; !again {
					f.kept += len(k) + valueBytes
				}
				return again
			})
			if f.kept > maxKept {
				err = fmt.Errorf("more than %d MiB of keys: name yours with --match", maxKept>>20)
			} else {
				err = f.read(page, client, keys)
			}
		}
		cancel()
		if err != nil {
			return err
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

// read takes note of some keys. One that is gone by now is left out.
func (f *found) read(ctx context.Context, client *redis.Client, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	values, lefts := make([]*redis.StringCmd, len(keys)), make([]*redis.DurationCmd, len(keys))
	// Exec's error is that of one of the commands.
	_, _ = client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, k := range keys {
			values[i], lefts[i] = p.GetRange(ctx, k, 0, valueBytes-1), p.PTTL(ctx, k)
		}
		return nil
	})
	for i, k := range keys {
		value, err := values[i].Result()
		left, leftErr := lefts[i].Result()
		switch {
		case err != nil && redis.HasErrorPrefix(err, "WRONGTYPE"):
			f.others++
		case cmp.Or(err, leftErr) != nil:
			return cmp.Or(err, leftErr)
		case value == "" || left < noTTL:
		default:
			f.add(k, value, left)
		}
	}
	return nil
}

func (f *found) add(key, value string, left time.Duration) {
	switch {
	case key == driver.GuardKey:
		f.guard = value
	case driver.IsLockKey(key), driver.IsLineKey(key) && left == noTTL: // which is as bad as a lock without one
		f.locks = append(f.locks, lockKey{key: key, value: value, left: left})
	case driver.IsLineKey(key):
		f.others++
	default:
		f.counters = append(f.counters, counterKey{strings.TrimPrefix(key, driver.TokenKey("")), value})
	}
}

// holding is one value that stands at one key on some of the nodes.
type holding struct {
	key, value string
	nodes      []int           // indexes of the servers
	left       []time.Duration // on these
}

// quorate is for how long the value will stand on a quorum of the nodes, or noTTL for ever; false if it does not.
func (h *holding) quorate(quorum int) (time.Duration, bool) {
	if len(h.left) < quorum {
		return 0, false
	}
	left := slices.SortedFunc(slices.Values(h.left), longestFirst)
	return left[quorum-1], true
}

func longestFirst(a, b time.Duration) int {
	switch {
	case a == b:
		return 0
	case a == noTTL:
		return -1
	case b == noTTL:
		return 1
	}
	return cmp.Compare(b, a)
}

// holdings puts together what the servers have, by key, and for each key the value on most nodes first.
func holdings(all []*found) []*holding {
	type id struct{ key, value string }
	byID := map[id]*holding{}
	var list []*holding
	for i, f := range all {
		for _, l := range f.locks {
			h := byID[id{l.key, l.value}]
			if h == nil {
				h = &holding{key: l.key, value: l.value}
				byID[id{l.key, l.value}] = h
				list = append(list, h)
			}
			h.nodes, h.left = append(h.nodes, i), append(h.left, l.left)
		}
	}
	slices.SortFunc(list, func(a, b *holding) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(len(b.nodes), len(a.nodes)), cmp.Compare(a.value, b.value))
	})
	return list
}
