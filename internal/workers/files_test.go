package workers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/jobs"
	"redlocksim/internal/redisserver"
)

// sharing is what jobs share: a file, and a number by which sets differ.
type sharing struct {
	file jobs.File
	set  string
}

// counts are jobs that count how often a byte is in a file.
var counts = jobs.Kind[sharing, struct{}, byte, int]{
	Name: "counts",
	Do: func(_ context.Context, c sharing, _ *struct{}, b byte) (int, error) {
		return bytes.Count(c.file.Bytes, []byte{b}), nil
	},
	Pack:  func(c sharing) ([]byte, error) { return []byte(c.file.Hash + " " + c.set), nil },
	Files: func(c sharing) []jobs.File { return []jobs.File{c.file} },
	Unpack: func(ctx context.Context, packed []byte, fetch jobs.Fetch) (c sharing, err error) {
		c.file.Hash, c.set, _ = strings.Cut(string(packed), " ")
		c.file.Bytes, err = fetch(ctx, c.file.Hash)
		return c, err
	},
}

// fileOf is a file of random bytes.
func fileOf(size int) jobs.File {
	data, random := make([]byte, size), rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(data) // which cannot fail
	sum := sha256.Sum256(data)
	return jobs.File{Hash: hex.EncodeToString(sum[:]), Bytes: data}
}

// counting is a Redis with a worker that counts, and a pool. Their user has no more rights than the documentation says.
type counting struct {
	*redis.Client
	pool *Pool
	told lines
}

func newCounting(t *testing.T) *counting {
	t.Helper()
	server := redisserver.Start(t)
	server.Ask("ACL", "SETUSER", "searcher", "on", ">secret", "~ci-redlocksim:*", "&ci-redlocksim:*", "+@all", "-@dangerous", "+info")
	t.Setenv(PasswordVariable, "secret")
	at := "redis://searcher@" + server.Addr + "?prefix=ci-"
	c := &counting{Client: redis.NewClient(&redis.Options{Addr: server.Addr})}
	t.Cleanup(func() { _ = c.Client.Close() })
	go (&Worker{Address: must(t, at), Build: "tests", Jobs: 2, Kinds: []jobs.Served{counts}, Tell: c.told.tell}).Serve(t.Context())
	c.pool = open(t, at, c.told.tell)
	t.Cleanup(func() {
		if c.told.has("NOPERM") {
			t.Error(c.told.all)
		}
	})
	return c
}

// run counts some bytes, and wants the counts of the file.
func (c *counting) run(t *testing.T, of sharing) error {
	t.Helper()
	in := []byte{0, 1, 2, 3, 4, 5, 6, 7}
	results, err := counts.Run(t.Context(), jobs.Place{Elsewhere: c.pool}, of, in, nil)
	var want []int
	for _, b := range in {
		want = append(want, bytes.Count(of.file.Bytes, []byte{b}))
	}
	if got := values(results); err == nil && !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	return err
}

// received is how many bytes the Redis has received.
func (c *counting) received(t *testing.T) (n int) {
	t.Helper()
	const name = "total_net_input_bytes:"
	info := c.Info(t.Context(), "stats").Val()
	if _, err := fmt.Sscanf(info[max(0, strings.Index(info, name)):], name+"%d", &n); err != nil {
		t.Fatalf("%v in %q", err, info)
	}
	return n
}

// A file goes to the Redis once, however many sets of jobs share it, and is gone a while after the last that does.
func TestAFileIsStoredOnceAndRunsOut(t *testing.T) {
	c := newCounting(t)
	f := fileOf(1 << 20)
	before := c.received(t)
	for _, set := range []string{"a", "b", "c"} {
		if err := c.run(t, sharing{f, set}); err != nil {
			t.Fatal(err)
		}
		if left := c.TTL(t.Context(), c.pool.address.file(f.Hash)).Val(); left <= stays/2 || left > stays {
			t.Errorf("after set %s it is there for another %v", set, left)
		}
		c.Expire(t.Context(), c.pool.address.file(f.Hash), time.Minute)
	}
	if sent := c.received(t) - before; sent < len(f.Bytes) || sent > len(f.Bytes)*3/2 {
		t.Errorf("a file of %d bytes was sent to the Redis with %d", len(f.Bytes), sent)
	}
}

// A file that the Redis loses is stored again, and whoever waits for the jobs is told.
func TestALostFileIsStoredAgain(t *testing.T) {
	c := newCounting(t)
	f := fileOf(1 << 10)
	ctx, stop := context.WithCancel(t.Context())
	lost := make(chan struct{})
	go func() {
		defer close(lost)
		for ctx.Err() == nil {
			c.Del(ctx, c.pool.address.file(f.Hash))
		}
	}()
	over := make(chan error, 1)
	go func() { over <- c.run(t, sharing{file: f}) }()
	await(t, "who waits is told", func() bool {
		return c.told.has("a worker tries again: cannot be fetched now: it is not at the Redis")
	})
	select {
	case err := <-over:
		t.Errorf("it is over: %v", err)
	default:
	}
	stop()
	<-lost
	if err := <-over; err != nil {
		t.Error(err)
	}
}

// A password that is wrong is not told.
func TestAWrongPassword(t *testing.T) {
	c := newCounting(t)
	t.Setenv(PasswordVariable, "another")
	if _, err := Open(t.Context(), must(t, "redis://searcher@"+c.Options().Addr), "tests", c.told.tell); err == nil || strings.Contains(err.Error(), "another") {
		t.Errorf("with a wrong password: %v", err)
	}
}

// What is no file of that hash is refused, and the batch ends with an error that says so.
func TestAWrongFileIsRefused(t *testing.T) {
	c := newCounting(t)
	packed := func(data []byte) []byte {
		p, err := pack(data)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for i, wrong := range []struct {
		name, want string
		there      []byte
	}{
		{"another file", "has another hash", packed([]byte("another file"))},
		{"no file", "cannot be unpacked: gzip", []byte("what is no file")},
		{"a file that is too large", "cannot be unpacked: more than 67108864 bytes", packed(make([]byte, MaxFile+1))},
		{"a file that is too large as it is", "too large: more than 67108864 bytes", make([]byte, MaxFile+1)},
	} {
		f := fileOf(1<<10 + i)
		if err := c.Set(t.Context(), c.pool.address.file(f.Hash), wrong.there, time.Minute).Err(); err != nil {
			t.Fatal(err)
		}
		err := c.run(t, sharing{file: f})
		if err == nil || !strings.HasPrefix(err.Error(), "a worker refuses a job: ") || !strings.Contains(err.Error(), wrong.want) {
			t.Errorf("%s: %v", wrong.name, err)
		}
		c.Del(t.Context(), c.pool.address.file(f.Hash))
		if err := c.run(t, sharing{file: f}); err != nil {
			t.Errorf("%s, and then the right one: %v", wrong.name, err)
		}
	}
}
