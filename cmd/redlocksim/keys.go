package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"redlocksim/internal/exitcode"
	"redlocksim/internal/printable"
	"redlocksim/internal/quorum"
	"redlocksim/internal/votes"
	"redlocksim/redlock"
	"redlocksim/redlock/observe"
	"redlocksim/reports"
)

var keysHelp = `List the locks on real servers: who holds them, for how much longer, and which
lock keys leaked, that is, have no TTL and never expire.

Name all masters of a lock: HOST:PORT, or redis://USER:PASSWORD@HOST:PORT/DB, or
rediss:// for TLS. The holder of a lock is the value that a majority of them
store, and the lock is held for as long as a majority still has it. Only the
first 8 bytes of a value are shown, since whoever has all of it can release the
lock. The fingerprint is the name of the value in the library's logs and traces.

Every non-empty string counts as a lock key, except fencing counters and the
restart guard's record, which are listed apart. Lines of waiters that expire, as
they should, and other types, such as the hashes of Redisson, are counted among
the other keys. --match restricts the scan to your keys, with a glob pattern as
in Redis' SCAN.

Nothing is written, deleted or kept from expiring. Keys are found with SCAN, so
the servers stay responsive. A key that is set or released meanwhile may or may
not be seen, and the servers are not read at the same instant.

` + exitcode.Help(exitcode.Specifics{
	exitOK:     "every lock key has a TTL",
	exitSafety: "a lock key has no TTL",
	exitUsage:  "also an interrupt, or a server that could not be read to the end; the keys found so far are printed",
})

func newKeys() *cobra.Command {
	var match string
	var timeout time.Duration
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "keys ADDR...",
		Short: "List the locks on real servers, and keys that never expire",
		Long:  keysHelp,
		Example: `  redlocksim keys 10.0.0.1:6379 10.0.0.2:6379 10.0.0.3:6379
  redlocksim keys --match 'invoices/*' --json redis://user:secret@10.0.0.1:6379/2`,
		Args: cobra.RangeArgs(1, redlock.MaxNodes),
		RunE: func(cmd *cobra.Command, args []string) error {
			servers, err := addresses.Parse(args)
			if err != nil {
				return &failure{exitUsage, err}
			}
			ctx, stop := untilInterrupted(cmd.Context())
			defer stop()
			all, err := scanServers(ctx, servers, match, timeout)
			if err != nil {
				return interrupted()
			}
			report := newKeysReport(all)
			if asJSON {
				err = report.writeJSON(cmd.OutOrStdout())
			} else {
				err = report.write(cmd.OutOrStdout(), lookOf(cmd.OutOrStdout()).Width)
			}
			if err != nil {
				return wrap(err)
			}
			var failed []error
			leaks := 0
			for _, f := range all {
				failed = append(failed, f.err)
				leaks += f.leaks()
			}
			if err := errors.Join(failed...); err != nil {
				return &failure{exitUsage, err}
			}
			if leaks > 0 {
				return &failure{code: exitSafety}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&match, "match", "*", "list only keys that match this glob pattern")
	cmd.Flags().DurationVar(&timeout, "timeout", 5*time.Second, "how long to wait for a server's answer")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON, with times in milliseconds and null for a key that never expires")
	return cmd
}

// keysReport is what the command says, as its JSON has it.
type keysReport struct {
	Quorum int          `json:"quorum"`
	Nodes  []nodeReport `json:"nodes"`
	Locks  []lockReport `json:"locks"`
}

type nodeReport struct {
	Address    string          `json:"address"`
	Error      string          `json:"error,omitempty"`
	LockKeys   int             `json:"lock_keys"`
	WithoutTTL int             `json:"without_ttl"`
	OtherKeys  int             `json:"other_keys"`
	Counters   []counterReport `json:"counters"`
	Guard      *guardReport    `json:"guard"`
}

type counterReport struct {
	Lock  string `json:"lock"`
	Token string `json:"token"`
}

type guardReport struct {
	Record     string `json:"record"`
	Quarantine bool   `json:"quarantine"`
	EarlierRun bool   `json:"earlier_run"` // it is of another run than the server's: a quarantine begins when it is next asked
	MaxTTL     int64  `json:"max_ttl_ms"`
	Error      string `json:"error,omitempty"`
}

type lockReport struct {
	Key    string `json:"key"`
	Holder string `json:"holder_prefix"`
	// Fingerprint is what logs and traces of the library call the value; empty for one that is longer than what is read.
	Fingerprint string       `json:"fingerprint,omitempty"`
	Held        bool         `json:"held"` // by a quorum of the nodes
	ForMS       *int64       `json:"held_for_ms"`
	OnNodes     []keysOnNode `json:"nodes"`
}

type keysOnNode struct {
	Address string `json:"address"`
	LeftMS  *int64 `json:"left_ms"`
	number  int    // of the node, from 1
}

func newKeysReport(all []*found) *keysReport {
	r := &keysReport{Quorum: quorum.Majority(len(all)), Nodes: []nodeReport{}, Locks: []lockReport{}}
	for _, f := range all {
		n := nodeReport{Address: f.addr, LockKeys: len(f.locks), WithoutTTL: f.leaks(), OtherKeys: f.others, Counters: []counterReport{}}
		if f.err != nil {
			n.Error = f.err.Error()
		}
		for _, c := range f.counters {
			n.Counters = append(n.Counters, counterReport{quotedIfOdd(c.lock), quotedIfOdd(c.token)})
		}
		if f.guard != "" {
			run, since, limit, isRecord := votes.ParseRecord(f.guard)
			n.Guard = &guardReport{Record: quotedIfOdd(f.guard), Quarantine: since != 0, EarlierRun: isRecord && f.run != "" && f.run != run, MaxTTL: limit.Milliseconds()}
			if !isRecord {
				n.Guard.Error = fmt.Sprintf("%q is not a record of the restart guard", f.guard)
			}
		}
		r.Nodes = append(r.Nodes, n)
	}
	for _, h := range holdings(all) {
		l := lockReport{Key: quotedIfOdd(h.key), Holder: prefix(h.value)}
		if len(h.value) < valueBytes {
			l.Fingerprint = observe.Fingerprint(h.value)
		}
		if left, ok := h.quorate(r.Quorum); ok {
			l.Held, l.ForMS = true, millisecondsLeft(left)
		}
		for i, node := range h.nodes {
			l.OnNodes = append(l.OnNodes, keysOnNode{all[node].addr, millisecondsLeft(h.left[i]), node + 1})
		}
		r.Locks = append(r.Locks, l)
	}
	return r
}

func millisecondsLeft(d time.Duration) *int64 {
	if d == noTTL {
		return nil
	}
	return new(d.Milliseconds())
}

// shownKey is how much of a key the table shows, in bytes.
const shownKey = 300

// holderBytes is how much of a value is shown.
const holderBytes = 8

func prefix(value string) string {
	if len(value) <= holderBytes {
		return quotedIfOdd(value)
	}
	return quotedIfOdd(value[:holderBytes]) + "…"
}

// quotedIfOdd is the text itself, or, if a terminal could take it for something else, a Go string of it.
func quotedIfOdd(s string) string {
	if q := strconv.Quote(s); !utf8.ValidString(s) || q != `"`+s+`"` {
		return q
	}
	return s
}

func (r *keysReport) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// write prints tables that are at most so wide; 0 for as wide as they get.
func (r *keysReport) write(w io.Writer, width int) error {
	nodes := reports.Look{Width: width}.NewTable()
	if width > 0 {
		nodes.SetColumnConfigs([]table.ColumnConfig{{Number: 7, WidthMax: 14, WidthMaxEnforcer: text.WrapSoft}})
	}
	nodes.AppendHeader(table.Row{"", "node", "lock keys", "without TTL", "counters", "other keys", "restart guard"})
	leaks := 0
	for i, n := range r.Nodes {
		leaks += n.WithoutTTL
		guard := n.Guard.String()
		if n.Error != "" {
			guard = "could not be read to the end"
		}
		nodes.AppendRow(table.Row{i + 1, n.Address, n.LockKeys, n.WithoutTTL, len(n.Counters), n.OtherKeys, guard})
	}
	locks := reports.Look{Width: width}.NewTable()
	if width > 0 {
		each := max(15, (width-61)/2) // the first two columns, of what the others leave
		locks.SetColumnConfigs([]table.ColumnConfig{{Number: 1, WidthMax: each}, {Number: 2, WidthMax: each, WidthMaxEnforcer: text.WrapSoft}})
	}
	locks.AppendHeader(table.Row{"lock", "left on", "holder", "fingerprint", "nodes", "still held for"})
	for _, l := range r.Locks {
		var left []string
		for _, n := range l.OnNodes {
			left = append(left, fmt.Sprintf("%d=%s", n.number, forHowLong(n.LeftMS)))
		}
		held := "not held"
		if l.Held {
			held = forHowLong(l.ForMS)
		}
		locks.AppendRow(table.Row{printable.Short(l.Key, shownKey), strings.Join(left, ", "), l.Holder, l.Fingerprint, fmt.Sprintf("%d of %d", len(l.OnNodes), len(r.Nodes)), held})
	}
	_, err := fmt.Fprintln(w, nodes.Render())
	if err == nil && len(r.Locks) > 0 {
		_, err = fmt.Fprintf(w, "\n%s\n", locks.Render())
	}
	if err == nil && leaks > 0 {
		_, err = fmt.Fprintf(w, "\nlock keys without a TTL, which never expire: %d\n", leaks)
	}
	return err
}

func (g *guardReport) String() string {
	switch {
	case g == nil:
		return "no record"
	case g.Error != "":
		return "not a record"
	}
	state := "fit to vote"
	switch {
	case g.EarlierRun:
		state = "from an earlier run"
	case g.Quarantine:
		state = "in quarantine"
	}
	return fmt.Sprintf("%s, largest TTL %v", state, time.Duration(g.MaxTTL)*time.Millisecond)
}

func forHowLong(ms *int64) string {
	if ms == nil {
		return "no TTL"
	}
	return (time.Duration(*ms) * time.Millisecond).String()
}
