// Package lockprogram makes a lock program of a lock that is written in Go: a program that redlocksim can put under faults, in
// the simulator (compiled with GOOS=wasip1 GOARCH=wasm) or as a process of the operating system, without a change to the lock.
//
// A program is a [Locker], and a main that calls [Serve]. It must connect to the nodes with the [Env]'s Dial, which most Redis
// clients have an option for, and must keep from standard output, where the answers go.
package lockprogram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"time"

	"redlocksim/lockprogram/lines"
)

// Env is what a lock is made with.
type Env struct {
	// Name is the client's name.
	Name string
	// Nodes are the addresses of the nodes, of which [About] says what runs on them. Redis nodes are independent masters. A
	// lock on one instance uses the first.
	Nodes []string
	// TTL is the time to live that the settings give to keys, and NodeTimeout how long they wait for a node's answer. Libraries
	// with defaults of their own need not look at them.
	TTL, NodeTimeout time.Duration
	// Settings are what else a scenario sets under lock, as JSON; see [Env.Read].
	Settings json.RawMessage
	// Dial connects to a node. It has the signature of net.Dialer.DialContext.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Read reads the Settings into a struct, by the names that the keys have in scenario files. The error says which the struct
// does not have.
func (e Env) Read(into any) error {
	if len(e.Settings) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(e.Settings))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("lockprogram: settings %s: %w", e.Settings, err)
	}
	return nil
}

// Duration is a time in settings, as "50ms".
type Duration time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	read, err := time.ParseDuration(string(text))
	*d = Duration(read)
	return err
}

// About says what is tested.
type About struct {
	// Library and Version name it; see [Version].
	Library, Version string
	// Extends says that leases are an [Extender], TellsUntil that they are a [Valid], TellsLost a [Losing], Warns a [Warning],
	// and Fences a [Fenced].
	Extends, TellsUntil, TellsLost, Warns, Fences bool
	// Transacts says that leases are a [Transaction].
	Transacts bool
	// Renews says that the library renews leases by itself, until they are released or lost.
	Renews bool
	// Server is what must run on the nodes; redis if it is empty. Any other is there on tier live alone.
	Server lines.Server
	// Protocols are those of scenarios, beside the ones on Redis, whose lock is this one: consensus, db-row or db-unique. Their
	// scenarios apply to it.
	Protocols []string
	// OneNode says that it is a lock on one node, and uses the first of Env.Nodes alone: one that the faults concern.
	OneNode bool
	// Keys are patterns of the keys that stand for a lock, in which {resource} is the name of what is locked, and * anything.
	// Without them a key stands for the resource of its name.
	Keys []string
	// Settings are the keys, beside ttl and node-timeout, that it reads of Env.Settings. Scenarios that set others do not
	// apply.
	Settings []string
}

// Locker takes locks. Its calls can come at the same time.
type Locker interface {
	About() About
	// TryLock makes a single attempt. The error is a [Refused] if certainly nothing is held; any other leaves that open.
	TryLock(ctx context.Context, resource string, ttl time.Duration) (Lease, error)
}

// Waiter is a Locker that waits for the lock.
type Waiter interface {
	// Lock tries until ctx ends.
	Lock(ctx context.Context, resource string, ttl time.Duration) (Lease, error)
}

// Preparer is a Locker whose nodes must be prepared before the first lock.
type Preparer interface {
	Prepare(ctx context.Context) error
}

// Closer is a Locker that can be closed: it grants nothing from then on, and ends the calls that wait.
type Closer interface {
	Close(ctx context.Context) error
}

// Lease is a lock that was granted.
type Lease interface {
	// Unlock releases it. The error is a [Refused] if it was not held any more; any other leaves open what came of it.
	Unlock(ctx context.Context) error
}

// Extender is a Lease that can be made longer.
type Extender interface {
	// Extend has the lock held for ttl from now on. The error is a [Refused] if it certainly is not.
	Extend(ctx context.Context, ttl time.Duration) error
}

// Transaction is a Lease that a transaction of a database has, in which a number can be read and written. What is written takes
// effect when the lease is released, or never. The error of either is a [Refused] if the transaction is over.
type Transaction interface {
	Read(ctx context.Context) (int64, error)
	// Write also keeps a note, as a row with one column of a table effects.
	Write(ctx context.Context, number int64, note string) error
}

// Valid is a Lease that knows how long it is valid.
type Valid interface {
	Until() time.Time
}

// Losing is a Lease that tells when it is lost.
type Losing interface {
	// Lost is closed then.
	Lost() <-chan struct{}
}

// Warning is a Lease that tells its holder to stop, while there is still time.
type Warning interface {
	// Expiring is closed then.
	Expiring() <-chan struct{}
}

// Renewing is a Lease that its library renews, and that tells until when it is valid each time.
type Renewing interface {
	// Renewed is sent that time, and closed when the lease has ended.
	Renewed() <-chan time.Time
}

// Fenced is a Lease that can have a fencing token.
type Fenced interface {
	Token() (int64, bool)
}

// Refused is the error of a call that certainly did nothing, for the reason given.
func Refused(reason error) error { return &refusal{reason} }

type refusal struct{ reason error }

func (r *refusal) Error() string { return r.reason.Error() }
func (r *refusal) Unwrap() error { return r.reason }

func isRefused(err error) bool {
	r := (*refusal)(nil)
	return errors.As(err, &r)
}

// Version is the version of a module that the program is built with; "unknown" if it is not.
func Version(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == module {
				if m.Replace != nil {
					m = m.Replace
				}
				return m.Version
			}
		}
	}
	return "unknown"
}
