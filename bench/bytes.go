//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"

	"redlocksim/internal/quorum"
)

// releaseAll deletes the keys that still have their values, those of a whole batch at a time.
const releaseAll = `local done = {} for i, key in ipairs(KEYS) do ` +
	`if redis.call("GET", key) == ARGV[i] then done[i] = redis.call("DEL", key) else done[i] = 0 end end return done`

// inBytes is the least that a lock in batches costs: the bytes of the commands, and what answers say at their beginnings. To
// each server goes in one write whatever has come together while the batch before was answered. It has no timeouts, no
// validity, no contexts, and looks for no lost connections.
type inBytes struct{ lines []*line }

func openBytes(ctx context.Context, addrs []string) (locker, error) {
	b := inBytes{}
	for _, addr := range addrs {
		l, err := dialLine(ctx, addr)
		if err != nil {
			b.close()
			return nil, err
		}
		b.lines = append(b.lines, l)
	}
	return b, nil
}

func (b inBytes) close() {
	for _, l := range b.lines {
		_ = l.conn.Close()
		close(l.wake)
	}
}

func (b inBytes) lock(ctx context.Context, key string) (held, error) {
	for {
		l := &bytesLock{lines: b.lines, key: key, value: rand.Text()}
		if l.ask((*batch).set) {
			return l, nil
		}
		_ = l.Unlock(ctx) // most servers have nothing to release
		if sleep(ctx, retryDelay()); ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// bytesLock is an attempt on all servers.
type bytesLock struct {
	lines      []*line
	key, value string
}

// question is one for all servers about a lock.
type question struct {
	*bytesLock
	yes, no atomic.Int32
	agreed  chan bool
}

func (l *bytesLock) ask(of func(*batch, *question)) bool {
	q := &question{bytesLock: l, agreed: make(chan bool, 1)}
	for _, x := range l.lines {
		x.add(of, q)
	}
	return <-q.agreed
}

func (l *bytesLock) Unlock(context.Context) error {
	if !l.ask((*batch).free) {
		return errNoQuorum
	}
	return nil
}

// answer counts one, and tells the caller when it decides.
func (q *question) answer(yes bool) {
	n := len(q.lines)
	switch {
	case yes && int(q.yes.Add(1)) == quorum.Majority(n):
		q.agreed <- true
	case !yes && int(q.no.Add(1)) == n-quorum.Majority(n)+1:
		q.agreed <- false
	}
}

// batch is what goes to a server at a time: those that set a key first, so that no release overtakes its lock.
type batch struct{ sets, frees []*question }

// line is the connection to one server.
type line struct {
	conn net.Conn
	from *bufio.Reader
	sha  string
	wake chan struct{} // of one; closed at the end

	mu   sync.Mutex
	next batch
}

func dialLine(ctx context.Context, addr string) (_ *line, err error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = conn.Close()
		}
	}()
	l := &line{conn: conn, from: bufio.NewReaderSize(conn, 1<<16), wake: make(chan struct{}, 1)}
	if _, err := conn.Write(appendCommand(nil, "SCRIPT", "LOAD", releaseAll)); err != nil {
		return nil, err
	}
	if _, err := l.answer('$'); err != nil {
		return nil, err
	}
	sha, err := l.answer(0)
	if err != nil {
		return nil, err
	}
	l.sha = string(sha)
	go l.work()
	return l, nil
}

func (l *line) add(to func(*batch, *question), q *question) {
	l.mu.Lock()
	to(&l.next, q)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default: // what wakes it already comes after this
	}
}

// work sends batches until the line is closed.
func (l *line) work() {
	var sending batch
	var text []byte
	for range l.wake {
		l.mu.Lock()
		sending, l.next = l.next, batch{sending.sets[:0], sending.frees[:0]}
		l.mu.Unlock()
		if len(sending.sets)+len(sending.frees) == 0 {
			continue
		}
		text = sending.encode(text[:0], l.sha)
		_, err := l.conn.Write(text)
		if err == nil {
			err = l.answers(&sending)
		}
		switch {
		case errors.Is(err, net.ErrClosed): // after a majority has answered
			return
		case err != nil:
			panic(err)
		}
	}
}

func (b *batch) set(q *question)  { b.sets = append(b.sets, q) }
func (b *batch) free(q *question) { b.frees = append(b.frees, q) }

// encode appends the commands of a batch.
func (b *batch) encode(to []byte, sha string) []byte {
	for _, q := range b.sets {
		to = appendCommand(to, "SET", q.key, q.value, "NX", "PX", px)
	}
	if n := len(b.frees); n > 0 {
		to = words(to, 3+2*n)
		to = word(word(word(to, "EVALSHA"), sha), strconv.Itoa(n))
		for _, q := range b.frees {
			to = word(to, q.key)
		}
		for _, q := range b.frees {
			to = word(to, q.value)
		}
	}
	return to
}

// answers reads those to a batch.
func (l *line) answers(to *batch) error {
	for _, q := range to.sets {
		answer, err := l.answer(0)
		if err != nil {
			return err
		}
		q.answer(string(answer) == "+OK")
	}
	if len(to.frees) == 0 {
		return nil
	}
	if _, err := l.answer('*'); err != nil {
		return err
	}
	for _, q := range to.frees {
		answer, err := l.answer(':')
		if err != nil {
			return err
		}
		q.answer(string(answer) == ":1")
	}
	return nil
}

// answer reads a line, without its end. It is good until the next. A kind is what it must begin with; 0 is anything but an
// error.
func (l *line) answer(kind byte) ([]byte, error) {
	text, err := l.from.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	text = bytes.TrimRight(text, "\r\n")
	if len(text) == 0 || text[0] == '-' || kind != 0 && text[0] != kind {
		return nil, fmt.Errorf("%q from a server", text)
	}
	return text, nil
}

var px = strconv.FormatInt(ttl.Milliseconds(), 10)

// appendCommand appends a command as it goes over the wire.
func appendCommand(to []byte, texts ...string) []byte {
	to = words(to, len(texts))
	for _, text := range texts {
		to = word(to, text)
	}
	return to
}

// words appends that a command of n words follows.
func words(to []byte, n int) []byte { return number(to, '*', n) }

func word(to []byte, text string) []byte {
	to = append(number(to, '$', len(text)), text...)
	return append(to, "\r\n"...)
}

func number(to []byte, kind byte, n int) []byte {
	return append(strconv.AppendInt(append(to, kind), int64(n), 10), "\r\n"...)
}
