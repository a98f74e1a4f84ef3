// Package lines is what is said between the harness and a lock program: one JSON object a line, requests on the program's
// standard input and answers on its standard output. The page docs/lock-programs.md describes it for programs in any language.
package lines

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Request is what the harness asks for. Each has an ID of its own, and gets one answer, whenever the program has it: several
// can be open at once. Only cancel gets none.
type Request struct {
	// Type is what is asked for.
	Type RequestType `json:"type"`
	// ID is the number of the request, by which the answer names it.
	ID int `json:"id"`

	// Init is what the program needs to make its lock; of init.
	Init *Init `json:"init,omitempty"`
	// Resource is what to lock; of try-lock and lock.
	Resource string `json:"resource,omitempty"`
	// TTL is for how long, in milliseconds; of try-lock, lock and extend.
	TTL float64 `json:"ttl_ms,omitempty"`
	// Wait is for how long to wait for the lock at the most, in milliseconds; of lock.
	Wait float64 `json:"wait_ms,omitempty"`
	// Lease is the ID of the request that was granted the lock; of extend, unlock, read and write.
	Lease int `json:"lease,omitempty"`
	// Number is what to write; of write.
	Number int64 `json:"number,omitempty"`
	// Note is a text to keep with the number, for the harness, which asks the database for it after the run; of write.
	Note string `json:"note,omitempty"`
	// Call is the ID of the request that is to be given up; of cancel.
	Call int `json:"call,omitempty"`
}

// RequestType is what a Request asks for.
type RequestType string

// The types of requests, with their answers.
const (
	RequestInit    RequestType = "init"     // ready, or failed
	RequestTryLock RequestType = "try-lock" // granted, refused or unknown, after a single attempt
	RequestLock    RequestType = "lock"     // granted, refused or unknown
	RequestExtend  RequestType = "extend"   // extended, refused or unknown
	RequestUnlock  RequestType = "unlock"   // released, refused or unknown
	RequestPrepare RequestType = "prepare"  // prepared, refused or unknown
	RequestClose   RequestType = "close"    // closed, refused or unknown
	RequestRead    RequestType = "read"     // done, refused or unknown
	RequestWrite   RequestType = "write"    // done, refused or unknown
	RequestCancel  RequestType = "cancel"   // none: the request that it names gets its answer, soon
)

// Init is what a program needs to make its lock.
type Init struct {
	// Name is the client's name.
	Name string `json:"name"`
	// Nodes are the addresses of the nodes, each host:port: independent Redis masters, the members of one etcd cluster or
	// ZooKeeper ensemble, or independent PostgreSQL servers.
	Nodes []string `json:"nodes"`
	// TTL is the time to live of lock keys that the settings say, in milliseconds.
	TTL float64 `json:"ttl_ms"`
	// NodeTimeout is how long the settings wait for a node's answer, in milliseconds.
	NodeTimeout float64 `json:"node_timeout_ms"`
	// Settings are what else a scenario sets under lock, by its keys.
	Settings json.RawMessage `json:"settings,omitempty"`
}

// RequestTypes are all of them.
func RequestTypes() []RequestType {
	return []RequestType{RequestInit, RequestTryLock, RequestLock, RequestExtend, RequestUnlock, RequestPrepare, RequestClose,
		RequestRead, RequestWrite, RequestCancel}
}

// Answer is what a program says.
type Answer struct {
	// Type is what is said.
	Type AnswerType `json:"type"`
	// Re is the ID of the request; not of lost, expiring and renewed.
	Re int `json:"re,omitempty"`

	// Library is the name of what is tested; of ready.
	Library string `json:"library,omitempty"`
	// Version is that of the library; of ready.
	Version string `json:"version,omitempty"`
	// Can is what the lock can do beside locking and unlocking; of ready.
	Can []Capability `json:"can,omitempty"`
	// Settings are the keys of Init.Settings that the program reads; of ready. A scenario that sets others does not apply.
	Settings []string `json:"settings,omitempty"`
	// Server is what must run on the nodes; of ready. Default: redis.
	Server Server `json:"server,omitempty"`
	// Protocols are those of scenarios, beside the ones on Redis, whose lock is this one; of ready. Their scenarios apply.
	Protocols []string `json:"protocols,omitempty"`
	// Keys are patterns of the keys that stand for a lock, in which {resource} is the name of what is locked, and * anything;
	// of ready. Without them a key stands for the resource of its name.
	Keys []string `json:"keys,omitempty"`
	// Valid is for how long the lock is still held, from when the line is written, in milliseconds, as the library computes it;
	// of granted, extended and renewed. With no more than 0 the lease is over already, which breaks the contract. Without it
	// the harness reckons with the TTL, from the first byte of the request that won. The answer to an extend that failed may
	// have it, too: the lease then lasts as long as that says, which should be as long as before.
	Valid *float64 `json:"valid_ms,omitempty"`
	// Token is the fencing token; of granted.
	Token *int64 `json:"token,omitempty"`
	// Number is what was read; of done, as the answer to read.
	Number int64 `json:"number,omitempty"`
	// Lease is the ID of the request that was granted the lock; of lost, expiring and renewed.
	Lease int `json:"lease,omitempty"`
	// Reason says why, for people.
	Reason string `json:"reason,omitempty"`
}

// AnswerType is what an Answer says.
type AnswerType string

// The types of answers.
const (
	Ready    AnswerType = "ready"    // the lock is made
	Failed   AnswerType = "failed"   // it cannot be made: nothing is tested
	Granted  AnswerType = "granted"  // the client has the lock
	Extended AnswerType = "extended" // it has it for longer
	Released AnswerType = "released" // it has it no more
	Prepared AnswerType = "prepared" // the nodes are fit for the lock
	Closed   AnswerType = "closed"   // all is given back, and nothing is under way
	Done     AnswerType = "done"     // it was read, or will be written when the lease is released
	Refused  AnswerType = "refused"  // definitely not: nothing is held, or the lease was over
	Unknown  AnswerType = "unknown"  // it may have happened or not
	Lost     AnswerType = "lost"     // the library says that a lease is over; not an answer to a request
	Expiring AnswerType = "expiring" // the library says that the holder of a lease must stop now; not an answer to a request
	Renewed  AnswerType = "renewed"  // the library has renewed a lease by itself; not an answer to a request
)

// Capability is what a lock can beside locking and unlocking.
type Capability string

// The capabilities.
const (
	Extend    Capability = "extend"   // extend a lease
	TellUntil Capability = "until"    // say for how long a lease is valid
	TellLost  Capability = "lost"     // say that a lease is lost
	Warn      Capability = "warn"     // say that the holder must stop, while there is time
	TellToken Capability = "token"    // give a fencing token
	Wait      Capability = "wait"     // wait for the lock; otherwise the harness tries again and again
	Prepare   Capability = "prepare"  // prepare the nodes
	Close     Capability = "close"    // be closed
	Cancel    Capability = "cancel"   // give a request up before it has its answer
	Renew     Capability = "renew"    // it renews leases by itself, until they are released or lost
	Transact  Capability = "transact" // read and write in the transaction that has the lock
	OneNode   Capability = "one-node" // it is a lock on one Redis: it uses the first of the nodes alone
)

// AnswerTypes are all of them.
func AnswerTypes() []AnswerType {
	return []AnswerType{Ready, Failed, Granted, Extended, Released, Prepared, Closed, Done, Refused, Unknown, Lost, Expiring, Renewed}
}

// Capabilities are all of them.
func Capabilities() []Capability {
	return []Capability{Extend, TellUntil, TellLost, Warn, TellToken, Wait, Prepare, Close, Cancel, Renew, Transact, OneNode}
}

// Server is what runs on the nodes.
type Server string

// The servers.
const (
	Redis     Server = "redis"
	Etcd      Server = "etcd"      // one cluster of all nodes
	ZooKeeper Server = "zookeeper" // one ensemble of all nodes
	Postgres  Server = "postgres"  // user postgres, database postgres, no password
)

// Servers are all of them.
func Servers() []Server { return []Server{Redis, Etcd, ZooKeeper, Postgres} }

// ParseAnswer reads a line. It takes no fields that an answer does not have. The error says what was written instead.
func ParseAnswer(line []byte) (*Answer, error) {
	a := &Answer{}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(a); err != nil {
		return nil, fmt.Errorf("it has written a line that is no answer: %w: %.200q", err, line)
	}
	return a, nil
}
