package foreign

import (
	"fmt"
	"slices"
	"strconv"

	"redlocksim/internal/strictyaml"
)

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
	// What is not to be judged: a line of another function, or on another lock.
	ofAnotherFunction
	onAnotherLock
)

// unnamed is the lock of an operation that names none.
const unnamed = -1

func (e *entry) located(err error) *InputError {
	at := &InputError{Line: int(e.line), Err: err}
	if e.index != noIndex {
		index := e.index
		at.Index = &index
	}
	return at
}

// reader makes a recording of the entries of a history.
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
	// Of several files, or lines to be sorted: what was read, and the last time in the file that is being read.
	several    bool
	entries    []entry
	lastInFile int64
	// others are the names of locks that are not to be judged, some of them.
	others []string
	// The lines at which, with the grouping auto, the first operations stand that name a lock and that do not.
	firstNamed, firstUnnamed position
	// The line with the first time.
	firstTime position
}

// position is a line; none if that is 0. file is the number of its file, if there are several.
type position struct{ file, line int32 }

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

// fields are the places of an operation's values among the nodes; 0 for a field that is not there.
type fields struct{ process, typ, fn, value, time, index, lock int32 }

// place is where the place of a field belongs; nil for one that has no meaning here.
func (f *fields) place(name []byte) *int32 {
	switch string(name) {
	case "process":
		return &f.process
	case "type":
		return &f.typ
	case "f":
		return &f.fn
	case "value":
		return &f.value
	case "time":
		return &f.time
	case "index":
		return &f.index
	case "key", "lock", "name", "resource":
		return &f.lock
	}
	return nil
}

// fields finds the fields of the operation that the scanner holds.
func (r *reader) fields() (found fields, err error) {
	nodes := r.s.nodes
	for at := int32(1); at < nodes[0].end; {
		key, val := &nodes[at], nodes[at].end
		if place := found.place(r.field(key)); place != nil {
			if *place != 0 {
				return found, notOperation("%q is there twice", r.field(key))
			}
			*place = val
		}
		at = nodes[val].end
	}
	return found, nil
}

// interpret makes an entry of the nodes that the scanner holds.
func (r *reader) interpret(line int) (entry, error) {
	e := entry{line: int32(line), index: noIndex, lock: unnamed}
	found, err := r.fields()
	if err != nil {
		return e, err
	}
	nodes := r.s.nodes
	if n := found.index; n != 0 && nodes[n].kind != nothing {
		i, err := r.s.int(&nodes[n])
		if err != nil {
			return e, notOperation("index: %v", err)
		}
		e.index = i
	}
	if found.process == 0 {
		return e, notOperation("there is no process")
	}
	name, err := r.name(&nodes[found.process], "process")
	if err != nil {
		return e, err
	}
	if string(r.field(&nodes[found.process])) == "nemesis" {
		e.kind = ofNemesis
		return e, nil
	}
	if e.process, err = r.process(name); err != nil {
		return e, err
	}
	if n := found.time; n != 0 && nodes[n].kind != nothing && (r.timed() || r.o.Sort) {
		if e.time, err = r.timestamp(&nodes[n], line); err != nil {
			return e, err
		}
		e.timed = true
	}
	named, valuesErr := r.values(&e, found.value, found.lock)
	if named != nil && len(r.o.Keys) > 0 && !slices.Contains(r.o.Keys, string(named)) {
		r.other(named)
		return e, r.leave(&e, onAnotherLock, found.typ)
	}
	if r.leaves(found.fn) {
		return e, r.leave(&e, ofAnotherFunction, found.typ)
	}
	if err := r.words(&e, found.typ, found.fn); err != nil {
		return e, err
	}
	if named != nil {
		e.lock = r.r.locks.number(named)
	}
	return e, valuesErr
}

// timed reports whether the verdict depends on times.
func (r *reader) timed() bool { return r.o.Model == Lease || r.several || r.r.blurred }

// process is the number of a process.
func (r *reader) process(name []byte) (int32, error) {
	file, number := max(0, int32(len(r.r.files))-1), r.r.processes.number(name)
	if int(number) == len(r.r.home) {
		r.r.home = append(r.r.home, file)
	}
	if r.r.home[number] != file {
		return number, mixedUp("process %s is in %s, too; a process must be in one file, and have a name of its own", name, r.r.fileOf(number))
	}
	return number, nil
}

// leaves reports whether the operations of a function are not to be judged.
func (r *reader) leaves(fn int32) bool {
	return len(r.o.Only) > 0 && fn != 0 && !slices.Contains(r.o.Only, string(r.wordOf(&r.s.nodes[fn])))
}

// leave leaves out a line, of which only the type has to be right.
func (r *reader) leave(e *entry, why entryKind, typ int32) (err error) {
	e.kind = why
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

// types are the words for what became of an operation.
var types = []string{"invoke", "ok", "fail", "info"}

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
func (r *reader) values(e *entry, value, lock int32) (name []byte, err error) {
	nodes := r.s.nodes
	if lock != 0 {
		if err := r.lockAt(lock, &name); err != nil {
			return name, err
		}
	}
	if value == 0 {
		return name, nil
	}
	if first, second := value+1, int32(0); nodes[value].kind == list && first < nodes[value].end {
		second = nodes[first].end
		if second < nodes[value].end && nodes[second].end == nodes[value].end {
			if err := r.lockAt(first, &name); err != nil {
				return name, err
			}
			value = second
		}
	}
	switch nodes[value].kind {
	case number:
		return name, r.tokenAt(value, e)
	case text, keyword:
		if r.o.Group == ByKey {
			err := r.lockAt(value, &name)
			return name, err
		}
	case record:
		for key := value + 1; key < nodes[value].end; key = nodes[nodes[key].end].end {
			var err error
			switch string(r.field(&nodes[key])) {
			case "key", "lock", "name", "resource":
				err = r.lockAt(nodes[key].end, &name)
			case "token", "fence", "fencing-token", "fencing_token":
				err = r.tokenAt(nodes[key].end, e)
			}
			if err != nil {
				return name, err
			}
		}
	}
	return name, nil
}

// lockAt reads the name of a lock, unless there is one already.
func (r *reader) lockAt(at int32, name *[]byte) (err error) {
	if n := &r.s.nodes[at]; *name == nil && n.kind != nothing && r.o.Group != OneLock {
		*name, err = r.name(n, "the lock")
	}
	return err
}

// tokenAt reads a token.
func (r *reader) tokenAt(at int32, e *entry) (err error) {
	n := &r.s.nodes[at]
	if n.kind == nothing || !r.o.Model.fenced() {
		return nil
	}
	if e.fenced {
		return notOperation("there are two tokens")
	}
	if e.token, err = r.s.int(n); err != nil {
		return notOperation("token: %v", err)
	}
	e.fenced = true
	return nil
}
