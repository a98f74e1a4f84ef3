//go:build unix

package adaptertest

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"redlocksim/redlock/driver"
)

// Rounds records what a node sends: one line a round trip, "set | evalsha | eval".
type Rounds struct {
	mu   sync.Mutex
	sent []string
}

// Dial connects to a server, over a connection that is listened in to.
func (r *Rounds) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &overheard{c.(*net.TCPConn), r}, nil
}

// Take gives what was sent since it was last called.
func (r *Rounds) Take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	sent := r.sent
	r.sent = nil
	return sent
}

// overheard has all methods of a TCP connection: by one of them go-redis sees whether it is still there.
type overheard struct {
	*net.TCPConn
	by *Rounds
}

// Write notes the commands, but those by which a client library makes a connection or looks after it.
func (o *overheard) Write(data []byte) (int, error) {
	var names []string
	for r := bufio.NewReader(bytes.NewReader(data)); ; {
		words, err := readCommand(r)
		if err != nil {
			break
		}
		if name := strings.ToLower(words[0]); name != "hello" && name != "ping" {
			names = append(names, name)
		}
	}
	if names != nil {
		o.by.mu.Lock()
		o.by.sent = append(o.by.sent, strings.Join(names, " | "))
		o.by.mu.Unlock()
	}
	return o.TCPConn.Write(data)
}

// Which round trips batches take, with scripts that the server knows, does not know and has forgotten.
func roundTrips(t *testing.T, a Adapter) {
	for _, server := range servers {
		t.Run(server.name, func(t *testing.T) {
			addr := server.start(t)
			db, sent := Admin(t, addr), &Rounds{}
			ForbidPlain(t, db)
			node := a.node(t, addr, Config{Dial: sent.Dial})

			steps := []struct {
				name   string
				flush  bool // the server forgets its scripts
				batch  []string
				before string
				want   []driver.Outcome
				after  string
				sent   []string
			}{
				{"the first acquire looks what the server allows, in one round trip", true, []string{"acquire a"}, "", []driver.Outcome{driver.Accepted},
					"a=mine:30s", []string{"eval"}},
				{"a plain acquire needs no script", true, []string{"acquire a"}, "", []driver.Outcome{driver.Accepted}, "a=mine:30s",
					[]string{"set"}},
				{"a script is sent with its source at first", true, []string{"release a"}, "a=mine:20s",
					[]driver.Outcome{driver.Accepted}, "", []string{"eval"}},
				{"and is known then", false, []string{"release a"}, "a=mine:20s",
					[]driver.Outcome{driver.Accepted}, "", []string{"evalsha"}},
				{"and so is each other, in a batch, too, of which releases go together", false,
					[]string{"acquire a", "release b", "extend c", "acquire d e", "release f", "extend b"},
					"a=theirs:20s b=mine:20s c=mine:20s",
					[]driver.Outcome{driver.Declined, driver.Accepted, driver.Accepted, driver.Accepted, driver.Declined, driver.Declined},
					"a=theirs:20s c=mine:30s d=mine:30s e=mine:30s",
					[]string{"set | eval | eval | eval | eval"}},
				{"all scripts known, in order", false,
					[]string{"acquire a", "extend a", "release a", "acquire a b", "release a b", "release a"}, "",
					[]driver.Outcome{driver.Accepted, driver.Accepted, driver.Accepted, driver.Accepted, driver.Accepted, driver.Declined},
					"", []string{"set | evalsha | evalsha | evalsha | evalsha | evalsha"}},
				{"one that was forgotten is sent again with its source, as a plain command if it is the only one", true, []string{"acquire a", "extend b"}, "b=mine:20s",
					[]driver.Outcome{driver.Accepted, driver.Accepted}, "a=mine:30s b=mine:30s",
					[]string{"set | evalsha", "eval"}},
				{"only what met a forgotten script is sent again", false, []string{"release a", "extend b", "release b"}, "a=mine:20s b=mine:20s",
					[]driver.Outcome{driver.Accepted, driver.Accepted, driver.Accepted}, "",
					[]string{"evalsha | evalsha | evalsha", "eval"}},
			}
			for _, step := range steps {
				if step.flush {
					if err := db.ScriptFlush(context.Background()).Err(); err != nil {
						t.Fatal(err)
					}
				}
				setState(t, db, step.before)
				var batch []*driver.Command
				for _, text := range step.batch {
					batch = append(batch, Command(t, text, TTL))
				}
				var got []driver.Outcome
				for _, r := range Do(t, node, batch...) {
					got = append(got, r.Outcome)
				}
				if !slices.Equal(got, step.want) {
					t.Errorf("%s: outcomes %v, want %v", step.name, got, step.want)
				}
				if after := getState(t, db); after != step.after {
					t.Errorf("%s: leaves %q, want %q", step.name, after, step.after)
				}
				if lines := sent.Take(); !slices.Equal(lines, step.sent) {
					t.Errorf("%s: sent %q, want %q", step.name, lines, step.sent)
				}
			}
		})
	}
}
