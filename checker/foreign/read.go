package foreign

import (
	"fmt"
	"math"
	"strconv"

	"redlocksim/internal/strictyaml"
)

// maxOperations bounds a history. So many take some 600 MB.
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

// operation is a call with what became of it. Processes and locks are numbered; call and ret count the events, which
// are the lines of clients, from 0. ret is noEvent unless it is known that the operation succeeded or failed.
type operation struct {
	process, lock     int32
	call, ret         int32
	callLine, retLine int32 // retLine is 0 if there is no return
	fn                function
	outcome           outcome
	token             int64
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
}

// entry is a line of a history.
type entry struct {
	line    int
	process []byte
	nemesis bool
	typ     string // invoke, ok, fail or info
	fn      function
	lock    []byte // nil if it names none
	token   int64
	fenced  bool // there is a token
	time    int64
	timed   bool
	index   int64
	indexed bool
}

// unnamed is the lock of an operation that names none.
const unnamed = -1

type reader struct {
	s       *scanner
	o       Options
	r       *recording
	open    []int32 // by process, the operation under way; -1 if none
	event   int32
	last    int64 // time
	index   int64
	indexed bool
	// The lines at which, with the grouping auto, the first operations stand that name a lock and that do not.
	firstNamed, firstUnnamed int32
}

func read(s *scanner, f Format, o Options) (*recording, error) {
	s.json = f == JSON
	if o.Group == "" {
		o.Group = ByNameIfAny
	}
	r := &reader{s: s, o: o, r: &recording{format: f}}
	for {
		line, more, err := s.next()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		e, err := r.interpret(line)
		if err == nil {
			err = r.take(e)
		}
		if err != nil {
			return nil, &InputError{Line: line, Err: err}
		}
	}
	if err := r.finish(); err != nil {
		return nil, err
	}
	return r.r, nil
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
func (r *reader) interpret(line int) (*entry, error) {
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
				return nil, notOperation("%q is there twice", r.field(key))
			}
			found[which] = val
		}
		at = nodes[val].end
	}
	e := &entry{line: line}
	if found[process] == 0 {
		return nil, notOperation("there is no process")
	}
	var err error
	if e.process, err = r.name(&nodes[found[process]], "process"); err != nil {
		return nil, err
	}
	if string(r.field(&nodes[found[process]])) == "nemesis" {
		e.nemesis = true
		return e, nil
	}
	if err := r.words(e, found[typ], found[fn]); err != nil {
		return nil, err
	}
	if n := found[index]; n != 0 && nodes[n].kind != nothing {
		if e.index, err = r.s.int(&nodes[n]); err != nil {
			return nil, notOperation("index: %v", err)
		}
		e.indexed = true
	}
	if n := found[time]; n != 0 && nodes[n].kind != nothing && r.o.Model == Lease {
		if e.time, err = r.s.int(&nodes[n]); err != nil {
			return nil, notOperation("time: %v", err)
		}
		e.timed = true
	}
	return e, r.values(e, found[value], found[lock])
}

func (r *reader) words(e *entry, typ, fn int32) error {
	said := func(at int32, what string, known ...string) (string, error) {
		if at == 0 {
			return "", notOperation("there is no %s", what)
		}
		n := &r.s.nodes[at]
		var t []byte
		if n.kind == word {
			t = r.s.textOf(n)
		} else {
			t = r.field(n)
		}
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
	var err error
	if e.typ, err = said(typ, "type", "invoke", "ok", "fail", "info"); err != nil {
		return err
	}
	f, err := said(fn, "f", "acquire", "release", "extend", "lock", "unlock", "refresh")
	switch f {
	case "acquire", "lock":
		e.fn = acquire
	case "extend", "refresh":
		e.fn = extend
	case "release", "unlock":
		e.fn = release
	}
	return err
}

// values finds the name of the lock and the token. value and lock are the places of these fields, 0 if there is none.
func (r *reader) values(e *entry, value, lock int32) error {
	nodes := r.s.nodes
	named := func(at int32) (err error) {
		if e.lock == nil && nodes[at].kind != nothing && r.o.Group != OneLock {
			e.lock, err = r.name(&nodes[at], "the lock")
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
			return err
		}
	}
	if value == 0 {
		return nil
	}
	if first, second := value+1, int32(0); nodes[value].kind == list && first < nodes[value].end {
		second = nodes[first].end
		if second < nodes[value].end && nodes[second].end == nodes[value].end {
			if err := named(first); err != nil {
				return err
			}
			value = second
		}
	}
	switch nodes[value].kind {
	case number:
		return token(value)
	case text, keyword:
		if r.o.Group == ByKey {
			return named(value)
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
				return err
			}
		}
	}
	return nil
}

func mixedUp(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMixedUp, fmt.Sprintf(format, args...))
}

// take enters an entry: the beginning of an operation or what became of it.
func (r *reader) take(e *entry) error {
	if e.nemesis {
		r.r.nemesis++
		return nil
	}
	if e.indexed {
		if r.indexed && e.index <= r.index {
			return mixedUp("index %d after %d", e.index, r.index)
		}
		r.index, r.indexed = e.index, true
	}
	if r.o.Model == Lease {
		if !e.timed {
			return notOperation("there is no time, which the model lease needs")
		}
		if r.event > 0 && e.time < r.last {
			return mixedUp("time %d after %d", e.time, r.last)
		}
		r.last = e.time
		r.r.times = append(r.r.times, e.time)
	}
	process := r.r.processes.number(e.process)
	if int(process) == len(r.open) {
		r.open = append(r.open, -1)
	}
	event := r.event
	r.event++
	if e.typ == "invoke" {
		if at := r.open[process]; at >= 0 {
			return mixedUp("process %s invokes %s while its %s of line %d is open", e.process, e.fn,
				r.r.ops[at].fn, r.r.ops[at].callLine)
		}
		if len(r.r.ops) == maxOperations {
			return fmt.Errorf("%w: more than %d operations", ErrTooLarge, maxOperations)
		}
		r.open[process] = int32(len(r.r.ops))
		r.r.ops = append(r.r.ops, operation{process: process, lock: r.lock(e), call: event, ret: noEvent,
			callLine: int32(e.line), fn: e.fn})
		return nil
	}
	at := r.open[process]
	if at < 0 {
		return mixedUp("process %s returns from %s without an invoke", e.process, e.fn)
	}
	op := &r.r.ops[at]
	if op.fn != e.fn {
		return mixedUp("process %s returns from %s, but on line %d it invoked %s", e.process, e.fn, op.callLine, op.fn)
	}
	if lock := r.lock(e); lock != unnamed {
		if op.lock != unnamed && op.lock != lock {
			return mixedUp("process %s returns from lock %q, but on line %d it was about %q", e.process,
				r.r.locks.in[lock], op.callLine, r.r.locks.in[op.lock])
		}
		op.lock = lock
	}
	r.open[process] = -1
	op.retLine = int32(e.line)
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

func (r *reader) lock(e *entry) int32 {
	if e.lock == nil {
		return unnamed
	}
	return r.r.locks.number(e.lock)
}

// settle keeps account of whether locks have names. Failed operations need none, as they say nothing about a lock.
func (r *reader) settle(op *operation) error {
	switch {
	case op.lock != unnamed:
		if r.firstNamed == 0 {
			r.firstNamed = op.callLine
		}
	case op.outcome == failed:
	case r.o.Group == ByKey:
		return notOperation("the %s invoked on line %d names no lock", op.fn, op.callLine)
	case r.firstUnnamed == 0:
		r.firstUnnamed = op.callLine
	}
	return nil
}

func (r *reader) finish() error {
	r.r.lines = r.s.lines()
	if len(r.r.ops) == 0 {
		return &InputError{Line: r.r.lines, Err: fmt.Errorf("%w on a lock, and %d of the nemesis", ErrEmpty, r.r.nemesis)}
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
