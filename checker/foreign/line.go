package foreign

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"redlocksim/checker"
	"redlocksim/internal/strictyaml"
)

// line is a line of a client: the call of an operation, or what became of it.
type line struct {
	position
	process int32
	lock    int32 // unnamed if it names none
	typ     outcome
	fn      function
	mode    mode
	leftOut bool // it is not to be judged
	other   bool // and that because it is on another lock
	fenced  bool // there is a token
	timed   bool
	guess   uint8 // the unit that its time seems to count, by its place in numbered
	token   int64
	lease   int64 // in nanoseconds; 0 if the line does not say how long
	time    int64
	index   int64 // noIndex if there is none
}

// position is where a line stands; no line if that is 0.
type position struct{ file, line int32 }

const (
	unnamed = -1 // the lock of an operation that names none
	noIndex = -1 << 63
	maxName = 1000 // of a process or lock, in bytes
)

// fields are the values of an operation, nil for a field that is not there, or nil. names are how they are called, and unit
// that of the length of the lease, if its name tells.
type fields struct {
	of    [fieldCount]*datum
	names [fieldCount]string
	unit  time.Duration
	// unknown are the names of fields that are not understood.
	unknown []string
}

// add adds the fields of a map. Of a value those do not count that every operation has, and what the operation says itself
// counts first.
func (f *fields) add(d *datum, inValue, hasSemaphores bool) error {
	outer := *f
	for i := 0; i < len(d.parts); i += 2 {
		name, value := d.parts[i].name(), &d.parts[i+1]
		as, unit := fieldOf(name)
		switch {
		case as == commentField:
		case as == noField, inValue && as <= valueField, as == countField && !hasSemaphores:
			if inValue {
				name = "value." + name
			}
			f.unknown = append(f.unknown, name)
		case value.kind == nothing || outer.of[as] != nil:
		case f.of[as] != nil:
			return notOperation("%q is there twice", name)
		default:
			f.of[as], f.names[as] = value, name
			if as == leaseField {
				f.unit = unit
			}
		}
	}
	return nil
}

// name is the name of a key, without the colon that some converters to JSON leave on it; empty if it is no name.
func (d *datum) name() string {
	switch {
	case d.kind == keyword:
		return d.text
	case d.kind != text:
		return ""
	case len(d.text) > 1 && d.text[0] == ':':
		return d.text[1:]
	}
	return d.text
}

// word is the text of a word, however it is written; empty if it is none.
func (d *datum) word() string {
	if d.kind == word {
		return d.text
	}
	return d.name()
}

// nameOf is a datum that names something: a text, keyword, word or whole number. A number is named by its digits.
func nameOf(d *datum, what string) (string, error) {
	name := d.text
	switch d.kind {
	case text, keyword, word:
	case number:
		i, err := d.int()
		if err != nil {
			return "", notOperation("%s: %v", what, err)
		}
		name = strconv.FormatInt(i, 10)
	default:
		return "", notOperation("%s is neither a name nor a number", what)
	}
	if len(name) == 0 || len(name) > maxName {
		return "", notOperation("%s has a name of %d bytes, must be from 1 to %d", what, len(name), maxName)
	}
	return name, nil
}

// interpret makes a line of an operation; nil of one of the nemesis.
func (r *reader) interpret(l *line, d *datum) (isNemesis bool, err error) {
	var found fields
	if err := found.add(d, false, len(r.o.Semaphores) > 0); err != nil {
		return false, err
	}
	of := &found.of
	if of[indexField] != nil {
		i, err := of[indexField].int()
		if err != nil {
			return false, notOperation("index: %v", err)
		}
		l.index = i
	}
	if of[processField] == nil {
		return false, notOperation("there is no process")
	}
	if of[processField].name() == "nemesis" {
		return true, nil
	}
	name, err := nameOf(of[processField], "process")
	if err != nil {
		return false, err
	}
	if l.process, err = r.process(name); err != nil {
		return false, err
	}
	if of[timeField] != nil && r.needsTime() != "" {
		if l.time, err = r.timestamp(of[timeField], l); err != nil {
			return false, err
		}
		l.timed = true
	}
	if l.typ, err = typeOf(of[typeField]); err != nil {
		return false, err
	}
	lock, data, valueErr := r.value(&found)
	if l.other = lock != "" && len(r.o.Keys) > 0 && !slices.Contains(r.o.Keys, lock); l.other {
		r.notice("left out by --key, as they are other locks", lock, l.position)
	}
	if l.leftOut = l.other || r.leavesOut(of[functionField], l); l.leftOut {
		return false, nil
	}
	m, known, err := r.function(of[functionField])
	if err == nil && !known {
		err = unknownFunction(of[functionField].word())
	}
	if l.fn, l.mode = m.fn, m.mode; err != nil {
		return false, err
	}
	if lock != "" {
		l.lock = r.locks.number(lock)
	}
	for _, name := range found.unknown {
		r.notice(notUnderstood, name, l.position)
	}
	if valueErr != nil {
		return false, valueErr
	}
	return false, r.details(l, &found, data)
}

// process is the number of a process.
func (r *reader) process(name string) (int32, error) {
	number := r.processes.number(name)
	if int(number) == len(r.home) {
		r.home = append(r.home, r.at)
	}
	if home := r.home[number]; home != r.at {
		return number, mixedUp("process %s is in %s, too; a process must be in one file, and have a name of its own",
			name, r.files[home].Name)
	}
	return number, nil
}

// typeOf is what a word says of an operation.
func typeOf(d *datum) (outcome, error) {
	if d == nil {
		return 0, notOperation("there is no type")
	}
	t := d.word()
	if i := slices.Index(types, t); i >= 0 {
		return outcome(i), nil
	}
	if t == "" {
		return 0, notOperation("type is no word")
	}
	return 0, notOperation("unknown type %.40q%s", t, strictyaml.DidYouMean(strictyaml.Nearest(t[:min(len(t), 100)], types)))
}

// leavesOut reports whether the operations of a function are not to be judged.
func (r *reader) leavesOut(fn *datum, l *line) bool {
	if len(r.o.Only) == 0 || fn == nil {
		return false
	}
	m, known, err := r.function(fn)
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
	r.notice(what, fn.word(), l.position)
	return true
}

// function reads what an operation does to the lock. known is false for a word that says nothing about locks.
func (r *reader) function(d *datum) (m meaning, known bool, err error) {
	switch {
	case d == nil:
		return m, false, notOperation("there is no f")
	case d.word() == "":
		return m, false, notOperation("f is no word")
	}
	m, known = r.o.meaningOf(d.word())
	return m, known, nil
}

// unknownFunction is the error of a function that may or may not do something to the lock. What it advises loses no
// evidence: an extend or release that is left out changes what the others show.
func unknownFunction(f string) error {
	f = f[:min(len(f), 40)]
	hint := ";"
	common := []string{"acquire", "release", "extend", "lock", "unlock", "renew"}
	// lockExtend is no misspelt lock.
	if near := strictyaml.Nearest(f, common); near != "" && len(f) <= len(near)+2 {
		hint = strictyaml.DidYouMean(near) + " Otherwise,"
	}
	return notOperation("unknown f %q%s if it acquires, extends or releases the lock, say which "+
		"(--map %[1]s=acquire|extend|release); "+
		"if it does nothing to the lock, leave it out (--only acquire,extend,release)", f, hint)
}

// value finds the name of the lock, empty if there is none, and the value besides it. It adds to the fields those that stand
// in the value, which may be a number: a token.
func (r *reader) value(found *fields) (lock string, data *datum, err error) {
	name := func(d *datum) {
		if d != nil && lock == "" && err == nil && d.kind != nothing && r.o.Group != OneLock {
			lock, err = nameOf(d, "the lock")
		}
	}
	name(found.of[lockField])
	if data = found.of[valueField]; data == nil {
		return lock, nil, err
	}
	if data.kind == list && len(data.parts) == 2 {
		name(&data.parts[0])
		data = &data.parts[1]
	}
	switch data.kind {
	case number:
		found.of[tokenField] = cmp.Or(found.of[tokenField], data)
	case text, keyword:
		if r.o.Group == ByKey {
			name(data)
		}
	case record:
		err = cmp.Or(err, found.add(data, true, len(r.o.Semaphores) > 0))
		name(found.of[lockField])
	}
	return lock, data, err
}

// details reads the token, the mode and the length of the lease.
func (r *reader) details(l *line, found *fields, data *datum) error {
	of := &found.of
	if token := of[tokenField]; token != nil && (l.fn != write || token != data) { // that may be what is written
		if err := r.token(l, token); err != nil {
			return err
		}
	}
	if d := of[modeField]; d != nil {
		m, known := modes[plain(d.word())]
		switch {
		case !known:
			return notOperation("unknown mode %.40q: must be read or shared, write or exclusive", d.word())
		case l.mode != unsaid && l.mode != m:
			return notOperation("the mode is %s, but the function %s", m, l.mode)
		}
		l.mode = m
	}
	if l.fn == acquire {
		r.perhapsNamed(l, of[valueField])
		if err := r.permits(l, found, data); err != nil {
			return err
		}
	}
	if l.fn == acquire || l.fn == extend {
		return r.lease(l, found)
	}
	return nil
}

// perhapsNamed notes whether the values of acquires that name no lock are texts that differ, as names of locks do. What
// only the return has is no name.
func (r *reader) perhapsNamed(l *line, value *datum) {
	if l.typ == called && l.lock == unnamed && r.o.Group == ByNameIfAny && value != nil && (value.kind == text || value.kind == keyword) {
		r.namesDiffer = r.namesDiffer || r.firstName != "" && r.firstName != value.text
		r.firstName = cmp.Or(r.firstName, value.text)
	}
}

// permits refuses an acquire of several permits. Of a semaphore, a number that it is called with may be their number.
func (r *reader) permits(l *line, found *fields, data *datum) error {
	permits := found.of[permitsField]
	isSemaphore := l.lock == unnamed && len(r.o.Semaphores) > 0 || slices.ContainsFunc(r.o.Semaphores,
		func(s checker.Semaphore) bool { return l.lock != unnamed && s.Name == r.locks.in[l.lock] })
	if count := found.of[countField]; permits == nil && count != nil {
		if number, err := count.int(); err != nil || number < 1 || !isSemaphore {
			r.notice(notUnderstood, found.names[countField], l.position)
		} else {
			permits = count
		}
	}
	if permits == nil && isSemaphore && l.typ == called && data != nil && data.kind == number {
		permits = data
	}
	if permits == nil {
		return nil
	}
	if number, err := permits.int(); err == nil && number == 1 || permits == data && number < 1 {
		return nil
	}
	return fmt.Errorf("%w: an acquire of %.40s permits; write one operation, of a process of its own, "+
		"for each, and say how many there are (--semaphore NAME=N)", ErrNotJudged, permits.text)
}

func (r *reader) token(l *line, d *datum) error {
	token, err := d.int()
	switch {
	case !r.o.Model.fenced():
		if err == nil && token != unknownToken && l.fn == acquire && l.typ == ok {
			what := fmt.Sprintf("tokens, which --model %s does not judge", r.o.Model)
			if r.o.Model == Lease {
				what += " (--model fenced --lease does)"
			}
			r.notice(what, "token", l.position)
		}
		return nil
	case err != nil:
		return notOperation("token: %v", err)
	}
	l.token, l.fenced = token, true
	return nil
}

// lease reads how long the lease of an acquire or extend is to last.
func (r *reader) lease(l *line, found *fields) error {
	d, name := found.of[leaseField], found.names[leaseField]
	if perhaps := found.of[nameOrLeaseField]; perhaps != nil {
		_, err := r.length(perhaps, 0)
		if d != nil || errors.Is(err, errNoLength) { // it is the lease's name
			r.notice(notUnderstood, found.names[nameOrLeaseField], l.position)
		} else {
			d, name = perhaps, found.names[nameOrLeaseField]
		}
	}
	if d == nil {
		return nil
	}
	length, err := r.length(d, found.unit)
	switch {
	case r.o.Model == Fenced && !r.o.leased():
		return fmt.Errorf("%w: the %s has a lease that ends by itself, which the model fenced judges only with "+
			"--lease, the length of those that say none", ErrOptions, l.fn)
	case !r.o.leased():
		r.notice(fmt.Sprintf("the length of a lease, which --model %s does not judge", r.o.Model), name, l.position)
		return nil
	case err != nil:
		return notOperation("the length of the lease: %v", err)
	}
	l.lease = int64(length)
	return nil
}
