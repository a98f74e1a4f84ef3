//go:build unix

package workers

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"redlocksim/internal/adaptertest"
	"redlocksim/internal/jobs"
)

// servers are a Redis that does what none should.
var servers = map[string]func(net.Conn){
	"says nothing":            func(c net.Conn) { _, _ = io.Copy(io.Discard, c) },
	"closes each connection":  func(net.Conn) {},
	"never ends what it says": func(c net.Conn) { endless(c, "*1\r\n") },
	"says errors for ever":    func(c net.Conn) { endless(c, "-ERR \x1b[31mno\r\n") },
	"says yes for ever":       func(c net.Conn) { endless(c, "+PONG\r\n") },
}

func endless(c net.Conn, text string) {
	for {
		if _, err := c.Write([]byte(text)); err != nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// Whatever the Redis does, a worker ends within seconds after it is told to, and so does who waits for jobs. What the Redis
// says is told without what a terminal obeys.
func TestItEndsWhateverTheRedisDoes(t *testing.T) {
	t.Parallel()
	for name, serve := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := must(t, "redis://"+adaptertest.Server(t, serve))
			quick := func(what string, within time.Duration, do func(ctx context.Context) error) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				start := time.Now()
				err := do(ctx)
				if took := time.Since(start); took > within || err != nil && strings.ContainsRune(err.Error(), '\x1b') {
					t.Errorf("%s ends after %v, want at most %v: %q", what, took, within, err)
				}
			}
			quick("a worker", finishing+patience+2*time.Second, func(ctx context.Context) error {
				w := &Worker{Address: at, Build: "tests", Kinds: []jobs.Served{products}, Tell: func(line string) {
					if strings.ContainsRune(line, '\x1b') {
						t.Errorf("it tells %q", line)
					}
				}}
				return w.Serve(ctx)
			})
			quick("who waits", patience+2*time.Second, func(ctx context.Context) error {
				p := newPool(at, "tests", func(string) {})
				defer p.Close()
				in, _ := inputs(20)
				_, err := products.Run(ctx, jobs.Place{Elsewhere: p}, product{By: 3}, in, nil)
				return err
			})
		})
	}
}

// What is far larger once it is unpacked takes no more memory than it may have.
func TestABomb(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	zeros := make([]byte, 1<<20)
	for range 1 << 7 {
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := unpack(packed.Bytes(), maxBatch)
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; err == nil || grown > 8*maxBatch {
		t.Errorf("%d bytes for what has %d, %v", grown, packed.Len(), err)
	}
}
