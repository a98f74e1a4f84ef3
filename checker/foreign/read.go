package foreign

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"redlocksim/internal/strictyaml"
)

// maxOperations bounds a history. So many take some 800 MB.
const maxOperations = 10_000_000

// maxName bounds the name of a process or lock, in bytes.
const maxName = 1000

type function uint8

const (
	acquire function = iota
	extend
	release
)

func (f function) String() string { return [...]string{"acquire", "extend", "release"}[f] }

type outcome uint8

const (
	unknown outcome = iota // info, or no return at all
	ok
	failed
)

func (o outcome) String() string { return [...]string{"unknown", "ok", "fail"}[o] }

const noEvent = math.MaxInt32

const noIndex = math.MinInt64

// onLine says where a line stands, with its index if it has one: in a file of one line that alone tells.
func onLine(line int32, index int64) string {
	if index == noIndex {
		return fmt.Sprintf("line %d", line)
	}
	return fmt.Sprintf("line %d (index %d)", line, index)
}

// operation is a call with what became of it. Processes and locks are numbered; call and ret count the events, which
// are the lines of clients, from 0. ret is noEvent unless it is known that the operation succeeded or failed.
type operation struct {
	process, lock     int32
	call, ret         int32
	callLine, retLine int32 // retLine is 0 if there is no return
	// callIndex and retIndex are what the lines themselves say; noIndex if they do not.
	callIndex, retIndex int64
	fn                  function
	outcome             outcome
	token               int64
}

// names numbers texts.
type names struct {
	of map[string]int32
	in []string
}

func (n *names) number(name []byte) int32 {
	if i, ok := n.of[string(name)]; ok {
		return i
	}
	if n.of == nil {
		n.of = map[string]int32{}
	}
	i := int32(len(n.in))
	n.of[string(name)] = i
	n.in = append(n.in, string(name))
	return i
}

// record of a whole file.
type recording struct {
	format    Format
	ops       []operation
	times     []int64 // of each event, in nanoseconds; only for leases
	processes names
	locks     names
	lines     int
	nemesis   int
	// leftOut counts the lines that were not to be judged, dropped the operations of which that was clear only at their
	// return, moved the lines that stood after a later one.
	leftOut, dropped, moved int
}

// entry is a line of a history.
type entry struct {
	line    int32
	process int32
	lock    int32 // unnamed if it names none
	kind    entryKind
	typ     string // invoke, ok, fail or info
	fn      function
	token   int64
	fenced  bool // there is a token
	time    int64
	timed   bool
	index   int64 // noIndex if there is none
}

type entryKind uint8

const (
	ofClient entryKind = iota
	ofNemesis
	// left is a line that is not to be judged: of another function, or on another lock.
	left
)

// unnamed is the lock of an operation that names none.
const unnamed = -1

type reader struct {
	s    *scanner
	o    Options
	r    *recording
	open []int32 // by process, the operation under way; -1 if none
	// leaving says of which processes the operation under way is not to be judged.
	leaving []bool
	event   int32
	last    int64 // time
	index   int64
	// others are the names of locks that are not to be judged, some of them.
	others []string
	// The lines at which, with the grouping auto, the first operations stand that name a lock and that do not.
	firstNamed, firstUnnamed int32
}

func read(s *scanner, f Format, o Options) (*recording, error) {
	s.json = f == JSON
	if o.Group == "" {
		o.Group = ByNameIfAny
	}
	r := &reader{s: s, o: o, r: &recording{format: f}, index: noIndex}
	var entries []entry // to be sorted
	for {
		line, more, err := s.next()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		e, err := r.interpret(line)
		switch {
		case err == nil && o.Sort && e.kind == ofClient && !e.timed:
			err = notOperation("there is no time to sort by")
		case err == nil && o.Sort && len(entries) > 2*maxOperations:
			err = fmt.Errorf("%w: more than %d operations", ErrTooLarge, maxOperations)
		case err == nil && o.Sort:
			entries = append(entries, e)
		case err == nil:
			err = r.take(&e)
		}
		if err != nil {
			return nil, e.located(err)
		}
	}
	r.r.moved = sortByTime(entries)
	for i := range entries {
		if err := r.take(&entries[i]); err != nil {
			return nil, entries[i].located(err)
		}
	}
	if err := r.finish(); err != nil {
		return nil, err
	}
	return r.r, nil
}

// sortByTime puts the entries of clients in the order of their times, those of one time in the order in which they are,
// and returns how many stood after a later one.
func sortByTime(entries []entry) int {
	moved, latest := 0, int64(math.MinInt64)
	for i := range entries {
		if e := &entries[i]; e.kind != ofClient {
			// It has no part in the order.
			e.time = latest
		} else if e.time < latest {
			moved++
		}
		latest = max(latest, entries[i].time)
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.time, b.time) })
	return moved
}

func (e *entry) located(err error) error {
	at := &InputError{Line: int(e.line), Err: err}
	if e.index != noIndex {
		index := e.index
		at.Index = &index
	}
	return at
}

func notOperation(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrOperation, fmt.Sprintf(format, args...))
}

// name is a node that names something: a text, keyword, word or whole number. A number is named by its digits.
func (r *reader) name(n *node, what string) ([]byte, error) {
	var name []byte
	switch n.kind {
	case text, keyword, word:
		name = r.s.textOf(n)
	case number:
		i, err := r.s.int(n)
		if err != nil {
			return nil, notOperation("%s: %v", what, err)
		}
		name = strconv.AppendInt(nil, i, 10)
	default:
		return nil, notOperation("%s is neither a name nor a number", what)
	}
	if len(name) == 0 || len(name) > maxName {
		return nil, notOperation("%s has a name of %d bytes, must be from 1 to %d", what, len(name), maxName)
	}
	return name, nil
}

// field is the name of a key, without the colon that some converters to JSON leave on it; empty if it is no name.
func (r *reader) field(n *node) []byte {
	if n.kind != text && n.kind != keyword {
		return nil
	}
	t := r.s.textOf(n)
	if n.kind == text && len(t) > 1 && t[0] == ':' {
		t = t[1:]
	}
	return t
}

// interpret makes an entry of the nodes that the scanner holds.
func (r *reader) interpret(line int) (entry, error) {
	const (
		process = iota
		typ
		fn
		value
		time
		index
		lock
		fields
	)
	var found [fields]int32 // the places of the values; 0 if there is none
	nodes := r.s.nodes
	for at := int32(1); at < nodes[0].end; {
		key, val := &nodes[at], nodes[at].end
		which := -1
		switch string(r.field(key)) {
		case "process":
			which = process
		case "type":
			which = typ
		case "f":
			which = fn
		case "value":
			which = value
		case "time":
			which = time
		case "index":
			which = index
		case "key", "lock", "name", "resource":
			which = lock
		}
		if which >= 0 {
			if found[which] != 0 {
				return entry{line: int32(line), index: noIndex}, notOperation("%q is there twice", r.field(key))
			}
			found[which] = val
		}
		at = nodes[val].end
	}
	e := entry{line: int32(line), index: noIndex, lock: unnamed}
	if n := found[index]; n != 0 && nodes[n].kind != nothing {
		i, err := r.s.int(&nodes[n])
		if err != nil {
			return e, notOperation("index: %v", err)
		}
		e.index = i
	}
	if found[process] == 0 {
		return e, notOperation("there is no process")
	}
	name, err := r.name(&nodes[found[process]], "process")
	if err != nil {
		return e, err
	}
	if string(r.field(&nodes[found[process]])) == "nemesis" {
		e.kind = ofNemesis
		return e, nil
	}
	e.process = r.r.processes.number(name)
	if n := found[time]; n != 0 && nodes[n].kind != nothing && (r.o.Model == Lease || r.o.Sort) {
		if e.time, err = r.s.int(&nodes[n]); err != nil {
			return e, notOperation("time: %v", err)
		}
		e.timed = true
	}
	named, valuesErr := r.values(&e, found[value], found[lock])
	if named != nil && len(r.o.Keys) > 0 && !slices.Contains(r.o.Keys, string(named)) {
		r.other(named)
		return e, r.leave(&e, found[typ])
	}
	if r.leaves(found[fn]) {
		return e, r.leave(&e, found[typ])
	}
	if err := r.words(&e, found[typ], found[fn]); err != nil {
		return e, err
	}
	if named != nil {
		e.lock = r.r.locks.number(named)
	}
	return e, valuesErr
}

// leaves reports whether the operations of a function are not to be judged.
func (r *reader) leaves(fn int32) bool {
	return len(r.o.Only) > 0 && fn != 0 && !slices.Contains(r.o.Only, string(r.wordOf(&r.s.nodes[fn])))
}

// leave leaves out a line, of which only the type has to be right.
func (r *reader) leave(e *entry, typ int32) (err error) {
	e.kind = left
	e.typ, err = r.word(typ, "type", types...)
	return err
}

// maxOthers bounds the names of locks that are listed if none is to be judged.
const maxOthers = 5

func (r *reader) other(name []byte) {
	if len(r.others) <= maxOthers && !slices.Contains(r.others, string(name)) {
		r.others = append(r.others, string(name))
	}
}

// types and functions are the words of these fields.
var (
	types     = []string{"invoke", "ok", "fail", "info"}
	functions = []string{"acquire", "release", "extend", "lock", "unlock", "refresh"}
)

func (r *reader) wordOf(n *node) []byte {
	if n.kind == word {
		return r.s.textOf(n)
	}
	return r.field(n)
}

// word is one of the known words.
func (r *reader) word(at int32, what string, known ...string) (string, error) {
	if at == 0 {
		return "", notOperation("there is no %s", what)
	}
	t := r.wordOf(&r.s.nodes[at])
	for _, w := range known {
		if string(t) == w {
			return w, nil
		}
	}
	if t == nil {
		return "", notOperation("%s is no word", what)
	}
	hint := ""
	if near, ok := strictyaml.Nearest(string(t[:min(len(t), 100)]), known); ok {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return "", notOperation("unknown %s %.40q%s", what, t, hint)
}

func (r *reader) words(e *entry, typ, fn int32) (err error) {
	if e.typ, err = r.word(typ, "type", types...); err != nil {
		return err
	}
	f, err := r.word(fn, "f", functions...)
	switch f {
	case "acquire", "lock":
		e.fn = acquire
	case "extend", "refresh":
		e.fn = extend
	case "release", "unlock":
		e.fn = release
	}
	if err != nil && fn != 0 && len(r.o.Only) == 0 {
		err = fmt.Errorf("%w; to judge a part of a mixed workload, name its operations (--only acquire,release)", err)
	}
	return err
}

// values finds the name of the lock, nil if there is none, and the token. value and lock are the places of these fields,
// 0 if there is none.
func (r *reader) values(e *entry, value, lock int32) (found []byte, err error) {
	nodes := r.s.nodes
	named := func(at int32) (err error) {
		if found == nil && nodes[at].kind != nothing && r.o.Group != OneLock {
			found, err = r.name(&nodes[at], "the lock")
		}
		return err
	}
	token := func(at int32) (err error) {
		if nodes[at].kind == nothing || !r.o.Model.fenced() {
			return nil
		}
		if e.fenced {
			return notOperation("there are two tokens")
		}
		if e.token, err = r.s.int(&nodes[at]); err != nil {
			return notOperation("token: %v", err)
		}
		e.fenced = true
		return nil
	}
	if lock != 0 {
		if err := named(lock); err != nil {
			return found, err
		}
	}
	if value == 0 {
		return found, nil
	}
	if first, second := value+1, int32(0); nodes[value].kind == list && first < nodes[value].end {
		second = nodes[first].end
		if second < nodes[value].end && nodes[second].end == nodes[value].end {
			if err := named(first); err != nil {
				return found, err
			}
			value = second
		}
	}
	switch nodes[value].kind {
	case number:
		return found, token(value)
	case text, keyword:
		if r.o.Group == ByKey {
			err := named(value)
			return found, err
		}
	case record:
		for key := value + 1; key < nodes[value].end; key = nodes[nodes[key].end].end {
			var err error
			switch string(r.field(&nodes[key])) {
			case "key", "lock", "name", "resource":
				err = named(nodes[key].end)
			case "token", "fence", "fencing-token", "fencing_token":
				err = token(nodes[key].end)
			}
			if err != nil {
				return found, err
			}
		}
	}
	return found, nil
}

func mixedUp(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMixedUp, fmt.Sprintf(format, args...))
}

// take enters an entry: the beginning of an operation or what became of it.
func (r *reader) take(e *entry) error {
	if e.kind == ofNemesis {
		r.r.nemesis++
		return nil
	}
	for int(e.process) >= len(r.open) {
		r.open, r.leaving = append(r.open, -1), append(r.leaving, false)
	}
	if e.typ != "invoke" && r.leaving[e.process] {
		e.kind = left
	}
	if e.kind == left {
		return r.leaveOut(e)
	}
	if e.index != noIndex && !r.o.Sort {
		if e.index <= r.index {
			return mixedUp("index %d after %d", e.index, r.index)
		}
		r.index = e.index
	}
	if r.o.Model == Lease {
		if !e.timed {
			return notOperation("there is no time, which the model lease needs")
		}
		if r.event > 0 && e.time < r.last {
			return mixedUp("time %d after %d; sort by time (--sort) to have such lines put in their place", e.time, r.last)
		}
		r.last = e.time
		r.r.times = append(r.r.times, e.time)
	}
	process := e.process
	name := func() string { return r.r.processes.in[process] }
	event := r.event
	r.event++
	if e.typ == "invoke" {
		if at := r.open[process]; at >= 0 {
			return mixedUp("process %s invokes %s while its %s of %s is open", name(), e.fn,
				r.r.ops[at].fn, onLine(r.r.ops[at].callLine, r.r.ops[at].callIndex))
		}
		if len(r.r.ops) == maxOperations {
			return fmt.Errorf("%w: more than %d operations", ErrTooLarge, maxOperations)
		}
		r.open[process] = int32(len(r.r.ops))
		r.r.ops = append(r.r.ops, operation{process: process, lock: e.lock, call: event, ret: noEvent,
			callLine: e.line, fn: e.fn, callIndex: e.index, retIndex: noIndex})
		return nil
	}
	at := r.open[process]
	if at < 0 {
		return mixedUp("process %s returns from %s without an invoke", name(), e.fn)
	}
	op := &r.r.ops[at]
	if op.fn != e.fn {
		return mixedUp("process %s returns from %s, but on %s it invoked %s", name(), e.fn, onLine(op.callLine, op.callIndex), op.fn)
	}
	if lock := e.lock; lock != unnamed {
		if op.lock != unnamed && op.lock != lock {
			return mixedUp("process %s returns from lock %q, but on %s it was about %q", name(),
				r.r.locks.in[lock], onLine(op.callLine, op.callIndex), r.r.locks.in[op.lock])
		}
		op.lock = lock
	}
	r.open[process] = -1
	op.retLine, op.retIndex = e.line, e.index
	switch e.typ {
	case "ok":
		op.outcome, op.ret = ok, event
		if op.fn == acquire && r.o.Model.fenced() {
			if !e.fenced {
				return notOperation("an acquire that succeeded has no token")
			}
			op.token = e.token
		}
	case "fail":
		op.outcome, op.ret = failed, event
	}
	return r.settle(op)
}

// leaveOut passes over a line that is not to be judged, and over the operation that it ends.
func (r *reader) leaveOut(e *entry) error {
	r.r.leftOut++
	if e.typ == "invoke" {
		if at := r.open[e.process]; at >= 0 {
			return mixedUp("process %s invokes another operation while its %s of %s is open", r.r.processes.in[e.process],
				r.r.ops[at].fn, onLine(r.r.ops[at].callLine, r.r.ops[at].callIndex))
		}
		r.leaving[e.process] = true
		return nil
	}
	r.leaving[e.process] = false
	if at := r.open[e.process]; at >= 0 {
		// Only the return names the lock. What failed says nothing, and needs none.
		r.r.ops[at].outcome, r.r.ops[at].lock = failed, unnamed
		r.r.dropped++
		r.open[e.process] = -1
	}
	return nil
}

// settle keeps account of whether locks have names. Failed operations need none, as they say nothing about a lock.
func (r *reader) settle(op *operation) error {
	switch {
	case op.lock != unnamed:
		if r.firstNamed == 0 {
			r.firstNamed = op.callLine
		}
	case op.outcome == failed:
	case r.o.Group == ByKey || len(r.o.Keys) > 0:
		return notOperation("the %s invoked on %s names no lock", op.fn, onLine(op.callLine, op.callIndex))
	case r.firstUnnamed == 0:
		r.firstUnnamed = op.callLine
	}
	return nil
}

func (r *reader) finish() error {
	r.r.lines = r.s.lines()
	if len(r.r.ops) == r.r.dropped {
		why := fmt.Sprintf("%d of the nemesis", r.r.nemesis)
		if r.r.leftOut > 0 {
			why = fmt.Sprintf("%d lines left out%s, %s", r.r.leftOut, r.elsewhere(), why)
		}
		return &InputError{Line: r.r.lines, Err: fmt.Errorf("%w on a lock, and %s", ErrEmpty, why)}
	}
	for _, at := range r.open {
		if at >= 0 {
			if err := r.settle(&r.r.ops[at]); err != nil {
				return &InputError{Line: int(r.r.ops[at].callLine), Err: err}
			}
		}
	}
	if r.firstNamed != 0 && r.firstUnnamed != 0 {
		return &InputError{Line: int(r.firstUnnamed), Err: notOperation(
			"it names no lock, but that of line %d names one; group by none (they are all on one lock) or by key (each must name its lock)",
			r.firstNamed)}
	}
	if r.firstNamed == 0 {
		r.r.locks.in = []string{""}
		for i := range r.r.ops {
			r.r.ops[i].lock = 0
		}
	}
	return nil
}

// elsewhere names some of the locks that were not to be judged.
func (r *reader) elsewhere() string {
	if len(r.others) == 0 {
		return ""
	}
	names := make([]string, 0, maxOthers+1)
	for _, name := range r.others[:min(len(r.others), maxOthers)] {
		names = append(names, fmt.Sprintf("%q", name))
	}
	if len(r.others) > maxOthers {
		names = append(names, "…")
	}
	return " (on " + strings.Join(names, ", ") + ")"
}
