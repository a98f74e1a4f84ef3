package foreign

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"redlocksim/checker"
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
	mode    mode
	token   int64
	fenced  bool  // there is a token
	lease   int64 // in nanoseconds; 0 if the line does not say how long
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
	s     *scanner
	o     Options
	r     *recording
	open  []int32 // by process, the operation under way; or idle, or leaving
	event int32
	last  int64 // time
	index int64
	// Of several files, or lines to be sorted: what was read, and the last time in the file that is being read.
	several    bool
	entries    []entry
	lastInFile int64
	// The lines at which, with the grouping auto, the first operations stand that name a lock and that do not.
	firstNamed, firstUnnamed position
	// firstName is the first value of an acquire that may be the name of a lock.
	firstName string
	// clock is how the file that is being read counts time, begun the first of its entries, and firstTime the line with
	// the first time of all. dated says that times are dates, assumed that those of some file are taken for
	// nanoseconds.
	clock          clock
	begun          int
	firstTime      position
	dated, assumed bool
	// unused has what was read and not used, by what a note calls it.
	unused notices
}

// position is a line; none if that is 0. file is the number of its file, if there are several.
type position struct{ file, line int32 }

// interpret makes an entry of the nodes that the scanner holds.
func (r *reader) interpret(line int) (entry, error) {
	e := entry{line: int32(line), index: noIndex, lock: unnamed}
	found, err := r.fields(0)
	if err != nil {
		return e, err
	}
	nodes := r.s.nodes
	if n := found.at[indexField]; n != 0 {
		i, err := r.s.int(&nodes[n])
		if err != nil {
			return e, notOperation("index: %v", err)
		}
		e.index = i
	}
	if found.at[processField] == 0 {
		return e, notOperation("there is no process")
	}
	name, err := r.name(&nodes[found.at[processField]], "process")
	if err != nil {
		return e, err
	}
	if string(r.field(&nodes[found.at[processField]])) == "nemesis" {
		e.kind = ofNemesis
		return e, nil
	}
	if e.process, err = r.process(name); err != nil {
		return e, err
	}
	if n := found.at[timeField]; n != 0 && (r.timed() || r.o.Sort) {
		if e.time, err = r.timestamp(&nodes[n], line); err != nil {
			return e, err
		}
		e.timed = true
	}
	named, valuesErr := r.values(&found)
	if named != nil && len(r.o.Keys) > 0 && !slices.Contains(r.o.Keys, string(named)) {
		r.notice("left out by --key, as they are other locks", "", named, line)
		return e, r.leave(&e, onAnotherLock, found.at[typeField])
	}
	if r.leaves(found.at[functionField], line) {
		return e, r.leave(&e, ofAnotherFunction, found.at[typeField])
	}
	if err := r.words(&e, &found); err != nil {
		return e, err
	}
	if named != nil {
		e.lock = r.r.locks.number(named)
	}
	for _, key := range found.unknown {
		r.notice(notUnderstood, "", r.field(&r.s.nodes[key]), line)
	}
	for _, key := range found.unknownOfValue {
		r.notice(notUnderstood, "value.", r.field(&r.s.nodes[key]), line)
	}
	if valuesErr == nil {
		valuesErr = r.details(&e, &found)
	}
	return e, valuesErr
}

// timed reports whether the verdict depends on times.
func (r *reader) timed() bool { return r.o.leased() || r.several || r.r.blurred }

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
func (r *reader) leaves(at int32, line int) bool {
	if len(r.o.Only) == 0 || at == 0 {
		return false
	}
	m, known, err := r.function(at)
	if err == nil && known && slices.ContainsFunc(r.o.Only, func(f string) bool {
		only, _ := r.o.meaningOf(f)
		return only.fn == m.fn
	}) {
		return false
	}
	what := "left out by --only, though it says what became of the lock"
	if !known || m.fn == write {
		what = "left out by --only, and of no effect if it does nothing to the lock"
	}
	r.notice(what, "", r.wordOf(&r.s.nodes[at]), line)
	return true
}

// leave leaves out a line, of which only the type has to be right.
func (r *reader) leave(e *entry, why entryKind, typ int32) (err error) {
	e.kind = why
	e.typ, err = r.typeOf(typ)
	return err
}

// types are the words for what became of an operation.
var types = []string{"invoke", "ok", "fail", "info"}

// typeOf is one of the types.
func (r *reader) typeOf(at int32) (string, error) {
	if at == 0 {
		return "", notOperation("there is no type")
	}
	t := r.wordOf(&r.s.nodes[at])
	for _, w := range types {
		if string(t) == w {
			return w, nil
		}
	}
	if t == nil {
		return "", notOperation("type is no word")
	}
	hint := ""
	if near, ok := strictyaml.Nearest(string(t[:min(len(t), 100)]), types); ok {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return "", notOperation("unknown type %.40q%s", t, hint)
}

// words reads what kind of line it is, and what the operation does.
func (r *reader) words(e *entry, found *fields) (err error) {
	if e.typ, err = r.typeOf(found.at[typeField]); err != nil {
		return err
	}
	m, known, err := r.function(found.at[functionField])
	if err == nil && !known {
		err = r.unknownFunction(found.at[functionField])
	}
	e.fn, e.mode = m.fn, m.mode
	return err
}

// values finds the name of the lock, nil if there is none, and adds to the fields those that stand in the value.
func (r *reader) values(found *fields) (name []byte, err error) {
	if found.at[valueField] == 0 {
		found.at[valueField] = found.at[argsField]
	}
	nodes, value := r.s.nodes, found.at[valueField]
	if lock := found.at[lockField]; lock != 0 {
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
		found.data = value
		found.at[tokenField] = cmp.Or(found.at[tokenField], value)
	case text, keyword:
		if r.o.Group == ByKey {
			err = r.lockAt(value, &name)
		}
	case record:
		var inside fields
		inside, err = r.fields(value)
		if found.addValue(inside); err == nil && found.at[lockField] != 0 {
			err = r.lockAt(found.at[lockField], &name)
		}
	}
	return name, err
}

// lockAt reads the name of a lock, unless there is one already.
func (r *reader) lockAt(at int32, name *[]byte) (err error) {
	if n := &r.s.nodes[at]; *name == nil && n.kind != nothing && r.o.Group != OneLock {
		*name, err = r.name(n, "the lock")
	}
	return err
}

// details reads the token, the mode and the length of the lease.
func (r *reader) details(e *entry, found *fields) error {
	if err := r.token(e, found); err != nil {
		return err
	}
	if err := r.mode(e, found); err != nil {
		return err
	}
	r.perhapsNames(e, found)
	if err := r.permits(e, found); err != nil {
		return err
	}
	return r.lease(e, found)
}

// perhapsNames notes whether the values of acquires that name no lock are texts that differ, as names of locks do. What
// only the return has is no name.
func (r *reader) perhapsNames(e *entry, found *fields) {
	if e.fn != acquire || e.typ != "invoke" || e.lock != unnamed || r.o.Group != ByNameIfAny || found.at[valueField] == 0 {
		return
	}
	if n := &r.s.nodes[found.at[valueField]]; n.kind == text || n.kind == keyword {
		name := string(r.s.textOf(n))
		r.r.namesDiffer = r.r.namesDiffer || r.firstName != "" && r.firstName != name
		r.firstName = cmp.Or(r.firstName, name)
	}
}

// permits refuses an acquire of several permits. Of a semaphore, a number that it is called with may be their number.
func (r *reader) permits(e *entry, found *fields) error {
	if e.fn != acquire {
		return nil
	}
	several := func(n *node) error {
		return fmt.Errorf("%w: an acquire of %.40s permits; write one operation, of a process of its own, "+
			"for each, and say how many there are (--semaphore NAME=N)", ErrNotJudged, r.s.textOf(n))
	}
	if at := found.at[permitsField]; at != 0 {
		if number, err := r.s.int(&r.s.nodes[at]); err != nil || number != 1 {
			return several(&r.s.nodes[at])
		}
		return nil
	}
	semaphore := e.lock == unnamed && len(r.o.Semaphores) > 0 || slices.ContainsFunc(r.o.Semaphores,
		func(s checker.Semaphore) bool { return e.lock != unnamed && s.Name == r.r.locks.in[e.lock] })
	if at := found.at[countField]; at != 0 {
		number, err := r.s.int(&r.s.nodes[at])
		switch {
		case err != nil || number < 1 || !semaphore:
			r.notice(notUnderstood, "", r.keyOf(at), int(e.line))
		case number > 1:
			return several(&r.s.nodes[at])
		}
	}
	if n := &r.s.nodes[found.data]; semaphore && found.data != 0 && e.typ == "invoke" {
		if number, err := r.s.int(n); err == nil && number > 1 {
			return several(n)
		}
	}
	return nil
}

// keyOf is the name of the field whose value stands at a place.
func (r *reader) keyOf(value int32) []byte { return r.field(&r.s.nodes[value-1]) }

func (r *reader) token(e *entry, found *fields) (err error) {
	at := found.at[tokenField]
	if at == 0 || e.fn == write && at == found.data { // that may be what is written
		return nil
	}
	token, err := r.s.int(&r.s.nodes[at])
	switch {
	case !r.o.Model.fenced():
		if err == nil && token != unknownToken && e.fn == acquire && e.typ == "ok" {
			what := fmt.Sprintf("tokens, which --model %s does not judge", r.o.Model)
			if r.o.Model == Lease {
				what += " (--model fenced --lease does)"
			}
			r.notice(what, "", []byte("token"), int(e.line))
		}
		return nil
	case err != nil:
		return notOperation("token: %v", err)
	}
	e.token, e.fenced = token, true
	return nil
}

func (r *reader) mode(e *entry, found *fields) error {
	at := found.at[modeField]
	if at == 0 {
		return nil
	}
	n := &r.s.nodes[at]
	m, known := modes[plain(string(r.wordOf(n)))]
	switch {
	case !known:
		return notOperation("unknown mode %.40q: must be read or shared, write or exclusive", r.wordOf(n))
	case e.mode != unsaid && e.mode != m:
		return notOperation("the mode is %s, but the function %s", m, e.mode)
	}
	e.mode = m
	return nil
}

// lease reads how long the lease of an acquire or extend is to last.
func (r *reader) lease(e *entry, found *fields) error {
	if e.fn == release || e.fn == write {
		return nil
	}
	at, perhaps := found.at[leaseField], found.at[leaseNameField]
	if at == 0 && perhaps != 0 {
		if _, err := r.length(&r.s.nodes[perhaps], 0); !errors.Is(err, errNoLength) {
			at, perhaps = perhaps, 0
		}
	}
	if perhaps != 0 { // it is the lease's name
		r.notice(notUnderstood, "", r.keyOf(perhaps), int(e.line))
	}
	if at == 0 {
		return nil
	}
	length, err := r.length(&r.s.nodes[at], found.unit)
	switch {
	case r.o.Model == Fenced && !r.o.leased():
		return fmt.Errorf("%w: the %s has a lease that ends by itself, which the model fenced judges only with "+
			"--lease, the length of those that say none", ErrOptions, e.fn)
	case !r.o.leased():
		what := fmt.Sprintf("the length of a lease, which --model %s does not judge", r.o.Model)
		r.notice(what, "", r.keyOf(at), int(e.line))
		return nil
	case err != nil:
		return notOperation("the length of the lease: %v", err)
	}
	e.lease = int64(length)
	return nil
}

// function reads what an operation does to the lock. known is false for a word that says nothing about locks.
func (r *reader) function(at int32) (m meaning, known bool, err error) {
	if at == 0 {
		return m, false, notOperation("there is no f")
	}
	t := r.wordOf(&r.s.nodes[at])
	if t == nil {
		return m, false, notOperation("f is no word")
	}
	m, known = r.o.meaningOf(string(t))
	return m, known, nil
}

// unknownFunction is the error of a function that may or may not do something to the lock. What it advises loses no
// evidence: an extend or release that is left out changes what the others show.
func (r *reader) unknownFunction(at int32) error {
	t := r.wordOf(&r.s.nodes[at])
	t = t[:min(len(t), 40)]
	hint := ";"
	common := []string{"acquire", "release", "extend", "lock", "unlock", "renew"}
	// lockExtend is no misspelt lock.
	if near, ok := strictyaml.Nearest(string(t), common); ok && len(t) <= len(near)+2 {
		hint = fmt.Sprintf("; did you mean %q? Otherwise,", near)
	}
	return notOperation("unknown f %q%s if it acquires, extends or releases the lock, say which "+
		"(--map %[1]s=acquire|extend|release); "+
		"if it does nothing to the lock, leave it out (--only acquire,extend,release)", t, hint)
}
